package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"docent/localindex"
	"docent/localindex/document"
	"docent/localindex/document/pdf"
	"docent/localindex/document/standard"
	"docent/localindex/document/tesseract"
)

// contentBuilder is what reads an author's folder: the formats of documents, and the server that a gallery may name. Only
// commands that build content have one; a kiosk reads no documents.
type contentBuilder struct {
	options localindex.Options
	pdf     *pdf.Parser
}

// newContentBuilder starts nothing yet; the first PDF does.
func newContentBuilder(ctx context.Context, log *slog.Logger) (*contentBuilder, error) {
	rewriter, err := newRewriter()
	if err != nil {
		return nil, err
	}
	o := pdf.Options{}
	if dir, err := os.UserCacheDir(); err == nil { // without one, each run compiles PDFium again
		o.CacheDir = filepath.Join(dir, "docent", "pdfium")
	}
	if ocr, err := tesseract.Find(ctx); err == nil {
		o.Recogniser = ocr
	} else {
		log.Debug("pages that are pictures of text are not read", "err", err)
	}
	b := &contentBuilder{pdf: pdf.New(o)}
	b.options = localindex.Options{Parsers: standard.Parsers(), Rewriter: rewriter, Embedder: newEmbedder}
	b.options.Parsers[document.PDF] = b.pdf
	return b, nil
}

// close ends the parsers and returns err with what went wrong in that.
func (b *contentBuilder) close(err error) error { return errors.Join(err, b.pdf.Close()) }
