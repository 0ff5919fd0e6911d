package ingest

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/tools/txtar"

	"docent/localindex/gallery"
)

// seeds adds the files of the golden folders that have a suffix.
func seeds(f *testing.F, suffix string) {
	f.Helper()
	for _, archive := range []string{"testdata/good.txtar", "testdata/broken.txtar", "testdata/catalogue.txtar"} {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if strings.HasSuffix(file.Name, suffix) {
				f.Add(file.Data)
			}
		}
	}
}

// checkProblems looks at what every problem must have.
func checkProblems(t *testing.T, rep *report, data []byte) {
	t.Helper()
	lines := strings.Count(string(data), "\n") + 2
	for _, p := range rep.sorted() {
		if p.File == "" || p.Message == "" || p.Line < 0 || p.Line > lines || p.Severity != Error && p.Severity != Warning {
			t.Errorf("problem %+v of a text of %d lines", p, lines-2)
		}
	}
}

func FuzzGalleryYAML(f *testing.F) {
	seeds(f, ".yaml")
	for _, s := range []string{
		"", "a", "- a", "languages: *x", "&a {languages: *a}", "? [a]\n: b", "languages: [en]\nhalls: [[[[[]]]]]", "id: !!binary aGk=",
		"languages: {en: zh}", "---\n---\n", "venue: {hours: [{day: x}, {}]}", "name: {en: {en: x}}", "<<: {id: x}", "\t", "id: 'x",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, _, problem := cleanText(raw)
		if problem != "" {
			return
		}
		rep := &report{}
		g := parseGallery(nil, data, nil, rep)
		checkProblems(t, rep, data)
		if g == nil {
			if Errors(rep.problems) == 0 {
				t.Error("no gallery, and no error that says why")
			}
			return
		}
		if len(g.Languages) == 0 {
			t.Error("a gallery without a language")
		}
		for _, s := range houseFacts(g, GalleryFile) {
			if s.Text == "" || s.ID == "" || !slices.Contains(g.Languages, s.Language) {
				t.Errorf("section %+v", s)
			}
		}
	})
}

func testGallery() *gallery.Gallery {
	return &gallery.Gallery{
		ID: "g", Name: gallery.Localized{"en": "G"}, Languages: []string{"en", "zh"}, TimeZone: "UTC",
		Halls: []gallery.Hall{{ID: "clay", Name: gallery.Localized{"en": "Clay"}}, {ID: "bronze", Name: gallery.Localized{"en": "Bronze"}}},
	}
}

func FuzzExhibit(f *testing.F) {
	seeds(f, ".md")
	for _, s := range []string{
		"---\n---\n", "---\ntitle: x\n---\n# A\n## B\n#### C {level=child}\ntext", "---\ntitle: x\nhall: clay\n---\n[^a][^b]: [^]", "---\n",
		"---\ntitle: x\n---\n" + strings.Repeat("> ", 500) + "deep", "---\ntitle: x\n---\n" + strings.Repeat("- ", 300) + "deep",
		"---\ntitle: x\n---\n|a|\n|-|\n|[^x]|\n", "---\ntitle: x\n---\n**“字”**\n&#0;&#x1F600;&amp;\\*", "---\ntitle: x\n---\n## {level=child}\n\n<b>\n",
		"---\ntitle: x\n---\nSetext\n===\ntext\n\n```\ncode\n```\n\n***\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, _, problem := cleanText(raw)
		if problem != "" {
			return
		}
		rep := &report{}
		g := testGallery()
		x := parseExhibit("exhibits/x.md", "x", data, g, rep)
		checkProblems(t, rep, data)
		if x == nil {
			if Errors(rep.problems) == 0 {
				t.Error("no exhibit, and no error that says why")
			}
			return
		}
		x.parseTranslation("exhibits/x.zh.md", "zh", data, rep)
		for _, s := range x.sections {
			if s.Text == "" || !utf8.ValidString(s.Text) || !norm.NFC.IsNormalString(s.Text) {
				t.Errorf("text of section %s: %q", s.ID, s.Text)
			}
			for _, key := range s.Sources {
				if !slices.ContainsFunc(x.exhibit.Sources, func(o gallery.Source) bool { return o.Key == key }) {
					t.Errorf("section %s names the source %q, which is not there", s.ID, key)
				}
			}
		}
	})
}

func FuzzDocument(f *testing.F) {
	seeds(f, ".md")
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, _, problem := cleanText(raw)
		if problem != "" {
			return
		}
		rep := &report{}
		for _, s := range parseDocument("documents/x.md", "x", "", data, testGallery(), rep) {
			if s.Text == "" {
				t.Errorf("section %s is empty", s.ID)
			}
		}
		checkProblems(t, rep, data)
	})
}

func FuzzCatalogue(f *testing.F) {
	seeds(f, ".csv")
	for _, s := range []string{
		"id,title\n1,a\n", "\ufeffID;Title\r\n1;\"a\r\nb\"\r\n", "id\ttitle\n1\ta\n2", "id,title\n\"1,a\n", "", "sep=,\n", "id,title_zh\n1,鼎\n",
		"id,title,title\n1,a,b,c\n", ",,,\n", "id,title\n\"\"\"\",\"\"\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, _, problem := cleanText(raw)
		if problem != "" {
			return
		}
		rep := &report{}
		rows := parseCatalogue(data, rep)
		checkProblems(t, rep, data)
		if rows == nil {
			if Errors(rep.problems) == 0 {
				t.Error("no rows, and no error that says why")
			}
			return
		}
		g := &gallery.Gallery{Languages: catalogueLanguages(rows), TimeZone: "UTC"}
		for _, r := range rows {
			c := &catalogueRow{row: r, g: g, pictures: pictureFinder{}, rep: rep}
			if len(cellList(r.cells["image"])) == 0 && c.read(false) == "" {
				g.Exhibits = append(g.Exhibits, c.exhibit)
			}
		}
		ids := map[string]bool{}
		for _, e := range g.Exhibits {
			if !slug.MatchString(e.ID) || ids[e.ID] || len(e.Title) == 0 {
				t.Errorf("exhibit %+v", e)
			}
			ids[e.ID] = true
		}
	})
}
