package chunk

import (
	"context"
	"fmt"
	"math"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// Similarity tells how alike two texts are.
type Similarity interface {
	// Similar returns 1 for texts about the same, 0 or less for texts that have nothing in common. It must give the same
	// answer for the same texts.
	Similar(ctx context.Context, a, b string) (float64, error)
}

// A boundary is set where neighbours are less alike than the mean of the part by so many standard deviations, less
// alike than the pairs beside them, and both sides are long enough to be about something.
const (
	dropDeviations = 0.8
	minSideShare   = 0.25 // of the size of a passage
	windowUnits    = 700  // of text on each side that is compared: 100 characters of Chinese
	maxCompared    = 5000 // neighbours of one part
)

// semantic sets boundaries of passages, and of sections that are too long, where the subject changes.
type semantic struct {
	similarity Similarity
	sizes      Sizes
}

func (s semantic) divide(ctx context.Context, parts []part) (divided, error) {
	var out divided
	for _, p := range parts {
		better, err := s.part(ctx, p)
		if err != nil {
			return divided{}, fmt.Errorf("compare the paragraphs of %q: %w", p.heading, err)
		}
		out.parts = append(out.parts, better...)
	}
	return out, nil
}

func (s semantic) part(ctx context.Context, p part) ([]part, error) {
	limit := s.sizes.Passage * prose.WideUnits
	total := 0
	for _, u := range p.units {
		total += size(u.text)
	}
	if total <= limit {
		return []part{p}, nil
	}
	units := sentences(p.units, limit)
	if len(units) < 3 || len(units) > maxCompared {
		return []part{p}, nil
	}
	likeness := make([]float64, len(units)-1)
	for i := range likeness {
		var err error
		if likeness[i], err = s.similarity.Similar(ctx, window(units, i, -1), window(units, i+1, 1)); err != nil {
			return nil, err
		}
	}
	mean, deviation := spread(likeness)
	side := int(minSideShare * float64(limit))
	since, rest := 0, total
	for i := range likeness {
		n := size(units[i].text)
		since, rest = since+n, rest-n
		lowest := (i == 0 || likeness[i] <= likeness[i-1]) && (i+1 == len(likeness) || likeness[i] < likeness[i+1])
		next := units[i+1]
		if lowest && likeness[i] < mean-dropDeviations*deviation && since >= side && rest >= side && !announces(units[i]) && next.kind != document.Footnote {
			units[i+1].breaks = true
			since = 0
		}
	}
	p.units = units
	return s.sectionsOf(p), nil
}

// sentences cuts paragraphs that are longer than half a passage into sentences, so that the subject may change within.
func sentences(units []unit, limit int) []unit {
	var out []unit
	for _, u := range units {
		if u.kind != document.Paragraph || size(u.text)*2 <= limit {
			out = append(out, u)
			continue
		}
		for i, piece := range prose.Sentences(u.text) {
			cut := u
			cut.text = piece.Text
			if i > 0 {
				cut.before = piece.Before
			}
			out = append(out, cut)
		}
	}
	return out
}

// window is the text from unit i on in a direction.
func window(units []unit, i, direction int) string {
	text := units[i].text
	for n := size(text); n < windowUnits; n = size(text) {
		i += direction
		if i < 0 || i >= len(units) {
			break
		}
		if direction < 0 {
			text = units[i].text + "\n" + text
		} else {
			text += "\n" + units[i].text
		}
	}
	return text
}

func spread(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// sectionsOf divides a part that is longer than a section at the boundaries, so that a section is about one thing.
func (s semantic) sectionsOf(p part) []part {
	total := 0
	for _, u := range p.units {
		total += length(u.text)
	}
	if total <= s.sizes.Section {
		return []part{p}
	}
	var out []part
	start, n := 0, 0
	next := 0 // length up to the next boundary
	for i, u := range p.units {
		if i > start && u.breaks {
			next = 0
			for j := i; j < len(p.units) && (j == i || !p.units[j].breaks); j++ {
				next += length(p.units[j].text)
			}
			if n+next > s.sizes.Section {
				out = append(out, part{p.heading, p.path, p.units[start:i]})
				start, n = i, 0
			}
		}
		n += length(u.text)
	}
	return append(out, part{p.heading, p.path, p.units[start:]})
}
