// Package text is the keyword index of a release: Bleve (scorch) with BM25 scoring, written once when the release is
// built and only read after that. One document is one passage.
package text

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/blevesearch/bleve/v2"
)

// Doc is one passage as it is indexed. Nothing of it is stored but the id.
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

// Build writes an index of docs into dir, which must be empty or not exist. Ids must be unique and not empty.
func Build(ctx context.Context, dir string, docs []Doc) (err error) {
	if len(docs) == 0 {
		return fmt.Errorf("build text index %s: %w", dir, ErrNoDocs)
	}
	im, err := newMapping()
	if err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	// Bleve merges its segments in a folder of its own and moves the result: keep it on the same file system, and
	// remove it whatever happens.
	scratch, err := os.MkdirTemp(filepath.Dir(dir), ".text-")
	if err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	builder, err := bleve.NewBuilder(dir, im, map[string]any{"buildPathPrefix": scratch})
	if err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	seen := make(map[string]bool, len(docs))
	for _, d := range docs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("build text index %s: %w", dir, err)
		}
		if d.ID == "" || seen[d.ID] { // the builder would keep both
			return fmt.Errorf("build text index %s: passage id %q is empty or used twice", dir, d.ID)
		}
		seen[d.ID] = true
		if err := builder.Index(d.ID, d.fields()); err != nil {
			return fmt.Errorf("index passage %s: %w", d.ID, err)
		}
	}
	if err := builder.Close(); err != nil {
		return fmt.Errorf("build text index %s: %w", dir, err)
	}
	return nil
}

// fields lays a doc out by field. A passage seldom names its own subject ("It was found in 1974 …"), so its title and
// headings are in the field that is searched as well as in fields of their own that add to the score.
func (d Doc) fields() map[string]any {
	all := make([]string, 0, 3+len(d.Keywords)+len(d.Identifiers))
	all = append(all, d.Title, d.Heading, d.Text)
	all = append(all, d.Keywords...)
	all = append(all, d.Identifiers...)
	return map[string]any{
		fieldAll:         strings.Join(all, "\n"),
		fieldHeading:     d.Heading,
		fieldTitle:       d.Title,
		fieldIdentifiers: d.Identifiers,
		fieldLanguage:    d.Language,
		fieldDomain:      d.Domain,
		fieldExhibit:     d.Exhibit,
	}
}
