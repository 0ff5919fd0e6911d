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

// view is the direction of a feature in 256 steps of a turn and its size in eighths of a factor 2.
type view struct{ turn, size uint8 }

func viewOf(p feature.Point) view {
	turns := float64(p.Angle) / 360
	size := 8*math.Log2(max(float64(p.Size), 0.1)) + 64
	return view{turn: uint8(int(math.Round((turns-math.Floor(turns))*256)) & 255), size: uint8(min(max(size+0.5, 0), 255))}
}

// from is the pose, angle step times scaleSteps plus scale step, in which a photo shows a picture when a feature of the
// photo with this view is a feature of the picture with that one.
func (v view) from(picture view) uint8 {
	a := int(v.turn-picture.turn) * angleSteps / 256
	s := (int(v.size)-int(picture.size))>>3 + scaleSteps/2
	return uint8(a*scaleSteps + min(max(s, 0), scaleSteps-1))
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

// widest is the largest sum of a step and its neighbours on both sides in angle and scale: no more votes can agree.
func widest(counts []float32) float32 {
	var best float32
	for at := range cells {
		best = max(best, around(counts, at))
	}
	return best
}

// around is the sum of a step and its neighbours in angle and scale.
func around(counts []float32, at int) (sum float32) {
	a, s := at/scaleSteps, at%scaleSteps
	for _, turn := range [3]int{angleSteps - 1, 0, 1} {
		line := counts[(a+turn)%angleSteps*scaleSteps:]
		for scale := max(s-1, 0); scale <= min(s+1, scaleSteps-1); scale++ {
			sum += line[scale]
		}
	}
	return sum
}

// roundingErrors is more than two sums of the same numbers in different order can differ by.
const roundingErrors = 1.001

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
	pose                                 uint8
}

// agreeing is the greatest sum of weights of votes for a picture that agree with one of them.
func agreeing(photo, picture feature.Set, votes []vote) float32 {
	// The pairs are sorted by pose, so that those of one step lie together.
	var weight [cells]float32
	var ends [cells + 1]int
	for i := range votes {
		ends[votes[i].pose+1]++
		weight[votes[i].pose] += votes[i].weight
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	pairs := make([]pair, len(votes))
	next := ends
	for _, v := range votes {
		q, r := photo.Points[v.query], picture.Points[v.feature]
		pairs[next[v.pose]] = pair{
			qx: q.X, qy: q.Y, rx: r.X, ry: r.Y, scale: q.Size / max(r.Size, 0.1), angle: q.Angle - r.Angle, weight: v.weight, pose: v.pose,
		}
		next[v.pose]++
	}
	side := float32(max(picture.Width, picture.Height))
	var best float32
	for _, i := range strongest(pairs) {
		a := &pairs[i]
		if around(weight[:], int(a.pose))*roundingErrors < best {
			continue
		}
		sin, cos := math.Sincos(float64(a.angle) * math.Pi / 180)
		s, c := float32(sin)*a.scale, float32(cos)*a.scale
		within := agreePlace * side * a.scale
		within *= within
		var sum float32
		for _, turned := range [3]int{angleSteps - 1, 0, 1} {
			line := (int(a.pose)/scaleSteps + turned) % angleSteps * scaleSteps
			scale := int(a.pose) % scaleSteps
			near := pairs[ends[line+max(scale-1, 0)]:ends[line+min(scale+1, scaleSteps-1)+1]]
			for j := range near {
				b := &near[j]
				dx, dy := b.rx-a.rx, b.ry-a.ry
				ex, ey := a.qx+c*dx-s*dy-b.qx, a.qy+s*dx+c*dy-b.qy
				if ex*ex+ey*ey >= within || b.scale > agreeScale*a.scale || b.scale*agreeScale < a.scale || turn(b.angle-a.angle) > agreeAngle {
					continue
				}
				sum += b.weight
			}
		}
		best = max(best, sum)
	}
	return best
}

// strongest is the numbers of the maxProposals pairs of the greatest weight.
func strongest(pairs []pair) []int {
	list := make([]int, len(pairs))
	for i := range list {
		list[i] = i
	}
	if len(list) > maxProposals {
		slices.SortFunc(list, func(a, b int) int {
			return cmp.Or(cmp.Compare(pairs[b].weight, pairs[a].weight), cmp.Compare(a, b))
		})
		list = list[:maxProposals]
	}
	return list
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
