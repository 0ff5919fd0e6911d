package draw

import (
	"math"
	"math/cmplx"

	"docent/localindex/sample/draw/internal/canvas"
)

// occupancy remembers which places of a sheet are taken, in squares of 2 units.
type occupancy struct {
	w, h  int
	taken []bool
}

func newOccupancy(width, height float64) *occupancy {
	o := &occupancy{w: int(width/2) + 1, h: int(height/2) + 1}
	o.taken = make([]bool, o.w*o.h)
	return o
}

func (o *occupancy) at(p complex128) bool {
	x, y := int(real(p)/2), int(imag(p)/2)
	return x < 0 || y < 0 || x >= o.w || y >= o.h || o.taken[y*o.w+x]
}

func (o *occupancy) take(p complex128, r float64) {
	for y := int((imag(p) - r) / 2); y <= int((imag(p)+r)/2); y++ {
		for x := int((real(p) - r) / 2); x <= int((real(p)+r)/2); x++ {
			if x < 0 || y < 0 || x >= o.w || y >= o.h {
				continue
			}
			if d := complex(float64(2*x)+1, float64(2*y)+1) - p; abs2(d) <= r*r {
				o.taken[y*o.w+x] = true
			}
		}
	}
}

// flowField lays ribbons along the stream lines of a divergence-free field: the curl of noise, with two eddies. No two
// ribbons touch.
func flowField(c *canvas.Canvas) {
	rng := seeded(402)
	noise := canvas.NewNoise(rng)
	const margin = 84
	a, b := complex(margin, margin), complex(c.Width-margin, c.Height-margin)
	eddies := []struct {
		at     complex128
		radius float64
		spin   float64
	}{{complex(780, 470), 190, 2.4}, {complex(385, 1040), 130, -1.9}}
	// The stream function; the field runs along its contour lines.
	stream := func(p complex128) float64 {
		s := 260*noise.Fractal(p/620, 2) + 0.10*imag(p) + 0.22*real(p)
		for _, e := range eddies {
			d := cmplx.Abs(p-e.at) / e.radius
			s += e.spin * e.radius * math.Exp(-d*d/2)
		}
		return s
	}
	field := func(p complex128) complex128 {
		const e = 0.7
		g := complex(stream(p+e)-stream(p-e), stream(p+e*1i)-stream(p-e*1i))
		if l := cmplx.Abs(g); l > 1e-12 {
			return g * 1i / complex(l, 0)
		}
		return 1
	}
	inside := func(p complex128, r float64) bool {
		return real(p) > real(a)+r && imag(p) > imag(a)+r && real(p) < real(b)-r && imag(p) < imag(b)-r
	}
	taken := newOccupancy(c.Width, c.Height)
	// free looks ahead over the width of a ribbon.
	free := func(p, direction complex128, r float64) bool {
		if !inside(p, r) {
			return false
		}
		for k := -4; k <= 4; k++ {
			t := float64(k) / 4
			if taken.at(p + direction*complex(r*math.Sqrt(1-t*t), r*t)) {
				return false
			}
		}
		return true
	}

	inks := []canvas.Color{
		canvas.Hex(0x1f3b57), canvas.Hex(0x1f3b57), canvas.Hex(0x2f6d80), canvas.Hex(0x7fb0a5), canvas.Hex(0xd9c08b),
		canvas.Hex(0xe9a04f), canvas.Hex(0xd9622f), canvas.Hex(0xb23a34), canvas.Hex(0xf0e0c0), canvas.Hex(0x5a2a3a),
	}
	c.Clip(a, b)
	c.Shade(func(complex128) canvas.Color { return canvas.Hex(0xfaf5ea) })
	for _, class := range []struct {
		tries             int
		narrow, wide      float64
		shortest, longest float64
	}{{260, 22, 40, 130, 900}, {900, 10, 20, 90, 700}, {2600, 5, 9, 50, 420}, {5000, 2.6, 4.4, 26, 200}} {
		for range class.tries {
			start := a + complex(rng.Float64()*real(b-a), rng.Float64()*imag(b-a))
			width := class.narrow + (class.wide-class.narrow)*rng.Float64()
			gap := 1.8 + width*0.10
			r := width/2 + gap
			if taken.at(start) || !free(start, field(start), r) {
				continue
			}
			line := []complex128{start}
			for _, way := range []float64{1, -1} {
				p, length := start, 0.0
				var run []complex128
				for length < class.longest/2 {
					d := field(p) * complex(way, 0)
					mid := p + d*2
					p += field(mid) * complex(4*way, 0)
					if !free(p, d, r) || (len(run) > 40 && cmplx.Abs(p-start) < r*2) {
						break
					}
					run = append(run, p)
					length += 4
				}
				if way > 0 {
					line = append(line, run...)
				} else {
					for i, j := 0, len(run)-1; i < j; i, j = i+1, j-1 {
						run[i], run[j] = run[j], run[i]
					}
					line = append(run, line...)
				}
			}
			if float64(len(line))*4 < class.shortest {
				continue
			}
			for i := 0; i < len(line); i += 1 + int(width/12) {
				taken.take(line[i], width/2+gap*0.5)
			}
			ink := inks[rng.IntN(len(inks))]
			if noise.At(line[0]/260+complex(70, 20)) > 0.12 { // regions lean to the warm colours
				ink = inks[4+rng.IntN(4)]
			}
			ribbon(c, rng.IntN(6), line, width, ink)
		}
	}
}

// ribbon draws one ribbon: plain, edged, dashed across or with a middle line.
func ribbon(c *canvas.Canvas, style int, line []complex128, width float64, ink canvas.Color) {
	dark := canvas.Mix(ink, canvas.Hex(0x141a26), 0.5)
	light := canvas.Mix(ink, canvas.Hex(0xfffaf0), 0.55)
	c.Stroke(ink, width, line...)
	if width < 9 {
		return
	}
	switch style {
	case 0:
		c.Stroke(light, width*0.22, line...)
	case 1:
		c.Stroke(dark, width*0.66, line...)
		c.Stroke(light, width*0.30, line...)
	case 2:
		every := 3 + len(line)%4
		for i := 2; i+1 < len(line); i += every {
			across := (line[i+1] - line[i-1]) * 1i
			across *= complex(width*0.36/cmplx.Abs(across), 0)
			c.Stroke(dark, max(2, width*0.10), line[i]-across, line[i]+across)
		}
	case 3:
		for i := 3; i < len(line)-2; i += 4 + len(line)%3 {
			c.Disc(light, line[i], width*0.24)
		}
	}
}
