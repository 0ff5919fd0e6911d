package canvas

import (
	"image"
	"math"
)

// Stroke draws a line through the points with round joins and ends. It covers every place once, however often the
// line crosses itself.
func (c *Canvas) Stroke(ink Color, width float64, pts ...complex128) {
	c.StrokeWidths(ink, func(int) float64 { return width }, pts...)
}

// StrokeClosed is Stroke back to the first point.
func (c *Canvas) StrokeClosed(ink Color, width float64, pts ...complex128) {
	if len(pts) > 0 {
		c.Stroke(ink, width, append(pts[:len(pts):len(pts)], pts[0])...)
	}
}

// StrokeWidths is Stroke with the width at each point.
func (c *Canvas) StrokeWidths(ink Color, width func(i int) float64, pts ...complex128) {
	var dirty image.Rectangle
	if len(pts) == 1 {
		dirty = c.capsule(pts[0], pts[0], width(0)/2, width(0)/2)
	}
	for i := 1; i < len(pts); i++ {
		dirty = dirty.Union(c.capsule(pts[i-1], pts[i], width(i-1)/2, width(i)/2))
	}
	c.flush(dirty, ink)
}

// StrokeColors is StrokeWidths with the ink of each segment, which runs from point i-1 to i. Inks should be opaque,
// since segments overlap at their ends.
func (c *Canvas) StrokeColors(ink func(i int) Color, width func(i int) float64, pts ...complex128) {
	for i := 1; i < len(pts); i++ {
		c.flush(c.capsule(pts[i-1], pts[i], width(i-1)/2, width(i)/2), ink(i))
	}
}

// Disc fills a circle.
func (c *Canvas) Disc(ink Color, center complex128, radius float64) {
	c.flush(c.capsule(center, center, radius, radius), ink)
}

// Ring draws a circle line.
func (c *Canvas) Ring(ink Color, width float64, center complex128, radius float64) {
	x0, y0 := real(center)*c.scale, imag(center)*c.scale
	r, half := radius*c.scale, width*c.scale/2
	area := pixelRect(x0-r, y0-r, x0+r, y0+r, half+1).Intersect(c.clip)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		dy := float64(y) + 0.5 - y0
		for x := area.Min.X; x < area.Max.X; x++ {
			dx := float64(x) + 0.5 - x0
			if a := band(math.Abs(math.Sqrt(dx*dx+dy*dy)-r), half); a > 0 {
				c.blend(x, y, ink, float32(a))
			}
		}
	}
}

// band is the coverage of a pixel at distance d from the middle of a line of half the width given: the overlap of
// [-half, half] and the pixel's own width.
func band(d, half float64) float64 {
	return max(0, min(half, d+0.5)-max(-half, d-0.5))
}

// capsule adds a round-ended segment, ra wide at a and rb at b, to the scratch coverage and returns the area touched.
func (c *Canvas) capsule(a, b complex128, ra, rb float64) image.Rectangle {
	ax, ay := real(a)*c.scale, imag(a)*c.scale
	bx, by := real(b)*c.scale, imag(b)*c.scale
	ra, rb = ra*c.scale, rb*c.scale
	reach := max(ra, rb) + 1
	area := pixelRect(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by), reach).Intersect(c.clip)
	dx, dy := bx-ax, by-ay
	length2 := dx*dx + dy*dy
	for y := area.Min.Y; y < area.Max.Y; y++ {
		py := float64(y) + 0.5
		// The stretch of the segment that can touch this row.
		t0, t1 := 0.0, 1.0
		if math.Abs(dy) > 1e-9 {
			t0, t1 = (py-reach-ay)/dy, (py+reach-ay)/dy
			if t0 > t1 {
				t0, t1 = t1, t0
			}
			t0, t1 = max(t0, 0), min(t1, 1)
			if t0 > t1 {
				continue
			}
		}
		xa, xb := ax+t0*dx, ax+t1*dx
		left := max(area.Min.X, int(math.Floor(min(xa, xb)-reach)))
		right := min(area.Max.X, int(math.Ceil(max(xa, xb)+reach)))
		row := c.cover[y*c.w:]
		for x := left; x < right; x++ {
			px := float64(x) + 0.5
			t := 0.0
			if length2 > 0 {
				t = min(max(((px-ax)*dx+(py-ay)*dy)/length2, 0), 1)
			}
			ex, ey := px-ax-t*dx, py-ay-t*dy
			d := math.Sqrt(ex*ex + ey*ey)
			if v := float32(band(d, ra+t*(rb-ra))); v > row[x] {
				row[x] = v
			}
		}
	}
	return area
}

// flush inks the scratch coverage of an area and clears it.
func (c *Canvas) flush(area image.Rectangle, ink Color) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := c.cover[y*c.w:]
		for x := area.Min.X; x < area.Max.X; x++ {
			if v := row[x]; v > 0 {
				c.blend(x, y, ink, v)
				row[x] = 0
			}
		}
	}
}
