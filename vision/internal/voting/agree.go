package voting

import (
	"cmp"
	"math"
	"slices"

	"docent/vision/feature"
)

// A vote says by how much the picture is turned and made larger on the photo: the differences of the angles and of
// the logarithms of the sizes of its two features. Votes for the right picture say the same, others anything. All
// votes for a picture are counted by coarse steps of both (weak geometric consistency; Jégou et al., ECCV 2008), and
// the pictures that are best by this are looked at closely.
const (
	angleSteps = 10 // of 36°
	scaleSteps = 10 // of a factor 2, from 1/32 to 32
	cells      = angleSteps * scaleSteps
)

// pose is the step a vote's angle (degrees) and scale fall into.
func pose(angle, scale float32) (a, s int) {
	turns := angle / 360
	turns -= float32(math.Floor(float64(turns)))
	a = min(int(turns*angleSteps), angleSteps-1)
	s = int(math.Floor(math.Log2(float64(scale)))) + scaleSteps/2
	return a, min(max(s, 0), scaleSteps-1)
}

// peak is the largest sum of a step and its neighbours in angle and scale.
func peak(counts []float32) float32 {
	var best float32
	for a := range angleSteps {
		before, after := (a+angleSteps-1)%angleSteps, (a+1)%angleSteps
		var left, middle float32 // sums of the three angles at two successive scales
		for s := range scaleSteps {
			now := counts[before*scaleSteps+s] + counts[a*scaleSteps+s] + counts[after*scaleSteps+s]
			left, middle = middle, now
			best = max(best, left+middle)
		}
	}
	return best
}

// Two votes agree when one similarity (place, size, direction) explains both, within bounds wide enough for a picture
// seen obliquely: SIFT's sizes and angles are coarse, and a similarity is a poor fit for a perspective view.
const (
	agreeScale = 2.0  // factor between the sizes; one step of pose
	agreeAngle = 35.0 // degrees between the directions; less than one step of pose
	agreePlace = 0.12 // of the picture's longer side as the first vote sees it
)

// maxProposals is how many votes for a picture propose a similarity: the strongest. All are asked whether they agree.
const maxProposals = 200

// pair is the places of the two features of a vote.
type pair struct {
	qx, qy, rx, ry, scale, angle, weight float32
	a, s                                 int // steps of pose
}

// agreeing is the greatest sum of weights of votes for a picture that agree with one of them.
func agreeing(photo, picture feature.Set, votes []vote) float32 {
	pairs := make([]pair, len(votes))
	for i, v := range votes {
		q, r := photo.Points[v.query], picture.Points[v.feature]
		p := pair{qx: q.X, qy: q.Y, rx: r.X, ry: r.Y, scale: q.Size / max(r.Size, 0.1), angle: q.Angle - r.Angle, weight: v.weight}
		p.a, p.s = pose(p.angle, p.scale)
		pairs[i] = p
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if c := cmp.Compare(b.weight, a.weight); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.qx, b.qx), cmp.Compare(a.qy, b.qy))
	})
	var byPose [cells][]pair
	for _, p := range pairs {
		byPose[p.a*scaleSteps+p.s] = append(byPose[p.a*scaleSteps+p.s], p)
	}
	side := float32(max(picture.Width, picture.Height))
	var best float32
	for _, a := range pairs[:min(len(pairs), maxProposals)] {
		sin, cos := math.Sincos(float64(a.angle) * math.Pi / 180)
		s, c := float32(sin)*a.scale, float32(cos)*a.scale
		within := agreePlace * side * a.scale
		within *= within
		var sum float32
		for _, step := range [3]int{angleSteps - 1, 0, 1} {
			angle := (a.a + step) % angleSteps * scaleSteps
			for scale := max(a.s-1, 0); scale <= min(a.s+1, scaleSteps-1); scale++ {
				for i := range byPose[angle+scale] {
					b := &byPose[angle+scale][i]
					dx, dy := b.rx-a.rx, b.ry-a.ry
					ex, ey := a.qx+c*dx-s*dy-b.qx, a.qy+s*dx+c*dy-b.qy
					if ex*ex+ey*ey >= within || b.scale > agreeScale*a.scale || b.scale*agreeScale < a.scale || turn(b.angle-a.angle) > agreeAngle {
						continue
					}
					sum += b.weight
				}
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
