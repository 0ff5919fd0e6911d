package draw

import (
	"math"
	"math/cmplx"
	"math/rand/v2"

	"docent/localindex/sample/draw/internal/canvas"
)

// iceBar is one bar of the lattice; earlier ones are heavier.
type iceBar struct {
	a, b  complex128
	depth int
}

// iceRay splits a convex pane of three to five sides again and again by a bar between two of its sides, as in Stiny's
// shape grammar of ice-ray lattices (1977): a triangle into triangle and quadrangle, a quadrangle into two quadrangles
// or triangle and pentagon, a pentagon into quadrangle and pentagon. It stops below the area that wanted returns.
func iceRay(rng *rand.Rand, pane []complex128, depth int, wanted func(complex128) float64) (bars []iceBar) {
	area := math.Abs(canvas.Area(pane))
	if area < wanted(mean(pane))*(0.8+0.5*rng.Float64()) {
		return nil
	}
	type cut struct {
		one, two []complex128
		bar      iceBar
	}
	var best cut
	score := math.Inf(-1)
	for range 14 {
		n := len(pane)
		i := rng.IntN(n)
		j := (i + 1 + rng.IntN(n-1)) % n
		if i > j {
			i, j = j, i
		}
		a := canvas.Lerp(pane[i], pane[(i+1)%n], 0.28+0.44*rng.Float64())
		b := canvas.Lerp(pane[j], pane[(j+1)%n], 0.28+0.44*rng.Float64())
		one := append([]complex128{a}, pane[i+1:j+1]...)
		one = append(one, b)
		two := append([]complex128{b}, pane[j+1:]...)
		two = append(two, pane[:i+1]...)
		two = append(two, a)
		if len(one) > 5 || len(two) > 5 {
			continue
		}
		imbalance := math.Abs(math.Log(math.Abs(canvas.Area(one) / canvas.Area(two))))
		s := min(roundness(one), roundness(two)) - 0.12*imbalance + 0.15*rng.Float64()
		if len(one) == 4 && len(two) == 4 {
			s -= 0.22 // a grid of quadrangles is no ice
		}
		if s > score {
			score, best = s, cut{one, two, iceBar{a, b, depth}}
		}
	}
	if best.one == nil {
		return nil
	}
	bars = append(bars, best.bar)
	bars = append(bars, iceRay(rng, best.one, depth+1, wanted)...)
	return append(bars, iceRay(rng, best.two, depth+1, wanted)...)
}

// roundness is 1 for a regular polygon and less for any other with the same number of corners.
func roundness(ring []complex128) float64 {
	length := 0.0
	for i, p := range ring {
		length += cmplx.Abs(ring[(i+1)%len(ring)] - p)
	}
	n := float64(len(ring))
	return 4 * n * math.Tan(math.Pi/n) * math.Abs(canvas.Area(ring)) / (length * length)
}

