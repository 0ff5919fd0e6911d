package chunk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

func paragraphs(texts ...string) document.Document {
	d := document.Document{Title: "T", Format: document.Plain}
	for _, t := range texts {
		d.Blocks = append(d.Blocks, document.Block{Kind: document.Paragraph, Text: t})
	}
	return d
}

// checkBounds looks at what must hold of every result.
func checkBounds(t *testing.T, d document.Document, r Result, s Sizes) {
	t.Helper()
	for i, sec := range r.Sections {
		if n := utf8.RuneCountInString(sec.Text); n > s.Section {
			t.Errorf("section %d has %d characters, more than %d", i, n, s.Section)
		}
		if sec.First < 0 || sec.Last > len(d.Blocks) || sec.First >= sec.Last {
			t.Errorf("section %d is of blocks %d to %d of %d", i, sec.First, sec.Last, len(d.Blocks))
		}
		var joined strings.Builder
		for j, p := range sec.Passages {
			if n := prose.Units(p.Text); n > s.Passage*prose.WideUnits+100 {
				t.Errorf("passage %d.%d has %d units, more than %d", i, j, n, s.Passage*prose.WideUnits)
			}
			if p.Text == "" || p.First < sec.First || p.Last > sec.Last {
				t.Errorf("passage %d.%d: %+v is not of its section's blocks %d to %d", i, j, p, sec.First, sec.Last)
			}
			joined.WriteString(p.Text + "\n")
		}
		if !prose.SameWords(joined.String(), sec.Text) {
			t.Errorf("section %d and its passages have other words:\n%q\n%q", i, sec.Text, joined.String())
		}
	}
}

// words are all words of a document but for headings.
func words(d document.Document) string {
	var b strings.Builder
	for _, bl := range d.Blocks {
		if bl.Kind != document.Heading {
			b.WriteString(bl.Text + "\n")
		}
	}
	return b.String()
}

func text(r Result) string {
	var b strings.Builder
	for _, s := range r.Sections {
		b.WriteString(s.Text + "\n")
	}
	return b.String()
}

func TestSizes(t *testing.T) {
	zh := strings.Repeat("这是一个句子，它有逗号，长度适中。", 60)
	en := strings.Repeat("Dr. Smith measured 3.14 metres, i.e. not much. ", 60)
	for _, c := range []struct {
		name string
		d    document.Document
	}{
		{"Chinese", paragraphs(zh, zh, zh)},
		{"English", paragraphs(en, en)},
		{"no punctuation", paragraphs(strings.Repeat("字", 30_000))},
		{"no spaces", paragraphs(strings.Repeat("x", 30_000))},
		{"many short", paragraphs(strings.Split(strings.Repeat("短。|", 3000), "|")[:3000]...)},
		{"marks", paragraphs("e" + strings.Repeat("\u0301", 5000))},
		{"empty", document.Document{}},
	} {
		for _, s := range []Sizes{{DefaultSection, DefaultPassage}, {200, 40}} {
			t.Run(fmt.Sprintf("%s %d", c.name, s.Passage), func(t *testing.T) {
				r := chunked(t, c.d, Options{Sizes: s})
				checkBounds(t, c.d, r, s)
				if !prose.SameWords(text(r), words(c.d)) {
					t.Error("words were lost or changed")
				}
				if diff := cmp.Diff(r, chunked(t, c.d, Options{Sizes: s})); diff != "" {
					t.Errorf("not the same a second time: %s", diff)
				}
			})
		}
	}
}

func TestStructure(t *testing.T) {
	d := document.Document{Title: "Guide", Pages: 3, Blocks: []document.Block{
		{Kind: document.Paragraph, Text: "Before any heading.", Page: 1},
		{Kind: document.Heading, Level: 1, Text: "Hall", Page: 1},
		{Kind: document.Heading, Level: 2, Text: "Opening", Page: 2},
		{Kind: document.Paragraph, Text: "At ten:", Page: 2},
		{Kind: document.ListItem, Level: 1, Text: "• Monday", Page: 2},
		{Kind: document.ListItem, Level: 2, Text: "• not in winter", Page: 3},
		{Kind: document.Heading, Level: 2, Text: "Closed for good", Page: 3},
		{Kind: document.Heading, Level: 1, Text: "Prices", Page: 3},
		document.NewTable([][]string{{"Who", "How much"}, {"adults", "60"}, {"children", ""}}, true, 3),
	}}
	want := []Section{
		{Heading: "Guide", Text: "Before any heading.", Page: 1, LastPage: 1, First: 0, Last: 1},
		{Heading: "Opening", Path: []string{"Guide", "Hall"}, Text: "At ten:\n\n• Monday\n  • not in winter", Page: 2, LastPage: 3, First: 3, Last: 6},
		{Heading: "Closed for good", Path: []string{"Guide", "Hall"}, Text: "Closed for good", Page: 3, LastPage: 3, First: 6, Last: 7},
		{Heading: "Prices", Path: []string{"Guide"}, Text: "Who: adults; How much: 60\nWho: children", Page: 3, LastPage: 3, First: 8, Last: 9},
	}
	r := chunked(t, d, Options{})
	for i := range r.Sections {
		s := &r.Sections[i]
		if len(s.Passages) != 1 || s.Passages[0].Text != s.Text || s.Passages[0].Page != s.Page {
			t.Errorf("passages of %q: %+v", s.Heading, s.Passages)
		}
		s.Passages = nil
	}
	if diff := cmp.Diff(want, r.Sections); diff != "" {
		t.Error(diff)
	}
}

