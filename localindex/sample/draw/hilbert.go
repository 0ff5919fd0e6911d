package draw

import (
	"math"
	"math/cmplx"

	"docent/localindex/sample/draw/internal/canvas"
)

// hilbertPoint is cell d of the Hilbert curve of the given order, on a grid of 2^order × 2^order cells.
func hilbertPoint(order, d int) (x, y int) {
	for s := 1; s < 1<<order; s *= 2 {
		rx := d / 2 & 1
		ry := (d ^ rx) & 1
		if ry == 0 {
			if rx == 1 {
				x, y = s-1-x, s-1-y
			}
			x, y = y, x
		}
		x += s * rx
		y += s * ry
		d /= 4
	}
	return x, y
}

// hilbertPath is the curve in a square with the given upper left corner.
func hilbertPath(order int, at complex128, size float64) []complex128 {
	n := 1 << order
	step := size / float64(n)
	pts := make([]complex128, n*n)
	for d := range pts {
		x, y := hilbertPoint(order, d)
		pts[d] = at + complex((float64(x)+0.5)*step, (float64(y)+0.5)*step)
	}
	return pts
}

// rounded gives an open line of straight pieces round corners, four short pieces each.
func rounded(pts []complex128) []complex128 {
	out := []complex128{pts[0]}
	for i := 1; i+1 < len(pts); i++ {
		a, b, c := (pts[i-1]+pts[i])/2, pts[i], (pts[i]+pts[i+1])/2
		for _, t := range []float64{0, 0.25, 0.5, 0.75} {
			out = append(out, canvas.Lerp(canvas.Lerp(a, b, t), canvas.Lerp(b, c, t), t))
		}
	}
	return append(out, (pts[len(pts)-2]+pts[len(pts)-1])/2, pts[len(pts)-1])
}

// hilbertCurve is one unbroken line of order 6 whose weight draws a sun above dunes; below it the first five orders.
func hilbertCurve(c *canvas.Canvas) {
	rng := seeded(201)
	noise := canvas.NewNoise(rng)
	const size = 1000
	at := complex((c.Width-size)/2, 92)
	sun := at + complex(690, 300)
	dune := func(x, base, height, seed float64) float64 {
		return imag(at) + base - height*noise.Fractal(complex(x/330, seed), 2) - 0.06*x
	}
	tone := func(p complex128) float64 { // 0 thin … 1 thick
		x, y := real(p), imag(p)
		r := cmplx.Abs(p - sun)
		v := 0.10 + 0.16*math.Max(0, 1-r/560) + 0.05*math.Sin(r/26)*math.Exp(-r/420)
		if r < 165 {
			v = 0.97 - 0.42*math.Max(0, (y-imag(sun))/165)
		}
		for k, d := range []float64{dune(x, 640, 210, 3), dune(x, 760, 230, 9), dune(x, 900, 190, 21)} {
			if y > d {
				depth := (y - d) / 190
				v = []float64{0.46, 0.72, 0.98}[k] - 0.42*math.Min(1, depth) + 0.05*math.Sin(depth*19+x/50)
			}
		}
		return min(max(v, 0.02), 1)
	}
	inks := canvas.NewRamp(canvas.Hex(0x1c4d5e), canvas.Hex(0x2f7f86), canvas.Hex(0xc98a2b), canvas.Hex(0xb8432f), canvas.Hex(0x6b1f3d), canvas.Hex(0x2a2350))
	path := rounded(hilbertPath(6, at, size))
	c.StrokeColors(
		func(i int) canvas.Color { return inks.At(float64(i) / float64(len(path))) },
		func(i int) float64 { return 1.6 + 11.6*tone(path[i]) },
		path...)

	const small = 148.0
	gap := (size - 5*small) / 4
	for order := 1; order <= 5; order++ {
		corner := complex(real(at)+float64(order-1)*(small+gap), imag(at)+size+76)
		line := hilbertPath(order, corner, small)
		if order > 1 {
			line = rounded(line)
		}
		width := 15 / math.Pow(1.62, float64(order-1))
		from := float64(order-1) / 5
		c.StrokeColors(
			func(i int) canvas.Color { return inks.At(from + 0.2*float64(i)/float64(len(line))) },
			func(int) float64 { return width },
			line...)
	}
}
