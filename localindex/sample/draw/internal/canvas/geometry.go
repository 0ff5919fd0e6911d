package canvas

import (
	"math"
	"math/cmplx"
)

// Polar is the point at radius r and angle theta (radians, clockwise on the sheet).
func Polar(r, theta float64) complex128 { return cmplx.Rect(r, theta) }

// Lerp is the point at t on the way from a to b.
func Lerp(a, b complex128, t float64) complex128 { return a + (b-a)*complex(t, 0) }

// Dot is the scalar product of two vectors.
func Dot(a, b complex128) float64 { return real(a)*real(b) + imag(a)*imag(b) }

// Cross is the third component of the vector product of two vectors.
func Cross(a, b complex128) float64 { return real(a)*imag(b) - imag(a)*real(b) }

// Rect is the ring of a rectangle.
func Rect(a, b complex128) []complex128 {
	return []complex128{a, complex(real(b), imag(a)), b, complex(real(a), imag(b))}
}

// Circle is a ring of n points.
func Circle(center complex128, radius float64, n int) []complex128 {
	ring := make([]complex128, n)
	for i := range ring {
		ring[i] = center + Polar(radius, 2*math.Pi*float64(i)/float64(n))
	}
	return ring
}

// Arc returns n+1 points on a circle from angle from to angle to.
func Arc(center complex128, radius, from, to float64, n int) []complex128 {
	pts := make([]complex128, n+1)
	for i := range pts {
		pts[i] = center + Polar(radius, from+(to-from)*float64(i)/float64(n))
	}
	return pts
}

// Area is the signed area of a ring, positive when it runs clockwise on the sheet.
func Area(ring []complex128) float64 {
	sum := 0.0
	for i, p := range ring {
		sum += Cross(p, ring[(i+1)%len(ring)])
	}
	return sum / 2
}

// Centroid is the centre of mass of a ring of non-zero area.
func Centroid(ring []complex128) complex128 {
	var sum complex128
	origin := ring[0]
	for i, p := range ring {
		q := ring[(i+1)%len(ring)]
		sum += (p + q - 2*origin) * complex(Cross(p-origin, q-origin), 0)
	}
	return origin + sum/complex(6*Area(ring), 0)
}

// Cut returns the part of a convex ring on the inner side of the line through p with the inward normal n.
func Cut(ring []complex128, p, n complex128) []complex128 {
	var out []complex128
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		da, db := Dot(a-p, n), Dot(b-p, n)
		if da >= 0 {
			out = append(out, a)
		}
		if (da >= 0) != (db >= 0) {
			out = append(out, Lerp(a, b, da/(da-db)))
		}
	}
	return out
}

// Inset moves every side of a convex ring inwards by d; nil when nothing is left.
func Inset(ring []complex128, d float64) []complex128 {
	turn := complex(0, 1) // inward for a clockwise ring
	if Area(ring) < 0 {
		turn = complex(0, -1)
	}
	out := ring
	for i, a := range ring {
		side := ring[(i+1)%len(ring)] - a
		length := cmplx.Abs(side)
		if length < 1e-9 {
			continue
		}
		n := side * turn / complex(length, 0)
		out = Cut(out, a+n*complex(d, 0), n)
		if len(out) < 3 {
			return nil
		}
	}
	return out
}

// Round replaces the corners of a ring by curves: t (0…1) is how much of each side they take.
func Round(ring []complex128, t float64, steps int) []complex128 {
	out := make([]complex128, 0, len(ring)*(steps+1))
	for i, p := range ring {
		before, after := ring[(i+len(ring)-1)%len(ring)], ring[(i+1)%len(ring)]
		a, b := Lerp(p, before, t/2), Lerp(p, after, t/2)
		for k := 0; k <= steps; k++ {
			s := float64(k) / float64(steps)
			out = append(out, Lerp(Lerp(a, p, s), Lerp(p, b, s), s))
		}
	}
	return out
}

// Smooth runs a Catmull–Rom curve through the points with n pieces between each two.
func Smooth(pts []complex128, n int) []complex128 {
	if len(pts) < 3 {
		return pts
	}
	out := make([]complex128, 0, len(pts)*n)
	at := func(i int) complex128 { return pts[min(max(i, 0), len(pts)-1)] }
	for i := 0; i < len(pts)-1; i++ {
		p0, p1, p2, p3 := at(i-1), at(i), at(i+1), at(i+2)
		for k := 0; k < n; k++ {
			t := float64(k) / float64(n)
			t2, t3 := complex(t*t, 0), complex(t*t*t, 0)
			tc := complex(t, 0)
			out = append(out, 0.5*(2*p1+(p2-p0)*tc+(2*p0-5*p1+4*p2-p3)*t2+(3*p1-p0-3*p2+p3)*t3))
		}
	}
	return append(out, pts[len(pts)-1])
}
