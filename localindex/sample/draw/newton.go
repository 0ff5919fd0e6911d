package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// newtonSteps runs Newton's method on the polynomial with the given roots, where p′/p is the sum of 1/(z−root). It
// returns the root reached and a smooth number of steps.
func newtonSteps(z complex128, roots []complex128) (root int, steps float64) {
	const near = 1e-10
	for n := range 60 {
		sum := 0i
		for i, r := range roots {
			d := z - r
			l := abs2(d)
			if l < near {
				// Steps shrink quadratically: log log of the distance grows evenly.
				return i, float64(n) - math.Log2(math.Log(l)/math.Log(near))
			}
			sum += complex(real(d)/l, -imag(d)/l)
		}
		if sum == 0 {
			break
		}
		l := abs2(sum)
		z -= complex(real(sum)/l, -imag(sum)/l)
	}
	return 0, 60
}

// newtonBasins colours each start of Newton's method by the root it ends at, on a polynomial of degree five with roots
// in no regular order.
func newtonBasins(c *canvas.Canvas) {
	const margin = 84
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))
	roots := []complex128{1.05 + 0.30i, -0.20 + 1.12i, -1.02 + 0.05i, -0.42 - 1.00i, 0.80 - 0.62i}
	basins := []canvas.Ramp{
		canvas.NewRamp(canvas.Hex(0xf6d9a0), canvas.Hex(0xe39a45), canvas.Hex(0x8a4420), canvas.Hex(0x3a1d16)),
		canvas.NewRamp(canvas.Hex(0xcfe3d6), canvas.Hex(0x5b9e94), canvas.Hex(0x1f5560), canvas.Hex(0x10252e)),
		canvas.NewRamp(canvas.Hex(0xf2c8b6), canvas.Hex(0xc9584a), canvas.Hex(0x7a2236), canvas.Hex(0x2e101f)),
		canvas.NewRamp(canvas.Hex(0xd9d3ea), canvas.Hex(0x7d77b5), canvas.Hex(0x3a3470), canvas.Hex(0x191633)),
		canvas.NewRamp(canvas.Hex(0xfaf3df), canvas.Hex(0xd9cb98), canvas.Hex(0x8a7f4a), canvas.Hex(0x33301d)),
	}
	unit := 3.9 / (c.Width - 2*margin)
	turn := canvas.Polar(1, 0.21)
	at := func(p complex128) complex128 {
		return (complex(real(p)-c.Width/2, c.Height/2-imag(p))*complex(unit, 0) + 0.08 - 0.05i) * turn
	}
	ink := func(p complex128) canvas.Color {
		root, steps := newtonSteps(at(p), roots)
		t := steps / 15
		// A fine line at every whole step.
		line := math.Abs(steps-math.Round(steps)) * 2
		return basins[root].At(t).Toward(basins[root].At(t+0.30), 0.55*(1-smooth(0.05, 0.22, line)))
	}
	q := 0.25 / c.Scale()
	c.Shade(func(p complex128) canvas.Color {
		var sum canvas.Color
		for _, d := range []complex128{complex(-q, -q), complex(q, -q), complex(-q, q), complex(q, q)} {
			s := ink(p + d)
			sum.R, sum.G, sum.B = sum.R+s.R/4, sum.G+s.G/4, sum.B+s.B/4
		}
		sum.A = 1
		return sum
	})
	for i, r := range roots {
		z := r/turn - (0.08 - 0.05i)
		p := complex(c.Width/2+real(z)/unit, c.Height/2-imag(z)/unit)
		c.Disc(basins[i].At(1), p, 12)
		c.Ring(canvas.Hex(0xfdf8ea), 3, p, 12)
		c.Disc(canvas.Hex(0xfdf8ea), p, 4)
	}
}
