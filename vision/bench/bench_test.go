package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"docent/localindex/vector"
	"docent/vision/synthetic"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		m := synthetic.Invented(rand.New(rand.NewPCG(99, uint64(i))))
		if !gocv.IMWrite(filepath.Join(dir, fmt.Sprintf("%d.png", i)), m) {
			t.Fatal("cannot write a picture")
		}
		m.Close()
	}
	done := make(map[string]bool)
	r, err := Run(t.Context(), Options{
		Sizes: []int{6, 3, 6}, References: dir, Photos: 4, Index: vector.HNSW,
		Progress: func(what string, _, _ int) { done[what] = true },
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Photos != 4 || r.OtherPhotos != 2 || len(r.Collections) != 2 {
		t.Fatalf("report %+v, want 4 photos, 2 others, 2 collections", r)
	}
	for i, c := range r.Collections {
		if want := []int{3, 6}[i]; c.References != want || c.Invented != want-2 {
			t.Errorf("collection %d of %d references, %d invented", i, c.References, c.Invented)
		}
		if c.First != 4 || c.False != 0 {
			t.Errorf("%d references: %d of 4 right, %d false names", c.References, c.First, c.False)
		}
		if c.Total.P50 <= 0 || c.Total.P95 < c.Total.P50 || c.Other.P50 <= 0 || c.ProcessorMS <= 0 || c.Stages["features"] <= 0 || c.Stages["shortlist"] <= 0 || c.Stages["check"] <= 0 {
			t.Errorf("times %+v, %+v, %v", c.Total, c.Other, c.Stages)
		}
		if c.VectorIndex.Kind != vector.HNSW || c.FeaturesEach < 500 || c.MappedEach < 500*128 || c.BuildS <= 0 || c.DescribeEachMS <= 0 || c.OpenMS <= 0 {
			t.Errorf("index %+v", c)
		}
		for _, b := range []BruteForce{c.BruteForce, c.CheckAll} {
			if b.PhotoMS <= 0 || b.Ratio <= 0 || b.Photos != 3 || b.Timed != c.References {
				t.Errorf("brute force %+v", b)
			}
		}
	}
	if !done["building 6"] || !done["recognising among 3"] {
		t.Errorf("progress %v", done)
	}
}

// TestChecksAgree checks that both kinds of brute force do the work they are timed for: the inliers of a photo's own
// work are many, of another few.
func TestChecksAgree(t *testing.T) {
	w, err := describe(t.Context(), Options{Threads: 2, Progress: func(string, int, int) {}}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := photograph(t.Context(), Options{Photos: 1, Progress: func(string, int, int) {}}, w)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	set, err := featuresOf(s.known[0].photo)
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range map[string]method{"tutorial": tutorial, "own": own} {
		for i, r := range w.references {
			got, err := check(set, *r.Features)
			if err != nil {
				t.Fatal(err)
			}
			if (got >= 30) != (i == 0) {
				t.Errorf("%s: %d inliers with work %d, photo of work 0", name, got, i)
			}
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		o          Options
	}{
		{"no sizes", "no size", Options{Photos: 1}},
		{"one reference", "at least 2", Options{Sizes: []int{5, 1}, Photos: 1}},
		{"too many references", "at most", Options{Sizes: []int{maxReferences + 1}, Photos: 1}},
		{"no photos", "1 to", Options{Sizes: []int{2}}},
		{"too many photos", "1 to", Options{Sizes: []int{2}, Photos: maxPhotos + 1}},
		{"folder without pictures", "no JPEG", Options{Sizes: []int{2}, Photos: 1, References: t.TempDir()}},
		{"no folder", "no such file", Options{Sizes: []int{2}, Photos: 1, References: "/nowhere"}},
	} {
		if _, err := Run(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Options{Sizes: []int{2}, Photos: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: error %v", err)
	}
}
