package evaluate

import (
	"context"

	"docent/agent"
	"docent/localindex"
	"docent/localindex/gallery"
)

// NewLibrary lets the guide look things up in a release, as a kiosk does.
func NewLibrary(r *localindex.Release) agent.Library { return library{r} }

type library struct{ release *localindex.Release }

var _ agent.Galleried = library{}

func (l library) Release() string                           { return l.release.Manifest().ID }
func (l library) Exhibit(id string) (gallery.Exhibit, bool) { return l.release.Exhibit(id) }
func (l library) Gallery() *gallery.Gallery                 { return l.release.Gallery() }

func (l library) Search(ctx context.Context, q agent.Query) ([]agent.Hit, error) {
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

func (l library) Sections(exhibit, lang string) []agent.Section {
	found := l.release.Sections(exhibit, lang)
	sections := make([]agent.Section, len(found))
	for i, s := range found {
		sections[i] = agent.Section{Section: s, Passages: l.release.SectionPassages(s.ID)}
	}
	return sections
}