// topics is a similarity that knows which sentence is about what.
type topics struct{ asked int }

func (s *topics) Similar(_ context.Context, a, b string) (float64, error) {
	s.asked++
	count := func(t, w string) float64 { return float64(strings.Count(t, w)) }
	dot, na, nb := 0.0, 0.0, 0.0
	for _, w := range []string{"bronze", "glaze", "ticket"} {
		x, y := count(a, w), count(b, w)
		dot, na, nb = dot+x*y, na+x*x, nb+y*y
	}
	if na == 0 || nb == 0 {
		return 0, nil
	}
	return dot / math.Sqrt(na*nb), nil
}

func TestSemantic(t *testing.T) {
	about := func(w string, n int) string {
		return strings.TrimSpace(strings.Repeat("This sentence is all about "+w+" and about nothing else that a visitor might see. ", n))
	}
	d := paragraphs(about("bronze", 6) + " " + about("glaze", 6) + " " + about("ticket", 6))
	similar := &topics{}
	r := chunked(t, d, Options{Chunkers: []Kind{Semantic}, Similarity: similar})
	checkBounds(t, d, r, Sizes{DefaultSection, DefaultPassage})
	if !prose.SameWords(text(r), words(d)) {
		t.Error("words were lost or changed")
	}
	var got []string
	for _, s := range r.Sections {
		for _, p := range s.Passages {
			var of []string
			for _, w := range []string{"bronze", "glaze", "ticket"} {
				if n := strings.Count(p.Text, w); n > 0 {
					of = append(of, fmt.Sprintf("%d %s", n, w))
				}
			}
			got = append(got, strings.Join(of, ", "))
		}
	}
	if diff := cmp.Diff([]string{"6 bronze", "6 glaze", "6 ticket"}, got); diff != "" {
		t.Errorf("passages by subject (-want +got):\n%s", diff)
	}
	if similar.asked != 17 {
		t.Errorf("%d pairs were compared, want the 17 neighbours of 18 sentences", similar.asked)
	}
}

type failing struct{}

func (failing) Similar(context.Context, string, string) (float64, error) {
	return 0, errors.New("no vectors")
}

