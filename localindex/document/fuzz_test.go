package document_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"docent/localindex/document"
	"docent/localindex/document/standard"
)

// seeds adds the awkward files of some kinds.
func seeds(f *testing.F, suffixes ...string) {
	f.Helper()
	for _, suffix := range suffixes {
		files, err := filepath.Glob("testdata/awkward/*" + suffix)
		if err != nil || len(files) == 0 {
			f.Fatalf("%d files %s, %v", len(files), suffix, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 20<<10 {
				f.Add(data)
			}
		}
	}
}

// check looks at what must hold of every document and error.
func check(t *testing.T, name string, data []byte) {
	t.Helper()
	d, err := document.Parse(context.Background(), name, data, document.Options{Parsers: standard.Parsers()})
	if err != nil {
		var e *document.Error
		if !errors.As(err, &e) || e.Reason == "" || e.Name != name || e.Err == nil || strings.Contains(e.Reason, "its parser stopped") {
			t.Errorf("error %#v", err)
		}
		return
	}
	if len(d.Blocks) == 0 {
		t.Error("no text and no error")
	}
	for _, b := range d.Blocks {
		bad := !utf8.ValidString(b.Text) || strings.TrimSpace(b.Text) == "" || b.Kind != document.Code && strings.ContainsAny(b.Text, "\x00\x07\uFFFD\uFEFF\x02")
		switch b.Kind {
		case document.Heading:
			bad = bad || b.Level < 1 || b.Level > 6
		case document.ListItem:
			bad = bad || b.Level < 1
		case document.Table:
			for _, row := range b.Rows {
				bad = bad || len(row) != len(b.Rows[0])
			}
		default:
			bad = bad || b.Level != 0
		}
		if bad {
			t.Errorf("block %+v", b)
		}
	}
}

func FuzzPlain(f *testing.F) {
	seeds(f, ".txt")
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.txt", data) })
}

func FuzzMarkdown(f *testing.F) {
	seeds(f, ".md")
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.md", data) })
}

func FuzzHTML(f *testing.F) {
	seeds(f, ".html")
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.html", data) })
}

// FuzzDOCX tries whole files.
func FuzzDOCX(f *testing.F) {
	seeds(f, ".docx")
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.docx", data) })
}

// FuzzWord tries the text, the styles and the lists of a file, which changes to the archive hardly reach.
func FuzzWord(f *testing.F) {
	f.Add(wordList(2, 1, "x")+wordTable([][]string{{"a", "b"}, {"c"}}), wordStyles, wordNumbering)
	f.Add(`<w:p><w:r><w:footnoteReference w:id="2"/><w:t>x</w:t></w:r></w:p>`, "<w:styles "+wordSpace+"/>", "")
	f.Fuzz(func(t *testing.T, body, styles, numbering string) {
		file := wordFile(body, []part{{"word/styles.xml", styles}, {"word/numbering.xml", numbering}})
		check(t, "a.docx", file)
	})
}
