package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// lorenzPath follows Lorenz's equations (1963; σ 10, ρ 28, β 8/3) from a start with the Runge–Kutta method.
func lorenzPath(x, y, z, dt float64, steps int) [][3]float64 {
	rate := func(s [3]float64) [3]float64 {
		return [3]float64{10 * (s[1] - s[0]), s[0]*(28-s[2]) - s[1], s[0]*s[1] - 8.0/3*s[2]}
	}
	plus := func(s, d [3]float64, f float64) [3]float64 {
		return [3]float64{s[0] + d[0]*f, s[1] + d[1]*f, s[2] + d[2]*f}
	}
	s := [3]float64{x, y, z}
	out := make([][3]float64, steps)
	for i := range out {
		out[i] = s
		k1 := rate(s)
		k2 := rate(plus(s, k1, dt/2))
		k3 := rate(plus(s, k2, dt/2))
		k4 := rate(plus(s, k3, dt))
		for j := range s {
			s[j] += dt / 6 * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
		}
	}
	return out
}

// lorenzAttractor follows two paths that start a hundred-thousandth apart, and below draws one coordinate of both by
// time: they run as one, then part for good.
func lorenzAttractor(c *canvas.Canvas) {
	const margin = 84
	a, b := complex(margin, margin), complex(c.Width-margin, c.Height-margin)
	c.Clip(a, b)
	night := canvas.NewRamp(canvas.Hex(0x10222b), canvas.Hex(0x0b161d), canvas.Hex(0x0a1117))
	c.Shade(func(p complex128) canvas.Color { return night.At(imag(p) / c.Height) })

	const dt, steps = 0.0032, 17500
	paths := [][][3]float64{lorenzPath(-6.2, -7.9, 22, dt, steps), lorenzPath(-6.2+1e-5, -7.9, 22, dt, steps)}
	ramps := []canvas.Ramp{
		canvas.NewRamp(canvas.Hex(0xf9d48b), canvas.Hex(0xf0924a), canvas.Hex(0xc8443a)),
		canvas.NewRamp(canvas.Hex(0xc9ead9), canvas.Hex(0x55b3b0), canvas.Hex(0x2f6fa8)),
	}
	project := func(s [3]float64) complex128 {
		// Seen from the front, a little from the side.
		u := s[0] - 0.16*s[1]
		return complex(c.Width/2-6+u*33+s[2]*1.6, 905-s[2]*16.6-s[1]*1.6)
	}
	const chunk = 24
	for i := 0; i+1 < steps; i += chunk {
		for k, path := range paths {
			piece := path[i:min(i+chunk+1, steps)]
			pts := make([]complex128, len(piece))
			for j, s := range piece {
				pts[j] = project(s)
			}
			speed := math.Sqrt(abs2(pts[len(pts)-1]-pts[0])) / float64(len(pts))
			f := float64(i) / steps
			c.Stroke(canvas.Hex(0x0a1117).Fade(0.55), 5.2, pts...)
			c.Stroke(ramps[k].At(f).Fade(0.95), min(3.6, max(1.1, 4.4-speed*0.42)), pts...)
		}
	}
	// x by time, the first half of the way.
	const shown = 8000
	for k, path := range paths {
		pts := make([]complex128, 0, shown/8)
		for i := 0; i < shown; i += 8 {
			pts = append(pts, complex(margin+60+(c.Width-2*margin-120)*float64(i)/shown, 1025+path[i][0]*2.9))
		}
		c.StrokeColors(func(i int) canvas.Color { return ramps[k].At(float64(i) / float64(len(pts)) * 0.5) },
			func(int) float64 { return 3.2 - 0.8*float64(k) }, pts...)
	}
}
