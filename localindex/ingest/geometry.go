package ingest

import "docent/localindex/gallery"

// inside reports whether a point lies in a polygon or on its edge (even-odd rule; the edge within a centimetre).
func inside(p gallery.Point, polygon []gallery.Point) bool {
	const edge = 0.01
	in := false
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		if onSegment(p, a, b, edge) {
			return true
		}
		if (a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0]+(p[1]-a[1])/(b[1]-a[1])*(b[0]-a[0]) {
			in = !in
		}
	}
	return in
}

// onSegment reports whether a point is at most edge away from a line between two points.
func onSegment(p, a, b gallery.Point, edge float64) bool {
	dx, dy := b[0]-a[0], b[1]-a[1]
	t := 0.0
	if l := dx*dx + dy*dy; l > 0 {
		t = min(1, max(0, ((p[0]-a[0])*dx+(p[1]-a[1])*dy)/l))
	}
	ex, ey := p[0]-a[0]-t*dx, p[1]-a[1]-t*dy
	return ex*ex+ey*ey <= edge*edge
}
