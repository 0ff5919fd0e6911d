package document_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"docent/localindex/document"
	"docent/localindex/document/html"
	"docent/localindex/document/markdown"
	"docent/localindex/document/pdf"
	"docent/localindex/document/plain"
)

// TestLimits: files that are over a limit, or made to hurt, are refused with what is wrong, and a good file after each
// of them is read.
func TestLimits(t *testing.T) {
	all := parsers(t)
	page := func(i int) string { return fmt.Sprintf("BT /F 12 Tf 72 700 Td (This is page %d of many.) Tj ET", i+1) }
	for _, c := range []struct {
		name, file string
		data       func() []byte
		want       error
	}{
		{"huge", "a.pdf", func() []byte { return bytes.Repeat([]byte("%PDF-1.4\n"), 8<<20) }, document.ErrTooLarge},
		{"huge text", "a.txt", func() []byte { return bytes.Repeat([]byte("a b\n"), plain.MaxBytes/4+1) }, document.ErrTooLarge},
		{"huge Markdown", "a.md", func() []byte { return bytes.Repeat([]byte("a b\n"), markdown.MaxBytes/4+1) }, document.ErrTooLarge},
		{"huge page", "a.html", func() []byte { return bytes.Repeat([]byte("<p>"), html.MaxBytes/3+1) }, document.ErrTooLarge},
		{"many elements", "a.html", func() []byte { return bytes.Repeat([]byte("<br>"), 600_000) }, document.ErrTooLarge},
		{"many paragraphs", "a.txt", func() []byte { return bytes.Repeat([]byte("a\n\n"), document.MaxBlocks+1) }, document.ErrTooLarge},
		{"deep page", "a.html", func() []byte { return []byte(strings.Repeat("<div>", 100_000) + "x") }, document.ErrBroken},
		{"500 pages", "a.pdf", func() []byte { return simplePDF(500, page, "") }, document.ErrTooLarge},
		{"bomb", "a.pdf", func() []byte { return bomb(560 << 20) }, nil},
		{"no format", "a.xyz", func() []byte { return []byte{1, 2, 3, 0} }, document.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			if (c.name == "bomb" || c.name == "many paragraphs") && testing.Short() {
				t.Skip("takes seconds")
			}
			_, err := document.Parse(context.Background(), c.file, c.data(), document.Options{Parsers: all})
			var e *document.Error
			if !errors.As(err, &e) || e.Name != c.file || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			t.Log(err)
			d, err := document.Parse(context.Background(), "good.pdf", simplePDF(2, page, ""), document.Options{Parsers: all})
			if err != nil || len(d.Blocks) != 2 || d.Pages != 2 {
				t.Errorf("after it a good file gives %d blocks and %v", len(d.Blocks), err)
			}
		})
	}
}

// TestMostPages reads a file of as many pages as may be.
func TestMostPages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text := func(i int) string {
		var b strings.Builder
		for line := range 3 {
			fmt.Fprintf(&b, "BT /F 10 Tf 72 %d Td (Line %d of page %d is about as long as lines of a book are.) Tj ET\n", 760-16*line, line, i+1)
		}
		return b.String()
	}
	d, err := document.Parse(context.Background(), "a.pdf", simplePDF(pdf.MaxPages, text, ""), document.Options{Parsers: parsers(t)})
	if err != nil || d.Pages != pdf.MaxPages || len(d.Blocks) == 0 || d.Blocks[len(d.Blocks)-1].Page < pdf.MaxPages-1 {
		t.Errorf("%d pages, %d blocks, error %v", d.Pages, len(d.Blocks), err)
	}
}

// TestHurtful: texts that make parsers slow are read in time, or refused.
func TestHurtful(t *testing.T) {
	n := 60_000
	for name, s := range map[string]string{
		"brackets.md":     strings.Repeat("[", n),
		"links.md":        strings.Repeat("[a](", n),
		"stars.md":        strings.Repeat("*a **b ", n/7),
		"backticks.md":    strings.Repeat("`a``b", n/5),
		"lists.md":        strings.Repeat("- ", n/2) + "x",
		"references.md":   strings.Repeat("[a]: b\n", n/7) + strings.Repeat("[a]", n/3),
		"notes.md":        strings.Repeat("[^a]", n/4) + "\n\n[^a]: [^a]\n",
		"table.md":        strings.Repeat("|", n/2) + "\n" + strings.Repeat("|-", n/4) + "|\n" + strings.Repeat("|a", n/4),
		"line.txt":        strings.Repeat("x", 4<<20),
		"sentences.txt":   strings.Repeat("一句话。", 300_000),
		"spaces.txt":      "a" + strings.Repeat(" ", 4<<20) + "b",
		"hyphens.txt":     strings.Repeat("ab-\n", n/4),
		"tables.html":     strings.Repeat("<table><tr><td>", 150) + "x",
		"spans.html":      "<table>" + strings.Repeat("<tr>"+strings.Repeat("<td rowspan=1000 colspan=1000>x", 20), 200) + "</table>",
		"attributes.html": "<p " + strings.Repeat("a=b ", n/4) + ">x",
		"formatting.html": strings.Repeat("<b><i>", 200) + "x" + strings.Repeat("<p>y", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := document.Parse(context.Background(), name, []byte(s), document.Options{Parsers: parsers(t)})
			var e *document.Error
			if err != nil && !errors.As(err, &e) || err == nil && len(d.Blocks) == 0 {
				t.Errorf("%d blocks, error %v", len(d.Blocks), err)
			}
			if err != nil {
				t.Log(err)
			}
		})
	}
}
