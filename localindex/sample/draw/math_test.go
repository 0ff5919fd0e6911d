package draw

import (
	"math"
	"math/cmplx"
	"testing"

	"docent/localindex/sample/draw/internal/canvas"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestPenroseDeflation(t *testing.T) {
	wave := []halfRhomb{{true, 0, 1, canvas.Polar(1, math.Pi/5)}}
	before := math.Abs(canvas.Area([]complex128{wave[0].a, wave[0].b, wave[0].c}))
	for range 9 {
		var finer []halfRhomb
		for _, h := range wave {
			finer = append(finer, h.deflate()...)
		}
		wave = finer
	}
	area, thin := 0.0, 0
	for _, h := range wave {
		area += math.Abs(canvas.Area([]complex128{h.a, h.b, h.c}))
		if h.thin {
			thin++
		}
		apex := math.Acos(canvas.Dot(h.b-h.a, h.c-h.a) / cmplx.Abs(h.b-h.a) / cmplx.Abs(h.c-h.a))
		want := 3 * math.Pi / 5
		if h.thin {
			want = math.Pi / 5
		}
		if !near(apex, want, 1e-6) {
			t.Fatalf("apex of %v°, want %v°", apex*180/math.Pi, want*180/math.Pi)
		}
	}
	if !near(area, before, 1e-9) {
		t.Errorf("parts cover %v of %v", area, before)
	}
	if ratio := float64(len(wave)-thin) / float64(thin); !near(ratio, math.Phi, 0.01) {
		t.Errorf("%v thick tiles to one thin, want the golden ratio", ratio)
	}
}

func TestPinwheelPartsAreSimilarAndCover(t *testing.T) {
	whole := pinwheel{0, 1i, 2}
	area := 0.0
	for i, p := range whole.parts() {
		short, long := cmplx.Abs(p.s-p.r), cmplx.Abs(p.l-p.r)
		if !near(short, 1/math.Sqrt(5), 1e-12) || !near(long, 2/math.Sqrt(5), 1e-12) || !near(canvas.Dot(p.s-p.r, p.l-p.r), 0, 1e-12) {
			t.Errorf("part %d has legs %v and %v", i, short, long)
		}
		area += math.Abs(canvas.Area([]complex128{p.r, p.s, p.l}))
	}
	if !near(area, 1, 1e-12) {
		t.Errorf("parts cover %v, want 1", area)
	}
}

func TestGirihPatchHasNoGapsOrOverlaps(t *testing.T) {
	tiles := growGirih(seeded(11102), func(p complex128) bool { return cmplx.Abs(p) < 4 }, 200000)
	if len(tiles) < 10 {
		t.Fatalf("%d tiles", len(tiles))
	}
	around := map[girihKey]int{}
	for _, tile := range tiles {
		for i, p := range tile.ring {
			around[keyOf(p)] += girihCorners[tile.name][i]
			if side := cmplx.Abs(tile.ring[(i+1)%len(tile.ring)] - p); !near(side, 1, 1e-9) {
				t.Errorf("%s has a side of %v", tile.name, side)
			}
		}
		if n := len(tile.straps()); n != len(tile.ring) {
			t.Errorf("%s has %d straps for %d sides", tile.name, n, len(tile.ring))
		}
	}
	for key, steps := range around {
		inner := math.Hypot(float64(key[0]), float64(key[1])) < 390
		if steps > 10 || inner && steps != 10 {
			t.Errorf("corner %v is filled to %d of 10 steps", key, steps)
		}
	}
}

func TestVoronoiCellsCoverTheFrame(t *testing.T) {
	rng := seeded(1)
	sites := scatter(rng, 200, 0, 100+80i, func(complex128) float64 { return 1 })
	area := 0.0
	cells := voronoi(sites, canvas.Rect(0, 100+80i))
	for i, cell := range cells {
		area += math.Abs(canvas.Area(cell))
		for j, other := range sites {
			if cmplx.Abs(mean(cell)-other) < cmplx.Abs(mean(cell)-sites[i])-1e-9 {
				t.Errorf("the middle of cell %d is nearer to site %d", i, j)
			}
		}
	}
	if !near(area, 8000, 1e-6) {
		t.Errorf("cells cover %v, want 8000", area)
	}
}

func TestHilbertCurveVisitsEveryCellOnce(t *testing.T) {
	const order = 5
	seen := map[[2]int]bool{}
	px, py := hilbertPoint(order, 0)
	seen[[2]int{px, py}] = true
	for d := 1; d < 1<<(2*order); d++ {
		x, y := hilbertPoint(order, d)
		if (x-px)*(x-px)+(y-py)*(y-py) != 1 {
			t.Fatalf("step %d goes from %d,%d to %d,%d", d, px, py, x, y)
		}
		seen[[2]int{x, y}] = true
		px, py = x, y
	}
	if len(seen) != 1<<(2*order) {
		t.Errorf("%d cells visited, want %d", len(seen), 1<<(2*order))
	}
}

func TestDragonCurveNeverRunsAlongItself(t *testing.T) {
	const folds = 10
	path := dragonPath(0, 32, folds)
	if got := path[len(path)-1]; cmplx.Abs(got-32) > 1e-6 {
		t.Errorf("ends at %v, want 32", got)
	}
	seen := map[[2]int]bool{}
	for i := 1; i < len(path); i++ {
		if side := cmplx.Abs(path[i] - path[i-1]); !near(side, 1, 1e-9) {
			t.Fatalf("step %d is %v long", i, side)
		}
		m := path[i] + path[i-1]
		key := [2]int{int(math.Round(real(m))), int(math.Round(imag(m)))}
		if seen[key] {
			t.Fatalf("step %d runs along an earlier one", i)
		}
		seen[key] = true
	}
}

func TestRule30CentreColumn(t *testing.T) {
	// OEIS A051023.
	want := []bool{true, true, false, true, true, true, false, false, true, true, false, false, false, true, false, true, true}
	for y, row := range rule30Rows(3, len(want), 1) {
		if row[1] != want[y] {
			t.Errorf("row %d is %v, want %v", y, row[1], want[y])
		}
	}
}

func TestGasketKeepsDescartesTheorem(t *testing.T) {
	// In a mutually tangent four, (a+b+c+d)² = 2(a²+b²+c²+d²).
	a, b, c, d := 11.0, 14.0, 15.0, -6.0
	if got, want := (a+b+c+d)*(a+b+c+d), 2*(a*a+b*b+c*c+d*d); got != want {
		t.Fatalf("the first four give %v and %v", got, want)
	}
	next := other(bend{a, 0}, bend{b, 0}, bend{c, 0}, bend{d, 0})
	if next.k != 86 {
		t.Errorf("the circle between 11, 14 and 15 has curvature %v, want 86", next.k)
	}
}

func TestLorenzPathsPart(t *testing.T) {
	a, b := lorenzPath(-6.2, -7.9, 22, 0.0032, 12000), lorenzPath(-6.2+1e-5, -7.9, 22, 0.0032, 12000)
	widest := 0.0
	for i := range a {
		d := math.Abs(a[i][0] - b[i][0])
		if i < 1500 && d > 0.1 {
			t.Fatalf("parted by %v at step %d already", d, i)
		}
		widest = max(widest, d)
		if math.Abs(a[i][0]) > 25 || a[i][2] < 0 || a[i][2] > 55 {
			t.Fatalf("left the attractor at step %d: %v", i, a[i])
		}
	}
	if widest < 15 {
		t.Errorf("the paths are never more than %v apart", widest)
	}
}

func TestEscapeAndNewton(t *testing.T) {
	for p, inside := range map[complex128]bool{0: true, -1: true, -0.1 + 0.7i: true, 0.5: false, -2.1: false, 1i * 1.1: false} {
		if n, _ := escape(p, 500); (n < 0) != inside {
			t.Errorf("%v: %v steps, inside %v", p, n, inside)
		}
	}
	roots := []complex128{1, -0.5 + 0.8i, -0.5 - 0.8i}
	for i, r := range roots {
		if got, _ := newtonSteps(r+0.05, roots); got != i {
			t.Errorf("a start beside root %d ends at root %d", i, got)
		}
	}
}
