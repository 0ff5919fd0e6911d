package memory

import (
	"cmp"
	"math"
	"slices"

	"docent/agent/internal/words"
)

// Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) with its usual
// constants. A visit has some hundred short texts at most, so they are counted anew for each question: an index would cost
// more than it saves, and would hold on a disk what is to be forgotten.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// hit is a document that answers a query.
type hit struct {
	document int
	score    float64
}

// bm25 ranks documents by the words they share with a query, English stems and pairs of Chinese characters; those that
// share none are left out.
func bm25(query string, documents []string) []hit {
	wanted := words.Extract(query).Distinct()
	if len(wanted) == 0 || len(documents) == 0 {
		return nil
	}
	terms, total := make([]map[string]bool, len(documents)), 0
	in := map[string]int{}
	for i, d := range documents {
		terms[i] = words.Extract(d).Distinct()
		total += len(terms[i])
		for t := range terms[i] {
			if wanted[t] {
				in[t]++
			}
		}
	}
	mean := max(1, float64(total)/float64(len(documents)))
	var out []hit
	for i := range documents {
		score := 0.0
		for t := range wanted {
			if !terms[i][t] { // short texts: a word stands in them once or not
				continue
			}
			n := float64(in[t])
			idf := math.Log(1 + (float64(len(documents))-n+0.5)/(n+0.5))
			score += idf * (bm25K1 + 1) / (1 + bm25K1*(1-bm25B+bm25B*float64(len(terms[i]))/mean))
		}
		if score > 0 {
			out = append(out, hit{i, score})
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return out
}
