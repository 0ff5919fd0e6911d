package pdf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	pdfium "github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"docent/localindex/document"
	"docent/localindex/document/pdf/internal/layout"
	"docent/localindex/document/plain"
	"docent/localindex/internal/prose"
)

// Parse reads one file. Its pages are read with an instance of PDFium of their own, which is thrown away afterwards:
// nothing of one file stays for the next.
func (p *Parser) Parse(ctx context.Context, name string, data []byte) (document.Document, error) {
	if len(data) > MaxBytes {
		return document.Document{}, document.TooLarge(name, len(data), MaxBytes)
	}
	pool, err := p.enter(ctx)
	if err != nil {
		return document.Document{}, fmt.Errorf("read a PDF file: %w", err)
	}
	defer p.leave()
	instance, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return document.Document{}, fmt.Errorf("start PDFium for a file: %w", err)
	}
	f := &file{instance: instance, timeout: p.timeout}
	defer f.close()
	return p.read(ctx, f, data)
}

func (p *Parser) read(ctx context.Context, f *file, data []byte) (document.Document, error) {
	if err := f.open(ctx, data); err != nil {
		return document.Document{}, err
	}
	d := document.Document{Format: document.PDF, Pages: f.pages, Title: f.title}
	if f.pages > MaxPages {
		return document.Document{}, &document.Error{Op: "open", Reason: fmt.Sprintf("it has %d pages, more than the %d that are read", f.pages, MaxPages),
			Hint: "divide it into several files", Err: document.ErrTooLarge}
	}
	pages := make([]layout.Page, 0, f.pages)
	glyphs := 0
	for i := range f.pages {
		page, pictures, err := f.page(ctx, i)
		if err != nil {
			return document.Document{}, err
		}
		if glyphs += len(page.Glyphs); glyphs > MaxGlyphs {
			return document.Document{}, &document.Error{Op: "read", Reason: fmt.Sprintf("it has more than %d characters", MaxGlyphs),
				Hint: "divide it into several files", Err: document.ErrTooLarge}
		}
		if isPicture(page, pictures) {
			d.NeedsOCR = append(d.NeedsOCR, i+1)
			page.Glyphs, page.Tags = nil, nil
		}
		pages = append(pages, page)
	}
	d.Blocks = layout.Blocks(pages)
	if p.options.Recogniser != nil {
		if err := p.recognise(ctx, f, &d); err != nil {
			return document.Document{}, err
		}
	}
	return document.Finish(d, f.language)
}

// A page is taken for a picture of text if it has at most so many letters and pictures, or lines that may be drawn
// letters, cover so much of it; or if so much of its text has no meaning in the file.
const (
	fewLetters     = 30
	pictureShare   = 0.4
	manyPaths      = 300
	unreadableMost = 0.3
)

func isPicture(p layout.Page, s surface) bool {
	readable, unreadable := p.Letters()
	if all := readable + unreadable; all > fewLetters && float64(unreadable) > unreadableMost*float64(all) {
		return true
	}
	return readable <= fewLetters && (s.pictures >= pictureShare || s.paths >= manyPaths)
}

// recognise reads the pages that are pictures. A page that cannot be recognised stays among those that need it.
func (p *Parser) recognise(ctx context.Context, f *file, d *document.Document) error {
	pending := d.NeedsOCR
	d.NeedsOCR = nil
	found := map[int][]document.Block{}
	for i, page := range pending {
		if i >= MaxOCRPages {
			d.NeedsOCR = append(d.NeedsOCR, pending[i:]...)
			d.Notes = append(d.Notes, fmt.Sprintf("only %d pages of a file are recognised", MaxOCRPages))
			break
		}
		picture, err := f.draw(ctx, page-1)
		if err != nil {
			return err
		}
		text, confidence, err := p.options.Recogniser.Recognise(ctx, picture)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			d.Partial = true
			d.NeedsOCR = append(d.NeedsOCR, page)
			d.Notes = append(d.Notes, fmt.Sprintf("page %d could not be recognised: %v", page, err))
			continue
		}
		if prose.Letters(text) == 0 {
			continue // a picture without text
		}
		d.Recognised = append(d.Recognised, document.Recognised{Page: page, Confidence: confidence})
		found[page] = plain.Blocks(text, page)
	}
	d.Blocks = merge(d.Blocks, found, d.Pages)
	return nil
}

