package draw

import (
	"math"
	"sort"

	"docent/localindex/sample/draw/internal/canvas"
)

// strap is the piece of a band inside one tile: from the middle of a side to a bend and on to the middle of another.
// It lies above the crossing at its start and below the one at its end.
type strap struct{ from, bend, to complex128 }

// straps decorates a tile with the classic lines that cross each side at 54° (Hankin's "polygons in contact"): from
// the middle of each side a ray leans to each of its ends; a forward ray and a backward one that meet first are joined.
func (t girihTile) straps() []strap {
	n := len(t.ring)
	type ray struct{ origin, direction complex128 }
	forward, backward := make([]ray, n), make([]ray, n)
	lean := 54 * math.Pi / 180
	for i, p := range t.ring {
		q := t.ring[(i+1)%n]
		m := (p + q) / 2
		forward[i] = ray{m, (q - p) * canvas.Polar(1, lean)}
		backward[i] = ray{m, (p - q) * canvas.Polar(1, -lean)}
	}
	type pair struct {
		i, j   int
		bend   complex128
		length float64
	}
	var pairs []pair
	for i, f := range forward {
		for j, b := range backward {
			if i == j {
				continue
			}
			gap := b.origin - f.origin
			det := canvas.Cross(f.direction, b.direction)
			if math.Abs(det) < 1e-9 {
				// Parallel: one straight line when they face each other.
				if math.Abs(canvas.Cross(f.direction, gap)) < 1e-9 && canvas.Dot(f.direction, gap) > 0 {
					pairs = append(pairs, pair{i, j, (f.origin + b.origin) / 2, math.Sqrt(abs2(gap))})
				}
				continue
			}
			s, u := canvas.Cross(gap, b.direction)/det, canvas.Cross(gap, f.direction)/det
			if s > 1e-9 && u > 1e-9 {
				pairs = append(pairs, pair{i, j, f.origin + f.direction*complex(s, 0), s + u})
			}
		}
	}
	sort.SliceStable(pairs, func(a, b int) bool { return pairs[a].length < pairs[b].length-1e-9 })
	var out []strap
	usedForward, usedBackward := make([]bool, n), make([]bool, n)
	for _, p := range pairs {
		if !usedForward[p.i] && !usedBackward[p.j] {
			usedForward[p.i], usedBackward[p.j] = true, true
			out = append(out, strap{forward[p.i].origin, p.bend, backward[p.j].origin})
		}
	}
	return out
}

// loops follows the straps of a tile from side to side; each loop is the ring of one inner pane.
func loops(pieces []strap) [][]complex128 {
	next := map[girihKey]strap{}
	for _, s := range pieces {
		next[keyOf(s.from)] = s
	}
	var rings [][]complex128
	for _, first := range pieces {
		var ring []complex128
		for at := keyOf(first.from); ; {
			s, ok := next[at]
			if !ok {
				break
			}
			delete(next, at)
			ring = append(ring, s.from, s.bend)
			at = keyOf(s.to)
		}
		if ring != nil {
			rings = append(rings, ring)
		}
	}
	return rings
}

