package vector

import (
	"math/rand"
	"sync"

	"github.com/coder/hnsw"
	"github.com/viterin/vek/vek32"
)

// The graph's parameters: as many links and as wide a search as still pay, since recall is what coder/hnsw lacks.
const (
	hnswLinks    = 32
	hnswEf       = 400
	hnswSeed     = 1
	hnswOverask  = 4 // candidates asked per hit wanted; they are re-scored exactly
	hnswMinAsked = 64
)

// HNSWIndex walks a graph of neighbours and re-scores what it finds exactly.
//
// The graph is not stored: it is built again from the vectors, with a fixed seed, when the index is opened, because
// the library's own import trusts every length it reads.
type HNSWIndex struct {
	exact *ExactIndex
	mu    sync.RWMutex // the library says nothing of concurrent searches; they only read
	graph *hnsw.Graph[uint32]
}

var _ Index = (*HNSWIndex)(nil)

// NewHNSW makes a graph over the vectors of an exact index. Vectors of length 0 are left out of the graph, as they
// have no direction. Building takes about 1 ms a vector at 256 dimensions.
func NewHNSW(exact *ExactIndex) *HNSWIndex {
	g := hnsw.NewGraph[uint32]()
	g.M = hnswLinks
	g.EfSearch = hnswEf
	g.Rng = rand.New(rand.NewSource(hnswSeed))
	g.Distance = func(a, b []float32) float32 { return 1 - vek32.Dot(a, b) }
	for i := range exact.Len() {
		v := exact.Vector(uint32(i))
		if vek32.Dot(v, v) == 0 {
			continue
		}
		g.Add(hnsw.MakeNode(uint32(i), v))
	}
	return &HNSWIndex{exact: exact, graph: g}
}

// Len is the number of vectors.
func (x *HNSWIndex) Len() int { return x.exact.Len() }

// Dimension is the length of each vector.
func (x *HNSWIndex) Dimension() int { return x.exact.dimension }

// Kind is HNSW.
func (x *HNSWIndex) Kind() Kind { return HNSW }

// Search returns up to k vectors near query, best first, with exact scores.
func (x *HNSWIndex) Search(query []float32, k int) []Hit {
	q, ok := x.exact.unit(query)
	if !ok || k < 1 || x.graph.Len() == 0 {
		return nil
	}
	x.mu.RLock()
	nodes := x.graph.Search(q, max(hnswOverask*k, hnswMinAsked))
	x.mu.RUnlock()
	hits := make([]Hit, len(nodes))
	for i, n := range nodes {
		hits[i] = Hit{Key: n.Key, Score: vek32.Dot(q, n.Value)}
	}
	return best(hits, k)
}
