package kiosk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"docent/localindex"
	"docent/localindex/gallery"
	"docent/vision"
	"docent/vision/label"
)

// LabelReader reads the text on a photo. It is safe for concurrent use.
type LabelReader interface {
	// Read returns the text in languages, named by tags.
	Read(ctx context.Context, photo vision.Photo, languages []string) (label.Text, error)
}

var _ LabelReader = (*label.Reader)(nil)

// reading is what came of a label.
type reading struct {
	took    time.Duration
	decided bool // whether the text changed what the photo was taken for
}

// readLabel looks for text on a photo that was not surely recognised, asks the release whose it is, and puts both
// together. Where that fails, what was seen stands.
func (k *Kiosk) readLabel(ctx context.Context, content *content, photo vision.Photo, seen vision.Recognition) (vision.Recognition, reading) {
	began := k.now()
	named, err := k.named(ctx, content, photo)
	r := reading{took: k.now().Sub(began)}
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			k.log.Warn("labels are not read", "error", err)
		}
		return seen, r
	}
	fused := label.Fuse(seen, named)
	r.decided = fused.Decision != seen.Decision
	return fused, r
}

func (k *Kiosk) named(ctx context.Context, content *content, photo vision.Photo) ([]label.Named, error) {
	text, err := k.labels.Read(ctx, photo, content.release.Gallery().Languages)
	if err != nil {
		return nil, err
	}
	ids, err := content.mentioned(ctx, text)
	if err != nil {
		return nil, err
	}
	var named []label.Named
	for _, id := range ids {
		if e, ok := content.release.Exhibit(id); ok {
			named = append(named, label.Named{ExhibitID: id, Match: text.Match(namesOf(e))})
		}
	}
	return named, nil
}

func namesOf(e gallery.Exhibit) label.Names {
	n := label.Names{Number: e.Label, Accession: e.Accession}
	for _, title := range e.Title {
		n.Titles = append(n.Titles, title)
	}
	return n
}

const (
	maxLabelText = 1000 // characters that the release is asked about
	maxMentioned = 40   // passages that it may answer with
	maxNumbers   = 8    // lines that may be a number alone
	longNumber   = 16   // characters of such a line
)

// mentioned is the exhibits that a text may be about: those it names, and those whose texts have its words.
func (c *content) mentioned(ctx context.Context, text label.Text) ([]string, error) {
	lines := strings.Split(text.String(), "\n")
	questions := []string{string(firstRunes(strings.Join(lines, "\n"), maxLabelText))}
	for _, line := range lines { // a number among other words is taken for a label's only with care
		if len(questions) <= maxNumbers && len([]rune(line)) <= longNumber && strings.ContainsFunc(line, unicode.IsDigit) {
			questions = append(questions, line)
		}
	}
	var ids []string
	for _, q := range questions {
		if strings.TrimSpace(q) == "" {
			continue
		}
		hits, err := c.release.Search(ctx, localindex.Query{Text: q, Domains: []gallery.Domain{gallery.DomainExhibit}, Limit: maxMentioned})
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if id := h.Section.Exhibit; id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

func firstRunes(s string, n int) []rune {
	r := []rune(s)
	return r[:min(len(r), n)]
}
