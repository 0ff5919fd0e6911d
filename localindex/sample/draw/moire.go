package draw

import (
	"math"
	"math/cmplx"

	"docent/localindex/sample/draw/internal/canvas"
)

// ringFamily is a set of circles about one centre; their spacing grows outwards.
type ringFamily struct {
	at             complex128
	radius         float64
	spacing, chirp float64 // width of the first ring, and how much each next one is wider
	ink            canvas.Color
}

// edge is the signed distance to the nearest ring edge at radius r: positive within inked rings.
func (f ringFamily) edge(r float64) float64 {
	// Edge k lies at k·spacing + k²·chirp/2.
	k := r / f.spacing
	if f.chirp != 0 {
		k = (math.Sqrt(f.spacing*f.spacing+2*f.chirp*r) - f.spacing) / f.chirp
	}
	radius := func(k float64) float64 { return k*f.spacing + k*k*f.chirp/2 }
	low := math.Floor(k)
	d := min(r-radius(low), radius(low+1)-r)
	if int(low)%2 == 0 {
		return d
	}
	return -d
}

// moireRings lays four families of rings over each other; where two meet, ink on ink turns to paper, and curves appear
// that nobody drew.
func moireRings(c *canvas.Canvas) {
	const margin = 84
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))
	families := []ringFamily{
		{complex(490, 545), 392, 8, 0.34, canvas.Hex(0x1b2f5b)},
		{complex(800, 480), 372, 16, -0.20, canvas.Hex(0xc8402f)},
		{complex(655, 860), 340, 10, 0.52, canvas.Hex(0x1f7a74)},
		{complex(985, 935), 222, 13, -0.34, canvas.Hex(0xd99b2b)},
	}
	paper := canvas.Hex(0xf7f1e3)
	k := c.Scale()
	c.Shade(func(p complex128) canvas.Color {
		parity, ink, inside := 1.0, paper, 0
		for _, f := range families {
			r := cmplx.Abs(p - f.at)
			if r > f.radius {
				continue
			}
			inside++
			// −1 on ink, 1 on paper, in between on the edge; the product is ink-on-ink back to paper.
			parity *= -min(max(f.edge(r)*k*2, -1), 1)
			rim := min(1, (f.radius-r)*k)
			if inside == 1 {
				ink = paper.Toward(f.ink, rim)
			} else {
				ink = ink.Toward(canvas.Color{R: ink.R * f.ink.R * 1.5, G: ink.G * f.ink.G * 1.5, B: ink.B * f.ink.B * 1.5, A: 1}, 0.75*rim)
			}
		}
		if inside == 0 {
			return paper
		}
		light := paper
		if inside > 1 {
			light = canvas.Hex(0xfdf3d3)
		}
		return light.Toward(ink, (1-parity)/2)
	})
	for _, f := range families {
		c.Ring(f.ink, 4, f.at, f.radius)
		c.Disc(f.ink, f.at, 7)
	}
}
