package document_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/document"
	"docent/localindex/document/pdf"
	"docent/localindex/document/standard"
)

var update = flag.Bool("update", false, "write the golden files again")

// parsers are those of every format.
func parsers(t testing.TB) document.Parsers {
	t.Helper()
	all := standard.Parsers()
	p := pdf.New(pdf.Options{CacheDir: cacheDir(t)})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	all[document.PDF] = p
	return all
}

// cacheDir keeps PDFium compiled between runs of tests: without it each of them takes seconds longer.
func cacheDir(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "docent-test", "pdfium")
}

// TestAwkward reads every file of testdata/awkward and compares what comes out, or the error, with a golden file.
func TestAwkward(t *testing.T) {
	files, err := filepath.Glob("testdata/awkward/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 30 {
		t.Fatalf("only %d files", len(files))
	}
	all := parsers(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := document.Parse(context.Background(), filepath.Base(file), data, document.Options{Parsers: all})
			if err != nil {
				var e *document.Error
				if !errors.As(err, &e) || e.Name != filepath.Base(file) || e.Reason == "" || e.Err == nil {
					t.Errorf("error %#v does not say what is wrong with which file", err)
				}
			}
			golden(t, filepath.Join("testdata/golden", filepath.Base(file)+".txt"), rendered(d, err))
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as in %s (-want +got):\n%s", file, diff)
	}
}

// rendered shows a document so that a person can check it.
func rendered(d document.Document, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	if len(d.Blocks) == 0 && len(d.NeedsOCR) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "%s %q language %q pages %d needs OCR %v\n", d.Format, d.Title, d.Language, d.Pages, d.NeedsOCR)
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, block := range d.Blocks {
		text := block.Text
		if block.Kind == document.Table {
			rows, _ := json.Marshal(block.Rows)
			text = strings.ReplaceAll(string(rows), `\u0026`, "&")
			if block.Header {
				text = "header " + text
			}
		}
		page := ""
		if block.Page > 0 {
			page = fmt.Sprintf(" p%d", block.Page)
		}
		fmt.Fprintf(&b, "%s %d%s | %s\n", block.Kind, block.Level, page, strings.ReplaceAll(text, "\n", "⏎"))
	}
	return b.String()
}
