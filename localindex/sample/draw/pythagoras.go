package draw

import (
	"math"
	"math/cmplx"
	"math/rand/v2"

	"docent/localindex/sample/draw/internal/canvas"
)

// pythagorasTree stands a right triangle on every square and squares on its legs (Bosman 1942); the angle of the
// triangles drifts, as if in a wind.
func pythagorasTree(c *canvas.Canvas) {
	rng := seeded(306)
	a, b := complex(84, 84), complex(c.Width-84, c.Height-84)
	c.Clip(a, b)
	sky := canvas.NewRamp(canvas.Hex(0x26364f), canvas.Hex(0x58607f), canvas.Hex(0xb9848a), canvas.Hex(0xedb98f), canvas.Hex(0xf7dfb4))
	c.Shade(func(p complex128) canvas.Color { return sky.At((imag(p) - 60) / (c.Height - 190)) })
	sun := complex(1130, 850)
	for k := 8; k > 0; k-- {
		c.Disc(canvas.Hex(0xfff0c9).Fade(0.06), sun, 96+float64(k*k)*3)
	}
	c.Disc(canvas.Hex(0xfff0c9), sun, 96)
	for range 70 { // stars
		p := complex(84+rng.Float64()*(c.Width-168), 90+rng.Float64()*rng.Float64()*520)
		c.Disc(canvas.Hex(0xfdf3dc).Fade(0.8), p, 1+2.2*rng.Float64()*rng.Float64())
	}
	ground := []complex128{complex(c.Width, c.Height), complex(0, c.Height)}
	for x := 0.0; x <= c.Width; x += 10 {
		ground = append(ground, complex(x, c.Height-150-34*math.Sin(x/260+0.6)-9*math.Sin(x/61)))
	}
	c.Fill(canvas.Hex(0x2a2f33), ground)

	type branch struct {
		left, right complex128 // foot of the square
		apex        complex128 // of the triangle on it
		depth       int
	}
	var squares []branch
	var grow func(br branch, angle float64)
	grow = func(br branch, angle float64) {
		side := br.right - br.left
		if cmplx.Abs(side) < 4.2 || br.depth > 13 {
			return
		}
		up := side * -1i // the sheet's y runs down
		l, r := br.left+up, br.right+up
		// The apex lies on the half circle over the square's upper side.
		apex := l + side*complex(math.Cos(angle), 0)*canvas.Polar(1, -angle)
		br.apex = apex
		squares = append(squares, br)
		next := func() float64 {
			return min(max(0.72+0.20*rng.NormFloat64()+0.10*math.Sin(float64(br.depth)*1.3), 0.42), 1.1)
		}
		grow(branch{l, apex, 0, br.depth + 1}, next())
		grow(branch{apex, r, 0, br.depth + 1}, next())
	}
	grow(branch{complex(650, 1066), complex(812, 1058), 0, 0}, 0.80)

	bark := canvas.NewRamp(canvas.Hex(0x2b1d1a), canvas.Hex(0x4a2c24), canvas.Hex(0x6d3b2b))
	leaves := []canvas.Color{canvas.Hex(0xd9583f), canvas.Hex(0xe8924a), canvas.Hex(0xf0c26b), canvas.Hex(0xa63446), canvas.Hex(0xf6e3b8), canvas.Hex(0x6f8f5f)}
	for depth := 0; depth <= 13; depth++ {
		for _, s := range squares {
			if s.depth == depth {
				up := (s.right - s.left) * -1i
				c.Fill(canvas.Mix(canvas.Hex(0x8d4a34), canvas.Hex(0x5d6b4a), float64(depth)/11), []complex128{s.left + up, s.right + up, s.apex})
				pythagorasSquare(c, rng, s.left, s.right, depth, bark, leaves)
			}
		}
	}
}

// pythagorasSquare draws one square: bark with growth rings for the trunk, a leaf for the twigs.
func pythagorasSquare(c *canvas.Canvas, rng *rand.Rand, left, right complex128, depth int, bark canvas.Ramp, leaves []canvas.Color) {
	side := right - left
	up := side * -1i
	ring := []complex128{left, right, right + up, left + up}
	size := cmplx.Abs(side)
	if depth >= 6 || size < 34 {
		ink := leaves[rng.IntN(len(leaves))]
		c.Fill(ink, ring)
		if size > 12 {
			c.StrokeClosed(canvas.Mix(ink, canvas.Hex(0x2b1d1a), 0.55), max(1, size*0.05), ring...)
		}
		return
	}
	c.Fill(bark.At(float64(depth)/6+0.12*rng.NormFloat64()), ring)
	line := canvas.Hex(0xd9a27a)
	for k := 1; k < 5; k++ {
		if inner := canvas.Inset(ring, size*(0.035+0.085*float64(k)*(0.8+0.4*rng.Float64()))); inner != nil {
			c.StrokeClosed(line.Fade(0.75), max(1.2, size*0.012*(1+rng.Float64())), inner...)
		}
	}
	c.StrokeClosed(canvas.Hex(0x1a1210), max(1.5, size*0.02), ring...)
}
