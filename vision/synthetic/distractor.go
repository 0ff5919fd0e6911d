package synthetic

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"gocv.io/x/gocv"
)

// Kind is what a photo of nothing in the gallery shows.
type Kind int

// The kinds of distractors.
const (
	Painting Kind = iota // an invented painting of soft shapes, framed
	Poster               // an invented print of hard shapes, framed
	Text                 // a sheet full of text
	Brick                // a brick wall
	Floor                // planks
	Blank                // an empty wall with a skirting board
	kinds
)

// Distractor takes a photo of something that no gallery has, of a kind and under conditions drawn from rng. The caller
// closes it (BGR, 8UC3).
func Distractor(rng *rand.Rand) (gocv.Mat, error) {
	return DistractorOf(Kind(rng.IntN(int(kinds))), rng)
}

// DistractorOf is [Distractor] of one kind.
func DistractorOf(kind Kind, rng *rand.Rand) (gocv.Mat, error) {
	p := conditions(kind, rng)
	var flat gocv.Mat
	switch kind {
	case Painting:
		flat = paint(rng)
	case Poster:
		flat = poster(rng)
	case Text:
		flat = sheet(rng)
	case Brick, Floor, Blank:
		flat = surface(kind, rng)
	default:
		return gocv.Mat{}, fmt.Errorf("render distractor: no kind %d", kind)
	}
	defer flat.Close()
	photo, _, err := Render(flat, p)
	if err != nil {
		return gocv.Mat{}, fmt.Errorf("render distractor: %w", err)
	}
	return photo, nil
}

// Invented is an invented painting, straight on and evenly lit, as a catalogue has its works: any number of different
// ones can be had. Its longer side has 520 to 600 pixels, for some 1,200 features. The caller closes it (BGR, 8UC3).
func Invented(rng *rand.Rand) gocv.Mat {
	w, h := 520+rng.IntN(80), 400+rng.IntN(120)
	if rng.IntN(2) == 0 {
		w, h = h, w
	}
	return paintOn(w, h, 0.35, rng)
}

// conditions draws how a kind is photographed.
func conditions(kind Kind, rng *rand.Rand) Params {
	p := Random(rng, Difficulty(rng.IntN(3)))
	switch kind {
	case Text:
		p.Frame, p.Mat, p.Label = 0, 0, false
	case Brick, Floor, Blank:
		// These fill the whole photo and more.
		p.Frame, p.Mat, p.Label, p.Shadow = 0, 0, false, 0
		p.Fill = 1.9 + 0.4*rng.Float64()
		p.Yaw, p.Pitch = p.Yaw*0.4, p.Pitch*0.5
	}
	return p
}

// anyColor draws a colour, more often a muted one.
func anyColor(rng *rand.Rand) color.RGBA {
	hue, strength, value := rng.Float64()*2*math.Pi, 20+70*rng.Float64()*rng.Float64(), 50+170*rng.Float64()
	channel := func(turn float64) uint8 { return clamp8(float32(value + strength*math.Cos(hue+turn))) }
	return color.RGBA{channel(0), channel(2.094), channel(4.189), 255}
}

func blank(w, h int, c color.RGBA) gocv.Mat {
	return gocv.NewMatWithSizeFromScalar(gocv.NewScalar(float64(c.B), float64(c.G), float64(c.R), 0), h, w, gocv.MatTypeCV8UC3)
}

func anySize(rng *rand.Rand) (w, h int) {
	w, h = 760+rng.IntN(340), 760+rng.IntN(340)
	return w, h
}

// paint invents a painting: a horizon, patches, and brush strokes that follow a slow field, from a palette of its own.
func paint(rng *rand.Rand) gocv.Mat {
	w, h := anySize(rng)
	return paintOn(w, h, 1, rng)
}

// paintOn is paint on a canvas of a size, with a part of the brush strokes.
func paintOn(w, h int, strokes float64, rng *rand.Rand) gocv.Mat {
	palette := make([]color.RGBA, 6)
	for i := range palette {
		palette[i] = anyColor(rng)
	}
	pick := func() color.RGBA { return shade(palette[rng.IntN(len(palette))], 0.8+0.4*rng.Float64()) }
	img := blank(w, h, pick())
	horizon := h/4 + rng.IntN(h/2)
	gocv.Rectangle(&img, image.Rect(0, horizon, w, h), pick(), -1)
	for range 12 + rng.IntN(20) {
		axes := image.Pt(20+rng.IntN(w/6), 14+rng.IntN(h/8))
		gocv.Ellipse(&img, image.Pt(rng.IntN(w), rng.IntN(h)), axes, rng.Float64()*180, 0, 360, pick(), -1)
	}
	gocv.GaussianBlur(img, &img, image.Point{}, 5+6*rng.Float64(), 0, gocv.BorderReplicate)
	bend, phase := 100+300*rng.Float64(), 6*rng.Float64()
	for range int(strokes * float64(2200+rng.IntN(1800))) {
		a := image.Pt(rng.IntN(w), rng.IntN(h))
		under := img.GetVecbAt(a.Y, a.X)
		c := color.RGBA{under[2], under[1], under[0], 255}
		if rng.IntN(6) == 0 {
			c = pick()
		}
		angle := phase + math.Sin(float64(a.X)/bend) + math.Cos(float64(a.Y)/bend*1.3) + 0.2*rng.NormFloat64()
		length := 8 + 34*rng.Float64()
		b := a.Add(image.Pt(int(length*math.Cos(angle)), int(length*math.Sin(angle))))
		gocv.Line(&img, a, b, shade(c, 0.82+0.36*rng.Float64()), 2+rng.IntN(7))
	}
	gocv.GaussianBlur(img, &img, image.Point{}, 1, 0, gocv.BorderReplicate)
	return img
}

