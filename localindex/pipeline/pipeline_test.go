package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/chunk"
	"docent/localindex/document"
	"docent/localindex/document/standard"
)

// counting counts how often a parser is asked.
type counting struct {
	document.Parser
	calls *int
}

func (c counting) Parse(ctx context.Context, name string, data []byte) (document.Document, error) {
	*c.calls++
	return c.Parser.Parse(ctx, name, data)
}

type house struct {
	dir   string
	now   time.Time
	calls int
}

func (h *house) open(t *testing.T) *Pipeline {
	t.Helper()
	parsers := standard.Parsers()
	for f, p := range parsers {
		parsers[f] = counting{p, &h.calls}
	}
	p, err := New(Options{Dir: h.dir, Parsers: parsers, Now: func() time.Time {
		h.now = h.now.Add(time.Second)
		return h.now
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const guide = "# Guide\n\nThe vessel is old.\n\n## Casting\n\nIt was cast in clay moulds.\n"

// run takes documents through a whole build.
func (h *house) run(t *testing.T, files map[string]string, vectorFailure string) []Document {
	t.Helper()
	p := h.open(t)
	for _, name := range []string{"a.md", "b.docx", "c.txt"} {
		if data, ok := files[name]; ok {
			if _, err := p.Read(t.Context(), name, []byte(data), Wish{}); err != nil && !errors.As(err, new(*document.Error)) {
				t.Fatal(err)
			}
		}
	}
	p.Finish(Embedded, time.Second, vectorFailure)
	p.Finish(Indexed, time.Second, "")
	if err := p.Save(); err != nil {
		t.Fatal(err)
	}
	docs, err := Load(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func states(docs []Document) []string {
	var out []string
	for _, d := range docs {
		out = append(out, d.File+": "+d.State())
	}
	return out
}

func TestStates(t *testing.T) {
	h := &house{dir: t.TempDir()}
	files := map[string]string{"a.md": guide, "b.docx": "no zip at all", "c.txt": "A short text."}
	docs := h.run(t, files, "")
	want := []string{
		"a.md: indexed",
		"b.docx: failed at parsed because open: this is not a DOCX file, whatever its name says (save it again as DOCX)",
		"c.txt: indexed",
	}
	if diff := cmp.Diff(want, states(docs)); diff != "" {
		t.Fatalf("states differ (-want +got):\n%s", diff)
	}
	a := docs[0]
	var steps []string
	for _, d := range a.Done {
		steps = append(steps, string(d.Step))
		if d.At.IsZero() {
			t.Errorf("no time of %s", d.Step)
		}
	}
	if diff := cmp.Diff("received parsed chunked embedded indexed", strings.Join(steps, " ")); diff != "" {
		t.Errorf("steps differ (-want +got):\n%s", diff)
	}
	if a.Sections != 2 || a.Passages != 2 || a.Format != "markdown" || a.Reason == "" || len(a.Log) != 5 {
		t.Errorf("document is %+v", a)
	}
}

func TestOnlyWhatChangedIsDoneAgain(t *testing.T) {
	h := &house{dir: t.TempDir()}
	files := map[string]string{"a.md": guide, "c.txt": "A short text."}
	first := h.run(t, files, "")
	if h.calls != 2 {
		t.Fatalf("%d documents were parsed, want 2", h.calls)
	}
	second := h.run(t, files, "")
	if h.calls != 2 {
		t.Errorf("unchanged documents were parsed again")
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("states of unchanged documents differ (-first +second):\n%s", diff)
	}

	files["c.txt"] = "Another text."
	third := h.run(t, files, "")
	if h.calls != 3 {
		t.Errorf("%d documents were parsed, want the changed one alone", h.calls-2)
	}
	if !cmp.Equal(first[0], third[0]) || cmp.Equal(first[1], third[1]) {
		t.Errorf("states are %v", states(third))
	}

	p := h.open(t)
	out, err := p.Read(t.Context(), "a.md", []byte(guide), Wish{})
	if err != nil || h.calls != 3 || len(out.Sections) != 2 || out.Title != "Guide" {
		t.Errorf("what was kept is %+v, %v", out, err)
	}
	if _, err := p.Read(t.Context(), "a.md", []byte(guide), Wish{Sizes: chunk.Sizes{Passage: 100}}); err != nil || h.calls != 3 {
		t.Errorf("%v; a document that is to be divided otherwise was read again", err)
	}
	if divided := p.Documents(); divided[0].Passages == first[0].Passages && divided[0].Key == first[0].Key {
		t.Errorf("a document that is to be divided otherwise was not: %+v", divided[0])
	}
	if out, err := p.Read(t.Context(), "a.md", []byte(guide), Wish{Language: "zh"}); err != nil || out.Language != "zh" || h.calls != 3 {
		t.Errorf("told that it is Chinese, its language is %q, %v", out.Language, err)
	}

	delete(files, "a.md")
	if docs := h.run(t, files, ""); len(docs) != 1 {
		t.Errorf("documents are %v", states(docs))
	}
	kept, err := filepath.Glob(filepath.Join(h.dir, chunksFolder, "*.json"))
	if err != nil || len(kept) != 1 {
		t.Errorf("kept are %v, %v; want those of c.txt", kept, err)
	}
}

// helped is a parser that needs help from beside it.
type helped struct {
	with  string
	read  func() (document.Document, error)
	calls int
}

func (h *helped) DependsOn() string { return h.with }

func (h *helped) Parse(context.Context, string, []byte) (document.Document, error) {
	h.calls++
	return h.read()
}

func TestWhatIsTriedAgain(t *testing.T) {
	text := document.Document{Format: document.Plain, Blocks: []document.Block{{Kind: document.Paragraph, Text: "A text."}}}
	partial := text
	partial.Partial = true
	for _, tt := range []struct {
		name  string
		doc   document.Document
		err   error
		calls []int // after each of five builds
	}{
		{"whole", text, nil, []int{1, 1, 1, 1, 1}},
		{"recognition was too slow", partial, nil, []int{1, 2, 3, 3, 3}},
		{"broken", document.Document{}, document.Broken("open", "it is cut off"), []int{1, 1, 1, 1, 1}},
		{"too slow", document.Document{}, &document.Error{Op: "open", Reason: "too slow", Err: document.ErrTooSlow}, []int{1, 2, 3, 3, 3}},
		{"no word of the file", document.Document{}, errors.New("no memory"), []int{1, 2, 3, 3, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &helped{read: func() (document.Document, error) { return tt.doc, tt.err }}
			dir := t.TempDir()
			build := func(data string) string {
				p, err := New(Options{Dir: dir, Parsers: document.Parsers{document.Plain: h}})
				if err != nil {
					t.Fatal(err)
				}
				_, err = p.Read(t.Context(), "a.txt", []byte(data), Wish{})
				if (err == nil) != (tt.err == nil) {
					t.Fatalf("error is %v, want %v", err, tt.err)
				}
				if err := p.Save(); err != nil {
					t.Fatal(err)
				}
				docs, err := Load(dir)
				if err != nil || len(docs) != 1 {
					t.Fatal(docs, err)
				}
				return docs[0].State()
			}
			state := build("x")
			calls := []int{h.calls}
			for range 4 {
				if again := build("x"); again != state {
					t.Errorf("state is %q, was %q", again, state)
				}
				calls = append(calls, h.calls)
			}
			if d := cmp.Diff(tt.calls, calls); d != "" {
				t.Errorf("times it was read (-want +got):\n%s", d)
			}
			before := h.calls
			h.with = "tesseract"
			build("x")
			if h.calls != before+1 {
				t.Error("not read again with new help")
			}
			build("y")
			if h.calls != before+2 {
				t.Error("not read again after it changed")
			}
		})
	}
}

// TestRecognisedPagesAreNamed: whoever keeps the gallery should know which texts to proofread.
func TestRecognisedPagesAreNamed(t *testing.T) {
	h := &helped{read: func() (document.Document, error) {
		return document.Document{Format: document.PDF, Pages: 3, Blocks: []document.Block{{Kind: document.Paragraph, Text: "A text.", Page: 2}},
			Recognised: []document.Recognised{{Page: 2, Confidence: 0.7}, {Page: 3, Confidence: 0.9}}}, nil
	}}
	p, err := New(Options{Parsers: document.Parsers{document.PDF: h}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Read(t.Context(), "a.pdf", []byte("%PDF-"), Wish{})
	if err != nil || len(out.Notes) != 0 {
		t.Errorf("%v; build warns of %q", err, out.Notes)
	}
	if d := cmp.Diff([]string{"2 of 3 pages were read from pictures of text, with a confidence of 0.80: 2–3"}, p.Documents()[0].Notes); d != "" {
		t.Errorf("notes (-want +got):\n%s", d)
	}
}

func TestAServerThatFails(t *testing.T) {
	h := &house{dir: t.TempDir()}
	files := map[string]string{"a.md": guide}
	docs := h.run(t, files, "embedded 3 of 9 texts: slow down")
	if got := docs[0].State(); got != "failed at embedded because embedded 3 of 9 texts: slow down" {
		t.Errorf("state is %s", got)
	}
	if docs = h.run(t, files, ""); docs[0].State() != "indexed" || h.calls != 1 {
		t.Errorf("after the next build the state is %s, parsed %d times", docs[0].State(), h.calls)
	}
}

func TestDamagedStatesAreBegunAnew(t *testing.T) {
	h := &house{dir: t.TempDir()}
	files := map[string]string{"a.md": guide}
	h.run(t, files, "")
	if err := os.WriteFile(filepath.Join(h.dir, stateFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(h.dir); err == nil {
		t.Error("a damaged file was read")
	}
	if docs := h.run(t, files, ""); docs[0].State() != "indexed" {
		t.Errorf("state is %s", docs[0].State())
	}
}

func TestReadStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := (&house{dir: t.TempDir()}).open(t)
	if _, err := p.Read(ctx, "a.md", []byte(guide), Wish{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
}

func TestRanges(t *testing.T) {
	for _, tt := range []struct {
		numbers []int
		want    string
	}{{nil, ""}, {[]int{3}, "3"}, {[]int{1, 2, 3, 7, 9, 10}, "1–3, 7, 9–10"}} {
		if got := ranges(tt.numbers); got != tt.want {
			t.Errorf("ranges(%v) = %s, want %s", tt.numbers, got, tt.want)
		}
	}
}

func FuzzStates(f *testing.F) {
	f.Add([]byte(`[{"file":"a","sha256":"x","size":1,"done":[{"step":"parsed","at":"2026-01-02T03:04:05Z"}]}]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := decodeStates(data)
		if err != nil {
			return
		}
		for _, d := range docs {
			d.State()
			d.did(Parsed, time.Time{}, 0)
		}
	})
}
