package ingest

import (
	"fmt"

	"docent/localindex/gallery"
	"docent/localindex/internal/prose"
)

// maxPassageUnits is the size of a passage: 400 characters of Chinese, or 700 of English; a text in both is measured as
// what it is.
const maxPassageUnits = 400 * prose.WideUnits

// Passages cuts a section at ends of paragraphs, where one is too long at ends of sentences, where one is too long
// still at commas and spaces, and at any character at last. Short neighbours are kept together. Put together again
// with white space between them, the passages are the section's text.
func Passages(s gallery.Section) []gallery.Passage {
	var passages []gallery.Passage
	for _, text := range prose.Pack(prose.Split(s.Text, maxPassageUnits), maxPassageUnits) {
		passages = append(passages, gallery.Passage{
			ID: fmt.Sprintf("%s#%d", s.ID, len(passages)+1), Section: s.ID, Text: text,
		})
	}
	return passages
}
