package vision

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/vision/feature"
)

// box is an upright outline.
func box(left, top, right, bottom float64) []Point {
	return []Point{{left, top}, {right, top}, {right, bottom}, {left, bottom}}
}

func TestDecide(t *testing.T) {
	centre, corner, side := box(0.3, 0.3, 0.7, 0.7), box(-0.3, -0.3, 0.25, 0.25), box(0.72, 0.3, 0.98, 0.7)
	for _, c := range []struct {
		name     string
		found    []Candidate // most inliers first
		decision Decision
		cards    []string
	}{
		{"nothing", nil, DecisionUnknown, nil},
		{"too little", []Candidate{{ExhibitID: "a", Inliers: 7, Outline: centre}}, DecisionUnknown, nil},
		{"a guess", []Candidate{{ExhibitID: "a", Inliers: 8, Outline: centre}}, DecisionChoose, []string{"a"}},
		{"two guesses", []Candidate{{ExhibitID: "a", Inliers: 11, Outline: centre}, {ExhibitID: "b", Inliers: 9, Outline: centre}, {ExhibitID: "c", Inliers: 7, Outline: side}},
			DecisionChoose, []string{"a", "b"}},
		{"sure", []Candidate{{ExhibitID: "a", Inliers: 12, Outline: centre}, {ExhibitID: "b", Inliers: 6, Outline: centre}}, DecisionMatch, []string{"a"}},
		{"far ahead of a look-alike", []Candidate{{ExhibitID: "a", Inliers: 50, Outline: centre}, {ExhibitID: "b", Inliers: 20, Outline: centre}},
			DecisionMatch, []string{"a"}},
		{"a copy", []Candidate{{ExhibitID: "a", Inliers: 50, Outline: centre}, {ExhibitID: "b", Inliers: 40, Outline: centre}},
			DecisionChoose, []string{"a", "b"}},
		{"four copies", []Candidate{{ExhibitID: "a", Inliers: 50, Outline: centre}, {ExhibitID: "b", Inliers: 49, Outline: centre},
			{ExhibitID: "c", Inliers: 48, Outline: centre}, {ExhibitID: "d", Inliers: 47, Outline: centre}}, DecisionChoose, []string{"a", "b", "c"}},
		{"one of the prints on a sheet", []Candidate{{ExhibitID: "sheet", Inliers: 50, Outline: box(-0.8, -0.8, 0.9, 0.9)}, {ExhibitID: "print", Inliers: 48, Outline: box(0.1, 0.1, 0.85, 0.85)}},
			DecisionMatch, []string{"print"}},
		{"the sheet with that print", []Candidate{{ExhibitID: "sheet", Inliers: 200, Outline: box(0.1, 0.1, 0.9, 0.9)}, {ExhibitID: "print", Inliers: 48, Outline: box(0.1, 0.1, 0.5, 0.5)}},
			DecisionMatch, []string{"sheet"}},
		{"more inliers in the corner", []Candidate{{ExhibitID: "a", Inliers: 40, Outline: corner}, {ExhibitID: "b", Inliers: 20, Outline: centre}},
			DecisionMatch, []string{"b", "a"}},
		{"the halves of a diptych", []Candidate{{ExhibitID: "left", Inliers: 60, Outline: box(0.1, 0.2, 0.5, 0.8)}, {ExhibitID: "right", Inliers: 30, Outline: box(0.52, 0.2, 0.88, 0.8)}},
			DecisionChoose, []string{"left", "right"}},
		{"a diptych from far aside", []Candidate{{ExhibitID: "left", Inliers: 60, Outline: box(0.1, 0.2, 0.6, 0.8)}, {ExhibitID: "right", Inliers: 30, Outline: box(0.61, 0.21, 0.8, 0.79)}},
			DecisionChoose, []string{"left", "right"}},
		{"a chance beside a plain one", []Candidate{{ExhibitID: "a", Inliers: 107, Outline: box(0.1, 0.2, 0.5, 0.8)}, {ExhibitID: "b", Inliers: 13, Outline: box(0.52, 0.2, 0.88, 0.8)}},
			DecisionMatch, []string{"a", "b"}},
		{"a small work beside a large one", []Candidate{{ExhibitID: "large", Inliers: 60, Outline: box(0.1, 0.2, 0.6, 0.8)}, {ExhibitID: "small", Inliers: 30, Outline: box(0.7, 0.21, 0.9, 0.79)}},
			DecisionMatch, []string{"large", "small"}},
		{"a guess beside a sure one", []Candidate{{ExhibitID: "a", Inliers: 40, Outline: side}, {ExhibitID: "b", Inliers: 9, Outline: centre}},
			DecisionMatch, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			decision, candidates := decide(c.found)
			var cards []string
			for _, k := range candidates {
				cards = append(cards, k.ExhibitID)
			}
			if decision != c.decision || !cmp.Equal(cards, c.cards) {
				t.Errorf("%s with %v, want %s with %v", decision, cards, c.decision, c.cards)
			}
		})
	}
}

