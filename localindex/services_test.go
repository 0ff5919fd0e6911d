package localindex

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/localindex/embedding"
	"docent/localindex/gallery"
	"docent/localindex/ingest"
	"docent/localindex/internal/scripted"
	"docent/localindex/release"
	"docent/localindex/rerank"
)

// concepts is a model that knows what words mean: each of them is a direction.
func concepts(text string) []float32 {
	v := make([]float32, 8)
	for i, words := range []string{"lavatory toilet 洗手间", "timepiece clock bell", "soil land clay", "heavy weighs kilograms 重"} {
		for word := range strings.FieldsSeq(words) {
			if strings.Contains(strings.ToLower(text), word) {
				v[i] = 1
			}
		}
	}
	return v
}

func embedder(t *testing.T, model string, replies ...scripted.Reply) (*embedding.Client, *scripted.Server) {
	t.Helper()
	s := scripted.New(t, replies...)
	c, err := embedding.New(embedding.Options{BaseURL: s.URL, Model: model, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// serverGallery is a gallery that names an embedding server and keeps its vectors' weight.
func serverGallery(t *testing.T) string {
	t.Helper()
	dir := writeGallery(t, 0)
	f, err := os.OpenFile(filepath.Join(dir, "gallery.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("search:\n  dense_weight: 0.6\n  embeddings: {base_url: http://127.0.0.1:1, model: concepts}\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// buildWith builds a release of a gallery with a server.
func buildWith(t *testing.T, dir string, e Embedder) (string, []ingest.Problem, DenseReport) {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "release")
	m, problems, err := Build(t.Context(), dir, dst, Options{
		Embedder: func(gallery.Embeddings) (Embedder, error) { return e, nil },
		Wait:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatalf("%v: %v", err, problems)
	}
	var r DenseReport
	if err := json.Unmarshal(m.Parts[densePartName], &r); err != nil {
		t.Fatal(err)
	}
	return dst, problems, r
}

func openWith(t *testing.T, dst string, s Services) *Release {
	t.Helper()
	r, err := OpenWith(t.Context(), dst, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func ask(t *testing.T, r *Release, q Query) Result {
	t.Helper()
	found, err := r.SearchTraced(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestServerVectors(t *testing.T) {
	dir := serverGallery(t)
	working, _ := embedder(t, "concepts", scripted.Embeddings(concepts))
	dst, _, report := buildWith(t, dir, working)
	if report.Kind != denseServer || report.Model != "concepts" || report.Dimension != 8 || report.DenseWeight != 0.6 {
		t.Fatalf("the release says of its vectors %+v", report)
	}
	timepiece := Query{Text: "timepiece", Language: "en"}

	t.Run("the same model", func(t *testing.T) {
		r := openWith(t, dst, Services{Embedder: working})
		if why := r.VectorsUnused(); why != "" {
			t.Errorf("not used: %s", why)
		}
		found := ask(t, r, timepiece)
		if len(found.Hits) == 0 || found.Hits[0].Section.Exhibit != "bell" || found.Trace.Vectors != denseServer {
			t.Errorf("found %v, %+v; want the bell by its meaning", passageIDs(found.Hits), found.Trace)
		}
		if found := ask(t, r, Query{Text: "timepiece", Language: "en", Mode: ModeKeyword}); len(found.Hits) > 0 {
			t.Errorf("the keywords alone found %v", passageIDs(found.Hits))
		}
		if found := ask(t, r, Query{Text: "lavatory", Language: "zh"}); len(found.Hits) == 0 || found.Hits[0].Section.ID != "service/zh/toilets" {
			t.Errorf("across languages it found %v", passageIDs(found.Hits))
		}
		if found := ask(t, r, Query{Text: "lavatory", Domains: []gallery.Domain{gallery.DomainEvent}}); slices.ContainsFunc(found.Hits, func(h Hit) bool { return h.Section.Domain != gallery.DomainEvent }) {
			t.Errorf("another domain than asked for: %v", passageIDs(found.Hits))
		}
	})
	for _, tt := range []struct {
		name    string
		model   string // of the server; empty means none
		reply   scripted.Reply
		skipped string
	}{
		{"no server", "", nil, "no embedding server; the release's are by concepts"},
		{"another model", "other", scripted.Embeddings(concepts), "has other, the release's are by concepts"},
		{"wrong dimension", "concepts", scripted.Embeddings(func(string) []float32 { return []float32{1, 2} }), "dimension 2, the release's have 8"},
		{"rate limit", "concepts", scripted.Status(http.StatusTooManyRequests, "slow down", 0), "429"},
		{"broken", "concepts", scripted.Status(http.StatusInternalServerError, "oops", 0), "oops"},
		{"half a body", "concepts", scripted.Half(`{"data":[`), "cut off"},
		{"silence", "concepts", scripted.Silence(), "deadline"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Services{EmbedTimeout: 100 * time.Millisecond}
			var server *scripted.Server
			if tt.model != "" {
				s.Embedder, server = embedder(t, tt.model, tt.reply)
			}
			r := openWith(t, dst, s)
			for range 5 { // the kiosk keeps answering
				found := ask(t, r, Query{Text: "where is the toilet", Language: "en"})
				if len(found.Hits) == 0 || found.Hits[0].Section.ID != "service/en/toilets" {
					t.Fatalf("found %v", passageIDs(found.Hits))
				}
				if skipped := strings.Join(found.Trace.Skipped, "; "); !strings.Contains(skipped, tt.skipped) && !strings.Contains(skipped, "left alone") {
					t.Errorf("skipped %q, want %q", skipped, tt.skipped)
				}
			}
			if unused := r.VectorsUnused(); (unused != "") != (tt.model != "concepts") {
				t.Errorf("not used: %q", unused)
			}
			if server != nil && tt.model == "concepts" && len(server.Requests()) != 3 {
				t.Errorf("%d requests, want the server left alone after 3", len(server.Requests()))
			}
		})
	}
}

// TestBuildGoesOnWhereTheServerStopped has a server refuse in the middle of a build.
func TestBuildGoesOnWhereTheServerStopped(t *testing.T) {
	dir := serverGallery(t)
	config, err := os.ReadFile(filepath.Join(dir, "gallery.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "gallery.yaml"), []byte(strings.Replace(string(config), "model: concepts", "model: concepts, batch: 4", 1)))
	refusing, _ := embedder(t, "concepts", scripted.Embeddings(concepts), scripted.Status(http.StatusTooManyRequests, "slow down", time.Hour))
	dst, problems, report := buildWith(t, dir, refusing)
	if report.Kind != denseTexts && report.Kind != denseNone || !strings.Contains(report.Failure, "embedded 4 of") {
		t.Errorf("the release says of its vectors %+v", report)
	}
	if !slices.ContainsFunc(problems, func(p ingest.Problem) bool {
		return p.Severity == ingest.Warning && strings.Contains(p.Message, "build again to go on")
	}) {
		t.Errorf("problems are %v, want it said", problems)
	}
	found := ask(t, openWith(t, dst, Services{}), Query{Text: "where is the toilet", Language: "en"})
	if len(found.Hits) == 0 || found.Hits[0].Section.ID != "service/en/toilets" {
		t.Errorf("found %v", passageIDs(found.Hits))
	}

	working, server := embedder(t, "concepts", scripted.Embeddings(concepts))
	if _, _, report = buildWith(t, dir, working); report.Kind != denseServer || report.Failure != "" {
		t.Errorf("the second release says of its vectors %+v", report)
	}
	first := server.Requests()
	again, _ := embedder(t, "concepts", scripted.Status(http.StatusTeapot, "nothing is new", 0))
	if _, _, report = buildWith(t, dir, again); report.Kind != denseServer && report.Failure != "" {
		t.Errorf("with everything in the cache: %+v", report)
	}
	if len(first) == 0 {
		t.Error("the second build asked for nothing")
	}
}

// reverse scores texts by their order turned around.
type reverse struct{ err error }

func (reverse) Name() string { return rerank.ByService }

func (r reverse) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i := range scores {
		scores[i] = float64(i)
	}
	return scores, r.err
}

func TestReranking(t *testing.T) {
	dst := packed(t, writeGallery(t, 0))
	q := Query{Text: "vessel bell kilograms legs", Language: "en", Limit: 3}
	plain := ask(t, openWith(t, dst, Services{}), q)
	if plain.Trace.RerankedBy != "" {
		t.Errorf("reranked by %s, which is not there", plain.Trace.RerankedBy)
	}
	r := openWith(t, dst, Services{Reranking: rerank.NewChain(nil, rerank.Step{Reranker: reverse{}})})
	turned := ask(t, r, q)
	if turned.Trace.RerankedBy != rerank.ByService || turned.Hits[0].Passage.ID == plain.Hits[0].Passage.ID {
		t.Errorf("found %v by %s, without reranking %v", passageIDs(turned.Hits), turned.Trace.RerankedBy, passageIDs(plain.Hits))
	}
	if same := ask(t, r, Query{Text: q.Text, Language: "en", Limit: 3, Mode: ModeHybrid}); !slices.Equal(passageIDs(same.Hits), passageIDs(plain.Hits)) {
		t.Errorf("hybrid is reranked: %v", passageIDs(same.Hits))
	}
	for i := 1; i < len(turned.Hits); i++ {
		if turned.Hits[i].Score > turned.Hits[i-1].Score {
			t.Errorf("scores rise: %v", turned.Hits)
		}
	}
	broken := openWith(t, dst, Services{Reranking: rerank.NewChain(nil, rerank.Step{Reranker: reverse{errors.New("out of memory")}})})
	found := ask(t, broken, q)
	if found.Trace.RerankedBy != rerank.ByOrder || !slices.Equal(passageIDs(found.Hits), passageIDs(plain.Hits)) || !strings.Contains(strings.Join(found.Trace.Skipped, " "), "out of memory") {
		t.Errorf("found %v, %+v", passageIDs(found.Hits), found.Trace)
	}
	if named := ask(t, r, Query{Text: "how heavy is the Da Ke Ding", Language: "en"}); !named.Hits[0].Exact {
		t.Error("reranking moved what was named from its place")
	}
}

// hypotheses writes the same for every question.
type hypotheses struct{ text string }

func (h hypotheses) Write(context.Context, string, string) (string, string, error) {
	return h.text, "", nil
}

func TestHypotheses(t *testing.T) {
	working, _ := embedder(t, "concepts", scripted.Embeddings(concepts))
	dst, _, _ := buildWith(t, serverGallery(t), working)
	r := openWith(t, dst, Services{Embedder: working, Hypotheses: hypotheses{"There is a toilet."}})
	found := ask(t, r, Query{Text: "I need to go", Language: "en"})
	if len(found.Hits) == 0 || found.Hits[0].Section.ID != "service/en/toilets" || !found.Trace.Hypothesis {
		t.Errorf("found %v, %+v", passageIDs(found.Hits), found.Trace)
	}
	if named := ask(t, r, Query{Text: "where is the Da Ke Ding from", Language: "en"}); named.Trace.Hypothesis {
		t.Error("a hypothesis for a question that names an exhibit")
	}
}

func TestDenseOff(t *testing.T) {
	dir := writeGallery(t, 0)
	config, err := os.ReadFile(filepath.Join(dir, "gallery.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "gallery.yaml"), append(config, "search: {dense: off}\n"...))
	dst := packed(t, dir)
	r := openWith(t, dst, Services{})
	if v := r.Vectors(); v.Kind != denseNone {
		t.Errorf("vectors are %+v", v)
	}
	if found := ask(t, r, Query{Text: "toilet", Language: "en"}); len(found.Hits) == 0 || found.Trace.Dense != 0 {
		t.Errorf("found %v, %+v", passageIDs(found.Hits), found.Trace)
	}
	if _, err := release.Verify(t.Context(), dst); err != nil {
		t.Error(err)
	}
}

func TestGather(t *testing.T) {
	r := opened(t, writeGallery(t, 1)) // its exhibit has a section of several passages
	id := "more-0/en/1"
	passages := r.SectionPassages(id)
	if len(passages) < 2 {
		t.Fatalf("%d passages, want several", len(passages))
	}
	section, _ := r.Section(id)
	other, _ := r.Section("ding/en/1")
	hits := []Hit{
		{Passage: passages[1], Section: section, Score: 3}, {Passage: r.SectionPassages("ding/en/1")[0], Section: other, Score: 2, Exact: true},
		{Passage: passages[0], Section: section, Score: 1},
	}
	parents := r.Gather(hits)
	if len(parents) != 2 || parents[0].Section.ID != id || parents[0].Score != 3 || len(parents[0].Passages) != 2 ||
		parents[0].Passages[0].ID != passages[0].ID || !parents[1].Exact {
		t.Errorf("gathered %+v", parents)
	}
}

// TestNearDuplicates copies a text of an exhibit into a document.
func TestNearDuplicates(t *testing.T) {
	dir := writeGallery(t, 0)
	text := "The kiln of the old town stood by the river and burnt wood for three days and nights, until the glaze ran; then the potters waited a week before they opened it."
	for _, name := range []string{"a", "b"} {
		write(t, filepath.Join(dir, "documents", name+".md"), []byte("---\ntitle: Kilns "+name+"\n---\n"+text+"\n"))
	}
	found := ask(t, opened(t, dir), Query{Text: "how long did the kiln burn wood", Language: "en"})
	n := 0
	for _, h := range found.Hits {
		if h.Passage.Text == text {
			n++
		}
	}
	if n != 1 || found.Trace.Duplicates == 0 {
		t.Errorf("the text was found %d times, %d duplicates left out", n, found.Trace.Duplicates)
	}
}
