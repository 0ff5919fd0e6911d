package agent

import (
	"context"
	"fmt"
	"slices"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// searchLimit is how many passages one search brings. Sentences are scored one by one, so a passage too many costs
// microseconds and a passage too few an answer.
const searchLimit = 24

// candidate is one sentence that may become part of an answer.
type candidate struct {
	text     string
	terms    words.Terms
	passage  *passage
	index    int // in its passage
	score    float64
	coverage float64 // share of what is asked that it covers, 0…1
	fits     bool    // it, or a sentence beside it, has what the kind of question wants
}

// passage is one passage under consideration, with its sentences.
type passage struct {
	gallery.Passage
	section   gallery.Section
	order     int     // in its section
	relevance float64 // of the search: 0…1 of its best hit
	exact     bool
	terms     words.Terms // of the whole passage
	heading   words.Terms // of the section's heading and path
	sentences []string
}

// gather brings the passages that may answer a question in one language: what the search finds, and all of the
// exhibits the question is about or that is in hand.
func gather(ctx context.Context, lib Library, q question, inHand, language string) ([]*passage, error) {
	text := q.text
	if !q.named {
		for _, id := range q.about {
			if e, ok := lib.Exhibit(id); ok {
				text += " " + e.Title.In(language)
			}
		}
	}
	preferred := inHand
	if len(q.about) > 0 {
		preferred = q.about[0]
	}
	hits, err := lib.Search(ctx, Query{Text: text, Language: language, Exhibit: preferred, Limit: searchLimit})
	if err != nil {
		return nil, fmt.Errorf("search the gallery: %w", err)
	}
	best := 0.0
	for _, h := range hits {
		best = max(best, h.Score)
	}
	var out []*passage
	seen := make(map[string]bool)
	add := func(p gallery.Passage, s gallery.Section, relevance float64, exact bool) {
		if seen[p.ID] || s.Language != language {
			return
		}
		seen[p.ID] = true
		out = append(out, newPassage(p, s, relevance, exact))
	}
	for _, h := range hits {
		relevance := 0.0
		if best > 0 {
			relevance = h.Score / best
		}
		add(h.Passage, h.Section, relevance, h.Exact)
	}
	for _, id := range withInHand(q.about, inHand) {
		for _, s := range lib.Sections(id, language) {
			for _, p := range s.Passages {
				add(p, s.Section, 0, false)
			}
		}
	}
	return out, ctx.Err()
}

func withInHand(about []string, inHand string) []string {
	if inHand == "" || slices.Contains(about, inHand) {
		return about
	}
	return append(slices.Clone(about), inHand)
}

func newPassage(p gallery.Passage, s gallery.Section, relevance float64, exact bool) *passage {
	out := &passage{Passage: p, section: s, relevance: relevance, exact: exact, sentences: words.Sentences(p.Text)}
	out.terms = words.Extract(p.Text)
	heading := s.Heading
	for _, h := range s.Path {
		heading += "\n" + h
	}
	out.heading = words.Extract(heading)
	for i := len(p.ID) - 1; i >= 0 && p.ID[i] != '#'; i-- {
		if p.ID[i] < '0' || p.ID[i] > '9' {
			break
		}
		out.order = order(p.ID[i:])
	}
	return out
}

func order(digits string) int {
	n := 0
	for _, d := range digits {
		n = min(n*10+int(d-'0'), 1<<20)
	}
	return n
}
