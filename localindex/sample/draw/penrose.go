package draw

import (
	"math"
	"math/cmplx"

	"docent/localindex/sample/draw/internal/canvas"
)

// halfRhomb is one half of a rhomb of Penrose's P3 tiling: a Robinson triangle with its apex at a. Thin halves have
// an apex of 36°, thick ones of 108°. The base b–c is the inner diagonal of the rhomb.
type halfRhomb struct {
	thin    bool
	a, b, c complex128
}

// middle is the centre of the whole rhomb, the same for both halves.
func (t halfRhomb) middle() complex128 { return (t.b + t.c) / 2 }

func (t halfRhomb) rhomb() []complex128 {
	return []complex128{t.a, t.b, t.b + t.c - t.a, t.c}
}

// deflate replaces a half rhomb by the smaller ones it is made of (sides shrink by the golden ratio).
func (t halfRhomb) deflate() []halfRhomb {
	if t.thin {
		p := canvas.Lerp(t.a, t.b, 1/math.Phi)
		return []halfRhomb{{true, t.c, p, t.b}, {false, p, t.c, t.a}}
	}
	q := canvas.Lerp(t.b, t.a, 1/math.Phi)
	r := canvas.Lerp(t.b, t.c, 1/math.Phi)
	return []halfRhomb{{false, r, t.c, t.a}, {false, q, r, t.b}, {true, r, q, t.a}}
}

// penroseTiling is a P3 tiling that is deflated further in some places than in others, so that tiles of four
// generations lie side by side.
func penroseTiling(c *canvas.Canvas) {
	rng := seeded(101)
	noise := canvas.NewNoise(rng)
	const margin = 90
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))

	hub := complex(c.Width*0.36, c.Height*0.62)
	var tiles []halfRhomb
	for i := range 10 {
		b := hub + canvas.Polar(1750, float64(2*i-1)*math.Pi/10+0.13)
		d := hub + canvas.Polar(1750, float64(2*i+1)*math.Pi/10+0.13)
		if i%2 == 0 {
			b, d = d, b
		}
		tiles = append(tiles, halfRhomb{true, hub, b, d})
	}

	thick := canvas.NewRamp(canvas.Hex(0xf2dfb8), canvas.Hex(0xe3a857), canvas.Hex(0xc8603f), canvas.Hex(0x7e2f3a))
	thin := canvas.NewRamp(canvas.Hex(0x16324f), canvas.Hex(0x2a6f7f), canvas.Hex(0x7fb3a6), canvas.Hex(0xd5e2d0))
	generation := func(p complex128) int {
		v := noise.Fractal(p/620, 2)*2.4 + real(p-hub)/900 - imag(p-hub)/1300
		return 6 + min(max(int(math.Floor(v+1.35)), 0), 3)
	}
	// Finer tiles lie below, so that the coarser ones at a border stay whole.
	layers := map[int][]halfRhomb{}
	seen := map[[2]int]bool{}
	var sort func(t halfRhomb, depth int)
	sort = func(t halfRhomb, depth int) {
		if depth < generation(t.middle()) {
			for _, part := range t.deflate() {
				sort(part, depth+1)
			}
			return
		}
		m := t.middle()
		key := [2]int{int(math.Round(real(m) * 8)), int(math.Round(imag(m) * 8))}
		if !seen[key] {
			seen[key] = true
			layers[depth] = append(layers[depth], t)
		}
	}
	for _, t := range tiles {
		sort(t, 0)
	}

	grout := canvas.Hex(0xf8f3e8)
	for depth := 9; depth >= 6; depth-- {
		joint := []float64{5, 3.6, 2.4, 1.6}[depth-6]
		for _, t := range layers[depth] {
			m := t.middle()
			tone := 0.5 + noise.At(m/260+complex(40, 7))*0.8 + rng.NormFloat64()*0.10
			ramp := thick
			if t.thin {
				ramp = thin
			}
			ring := t.rhomb()
			c.Fill(ramp.At(tone), ring)
			// Coarse tiles carry an inlay: rhombs within the rhomb, each a step lighter or darker.
			side := cmplx.Abs(t.b - t.a)
			for k := 1; k <= 9-depth; k++ {
				step := 0.17
				if t.thin {
					step = 0.075
				}
				inner := canvas.Inset(ring, side*step*float64(k))
				if inner == nil {
					break
				}
				c.Fill(ramp.At(tone+0.13*float64(k)*float64(1-2*(k%2))), inner)
			}
			c.StrokeClosed(grout, joint, ring...)
		}
	}
}
