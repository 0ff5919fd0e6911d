package evaluate

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/localindex"
	"docent/localindex/embedding"
	"docent/localindex/gallery"
	"docent/localindex/internal/scripted"
	"docent/localindex/rerank"
)

const small = `{"version":"1.1","data":[
 {"title":"Vessels","paragraphs":[
  {"context":"The bronze vessel was cast in clay moulds about 900 BC.","qas":[
   {"id":"q1","question":"When was the bronze vessel cast?","answers":[{"text":"900 BC","answer_start":40}]},
   {"id":"q2","question":"What is it that xylophones are?","answers":[]}]},
  {"context":"A porcelain vase with a blue glaze was fired once in a kiln of the town.","qas":[
   {"id":3,"question":"How often was the porcelain vase fired?"}]}]},
 {"title":"Bells","paragraphs":[
  {"context":"The bell has no clapper and is struck from outside.","qas":[{"id":"q4","question":"How is the bell struck?"}]},
  {"context":"","qas":[]},
  {"context":"The bell has no clapper and is struck from outside.","qas":[{"id":"q5","question":"Has the bell a clapper?"}]}]}]}`

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "squad.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, o Options) Report {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun(t *testing.T) {
	calls := 0
	r := run(t, Options{Squad: file(t, small), Mode: localindex.ModeHybrid, Progress: func(int, int) { calls++ }})
	if r.Questions != 5 || r.Passages != 3 || r.Language != "en" || calls != 5 {
		t.Errorf("%d questions, %d passages in %s, %d calls", r.Questions, r.Passages, r.Language, calls)
	}
	for name, got := range map[string]float64{"recall@1": r.RecallAt1, "recall@5": r.RecallAt5, "MRR@10": r.MRRAt10, "nDCG@10": r.NDCGAt10} {
		if math.Abs(got-0.8) > 1e-9 { // q2 finds nothing, all others are first
			t.Errorf("%s is %v, want 0.8", name, got)
		}
	}
	if r.LatencyMS.P50 <= 0 || r.LatencyMS.P95 < r.LatencyMS.P50 || r.LatencyMS.P99 < r.LatencyMS.P95 {
		t.Errorf("latencies are %+v", r.LatencyMS)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"questions", "passages", "mode", "recall_at_1", "recall_at_5", "mrr_at_10", "ndcg_at_10", "latency_ms"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("the report lacks %s", key)
		}
	}
	if s := r.Summary(); !strings.Contains(s, "5 questions, 3 passages (en), mode hybrid") {
		t.Errorf("summary is %s", s)
	}
}

func TestCount(t *testing.T) {
	var r Report
	for _, place := range []int{0, 1, 5, 9, 10, -1} {
		r.count(place)
	}
	want := Report{RecallAt1: 1, RecallAt5: 2, RecallAt10: 4, MRRAt10: 1 + 1.0/2 + 1.0/6 + 1.0/10, NDCGAt10: 1 + 1/math.Log2(3) + 1/math.Log2(7) + 1/math.Log2(11)}
	if r.RecallAt1 != want.RecallAt1 || r.RecallAt5 != want.RecallAt5 || r.RecallAt10 != want.RecallAt10 ||
		math.Abs(r.MRRAt10-want.MRRAt10) > 1e-9 || math.Abs(r.NDCGAt10-want.NDCGAt10) > 1e-9 {
		t.Errorf("counted %+v, want %+v", r, want)
	}
}

func TestQuestionsFromAnotherFile(t *testing.T) {
	other := `{"data":[{"paragraphs":[{"context":"x","qas":[{"id":"q4","question":"bell bell"},{"id":3,"question":"kiln"},{"id":"unknown","question":"y"}]}]}]}`
	r := run(t, Options{Squad: file(t, small), Questions: file(t, other), Mode: localindex.ModeKeyword})
	if r.Questions != 2 || r.RecallAt1 != 1 {
		t.Errorf("%d questions, recall@1 %v", r.Questions, r.RecallAt1)
	}
}

