package chunk

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/document"
	"docent/localindex/document/pdf"
	"docent/localindex/document/standard"
)

var update = flag.Bool("update", false, "write the golden files again")

// parse reads files of one name in several formats.
func parse(t *testing.T, files ...string) map[string]document.Document {
	t.Helper()
	parsers := standard.Parsers()
	cache := t.TempDir()
	if dir, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(dir, "docent-test", "pdfium")
	}
	p := pdf.New(pdf.Options{CacheDir: cache})
	defer p.Close()
	parsers[document.PDF] = p
	all := map[string]document.Document{}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join("../document/testdata/same", file))
		if err != nil {
			t.Fatal(err)
		}
		d, err := document.Parse(context.Background(), file, data, document.Options{Parsers: parsers})
		if err != nil {
			t.Fatal(err)
		}
		all[file] = d
	}
	return all
}

func chunked(t *testing.T, d document.Document, o Options) Result {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Chunk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rendered shows sections and passages without white space within words' order, which formats differ in.
func rendered(r Result, pages bool) string {
	var b strings.Builder
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "# %s", squeezed(strings.Join(append(append([]string(nil), s.Path...), s.Heading), " > ")))
		if pages {
			fmt.Fprintf(&b, " [pages %d-%d]", s.Page, s.LastPage)
		}
		b.WriteByte('\n')
		for i, p := range s.Passages {
			fmt.Fprintf(&b, "%d. %s\n", i+1, squeezed(p.Text))
		}
	}
	return b.String()
}

func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// TestSamePassages: a document gives the same passages whatever its format, up to white space.
func TestSamePassages(t *testing.T) {
	files := []string{"guide.md", "guide.html", "guide.docx", "guide.pdf", "guide-untagged.pdf"}
	documents := parse(t, files...)
	for _, sizes := range []Sizes{{}, {Section: 400, Passage: 120}} {
		want := rendered(chunked(t, documents["guide.md"], Options{Sizes: sizes}), false)
		golden(t, fmt.Sprintf("guide-%d.txt", sizes.Passage), want)
		for _, file := range files[1:] {
			if diff := cmp.Diff(want, rendered(chunked(t, documents[file], Options{Sizes: sizes}), false)); diff != "" {
				t.Errorf("%s with sizes %v is not as guide.md (-md +other):\n%s", file, sizes, diff)
			}
		}
	}
	if r := chunked(t, documents["guide.pdf"], Options{}); r.Sections[len(r.Sections)-1].LastPage < 2 {
		t.Errorf("the pages of the PDF are lost: %s", rendered(r, true))
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as in %s (-want +got):\n%s", file, diff)
	}
}
