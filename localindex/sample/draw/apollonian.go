package draw

import (
	"math"
	"strconv"

	"docent/localindex/sample/draw/internal/canvas"
)

// bend is a circle by its curvature (1/radius, negative when the others lie inside it) and curvature times centre.
type bend struct {
	k  float64
	kz complex128
}

func (b bend) center() complex128 { return b.kz / complex(b.k, 0) }
func (b bend) radius() float64    { return 1 / math.Abs(b.k) }

// other is the second circle that touches a, b and c, where d is the first. By Descartes' theorem the two curvatures
// are the roots of one quadratic, so they add up to 2(a+b+c); the same holds for curvature times centre.
func other(a, b, c, d bend) bend {
	return bend{2*(a.k+b.k+c.k) - d.k, 2*(a.kz+b.kz+c.kz) - d.kz}
}

// gasket calls visit for every circle below the three, down to the radius given.
func gasket(a, b, c, d bend, smallest float64, visit func(bend)) {
	next := other(a, b, c, d)
	if next.radius() < smallest {
		return
	}
	visit(next)
	gasket(a, b, next, c, smallest, visit)
	gasket(a, c, next, b, smallest, visit)
	gasket(b, c, next, a, smallest, visit)
}

// apollonianGasket is the integral gasket (−6, 11, 14, 15): every circle has a whole number as its curvature, written
// into those that have room.
func apollonianGasket(c *canvas.Canvas) {
	// Three circles within the first, by the law of cosines.
	outer := bend{-6, 0}
	place := func(k, angle float64) bend { return bend{k, canvas.Polar(k*(1.0/6-1/k), angle)} }
	angle := func(k, l float64) float64 { // at the centre of the outer circle, between two that touch
		p, q, r := 1.0/6-1/k, 1.0/6-1/l, 1/k+1/l
		return math.Acos((p*p + q*q - r*r) / (2 * p * q))
	}
	a := place(11, 2.75)
	b := place(14, 2.75+angle(11, 14))
	d := place(15, 2.75-angle(11, 15))

	scale := 6 * (c.Width/2 - 92)
	at := func(z complex128) complex128 { return c.Center() + z*complex(scale, 0) }
	c.Disc(canvas.Hex(0x1c2b3a), at(0), scale/6)
	inks := []canvas.Color{canvas.Hex(0xe7c687), canvas.Hex(0xc4553b), canvas.Hex(0x7fa6a0), canvas.Hex(0xf2ead8), canvas.Hex(0x3f6f86), canvas.Hex(0xd99a8b)}
	disc := func(k bend) { gasketDisc(c, at(k.center()), k.radius()*scale, int(math.Round(k.k)), inks) }
	for _, k := range []bend{a, b, d} {
		disc(k)
	}
	const smallest = 2.2
	for _, t := range [][4]bend{{a, b, d, outer}, {outer, a, b, d}, {outer, a, d, b}, {outer, b, d, a}} {
		gasket(t[0], t[1], t[2], t[3], smallest/scale, disc)
	}
	c.Ring(canvas.Hex(0x1c2b3a), 7, at(0), scale/6+10)
}

// gasketDisc paints one circle in one of five ways.
func gasketDisc(c *canvas.Canvas, z complex128, r float64, n int, inks []canvas.Color) {
	ink := inks[(n*7+n/9)%len(inks)]
	dark := canvas.Hex(0x1c2b3a)
	c.Disc(ink, z, r-0.6)
	if r < 9 {
		return
	}
	second := inks[(n*7+n/9+2+n%3)%len(inks)]
	switch n % 5 {
	case 0: // a ring
		c.Ring(dark, r*0.07, z, r*0.82)
	case 1: // hatching within
		turn := canvas.Polar(1, float64(n))
		for k := -6; k <= 6; k++ {
			y := float64(k) / 7 * r
			x := math.Sqrt(r*r-y*y) - 0.06*r
			c.Stroke(canvas.Mix(ink, dark, 0.45), max(1, r*0.022), z+complex(-x, y)*turn, z+complex(x, y)*turn)
		}
		c.Disc(ink, z, r*0.52)
	case 2: // rings upon rings
		for k := 1; k <= 4; k++ {
			col := second
			if k%2 == 0 {
				col = ink
			}
			c.Disc(col, z, r*(1-0.13*float64(k)))
		}
	case 3: // a moon
		c.Disc(second, z+canvas.Polar(r*0.17, float64(n)), r*0.76)
		c.Disc(ink, z, r*0.50)
	default: // beads along the rim
		beads := 9 + n%7
		for k := range beads {
			c.Disc(dark, z+canvas.Polar(r*0.84, 2*math.Pi*(float64(k)+0.3)/float64(beads)), r*0.06)
		}
	}
	if r > 60 {
		medal(c, z, r, n, ink, second)
	}
	if r > 19 {
		text := strconv.Itoa(n)
		size := r * 0.55 / math.Sqrt(float64(len(text)))
		numerals(c, text, z, size, dark)
	}
}

