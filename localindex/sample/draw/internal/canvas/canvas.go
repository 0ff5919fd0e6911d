// Package canvas is the small drawing table of the sample gallery: a sheet of float pixels, antialiased fills and
// strokes, colour ramps mixed in OKLab, seeded noise and a little plane geometry.
//
// Points are complex numbers: the real part runs to the right, the imaginary part down, in units. One unit is one
// pixel at scale 1, so a drawing is written once and can be rendered small for a test.
package canvas

import (
	"image"
	"math"

	"golang.org/x/image/vector"
)

// Blend is how ink meets what is already on the sheet.
type Blend int

// The ways of blending.
const (
	Normal   Blend = iota // covers
	Multiply              // darkens, as printing inks do
)

// Canvas is one sheet. It is not safe for concurrent use.
type Canvas struct {
	// Width and Height are the size in units.
	Width, Height float64
	// Blend is used by everything drawn until it is changed.
	Blend Blend

	scale float64
	w, h  int       // pixels
	pix   []float32 // w*h*3, sRGB-encoded 0…1
	clip  image.Rectangle

	raster vector.Rasterizer
	alpha  []uint8   // scratch of the rasteriser
	cover  []float32 // scratch of strokes, all zero between calls
}

// New returns a sheet of width×height units at scale pixels per unit, covered with paper.
func New(width, height, scale float64, paper Color) *Canvas {
	c := &Canvas{Width: width, Height: height, scale: scale}
	c.w, c.h = max(1, int(math.Round(width*scale))), max(1, int(math.Round(height*scale)))
	c.pix = make([]float32, c.w*c.h*3)
	c.cover = make([]float32, c.w*c.h)
	for i := 0; i < len(c.pix); i += 3 {
		c.pix[i], c.pix[i+1], c.pix[i+2] = paper.R, paper.G, paper.B
	}
	c.Unclip()
	return c
}

// Scale is the number of pixels per unit.
func (c *Canvas) Scale() float64 { return c.scale }

// Center is the middle of the sheet.
func (c *Canvas) Center() complex128 { return complex(c.Width/2, c.Height/2) }

// Image returns the sheet as 8-bit pixels.
func (c *Canvas) Image() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, c.w, c.h))
	for i, j := 0, 0; i < len(c.pix); i, j = i+3, j+4 {
		img.Pix[j] = to8(c.pix[i])
		img.Pix[j+1] = to8(c.pix[i+1])
		img.Pix[j+2] = to8(c.pix[i+2])
		img.Pix[j+3] = 255
	}
	return img
}

func to8(v float32) uint8 { return uint8(min(max(v, 0), 1)*255 + 0.5) }

// Clip keeps everything drawn from now on inside the rectangle with the corners a and b, which may be at any
// fraction of a pixel; its edges are rounded to whole pixels.
func (c *Canvas) Clip(a, b complex128) {
	c.clip = image.Rect(
		int(math.Round(real(a)*c.scale)), int(math.Round(imag(a)*c.scale)),
		int(math.Round(real(b)*c.scale)), int(math.Round(imag(b)*c.scale)),
	).Intersect(image.Rect(0, 0, c.w, c.h))
}

// Unclip lets drawing reach the whole sheet again.
func (c *Canvas) Unclip() {
	c.clip = image.Rect(0, 0, c.w, c.h)
}

// Fill covers the inside of the closed rings. Rings of the same direction unite, a ring of the other direction
// cuts a hole.
func (c *Canvas) Fill(ink Color, rings ...[]complex128) {
	area := c.rasterise(rings)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := c.alpha[(y-area.Min.Y)*area.Dx():]
		for x := area.Min.X; x < area.Max.X; x++ {
			if a := row[x-area.Min.X]; a != 0 {
				c.blend(x, y, ink, float32(a)/255)
			}
		}
	}
}

// FillFunc is Fill with an ink for each place.
func (c *Canvas) FillFunc(ink func(p complex128) Color, rings ...[]complex128) {
	area := c.rasterise(rings)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := c.alpha[(y-area.Min.Y)*area.Dx():]
		for x := area.Min.X; x < area.Max.X; x++ {
			if a := row[x-area.Min.X]; a != 0 {
				c.blend(x, y, ink(c.unit(x, y)), float32(a)/255)
			}
		}
	}
}

// Shade inks every pixel of the clip by a function of its place.
func (c *Canvas) Shade(ink func(p complex128) Color) {
	for y := c.clip.Min.Y; y < c.clip.Max.Y; y++ {
		for x := c.clip.Min.X; x < c.clip.Max.X; x++ {
			c.blend(x, y, ink(c.unit(x, y)), 1)
		}
	}
}

// unit is the middle of a pixel in units.
func (c *Canvas) unit(x, y int) complex128 {
	return complex((float64(x)+0.5)/c.scale, (float64(y)+0.5)/c.scale)
}

// rasterise leaves the coverage of the rings in c.alpha, row by row over the area returned.
func (c *Canvas) rasterise(rings [][]complex128) image.Rectangle {
	minX, minY := math.Inf(1), math.Inf(1)
	maxX, maxY := math.Inf(-1), math.Inf(-1)
	for _, ring := range rings {
		for _, p := range ring {
			minX, maxX = min(minX, real(p)), max(maxX, real(p))
			minY, maxY = min(minY, imag(p)), max(maxY, imag(p))
		}
	}
	if minX > maxX {
		return image.Rectangle{}
	}
	area := pixelRect(minX*c.scale, minY*c.scale, maxX*c.scale, maxY*c.scale, 0).Intersect(c.clip)
	if area.Empty() {
		return image.Rectangle{}
	}
	c.raster.Reset(area.Dx(), area.Dy())
	for _, ring := range rings {
		for i, p := range ring {
			x, y := float32(real(p)*c.scale-float64(area.Min.X)), float32(imag(p)*c.scale-float64(area.Min.Y))
			if i == 0 {
				c.raster.MoveTo(x, y)
			} else {
				c.raster.LineTo(x, y)
			}
		}
		c.raster.ClosePath()
	}
	n := area.Dx() * area.Dy()
	if cap(c.alpha) < n {
		c.alpha = make([]uint8, n)
	}
	c.alpha = c.alpha[:n]
	clear(c.alpha)
	dst := &image.Alpha{Pix: c.alpha, Stride: area.Dx(), Rect: image.Rect(0, 0, area.Dx(), area.Dy())}
	c.raster.Draw(dst, dst.Rect, image.Opaque, image.Point{})
	return area
}

// pixelRect is the whole-pixel rectangle around the given one, grown by margin. Values are bounded so that a point
// far outside cannot overflow.
func pixelRect(minX, minY, maxX, maxY, margin float64) image.Rectangle {
	bound := func(v float64) int { return int(min(max(v, -1e6), 1e6)) }
	return image.Rect(bound(math.Floor(minX-margin)), bound(math.Floor(minY-margin)),
		bound(math.Ceil(maxX+margin)), bound(math.Ceil(maxY+margin)))
}

// blend puts ink on one pixel with the given coverage.
func (c *Canvas) blend(x, y int, ink Color, coverage float32) {
	a := ink.A * coverage
	if a <= 0 {
		return
	}
	p := c.pix[(y*c.w+x)*3:][:3:3]
	switch c.Blend {
	case Multiply:
		p[0] += (p[0]*ink.R - p[0]) * a
		p[1] += (p[1]*ink.G - p[1]) * a
		p[2] += (p[2]*ink.B - p[2]) * a
	default:
		p[0] += (ink.R - p[0]) * a
		p[1] += (ink.G - p[1]) * a
		p[2] += (ink.B - p[2]) * a
	}
}
