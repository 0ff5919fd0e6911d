package tour

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"docent/localindex/gallery"
)

// rooms are three halls in a row, and a fourth that only a door with steps leads to.
func rooms() *gallery.Gallery {
	g := &gallery.Gallery{
		Halls: []gallery.Hall{
			{ID: "a", Doors: []gallery.Door{{To: "b", At: gallery.Point{10, 5}, StepFree: true}, {To: "d", At: gallery.Point{5, 10}}}},
			{ID: "b", Doors: []gallery.Door{{To: "c", At: gallery.Point{20, 5}, StepFree: true}}}, {ID: "c"}, {ID: "d", Floor: 1},
		},
		Kiosks: []gallery.Place{{ID: "k1", Hall: "a", At: gallery.Point{0, 5}}, {ID: "k2", Hall: "c", At: gallery.Point{29, 5}}},
	}
	for i, at := range []gallery.Point{{2, 2}, {8, 8}, {12, 2}, {18, 8}, {22, 2}, {28, 8}, {5, 12}} {
		hall := []string{"a", "a", "b", "b", "c", "c", "d"}[i]
		g.Exhibits = append(g.Exhibits, gallery.Exhibit{ID: fmt.Sprintf("e%d", i), Hall: hall, At: at, Minutes: 3, Keywords: []string{fmt.Sprintf("word%d", i), "分形"}[:1+i%2]})
	}
	return g
}

func stops(t Tour) []string {
	var out []string
	for _, s := range t.Stops {
		out = append(out, s.Exhibit)
	}
	return out
}

func TestPlan(t *testing.T) {
	tests := []struct {
		name     string
		request  Request
		has, not []string
		most     int
	}{
		{"ten minutes see three at most", Request{Minutes: 10, Kiosk: "k1"}, []string{"e0"}, []string{"e5"}, 3},
		{"from the other kiosk", Request{Minutes: 8, Kiosk: "k2"}, []string{"e4"}, []string{"e0"}, 2},
		{"interests come first", Request{Minutes: 8, Kiosk: "k1", Interests: []string{"word3"}}, []string{"e3"}, nil, 2},
		{"interest in Chinese", Request{Minutes: 60, Kiosk: "k1", Interests: []string{"分形"}}, []string{"e1", "e3", "e5"}, nil, 7},
		{"an hour sees all", Request{Minutes: 60, Kiosk: "k1"}, []string{"e6"}, nil, 7},
		{"step-free leaves the hall out", Request{Minutes: 60, Kiosk: "k1", StepFree: true}, []string{"e5"}, []string{"e6"}, 6},
		{"seen is left out", Request{Minutes: 60, Kiosk: "k1", Seen: []string{"e0", "e1"}}, []string{"e2"}, []string{"e0", "e1"}, 5},
		{"one hall", Request{Minutes: 60, Hall: "b"}, []string{"e2", "e3"}, []string{"e0"}, 2},
		{"crowded hall is left for others", Request{Minutes: 8, Kiosk: "k1", Crowd: map[string]float64{"a": 1}}, []string{"e2"}, nil, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tour, err := Plan(rooms(), tt.request)
			if err != nil {
				t.Fatal(err)
			}
			got := stops(tour)
			for _, id := range tt.has {
				if !slices.Contains(got, id) {
					t.Errorf("%v lacks %s", got, id)
				}
			}
			for _, id := range tt.not {
				if slices.Contains(got, id) {
					t.Errorf("%v has %s", got, id)
				}
			}
			if len(got) > tt.most || tour.Minutes > float64(tt.request.Minutes) {
				t.Errorf("%d stops in %.1f minutes", len(got), tour.Minutes)
			}
			sum := 0.0
			for _, s := range tour.Stops {
				if s.Reason == "" || s.Walk < 0 || s.Walk > 0 && s.Metres == 0 {
					t.Errorf("stop %+v", s)
				}
				sum += s.Walk/60 + s.Minutes
			}
			if math.Abs(sum-tour.Minutes) > 1e-9 {
				t.Errorf("stops take %.2f minutes, the tour %.2f", sum, tour.Minutes)
			}
		})
	}
}

