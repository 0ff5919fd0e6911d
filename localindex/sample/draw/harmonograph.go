package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// swing is one damped pendulum: amplitude, frequency, phase and decay by unit of time.
type swing struct{ amplitude, frequency, phase, decay float64 }

func (s swing) at(t float64) float64 {
	return s.amplitude * math.Sin(s.frequency*t+s.phase) * math.Exp(-s.decay*t)
}

// harmonograph draws with three machines: each pen is moved by two pendulums along each axis, until they come to rest.
func harmonograph(c *canvas.Canvas) {
	c.Blend = canvas.Multiply
	trace := func(at complex128, x, y [2]swing, until, turn float64, inks canvas.Ramp, width, ink float64) {
		const chunk = 40
		rotate := canvas.Polar(1, turn)
		dt := 0.012
		n := int(until / dt)
		pts := make([]complex128, 0, chunk+1)
		for i := 0; i <= n; i++ {
			t := float64(i) * dt
			p := complex(x[0].at(t)+x[1].at(t), y[0].at(t)+y[1].at(t))
			pts = append(pts, at+p*rotate)
			if len(pts) > chunk || i == n {
				f := t / until
				c.Stroke(inks.At(f).Fade(ink), width*(1.25-0.55*f), pts...)
				pts = append(pts[:0], pts[len(pts)-1])
			}
		}
	}
	blue := canvas.NewRamp(canvas.Hex(0x10243f), canvas.Hex(0x1c5a80), canvas.Hex(0x2a93a0), canvas.Hex(0x88b04b))
	rust := canvas.NewRamp(canvas.Hex(0x7a1f1a), canvas.Hex(0xc2492a), canvas.Hex(0xe39a3b))
	plum := canvas.NewRamp(canvas.Hex(0x3b1d4f), canvas.Hex(0x8d3a70), canvas.Hex(0xd98a9a))

	// A lateral machine near 2 : 3 with a slow beat.
	trace(complex(600, 600),
		[2]swing{{395, 2, 0.2, 0.0058}, {105, 3.004, 1.9, 0.0050}},
		[2]swing{{385, 3, 1.25, 0.0058}, {95, 2.011, 0.3, 0.0045}},
		260, 0.06, blue, 2.0, 0.88)
	// A rotary one near 3 : 4, above right.
	trace(complex(1195, 360),
		[2]swing{{150, 3, 0.1, 0.0062}, {96, 4.01, 0.8, 0.0062}},
		[2]swing{{150, -3, 0.1 + math.Pi/2, 0.0062}, {96, 4.01, 0.8 + math.Pi/2, 0.0062}},
		250, 0.4, rust, 1.9, 0.9)
	// A small one, almost in unison, below right.
	trace(complex(1190, 870),
		[2]swing{{205, 1, 0, 0.0060}, {26, 5.02, 0, 0.003}},
		[2]swing{{150, 1.022, 1.0, 0.0060}, {26, 5.02, 1.5, 0.003}},
		300, -0.35, plum, 1.9, 0.9)
}