// medal strikes a large circle like a coin, with bands between rim and field that differ from circle to circle.
func medal(c *canvas.Canvas, z complex128, r float64, n int, ink, second canvas.Color) {
	rng := seeded(2060 + uint64(n))
	dark, pale := canvas.Hex(0x1c2b3a), canvas.Hex(0xf2ead8)
	c.Disc(ink, z, r-0.6)
	outer := 0.97
	for outer > 0.56 {
		inner := outer - 0.055 - 0.10*rng.Float64()
		count := int((16 + 40*rng.Float64()) * math.Sqrt(r/150))
		start := rng.Float64() * 7
		angle := func(k float64) float64 { return start + 2*math.Pi*k/float64(count) }
		mid, half := (outer+inner)/2*r, (outer-inner)/2*r
		switch rng.IntN(6) {
		case 0: // ticks that grow round the dial
			for k := range count {
				reach := 0.25 + 0.75*math.Abs(math.Sin(float64(k)*math.Pi/float64(count)+start))
				d := canvas.Polar(1, angle(float64(k)))
				c.Stroke(dark, r*0.010+1, z+d*complex(outer*r, 0), z+d*complex(outer*r-2*half*reach, 0))
			}
		case 1: // beads, each a little larger than the last
			for k := range count {
				c.Disc(dark, z+canvas.Polar(mid, angle(float64(k))), half*(0.25+0.5*float64(k)/float64(count)))
			}
		case 2: // a solid band with windows
			c.Ring(second, 2*half, z, mid)
			for k := 0; k < count; k += 1 + rng.IntN(3) {
				c.Disc(pale, z+canvas.Polar(mid, angle(float64(k))), half*0.5)
			}
		case 3: // a wave
			var wave []complex128
			for k := 0; k <= 720; k++ {
				f := float64(k) / 720
				wave = append(wave, z+canvas.Polar(mid+half*0.8*math.Sin(2*math.Pi*f*float64(count/2)), start+2*math.Pi*f))
			}
			c.Stroke(dark, max(2, r*0.014), wave...)
		case 4: // triangles pointing out or in
			for k := range count {
				tip, base := outer*r, inner*r
				if k%5 == 0 {
					tip, base = base, tip
				}
				col := second
				if k%3 == 0 {
					col = dark
				}
				c.Fill(col, []complex128{
					z + canvas.Polar(base, angle(float64(k)-0.42)), z + canvas.Polar(tip, angle(float64(k))),
					z + canvas.Polar(base, angle(float64(k)+0.42))})
			}
		default: // slanting strokes
			for k := range count * 2 {
				c.Stroke(canvas.Mix(ink, dark, 0.55), r*0.009+0.8,
					z+canvas.Polar(inner*r, angle(float64(k)/2)), z+canvas.Polar(outer*r, angle(float64(k)/2+1.1)))
			}
		}
		c.Ring(dark, max(1.5, r*0.010), z, inner*r)
		outer = inner - 0.012
	}
	c.Disc(canvas.Mix(ink, pale, 0.35), z, outer*r)
}

// numerals writes digits of the given height around a centre.
func numerals(c *canvas.Canvas, text string, center complex128, height float64, ink canvas.Color) {
	advance := height * 0.78
	x := -advance * float64(len(text)-1) / 2
	for _, digit := range text {
		for _, line := range digitLines(int(digit - '0')) {
			pts := make([]complex128, len(line))
			for i, p := range line {
				pts[i] = center + complex(x, 0) + complex(real(p)*height, imag(p)*height)
			}
			c.Stroke(ink, height*0.125, pts...)
		}
		x += advance
	}
}

// digitLines draws a digit in the box ±0.27 × ±0.5.
func digitLines(digit int) [][]complex128 {
	const w, h = 0.26, 0.5
	oval := func(cy, rx, ry, from, to float64) []complex128 {
		pts := canvas.Arc(0, 1, from, to, 24)
		for i, p := range pts {
			pts[i] = complex(real(p)*rx, imag(p)*ry+cy)
		}
		return pts
	}
	const pi = math.Pi
	switch digit {
	case 0:
		return [][]complex128{oval(0, w, h, 0, 2*pi)}
	case 1:
		return [][]complex128{{-0.16 - 0.32i, 0.02 - 0.5i, 0.02 + 0.5i}}
	case 2:
		return [][]complex128{append(oval(-0.24, w, 0.26, -pi, 0.25*pi), -w+h*1i, w+h*1i)}
	case 3:
		return [][]complex128{append(oval(-0.25, 0.23, 0.25, -0.9*pi, 0.5*pi), oval(0.25, w, 0.25, -0.5*pi, 0.9*pi)...)}
	case 4:
		return [][]complex128{{0.12 + 0.5i, 0.12 - 0.5i, -0.28 + 0.2i, 0.28 + 0.2i}}
	case 5:
		return [][]complex128{append([]complex128{0.2 - 0.5i, -0.18 - 0.5i, -0.22 - 0.06i}, oval(0.18, w, 0.32, -0.75*pi, 0.85*pi)...)}
	case 6:
		return [][]complex128{oval(0.2, w, 0.3, 0, 2*pi), {-w + 0.2i, -0.2 - 0.14i, 0.1 - 0.5i}}
	case 7:
		return [][]complex128{{-w - 0.5i, w - 0.5i, -0.08 + 0.5i}}
	case 8:
		return [][]complex128{oval(-0.26, 0.21, 0.24, 0, 2*pi), oval(0.24, w, 0.26, 0, 2*pi)}
	default:
		return [][]complex128{oval(-0.2, w, 0.3, 0, 2*pi), {w - 0.2i, 0.2 + 0.14i, -0.1 + 0.5i}}
	}
}
