package tesseract

import (
	"context"
	"errors"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/localindex/document"
	"docent/localindex/document/pdf"
)

var _ pdf.Recogniser = (*Recogniser)(nil)

func TestReadTSV(t *testing.T) {
	table := strings.Join([]string{
		"level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
		"1\t1\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t",
		"5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t90\tThe", "5\t1\t1\t1\t1\t2\t0\t0\t9\t9\t90\tgallery", "5\t1\t1\t1\t1\t3\t0\t0\t9\t9\t12\t|",
		"5\t1\t1\t1\t2\t1\t0\t0\t9\t9\t90\t图案", "5\t1\t1\t1\t2\t2\t0\t0\t9\t9\t80\t馆", "5\t1\t1\t1\t2\t3\t0\t0\t9\t9\t80\t。",
		"5\t1\t2\t1\t1\t1\t0\t0\t9\t9\t70\tNext\r", "5\t1\t2", "",
	}, "\n")
	text, confidence := readTSV(table)
	if want := "The gallery\n图案馆。\n\nNext"; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	if want := (10*90 + 2*90 + 2*80 + 4*70) / 18.0 / 100; math.Abs(confidence-want) > 1e-9 {
		t.Errorf("confidence %v, want %v", confidence, want)
	}
}

// stand is a program that stands in for tesseract.
func stand(t *testing.T, script string) *Recogniser {
	t.Helper()
	program := filepath.Join(t.TempDir(), "tesseract")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Recogniser{program: program, languages: "eng", timeout: Timeout}
}

func TestRecogniseFaults(t *testing.T) {
	page := image.NewGray(image.Rect(0, 0, 4, 4))
	slow := stand(t, "cat >/dev/null; exec sleep 600")
	slow.timeout = 50 * time.Millisecond
	for _, c := range []struct {
		name string
		r    *Recogniser
		want string
	}{
		{"fails", stand(t, "cat >/dev/null; echo no data >&2; exit 1"), "no data"},
		{"answers without end", stand(t, "cat >/dev/null; head -c 9000000 /dev/zero"), "answers more than"},
		{"hangs", slow, "not done after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := c.r.Recognise(context.Background(), page); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, _, err := stand(t, "true").Recognise(context.Background(), image.NewGray(image.Rect(0, 0, 10_000, 6_000))); err == nil {
		t.Error("a picture over the limit was taken")
	}
}

// TestScanned recognises the scanned page of the awkward files, where tesseract is installed.
func TestScanned(t *testing.T) {
	if testing.Short() {
		t.Skip("recognising a page takes seconds")
	}
	r, err := Find(context.Background())
	if errors.Is(err, ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	p := pdf.New(pdf.Options{CacheDir: filepath.Join(cache, "docent-test", "pdfium"), Recogniser: r})
	defer p.Close()
	data, err := os.ReadFile("../testdata/awkward/half-scanned.pdf")
	if err != nil {
		t.Fatal(err)
	}
	d, err := document.Parse(context.Background(), "half-scanned.pdf", data, document.Options{Parsers: document.Parsers{document.PDF: p}})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.NeedsOCR) != 0 || len(d.Recognised) != 1 || d.Recognised[0].Page != 2 || d.Recognised[0].Confidence < 0.5 {
		t.Errorf("needs OCR %v, recognised %v; want page 2 recognised", d.NeedsOCR, d.Recognised)
	}
	var text strings.Builder
	for _, b := range d.Blocks {
		if b.Page == 2 {
			text.WriteString(b.Text + "\n")
		}
	}
	for _, want := range []string{"All prices are in yuan", "成人", "Groups of ten"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in the recognised text:\n%s", want, text.String())
		}
	}
}