func TestPlanErrors(t *testing.T) {
	for _, tt := range []struct {
		g    *gallery.Gallery
		r    Request
		want error
	}{
		{rooms(), Request{Minutes: 0}, ErrMinutes}, {rooms(), Request{Minutes: 10000}, ErrMinutes}, {&gallery.Gallery{}, Request{Minutes: 30}, ErrNoStart},
		{rooms(), Request{Minutes: 30, Hall: "none"}, ErrNothing}, {rooms(), Request{Minutes: 30, Kiosk: "k1", Hall: "d", StepFree: true}, ErrNothing},
	} {
		if _, err := Plan(tt.g, tt.r); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.r, err, tt.want)
		}
	}
}

func TestWaysGoThroughDoors(t *testing.T) {
	g := rooms()
	from := spot{"a", gallery.Point{0, 5}}
	got := newGraph(g.Halls, false).seconds(from, []spot{{"c", gallery.Point{25, 5}}, {"d", gallery.Point{5, 12}}, {"x", gallery.Point{}}})
	if want := 25 * detour / metresPerSecond; math.Abs(got[0]-want) > 1e-9 {
		t.Errorf("to c: %.2f s, want %.2f", got[0], want)
	}
	if want := (math.Hypot(5, 5)+2)*detour/metresPerSecond + floorSeconds; math.Abs(got[1]-want) > 1e-9 {
		t.Errorf("to d: %.2f s, want %.2f", got[1], want)
	}
	if !math.IsInf(got[2], 1) {
		t.Errorf("to nowhere: %.2f s", got[2])
	}
}

// TestPlanAgainstAllOrders holds the heuristic against every order of every choice, on random halls of seven exhibits.
func TestPlanAgainstAllOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sum, worst := 0.0, 1.0
	const rounds = 100
	for range rounds {
		g := rooms()
		for i := range g.Exhibits {
			g.Exhibits[i].At = gallery.Point{r.Float64() * 30, r.Float64() * 10}
			g.Exhibits[i].Minutes = 1 + float64(r.IntN(6))
		}
		request := Request{Minutes: 8 + r.IntN(10), Kiosk: "k1", Interests: []string{"word" + fmt.Sprint(r.IntN(7))}}
		tour, err := Plan(g, request)
		if err != nil {
			t.Fatal(err)
		}
		start, _ := startOf(g, request)
		best := exact(newProblem(g, request, start), nil)
		sum += tour.Worth / best
		worst = min(worst, tour.Worth/best)
	}
	t.Logf("worth of the best: %.4f on average, %.4f at worst", sum/rounds, worst)
	if sum/rounds < 0.99 || worst < 0.8 {
		t.Errorf("worth of the best: %.4f on average, %.4f at worst", sum/rounds, worst)
	}
}

// exact is the worth of the best walk that begins with order.
func exact(p *problem, order []int) float64 {
	best, seconds := p.value(order)
	if seconds > p.budget {
		return 0
	}
	for i := 1; i < len(p.walk); i++ {
		if !slices.Contains(order, i) {
			best = max(best, exact(p, append(slices.Clone(order), i)))
		}
	}
	return best
}

func BenchmarkPlan24(b *testing.B) {
	g := rooms()
	for i := range 17 {
		e := g.Exhibits[i%7]
		e.ID, e.At = fmt.Sprintf("f%d", i), gallery.Point{e.At[0] + 1, e.At[1] - 1}
		g.Exhibits = append(g.Exhibits, e)
	}
	for b.Loop() {
		if _, err := Plan(g, Request{Minutes: 60, Kiosk: "k1"}); err != nil {
			b.Fatal(err)
		}
	}
}
