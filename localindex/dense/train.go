package dense

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// Limits and sizes of a model.
const (
	// MaxDimension of the vectors. Fewer come out where there are fewer texts.
	MaxDimension = 128
	// maxFeatures is how many features a model knows: those that most texts have, since what two texts have bridges them.
	maxFeatures = 20_000
	// textsPerDimension leaves each direction several texts to be learnt from; with as many directions as texts nothing
	// comes together.
	textsPerDimension = 4
	minTexts          = 2   // that have a feature; one that is in a single text relates it to nothing
	maxShare          = 0.5 // of the texts that have it; one that is everywhere tells nothing
	// oversampling and rounds are those of Halko, Martinsson and Tropp, Finding structure with randomness, 2011,
	// algorithms 4.3 and 4.4: a few columns more than wanted and two rounds give the leading directions of text well.
	oversampling = 16
	rounds       = 2
)

// ErrTooFew is returned for texts from which nothing can be learnt.
var ErrTooFew = errors.New("too few texts to learn from")

// Train learns a model from texts: which words and parts of words stand together. It returns the vectors of the texts, too,
// one after the other. The same texts give the same model.
func Train(ctx context.Context, texts []string) (*Model, []float32, error) {
	counted := make([]map[uint64]float32, len(texts))
	parallel(len(texts), func(i int) { counted[i] = features(texts[i]) })
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m := choose(counted)
	if len(m.hashes) < 2 {
		return nil, nil, fmt.Errorf("train vectors on %d texts: %w", len(texts), ErrTooFew)
	}
	a := m.matrix(counted)
	dimension := min(MaxDimension, min(a.rows, a.columns)/textsPerDimension)
	if dimension < 1 {
		return nil, nil, fmt.Errorf("train vectors on %d texts: %w", len(texts), ErrTooFew)
	}
	projection, err := directions(ctx, a, dimension)
	if err != nil {
		return nil, nil, fmt.Errorf("train vectors on %d texts: %w", len(texts), err)
	}
	m.projection = projection
	vectors := make([]float32, len(texts)*m.Dimension())
	parallel(len(texts), func(i int) {
		index, value := a.row(i)
		m.project(index, value, vectors[i*m.Dimension():(i+1)*m.Dimension()])
	})
	return m, vectors, nil
}

// choose picks the features of a model and weighs them by idf.
func choose(counted []map[uint64]float32) *Model {
	have := make(map[uint64]int)
	for _, c := range counted {
		for f := range c {
			have[f]++
		}
	}
	most := max(minTexts, int(maxShare*float64(len(counted))))
	var hashes []uint64
	for f, n := range have {
		if n >= minTexts && n <= most {
			hashes = append(hashes, f)
		}
	}
	slices.SortFunc(hashes, func(a, b uint64) int { return cmp.Or(cmp.Compare(have[b], have[a]), cmp.Compare(a, b)) })
	hashes = hashes[:min(len(hashes), maxFeatures)]
	slices.Sort(hashes)
	m := &Model{hashes: hashes, idf: make([]float32, len(hashes))}
	for i, f := range hashes {
		m.idf[i] = float32(math.Log(float64(len(counted)+1) / float64(have[f])))
	}
	return m
}

// matrix has a row of length 1 for each text.
func (m *Model) matrix(counted []map[uint64]float32) *sparse {
	a := &sparse{rows: len(counted), columns: len(m.hashes), starts: make([]int, 1, len(counted)+1)}
	for _, c := range counted {
		index, value := m.weigh(c)
		a.index, a.value = append(a.index, index...), append(a.value, value...)
		a.starts = append(a.starts, len(a.index))
	}
	return a
}

// directions returns the leading right singular vectors of a, one column each, as long as their singular values.
func directions(ctx context.Context, a *sparse, dimension int) (table, error) {
	width := min(dimension+oversampling, min(a.rows, a.columns))
	transposed := a.transposed()
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	x := newTable(a.columns, width)
	for i := range x.data {
		x.data[i] = float32(random.NormFloat64())
	}
	y := a.times(x)
	for range rounds {
		if err := ctx.Err(); err != nil {
			return table{}, err
		}
		if err := orthonormalise(&y); err != nil {
			return table{}, err
		}
		x = transposed.times(y)
		if err := orthonormalise(&x); err != nil {
			return table{}, err
		}
		y = a.times(x)
	}
	if err := orthonormalise(&y); err != nil {
		return table{}, err
	}
	// a ≈ y·(yᵀ·a); the right singular vectors of yᵀ·a are those of a.
	x = transposed.times(y)
	values, vectors, err := gramEigen(x)
	if err != nil {
		return table{}, err
	}
	kept := 0
	for kept < min(dimension, len(values)) && values[kept] > 1e-9*values[0] {
		kept++
	}
	// A direction counts by its singular value, so that what is common to many texts counts more than what tells two
	// apart: the singular vector is the column of x turned, divided by that value, and so it cancels out.
	turn := newTable(x.columns, kept)
	for j := range kept {
		for i := range x.columns {
			turn.row(i)[j] = float32(vectors.At(i, j))
		}
	}
	return product(x, turn), nil
}

// orthonormalise makes the columns of t orthonormal, through the eigenvectors of tᵀ·t. Directions that are not there
// become zero.
func orthonormalise(t *table) error {
	values, vectors, err := gramEigen(*t)
	if err != nil {
		return err
	}
	turn := newTable(t.columns, t.columns)
	for j := range t.columns {
		if values[j] <= 1e-10*values[0] {
			continue
		}
		for i := range t.columns {
			turn.row(i)[j] = float32(vectors.At(i, j) / math.Sqrt(values[j]))
		}
	}
	*t = product(*t, turn)
	return nil
}

// gramEigen returns the eigenvalues of tᵀ·t, largest first, and its eigenvectors.
func gramEigen(t table) ([]float64, *mat.Dense, error) {
	gram := newTable(t.columns, t.columns)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, t.general(), t.general(), 0, gram.general())
	symmetric := mat.NewSymDense(t.columns, nil)
	for i := range t.columns {
		for j := i; j < t.columns; j++ {
			symmetric.SetSym(i, j, float64(gram.row(i)[j]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric, true) {
		return nil, nil, errors.New("no eigenvectors found")
	}
	values := eigen.Values(nil) // ascending
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	n := len(values)
	slices.Reverse(values)
	turned := mat.NewDense(n, n, nil)
	for j := range n {
		for i := range n {
			turned.Set(i, j, vectors.At(i, n-1-j))
		}
	}
	if values[0] <= 0 {
		return nil, nil, ErrTooFew
	}
	return values, turned, nil
}

func product(a, b table) table {
	out := newTable(a.rows, b.columns)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a.general(), b.general(), 0, out.general())
	return out
}
