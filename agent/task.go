package agent

import (
	"context"
	"encoding/json"

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
	by     string // who found the call that was made, where it is not the plan's: rules, model
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
	template := s.template(p, t)
	reports := g.execute(ctx, c, g.planSteps(ctx, c, template, p), t, p)
	if rest := leftOut(c, template, reports, p); len(rest) > 0 {
		reports = append(reports, g.execute(ctx, c, rest, t, p)...)
	}
	f := c.collect(d, reports, p)
	if !f.answer.answered || ctx.Err() != nil {
		return Done{}, false
	}
	out.stage("write")
	done = g.replyTask(ctx, c, t, p, f, out)
	f.question.about = p.Arguments.Exhibits
	if suggestions := s.followUps(ctx, d, t, f); len(suggestions) > 0 {
		out.send(Event{Type: EventFollowUps, FollowUps: suggestions})
	}
	return done, true
}
