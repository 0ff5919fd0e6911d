package pdf

import (
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"docent/localindex/document"
)

func newParser(t *testing.T, o Options) *Parser {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = t.TempDir()
	}
	o.CacheDir = filepath.Join(dir, "docent-test", "pdfium") // shared by all tests: compiling takes seconds
	p := New(o)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func awkward(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../testdata/awkward", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTimeout: PDFium is stopped by force, and the next file is read as if nothing had been.
func TestTimeout(t *testing.T) {
	p := newParser(t, Options{})
	data := awkward(t, "running.pdf")
	if _, err := p.Parse(context.Background(), "running.pdf", data); err != nil {
		t.Fatal(err)
	}
	p.timeout = 1 // ns
	_, err := p.Parse(context.Background(), "running.pdf", data)
	if !errors.Is(err, document.ErrTooSlow) {
		t.Errorf("error %v, want one that it took too long", err)
	}
	p.timeout = PageTimeout
	d, err := p.Parse(context.Background(), "running.pdf", data)
	if err != nil || len(d.Blocks) == 0 {
		t.Errorf("after that, %d blocks and error %v", len(d.Blocks), err)
	}
}

func TestCancelled(t *testing.T) {
	p := newParser(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Parse(ctx, "running.pdf", awkward(t, "running.pdf")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestConcurrent: more files than places, one of them broken, all read at once.
func TestConcurrent(t *testing.T) {
	p := newParser(t, Options{Workers: 2})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if i == 3 {
				if _, err := p.Parse(context.Background(), "cut-off.pdf", awkward(t, "cut-off.pdf")); !errors.Is(err, document.ErrBroken) {
					t.Errorf("error %v of a broken file", err)
				}
				return
			}
			if d, err := p.Parse(context.Background(), "prices.pdf", awkward(t, "prices.pdf")); err != nil || len(d.Blocks) != 4 {
				t.Errorf("%d blocks and error %v", len(d.Blocks), err)
			}
		})
	}
	wg.Wait()
}

func TestClose(t *testing.T) {
	p := New(Options{})
	for range 2 {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Parse(context.Background(), "prices.pdf", awkward(t, "prices.pdf")); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want that it is closed", err)
	}
}

// reader is a recogniser with a fixed answer.
type reader struct {
	text string
	err  error
	size image.Point
}

func (r *reader) String() string { return "a reader" }

func (r *reader) Recognise(_ context.Context, page image.Image) (string, float64, error) {
	r.size = page.Bounds().Size()
	return r.text, 0.8, r.err
}

func TestRecogniser(t *testing.T) {
	r := &reader{text: "第一章 缘起\n\nThe text of\nthe page."}
	d, err := newParser(t, Options{Recogniser: r}).Parse(context.Background(), "half-scanned.pdf", awkward(t, "half-scanned.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.NeedsOCR) > 0 || len(d.Recognised) != 1 || d.Recognised[0] != (document.Recognised{Page: 2, Confidence: 0.8}) {
		t.Errorf("needs OCR %v, recognised %v", d.NeedsOCR, d.Recognised)
	}
	last := d.Blocks[len(d.Blocks)-2:]
	if last[0].Kind != document.Heading || last[0].Page != 2 || !strings.HasPrefix(last[1].Text, "The text of") {
		t.Errorf("recognised blocks %+v", last)
	}
	if r.size.X < 2400 || r.size.X > 2500 { // A4 at 300 dots an inch
		t.Errorf("the page was drawn %v pixels large", r.size)
	}

	r.err = errors.New("no paper")
	d, err = newParser(t, Options{Recogniser: r}).Parse(context.Background(), "half-scanned.pdf", awkward(t, "half-scanned.pdf"))
	if err != nil || len(d.NeedsOCR) != 1 || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "no paper") {
		t.Errorf("with a recogniser that fails: needs OCR %v, notes %q, error %v", d.NeedsOCR, d.Notes, err)
	}
}

func FuzzPDF(f *testing.F) {
	if testing.Short() {
		f.Skip("starts PDFium")
	}
	files, err := filepath.Glob("../testdata/awkward/*.pdf")
	if err != nil || len(files) == 0 {
		f.Fatal(err, len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 30<<10 {
			f.Add(data)
		}
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		f.Skip(err)
	}
	p := New(Options{CacheDir: filepath.Join(dir, "docent-test", "pdfium")})
	f.Cleanup(func() {
		if err := p.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := p.Parse(context.Background(), "x.pdf", data)
		var e *document.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("error %v is not about the file", err)
		}
	})
}