// merge puts the blocks of recognised pages to their place.
func merge(blocks []document.Block, found map[int][]document.Block, pages int) []document.Block {
	if len(found) == 0 {
		return blocks
	}
	var out []document.Block
	i := 0
	for page := 1; page <= pages; page++ {
		for ; i < len(blocks) && blocks[i].Page <= page; i++ {
			out = append(out, blocks[i])
		}
		out = append(out, found[page]...)
	}
	return append(out, blocks[i:]...)
}

// file is a PDF file that is open in an instance of PDFium.
type file struct {
	instance pdfium.Pdfium
	timeout  time.Duration // for one call of within
	document references.FPDF_DOCUMENT
	pages    int
	title    string
	language string
	tagged   bool
	killed   chan struct{} // closed when the instance was stopped by force
}

// close frees the instance with all that is open in it.
func (f *file) close() {
	if f.killed == nil {
		_ = f.instance.Close() // it is thrown away in any case
	}
}

// within runs PDFium with a time limit. What it does is stopped by force when the time is over or ctx ends; after that
// the instance is dead.
func (f *file) within(ctx context.Context, op string, do func() error) error {
	if f.killed != nil {
		return document.Broken(op, "PDFium has stopped")
	}
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	killed := make(chan struct{})
	stop := context.AfterFunc(limited, func() {
		defer close(killed)
		_ = f.instance.Kill()
	})
	err := do()
	if !stop() {
		<-killed
		f.killed = killed
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &document.Error{Op: op, Reason: fmt.Sprintf("PDFium was not done after %v", f.timeout),
			Hint: "print it to a new PDF file", Err: document.ErrTooSlow}
	}
	var known *document.Error
	if err != nil && !errors.As(err, &known) {
		message, _, _ := strings.Cut(err.Error(), "\n") // the stack of a WebAssembly that failed says nothing here
		return document.Broken(op, "PDFium cannot read it: "+message)
	}
	return err
}

func (f *file) open(ctx context.Context, data []byte) error {
	return f.within(ctx, "open", func() error {
		opened, err := f.instance.OpenDocument(&requests.OpenDocument{File: &data})
		switch {
		case errors.Is(err, pdfiumerrors.ErrPassword):
			return &document.Error{Op: "open", Reason: "it is encrypted and opens only with a password", Hint: "save it without a password", Err: document.ErrEncrypted}
		case errors.Is(err, pdfiumerrors.ErrSecurity):
			return &document.Error{Op: "open", Reason: "it is encrypted in a way that is not known", Hint: "print it to a new PDF file", Err: document.ErrEncrypted}
		case errors.Is(err, pdfiumerrors.ErrFormat), errors.Is(err, pdfiumerrors.ErrFile):
			return document.Broken("open", "its inside is damaged or cut off")
		case err != nil:
			return err
		}
		f.document = opened.Document
		count, err := f.instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: f.document})
		if err != nil {
			return err
		}
		f.pages = count.PageCount
		f.properties()
		return nil
	})
}

// properties reads what the file says of itself; none of it is needed.
func (f *file) properties() {
	if meta, err := f.instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: f.document, Tag: "Title"}); err == nil && meaningful(meta.Value) {
		f.title = prose.Tidy(meta.Value)
	}
	if tagged, err := f.instance.FPDFCatalog_IsTagged(&requests.FPDFCatalog_IsTagged{Document: f.document}); err == nil {
		f.tagged = tagged.IsTagged
	}
	if language, err := f.instance.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: f.document}); err == nil {
		f.language = language.Language
	}
}
