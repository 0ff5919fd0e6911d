package canvas

import (
	"math"
	"math/rand/v2"
)

// Noise is smooth gradient noise on the plane (Perlin 2002), about -0.7…0.7, with features of size 1.
type Noise struct {
	perm [512]uint8
	grad [256]complex128
}

// NewNoise draws a noise from rng.
func NewNoise(rng *rand.Rand) *Noise {
	n := &Noise{}
	for i, v := range rng.Perm(256) {
		n.perm[i], n.perm[i+256] = uint8(v), uint8(v)
	}
	for i := range n.grad {
		n.grad[i] = Polar(1, 2*math.Pi*rng.Float64())
	}
	return n
}

// At is the noise at a place.
func (n *Noise) At(p complex128) float64 {
	x, y := math.Floor(real(p)), math.Floor(imag(p))
	fx, fy := real(p)-x, imag(p)-y
	corner := func(dx, dy int) float64 {
		h := n.perm[int(n.perm[(int(x)+dx)&255])+(int(y)+dy)&255]
		return Dot(n.grad[h], complex(fx-float64(dx), fy-float64(dy)))
	}
	u, v := fade(fx), fade(fy)
	top := corner(0, 0) + u*(corner(1, 0)-corner(0, 0))
	bottom := corner(0, 1) + u*(corner(1, 1)-corner(0, 1))
	return top + v*(bottom-top)
}

// Fractal adds octaves of the noise, each half as large and half as strong.
func (n *Noise) Fractal(p complex128, octaves int) float64 {
	sum, amplitude := 0.0, 1.0
	for range octaves {
		sum += amplitude * n.At(p)
		p = p*2 + complex(17.3, 9.1)
		amplitude /= 2
	}
	return sum
}

func fade(t float64) float64 { return t * t * t * (t*(t*6-15) + 10) }
