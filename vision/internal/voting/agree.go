package voting

import (
	"cmp"
	"math"
	"slices"

	"docent/vision/feature"
)

// Two votes agree when one similarity (place, size, direction) explains both, within bounds wide enough for a picture
// seen obliquely: SIFT's sizes and angles are coarse, and a similarity is a poor fit for a perspective view.
const (
	agreeScale = 2.0  // factor between the sizes
	agreeAngle = 35.0 // degrees between the directions
	agreePlace = 0.12 // of the picture's longer side as the first vote sees it
)

// maxAgreeing is how many votes for a picture are compared with each other: the strongest.
const maxAgreeing = 150

// agreeing is the greatest sum of weights of votes for a picture that agree with one of them.
func agreeing(photo, picture feature.Set, votes []vote) float32 {
	if len(votes) > maxAgreeing {
		slices.SortFunc(votes, func(a, b vote) int {
			if c := cmp.Compare(b.weight, a.weight); c != 0 {
				return c
			}
			return cmp.Compare(a.query, b.query)
		})
		votes = votes[:maxAgreeing]
	}
	type pair struct{ qx, qy, rx, ry, scale, angle, weight float32 }
	pairs := make([]pair, len(votes))
	for i, v := range votes {
		q, r := photo.Points[v.query], picture.Points[v.feature]
		pairs[i] = pair{q.X, q.Y, r.X, r.Y, q.Size / max(r.Size, 0.1), q.Angle - r.Angle, v.weight}
	}
	side := float32(max(picture.Width, picture.Height))
	var best float32
	for _, a := range pairs {
		sin, cos := math.Sincos(float64(a.angle) * math.Pi / 180)
		s, c := float32(sin)*a.scale, float32(cos)*a.scale
		within := agreePlace * side * a.scale
		within *= within
		var sum float32
		for _, b := range pairs {
			if b.scale > agreeScale*a.scale || b.scale*agreeScale < a.scale || turn(b.angle-a.angle) > agreeAngle {
				continue
			}
			dx, dy := b.rx-a.rx, b.ry-a.ry
			ex, ey := a.qx+c*dx-s*dy-b.qx, a.qy+s*dx+c*dy-b.qy
			if ex*ex+ey*ey < within {
				sum += b.weight
			}
		}
		best = max(best, sum)
	}
	return best
}

// turn is the size of an angle in degrees, 0 to 180, of one from −720 to 720.
func turn(angle float32) float32 {
	if angle < 0 {
		angle = -angle
	}
	for angle > 360 {
		angle -= 360
	}
	if angle > 180 {
		angle = 360 - angle
	}
	return angle
}
