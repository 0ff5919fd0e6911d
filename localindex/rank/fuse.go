// Package rank puts lists of search results together: floors on scores, boosts, the fusion of ranks, and near-duplicates.
// It knows nothing of texts but what is in them.
package rank

import (
	"cmp"
	"slices"
	"strings"
)

// Result is one thing found, with a score that is comparable within its list only.
type Result struct {
	ID    string
	Score float64
}

// The usual values of a fusion.
const (
	// DefaultK is that of Cormack, Clarke and Büttcher, Reciprocal Rank Fusion, 2009.
	DefaultK             = 60
	DefaultKeywordWeight = 0.4
	DefaultDenseWeight   = 0.6
	// DefaultSimilarityFloor is the least cosine similarity of what the vectors find.
	DefaultSimilarityFloor = 0.45
	// DefaultKeywordFloor is the least share of the best keyword score.
	DefaultKeywordFloor = 0.35
)

// Sort orders results best first, equal scores by id.
func Sort(results []Result) {
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
}

// AtLeast keeps the results whose score is at least floor. The order stays.
func AtLeast(results []Result, floor float64) []Result {
	return slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Score < floor })
}

// ShareOfBest keeps the results whose score is at least that share of the best one's. The order stays.
func ShareOfBest(results []Result, share float64) []Result {
	best := 0.0
	for _, r := range results {
		best = max(best, r.Score)
	}
	return AtLeast(results, share*best)
}

// List is one list to be fused, best first.
type List struct {
	Results []Result
	Weight  float64
}

// Fuse puts lists together by reciprocal rank: a result's score is the sum over the lists of weight / (k + rank), as a
// share of what a result would have that is the first of every list. Lists of weight 0 take no part.
func Fuse(k float64, lists ...List) []Result {
	total := 0.0
	sum := make(map[string]float64)
	for _, l := range lists {
		if l.Weight <= 0 {
			continue
		}
		total += l.Weight
		for i, r := range l.Results {
			sum[r.ID] += l.Weight / (k + float64(i) + 1)
		}
	}
	fused := make([]Result, 0, len(sum))
	for id, s := range sum {
		fused = append(fused, Result{id, s * (k + 1) / total})
	}
	Sort(fused)
	return fused
}

// Fill adds the results of more that are not among results yet behind them, with scores below theirs. What they found is
// not comparable, so their order is kept and their scores only fall.
func Fill(results, more []Result) []Result {
	last := 1.0
	have := make(map[string]bool, len(results))
	for _, r := range results {
		have[r.ID] = true
		last = min(last, r.Score)
	}
	filled := slices.Clone(results)
	for i, r := range more {
		if !have[r.ID] {
			filled = append(filled, Result{r.ID, last * fillShare / float64(i+1)})
		}
	}
	return filled
}

// fillShare is the score of the first result that fills up, as a share of the last one before it.
const fillShare = 0.5
