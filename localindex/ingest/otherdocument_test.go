package ingest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/chunk"
	"docent/localindex/document/standard"
	"docent/localindex/gallery"
	"docent/localindex/pipeline"
)

// houseWith is a folder with documents.
func houseWith(t *testing.T, documents map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "test-house")
	unpack(t, "testdata/good.txtar", dir)
	for name, text := range documents {
		write(t, filepath.Join(dir, "documents", name), []byte(text))
	}
	return dir
}

func readWith(t *testing.T, dir string) *Content {
	t.Helper()
	p, err := pipeline.New(pipeline.Options{Parsers: standard.Parsers()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadWith(t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// of returns the sections of documents with this id.
func of(c *Content, id string) []gallery.Section {
	var found []gallery.Section
	for _, s := range c.Gallery.Sections {
		if strings.HasPrefix(s.ID, "documents/"+id+"/") {
			found = append(found, s)
		}
	}
	return found
}

func problemsOf(c *Content, file string) []string {
	var found []string
	for _, p := range c.Problems {
		if strings.HasPrefix(p.File, "documents/"+file) {
			found = append(found, p.String())
		}
	}
	return found
}

func TestOtherDocuments(t *testing.T) {
	dir := houseWith(t, map[string]string{
		"Visitor Guide 2026.html": "<title>Visitor guide</title><h1>Visitor guide</h1><p>Welcome to the house.</p><h2>Lockers</h2><p>Lockers stand beside the lift.</p>",
		"guide.zh.txt":            "参观须知\n\n请勿触摸展品。\n",
		"vase-notes.txt":          "The vase was bought in 1951.\n",
		"vase-notes.txt.yaml":     "title: Notes on the vase\nexhibit: vase\nlevel: expert\n",
		"vase-notes.xhtml":        "<p>The vase was bought in 1951, say the papers.</p>",
		"plain.md":                "# Plain\n\nMarkdown without any facts.\n",
		"broken.docx":             "no zip",
		"sheet.xlsx":              "PK\x03\x04",
		"展览.html":                 "<p>一次展览的介绍，写得很短。</p>",
		"lonely.pdf.yaml":         "title: x\n",
		"wrong.txt":               "Some text.",
		"wrong.txt.yaml":          "domain: shop\nexhibit: nothing\nlanguage: fr\nlevel: genius\nchunk: {chunkers: [magic], passage: 7}\n",
	})
	c := readWith(t, dir)

	guide := of(c, "visitor-guide-2026")
	if len(guide) != 2 || guide[1].Heading != "Lockers" || !slices.Contains(guide[1].Path, "Visitor guide") || guide[0].Domain != gallery.DomainVenue || guide[0].Language != "en" {
		t.Errorf("the guide is %+v", guide)
	}
	if zh := of(c, "guide"); len(zh) != 1 || zh[0].Language != "zh" || zh[0].Document != "documents/guide.zh.txt" {
		t.Errorf("the Chinese guide is %+v", zh)
	}
	notes := of(c, "vase-notes")
	if len(notes) != 1 || notes[0].Exhibit != "vase" || notes[0].Hall == "" || notes[0].Level != gallery.LevelExpert ||
		notes[0].Domain != gallery.DomainExhibit || notes[0].Heading != "Notes on the vase" {
		t.Errorf("the notes are %+v", notes)
	}
	if md := of(c, "plain"); len(md) != 1 || md[0].Text != "Markdown without any facts." {
		t.Errorf("Markdown without facts is %+v", md)
	}
	for _, tt := range []struct{ file, want string }{
		{"broken.docx", "warning: this document is left out: open: this is not a DOCX file"},
		{"sheet.xlsx", "warning: this document is left out: open: this is an Excel file"},
		{"vase-notes.xhtml", "warning: this document is left out: documents/vase-notes.txt has the same name and language; if it is another text, rename it"},
		{"lonely.pdf.yaml", "warning: there is no document lonely.pdf"},
		{"wrong.txt.yaml", `error: domain: "shop" is none of`},
		{"wrong.txt.yaml", `error: exhibit: there is no exhibit "nothing"`},
		{"wrong.txt.yaml", `error: language: "fr" is not one of the gallery's`},
		{"wrong.txt.yaml", `error: level: "genius" is none of`},
		{"wrong.txt.yaml", `error: chunk.chunkers: "magic" is no way to divide a text`},
		{"wrong.txt.yaml", `error: chunk: sizes are`},
	} {
		if !slices.ContainsFunc(problemsOf(c, tt.file), func(p string) bool { return strings.Contains(p, tt.want) }) {
			t.Errorf("problems of %s are %q, want one with %q", tt.file, problemsOf(c, tt.file), tt.want)
		}
	}

	// Every section has its passages, and they say what it says.
	have := map[string][]string{}
	for _, p := range c.Passages() {
		have[p.Section] = append(have[p.Section], p.Text)
	}
	for _, s := range c.Gallery.Sections {
		if got := strings.Join(strings.Fields(strings.Join(have[s.ID], " ")), ""); got != strings.Join(strings.Fields(s.Text), "") {
			t.Errorf("the passages of %s say %q, its text %q", s.ID, got, s.Text)
		}
	}
}

// paged reads every document as three passages over three pages, the last of them in another language.
type paged struct{}

func (paged) Read(context.Context, string, []byte, pipeline.Wish) (pipeline.Output, error) {
	english := "The bells were found in the river in the spring of that year, and were given to the house by their finder."
	return pipeline.Output{Title: "编钟", Language: "zh", Format: "pdf", Pages: 3, Sections: []chunk.Section{
		{Heading: "编钟", Text: "一。二。三。四。", Page: 1, LastPage: 2, Passages: []chunk.Passage{
			{Text: "一。", Page: 1, LastPage: 1}, {Text: "二。三。", Page: 1, LastPage: 2}, {Text: "四。", Page: 2, LastPage: 2},
		}},
		{Heading: "Bells", Text: english, Page: 3, LastPage: 3, Passages: []chunk.Passage{{Text: english, Page: 3, LastPage: 3}}},
		{Heading: "TB-7", Text: "TB-7: 21.7 cm", Page: 3, LastPage: 3, Passages: []chunk.Passage{{Text: "TB-7: 21.7 cm", Page: 3, LastPage: 3}}},
		{Heading: "Object", Text: "Number: TB-1; Object: bronze bell, bronze clapper", Page: 3, LastPage: 3},
	}}, nil
}

func TestPagesAndLanguagesOfParts(t *testing.T) {
	dir := houseWith(t, map[string]string{"bells.pdf": "%PDF-", "told.zh.pdf": "%PDF-"})
	c, err := ReadWith(t.Context(), dir, paged{})
	if err != nil {
		t.Fatal(err)
	}
	type pages struct{ page, last int }
	var got []pages
	for _, p := range c.Passages() {
		if strings.HasPrefix(p.Section, "documents/bells/") {
			got = append(got, pages{p.Page, p.LastPage})
		}
	}
	// A page is written where it is another than the section's, the last one where it is another than the first.
	if d := cmp.Diff([]pages{{0, 0}, {0, 2}, {2, 0}, {0, 0}, {0, 0}, {0, 0}}, got, cmp.AllowUnexported(pages{})); d != "" {
		t.Errorf("pages of passages (-want +got):\n%s", d)
	}
	for id, want := range map[string][]string{"bells": {"zh", "en", "zh", "en"}, "told": {"zh", "zh", "zh", "zh"}} {
		var languages []string
		for _, s := range of(c, id) {
			languages = append(languages, s.Language)
		}
		if d := cmp.Diff(want, languages); d != "" {
			t.Errorf("languages of the parts of %s (-want +got):\n%s", id, d)
		}
	}
}

func TestOtherDocumentsNeedAReader(t *testing.T) {
	dir := houseWith(t, map[string]string{"guide.html": "<p>x</p>"})
	_, problems, err := Read(t.Context(), dir)
	if err != nil || !slices.ContainsFunc(problems, func(p Problem) bool {
		return p.File == "documents/guide.html" && p.Severity == Warning && strings.Contains(p.Message, "only Markdown")
	}) {
		t.Errorf("problems are %v, %v", problems, err)
	}
}

func TestIDs(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"guide", "guide"}, {"Visitor Guide (2026)", "visitor-guide-2026"}, {"--", ""}, {"展览", ""}, {"Führer", ""},
		{strings.Repeat("long ", 40), ""},
	} {
		got := idOf(tt.name)
		if !slug.MatchString(got) {
			t.Errorf("idOf(%q) = %q, which is no id", tt.name, got)
		}
		if tt.want != "" && got != tt.want {
			t.Errorf("idOf(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	if idOf("展览") == idOf("展品") {
		t.Error("two names have one id")
	}
}

func TestSearchSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "test-house")
	unpack(t, "testdata/good.txtar", dir)
	config, err := filepath.Glob(filepath.Join(dir, "gallery.yaml"))
	if err != nil || len(config) != 1 {
		t.Fatal(config, err)
	}
	before, err := os.ReadFile(config[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, config[0], []byte(string(before)+`
search:
  dense: auto
  keyword_weight: 0.5
  dense_weight: 0.5
  keyword_floor: 0.2
  embeddings: {base_url: "http://127.0.0.1:8081/v1", model: bge-m3, dimension: 1024, batch: 16}
documents: {chunkers: [semantic], passage: 300}
`))
	write(t, filepath.Join(dir, SynonymsFile), []byte("# words\nlift, elevator\n电梯，升降机、直梯\n\nalone\n"))
	g, problems, err := Read(t.Context(), dir)
	if err != nil || Errors(problems) > 0 {
		t.Fatalf("%v, %v", err, problems)
	}
	want := gallery.Search{
		Dense: "auto", KeywordWeight: 0.5, DenseWeight: 0.5, KeywordFloor: 0.2,
		Embeddings: gallery.Embeddings{BaseURL: "http://127.0.0.1:8081/v1", Model: "bge-m3", Dimension: 1024, Batch: 16},
		Synonyms:   [][]string{{"lift", "elevator"}, {"电梯", "升降机", "直梯"}},
	}
	if diff := cmp.Diff(want, g.Search); diff != "" {
		t.Errorf("settings differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(gallery.Division{Chunkers: []string{"semantic"}, Passage: 300}, g.Documents); diff != "" {
		t.Errorf("division differs (-want +got):\n%s", diff)
	}

	for _, tt := range []struct{ yaml, want string }{
		{"search: {dense: sometimes}", `search.dense: "sometimes" will not do`},
		{"search: {dense_weight: 2}", "search.dense_weight: 2 is not within 0 and 1"},
		{"search: {keyword_floor: -1}", "search.keyword_floor: -1 is not within"},
		{"search: {embeddings: {base_url: \"ftp://x\", model: m}}", "this is not an http or https address"},
		{"search: {embeddings: {base_url: \"http://u:p@x/v1\", model: m}}", "no password belongs here"},
		{"search: {embeddings: {base_url: \"http://x/v1\"}}", "name both base_url and model"},
		{"search: {dense: server}", "name the server under search.embeddings"},
		{"search: {embeddings: {dimension: 99999}}", "search.embeddings.dimension"},
		{"documents: {chunkers: [magic]}", `documents.chunkers: "magic"`},
	} {
		rep := &report{}
		parseGallery(nil, []byte("id: x\nname: X\nlanguages: [en]\ntime_zone: UTC\n"+tt.yaml+"\n"), nil, rep)
		if !slices.ContainsFunc(rep.problems, func(p Problem) bool { return strings.Contains(p.Message, tt.want) && p.Line == 5 }) {
			t.Errorf("of %s the problems are %v, want one with %q", tt.yaml, rep.problems, tt.want)
		}
	}
}

func FuzzSynonyms(f *testing.F) {
	f.Add("lift, elevator\n电梯，升降机")
	f.Add(",,,\n#\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, g := range parseSynonyms("synonyms.txt", []byte(text), &report{}) {
			if len(g) < 2 || len(g) > maxSynonyms {
				t.Errorf("a group of %d words", len(g))
			}
		}
	})
}
