package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"docent/agent/internal/words"
	"docent/agent/plan"
	"docent/agent/tool"
	"docent/agent/trace"
)

// leftOut are the template's steps that a model's plan left out and without which there is no comparison: something of
// each exhibit.
func leftOut(c *guideCaller, template []planStep, reports []report, p plan.ExecutionPlan) []planStep {
	if p.Template != plan.Compare {
		return nil
	}
	told := make(map[string]bool)
	made := make(map[string]bool)
	for _, r := range reports {
		made[r.step.Tool+" "+string(r.step.Args)] = true
		for _, f := range r.result.Data.Facts {
			if p := c.box.passages[f.Passage]; p != nil {
				told[p.section.Exhibit] = true
			}
		}
	}
	if !slices.ContainsFunc(p.Arguments.Exhibits, func(id string) bool { return !told[id] }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(template), func(st planStep) bool { return made[st.Tool+" "+string(st.Args)] })
}

// atOnce is how many steps run at the same time.
const atOnce = 4

// execute runs the steps, those that wait for nothing side by side. A step that missed is taken anew: by rules, which know
// what usually helps (fewer words, another source), then by the model. Where neither helps, the model may change the rest.
func (g *Guide) execute(ctx context.Context, c *guideCaller, steps []planStep, t Turn, p plan.ExecutionPlan) []report {
	reports := make(map[int]report)
	pending := slices.Clone(steps)
	replanned := make(map[int]bool)
	rewritten := false
	var order []int
	for len(pending) > 0 && ctx.Err() == nil {
		var ready, waiting []planStep
		for _, st := range pending {
			alone := !c.Registry().CanParallel(st.Tool)
			switch {
			case len(ready) == atOnce, alone && len(ready) > 0, !allIn(st.DependsOn, reports):
				waiting = append(waiting, st)
			default:
				ready = append(ready, st)
			}
		}
		if len(ready) == 0 {
			break // they wait for steps that do not exist
		}
		results := make([]tool.Result, len(ready))
		var running sync.WaitGroup
		for i, st := range ready {
			if c.Step() != "" {
				results[i] = tool.Result{Error: "no more steps", Refused: true}
				continue
			}
			running.Go(func() { results[i] = c.Call(ctx, st.Tool, st.Args) })
		}
		running.Wait()
		pending = waiting
		missed := false
		for i, st := range ready {
			r := report{step: st, result: results[i]}
			if replanned[st.ID] {
				r.by = "rules"
			}
			if !slices.Contains(order, st.ID) {
				order = append(order, st.ID)
			}
			if !r.met() && !r.result.Refused && !replanned[st.ID] {
				if next, ok := replanByRules(r, t, p); ok {
					replanned[st.ID] = true
					pending = append(pending, next)
					continue
				}
			}
			if !r.met() && !r.result.Refused && g.model != nil {
				r = g.explore(ctx, c, r, p)
			}
			reports[st.ID] = r
			missed = missed || !r.met()
		}
		if missed && len(pending) > 0 && g.model != nil && !rewritten {
			rewritten = true
			pending = g.rewriteRest(ctx, c, inOrder(order, reports), pending, p)
		}
	}
	out := inOrder(order, reports)
	for _, r := range out {
		c.trace.Step(trace.Step{ID: r.step.ID, Description: r.step.Description, Tool: r.step.Tool, Met: r.met(), By: r.by, Refused: r.result.Refused})
	}
	return out
}

func inOrder(order []int, reports map[int]report) []report {
	slices.Sort(order) // as they were planned
	var out []report
	for _, id := range order {
		if r, ok := reports[id]; ok {
			out = append(out, r)
		}
	}
	return out
}

func allIn(ids []int, reports map[int]report) bool {
	for _, id := range ids {
		if _, ok := reports[id]; !ok {
			return false
		}
	}
	return true
}

// replanByRules changes a step that missed: a recall asks with its names and long words only, then gives way to
// nothing else; a walk that does not fit gets longer; hours that are not listed are looked for in the texts.
func replanByRules(r report, t Turn, p plan.ExecutionPlan) (planStep, bool) {
	next := r.step
	var args any
	switch r.step.Tool {
	case toolRecall:
		var a recallArgs
		if json.Unmarshal(r.step.Args, &a) != nil {
			return planStep{}, false
		}
		wide := widened(a.Question)
		if wide == "" || wide == a.Question || p.Template == plan.Compound { // a visitor's own words all count
			return planStep{}, false
		}
		a.Question = wide
		args = a
	case toolTour:
		var a tourArgs
		if json.Unmarshal(r.step.Args, &a) != nil || a.Minutes >= 10 {
			return planStep{}, false
		}
		a.Minutes = 10
		args = a
	case toolVenue, toolHall, toolCollection, toolWalk:
		next.Tool, args = toolRecall, recallArgs{Question: p.Rewritten}
	default:
		return planStep{}, false
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return planStep{}, false
	}
	next.Args = raw
	return next, true
}

// widened keeps the words of a question that say what it is about.
func widened(question string) string {
	var out []string
	for _, w := range words.LatinWords(question) {
		if len(w) > 4 && !words.IsStop(w) {
			out = append(out, w)
		}
	}
	return strings.Join(append(out, words.HanChunks(question)...), " ")
}

// collect makes an answer of what the steps brought, in their order, and admits what could not be looked up.
func (c *guideCaller) collect(d *desk, reports []report, p plan.ExecutionPlan) found {
	var failed, missing []string // missing: parts that the gallery has nothing on
	f := found{language: p.Language, question: question{language: p.Language}, answer: answer{language: p.Language}}
	for _, r := range reports {
		if !r.met() {
			switch {
			case p.Template == plan.Compound && r.step.Tool == toolRecall && !r.result.Refused:
				missing = append(missing, r.step.Description)
			case !slices.Contains(failed, r.step.Tool):
				failed = append(failed, r.step.Tool)
			}
			continue
		}
		for _, fact := range r.result.Data.Facts {
			passage, ok := c.box.passages[fact.Passage]
			if !ok || slices.Contains(f.answer.said, fact.Text) {
				continue
			}
			f.answer.answered = true
			n := f.answer.cite(d.lib, passage, p.Language)
			f.answer.said = append(f.answer.said, fact.Text)
			f.answer.sentences = append(f.answer.sentences, marked(plain(fact.Text), n))
			f.facts = append(f.facts, fact)
		}
	}
	f.passages = f.answer.passages
	if f.answer.answered {
		f.warning = c.box.say.warning(p.Language, missing, failed)
	}
	return f
}
