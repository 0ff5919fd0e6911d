package dense

import (
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
)

// sparse is a matrix of few numbers, row by row.
type sparse struct {
	rows, columns int
	starts        []int // of each row in index and value; one more than rows
	index         []uint32
	value         []float32
}

// row returns the columns and values of a row.
func (m *sparse) row(i int) ([]uint32, []float32) {
	from, to := m.starts[i], m.starts[i+1]
	return m.index[from:to], m.value[from:to]
}

// transposed is the same matrix, column by column.
func (m *sparse) transposed() *sparse {
	t := &sparse{rows: m.columns, columns: m.rows, starts: make([]int, m.columns+1)}
	t.index, t.value = make([]uint32, len(m.index)), make([]float32, len(m.value))
	for _, c := range m.index {
		t.starts[c+1]++
	}
	for i := range m.columns {
		t.starts[i+1] += t.starts[i]
	}
	next := append([]int(nil), t.starts...)
	for i := range m.rows {
		columns, values := m.row(i)
		for j, c := range columns {
			t.index[next[c]], t.value[next[c]] = uint32(i), values[j]
			next[c]++
		}
	}
	return t
}

// table is a full matrix, row by row.
type table struct {
	rows, columns int
	data          []float32
}

func newTable(rows, columns int) table {
	return table{rows, columns, make([]float32, rows*columns)}
}

func (t table) row(i int) []float32 { return t.data[i*t.columns : (i+1)*t.columns] }

func (t table) general() blas32.General {
	return blas32.General{Rows: t.rows, Cols: t.columns, Stride: t.columns, Data: t.data}
}

// times multiplies: m · x.
func (m *sparse) times(x table) table {
	out := newTable(m.rows, x.columns)
	parallel(m.rows, func(i int) {
		to := blas32.Vector{N: x.columns, Inc: 1, Data: out.row(i)}
		columns, values := m.row(i)
		for j, c := range columns {
			blas32.Axpy(values[j], blas32.Vector{N: x.columns, Inc: 1, Data: x.row(int(c))}, to)
		}
	})
	return out
}

// parallel calls f for 0 … n-1 on all cores and returns when all calls have.
func parallel(n int, f func(int)) {
	workers := min(runtime.GOMAXPROCS(0), max(1, n))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				f(i)
			}
		})
	}
	wg.Wait()
}
