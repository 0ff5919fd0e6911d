package evaluate

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"docent/agent"
	"docent/agent/library"
	"docent/localindex"
)

var pictureFile = regexp.MustCompile(`(?m)^\s*- file: (\S+)$`)

// release builds a gallery's texts; its pictures are blank.
func release(t *testing.T, content string) *localindex.Release {
	t.Helper()
	dir := t.TempDir()
	authored := filepath.Join(dir, "gallery")
	if err := os.CopyFS(authored, os.DirFS(content)); err != nil {
		t.Fatal(err)
	}
	var blank bytes.Buffer
	if err := png.Encode(&blank, image.NewGray(image.Rect(0, 0, 600, 600))); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(authored, "exhibits", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d exhibits, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pictureFile.FindAllSubmatch(text, -1) {
			picture := filepath.Join(authored, filepath.FromSlash(string(m[1])))
			if err := os.MkdirAll(filepath.Dir(picture), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(picture, blank.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, _, err := localindex.Build(t.Context(), authored, filepath.Join(dir, "release"), localindex.Options{Number: 1}); err != nil {
		t.Fatal(err)
	}
	r, err := localindex.Open(t.Context(), filepath.Join(dir, "release"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// measure asks the guide, without a model, the cases of a file.
func measure(t *testing.T, content, file string) Report {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	g := agent.New(agent.Options{Clock: func() time.Time { return cases.Now }})
	r, err := Run(t.Context(), g, library.Of(release(t, content)), cases, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", r.Summary())
	return r
}

// least are the figures that answers must reach, in all languages together and in each of them.
var least = map[string]float64{"faithfulness": 0.99, "context precision": 0.92, "context recall": 0.90, "answer relevancy": 0.85, "refusal accuracy": 0.98}

func named(f Figures) map[string]float64 {
	return map[string]float64{
		"faithfulness": f.Faithfulness, "context precision": f.ContextPrecision, "context recall": f.ContextRecall, "answer relevancy": f.AnswerRelevancy, "refusal accuracy": f.RefusalAccuracy,
	}
}

// mostApart is how far the languages may be apart in any figure.
const mostApart = 0.02

// TestSampleGallery measures the guide without a model on the sample gallery.
func TestSampleGallery(t *testing.T) {
	r := measure(t, filepath.Join("..", "..", "localindex", "sample", "content"), filepath.Join("testdata", "patterns.yaml"))
	if r.All.Cases < 200 || r.All.Unanswerable < 60 || r.Kinds[KindMultiTurn].Cases < 40 || r.Kinds[KindMultiStep].Cases < 30 {
		t.Errorf("too few cases: %+v", r.Kinds)
	}
	for name, want := range least {
		en, zh := named(r.Languages["en"])[name], named(r.Languages["zh"])[name]
		if en < want || zh < want {
			t.Errorf("%s: %.3f in English, %.3f in Chinese, want %.2f", name, en, zh, want)
		}
		if math.Abs(en-zh) > mostApart {
			t.Errorf("%s: %.3f in English, %.3f in Chinese: too far apart", name, en, zh)
		}
	}
	if r.All.UnsupportedNumbers > 0 {
		t.Errorf("%d unsupported numbers", r.All.UnsupportedNumbers)
	}
}

// TestOtherHouse measures the guide on a house with other facts and little text.
func TestOtherHouse(t *testing.T) {
	r := measure(t, filepath.Join("testdata", "kiln"), filepath.Join("testdata", "kiln.yaml"))
	for name, want := range least {
		if got := named(r.All)[name]; got < want {
			t.Errorf("%s %.3f, want %.2f", name, got, want)
		}
	}
	if r.All.UnsupportedNumbers > 0 {
		t.Errorf("%d unsupported numbers", r.All.UnsupportedNumbers)
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "cases: []", "cases: [{question: Why}]", "cases: [{question: Why, unanswerable: true, cite: [x]}]", "cases: [{contains: [x]}]", "cases: [{question: a, mustcite: [x]}]", "now: yesterday"} {
		if _, err := Parse([]byte(bad)); !errors.Is(err, ErrCases) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	c, err := Parse([]byte("now: 2026-11-29T15:00:00+08:00\ncases: [{question: Why, contains: [because], history: [\"What?\"]}]"))
	if err != nil || c.Now.Hour() != 15 || len(c.Cases[0].History) != 1 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestJudge(t *testing.T) {
	sources := []agent.Source{{N: 1, Exhibit: "fern", Section: "fern/en/1", Quote: "Four rules draw it. It was published in 1988."}, {N: 2, Exhibit: "tree", Quote: "A tree."}}
	c := Case{Question: "How many?", Contains: []string{"Four"}, Cite: []string{"fern"}}
	done := agent.Done{Answered: true, WrittenBy: agent.WrittenByModel, Language: "en"}
	for _, tt := range []struct {
		name, text                      string
		sources                         []agent.Source
		faithful, precision, recall, ok float64
		numbers                         int
	}{
		{"right", "Four rules draw it [1].", sources[:1], 1, 1, 1, 1, 0},
		{"invented number", "Four rules draw it [1]. It was published in 1999 [1].", sources[:1], 0.5, 1, 1, 1, 1},
		{"invented sentence", "Four rules draw it [1]. Kepler loved purple dragons [1].", sources[:1], 0.5, 1, 1, 1, 0},
		{"wrong source first", "A tree [1]. Four rules draw it [2].", []agent.Source{sources[1], sources[0]}, 1, 0.5, 1, 1, 0},
		{"wrong source only", "A tree [1].", sources[1:], 1, 0, 0, 0, 0},
	} {
		o := judge(c, heard{text: tt.text, sources: tt.sources, done: done})
		if *o.Faithful != tt.faithful || *o.Precision != tt.precision || *o.Recall != tt.recall || len(o.Unsupported) != tt.numbers || o.OK != (tt.ok == 1) {
			t.Errorf("%s: faithful %v precision %v recall %v ok %v numbers %v", tt.name, *o.Faithful, *o.Precision, *o.Recall, o.OK, o.Unsupported)
		}
	}
	if o := judge(Case{Unanswerable: true}, heard{done: done}); o.OK || *o.Refused {
		t.Errorf("an answer to the unanswerable: %+v", o)
	}
	if o := judge(c, heard{done: agent.Done{}}); o.OK || *o.Recall != 0 || *o.Relevant != 0 {
		t.Errorf("a wrong refusal: %+v", o)
	}
}
