package vision

import (
	"cmp"
	"math"
	"slices"
)

// Thresholds of the decision. On photos of works outside the collection no wrong reference has more than 7 inliers;
// the true ones that are found have 11 and more (docs/recognition.md).
const (
	matchInliers  = 12
	chooseInliers = 8
	maxCards      = 3
	// rivalShare is the part of the leader's inliers with which another exhibit in the same place makes it unsure:
	// copies, replicas and editions of one print share most of their features, other works none.
	rivalShare = 0.6
)

// confidence turns inliers into 0…1, growing with them: the logistic curve that is one half between the most of a wrong
// reference and the fewest of a true one, .03 at 5 and .97 at 12.
func confidence(inliers int) float64 {
	return 1 / (1 + math.Exp(8.5-float64(inliers)))
}

// decide says what to do with candidates, most inliers first and one per exhibit, and which of them to show. The
// first of a match is the answer; those after it are further works on the photo.
func decide(candidates []Candidate) (Decision, []Candidate) {
	var works, rivals []Candidate // works are the strongest in their places
	for _, c := range candidates {
		if c.Inliers < chooseInliers {
			continue
		}
		if slices.ContainsFunc(works, func(w Candidate) bool { return samePlace(w.Outline, c.Outline) }) {
			rivals = append(rivals, c)
		} else {
			works = append(works, c)
		}
	}
	if len(works) == 0 {
		return DecisionUnknown, nil
	}
	sure := slices.Clone(works)
	sure = slices.DeleteFunc(sure, func(c Candidate) bool { return c.Inliers < matchInliers })
	if len(sure) == 0 {
		return DecisionChoose, candidates[:min(len(works)+len(rivals), maxCards)]
	}
	slices.SortStableFunc(sure, func(a, b Candidate) int {
		return cmp.Compare(prominence(b.Outline), prominence(a.Outline))
	})
	leader := sure[0]
	cards := []Candidate{leader}
	for _, r := range rivals {
		if float64(r.Inliers) >= rivalShare*float64(leader.Inliers) && samePlace(r.Outline, leader.Outline) {
			cards = append(cards, r)
		}
	}
	if len(cards) > 1 {
		return DecisionChoose, cards[:min(len(cards), maxCards)]
	}
	return DecisionMatch, sure[:min(len(sure), maxCards)]
}
