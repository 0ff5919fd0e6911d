package vision

import "math"

// Thresholds of the decision in inliers. On photos of works outside the collection the best of all wrong references
// reaches at most 10, true ones start at 12.
const (
	matchInliers  = 12
	chooseInliers = 8
	maxCards      = 3
)

// confidence turns inliers into 0…1, growing with them: one half at the middle between the wrong and the true
// references, .88 at the least match, .99 at 17 inliers.
func confidence(inliers int) float64 {
	return 1 / (1 + math.Exp(-(float64(inliers) - 10)))
}

// decide says what to do with candidates, most inliers first, and which of them to show.
func decide(candidates []Candidate) (Decision, []Candidate) {
	if len(candidates) == 0 || candidates[0].Inliers < chooseInliers {
		return DecisionUnknown, nil
	}
	if candidates[0].Inliers >= matchInliers {
		return DecisionMatch, candidates[:1]
	}
	n := 1
	for n < len(candidates) && n < maxCards && candidates[n].Inliers >= chooseInliers {
		n++
	}
	return DecisionChoose, candidates[:n]
}
