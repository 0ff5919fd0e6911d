// Package text is the keyword index of a release: a segment of Bleve (zap) keeps the postings, written once when the release
// is built and only read after that, and the passages are scored by BM25 as the textbooks have it. One document is one
// passage.
package text

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"docent/internal/han"
)

// Doc is one passage as it is indexed. Nothing of it is stored but the id and what it is filtered by.
type Doc struct {
	ID          string
	Text        string
	Heading     string   // headings of its section, outermost first
	Title       string   // title of the exhibit or document it belongs to
	Keywords    []string // further words it is found by
	Identifiers []string // label and accession numbers, found only whole
	Language    string
	Domain      string
	Exhibit     string
}

// ErrNoDocs is returned when an index of nothing is asked for.
var ErrNoDocs = errors.New("there is no text to index")

// Build writes an index of docs into dir, which must be empty or not exist. Ids must be unique and not empty. Each group
// of synonyms is a list of words or phrases that mean the same to a visitor. The same docs in the same order give the same
// bytes, wherever and however often they are built.
func Build(ctx context.Context, dir string, docs []Doc, synonyms [][]string) (err error) {
	if len(docs) == 0 {
		return fmt.Errorf("build text index %s: %w", dir, ErrNoDocs)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("build text index: %w", err)
	}
	t, err := newTable(docs, synonyms)
	if err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	if err := t.write(dir); err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	im, err := newMapping(t.languages())
	if err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	if err := writePostings(ctx, dir, im, docs); err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	return nil
}

// fields lays a doc out by field. A passage seldom names its own subject ("It was found in 1974 …"), so its title and
// headings are in the field that is searched as well as in fields of their own that add to the score.
func (d Doc) fields() map[string]any {
	folded := make([]string, len(d.Identifiers))
	for i, id := range d.Identifiers {
		folded[i] = han.Simplify(id)
	}
	return map[string]any{
		fieldAll + d.Language:     han.Simplify(d.all()),
		fieldHeading + d.Language: han.Simplify(d.Heading),
		fieldTitle + d.Language:   han.Simplify(d.Title),
		fieldIdentifiers:          folded,
	}
}

// all is everything a doc is found by.
func (d Doc) all() string {
	return strings.Join(slices.Concat([]string{d.Title, d.Heading, d.Text}, d.Keywords, d.Identifiers), "\n")
}

// length measures a text in about as many terms as an analyzer makes of it: a word is one, a Chinese character two,
// alone and with its neighbour.
func length(text string) int {
	n, inWord := 0, false
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
			inWord = false
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			if !inWord {
				n++
			}
			inWord = true
		default:
			inWord = inWord && (r == '\'' || r == '’' || r == '.')
		}
	}
	return n
}
