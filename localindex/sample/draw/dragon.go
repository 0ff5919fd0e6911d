package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// dragonPath is the Heighway dragon from a to b: a strip of paper folded in half the given number of times, each fold
// opened to a right angle.
func dragonPath(a, b complex128, folds int) []complex128 {
	n := 1 << folds
	step := (b - a) * canvas.Polar(math.Pow(2, -float64(folds)/2), -float64(folds)*math.Pi/4)
	pts := make([]complex128, 1, n+1)
	pts[0] = a
	for i := 1; ; i++ {
		pts = append(pts, pts[i-1]+step)
		if i == n {
			return pts
		}
		// The turn at fold i is given by the bit above its lowest set bit.
		if (i&-i)<<1&i == 0 {
			step *= 1i
		} else {
			step *= -1i
		}
	}
}

// dragonCurve is one dragon of twelve folds, growing heavier along its way, over pale dragons of fewer folds.
func dragonCurve(c *canvas.Canvas) {
	// The curve first, as long as the sheet allows.
	path := dragonPath(0, canvas.Polar(1, 0.16), 12)
	low, high := bounds(path)
	scale := min((c.Width-230)/real(high-low), (c.Height-230)/imag(high-low))
	shift := c.Center() - (low+high)/2*complex(scale, 0)
	for i, p := range path {
		path[i] = p*complex(scale, 0) + shift
	}
	a, b := path[0], path[len(path)-1]

	c.Clip(complex(84, 84), complex(c.Width-84, c.Height-84))
	c.Shade(func(complex128) canvas.Color { return canvas.Hex(0xefe6d3) })
	pale := canvas.NewRamp(canvas.Hex(0xdfd0b0), canvas.Hex(0xc6b084), canvas.Hex(0xd6c7a6), canvas.Hex(0xbfc2a4))
	for _, g := range []struct {
		to    complex128
		folds int
		width float64
	}{{-1i, 7, 26}, {1i, 10, 10}, {-1, 9, 15}} {
		ghost := rounded(dragonPath(a, a+(b-a)*g.to*1.25, g.folds))
		c.StrokeColors(func(i int) canvas.Color { return pale.At(float64(i) / float64(len(ghost))) },
			func(int) float64 { return g.width }, ghost...)
	}
	c.Unclip()

	path = rounded(path)
	inks := canvas.NewRamp(canvas.Hex(0x0e4a47), canvas.Hex(0x1d7a6c), canvas.Hex(0x7fae6e), canvas.Hex(0xe2b04a), canvas.Hex(0xd4652f), canvas.Hex(0x9d2233), canvas.Hex(0x4b1138))
	f := func(i int) float64 { return float64(i) / float64(len(path)) }
	c.StrokeColors(func(int) canvas.Color { return canvas.Hex(0xf8f3e8) },
		func(i int) float64 { return 10 + 6*f(i) }, path...)
	c.StrokeColors(func(i int) canvas.Color { return inks.At(f(i)) },
		func(i int) float64 { return 4.2 + 6.6*f(i) }, path...)
	c.Disc(canvas.Hex(0x0e4a47), a, 11)
	c.Disc(canvas.Hex(0x4b1138), b, 16)
}

// bounds are the upper left and lower right corners of the box around the points.
func bounds(pts []complex128) (low, high complex128) {
	low, high = pts[0], pts[0]
	for _, p := range pts {
		low = complex(min(real(low), real(p)), min(imag(low), imag(p)))
		high = complex(max(real(high), real(p)), max(imag(high), imag(p)))
	}
	return low, high
}
