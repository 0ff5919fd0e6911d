package feature

import (
	"errors"
	"fmt"
	"math"

	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/mat"
)

// Projection shortens vectors by principal component analysis.
type Projection struct {
	In, Out int
	Mean    []float32 // In numbers
	Rows    []float32 // Out rows of In numbers, orthonormal
}

// TrainProjection finds the out directions (at most) in which vectors vary most. All must have one length. It works
// on the matrix of their inner products, so it takes time with the cube of their number: give at most some 1,500.
func TrainProjection(vectors [][]float32, out int) (Projection, error) {
	n := len(vectors)
	if n == 0 {
		return Projection{}, errors.New("train projection: no vectors")
	}
	in := len(vectors[0])
	p := Projection{In: in, Mean: make([]float32, in)}
	for i, v := range vectors {
		if len(v) != in {
			return Projection{}, fmt.Errorf("train projection: vector %d has %d numbers, want %d", i, len(v), in)
		}
		vek32.Add_Inplace(p.Mean, v)
	}
	vek32.MulNumber_Inplace(p.Mean, 1/float32(n))
	centred := make([][]float32, n)
	for i, v := range vectors {
		centred[i] = vek32.Sub(v, p.Mean)
	}
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, float64(vek32.Dot(centred[i], centred[j])))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return Projection{}, errors.New("train projection: eigenvalues do not converge")
	}
	values := eigen.Values(nil) // ascending
	var directions mat.Dense
	eigen.VectorsTo(&directions)
	least := 1e-6 * math.Max(values[n-1], 0)
	for k := n - 1; k >= 0 && p.Out < out && values[k] > least; k-- {
		row := make([]float32, in)
		for i := range n {
			vek32.Add_Inplace(row, vek32.MulNumber(centred[i], float32(directions.At(i, k))))
		}
		unit(row)
		p.Rows = append(p.Rows, row...)
		p.Out++
	}
	if p.Out == 0 { // all vectors are the same: keep one direction so that the index has a dimension
		row := make([]float32, in)
		row[0] = 1
		p.Rows, p.Out = row, 1
	}
	return p, nil
}

// block is how many numbers of each vector are worked on at a time, so that those of all vectors stay in the cache
// while the rows pass by once.
const block = 2048

// Apply projects vectors of In numbers each and scales the results to length 1. A nil vector stays nil.
func (p Projection) Apply(vectors [][]float32) [][]float32 {
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		if v != nil {
			out[i] = make([]float32, p.Out)
		}
	}
	centred := make([]float32, len(vectors)*block)
	for from := 0; from < p.In; from += block {
		to := min(from+block, p.In)
		n := to - from
		for i, v := range vectors {
			if v != nil {
				vek32.Sub_Into(centred[i*block:i*block+n], v[from:to], p.Mean[from:to])
			}
		}
		for r := range p.Out {
			row := p.Rows[r*p.In+from : r*p.In+to]
			for i := range vectors {
				if out[i] != nil {
					out[i][r] += vek32.Dot(centred[i*block:i*block+n], row)
				}
			}
		}
	}
	for _, v := range out {
		unit(v)
	}
	return out
}
