package vision

import (
	"math"

	"docent/vision/feature"
	"docent/vision/internal/kernel"
)

// The geometric check.
const (
	matchRatio     = 0.8  // Lowe's ratio test
	inlierDistance = 4.0  // pixels of the photo at the size it is described
	ransacRounds   = 2000 // enough for 30 % inliers with 99.9 % certainty many times over
	minInliers     = 5    // 4 pairs always agree on some homography
)

// verified is a reference whose features lie on the photo as those of a flat picture would.
type verified struct {
	key     int
	inliers int
	outline []Point
}

// verify matches the features of a photo and a reference and looks for the homography between them.
func verify(photo, reference feature.Set) (verified, bool, error) {
	best := kernel.Match(photo.Descriptors, reference.Descriptors, matchRatio)
	var src, dst []float32
	for i, j := range best {
		if j >= 0 {
			p, q := reference.Points[j], photo.Points[i]
			src = append(src, p.X, p.Y)
			dst = append(dst, q.X, q.Y)
		}
	}
	h, mask, inliers, err := kernel.Homography(src, dst, inlierDistance, ransacRounds)
	if err != nil || inliers < minInliers {
		return verified{}, false, err
	}
	outline, ok := project(homography(h), reference.Width, reference.Height)
	if !ok || !plausible(outline, reference, photo) || !spread(dst, mask) {
		return verified{}, false, nil
	}
	v := verified{inliers: inliers}
	for _, p := range outline {
		v.outline = append(v.outline, Point{X: p.X / float64(photo.Width), Y: p.Y / float64(photo.Height)})
	}
	return v, true, nil
}

// homography maps places of a reference to places of a photo, both in pixels.
type homography [9]float64

// apply maps x, y; false where it lies behind the camera or at infinity.
func (h homography) apply(x, y float64) (Point, bool) {
	w := h[6]*x + h[7]*y + h[8]
	if w <= 1e-9 {
		return Point{}, false
	}
	return Point{X: (h[0]*x + h[1]*y + h[2]) / w, Y: (h[3]*x + h[4]*y + h[5]) / w}, true
}

// project maps the corners of a picture, clockwise from its upper left.
func project(h homography, width, height int) ([]Point, bool) {
	w, t := float64(width), float64(height)
	out := make([]Point, 0, 4)
	for _, c := range [4][2]float64{{0, 0}, {w, 0}, {w, t}, {0, t}} {
		p, ok := h.apply(c[0], c[1])
		if !ok || math.IsNaN(p.X) || math.IsNaN(p.Y) {
			return nil, false
		}
		out = append(out, p)
	}
	return out, true
}

// Bounds of a plausible outline. A picture seen from 60° aside has one side pair half as long as head-on; twice that
// is left for error.
const (
	minOutlineSide  = 24.0 // pixels of the photo
	maxOutlineArea  = 25.0 // of the photo's area: a fifth of a work fills the photo
	maxSideRatio    = 4.0  // between opposite sides, and of the proportions to those of the reference
	minInlierSpread = 12.0 // pixels, root mean square distance of inliers from their line of best fit
)

// plausible says whether an outline is one that a flat picture can have: convex, not mirrored, neither tiny nor huge,
// sides in proportion.
func plausible(o []Point, reference, photo feature.Set) bool {
	area := 0.0
	var sides [4]float64
	for i := range o {
		a, b, c := o[i], o[(i+1)%4], o[(i+2)%4]
		if (b.X-a.X)*(c.Y-b.Y)-(b.Y-a.Y)*(c.X-b.X) <= 0 { // turns the other way: concave or mirrored
			return false
		}
		area += (a.X*b.Y - b.X*a.Y) / 2
		sides[i] = math.Hypot(b.X-a.X, b.Y-a.Y)
		if sides[i] < minOutlineSide {
			return false
		}
	}
	if area > maxOutlineArea*float64(photo.Width*photo.Height) {
		return false
	}
	if ratio(sides[0], sides[2]) > maxSideRatio || ratio(sides[1], sides[3]) > maxSideRatio {
		return false
	}
	seen := (sides[0] + sides[2]) / (sides[1] + sides[3])
	return ratio(seen, float64(reference.Width)/float64(reference.Height)) <= maxSideRatio
}

// ratio is the larger of two lengths over the smaller.
func ratio(a, b float64) float64 { return max(a, b) / max(min(a, b), 1e-9) }

// spread says whether the inliers are not all on one spot or one line, where any homography fits.
func spread(places []float32, mask []bool) bool {
	var n, sx, sy, sxx, syy, sxy float64
	for i, in := range mask {
		if in {
			x, y := float64(places[2*i]), float64(places[2*i+1])
			n, sx, sy, sxx, syy, sxy = n+1, sx+x, sy+y, sxx+x*x, syy+y*y, sxy+x*y
		}
	}
	sxx, syy, sxy = sxx/n-sx*sx/n/n, syy/n-sy*sy/n/n, sxy/n-sx*sy/n/n
	least := (sxx+syy)/2 - math.Hypot((sxx-syy)/2, sxy) // smaller eigenvalue of the covariance
	return least >= minInlierSpread*minInlierSpread/4
}
