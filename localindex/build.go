package localindex

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
	Parts  []release.Part   // beside the text index
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

	now := o.Now
	if now == nil {
		now = time.Now
	}
	var passages []gallery.Passage
	for _, s := range g.Sections {
		passages = append(passages, ingest.Passages(s)...)
	}
	parts := append([]release.Part{textPart{passages}}, o.Parts...)
	m, err := release.Pack(ctx, dst, release.Content{
		Gallery: g, Passages: passages, PicturesFrom: galleryDir,
		Number: o.Number, Created: now(), Parts: parts,
	})
	if err != nil {
		return release.Manifest{}, problems, err
	}
	return m, problems, nil
}

const textPartName = "text"

// textPart is the text index as a part of a release.
type textPart struct{ passages []gallery.Passage }

var _ release.Part = textPart{}

func (textPart) Name() string { return textPartName }

// Build indexes the passages. Its report is how many there are.
func (t textPart) Build(ctx context.Context, g *gallery.Gallery, _, partDir string) (any, error) {
	exhibits := make(map[string]gallery.Exhibit, len(g.Exhibits))
	for _, e := range g.Exhibits {
		exhibits[e.ID] = e
	}
	sections := make(map[string]gallery.Section, len(g.Sections))
	for _, s := range g.Sections {
		sections[s.ID] = s
	}
	docs := make([]text.Doc, len(t.passages))
	for i, p := range t.passages {
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
	if err := text.Build(ctx, partDir, docs, g.Search.Synonyms); err != nil {
		return nil, err
	}
	return struct {
		Passages int `json:"passages"`
	}{len(docs)}, nil
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
