package bench

import (
	"testing"

	"docent/localindex"
)

func TestBuildAndSearch(t *testing.T) {
	dir := t.TempDir()
	built, err := Build(t.Context(), dir, 20, 200, 30)
	if err != nil {
		t.Fatal(err)
	}
	if built.Exhibits != 20 || built.Passages < 180 || built.Passages > 260 || built.PassagesPerSecond <= 0 || built.ReleaseMiB <= 0 {
		t.Errorf("built %+v", built)
	}
	for _, mode := range []localindex.Mode{localindex.ModeKeyword, localindex.ModeDense, localindex.ModeHybrid} {
		s, err := Search(t.Context(), dir, mode)
		if err != nil {
			t.Fatal(err)
		}
		if s.Questions != 30 || s.P50 <= 0 || s.P95 < s.P50 || s.P99 < s.P95 || s.OpenMS <= 0 {
			t.Errorf("searched %+v", s)
		}
	}
	for _, tt := range [][3]int{{0, 10, 10}, {10, 10, 10}, {10, 100, 0}} {
		if _, err := Build(t.Context(), t.TempDir(), tt[0], tt[1], tt[2]); err == nil {
			t.Errorf("built %v", tt)
		}
	}
}
