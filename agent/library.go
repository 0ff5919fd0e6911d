package agent

import (
	"context"

	"docent/localindex/gallery"
)

// Library is where the guide looks things up: one release of a gallery's content. It must be safe for concurrent
// use, and what it returns is not changed by the guide.
type Library interface {
	// Release names the content. The guide keeps word statistics by it, so it differs whenever the content does.
	Release() string
	// Search returns passages for a question, best first, at most q.Limit of them. Nothing found is no error.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Exhibit returns the exhibit of that id.
	Exhibit(id string) (gallery.Exhibit, bool)
	// Sections returns the sections of an exhibit in the order they were written, with their passages. An empty
	// exhibit means every section of the release (those of exhibits and of the house); an empty language means all.
	Sections(exhibit, language string) []Section
}

// Galleried is a library that has the gallery's plan, hours and events too. Without it the guide quotes the texts about
// them, and plans no routes.
type Galleried interface {
	Gallery() *gallery.Gallery
}

// Query is one search.
type Query struct {
	Text     string
	Language string           // tag of the texts to search; empty means all
	Domains  []gallery.Domain // empty means all
	Exhibit  string           // the exhibit in hand: its passages are preferred; empty means none
	Limit    int
}

// Hit is one passage found.
type Hit struct {
	Passage gallery.Passage
	Section gallery.Section
	Score   float64 // higher is better; comparable within one search only
	Exact   bool    // found by an identifier: title, label or accession number, name
}

// Section is one headed text with the passages it is cut into.
type Section struct {
	gallery.Section
	Passages []gallery.Passage
}