// iceCrackLattice is a window with an ice-ray lattice, through which a plum tree shows against the moon.
func iceCrackLattice(c *canvas.Canvas) {
	rng := seeded(103)
	const margin, rail = 84, 34
	a, b := complex(margin, margin), complex(c.Width-margin, c.Height-margin)
	wood, lit, dark := canvas.Hex(0x5a2e22), canvas.Hex(0x8d5238), canvas.Hex(0x2c1512)

	// The night behind.
	c.Clip(a, b)
	sky := canvas.NewRamp(canvas.Hex(0x5d8a94), canvas.Hex(0x8fb3ab), canvas.Hex(0xc9d3b8), canvas.Hex(0xeedfb8))
	noise := canvas.NewNoise(rng)
	c.Shade(func(p complex128) canvas.Color { return sky.At(imag(p)/c.Height + 0.12*noise.At(p/350)) })
	moon := complex(c.Width*0.66, c.Height*0.30)
	for k := 10; k > 0; k-- {
		c.Disc(canvas.Hex(0xfbf3d6).Fade(0.06), moon, 175+float64(k*k)*2.2)
	}
	c.Disc(canvas.Hex(0xfbf3d6), moon, 172)
	for k := range 3 { // hills
		y := c.Height * (0.73 + 0.07*float64(k))
		ring := []complex128{complex(c.Width, c.Height), complex(0, c.Height)}
		for x := 0.0; x <= c.Width; x += 12 {
			ring = append(ring, complex(x, y+120*noise.Fractal(complex(x/420, float64(k)*7), 3)))
		}
		c.Fill(canvas.Mix(canvas.Hex(0x8aa79c), canvas.Hex(0x3f6468), float64(k)/2), ring)
	}
	plum(c, rng, complex(c.Width*0.13, c.Height*0.93), canvas.Polar(92, -1.12), 27, 0)

	// The lattice.
	inner := canvas.Rect(a+complex(rail, rail), b-complex(rail, rail))
	bars := iceRay(rng, inner, 0, func(p complex128) float64 {
		return 5200 + 15000*math.Min(1, math.Pow(cmplx.Abs(p-moon)/900, 2)) + 5000*noise.At(p/300)
	})
	width := func(bar iceBar) float64 { return max(6.5, 17-1.5*float64(bar.depth)) }
	for _, bar := range bars {
		c.Stroke(canvas.Hex(0x10191c).Fade(0.22), width(bar)+2, bar.a+complex(7, 10), bar.b+complex(7, 10))
	}
	for i := len(bars) - 1; i >= 0; i-- {
		bar := bars[i]
		w := width(bar)
		c.Stroke(dark, w+3, bar.a, bar.b)
		c.Stroke(wood, w, bar.a, bar.b)
		// The edge that catches the light looks up and to the left.
		n := (bar.b - bar.a) * complex(0, 1) / complex(cmplx.Abs(bar.b-bar.a), 0)
		if real(n)+imag(n) > 0 {
			n = -n
		}
		c.Stroke(lit, w*0.22, bar.a+n*complex(w*0.28, 0), bar.b+n*complex(w*0.28, 0))
	}
	c.Fill(wood, canvas.Rect(a, complex(real(b), imag(a)+rail)), canvas.Rect(complex(real(a), imag(b)-rail), b),
		canvas.Rect(a, complex(real(a)+rail, imag(b))), canvas.Rect(complex(real(b)-rail, imag(a)), b))
	c.StrokeClosed(dark, 3, inner...)
	c.StrokeClosed(lit, 3, canvas.Rect(a+complex(9, 9), b-complex(9, 9))...)
	c.StrokeClosed(dark, 4, canvas.Rect(a+complex(2, 2), b-complex(2, 2))...)
}

// plum grows a branch from a place and sets blossoms on its twigs.
func plum(c *canvas.Canvas, rng *rand.Rand, at, step complex128, width float64, depth int) {
	if depth > 7 || width < 2 {
		blossom(c, rng, at)
		return
	}
	pts := []complex128{at}
	for range 4 {
		step *= canvas.Polar(1, 0.20*rng.NormFloat64())
		at += step / 2
		pts = append(pts, at)
	}
	curve := canvas.Smooth(pts, 6)
	c.StrokeWidths(canvas.Hex(0x2e2a2c), func(i int) float64 {
		return width * (1 - 0.28*float64(i)/float64(len(curve)))
	}, curve...)
	if depth >= 2 {
		for range 1 + rng.IntN(3) {
			blossom(c, rng, curve[rng.IntN(len(curve))]+canvas.Polar(width+6, rng.Float64()*7))
		}
	}
	turn := 0.30 + 0.35*rng.Float64()
	plum(c, rng, at, step*canvas.Polar(0.92, turn*0.7), width*0.70, depth+1)
	if depth > 0 || rng.IntN(2) == 0 {
		plum(c, rng, at, step*canvas.Polar(0.85, -turn), width*0.58, depth+1)
	}
}

// blossom is a plum flower of five petals, or a bud.
func blossom(c *canvas.Canvas, rng *rand.Rand, at complex128) {
	size := 9 + 8*rng.Float64()
	turn := rng.Float64() * 2 * math.Pi
	petal := canvas.Mix(canvas.Hex(0xb63a4a), canvas.Hex(0xe9909a), rng.Float64())
	if rng.IntN(4) == 0 {
		c.Disc(canvas.Hex(0x9c2f40), at, size*0.6)
		return
	}
	for k := range 5 {
		c.Disc(petal, at+canvas.Polar(size*0.8, turn+float64(k)*2*math.Pi/5), size*0.68)
	}
	c.Disc(canvas.Hex(0xf6dfae), at, size*0.34)
}
