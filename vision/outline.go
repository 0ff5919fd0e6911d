package vision

import "math"

// visible is the part of an outline that lies on the photo, a convex polygon; empty where there is none (Sutherland
// and Hodgman's clipping).
func visible(outline []Point) []Point {
	clip := func(in []Point, inside func(Point) bool, cross func(a, b Point) Point) (out []Point) {
		for i, b := range in {
			a := in[(i+len(in)-1)%len(in)]
			if inside(a) != inside(b) {
				out = append(out, cross(a, b))
			}
			if inside(b) {
				out = append(out, b)
			}
		}
		return out
	}
	atX := func(x float64) func(a, b Point) Point {
		return func(a, b Point) Point { return Point{X: x, Y: a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)} }
	}
	atY := func(y float64) func(a, b Point) Point {
		return func(a, b Point) Point { return Point{X: a.X + (b.X-a.X)*(y-a.Y)/(b.Y-a.Y), Y: y} }
	}
	o := clip(outline, func(p Point) bool { return p.X >= 0 }, atX(0))
	o = clip(o, func(p Point) bool { return p.X <= 1 }, atX(1))
	o = clip(o, func(p Point) bool { return p.Y >= 0 }, atY(0))
	return clip(o, func(p Point) bool { return p.Y <= 1 }, atY(1))
}

// area of a polygon in parts of the photo.
func area(o []Point) float64 {
	sum := 0.0
	for i, b := range o {
		a := o[(i+len(o)-1)%len(o)]
		sum += (a.X*b.Y - b.X*a.Y) / 2
	}
	return math.Abs(sum)
}

// contains says whether a point lies in a convex polygon whose corners are given clockwise.
func contains(o []Point, p Point) bool {
	for i, b := range o {
		a := o[(i+len(o)-1)%len(o)]
		if (b.X-a.X)*(p.Y-a.Y)-(b.Y-a.Y)*(p.X-a.X) < 0 {
			return false
		}
	}
	return len(o) > 2
}

// middle is the mean of the corners.
func middle(o []Point) (m Point) {
	for _, p := range o {
		m.X += p.X / float64(len(o))
		m.Y += p.Y / float64(len(o))
	}
	return m
}

// centreSpread is how far from the middle of the photo, in parts of its sides, a work counts 60 % of what it would in
// the middle: visitors point the camera at what they ask about, but not exactly.
const centreSpread = 0.35

// prominence is how likely a work on a photo is the one that is asked about: its visible area, weighed by how near the
// middle of that is to the middle of the photo.
func prominence(outline []Point) float64 {
	o := visible(outline)
	if len(o) < 3 {
		return 0
	}
	m := middle(o)
	d2 := (m.X-0.5)*(m.X-0.5) + (m.Y-0.5)*(m.Y-0.5)
	return area(o) * math.Exp(-d2/(2*centreSpread*centreSpread))
}

// largeArea is the part of the photo from which a work is plainly what the photo is of.
const largeArea = 0.15

// prominent says whether a work is plainly what the photo is of: it is large or covers the photo's middle.
func prominent(outline []Point) bool {
	o := visible(outline)
	return area(o) >= largeArea || contains(o, Point{X: 0.5, Y: 0.5})
}

// samePlace says whether two outlines stand for one thing on the photo: the middle of the smaller lies in the larger.
func samePlace(a, b []Point) bool {
	a, b = visible(a), visible(b)
	if area(a) > area(b) {
		a, b = b, a
	}
	return contains(b, middle(a))
}

// joinGap is how far apart the corners of two joined outlines are at most, in lengths of the side between them.
const joinGap = 0.15

// joined says whether two outlines have a side in common, as those of the halves of a diptych have.
func joined(a, b []Point) bool {
	distance := func(p, q Point) float64 { return math.Hypot(p.X-q.X, p.Y-q.Y) }
	for i, p := range a {
		next := a[(i+1)%len(a)]
		gap := joinGap * distance(p, next)
		for j, q := range b {
			if distance(p, b[(j+1)%len(b)]) <= gap && distance(next, q) <= gap {
				return true
			}
		}
	}
	return false
}
