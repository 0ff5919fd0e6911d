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
	// rivalShare is the part of the leader's strength from which another exhibit in the same place makes it unsure:
	// copies, replicas and editions of one print share most of their features, other works none.
	rivalShare = 0.6
	// twinShare is the part of the leader's prominence from which another work is as likely the one that is meant, and
	// halfShare the same of a work that joins on to it: the other half of a diptych seen from aside.
	twinShare = 0.6
	halfShare = 0.3
	// twinInliers is the part of the leader's inliers that such a work must have: few beside many are mostly chance.
	twinInliers = 0.4
)

// confidence turns inliers into 0…1, growing with them: a logistic curve, .08 at 5, .62 at 8 and .99 at 12. It is the
// round figure next to the best fit to real and rendered photos (docs/recognition.md; TestConfidenceIsCalibrated).
func confidence(inliers int) float64 {
	return 1 / (1 + math.Exp(confidenceHalf-float64(inliers)))
}

// confidenceHalf is how many inliers a candidate has that is as likely right as wrong.
const confidenceHalf = 7.5

// strength compares exhibits that are found in the same place: inliers, weighed by the part of the exhibit's outline
// that lies on the photo. A sheet of four prints is as like a photo of one of them as that one is, but three quarters
// of it would lie outside.
func strength(c Candidate) float64 {
	whole := area(c.Outline)
	if whole == 0 {
		return 0
	}
	return float64(c.Inliers) * area(visible(c.Outline)) / whole
}

// decide says what to do with candidates, most inliers first and one per exhibit, and which of them to show. The
// first of a match is the answer; those after it are further works on the photo.
func decide(candidates []Candidate) (Decision, []Candidate) {
	var sure, unsure [][]Candidate // the exhibits found in one place, strongest first
	for _, place := range places(candidates) {
		if place[0].Inliers >= matchInliers {
			sure = append(sure, place)
		} else {
			unsure = append(unsure, place)
		}
	}
	if len(sure) == 0 {
		cards := slices.Concat(unsure...)
		if len(cards) == 0 {
			return DecisionUnknown, nil
		}
		slices.SortStableFunc(cards, func(a, b Candidate) int { return cmp.Compare(b.Inliers, a.Inliers) })
		return DecisionChoose, cards[:min(len(cards), maxCards)]
	}
	slices.SortStableFunc(sure, func(a, b []Candidate) int {
		return cmp.Compare(prominence(b[0].Outline), prominence(a[0].Outline))
	})
	rivals := slices.DeleteFunc(slices.Clone(sure[0]), func(c Candidate) bool {
		return strength(c) < rivalShare*strength(sure[0][0])
	})
	if len(rivals) > 1 {
		return DecisionChoose, rivals[:min(len(rivals), maxCards)]
	}
	var works, twins []Candidate
	for _, place := range sure[:min(len(sure), maxCards)] {
		works = append(works, place[0])
		share := twinShare
		if joined(place[0].Outline, sure[0][0].Outline) {
			share = halfShare
		}
		if prominence(place[0].Outline) >= share*prominence(sure[0][0].Outline) &&
			float64(place[0].Inliers) >= twinInliers*float64(sure[0][0].Inliers) {
			twins = append(twins, place[0])
		}
	}
	if len(twins) > 1 {
		return DecisionChoose, twins
	}
	return DecisionMatch, works
}

// places sorts candidates with enough inliers by where on the photo they are, and those of each place by strength.
func places(candidates []Candidate) [][]Candidate {
	var out [][]Candidate
	for _, c := range candidates {
		if c.Inliers < chooseInliers {
			continue
		}
		at := slices.IndexFunc(out, func(place []Candidate) bool { return samePlace(place[0].Outline, c.Outline) })
		if at < 0 {
			out = append(out, []Candidate{c})
		} else {
			out[at] = append(out[at], c)
		}
	}
	for _, place := range out {
		slices.SortStableFunc(place, func(a, b Candidate) int { return cmp.Compare(strength(b), strength(a)) })
	}
	return out
}
