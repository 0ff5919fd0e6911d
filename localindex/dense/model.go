// Package dense turns texts into vectors without a server: latent semantic analysis (Deerwester and others, 1990) over
// words and parts of words, learnt from the passages of one release.
//
// Words that stand in the same passages come to lie in the same directions, so that a question may find a passage it
// shares no word with. A few hundred passages teach less than a language model knows; localindex measures what it is
// worth on the release itself and weighs it by that.
package dense

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// Model turns texts into vectors. It does not change and is safe for concurrent use.
type Model struct {
	hashes     []uint64  // of the features, ascending
	idf        []float32 // by feature
	projection table     // a row for each feature
}

// Dimension is the length of the vectors.
func (m *Model) Dimension() int { return m.projection.columns }

// Embed returns the vector of a text, of length 1. It is all zero where the text has no feature that the model knows.
func (m *Model) Embed(text string) []float32 {
	index, value := m.weigh(features(text))
	out := make([]float32, m.Dimension())
	m.project(index, value, out)
	return out
}

// project adds up the directions of features into out and scales it to length 1.
func (m *Model) project(index []uint32, value, out []float32) {
	to := blas32.Vector{N: len(out), Inc: 1, Data: out}
	for j, f := range index {
		blas32.Axpy(value[j], blas32.Vector{N: len(out), Inc: 1, Data: m.projection.row(int(f))}, to)
	}
	normalise(out)
}

// EmbedAll returns the vectors of texts, one after the other.
func (m *Model) EmbedAll(texts []string) []float32 {
	out := make([]float32, len(texts)*m.Dimension())
	parallel(len(texts), func(i int) { copy(out[i*m.Dimension():], m.Embed(texts[i])) })
	return out
}

// weigh returns the known features of a text in ascending order with their weights, (1 + ln frequency) · idf, scaled to
// length 1.
func (m *Model) weigh(counted map[uint64]float32) (index []uint32, value []float32) {
	for f := range counted {
		if i, ok := slices.BinarySearch(m.hashes, f); ok {
			index = append(index, uint32(i))
		}
	}
	slices.Sort(index)
	value = make([]float32, len(index))
	for j, i := range index {
		f := counted[m.hashes[i]]
		value[j] = m.idf[i] * (1 + float32(math.Log(float64(max(f, unigramWeight)/unigramWeight)))) * min(1, f)
	}
	normalise(value)
	return index, value
}

// normalise scales v to length 1, if it has one.
func normalise(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}
