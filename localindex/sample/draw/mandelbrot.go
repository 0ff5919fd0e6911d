package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// escape iterates z² + p. It returns the smooth number of steps until z leaves the circle of radius 2⁵ (−1 when it
// stays for limit steps), and an estimate of the distance from the set.
func escape(p complex128, limit int) (steps, distance float64) {
	x, y, dx, dy := 0.0, 0.0, 0.0, 0.0
	cx, cy := real(p), imag(p)
	for n := range limit {
		x2, y2 := x*x, y*y
		if x2+y2 > 1024 {
			r := math.Sqrt(x2 + y2)
			return float64(n) + 1 - math.Log2(math.Log(r)), 2 * r * math.Log(r) / math.Hypot(dx, dy) / 2
		}
		dx, dy = 2*(x*dx-y*dy)+1, 2*(x*dy+y*dx)
		x, y = x2-y2+cx, 2*x*y+cy
	}
	return -1, 0
}

// mandelbrotSet is a view of the valley between the main body and the disc to its left, with the
// whole set in an inset.
func mandelbrotSet(c *canvas.Canvas) {
	const margin = 84
	a, b := complex(margin, margin), complex(c.Width-margin, c.Height-margin)
	c.Clip(a, b)
	outside := canvas.NewRamp(
		canvas.Hex(0x0d1b2f), canvas.Hex(0x1d4463), canvas.Hex(0x5c97a0), canvas.Hex(0xe9e2c4), canvas.Hex(0xe2a84a), canvas.Hex(0xa8482c), canvas.Hex(0x4a1c2e),
		canvas.Hex(0x16243f), canvas.Hex(0x2f6d80), canvas.Hex(0xb9d3bd), canvas.Hex(0xf3e7c9), canvas.Hex(0xd98a3a), canvas.Hex(0x6e2a2e), canvas.Hex(0x0d1b2f))
	within := canvas.Hex(0x0a0d18)
	view := func(center complex128, width float64, from, to complex128, limit int, start, pace float64) func(complex128) canvas.Color {
		unit := width / real(to-from)
		middle := (from + to) / 2
		return func(p complex128) canvas.Color {
			q := center + complex(real(p-middle)*unit, -imag(p-middle)*unit)
			n, d := escape(q, limit)
			if n < 0 {
				return within
			}
			t := start + pace*math.Log(max(n, 1))
			t -= math.Floor(t)
			// Close to the set the picture darkens over a pixel or two, which also smooths the finest threads.
			return within.Toward(outside.At(t), 0.12+0.88*math.Min(1, math.Sqrt(d/unit*c.Scale()/2.2)))
		}
	}
	c.Shade(view(complex(-0.7435, 0.1310), 0.012, a, b, 900, 0.12, 0.62))

	// The whole set, with the place of the view marked.
	low, high := complex(margin+34, c.Height-margin-34-236), complex(margin+34+300, c.Height-margin-34)
	c.Clip(low, high)
	c.Shade(view(complex(-0.66, 0), 3.05, low, high, 300, 0.30, 0.22))
	unit := real(high-low) / 3.05
	mark := (low+high)/2 + complex((-0.7435+0.66)*unit, -0.1310*unit)
	c.Ring(canvas.Hex(0xf3e7c9), 3, mark, 11)
	c.Unclip()
	c.StrokeClosed(canvas.Hex(0xf6f1e4), 6, canvas.Rect(low, high)...)
}
