package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// phyllotaxis sets each floret at the golden angle from the one before (Vogel 1979): radius √n, angle n · 137.508°. The
// spirals the eye sees run in Fibonacci numbers.
func phyllotaxis(c *canvas.Canvas) {
	rng := seeded(301)
	noise := canvas.NewNoise(rng)
	const margin = 80
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))
	ground := canvas.NewRamp(canvas.Hex(0x173a38), canvas.Hex(0x0f2730))
	hub := complex(c.Width*0.46, c.Height*0.54)
	c.Shade(func(p complex128) canvas.Color { return ground.At((real(p) + imag(p)) / 2600) })

	golden := math.Pi * (3 - math.Sqrt(5))
	day := canvas.NewRamp(canvas.Hex(0x5b7f3a), canvas.Hex(0xb7b13c), canvas.Hex(0xf2c84b), canvas.Hex(0xf0913a), canvas.Hex(0xd9512f), canvas.Hex(0xa32a4a), canvas.Hex(0x5d2a66))
	shade := canvas.NewRamp(canvas.Hex(0x2c4f3a), canvas.Hex(0x4d7f5b), canvas.Hex(0x8fb96a), canvas.Hex(0xe6d58a), canvas.Hex(0xe9a777), canvas.Hex(0xc06a80), canvas.Hex(0x7d5a96))
	const florets, spread = 860, 21.5
	for n := florets; n >= 1; n-- {
		r := spread * math.Sqrt(float64(n))
		theta := float64(n)*golden + 0.4
		at := hub + canvas.Polar(r, theta)
		f := r / (spread * math.Sqrt(florets))
		// Two colourings meet along a wavy border, so that no turn of the head looks like another.
		mixed := 0.5 + 0.5*math.Tanh(4*math.Sin(theta-0.9)+3*noise.At(at/220))
		tone := f + 0.16*noise.At(at/130) + 0.05*float64(n%3-1)
		ink := canvas.Mix(day.At(tone), shade.At(tone), mixed)
		out := canvas.Polar(1, theta)
		long := spread * (0.62 + 1.15*f*f)
		wide := spread * (0.60 + 0.16*f)
		if n > 640 {
			long *= 1.5
		}
		leaf := []complex128{}
		for k := range 40 {
			a := 2 * math.Pi * float64(k) / 40
			// A drop, pointed outwards.
			x, y := math.Cos(a), math.Sin(a)*math.Sqrt(math.Max(0, (1-0.55*f*math.Cos(a))/1.2))
			leaf = append(leaf, at+out*complex(x*long, y*wide))
		}
		c.Fill(canvas.Hex(0x0a1a1e).Fade(0.55), shiftRing(leaf, 3+4i))
		c.Fill(ink, leaf)
		vein := canvas.Mix(ink, canvas.Hex(0x0f2730), 0.45)
		switch {
		case n > 640: // rays, some with a second colour
			c.Stroke(vein, 2, at-out*complex(long*0.7, 0), at+out*complex(long*0.8, 0))
			if n%5 == 0 {
				c.Disc(canvas.Mix(ink, canvas.Hex(0xfff6da), 0.7), at+out*complex(long*0.35, 0), wide*0.3)
			}
		case n%8 < 2 || n%13 == 0: // two families of spirals, 8 and 13
			c.Disc(vein, at, wide*0.46)
			c.Disc(canvas.Mix(ink, canvas.Hex(0xfff6da), 0.75), at-out*complex(wide*0.1, 0), wide*0.25)
		case n%3 == 0:
			c.Ring(vein, 2, at, wide*0.5)
		}
	}
}

func shiftRing(ring []complex128, d complex128) []complex128 {
	out := make([]complex128, len(ring))
	for i, p := range ring {
		out[i] = p + d
	}
	return out
}
