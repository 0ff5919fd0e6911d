package localindex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"docent/localindex/chunk"
	"docent/localindex/dense"
	"docent/localindex/document"
	"docent/localindex/embedding"
	"docent/localindex/gallery"
	"docent/localindex/ingest"
	"docent/localindex/pipeline"
	"docent/localindex/release"
	"docent/localindex/text"
)

// ErrProblems is returned where the authoring folder has errors; the problems say which.
var ErrProblems = errors.New("the gallery has errors")

// Options of a build.
type Options struct {
	Number int              // of the release; 0 for one that is never handed out
	Now    func() time.Time // time.Now where nil
	Parts  []release.Part   // beside the text index and the vectors
	// Parsers read documents of other formats than our Markdown; nil leaves those documents out with a warning.
	Parsers document.Parsers
	// Rewriter sets messy documents right where their authors ask for it; nil means none.
	Rewriter chunk.Rewriter
	// Embedder returns the server that the gallery names, nil where none is to be asked. A nil function means none.
	Embedder func(gallery.Embeddings) (Embedder, error)
	// CacheDir keeps what servers made from one build to the next; empty means .docent in the authoring folder.
	CacheDir string
	// Wait waits before a server is asked again; nil means a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Build reads the authoring folder and packs a release of it into dst, which must not exist. Where the folder has
// errors nothing is packed and the error is ErrProblems; warnings stop nothing.
func Build(ctx context.Context, galleryDir, dst string, o Options) (_ release.Manifest, _ []ingest.Problem, err error) {
	read, documents, err := readGallery(ctx, galleryDir, o)
	if err != nil {
		return release.Manifest{}, nil, err
	}
	defer func() { err = errors.Join(err, documents.Save()) }()
	problems := read.Problems
	if n := ingest.Errors(problems); n > 0 {
		return release.Manifest{}, problems, fmt.Errorf("build release of %s: %w: %d", galleryDir, ErrProblems, n)
	}
	began := o.now()
	m, more, err := Pack(ctx, read.Gallery, read.Passages(), galleryDir, dst, o)
	if err != nil {
		documents.Finish(pipeline.Embedded, 0, err.Error())
		return m, problems, err
	}
	took := o.now().Sub(began)
	documents.Finish(pipeline.Embedded, took, vectorFailure(m))
	documents.Finish(pipeline.Indexed, took, "")
	return m, ingest.Sort(append(problems, more...)), nil
}

// Check reads the authoring folder as Build does and says what is wrong with it. It packs nothing.
func Check(ctx context.Context, galleryDir string, o Options) (*gallery.Gallery, []ingest.Problem, error) {
	read, documents, err := readGallery(ctx, galleryDir, o)
	if err != nil {
		return nil, nil, err
	}
	return read.Gallery, read.Problems, documents.Save()
}

// readGallery reads the authoring folder with its pictures and documents.
func readGallery(ctx context.Context, dir string, o Options) (*ingest.Content, *pipeline.Pipeline, error) {
	documents, err := pipeline.New(pipeline.Options{
		Dir: o.documentsDir(dir), Parsers: o.Parsers, Similarity: dense.Likeness{}, Rewriter: o.Rewriter, Now: o.now,
	})
	if err != nil {
		return nil, nil, err
	}
	var reader ingest.DocumentReader
	if o.Parsers != nil {
		reader = documents
	}
	read, err := ingest.ReadWith(ctx, dir, reader)
	if err != nil {
		return nil, nil, err
	}
	broken, err := ingest.CheckPictures(ctx, dir, read.Gallery)
	if err != nil {
		return nil, nil, err
	}
	read.Problems = ingest.Sort(append(read.Problems, broken...))
	return read, documents, nil
}

// Documents returns how far each document of an authoring folder came in the last build or check.
func Documents(galleryDir string) ([]pipeline.Document, error) {
	return pipeline.Load(Options{Parsers: document.Parsers{}}.documentsDir(galleryDir))
}

// documentsDir keeps the states of documents. Nothing is kept where no documents are read.
func (o Options) documentsDir(galleryDir string) string {
	if o.Parsers == nil {
		return ""
	}
	return filepath.Join(o.cache(galleryDir), "documents")
}

func (o Options) cache(galleryDir string) string {
	return cmp.Or(o.CacheDir, filepath.Join(galleryDir, stateFolder))
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// vectorFailure is why a server made no vectors of a release, or nothing.
func vectorFailure(m release.Manifest) string {
	var r DenseReport
	if err := json.Unmarshal(m.Parts[densePartName], &r); err != nil {
		return ""
	}
	return r.Failure
}

// Pack packs a gallery and its passages into dst. The problems are warnings about what a server did not do.
func Pack(ctx context.Context, g *gallery.Gallery, passages []gallery.Passage, galleryDir, dst string, o Options) (release.Manifest, []ingest.Problem, error) {
	var problems []ingest.Problem
	docs := textDocs(g, passages)
	vectors := densePart{
		docs: docs, cacheDir: filepath.Join(o.cache(galleryDir), "vectors"),
		all: embedding.AllOptions{Wait: o.Wait},
		note: func(note string) {
			problems = append(problems, ingest.Problem{File: ingest.GalleryFile, Severity: ingest.Warning, Message: "search: " + note})
		},
	}
	if e := g.Search.Embeddings; e.BaseURL != "" && o.Embedder != nil && g.Search.Dense != "texts" && g.Search.Dense != "off" {
		var err error
		if vectors.embedder, err = o.Embedder(e); err != nil {
			return release.Manifest{}, nil, fmt.Errorf("build release of %s: %w", galleryDir, err)
		}
	}
	m, err := release.Pack(ctx, dst, release.Content{
		Gallery: g, Passages: passages, PicturesFrom: galleryDir,
		Number: o.Number, Created: o.now(), Parts: append([]release.Part{textPart{docs}, vectors}, o.Parts...),
	})
	return m, problems, err
}

// stateFolder is where a build keeps what makes the next one shorter, in the authoring folder.
const stateFolder = ".docent"

const textPartName = "text"

// textPart is the text index as a part of a release.
type textPart struct{ docs []text.Doc }

var _ release.Part = textPart{}

func (textPart) Name() string { return textPartName }

// Build indexes the passages. Its report is how many there are.
func (t textPart) Build(ctx context.Context, g *gallery.Gallery, _, partDir string) (any, error) {
	if err := text.Build(ctx, partDir, t.docs, g.Search.Synonyms); err != nil {
		return nil, err
	}
	return struct {
		Passages int `json:"passages"`
	}{len(t.docs)}, nil
}

// textDocs lays the passages out for the index, in their order.
func textDocs(g *gallery.Gallery, passages []gallery.Passage) []text.Doc {
	exhibits := make(map[string]gallery.Exhibit, len(g.Exhibits))
	for _, e := range g.Exhibits {
		exhibits[e.ID] = e
	}
	sections := make(map[string]gallery.Section, len(g.Sections))
	for _, s := range g.Sections {
		sections[s.ID] = s
	}
	docs := make([]text.Doc, len(passages))
	for i, p := range passages {
		s := sections[p.Section]
		docs[i] = text.Doc{
			ID: p.ID, Text: p.Text, Heading: strings.Join(append(append([]string{}, s.Path...), s.Heading), " · "),
			Keywords: s.Keywords, Language: s.Language, Domain: string(s.Domain), Exhibit: s.Exhibit,
		}
		if e, ok := exhibits[s.Exhibit]; ok {
			docs[i].Title = e.Title.In(s.Language, g.Languages...)
			docs[i].Keywords = append(append([]string{}, s.Keywords...), e.Keywords...)
			docs[i].Identifiers = identifiers(e)
		}
	}
	return docs
}

func identifiers(e gallery.Exhibit) []string {
	var ids []string
	for _, id := range []string{e.Label, e.Accession} {
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