// poster invents a print of discs, rings, bars and polygons with hard edges.
func poster(rng *rand.Rand) gocv.Mat {
	w, h := anySize(rng)
	img := blank(w, h, color.RGBA{240, 235, 224, 255})
	palette := []color.RGBA{anyColor(rng), anyColor(rng), anyColor(rng), anyColor(rng), {30, 32, 40, 255}}
	for range 40 + rng.IntN(60) {
		c := palette[rng.IntN(len(palette))]
		at := image.Pt(rng.IntN(w), rng.IntN(h))
		size := 8 + rng.IntN(w/9)
		switch rng.IntN(4) {
		case 0:
			gocv.Circle(&img, at, size, c, -1)
		case 1:
			gocv.Circle(&img, at, size, c, 3+rng.IntN(12))
		case 2:
			gocv.Rectangle(&img, image.Rect(at.X, at.Y, at.X+size*3, at.Y+6+size/3), c, -1)
		default:
			corners := make([]image.Point, 3+rng.IntN(3))
			for i := range corners {
				a := (float64(i) + 0.7*rng.Float64()) * 2 * math.Pi / float64(len(corners))
				corners[i] = at.Add(image.Pt(int(float64(size)*math.Cos(a)), int(float64(size)*math.Sin(a))))
			}
			polygon := gocv.NewPointsVectorFromPoints([][]image.Point{corners})
			gocv.FillPolyWithParams(&img, polygon, c, gocv.LineAA, 0, image.Point{})
			polygon.Close()
		}
	}
	return img
}

// sheet invents a page of text under a heading.
func sheet(rng *rand.Rand) gocv.Mat {
	w, h := 760, 1040
	img := blank(w, h, color.RGBA{248, 247, 243, 255})
	writeLines(&img, image.Rect(60, 60, w-60, 220), rng, 2)
	for y := 250; y < h-180; y += 160 + rng.IntN(60) {
		writeLines(&img, image.Rect(60, y, w-60-rng.IntN(200), y+140), rng, 4+rng.IntN(2))
	}
	return img
}

// surface invents a stretch of brickwork, planks or bare wall.
func surface(kind Kind, rng *rand.Rand) gocv.Mat {
	w, h := 1300, 1300
	base := shade(wallColors[rng.IntN(len(wallColors))], 0.9+0.2*rng.Float64())
	switch kind {
	case Brick:
		base = color.RGBA{uint8(130 + rng.IntN(70)), uint8(70 + rng.IntN(40)), uint8(55 + rng.IntN(30)), 255}
	case Floor:
		base = color.RGBA{uint8(110 + rng.IntN(80)), uint8(80 + rng.IntN(50)), uint8(50 + rng.IntN(40)), 255}
	}
	img := blank(w, h, shade(base, 0.55))
	switch kind {
	case Brick:
		length, height := 90+rng.IntN(70), 34+rng.IntN(20)
		for row, y := 0, 0; y < h; row, y = row+1, y+height {
			for x := -(row % 2) * length / 2; x < w; x += length {
				brick := image.Rect(x+3, y+3, x+length-3, y+height-3)
				gocv.Rectangle(&img, brick, shade(base, 0.8+0.4*rng.Float64()), -1)
			}
		}
	case Floor:
		width := 60 + rng.IntN(60)
		for x := 0; x < w; x += width {
			for y := -rng.IntN(500); y < h; {
				end := y + 300 + rng.IntN(500)
				c := shade(base, 0.85+0.3*rng.Float64())
				gocv.Rectangle(&img, image.Rect(x+1, y+1, x+width-2, end-2), c, -1)
				for range 6 { // the grain of the wood
					gx := x + 4 + rng.IntN(width-8)
					gocv.Line(&img, image.Pt(gx, y+4), image.Pt(gx+rng.IntN(9)-4, end-4), shade(c, 0.9), 1+rng.IntN(2))
				}
				y = end
			}
		}
	default:
		gocv.Rectangle(&img, image.Rect(0, 0, w, h*3/4), base, -1)
		gocv.Rectangle(&img, image.Rect(0, h*3/4, w, h*3/4+50), color.RGBA{230, 228, 222, 255}, -1)
		if rng.IntN(2) == 0 { // a socket
			x := w/3 + rng.IntN(w/3)
			gocv.Rectangle(&img, image.Rect(x, h*3/4-140, x+70, h*3/4-70), color.RGBA{244, 244, 240, 255}, -1)
			gocv.Circle(&img, image.Pt(x+35, h*3/4-105), 22, color.RGBA{200, 200, 196, 255}, 3)
		}
	}
	return img
}
