// Package vector finds the nearest of many vectors by cosine similarity: an exact scan with SIMD and an HNSW graph
// behind one interface, and the file both are kept in.
//
// An index is built once per release and never changed. HNSW (coder/hnsw) loses neighbours silently, so its recall
// is measured on the index's own vectors when it is built, and it is used only where that is at least [MinRecall]
// or where a person insists on it.
package vector

import (
	"errors"
	"fmt"
	"math"
)

// Hit is one vector found. Score is its cosine similarity to the query, −1…1.
type Hit struct {
	Key   uint32
	Score float32
}

// Index finds vectors. It is safe for concurrent use and cannot be changed.
type Index interface {
	// Search returns the k vectors nearest to query, best first and the smaller key first among equals. A query
	// of another dimension than the index's finds nothing.
	Search(query []float32, k int) []Hit
	// Len is the number of vectors.
	Len() int
	// Dimension is the length of each vector.
	Dimension() int
	// Kind says how the index searches.
	Kind() Kind
}

// Kind says how an index searches.
type Kind string

// The kinds. Auto chooses when the index is built and is never the kind of an index.
const (
	Auto  Kind = "auto"
	Exact Kind = "exact"
	HNSW  Kind = "hnsw"
)

// ParseKind reads a kind as an author writes it; empty means Auto.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case Auto, Exact, HNSW:
		return k, nil
	case "":
		return Auto, nil
	}
	return "", fmt.Errorf("index kind %q: want auto, exact or hnsw", s)
}

// Limits of an index. The file holds no more, so a damaged header cannot make a reader allocate more.
const (
	MaxDimension = 4096
	MaxVectors   = 4 << 20
)

// MinRecall is the least recall at [RecallAt] with which Auto takes HNSW in place of the exact scan: one neighbour
// in a hundred lost is below what later checks of the candidates can make up for.
const (
	MinRecall = 0.99
	RecallAt  = 20
)

// autoHNSWFrom is the number of vectors below which Auto does not try HNSW: the exact scan of 20,000 × 512 takes
// about a millisecond, less than any graph can save.
const autoHNSWFrom = 20_000

// Report says what was built.
type Report struct {
	Kind   Kind    `json:"kind"`
	Recall float64 `json:"recall"` // share of the true 20 nearest found, on the index's own vectors; 1 for exact
}

// ErrInvalid is wrapped by every error about vectors that cannot be indexed.
var ErrInvalid = errors.New("invalid vectors")

// Build makes an index of vectors, whose keys are their numbers, as want says. The vectors are not copied and must
// not change afterwards; they are scaled to length 1 in place. The same input gives the same index.
func Build(dimension int, vectors []float32, want Kind) (Index, Report, error) {
	exact, err := NewExact(dimension, vectors)
	if err != nil {
		return nil, Report{}, err
	}
	switch want {
	case Exact:
		return exact, Report{Kind: Exact, Recall: 1}, nil
	case HNSW:
		graph := NewHNSW(exact)
		return graph, Report{Kind: HNSW, Recall: Recall(graph, exact)}, nil
	case Auto, "":
		if exact.Len() < autoHNSWFrom {
			return exact, Report{Kind: Exact, Recall: 1}, nil
		}
		graph := NewHNSW(exact)
		if recall := Recall(graph, exact); recall >= MinRecall {
			return graph, Report{Kind: HNSW, Recall: recall}, nil
		}
		return exact, Report{Kind: Exact, Recall: 1}, nil
	}
	return nil, Report{}, fmt.Errorf("%w: index kind %q", ErrInvalid, want)
}

// recallQueries bounds how many of the index's own vectors are asked to measure recall.
const recallQueries = 500

// Recall is the share of the true RecallAt nearest vectors that index finds, asked with vectors of the index itself
// taken at even distances. An index with no vectors has recall 1.
func Recall(index Index, truth *ExactIndex) float64 {
	n := truth.Len()
	if n == 0 {
		return 1
	}
	k := min(RecallAt, n)
	queries := min(recallQueries, n)
	found, all := 0, 0
	for q := range queries {
		query := truth.Vector(uint32(q * n / queries))
		have := make(map[uint32]bool, k)
		for _, h := range index.Search(query, k) {
			have[h.Key] = true
		}
		for _, h := range truth.Search(query, k) {
			all++
			if have[h.Key] {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}

// normalise scales v to length 1. A vector of length 0 stays as it is: it is equally far from everything.
func normalise(v []float32) error {
	sum := squaredLength(v)
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return fmt.Errorf("%w: a number is not finite", ErrInvalid)
	}
	if sum == 0 {
		return nil
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return nil
}

func squaredLength(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}
