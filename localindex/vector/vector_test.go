package vector

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// random draws n vectors of a dimension from a normal distribution.
func random(seed uint64, n, dimension int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	out := make([]float32, n*dimension)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// clustered draws vectors that lie in tight groups, as those of real pictures do.
func clustered(seed uint64, n, dimension, groups int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	centres := random(seed+1, groups, dimension)
	out := make([]float32, n*dimension)
	for i := range n {
		g := rng.IntN(groups)
		for d := range dimension {
			out[i*dimension+d] = centres[g*dimension+d] + 0.3*float32(rng.NormFloat64())
		}
	}
	return out
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func TestExactFindsWhatSortingAllFinds(t *testing.T) {
	for _, c := range []struct{ n, dimension, k int }{{1, 1, 1}, {3, 5, 10}, {200, 17, 1}, {200, 33, 20}, {50, 8, 50}} {
		t.Run(fmt.Sprintf("%d of %d×%d", c.k, c.n, c.dimension), func(t *testing.T) {
			vectors, query := random(1, c.n, c.dimension), random(2, 1, c.dimension)
			want := make([]uint32, c.n)
			scores := make([]float64, c.n)
			for i := range want {
				want[i] = uint32(i)
				scores[i] = cosine(query, vectors[i*c.dimension:(i+1)*c.dimension])
			}
			slices.SortFunc(want, func(a, b uint32) int {
				if scores[a] > scores[b] {
					return -1
				}
				return 1
			})
			want = want[:min(c.k, c.n)]
			x, err := NewExact(c.dimension, vectors)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint32
			for _, h := range x.Search(query, c.k) {
				got = append(got, h.Key)
				if math.Abs(float64(h.Score)-scores[h.Key]) > 1e-5 {
					t.Errorf("score of %d is %g, want %g", h.Key, h.Score, scores[h.Key])
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEqualScoresComeInOrderOfTheirKeys(t *testing.T) {
	x, err := NewExact(2, []float32{1, 0, 0, 1, 2, 0, 3, 0})
	if err != nil {
		t.Fatal(err)
	}
	want := []Hit{{0, 1}, {2, 1}, {3, 1}}
	if diff := cmp.Diff(want, x.Search([]float32{5, 0}, 3)); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

func TestQueriesThatCannotBeAsked(t *testing.T) {
	exact, err := NewExact(3, random(1, 10, 3))
	if err != nil {
		t.Fatal(err)
	}
	empty, err := NewExact(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for name, x := range map[string]Index{"exact": exact, "hnsw": NewHNSW(exact)} {
		for _, q := range [][]float32{nil, {1}, {1, 2, 3, 4}, {nan, 1, 2}} {
			if hits := x.Search(q, 3); hits != nil {
				t.Errorf("%s: query %v finds %v, want nothing", name, q, hits)
			}
		}
		if hits := x.Search([]float32{1, 2, 3}, 0); hits != nil {
			t.Errorf("%s: none asked, got %v", name, hits)
		}
	}
	for name, x := range map[string]Index{"exact": empty, "hnsw": NewHNSW(empty)} {
		if hits := x.Search([]float32{1, 2, 3}, 3); hits != nil {
			t.Errorf("empty %s index finds %v", name, hits)
		}
	}
}

func TestVectorsThatCannotBeIndexed(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		dimension int
		vectors   []float32
	}{
		"no dimension":    {0, nil},
		"huge dimension":  {MaxDimension + 1, nil},
		"half a vector":   {3, []float32{1, 2, 3, 4}},
		"infinite number": {2, []float32{1, inf}},
	} {
		if _, _, err := Build(c.dimension, c.vectors, Auto); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	if _, _, err := Build(1, []float32{1}, "ivf"); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown kind: error %v, want ErrInvalid", err)
	}
}

func TestBuildSaysWhatItBuilt(t *testing.T) {
	vectors := clustered(3, 600, 16, 40)
	for _, c := range []struct{ want, kind Kind }{{Auto, Exact}, {"", Exact}, {Exact, Exact}, {HNSW, HNSW}} {
		x, report, err := Build(16, slices.Clone(vectors), c.want)
		if err != nil {
			t.Fatal(err)
		}
		if x.Kind() != c.kind || report.Kind != c.kind {
			t.Errorf("asked for %q: index is %q and says %q, want %q", c.want, x.Kind(), report.Kind, c.kind)
		}
		if x.Len() != 600 || x.Dimension() != 16 {
			t.Errorf("index of %d×%d, want 600×16", x.Len(), x.Dimension())
		}
		if report.Recall < 0.5 || report.Recall > 1 || c.kind == Exact && report.Recall != 1 {
			t.Errorf("%s: recall %g", c.kind, report.Recall)
		}
	}
}

func TestRecallCountsWhatIsLost(t *testing.T) {
	exact, err := NewExact(8, random(4, 100, 8))
	if err != nil {
		t.Fatal(err)
	}
	if got := Recall(exact, exact); got != 1 {
		t.Errorf("recall of the exact index is %g, want 1", got)
	}
	if got := Recall(forgetful{exact}, exact); math.Abs(got-0.75) > 1e-9 {
		t.Errorf("recall of an index that forgets 5 of 20 is %g, want 0.75", got)
	}
}

// forgetful loses the last quarter of all hits.
type forgetful struct{ Index }

func (f forgetful) Search(q []float32, k int) []Hit { return f.Index.Search(q, k)[:k*3/4] }

func TestHNSWScoresExactly(t *testing.T) {
	vectors := append(clustered(5, 300, 12, 20), make([]float32, 12)...) // the last has no direction
	exact, err := NewExact(12, vectors)
	if err != nil {
		t.Fatal(err)
	}
	graph := NewHNSW(exact)
	for q := range 20 {
		query := exact.Vector(uint32(q * 15))
		hits := graph.Search(query, 10)
		if len(hits) == 0 || hits[0].Key != exact.Search(query, 1)[0].Key {
			t.Errorf("vector %d does not find itself first: %v", q*15, hits)
		}
		if !slices.IsSortedFunc(hits, byScore) {
			t.Errorf("hits are not in order: %v", hits)
		}
		for _, h := range hits {
			if want := cosine(query, exact.Vector(h.Key)); math.Abs(want-float64(h.Score)) > 1e-5 {
				t.Errorf("score of %d is %g, want %g", h.Key, h.Score, want)
			}
		}
	}
}

func TestSearchFromManyGoroutines(t *testing.T) {
	exact, err := NewExact(16, clustered(6, 400, 16, 30))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []Index{exact, NewHNSW(exact)} {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 20 {
					query := exact.Vector(uint32(g*40 + i))
					if hits := x.Search(query, 5); len(hits) != 5 {
						t.Errorf("%s: %d hits, want 5", x.Kind(), len(hits))
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestFileGivesTheIndexBack(t *testing.T) {
	for _, kind := range []Kind{Exact, HNSW} {
		x, _, err := Build(7, random(7, 60, 7), kind)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "vectors.bin")
		if err := WriteFile(path, x); err != nil {
			t.Fatal(err)
		}
		back, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if back.Kind() != kind || back.Len() != 60 || back.Dimension() != 7 {
			t.Errorf("read a %s index of %d×%d, want %s of 60×7", back.Kind(), back.Len(), back.Dimension(), kind)
		}
		query := random(8, 1, 7)
		if kind == Exact {
			if diff := cmp.Diff(x.Search(query, 9), back.Search(query, 9)); diff != "" {
				t.Errorf("hits (-written +read):\n%s", diff)
			}
		}
		before, _ := Encode(x)
		after, _ := Encode(back)
		if !slices.Equal(before, after) {
			t.Errorf("%s: the file changes when it is read and written again", kind)
		}
	}
}

func TestEveryChangedByteIsSeen(t *testing.T) {
	x, _, err := Build(3, random(9, 5, 3), Exact)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Encode(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 0x10
		if _, err := Decode(bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d changed: error %v, want ErrDamaged", i, err)
		}
		if _, err := Decode(whole[:i]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at byte %d: error %v, want ErrDamaged", i, err)
		}
	}
	if _, err := Decode(append(slices.Clone(whole), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte too many: error %v, want ErrDamaged", err)
	}
	path := filepath.Join(t.TempDir(), "bad.bin")
	if err := os.WriteFile(path, whole[:40], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("short file: error %v, want ErrDamaged", err)
	}
	if _, err := ReadFile(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v, want ErrNotExist", err)
	}
}

func TestParseKind(t *testing.T) {
	for in, want := range map[string]Kind{"": Auto, "auto": Auto, "exact": Exact, "hnsw": HNSW} {
		if got, err := ParseKind(in); got != want || err != nil {
			t.Errorf("%q is %q, error %v; want %q", in, got, err, want)
		}
	}
	if _, err := ParseKind("HNSW "); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

func FuzzDecode(f *testing.F) {
	for _, kind := range []Kind{Exact, HNSW} {
		x, _, err := Build(4, random(10, 6, 4), kind)
		if err != nil {
			f.Fatal(err)
		}
		data, err := Encode(x)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
		f.Add(data[:headerSize], true)
	}
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, data []byte, sign bool) {
		if sign && len(data) >= headerSize { // a right checksum lets the rest of the reader be tried
			sum := checksum(data)
			copy(data[sumAt:], sum[:])
		}
		x, err := Decode(data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("error %v is not ErrDamaged", err)
			}
			return
		}
		x.Search(make([]float32, x.Dimension()), 3)
		if again, err := Encode(x); err != nil || !slices.Equal(again, data) {
			t.Errorf("an accepted file is not what would be written: %v", err)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		exact, err := NewExact(256, clustered(11, n, 256, n/8))
		if err != nil {
			b.Fatal(err)
		}
		query := random(12, 1, 256)
		b.Run(fmt.Sprintf("exact/%d", n), func(b *testing.B) {
			for b.Loop() {
				exact.Search(query, 20)
			}
		})
		if n > 1000 && testing.Short() {
			continue
		}
		graph := NewHNSW(exact)
		b.Run(fmt.Sprintf("hnsw/%d", n), func(b *testing.B) {
			for b.Loop() {
				graph.Search(query, 20)
			}
			b.ReportMetric(Recall(graph, exact), "recall")
		})
	}
}
