package tour

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to Place
		stepFree bool
		halls    []string
		metres   float64
		err      error
	}{
		{"within a hall", Place{Exhibit: "e0"}, Place{Exhibit: "e1"}, false, []string{"a"}, math.Hypot(6, 6) * detour, nil},
		{"through two doors", Place{Kiosk: "k1"}, Place{Exhibit: "e4"}, true, []string{"a", "b", "c"}, (10 + 10 + math.Hypot(2, 3)) * detour, nil},
		{"to the nearest of a hall", Place{Exhibit: "e1"}, Place{Hall: "b"}, false, []string{"a", "b"}, (math.Hypot(2, 3) + math.Hypot(2, 3)) * detour, nil},
		{"up the stairs", Place{Kiosk: "k1"}, Place{Exhibit: "e6"}, false, []string{"a", "d"}, (math.Hypot(5, 5)+2)*detour + floorSeconds*metresPerSecond, nil},
		{"no stairs", Place{Kiosk: "k1"}, Place{Exhibit: "e6"}, true, nil, 0, ErrNoWay},
		{"from nowhere", Place{}, Place{Exhibit: "e6"}, true, nil, 0, ErrNoPlace},
		{"to nowhere", Place{Kiosk: "k1"}, Place{Exhibit: "x"}, true, nil, 0, ErrNoPlace},
	} {
		w, err := Find(rooms(), tt.from, tt.to, tt.stepFree)
		if !errors.Is(err, tt.err) || cmp.Diff(tt.halls, w.Halls) != "" || math.Abs(w.Metres-tt.metres) > 1e-6 {
			t.Errorf("%s: %+v %v, want %v, %v m, %v", tt.name, w, err, tt.halls, tt.metres, tt.err)
		}
	}
}

func TestNext(t *testing.T) {
	g := rooms()
	g.Exhibits[0].Related = []string{"e3"}
	for _, tt := range []struct {
		name    string
		request Request
		want    []string
	}{
		{"nearest first", Request{Start: "e4"}, []string{"e3", "e5"}},
		{"related may be further", Request{Start: "e0"}, []string{"e3", "e1"}},
		{"not what was seen", Request{Start: "e0", Seen: []string{"e1", "e3"}}, []string{"e2", "e4"}},
		{"no steps", Request{Start: "e0", Seen: []string{"e1", "e2", "e3", "e4"}, StepFree: true}, []string{"e5"}},
		{"what was asked for", Request{Kiosk: "k1", Interests: []string{"word3"}}, []string{"e3", "e0"}},
	} {
		near, err := Next(g, tt.request, 2)
		var got []string
		for _, n := range near {
			got = append(got, n.Exhibit)
		}
		if d := cmp.Diff(tt.want, got); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, d)
		}
	}
	if _, err := Next(g, Request{Start: "e0", Only: map[string]bool{}}, 2); !errors.Is(err, ErrNothing) {
		t.Errorf("%v, want ErrNothing", err)
	}
}
