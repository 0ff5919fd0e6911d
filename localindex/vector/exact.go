package vector

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/viterin/vek/vek32"
)

// ExactIndex compares the query with every vector.
type ExactIndex struct {
	dimension int
	vectors   []float32 // one after the other, each of length 1
}

var _ Index = (*ExactIndex)(nil)

// NewExact makes an exact index of vectors, one after the other, whose keys are their numbers. They are scaled to
// length 1 in place and kept.
func NewExact(dimension int, vectors []float32) (*ExactIndex, error) {
	if dimension < 1 || dimension > MaxDimension {
		return nil, fmt.Errorf("%w: dimension %d, want 1 to %d", ErrInvalid, dimension, MaxDimension)
	}
	if len(vectors)%dimension != 0 || len(vectors)/dimension > MaxVectors {
		return nil, fmt.Errorf("%w: %d numbers of dimension %d", ErrInvalid, len(vectors), dimension)
	}
	x := &ExactIndex{dimension: dimension, vectors: vectors}
	for i := range x.Len() {
		if err := normalise(x.Vector(uint32(i))); err != nil {
			return nil, fmt.Errorf("vector %d: %w", i, err)
		}
	}
	return x, nil
}

// Len is the number of vectors.
func (x *ExactIndex) Len() int { return len(x.vectors) / x.dimension }

// Dimension is the length of each vector.
func (x *ExactIndex) Dimension() int { return x.dimension }

// Kind is Exact.
func (x *ExactIndex) Kind() Kind { return Exact }

// Vector is the vector of a key, which must be below Len; it must not be changed.
func (x *ExactIndex) Vector(key uint32) []float32 {
	at := int(key) * x.dimension
	return x.vectors[at : at+x.dimension : at+x.dimension]
}

// Search returns the k nearest vectors, best first.
func (x *ExactIndex) Search(query []float32, k int) []Hit {
	q, ok := x.unit(query)
	if !ok || k < 1 {
		return nil
	}
	hits := make([]Hit, x.Len())
	for i := range hits {
		hits[i] = Hit{Key: uint32(i), Score: vek32.Dot(q, x.Vector(uint32(i)))}
	}
	return best(hits, k)
}

// unit is a copy of query of length 1; false where it cannot be asked.
func (x *ExactIndex) unit(query []float32) ([]float32, bool) {
	if len(query) != x.dimension || x.Len() == 0 {
		return nil, false
	}
	q := slices.Clone(query)
	return q, normalise(q) == nil
}

// best sorts the k best of hits to the front and returns them, keeping a heap of k while it reads the rest.
func best(hits []Hit, k int) []Hit {
	if k >= len(hits) {
		slices.SortFunc(hits, byScore)
		return hits
	}
	top := hits[:k]
	for i := k/2 - 1; i >= 0; i-- {
		sink(top, i)
	}
	for _, h := range hits[k:] {
		if byScore(h, top[0]) < 0 {
			top[0] = h
			sink(top, 0)
		}
	}
	slices.SortFunc(top, byScore)
	return slices.Clone(top)
}

// sink restores a heap whose root is the worst hit.
func sink(h []Hit, i int) {
	for {
		worst := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && byScore(h[child], h[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}

// byScore orders hits best first, the smaller key first among equals.
func byScore(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.Key, b.Key)
}
