package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// build writes an index and opens it.
func build(t *testing.T, docs []Doc) *Index {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "text")
	if err := Build(t.Context(), dir, docs, nil); err != nil {
		t.Fatal(err)
	}
	index, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := index.Close(); err != nil {
			t.Error(err)
		}
	})
	return index
}

func ids(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func museum() []Doc {
	return []Doc{
		{ID: "ding", Text: "大克鼎是西周晚期的青铜器，腹内铸有铭文。", Title: "大克鼎", Heading: "铭文", Language: "zh", Domain: "exhibit", Exhibit: "dakeding", Identifiers: []string{"101", "SH-1951.3"}},
		{ID: "vase", Text: "青花瓷瓶，绘有缠枝莲纹。", Title: "青花瓶", Language: "zh", Domain: "exhibit", Exhibit: "qinghua", Identifiers: []string{"102"}},
		{ID: "dragon", Text: "雲龍盤，龍紋三圈。", Language: "zh", Domain: "exhibit", Exhibit: "pan"},
		{ID: "toilet", Text: "洗手间在门厅右侧。", Heading: "洗手间", Keywords: []string{"厕所"}, Language: "zh", Domain: "service"},
		{ID: "vessels", Text: "Ritual vessels of the Zhou were cast in bronze.", Title: "Da Ke Ding", Heading: "How it was made", Language: "en", Domain: "exhibit", Exhibit: "dakeding", Identifiers: []string{"101", "SH-1951.3"}},
		{ID: "hours", Text: "The house is open from 10:00.", Heading: "Opening hours", Language: "en", Domain: "venue"},
		{ID: "fullwidth", Text: "Ｂｒｏｎｚｅ in full width, and the curator's label", Language: "en", Domain: "exhibit", Exhibit: "other"},
	}
}

func TestSearch(t *testing.T) {
	index := build(t, museum())
	for _, tt := range []struct {
		name  string
		query Query
		want  []string
	}{
		{"one character inside a Chinese word", Query{Text: "鼎"}, []string{"ding"}},
		{"traditional characters", Query{Text: "青銅"}, []string{"ding", "vase"}},
		{"traditional characters in the text", Query{Text: "龙纹", Language: "zh"}, []string{"dragon", "vase"}},
		{"one character at the end of a sentence", Query{Text: "枝"}, []string{"vase"}},
		{"Chinese word of two characters", Query{Text: "青铜"}, []string{"ding", "vase"}},
		{"Chinese question", Query{Text: "厕所在哪里？", Limit: 1}, []string{"toilet"}},
		{"plural and singular", Query{Text: "vessel"}, []string{"vessels"}},
		{"possessive", Query{Text: "Zhou's"}, []string{"vessels"}},
		{"possessive in the text", Query{Text: "curators"}, []string{"fullwidth"}},
		{"case and width", Query{Text: "ＢＲＯＮＺＥ"}, []string{"fullwidth", "vessels"}},
		{"stop words find nothing", Query{Text: "the of and"}, nil},
		{"title", Query{Text: "ding", Language: "en"}, []string{"vessels"}},
		{"accession number", Query{Text: "sh-1951.3", Language: "zh", Limit: 1}, []string{"ding"}},
		{"label number", Query{Text: "102"}, []string{"vase"}},
		{"language", Query{Text: "鼎 vessels", Language: "en"}, []string{"vessels"}},
		{"domain", Query{Text: "青花 洗手间", Domains: []string{"service", "event"}}, []string{"toilet"}},
		{"exhibit", Query{Text: "bronze", Exhibits: []string{"other"}}, []string{"fullwidth"}},
		{"unknown word", Query{Text: "xylophone"}, nil},
		{"nothing", Query{Text: " \t"}, nil},
		{"only marks", Query{Text: "？！…"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, err := index.Search(t.Context(), tt.query)
			if err != nil {
				t.Fatal(err)
			}
			got := ids(hits)
			if tt.query.Limit == 0 {
				tt.query.Limit = len(tt.want)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Search(%+v) differs (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

// TestScoringIsBM25 compares a score with the formula, worked out by hand.
func TestScoringIsBM25(t *testing.T) {
	index := build(t, []Doc{
		{ID: "a", Text: "lattice lattice alpha beta", Language: "en"}, // length 4
		{ID: "b", Text: "lattice gamma", Language: "en"},              // 2
		{ID: "c", Text: "delta epsilon zeta", Language: "en"},         // 3, the average
		{ID: "d", Text: "晶格", Language: "zh"},                         // another language: not counted
	})
	hits, err := index.Search(t.Context(), Query{Text: "lattice"})
	if err != nil {
		t.Fatal(err)
	}
	idf := math.Log(1 + (3-2+0.5)/(2+0.5))
	want := []Hit{
		{"a", 1.3 * idf * 2 * 2.2 / (2 + 1.2*(0.5+0.5*4.0/3))},
		{"b", 1.3 * idf * 1 * 2.2 / (1 + 1.2*(0.5+0.5*2.0/3))},
	}
	if diff := cmp.Diff(want, hits, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("scores differ (-want +got):\n%s", diff)
	}
}

func TestSynonyms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "text")
	docs := []Doc{
		{ID: "lift", Text: "The lift is left of the stairs.", Language: "en"},
		{ID: "stairs", Text: "The stairs lead to the hall.", Language: "en"},
		{ID: "zh", Text: "升降机在楼梯左边。", Language: "zh"},
		{ID: "elevate", Text: "A raised place with a view.", Language: "en"},
	}
	if err := Build(t.Context(), dir, docs, [][]string{{"lift", "elevator"}, {"电梯", "升降机", "直梯"}, {"alone"}}); err != nil {
		t.Fatal(err)
	}
	index, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	for _, tt := range []struct{ question, want string }{
		{"Where is the ELEVATOR?", "lift"},
		{"電梯在哪里", "zh"},
		{"直梯", "zh"},
		{"a view", "elevate"},
	} {
		hits, err := index.Search(t.Context(), Query{Text: tt.question, Limit: 1})
		if err != nil || len(hits) != 1 || hits[0].ID != tt.want {
			t.Errorf("Search(%s) = %v, %v; want %s", tt.question, hits, err, tt.want)
		}
	}
}

func TestTerms(t *testing.T) {
	index := build(t, museum())
	analyzer := index.mapping.AnalyzerNamed(prose)
	weightOf := func(question, term string) float64 {
		for _, w := range terms(question, analyzer) {
			if w.term == term {
				return w.weight
			}
		}
		return -1
	}
	for _, tt := range []struct {
		question, term string
		want           float64
	}{
		{"几何是什么", "几何", 1},
		{"几点关门", "几点", askingWeight},
		{"几点关门", "关门", 1},
		{"是什么", "么", askingWeight * unigramWeight},
		{"失去了多少土地", "失去", 1},
		{"失去的土地", "的土", functionWeight},
		{"失去的土地", "土", unigramWeight},
		{"how many vessels", "mani", askingEnglish},
		{"how many vessels", "vessel", 1},
		{"mankind of old", "mankind", 1},
	} {
		if got := weightOf(tt.question, tt.term); got != tt.want {
			t.Errorf("in %q, %q counts %v, want %v", tt.question, tt.term, got, tt.want)
		}
	}
}

// TestOpenRefuses opens indexes whose table and postings do not belong together.
func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct{ name, table string }{
		{"no JSON", "x"},
		{"another number of passages", `{"passages":[{"id":"a","length":1}]}`},
		{"unknown key", `{"passages":[],"more":1}`},
		{"two of one id", `{"passages":[{"id":"a","length":1},{"id":"a","length":1}]}`},
		{"negative length", `{"passages":[{"id":"a","length":-1}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "text")
			if err := Build(t.Context(), dir, museum(), nil); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, tableFile), []byte(tt.table), 0o644); err != nil {
				t.Fatal(err)
			}
			if x, err := Open(dir); err == nil {
				x.Close()
				t.Error("opened it")
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte(`{"passages":[{"id":"a","language":"en","length":3}],"synonyms":[["a","b"]]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if table, err := decodeTable(data); err == nil {
			table.languages()
			newSynonymGroups(table.Synonyms)
		}
	})
}

func TestRepetitionCountsLessAndLess(t *testing.T) {
	index := build(t, []Doc{
		{ID: "once", Text: "lattice alpha beta gamma delta epsilon zeta eta"},
		{ID: "often", Text: "lattice lattice lattice lattice lattice lattice lattice lattice"},
		{ID: "other", Text: "something else in this text altogether, much like it"},
	})
	hits, err := index.Search(t.Context(), Query{Text: "lattice"})
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) != 2 || hits[0].ID != "often" || hits[0].Score > 3*hits[1].Score {
		t.Errorf("got %+v; want often before once, by less than three times", hits)
	}
}

func TestEqualScoresAreOrderedByID(t *testing.T) {
	var docs []Doc
	var want []string
	for i := range 20 {
		id := fmt.Sprintf("p%02d", i)
		docs = append(docs, Doc{ID: id, Text: "the same words"})
		want = append(want, id)
	}
	hits, err := build(t, docs).Search(t.Context(), Query{Text: "words", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ids(hits)); diff != "" {
		t.Errorf("order differs (-want +got):\n%s", diff)
	}
}

func TestTwoMayHaveItOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "text")
	if err := Build(t.Context(), dir, museum(), nil); err != nil {
		t.Fatal(err)
	}
	first, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	hits, err := second.Search(t.Context(), Query{Text: "鼎"})
	if err != nil || len(hits) != 1 {
		t.Errorf("second index found %v, %v after the first was closed", hits, err)
	}
}

func TestSearchIsSafeForConcurrentUse(t *testing.T) {
	index := build(t, museum())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				text, want := "鼎", "ding"
				if i%2 == 0 {
					text, want = "vessel", "vessels"
				}
				hits, err := index.Search(t.Context(), Query{Text: text})
				if err != nil || len(hits) != 1 || hits[0].ID != want {
					t.Errorf("Search(%s) = %v, %v", text, hits, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestSearchStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := build(t, museum()).Search(ctx, Query{Text: "鼎"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
}

func TestBuildRefuses(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		docs []Doc
		want error
	}{
		{"no passages", t.Context(), nil, ErrNoDocs},
		{"two of one id", t.Context(), []Doc{{ID: "a", Text: "x"}, {ID: "a", Text: "y"}}, nil},
		{"no id", t.Context(), []Doc{{Text: "x"}}, nil},
		{"cancelled", cancelled, museum(), context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parent := t.TempDir()
			err := Build(tt.ctx, filepath.Join(parent, "text"), tt.docs, nil)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
			left, err := filepath.Glob(filepath.Join(parent, ".text-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestOpenNothing(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("opened an index that is not there")
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"鼎", "what is 205?", "", "\x00\xff", "a\u0301\u200d", strings.Repeat("长", 2000), "\"unclosed +(", "🜁🜂"} {
		f.Add(s)
	}
	dir := filepath.Join(f.TempDir(), "text")
	if err := Build(context.Background(), dir, museum(), nil); err != nil {
		f.Fatal(err)
	}
	index, err := Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = index.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		hits, err := index.Search(t.Context(), Query{Text: text, Limit: 3})
		if err != nil || len(hits) > 3 {
			t.Errorf("Search(%q) = %v, %v", text, hits, err)
		}
	})
}
