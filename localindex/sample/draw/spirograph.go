package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// spirograph draws with toothed wheels rolling inside rings: a wheel of w teeth in a ring of r teeth closes after
// w/gcd(r, w) turns. Several pen holes, rings and inks lie over each other.
func spirograph(c *canvas.Canvas) {
	c.Blend = canvas.Multiply
	trochoid := func(at complex128, radius float64, ring, wheel int, hole, turn float64) []complex128 {
		r := radius * float64(wheel) / float64(ring) // of the wheel
		turns := wheel / gcd(ring, wheel)
		n := turns * 220
		pts := make([]complex128, n+1)
		for i := range pts {
			t := 2 * math.Pi * float64(turns) * float64(i) / float64(n)
			pts[i] = at + (canvas.Polar(radius-r, t)+canvas.Polar(hole*r, -t*(radius-r)/r))*canvas.Polar(1, turn)
		}
		return pts
	}
	type work struct {
		at          complex128
		radius      float64
		ring, wheel int
		holes       []float64
		inks        []uint32
		width       float64
		turn        float64
	}
	for _, w := range []work{
		{complex(478, 560), 374, 105, 75, []float64{0.97, 0.85, 0.73, 0.61, 0.47, 0.33, 0.19},
			[]uint32{0x152f5c, 0x1f4e8c, 0x2a76a2, 0x3f96ab, 0x6fb3b8, 0xa9c79d, 0xd9c56a}, 4.6, 0.1},
		{complex(800, 330), 205, 96, 56, []float64{0.94, 0.66}, []uint32{0xc2354a, 0xe07a5f}, 4.6, 0.5},
		{complex(745, 985), 312, 105, 45, []float64{0.95, 0.80, 0.62, 0.42}, []uint32{0x7b2d66, 0xa5457d, 0xc9698f, 0xdf95a3}, 5, 0.25},
		{complex(330, 1130), 190, 96, 40, []float64{0.9, 0.55}, []uint32{0x2c6e49, 0x80a94f}, 5, 0.2},
		{complex(960, 700), 128, 105, 84, []float64{0.9, 0.5, 0.2}, []uint32{0xd98e04, 0xe6b23c, 0xefd07e}, 5, 0},
		{complex(560, 1310), 96, 96, 63, []float64{0.85}, []uint32{0x1f4e8c}, 3.2, 0},
		{complex(215, 250), 104, 96, 72, []float64{0.95, 0.7, 0.45, 0.2}, []uint32{0xd98e04, 0xc2354a, 0x7b2d66, 0x1f4e8c}, 4.4, 0.35},
		{complex(1010, 1290), 88, 105, 30, []float64{0.9, 0.6}, []uint32{0x2c6e49, 0x1f4e8c}, 5, 0.3},
		{complex(232, 862), 70, 105, 80, []float64{0.9}, []uint32{0xc2354a}, 3.2, 0},
	} {
		// A wash of the outermost ink, and of the next one inside it.
		for k := range min(2, len(w.holes)) {
			c.Fill(canvas.Hex(w.inks[k]).Fade(0.16), trochoid(w.at, w.radius, w.ring, w.wheel, w.holes[k], w.turn+0.021*float64(k)))
		}
		for k, hole := range w.holes {
			pts := trochoid(w.at, w.radius, w.ring, w.wheel, hole, w.turn+0.021*float64(k))
			// Strokes in pieces, so that crossings darken as ink does; the pen presses harder on one side.
			const chunk = 110
			for i := 0; i+1 < len(pts); i += chunk {
				press := 0.72 + 0.5*math.Pow(math.Sin(math.Pi*float64(i)/float64(len(pts))), 2)
				c.Stroke(canvas.Hex(w.inks[k]).Fade(0.92), w.width*press, pts[i:min(i+chunk+1, len(pts))]...)
			}
		}
		grey := canvas.Hex(0x54504a).Fade(0.6)
		c.Ring(grey, 2.2, w.at, w.radius+7)
		for k := range w.ring { // the teeth of the ring, every fifth a longer one
			d := canvas.Polar(1, 2*math.Pi*float64(k)/float64(w.ring))
			long := w.radius*0.022 + 3
			if k%5 == 0 {
				long *= 2
			}
			c.Stroke(grey, 2.2, w.at+d*complex(w.radius+7, 0), w.at+d*complex(w.radius+7+long, 0))
		}
		c.Disc(canvas.Hex(0x54504a), w.at, 4)
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
