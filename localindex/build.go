package localindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"docent/localindex/embedding"
	"docent/localindex/gallery"
	"docent/localindex/ingest"
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
	// Embedder returns the server that the gallery names, nil where none is to be asked. A nil function means none.
	Embedder func(gallery.Embeddings) (Embedder, error)
	// CacheDir keeps what servers made from one build to the next; empty means .docent in the authoring folder.
	CacheDir string
	// Wait waits before a server is asked again; nil means a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Build reads the authoring folder and packs a release of it into dst, which must not exist. Where the folder has
// errors nothing is packed and the error is ErrProblems; warnings stop nothing.
func Build(ctx context.Context, galleryDir, dst string, o Options) (release.Manifest, []ingest.Problem, error) {
	g, problems, err := ingest.Read(ctx, galleryDir)
	if err != nil {
		return release.Manifest{}, nil, err
	}
	broken, err := ingest.CheckPictures(ctx, galleryDir, g)
	if err != nil {
		return release.Manifest{}, nil, err
	}
	problems = ingest.Sort(append(problems, broken...))
	if n := ingest.Errors(problems); n > 0 {
		return release.Manifest{}, problems, fmt.Errorf("build release of %s: %w: %d", galleryDir, ErrProblems, n)
	}

	var passages []gallery.Passage
	for _, s := range g.Sections {
		passages = append(passages, ingest.Passages(s)...)
	}
	m, more, err := Pack(ctx, g, passages, galleryDir, dst, o)
	return m, ingest.Sort(append(problems, more...)), err
}

// Pack packs a gallery and its passages into dst. The problems are warnings about what a server did not do.
func Pack(ctx context.Context, g *gallery.Gallery, passages []gallery.Passage, galleryDir, dst string, o Options) (release.Manifest, []ingest.Problem, error) {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	var problems []ingest.Problem
	docs := textDocs(g, passages)
	vectors := densePart{
		docs: docs, cacheDir: filepath.Join(cmp.Or(o.CacheDir, filepath.Join(galleryDir, stateFolder)), "vectors"),
		wait: embedding.AllOptions{Wait: o.Wait},
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
		Number: o.Number, Created: now(), Parts: append([]release.Part{textPart{docs}, vectors}, o.Parts...),
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