func TestConfidenceGrowsWithInliers(t *testing.T) {
	for n := range 60 {
		if a, b := confidence(n), confidence(n+1); a < 0 || b > 1 || b < a {
			t.Fatalf("confidence of %d is %g and of %d is %g", n, a, n+1, b)
		}
	}
	if c := confidence(matchInliers); c < 0.95 {
		t.Errorf("confidence of the least match is %g, want .95 at least", c)
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []Point
		want float64 // area
	}{
		{"inside", box(0.2, 0.2, 0.4, 0.7), 0.1},
		{"cut at a corner", box(-1, -1, 0.5, 0.5), 0.25},
		{"larger than the photo", box(-1, -1, 2, 2), 1},
		{"outside", box(1.1, 0, 2, 1), 0},
		{"a point up", []Point{{0.5, -0.5}, {1, 0.5}, {0.5, 1.5}, {0, 0.5}}, 0.75},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := area(visible(c.in)); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("area %g, want %g", got, c.want)
			}
		})
	}
}

func TestPlausible(t *testing.T) {
	photo, picture := feature.Set{Width: 640, Height: 480}, feature.Set{Width: 400, Height: 300}
	for _, c := range []struct {
		name    string
		outline []Point
		want    bool
	}{
		{"head-on", box(100, 100, 500, 400), true},
		{"turned by 90°", []Point{{400, 50}, {400, 450}, {100, 450}, {100, 50}}, true},
		{"seen from aside", []Point{{100, 100}, {400, 180}, {400, 320}, {100, 400}}, true},
		{"mirrored", []Point{{500, 100}, {100, 100}, {100, 400}, {500, 400}}, false},
		{"not convex", []Point{{100, 100}, {500, 100}, {200, 200}, {100, 400}}, false},
		{"crossed", []Point{{100, 100}, {500, 400}, {500, 100}, {100, 400}}, false},
		{"tiny", box(100, 100, 120, 115), false},
		{"huge", box(-3000, -3000, 3000, 3000), false},
		{"a wedge", []Point{{100, 240}, {500, 100}, {500, 400}, {100, 265}}, false},
		{"a strip", box(0, 100, 640, 130), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := plausible(c.outline, picture, photo); got != c.want {
				t.Errorf("plausible is %v, want %v", got, c.want)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	wide := []float32{0, 0, 100, 0, 100, 100, 0, 100, 50, 60}
	line := []float32{0, 0, 50, 50, 100, 100, 150, 150, 200, 201}
	spot := []float32{50, 50, 51, 50, 51, 51, 50, 51, 52, 52}
	all := []bool{true, true, true, true, true}
	for name, c := range map[string]struct {
		places []float32
		want   bool
	}{"wide": {wide, true}, "on a line": {line, false}, "on a spot": {spot, false}} {
		if got := spread(c.places, all); got != c.want {
			t.Errorf("%s: spread is %v, want %v", name, got, c.want)
		}
	}
}
