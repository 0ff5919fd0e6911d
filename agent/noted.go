package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/agent/internal/words"
	"docent/agent/memory"
	"docent/agent/plan"
	"docent/agent/venue"
	"docent/localindex/gallery"
)

// acknowledged is what to say where visitors tell of themselves and ask nothing: what is remembered of it, or thanks where
// nothing is. ok is false for anything else.
func acknowledged(t Turn, language string, now time.Time) (text string, ok bool) {
	drafts := memory.Extract(memory.Said{Text: t.Question, Exhibit: t.Exhibit, At: now})
	if len(drafts) == 0 || t.Explain || !plan.States(t.Question) {
		return "", false
	}
	var noted []string
	for _, r := range t.Remembered {
		said := slices.ContainsFunc(drafts, func(d memory.Draft) bool { return d.Key == r.Key })
		if said && words.Detect(r.Text, language) == language {
			noted = append(noted, r.Text)
		}
	}
	ph := phrasesIn(language)
	if len(noted) == 0 {
		return ph.told, true
	}
	return fmt.Sprintf(ph.noted, strings.Join(noted, map[bool]string{true: "", false: " "}[language == words.Chinese])), true
}

// lookUpAnyDay looks up a question for the house without the day in it, where no text speaks of that day: what a ticket costs
// on Sunday is what it costs. That the house is closed then, or has other hours, is said after it.
func (s *shelf) lookUpAnyDay(ctx context.Context, d *desk, t Turn, p plan.ExecutionPlan, b *toolbox) (f found, ok bool, err error) {
	if t.Explain || len(p.SubQuestions) != 1 {
		return found{}, false, nil
	}
	text, day, ok := plan.WithoutDay(p.SubQuestions[0].Text)
	if !ok {
		return found{}, false, nil
	}
	p.SubQuestions = []plan.SubQuestion{{Text: text, Exhibit: p.SubQuestions[0].Exhibit}}
	f, err = s.lookUp(ctx, d, t, p)
	if err != nil || !f.answer.answered || slices.ContainsFunc(f.picked, func(c *candidate) bool { return c.passage.section.Domain == gallery.DomainExhibit }) {
		return found{}, false, err
	}
	f.warning = b.unusual(day)
	return f, true, nil
}

// lookUpForAnybody looks up a question without what visitors say of themselves in it, where no text speaks of that: whether
// pictures may be touched is the same for who is blind. That there may be more for them is said after it. Where they need
// another way to visit, the texts on that are looked at too, and that there are none is said with whom to ask.
func (s *shelf) lookUpForAnybody(ctx context.Context, d *desk, t Turn, p plan.ExecutionPlan, now time.Time) (f found, ok bool, err error) {
	rest, need, ok := plan.WithoutSelf(t.Question)
	if !ok || t.Explain {
		return found{}, false, nil
	}
	asks := []string{rest}
	if need != "" {
		asks = append(asks, need+"?")
	}
	for _, ask := range asks {
		of := t
		of.Question = ask
		plain := s.plan(of, p.Language, now)
		if plain.Mode != plan.Chat || plain.Courtesy != "" {
			continue
		}
		if f, err = s.lookUp(ctx, d, of, plain); err != nil {
			return found{}, false, err
		}
		beside := need != "" && !points(ask) && slices.ContainsFunc(f.picked, func(c *candidate) bool { return c.passage.section.Domain == gallery.DomainExhibit })
		if f.answer.answered && !beside {
			if need != "" && ask == rest {
				f.warning = phrasesIn(p.Language).needMore
			}
			return f, true, nil
		}
	}
	if need == "" {
		return found{}, false, nil
	}
	return found{language: p.Language, question: f.question, answer: nothing(p.Language, phrasesIn(p.Language).needNone)}, true, nil
}

// unusual tells of a day on which the house is closed or has special hours, "" of any other.
func (b *toolbox) unusual(day plan.Day) string {
	if b.shelf.gallery == nil {
		return ""
	}
	dates, err := venue.Dates(day, b.now)
	if err != nil {
		return "" // no day of a calendar, and asked back before
	}
	var out []string
	for _, date := range dates {
		if on := venue.On(b.shelf.gallery, date); on.Known && (on.Special || len(on.Spans) == 0) {
			out = append(out, b.say.open(on, b.now, false, b.shelf.gallery, b.plan.Language))
		}
	}
	return strings.Join(out, " ")
}