func TestSemanticFails(t *testing.T) {
	p, err := New(Options{Chunkers: []Kind{Semantic}, Similarity: failing{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Chunk(context.Background(), paragraphs(strings.Repeat("One sentence of many. ", 100))); err == nil || !strings.Contains(err.Error(), "no vectors") {
		t.Errorf("error %v", err)
	}
}

// rewriter is a model with a fixed answer.
type rewriter struct {
	answer string
	err    error
}

func (r rewriter) Rewrite(context.Context, string) (string, error) { return r.answer, r.err }

func TestModel(t *testing.T) {
	d := paragraphs("Opening hours we open at", "ten. Prices are low.")
	for _, c := range []struct {
		name string
		rewriter
		want string // headings and texts
		note string
	}{
		{"sets right", rewriter{answer: "# Opening hours\n\nwe open at ten.\n\n## Prices\nare low."}, "Opening hours: we open at ten. | Prices: are low.", ""},
		{"only white space", rewriter{answer: "Opening hours we open at ten.\n\nPrices are low."}, "T: Opening hours we open at ten.\n\nPrices are low.", ""},
		{"adds a word", rewriter{answer: "# Opening hours\n\nwe always open at ten. Prices are low."}, "T: Opening hours we open at\n\nten. Prices are low.", "changed its words"},
		{"leaves out", rewriter{answer: "we open at ten. Prices are low."}, "T: Opening hours we open at\n\nten. Prices are low.", "changed its words"},
		{"swaps", rewriter{answer: "Prices are low. Opening hours we open at ten."}, "T: Opening hours we open at\n\nten. Prices are low.", "changed its words"},
		{"says nothing", rewriter{}, "T: Opening hours we open at\n\nten. Prices are low.", "changed its words"},
		{"fails", rewriter{err: errors.New("busy")}, "T: Opening hours we open at\n\nten. Prices are low.", "busy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := chunked(t, d, Options{Chunkers: []Kind{Model}, Rewriter: c.rewriter})
			var got []string
			for _, s := range r.Sections {
				got = append(got, s.Heading+": "+s.Text)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " | ")); diff != "" {
				t.Error(diff)
			}
			if notes := strings.Join(r.Notes, "; "); (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want one with %q", notes, c.note)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"unknown", Options{Chunkers: []Kind{"magic"}}, "magic"},
		{"no vectors", Options{Chunkers: []Kind{Semantic}}, "needs vectors"},
		{"no model", Options{Chunkers: []Kind{Model}}, "needs a model"},
		{"too small", Options{Sizes: Sizes{Passage: 3}}, "40 to 4000"},
		{"passages too large", Options{Sizes: Sizes{Section: 500, Passage: 400}}, "must hold two"},
	} {
		if _, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestRecommend(t *testing.T) {
	long := strings.Repeat("一句话说完了。", 400)
	headed := document.Document{}
	for range 5 {
		headed.Blocks = append(headed.Blocks, document.Block{Kind: document.Heading, Level: 1, Text: "H"}, document.Block{Kind: document.Paragraph, Text: strings.Repeat("短句。", 100)})
	}
	entries := document.Document{}
	for range 20 {
		entries.Blocks = append(entries.Blocks, document.Block{Kind: document.Heading, Level: 1, Text: "H"}, document.Block{Kind: document.Paragraph, Text: "A vase."})
	}
	poor := paragraphs("一二三四五六。")
	poor.Recognised = []document.Recognised{{Page: 1, Confidence: 0.6}, {Page: 2, Confidence: 0.7}}
	broken := paragraphs(strings.Split(strings.Repeat("a line that ends in the|", 20), "|")[:20]...)
	for _, c := range []struct {
		name string
		d    document.Document
		want []Kind
		size int
		why  string
	}{
		{"headed", headed, []Kind{Structure, Recursive}, 400, "5 headings"},
		{"no headings", paragraphs(long), []Kind{Structure, Semantic, Recursive}, 400, "without any heading"},
		{"entries", entries, []Kind{Structure, Recursive}, 250, "short entries"},
		{"poor recognition", poor, []Kind{Structure, Model, Recursive}, 400, "confidence of 0.65"},
		{"lines", broken, []Kind{Structure, Model, Recursive}, 400, "20 of 20 paragraphs"},
		{"empty", document.Document{}, []Kind{Structure, Recursive}, 400, "no text"},
	} {
		p := Recommend(c.d)
		if diff := cmp.Diff(c.want, p.Chunkers); diff != "" || p.Sizes.Passage != c.size || !strings.Contains(p.Reason, c.why) {
			t.Errorf("%s: %+v, want %v, passages of %d, because %q", c.name, p, c.want, c.size, c.why)
		}
		if _, err := New(Options{Chunkers: p.Chunkers, Sizes: p.Sizes, Similarity: &topics{}, Rewriter: rewriter{}}); err != nil {
			t.Errorf("%s: the proposal is refused: %v", c.name, err)
		}
	}
}

// TestPagesOfRows: a list over many pages is one table, and each of its rows is cited with its page.
func TestPagesOfRows(t *testing.T) {
	rows := [][]string{{"Number", "Object"}}
	pages := []int{1}
	for i := range 60 {
		rows = append(rows, []string{fmt.Sprintf("TB-%d", i), "a bell of bronze with its clapper, found in the river"})
		pages = append(pages, 1+i/20)
	}
	table := document.NewTable(rows, true, 1)
	table.RowPages = pages
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Chunk(t.Context(), document.Document{Title: "Bells", Pages: 3, Blocks: []document.Block{table}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Sections {
		for _, passage := range s.Passages {
			var first, last int
			if _, err := fmt.Sscanf(passage.Text, "Number: TB-%d", &first); err != nil {
				t.Fatal(passage.Text)
			}
			at := strings.LastIndex(passage.Text, "TB-")
			if _, err := fmt.Sscanf(passage.Text[at:], "TB-%d", &last); err != nil {
				t.Fatal(passage.Text)
			}
			if passage.Page != 1+first/20 || passage.LastPage != 1+last/20 {
				t.Errorf("bells %d to %d are on pages %d to %d", first, last, passage.Page, passage.LastPage)
			}
		}
	}
}

func FuzzChunk(f *testing.F) {
	for _, s := range []string{"", "a", "# h\n\ntext", strings.Repeat("长句子，", 500), "e\u0301", "a. B. c. D.", "：\n\n：\n\n", "x\n\n\n\ny\n"} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, heads uint8) {
		d := document.Document{Title: "T"}
		for i, p := range prose.Paragraphs(strings.ToValidUTF8(s, "")) {
			b := document.Block{Kind: document.Paragraph, Text: prose.Tidy(p)}
			if heads > 0 && i%int(heads) == 1 {
				b.Kind, b.Level = document.Heading, 1+i%6
			}
			if b.Text != "" {
				d.Blocks = append(d.Blocks, b)
			}
		}
		sizes := Sizes{Section: 200, Passage: 40}
		p, err := New(Options{Sizes: sizes, Chunkers: []Kind{Semantic}, Similarity: &topics{}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Chunk(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		checkBounds(t, d, r, sizes)
		all := text(r)
		for _, b := range d.Blocks {
			if b.Kind != document.Heading && !strings.Contains(squeezed(all), squeezed(b.Text)) {
				t.Errorf("%q is lost", b.Text)
			}
		}
	})
}
