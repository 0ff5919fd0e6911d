package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// maurerLines joins the points sin(n·k·d) at angle k·d (degrees) for k = 0…360 (Maurer 1987).
func maurerLines(at complex128, radius float64, n, d int, turn float64) []complex128 {
	pts := make([]complex128, 361)
	for k := range pts {
		theta := float64(k*d%360) * math.Pi / 180
		pts[k] = at + canvas.Polar(radius*math.Sin(float64(n)*theta), theta+turn)
	}
	return pts
}

// rosePetals is the smooth rose r = sin nθ the lines hang on.
func rosePetals(at complex128, radius float64, n int, turn float64) []complex128 {
	pts := make([]complex128, 1441)
	for k := range pts {
		theta := float64(k) * math.Pi / 720
		pts[k] = at + canvas.Polar(radius*math.Sin(float64(n)*theta), theta+turn)
	}
	return pts
}

// maurerRose shows one large rose and five small ones on a dark ground, each line inked by its place in the walk.
func maurerRose(c *canvas.Canvas) {
	const margin = 78
	a, b := complex(margin, margin), complex(c.Width-margin, c.Height-margin)
	c.Clip(a, b)
	ground := canvas.NewRamp(canvas.Hex(0x35163a), canvas.Hex(0x1d1230))
	c.Shade(func(p complex128) canvas.Color { return ground.At(imag(p) / c.Height) })

	rose := func(at complex128, radius float64, n, d int, turn, width float64, inks canvas.Ramp, petals canvas.Color) {
		web := maurerLines(at, radius, n, d, turn)
		for k := 1; k < len(web); k++ {
			f := float64(k) / float64(len(web))
			c.Stroke(inks.At(f).Fade(0.9), width*(0.7+1.1*f), web[k-1], web[k])
		}
		if radius > 200 { // tint the petals of the large rose, neighbours differently
			outline := rosePetals(at, radius, n, turn)
			for k := range 2 * n {
				tint := inks.At(float64(k*5%7) / 6)
				c.Fill(tint.Fade(0.16+0.05*float64(k%4)), outline[k*1440/(2*n):(k+1)*1440/(2*n)+1])
			}
		}
		c.Stroke(petals, 1.6+width, rosePetals(at, radius, n, turn)...)
	}
	gold, mint := canvas.Hex(0xe9b95a), canvas.Hex(0x9fd3c0)
	rose(complex(c.Width/2-10, 600), 478, 6, 71, 0.19, 1.6,
		canvas.NewRamp(canvas.Hex(0xf7e7ce), canvas.Hex(0xf0b7a4), canvas.Hex(0xd9667a), canvas.Hex(0x8e5bb5), canvas.Hex(0x5fa8c9)), gold)
	for i, s := range []struct {
		n, d   int
		at     complex128
		radius float64
		inks   canvas.Ramp
		petals canvas.Color
	}{
		{2, 39, complex(225, 1245), 122, canvas.NewRamp(canvas.Hex(0x9fd3c0), canvas.Hex(0x4a8fa8)), gold},
		{3, 47, complex(470, 1290), 108, canvas.NewRamp(canvas.Hex(0xf0b7a4), canvas.Hex(0xd9667a)), mint},
		{4, 31, complex(705, 1250), 118, canvas.NewRamp(canvas.Hex(0xe9b95a), canvas.Hex(0xc4703f)), canvas.Hex(0xf7e7ce)},
		{7, 19, complex(955, 1265), 134, canvas.NewRamp(canvas.Hex(0xc9b6e8), canvas.Hex(0x8e5bb5)), mint},
		{5, 97, complex(990, 190), 96, canvas.NewRamp(canvas.Hex(0xf7e7ce), canvas.Hex(0x9fd3c0)), canvas.Hex(0xd9667a)},
	} {
		rose(s.at, s.radius, s.n, s.d, 0.3+0.4*float64(i), 0.8, s.inks, s.petals)
	}
}