func TestInputThatCannotBeUsed(t *testing.T) {
	for name, o := range map[string]Options{
		"no file":           {Squad: "absent.json"},
		"no JSON":           {Squad: file(t, "x")},
		"other JSON":        {Squad: file(t, `{"a":1}`)},
		"no questions":      {Squad: file(t, `{"data":[{"paragraphs":[{"context":"x"}]}]}`)},
		"no common ids":     {Squad: file(t, small), Questions: file(t, `{"data":[{"paragraphs":[{"qas":[{"id":"z","question":"y"}]}]}]}`)},
		"no questions file": {Squad: file(t, small), Questions: "absent.json"},
	} {
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrInput) {
			t.Errorf("%s: error is %v, want ErrInput", name, err)
		}
	}
}

func TestServers(t *testing.T) {
	vectors := scripted.New(t, scripted.Embeddings(func(text string) []float32 {
		if strings.Contains(text, "xylophones") || strings.Contains(text, "vessel") {
			return []float32{1, 0}
		}
		return []float32{0, 1}
	}))
	client, err := embedding.New(embedding.Options{BaseURL: vectors.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	service, err := rerank.NewService(rerank.ServiceOptions{BaseURL: scripted.New(t, scripted.Status(500, "oops", 0)).URL})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, Options{
		Squad: file(t, small), Mode: localindex.ModeRerank,
		Search:   gallery.Search{DenseWeight: 0.6, Embeddings: gallery.Embeddings{BaseURL: vectors.URL, Model: "m"}},
		Embedder: client,
		Services: localindex.Services{Embedder: client, Reranking: rerank.NewChain(nil, rerank.Step{Reranker: service})},
	})
	if r.RecallAt10 != 1 || r.Vectors.Kind != "server" || r.RerankedBy[rerank.ByOrder] == 0 || len(r.Skipped) == 0 {
		t.Errorf("report is %+v", r)
	}
}

// TestXQuAD holds retrieval to what it reached on real questions, and fusion to never losing against keywords alone.
func TestXQuAD(t *testing.T) {
	dir := filepath.Join(cmp.Or(os.Getenv("DOCENT_DATA"), "../../../shared/data"), "xquad")
	for _, tt := range []struct {
		language     string
		recall1, mrr float64
	}{{"zh", 0.935, 0.958}, {"en", 0.925, 0.953}} {
		t.Run(tt.language, func(t *testing.T) {
			squad := filepath.Join(dir, "xquad."+tt.language+".json")
			if _, err := os.Stat(squad); err != nil {
				t.Skipf("no XQuAD data in %s (set DOCENT_DATA)", dir)
			}
			keyword := run(t, Options{Squad: squad, Mode: localindex.ModeKeyword})
			hybrid := run(t, Options{Squad: squad, Mode: localindex.ModeHybrid})
			t.Logf("bm25:   %s", keyword.Summary())
			t.Logf("hybrid: %s", hybrid.Summary())
			if keyword.Language != tt.language || keyword.RecallAt1 < tt.recall1 || keyword.MRRAt10 < tt.mrr {
				t.Errorf("bm25 %s: recall@1 %.3f, MRR@10 %.3f; want at least %.3f, %.3f", keyword.Language, keyword.RecallAt1, keyword.MRRAt10, tt.recall1, tt.mrr)
			}
			if hybrid.RecallAt1 < keyword.RecallAt1 || hybrid.MRRAt10 < keyword.MRRAt10 || hybrid.RecallAt5 < keyword.RecallAt5 {
				t.Errorf("hybrid is below bm25: %.4f/%.4f against %.4f/%.4f", hybrid.RecallAt1, hybrid.MRRAt10, keyword.RecallAt1, keyword.MRRAt10)
			}
		})
	}
}

func FuzzParseSquad(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"data":[{"paragraphs":[{"context":"青铜","qas":[{"id":null,"question":"？"}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := parseSquad(data)
		if err != nil {
			return
		}
		s := newSet(in)
		if len(s.sections) != len(s.passages) {
			t.Errorf("%d sections, %d passages", len(s.sections), len(s.passages))
		}
		_ = s.ask(in)
	})
}
