package draw

import (
	"math"
	"math/cmplx"
	"math/rand/v2"

	"docent/localindex/sample/draw/internal/canvas"
)

// squareMode is the usual approximation of how a free square plate swings: two crossed cosine waves of n and m half
// waves, mixed with weights a and b. x and y run over 0…1.
func squareMode(n, m, a, b float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		return a*math.Cos(n*math.Pi*x)*math.Cos(m*math.Pi*y) + b*math.Cos(m*math.Pi*x)*math.Cos(n*math.Pi*y)
	}
}

// roundMode is a round membrane: n diameters and a Bessel wave along the radius (k at the rim), bent a little by a
// second mode as real plates do. x and y run over 0…1.
func roundMode(n int, k float64, second int, k2, weight float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		p := complex(2*x-1, 2*y-1)
		r, theta := cmplx.Polar(p)
		return math.Jn(n, k*r)*math.Cos(float64(n)*theta) + weight*math.Jn(second, k2*r)*math.Cos(float64(second)*theta+0.7)
	}
}

// chladniFigures are seven plates strewn with sand, which stays where the plate stands still.
func chladniFigures(c *canvas.Canvas) {
	rng := seeded(401)
	for _, plate := range []struct {
		at    complex128
		size  float64
		turn  float64
		round bool
		metal uint32
		mode  func(x, y float64) float64
	}{
		{complex(418, 520), 640, -0.05, false, 0x23282c, squareMode(7, 4, 1, -0.78)},
		{complex(1010, 330), 420, 0, true, 0x4a3423, roundMode(5, 15.5, 2, 11.2, 0.35)},
		{complex(1330, 640), 250, 0.09, false, 0x2b3a3d, squareMode(3, 5, 1, 0.62)},
		{complex(930, 720), 300, -0.03, false, 0x35302a, squareMode(2, 5, 1, -1)},
		{complex(1170, 960), 290, 0, true, 0x23282c, roundMode(3, 18.3, 0, 13, 0.5)},
		{complex(300, 1000), 260, 0.06, false, 0x4a3423, squareMode(6, 1, 1, 0.8)},
		{complex(655, 1000), 270, -0.12, false, 0x2b3a3d, squareMode(8, 5, 0.9, 1.2)},
	} {
		chladniPlate(c, rng, plate.at, plate.size, plate.turn, plate.round, canvas.Hex(plate.metal), plate.mode)
	}
}

func chladniPlate(c *canvas.Canvas, rng *rand.Rand, at complex128, size, turn float64, round bool, metal canvas.Color, mode func(x, y float64) float64) {
	rotate := canvas.Polar(1, turn)
	place := func(x, y float64) complex128 { return at + complex((x-0.5)*size, (y-0.5)*size)*rotate }
	outline := []complex128{place(0, 0), place(1, 0), place(1, 1), place(0, 1)}
	outline = canvas.Round(outline, 0.03, 5)
	if round {
		outline = canvas.Circle(at, size/2, 240)
	}
	for k := 6; k > 0; k-- {
		c.Fill(canvas.Hex(0x3a2d1c).Fade(0.055), growRing(shiftRing(outline, 10+15i), at+10+15i, 1+0.008*float64(k)))
	}
	sheen := canvas.Mix(metal, canvas.Hex(0xfff2d8), 0.20)
	c.FillFunc(func(p complex128) canvas.Color {
		q := (p - at) / complex(size, 0)
		return metal.Toward(sheen, 0.5+0.5*math.Sin(3.1*real(q)+4.3*imag(q)+turn*20))
	}, outline)
	c.StrokeClosed(canvas.Mix(metal, canvas.Hex(0xfff2d8), 0.45), 2.5, growRing(outline, at, 0.985)...)

	sand := canvas.NewRamp(canvas.Hex(0xc9a76a), canvas.Hex(0xe9d6a8), canvas.Hex(0xfbf3dc))
	grains := int(size * size * 0.30)
	for range grains * 4 {
		x, y := 0.015+0.97*rng.Float64(), 0.015+0.97*rng.Float64()
		if round && math.Hypot(2*x-1, 2*y-1) > 0.965 {
			continue
		}
		u := mode(x, y)
		if stray := rng.Float64() < 0.006; math.Abs(u) > 0.5 && !stray {
			continue // too far from the line, whatever the slope
		}
		// How steeply the plate's motion rises decides how narrow the line of sand is.
		e := 0.004
		slope := math.Hypot(mode(x+e, y)-u, mode(x, y+e)-u) / e
		d := math.Abs(u) / (slope + 1.2) * size
		if rng.Float64() < math.Exp(-d*d/(2*3.2*3.2))+0.006 {
			c.Disc(sand.At(rng.Float64()), place(x, y), 0.7+0.7*rng.Float64())
		}
	}
	c.Disc(canvas.Mix(metal, canvas.Hex(0xfff2d8), 0.6), at, 6)
	c.Disc(canvas.Mix(metal, canvas.Hex(0x000000), 0.4), at, 3)
}

func growRing(ring []complex128, center complex128, f float64) []complex128 {
	out := make([]complex128, len(ring))
	for i, p := range ring {
		out[i] = center + (p-center)*complex(f, 0)
	}
	return out
}
