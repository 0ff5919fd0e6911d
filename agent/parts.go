package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"docent/agent/plan"
)

// lookUp answers the parts of a question with the gallery's own sentences.
func (s *shelf) lookUp(ctx context.Context, d *desk, t Turn, p plan.ExecutionPlan) (found, error) {
	var all []found
	for _, part := range p.SubQuestions {
		of := t
		of.Question, of.Exhibit = part.Text, part.Exhibit
		d.inHand = part.Exhibit
		f, err := s.find(ctx, d, of, p.Language)
		if err != nil {
			return found{}, err
		}
		all = append(all, f)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return combine(d.lib, p, all), nil
}

// combine puts the answers to the parts of a question together. What the gallery does not have is said at the end.
func combine(lib Library, p plan.ExecutionPlan, all []found) found {
	out := found{language: p.Language, question: all[0].question, answer: answer{language: p.Language}}
	var missing []string
	for i, f := range all {
		if !f.answer.answered {
			missing = append(missing, p.SubQuestions[i].Text)
			continue
		}
		if !out.answer.answered {
			out.question = f.question
		}
		out.answer.answered = true
		var fresh []*candidate
		for _, c := range f.picked {
			if !slices.Contains(out.answer.said, c.text) {
				fresh = append(fresh, c)
			}
		}
		if len(fresh) > 0 && f.in != p.Language {
			out.answer.sentences = append(out.answer.sentences, phrasesIn(p.Language).only(f.in))
		}
		out.answer.add(lib, p.Language, fresh)
		out.picked = append(out.picked, fresh...)
		out.parts = append(out.parts, f.passages)
		for _, passage := range f.passages {
			if !slices.Contains(out.passages, passage) {
				out.passages = append(out.passages, passage)
			}
		}
	}
	ph := phrasesIn(p.Language)
	switch {
	case !out.answer.answered:
		out.answer = nothing(p.Language, ph.nothing)
	case len(missing) > 0:
		out.warning = fmt.Sprintf(ph.nothingOn, strings.Join(missing, ph.comma))
	}
	return out
}
