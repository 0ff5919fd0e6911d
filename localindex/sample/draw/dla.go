package draw

import (
	"math"
	"math/rand/v2"

	"docent/localindex/sample/draw/internal/canvas"
)

// dlaTree is a grown cluster: each particle and the one it stuck to (-1 for a seed).
type dlaTree struct {
	at     []complex128
	parent []int
	root   []int // index of the seed it belongs to
}

// growDLA grows diffusion-limited aggregation off the lattice (Witten and Sander 1981) in a basin with walls: walkers
// start anywhere in the free water and stick where they first touch. Distances are in diameters of a particle.
func growDLA(rng *rand.Rand, seeds []complex128, particles int, low, high complex128) dlaTree {
	// Particles by square of the plane; one ring of empty squares around them.
	const cell = 4.0
	columns := int(real(high-low)/cell) + 4
	squares := make([][]int, columns*(int(imag(high-low)/cell)+4))
	square := func(p complex128) int {
		return (int(imag(p-low)/cell+1.5))*columns + int(real(p-low)/cell+1.5)
	}
	var t dlaTree
	add := func(p complex128, parent, root int) {
		squares[square(p)] = append(squares[square(p)], len(t.at))
		t.at, t.parent, t.root = append(t.at, p), append(t.parent, parent), append(t.root, root)
	}
	for i, s := range seeds {
		add(s, -1, i)
	}
	// nearest is the particle nearest to p within the cells around it.
	nearest := func(p complex128) (int, float64) {
		best, distance := -1, cell*cell // anything in the squares beyond is at least this far
		s := square(p)
		for _, row := range [3]int{s - columns, s, s + columns} {
			for _, at := range squares[row-1 : row+2] {
				for _, i := range at {
					if d := abs2(t.at[i] - p); d < distance {
						best, distance = i, d
					}
				}
			}
		}
		distance = math.Sqrt(distance)
		return best, distance
	}
	for len(t.at) < particles {
		p := low + complex(rng.Float64()*real(high-low), rng.Float64()*imag(high-low))
		if i, d := nearest(p); i >= 0 && d < 2.5 {
			continue // no free place
		}
		for {
			i, d := nearest(p)
			if i >= 0 && d <= 1.15 {
				add(t.at[i]+(p-t.at[i])/complex(max(d, 1e-9), 0), i, t.root[i])
				break
			}
			// It cannot touch anything on a step of this length. The walls of the basin throw it back.
			p += canvas.Polar(max(0.5, d-1.1), 2*math.Pi*rng.Float64())
			p = complex(mirror(real(p), real(low), real(high)), mirror(imag(p), imag(low), imag(high)))
		}
	}
	return t
}

// mirror folds a coordinate back between two walls.
func mirror(x, low, high float64) float64 {
	if x < low {
		return 2*low - x
	}
	if x > high {
		return 2*high - x
	}
	return x
}

// diffusionLimitedAggregation grows three corals from the floor of one sea; branches are as thick as what they carry.
func diffusionLimitedAggregation(c *canvas.Canvas) {
	rng := seeded(304)
	const margin, step = 82, 5.0
	a, b := complex(margin, margin), complex(c.Width-margin, c.Height-margin)
	c.Clip(a, b)
	sea := canvas.NewRamp(canvas.Hex(0xdfe9e4), canvas.Hex(0xc3d8d6), canvas.Hex(0xa3c2c6))
	c.Shade(func(p complex128) canvas.Color { return sea.At(imag(p) / c.Height) })

	hub := c.Center()
	place := func(p complex128) complex128 { return hub + p*step }
	wall := complex(16, 16)
	seeds := []complex128{(complex(470, 760) - hub) / step, (complex(985, 330) - hub) / step, (complex(960, 1010) - hub) / step}
	t := growDLA(rng, seeds, 8600, (a+wall-hub)/step, (b-wall-hub)/step)

	load := make([]int, len(t.at))
	for i := len(t.at) - 1; i >= 0; i-- {
		load[i]++
		if t.parent[i] >= 0 {
			load[t.parent[i]] += load[i]
		}
	}
	inks := []canvas.Ramp{
		canvas.NewRamp(canvas.Hex(0x5a1526), canvas.Hex(0xa3263a), canvas.Hex(0xd9583f), canvas.Hex(0xf0a35c)),
		canvas.NewRamp(canvas.Hex(0x1b2a4a), canvas.Hex(0x2c4f80), canvas.Hex(0x4d86a8)),
		canvas.NewRamp(canvas.Hex(0x2e1f3f), canvas.Hex(0x6a3a6f), canvas.Hex(0xb0679a)),
	}
	width := func(i int) float64 { return min(26, 3.0+0.95*math.Pow(float64(load[i]), 0.46)) }
	for i := range t.at { // shadows
		if j := t.parent[i]; j >= 0 && load[i] > 3 {
			c.StrokeWidths(canvas.Hex(0x33505c).Fade(0.10), func(k int) float64 { return []float64{width(j), width(i)}[k] },
				place(t.at[j])+complex(9, 12), place(t.at[i])+complex(9, 12))
		}
	}
	for i := len(t.at) - 1; i >= 0; i-- {
		ink := inks[t.root[i]].At(float64(i) / float64(len(t.at)))
		j := t.parent[i]
		if j < 0 {
			c.Disc(inks[t.root[i]].At(0), place(t.at[i]), width(i)*0.62)
			continue
		}
		c.StrokeWidths(ink, func(k int) float64 { return []float64{min(width(j), width(i)*1.3), width(i)}[k] }, place(t.at[j]), place(t.at[i]))
		if load[i] == 1 { // a polyp at every tip
			c.Disc(canvas.Mix(ink, canvas.Hex(0xfff1dc), 0.55), place(t.at[i]), 3.1)
		}
	}
}
