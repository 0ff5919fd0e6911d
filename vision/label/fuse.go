package label

import (
	"cmp"
	"slices"
	"strings"

	"docent/vision"
)

// Named is an exhibit that a text may name.
type Named struct {
	ExhibitID string
	Match     Match
}

const (
	// rankConstant of reciprocal rank fusion (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet
	// and individual Rank Learning Methods", SIGIR 2009).
	rankConstant = 60
	maxCards     = 3
)

// Fuse puts what was seen and what was read together. A photo that was surely recognised stays as it is. An exhibit is
// a match where the text names it and no other, and nothing else was seen; otherwise the best of both are offered, those
// first that both name.
func Fuse(seen vision.Recognition, read []Named) vision.Recognition {
	read = ranked(read)
	if seen.Decision == vision.DecisionMatch || len(read) == 0 {
		return seen
	}
	var candidates []vision.Candidate // what was seen, best first
	if seen.Decision == vision.DecisionChoose {
		candidates = seen.Candidates
	}
	fused := seen
	if named, ok := theOne(read); ok && !slices.ContainsFunc(candidates, func(c vision.Candidate) bool { return c.ExhibitID != named.ExhibitID }) {
		fused.Decision = vision.DecisionMatch
		fused.Candidates = []vision.Candidate{candidateFor(named, candidates)}
		return fused
	}
	scores := map[string]float64{}
	var all []vision.Candidate
	for rank, c := range candidates {
		scores[c.ExhibitID] += 1.0 / float64(rankConstant+rank+1)
		all = append(all, c)
	}
	for rank, n := range read {
		if _, ok := scores[n.ExhibitID]; !ok {
			all = append(all, candidateFor(n, nil))
		}
		scores[n.ExhibitID] += 1.0 / float64(rankConstant+rank+1)
	}
	slices.SortStableFunc(all, func(a, b vision.Candidate) int { return cmp.Compare(scores[b.ExhibitID], scores[a.ExhibitID]) })
	fused.Decision = vision.DecisionChoose
	fused.Candidates = all[:min(len(all), maxCards)]
	return fused
}

// ranked leaves out what the text does not name, and names that are only a part of a longer one, and puts the best first.
func ranked(read []Named) []Named {
	var out []Named
	for _, n := range read {
		part := slices.ContainsFunc(read, func(o Named) bool {
			return n.Match.Kinds <= 1 && len(o.Match.Title) > len(n.Match.Title) && n.Match.Title != "" &&
				strings.Contains(o.Match.Title, n.Match.Title)
		})
		if n.Match.Confidence >= minReading && !part {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b Named) int {
		return cmp.Or(cmp.Compare(b.Match.Kinds, a.Match.Kinds), cmp.Compare(b.Match.Confidence, a.Match.Confidence))
	})
	return out
}

// theOne is the exhibit that is surely named, and no other: others may only share its title, where its number tells it
// from them.
func theOne(read []Named) (Named, bool) {
	best := read[0]
	if !best.Match.Exact {
		return Named{}, false
	}
	for _, n := range read[1:] {
		shares := n.Match.Title == best.Match.Title && n.Match.Kinds == 1 && best.Match.Kinds > 1
		if n.Match.Exact && !shares {
			return Named{}, false
		}
	}
	return best, true
}

// candidateFor is the candidate for an exhibit that was read, with what was seen of it.
func candidateFor(n Named, seen []vision.Candidate) vision.Candidate {
	for _, c := range seen {
		if c.ExhibitID == n.ExhibitID {
			c.Confidence = max(c.Confidence, n.Match.Confidence)
			return c
		}
	}
	c := vision.Candidate{ExhibitID: n.ExhibitID, Confidence: n.Match.Confidence}
	if !n.Match.Exact { // it is likely misread, so what is right of it says less than it seems
		c.Confidence /= 2
	}
	return c
}
