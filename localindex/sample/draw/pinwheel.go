package draw

import (
	"math"
	"math/cmplx"

	"docent/localindex/sample/draw/internal/canvas"
)

// pinwheel is a right triangle with legs 1 : 2: the right angle at r, the end of the short leg at s, of the long at l.
type pinwheel struct{ r, s, l complex128 }

// parts are the five similar triangles it is made of, each smaller by √5 (Conway and Radin 1994).
func (t pinwheel) parts() [5]pinwheel {
	// The height from r meets the hypotenuse s–l a fifth of the way from s.
	foot := canvas.Lerp(t.s, t.l, 1.0/5)
	three := canvas.Lerp(t.s, t.l, 3.0/5)
	half := (t.r + t.l) / 2 // middle of the long leg
	mid := (t.r + foot) / 2 // middle of the height
	return [5]pinwheel{
		{foot, t.s, t.r},
		{mid, t.r, half},
		{mid, foot, half},
		{three, half, foot},
		{three, half, t.l},
	}
}

// pinwheelTiling is split further along a band across the sheet than beside it. A tile's colour tells which of the
// five parts it is of the triangle around it, and its tone the way it points: no two directions keep repeating.
func pinwheelTiling(c *canvas.Canvas) {
	rng := seeded(106)
	noise := canvas.NewNoise(rng)
	const margin = 92
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))

	turn := canvas.Polar(1.62*1.02*c.Width, -0.21)
	corner := func(x, y float64) complex128 { return c.Center() + complex(70, -40) + complex(x, y/2)*turn }
	parts := []canvas.Ramp{
		canvas.NewRamp(canvas.Hex(0xc9573f), canvas.Hex(0xe58a63)),
		canvas.NewRamp(canvas.Hex(0xf3e3c3), canvas.Hex(0xe9c99a)),
		canvas.NewRamp(canvas.Hex(0x8fb0a6), canvas.Hex(0x6c9099)),
		canvas.NewRamp(canvas.Hex(0x2f3a66), canvas.Hex(0x55437a)),
		canvas.NewRamp(canvas.Hex(0xe8bfae), canvas.Hex(0xd0949a)),
	}
	depthAt := func(p complex128) int {
		band := math.Abs(imag(p)-c.Height*0.52+0.42*(real(p)-c.Width/2)) + 260*noise.At(p/420)
		switch {
		case band < 190:
			return 5
		case band < 430:
			return 4
		default:
			return 3
		}
	}
	line, seam := canvas.Hex(0x22264a), []float64{0, 7.5, 5.5, 4, 2.6, 1.3}
	outlines := make([][]pinwheel, len(seam))
	var paint func(t pinwheel, part, depth int)
	paint = func(t pinwheel, part, depth int) {
		m := (t.r + t.s + t.l) / 3
		outlines[depth] = append(outlines[depth], t)
		if depth < depthAt(m) {
			for i, p := range t.parts() {
				paint(p, i, depth+1)
			}
			return
		}
		point := cmplx.Phase(t.l-t.r) / math.Pi // -1…1
		c.Fill(parts[part].At(0.5+0.5*math.Sin(3*point+1)+0.5*noise.At(m/250)), []complex128{t.r, t.s, t.l})
		if depth == 3 { // large tiles show the height they would be split along
			foot := canvas.Lerp(t.s, t.l, 1.0/5)
			for k := 1; k <= 7; k++ {
				f := float64(k) / 8
				c.Stroke(line.Fade(0.55), 1.4, canvas.Lerp(t.r, t.l, f), canvas.Lerp(foot, t.l, f))
			}
			c.Stroke(line, 2.2, t.r, foot)
		}
	}
	paint(pinwheel{corner(-.5, -.5), corner(-.5, .5), corner(.5, -.5)}, 0, 0)
	paint(pinwheel{corner(.5, .5), corner(.5, -.5), corner(-.5, .5)}, 0, 0)
	for depth := len(seam) - 1; depth > 0; depth-- {
		for _, t := range outlines[depth] {
			c.StrokeClosed(line, seam[depth], t.r, t.s, t.l)
		}
	}
}
