package draw

import (
	"math"
	"math/rand/v2"

	"docent/localindex/sample/draw/internal/canvas"
)

// affine is one map of an iterated function system, (x, y) → (ax+by+e, cx+dy+f), chosen with probability p.
type affine struct{ a, b, c, d, e, f, p float64 }

var (
	// barnsley is the spleenwort of Barnsley's Fractals Everywhere (1988).
	barnsley = []affine{
		{0, 0, 0, 0.16, 0, 0, 0.01},
		{0.85, 0.04, -0.04, 0.85, 0, 1.6, 0.85},
		{0.20, -0.26, 0.23, 0.22, 0, 1.6, 0.07},
		{-0.15, 0.28, 0.26, 0.24, 0, 0.44, 0.07},
	}
	// narrow is a fern with changed numbers, nearer to the marsh ferns.
	narrow = []affine{
		{0, 0, 0, 0.25, 0, -0.4, 0.02},
		{0.95, 0.005, -0.005, 0.93, -0.002, 0.5, 0.84},
		{0.035, -0.2, 0.16, 0.04, -0.09, 0.02, 0.07},
		{-0.04, 0.2, 0.16, 0.04, 0.083, 0.12, 0.07},
	}
)

// fern plays the chaos game on the maps and inks the density of the points. place turns fern coordinates into units;
// ink is given the height on the fern (0…1) and which side leaflet the point belongs to (0 stem, 1 right, 2 left).
func fern(c *canvas.Canvas, rng *rand.Rand, maps []affine, points int, place func(x, y float64) complex128, height float64, ink func(h float64, side int) canvas.Color) {
	k := c.Scale()
	w, h := int(math.Ceil(c.Width*k)), int(math.Ceil(c.Height*k))
	hits := make([]float32, w*h)
	tint := make([][3]float32, w*h)
	const steps = 64
	var inks [3][steps + 1]canvas.Color
	for side := range inks {
		for i := range inks[side] {
			inks[side][i] = ink(float64(i)/steps, side)
		}
	}
	x, y, side := 0.0, 0.0, 0
	for i := range points {
		r := rng.Float64()
		m := 0
		for m < len(maps)-1 && r >= maps[m].p {
			r -= maps[m].p
			m++
		}
		t := maps[m]
		x, y = t.a*x+t.b*y+t.e, t.c*x+t.d*y+t.f
		switch m { // the big map carries a leaflet upwards and keeps its side
		case 0:
			side = 0
		case 2:
			side = 1
		case 3:
			side = 2
		}
		if i < 30 {
			continue
		}
		p := place(x, y)
		px, py := int(real(p)*k), int(imag(p)*k)
		if px < 0 || py < 0 || px >= w || py >= h {
			continue
		}
		col := inks[side][int(min(max(y/height, 0), 1)*steps)]
		j := py*w + px
		hits[j]++
		tint[j][0] += col.R
		tint[j][1] += col.G
		tint[j][2] += col.B
	}
	// The same darkness whatever the number of pixels.
	full := float64(points) / float64(w*h)
	at := func(p complex128) int {
		return min(max(int(imag(p)*k), 0), h-1)*w + min(max(int(real(p)*k), 0), w-1)
	}
	shadow := canvas.Hex(0x5c4a2f)
	c.Shade(func(p complex128) canvas.Color {
		sum := 0.0
		for _, d := range []complex128{9 + 12i, 7 + 10i, 11 + 13i, 8 + 13i, 12 + 10i} {
			sum += 1 - math.Exp(-float64(hits[at(p-d)])/full*0.35)
		}
		return shadow.Fade(sum / 5 * 0.25)
	})
	c.Shade(func(p complex128) canvas.Color {
		j := at(p)
		if hits[j] == 0 {
			return canvas.Color{}
		}
		n := hits[j]
		return canvas.Color{R: tint[j][0] / n, G: tint[j][1] / n, B: tint[j][2] / n, A: float32(1 - math.Exp(-float64(n)/full*0.55))}
	})
}

// barnsleyFern lies on its sheet like a pressed plant, with a narrower relative beside it.
func barnsleyFern(c *canvas.Canvas) {
	rng := seeded(302)
	noise := canvas.NewNoise(rng)
	a, b := complex(84, 84), complex(c.Width-84, c.Height-84)
	c.Clip(a, b)
	sheet := canvas.NewRamp(canvas.Hex(0xefe3c6), canvas.Hex(0xe6d5b0), canvas.Hex(0xdcc79d))
	c.Shade(func(p complex128) canvas.Color { return sheet.At(0.45 + 0.7*noise.Fractal(p/640, 2)) })

	autumn := canvas.NewRamp(canvas.Hex(0xa8482a), canvas.Hex(0xc98a2f), canvas.Hex(0xa9a238))
	turn := canvas.Polar(1, 0.16)
	fern(c, rng, narrow, 900000, func(x, y float64) complex128 {
		return complex(285, 800) + complex(x*108, -y*92)*turn
	}, 7, func(h float64, side int) canvas.Color {
		return canvas.Mix(autumn.At(h*1.1), canvas.Hex(0x7a2b22), 0.35*float64(side)/2)
	})

	leaf := canvas.NewRamp(canvas.Hex(0x1d3b2a), canvas.Hex(0x245c3d), canvas.Hex(0x3f7f3f), canvas.Hex(0x7da043), canvas.Hex(0xb9b95a))
	lean := canvas.Polar(1, 0.10)
	fern(c, rng, barnsley, 3600000, func(x, y float64) complex128 {
		return complex(515, 1465) + complex(x*137, -y*134)*lean
	}, 10, func(h float64, side int) canvas.Color {
		ink := leaf.At(h*0.9 + 0.06)
		switch side {
		case 1:
			return canvas.Mix(ink, canvas.Hex(0x0f4a4a), 0.35)
		case 2:
			return canvas.Mix(ink, canvas.Hex(0xa9a832), 0.25)
		}
		return canvas.Hex(0x4a3a1e)
	})
	// Strips of paper hold the stems.
	for _, s := range []struct{ at, along complex128 }{{complex(527, 1380), canvas.Polar(52, 0.2)}, {complex(284, 806), canvas.Polar(44, -0.12)}, {complex(700, 690), canvas.Polar(46, -0.38)}} {
		across := s.along * 0.24i
		strip := []complex128{s.at - s.along - across, s.at + s.along - across, s.at + s.along + across, s.at - s.along + across}
		c.Fill(canvas.Hex(0x5c4a2f).Fade(0.3), shiftRing(strip, 4+6i))
		c.Fill(canvas.Hex(0xf6efdd), strip)
		c.StrokeClosed(canvas.Hex(0xc9b98f), 1.5, strip...)
	}
}
