package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"docent/agent/plan"
	"docent/agent/tool"
)

// planStep is one step of a task that takes several.
type planStep struct {
	ID          int             `json:"id"`
	Description string          `json:"description"`
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args"`
	Expected    string          `json:"expected,omitempty"`
	DependsOn   []int           `json:"depends_on,omitempty"`
}

// report is how a step came out.
type report struct {
	step   planStep
	result tool.Result
}

// met reports whether the step brought what it was for.
func (r report) met() bool { return r.result.Success && len(r.result.Data.Facts) > 0 }

// usualMinutes is how long a family's walk is where nobody said.
const usualMinutes = 45

// hallStops is how many exhibits of a hall are told as its highlights.
const hallStops = 3

// template lists the steps of a task, without a model.
func (s *shelf) template(p plan.ExecutionPlan, t Turn) []planStep {
	a := p.Arguments
	var out []planStep
	add := func(name, description string, args any, after ...int) {
		raw, err := json.Marshal(args)
		if err != nil {
			return // cannot happen: strings and numbers
		}
		out = append(out, planStep{ID: len(out) + 1, Description: description, Tool: name, Args: raw, Expected: "facts", DependsOn: after})
	}
	switch p.Template {
	case plan.Compare:
		for _, id := range a.Exhibits {
			add(toolExhibit, "what it is", exhibitArgs{id})
		}
		add(toolCompare, "what they share and differ in", compareArgs{a.Exhibits})
	case plan.Highlights:
		add(toolHall, "what the hall is about", hallArgs{a.Hall})
		n := 0
		for _, e := range s.catalogue.Exhibits {
			if e.Hall == a.Hall && e.ID != t.Exhibit && n < hallStops {
				add(toolExhibit, "what it is", exhibitArgs{e.ID})
				n++
			}
		}
	case plan.Route:
		add(toolTour, "the walk", tourArgs{Minutes: a.Minutes, Interests: a.Interests, Hall: a.Hall, StepFree: a.StepFree})
	case plan.Family:
		minutes := a.Minutes
		if minutes == 0 {
			minutes = usualMinutes
		}
		add(toolTour, "a walk for children", tourArgs{Minutes: minutes, Interests: a.Interests, StepFree: a.StepFree, Children: true})
		child, baby := "How much is a ticket for a child?", "Where is the baby care room?"
		if p.Language == "zh" {
			child, baby = "儿童票多少钱？", "母婴室在哪里？"
		}
		add(toolRecall, "what it costs", recallArgs{Question: child})
		add(toolRecall, "what families need", recallArgs{Question: baby})
	case plan.Practical:
		add(toolVenue, "that day", venueArgs{a.Topic, a.Day})
	}
	return out
}

// perform carries out a task of several steps. ok is false where it brought nothing and nothing was said.
func (g *Guide) perform(ctx context.Context, c *guideCaller, s *shelf, d *desk, t Turn, p plan.ExecutionPlan, out stream) (done Done, ok bool) {
	steps := g.planSteps(ctx, c, s.template(p, t), t, p)
	reports := g.execute(ctx, c, steps, t, p)
	f, failed := c.collect(d, reports, p)
	if !f.answer.answered || ctx.Err() != nil {
		return Done{}, false
	}
	out.stage("write")
	done = g.replyTask(ctx, c, t, p, f, failed, out)
	f.question.about = p.Arguments.Exhibits
	if suggestions := s.followUps(ctx, d, t, f); len(suggestions) > 0 {
		out.send(Event{Type: EventFollowUps, FollowUps: suggestions})
	}
	return done, true
}

// atOnce is how many steps run at the same time.
const atOnce = 4

// execute runs the steps, those that wait for nothing side by side. A step that missed is planned anew: with fewer
// words, or from another source.
func (g *Guide) execute(ctx context.Context, c *guideCaller, steps []planStep, t Turn, p plan.ExecutionPlan) []report {
	reports := make(map[int]report)
	pending := slices.Clone(steps)
	replanned := make(map[int]bool)
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
		for i, st := range ready {
			r := report{st, results[i]}
			reports[st.ID] = r
			if !slices.Contains(order, st.ID) {
				order = append(order, st.ID)
			}
			if r.met() || r.result.Refused || replanned[st.ID] {
				continue
			}
			if next, ok := g.replan(ctx, c, r, t, p); ok {
				replanned[st.ID] = true
				delete(reports, st.ID)
				pending = append(pending, next)
			}
		}
	}
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
		if wide == "" || wide == a.Question {
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
	case toolVenue, toolHall:
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

// widened keeps a question's longer words.
func widened(question string) string {
	var out []string
	for _, w := range strings.Fields(question) {
		if len(strings.Trim(w, "?.,!")) > 4 {
			out = append(out, strings.Trim(w, "?.,!"))
		}
	}
	return strings.Join(out, " ")
}

// collect makes an answer of what the steps brought, in their order, and lists the tools that failed.
func (c *guideCaller) collect(d *desk, reports []report, p plan.ExecutionPlan) (f found, failed []string) {
	f = found{language: p.Language, question: question{language: p.Language}, answer: answer{language: p.Language}}
	for _, r := range reports {
		if !r.met() {
			if !slices.Contains(failed, r.step.Tool) {
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
	if f.answer.answered && len(failed) > 0 {
		f.answer.sentences = append(f.answer.sentences, c.box.say.admit(failed))
	}
	return f, failed
}