// girihStar is a patch of girih tiles of no repeating order, drawn as interlaced bands; the tiles themselves do not
// show, only the panes between the bands.
func girihStar(c *canvas.Canvas) {
	const side, margin = 88, 84
	turn := canvas.Polar(side, 0.11)
	place := func(p complex128) complex128 { return c.Center() + complex(-150, 95) + p*turn }
	inside := func(p complex128) bool {
		q := place(p)
		return real(q) > margin-side && real(q) < c.Width-margin+side && imag(q) > margin-side && imag(q) < c.Height-margin+side
	}
	tiles := growGirih(seeded(11102), inside, 200000)
	rng := seeded(102)
	noise := canvas.NewNoise(rng)
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))

	ground := canvas.NewRamp(canvas.Hex(0x12355b), canvas.Hex(0x1b5e7d), canvas.Hex(0x2c8c99))
	c.Shade(func(p complex128) canvas.Color { return ground.At(0.45 + noise.At(p/400)) })

	panes := map[string]canvas.Ramp{
		"decagon":  canvas.NewRamp(canvas.Hex(0x8f3426), canvas.Hex(0xc65a32), canvas.Hex(0xdf8f3f), canvas.Hex(0xeab756)),
		"hexagon":  canvas.NewRamp(canvas.Hex(0x1f7a78), canvas.Hex(0x57ab9c), canvas.Hex(0xb9dcc6)),
		"bowtie":   canvas.NewRamp(canvas.Hex(0xd99f3c), canvas.Hex(0xf0d596), canvas.Hex(0xf7ecd0)),
		"pentagon": canvas.NewRamp(canvas.Hex(0xf7ecd0), canvas.Hex(0xd98a4b)),
		"rhombus":  canvas.NewRamp(canvas.Hex(0x7c2f2a), canvas.Hex(0xc65a32)),
	}
	pale, dark := canvas.Hex(0xf3dca2), canvas.Hex(0x12355b)
	var all []strap
	for _, t := range tiles {
		pieces := t.straps()
		m := place(mean(t.ring))
		tone := 0.5 + noise.At(m/330)*0.9 + rng.NormFloat64()*0.16
		for _, ring := range loops(pieces) {
			for i, p := range ring {
				ring[i] = place(p)
			}
			c.Fill(panes[t.name].At(tone), ring)
			if t.name == "decagon" {
				rosette(c, ring, m, panes["decagon"].At(tone), pale, dark, rng.IntN(4))
			}
		}
		for _, s := range pieces {
			all = append(all, strap{place(s.from), place(s.bend), place(s.to)})
		}
	}

	width := func(p complex128) float64 { return 8 + 7*real(p)/c.Width }
	band, edge := canvas.Hex(0xf6eedc), canvas.Hex(0x10202f)
	piece := func(ink canvas.Color, grow float64, pts ...complex128) {
		c.StrokeWidths(ink, func(i int) float64 { return width(pts[i]) + grow }, pts...)
	}
	for _, s := range all {
		piece(edge, 5, s.bend, s.to)
	}
	for _, s := range all {
		piece(band, 0, s.bend, s.to)
	}
	for _, s := range all {
		piece(edge, 5, s.from, s.bend)
	}
	for _, s := range all {
		beyond := s.to - s.bend
		beyond *= complex(min(1, 9/math.Sqrt(abs2(beyond))), 0)
		piece(band, 0, s.from, s.bend, s.bend+beyond)
	}
}

// rosette fills the star of a decagon, whose ring alternates tips and bends, with one of four inlays.
func rosette(c *canvas.Canvas, star []complex128, m complex128, ink, pale, dark canvas.Color, design int) {
	shrunk := func(f float64, turn int) []complex128 {
		out := make([]complex128, len(star))
		for i, p := range star {
			out[i] = m + (p-m)*canvas.Polar(f, float64(turn)*math.Pi/10)
		}
		return out
	}
	bends := func(f float64) []complex128 {
		var out []complex128
		for i := 1; i < len(star); i += 2 {
			out = append(out, m+(star[i]-m)*complex(f, 0))
		}
		return out
	}
	switch design {
	case 0: // a star within the star, and a decagram in it
		c.Fill(dark, shrunk(0.74, 0))
		c.Fill(pale, shrunk(0.62, 0))
		c.Fill(canvas.Mix(ink, dark, 0.2), shrunk(0.36, 1))
	case 1: // ten petals
		c.Fill(canvas.Mix(ink, pale, 0.45), bends(0.86))
		for i := 0; i < len(star); i += 2 {
			tip := m + (star[i]-m)*0.72
			axis := tip - m
			across := axis * complex(0, 0.19)
			c.Fill(dark, canvas.Round([]complex128{m + axis*0.2, m + axis*0.62 + across, tip, m + axis*0.62 - across}, 0.6, 5))
		}
		c.Disc(pale, m, 11)
	case 2: // a pentagram, drawn as one line
		var pts []complex128
		for k := range 6 {
			pts = append(pts, m+(star[(k*8)%20]-m)*0.8)
		}
		c.Fill(canvas.Mix(ink, dark, 0.25), shrunk(0.8, 0))
		c.Stroke(pale, 7, pts...)
		c.Disc(dark, m, 15)
	default: // rings of the inner decagon
		for k, f := range []float64{0.92, 0.76, 0.60, 0.44, 0.28} {
			col := canvas.Mix(ink, pale, 0.5)
			if k%2 == 0 {
				col = canvas.Mix(ink, dark, 0.25)
			}
			c.Fill(col, bends(f))
		}
		c.Fill(pale, shrunk(0.2, 0))
	}
}
