package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// truchetTiles are winged Truchet tiles of four sizes (Carlson 2018): halving a tile swaps figure and ground, and the
// wings, discs at its corners and sides, join tiles of different sizes.
func truchetTiles(c *canvas.Canvas) {
	rng := seeded(104)
	noise := canvas.NewNoise(rng)
	const margin, size = 100, 200
	darks := canvas.NewRamp(canvas.Hex(0x0f3b3a), canvas.Hex(0x1f5c4f), canvas.Hex(0x7a4a2a), canvas.Hex(0x9c2f25), canvas.Hex(0x4a1630))
	lights := canvas.NewRamp(canvas.Hex(0xf4ead2), canvas.Hex(0xf0dcb4), canvas.Hex(0xe9e4d4), canvas.Hex(0xf3cfa5))
	inks := [2]func(complex128) canvas.Color{
		func(p complex128) canvas.Color {
			return darks.At(0.05 + 0.9*(0.62*real(p)/c.Width+0.38*imag(p)/c.Height) + 0.22*noise.At(p/380))
		},
		func(p complex128) canvas.Color { return lights.At(0.5 + 0.9*noise.At(p/300+complex(50, 50))) },
	}
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))

	type tile struct {
		at    complex128 // centre
		size  float64
		level int
	}
	wave := []tile{}
	for y := margin + size/2; y < int(c.Height)-margin; y += size {
		for x := margin + size/2; x < int(c.Width)-margin; x += size {
			wave = append(wave, tile{complex(float64(x), float64(y)), size, 0})
		}
	}
	for level := 0; len(wave) > 0; level++ {
		var finer []tile
		for _, t := range wave {
			detail := 0.52 + 1.1*noise.At(t.at/430+complex(9, 80))
			if level < 3 && rng.Float64() < detail-0.10*float64(level) {
				for _, d := range []complex128{-1 - 1i, 1 - 1i, -1 + 1i, 1 + 1i} {
					finer = append(finer, tile{t.at + d*complex(t.size/4, 0), t.size / 2, level + 1})
				}
				continue
			}
			figure, ground := inks[level%2], inks[1-level%2]
			half := complex(t.size/2, 0)
			c.FillFunc(ground, canvas.Rect(t.at-half-half*1i, t.at+half+half*1i))
			truchetTile(c, t.at, t.size, rng.IntN(16), figure, ground)
		}
		wave = finer
	}
}

// truchetTile draws a tile's wings and one of its motifs.
func truchetTile(c *canvas.Canvas, at complex128, size float64, motif int, figure, ground func(complex128) canvas.Color) {
	half := complex(size/2, 0)
	corners := []complex128{at - half - half*1i, at + half - half*1i, at + half + half*1i, at - half + half*1i}
	sides := []complex128{at - half*1i, at + half, at + half*1i, at - half}
	n := 24 + int(size/3)
	disc := func(ink func(complex128) canvas.Color, m complex128, r float64) {
		c.FillFunc(ink, canvas.Circle(m, r*size, n))
	}
	for _, p := range corners {
		disc(ground, p, 1.0/3)
	}
	for _, p := range sides {
		disc(figure, p, 1.0/6)
	}
	// arc joins the two sides next to a corner.
	arc := func(k int) {
		from := float64(k) * math.Pi / 2
		ring := canvas.Arc(corners[k], size*2/3, from, from+math.Pi/2, n)
		ring = append(ring, canvas.Arc(corners[k], size/3, from+math.Pi/2, from, n)...)
		c.FillFunc(figure, ring)
	}
	bar := func(k int) { // from side k to the opposite one
		along := (sides[(k+2)%4] - sides[k]) / 2
		across := along * 1i / 3
		m := at
		c.FillFunc(figure, []complex128{m - along - across, m + along - across, m + along + across, m - along + across})
	}
	switch {
	case motif < 5:
		arc(0)
		arc(2)
	case motif < 10:
		arc(1)
		arc(3)
	case motif == 10: // a knot: all four sides meet
		bar(0)
		bar(1)
		disc(ground, at, 1.0/9)
	case motif == 11:
		bar(0)
	case motif == 12:
		bar(1)
	case motif == 13: // one arc and two ends
		arc(0)
	case motif == 14:
		arc(3)
		arc(0)
	default: // four ends and an island
		disc(figure, at, 1.0/7)
	}
}
