// Package library lets the guide look things up in a release of a gallery's content.
package library

import (
	"context"

	"docent/agent"
	"docent/localindex"
	"docent/localindex/gallery"
)

// Library is a release as the guide sees it. Two are equal where they are of the same opened release.
type Library struct{ release *localindex.Release }

var (
	_ agent.Library   = Library{}
	_ agent.Galleried = Library{}
)

// Of returns the library of an opened release.
func Of(r *localindex.Release) Library { return Library{r} }

// Release is the release's id.
func (l Library) Release() string { return l.release.Manifest().ID }

// Exhibit implements [agent.Library].
func (l Library) Exhibit(id string) (gallery.Exhibit, bool) { return l.release.Exhibit(id) }

// Gallery implements [agent.Galleried].
func (l Library) Gallery() *gallery.Gallery { return l.release.Gallery() }

// Search implements [agent.Library].
func (l Library) Search(ctx context.Context, q agent.Query) ([]agent.Hit, error) {
	found, err := l.release.Search(ctx, localindex.Query{Text: q.Text, Language: q.Language, Domains: q.Domains, Exhibit: q.Exhibit, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	hits := make([]agent.Hit, len(found))
	for i, h := range found {
		hits[i] = agent.Hit{Passage: h.Passage, Section: h.Section, Score: h.Score, Exact: h.Exact}
	}
	return hits, nil
}

// Sections implements [agent.Library].
func (l Library) Sections(exhibit, lang string) []agent.Section {
	found := l.release.Sections(exhibit, lang)
	sections := make([]agent.Section, len(found))
	for i, s := range found {
		sections[i] = agent.Section{Section: s, Passages: l.release.SectionPassages(s.ID)}
	}
	return sections
}
