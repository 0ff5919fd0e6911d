package agent

import (
	"context"
	"fmt"
	"slices"
)

// maxFollowUps is how many questions are suggested after an answer.
const maxFollowUps = 3

// followUps suggests questions that the gallery can answer, and that this turn has not answered yet: natural ones
// about the exhibit, its sections that were not cited, a related exhibit, the house. Every one is tried first.
func (s *shelf) followUps(ctx context.Context, d *desk, t Turn, f found) []string {
	exhibit := t.Exhibit
	if len(f.question.about) > 0 {
		exhibit = f.question.about[0]
	}
	tried := newTrial(s, d, f, exhibit)
	p := phrasesIn(f.language)
	var out []string
	add := func(limit int, text string) {
		if len(out) < limit && !slices.Contains(out, text) && !asked(t, text) && tried.answers(ctx, text) {
			out = append(out, text)
		}
	}
	if exhibit != "" {
		for _, ask := range p.asks {
			add(maxFollowUps-1, ask)
		}
		for _, sec := range d.lib.Sections(exhibit, f.language) {
			if suits(sec.Level, t.Level) {
				add(maxFollowUps-1, fmt.Sprintf(p.more, sec.Heading))
			}
		}
		if e, ok := d.lib.Exhibit(exhibit); ok {
			for _, id := range e.Related {
				if r, ok := d.lib.Exhibit(id); ok {
					add(maxFollowUps, fmt.Sprintf(p.about, r.Title.In(f.language)))
				}
			}
		}
	}
	for _, ask := range p.houseAsks {
		add(maxFollowUps, ask)
	}
	return out
}

func asked(t Turn, text string) bool {
	return t.Question == text || slices.ContainsFunc(t.History, func(x Exchange) bool { return x.Question == text })
}

// trial tries questions against the gallery without answering them.
type trial struct {
	shelf    *shelf
	desk     *desk
	language string
	exhibit  string
	used     map[string]bool // sentences already said
}

func newTrial(s *shelf, d *desk, f found, exhibit string) *trial {
	t := &trial{shelf: s, desk: d, language: f.language, exhibit: exhibit, used: make(map[string]bool)}
	for _, sentence := range f.answer.said {
		t.used[sentence] = true
	}
	return t
}

// answers reports whether the gallery answers a question in its own language, with a sentence not said yet, which the
// next suggestion then may not use either.
func (t *trial) answers(ctx context.Context, text string) bool {
	q := t.shelf.analyse(text, t.language, t.exhibit)
	var best *candidate
	if q.overview() {
		if picked := t.desk.explain(q.about[0], t.language, "", overviewShare, ""); len(picked) > 0 {
			best = picked[0]
		}
	} else {
		passages, err := t.desk.gather(ctx, q, t.language, nil)
		if err != nil {
			return false // the answer stands; it only has fewer suggestions
		}
		best, _ = t.shelf.rank(q, passages, t.exhibit, "")
	}
	if best == nil || t.used[best.text] {
		return false
	}
	t.used[best.text] = true
	return true
}
