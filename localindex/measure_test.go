package localindex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/localindex/rank"
	"docent/localindex/text"
)

func TestWorthwhile(t *testing.T) {
	measure := func(language, probe string, n int, keyword, hybrid float64) Measure {
		return Measure{Language: language, Probe: probe, Questions: n, Keyword: keyword, Tried: []Tried{{0.6, hybrid}}}
	}
	for _, tt := range []struct {
		name           string
		measures       []Measure
		learnt, server bool // whether such vectors may be used
	}{
		{"a gain in all", []Measure{measure("en", "words", 80, 0.9, 0.92), measure("en", "held_out", 80, 0.5, 0.6)}, true, true},
		{"no difference", []Measure{measure("en", "words", 200, 0.9, 0.9)}, false, true},
		{"a gain that may be chance", []Measure{measure("en", "words", 200, 0.9, 0.905)}, false, true},
		{"too few questions", []Measure{measure("en", "words", 50, 0.9, 0.95)}, false, true},
		{"one kind worse", []Measure{measure("en", "words", 200, 0.9, 0.89), measure("en", "held_out", 200, 0.5, 0.7)}, false, true},
		{"one language worse", []Measure{measure("en", "words", 200, 0.9, 0.95), measure("zh", "words", 200, 0.9, 0.85)}, false, false},
		{"worse", []Measure{measure("en", "words", 200, 0.9, 0.8)}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := worthwhile(tt.measures, 0, true); got != tt.learnt {
				t.Errorf("vectors learnt from the texts: %v, want %v", got, tt.learnt)
			}
			if got := worthwhile(tt.measures, 0, false); got != tt.server {
				t.Errorf("vectors of a server: %v, want %v", got, tt.server)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	list := func(ids ...string) []rank.Result {
		var out []rank.Result
		for i, id := range ids {
			out = append(out, rank.Result{ID: id, Score: 1 / float64(i+1)})
		}
		return out
	}
	probes := []probe{{"en", probeWords, "a", []int{1}}, {"en", probeWords, "b", []int{2, 3}}}
	found := []lanes{{keyword: list("0", "1"), dense: list("1")}, {keyword: list("3"), dense: list("9", "2")}}
	got := compare(fusion{k: 60, keywordWeight: 0.4, denseWeight: 0.6}, probes, found, []float64{0.6, 0})
	if len(got) != 1 || got[0].Questions != 2 || got[0].Keyword != 0.75 { // 1/2 and 1
		t.Fatalf("measures are %+v", got)
	}
	if tried := got[0].Tried[0].MRR; tried != 0.75 { // 1 and 1/2: 9 is before 2, and both before 3
		t.Errorf("with the vectors it is %v, want 0.75", tried)
	}
	if tried := got[0].Tried[1].MRR; tried != got[0].Keyword {
		t.Errorf("with weight 0 it is %v, by keywords alone %v", tried, got[0].Keyword)
	}
}

// TestProbes makes questions of passages and looks whether they can be answered.
func TestProbes(t *testing.T) {
	var docs []text.Doc
	for i := range 60 {
		docs = append(docs, text.Doc{
			ID: fmt.Sprint(i), Language: "en", Heading: fmt.Sprintf("Heading %d", i/2), Title: "Title",
			Text: fmt.Sprintf("Sentence one of text %d is this one. The second sentence of text %d says more about it.", i, i),
		})
	}
	probes, searched := densePart{docs: docs}.probes()
	kinds := map[string]int{}
	for _, p := range probes {
		kinds[p.kind]++
		if strings.TrimSpace(p.question) == "" || len(p.wanted) == 0 {
			t.Errorf("probe is %+v", p)
		}
		if n := p.wanted[0]; p.kind == probeHeldOut && (strings.Contains(searched[n].Text, p.question) || !strings.Contains(docs[n].Text, p.question)) {
			t.Errorf("held out %q of %q, which leaves %q", p.question, docs[n].Text, searched[n].Text)
		}
		if p.kind == probeHeading && len(p.wanted) != 2 {
			t.Errorf("%q is answered by %v", p.question, p.wanted)
		}
	}
	for _, kind := range []string{probeWords, probeHeldOut, probeHeading} {
		if kinds[kind] < minProbes {
			t.Errorf("%d probes of kind %s", kinds[kind], kind)
		}
	}
	if slices.ContainsFunc(searched, func(d text.Doc) bool { return d.Heading != "" || d.Title != "" }) {
		t.Error("headings are searched that are asked for")
	}
	if few, _ := (densePart{docs: docs[:5]}).probes(); len(few) > 0 {
		t.Errorf("of five passages it made %d probes", len(few))
	}
}
