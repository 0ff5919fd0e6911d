package agent

import (
	"context"
	"encoding/json"
	"slices"

	"docent/agent/collection"
	"docent/agent/internal/words"
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

// maxCompared is how many exhibits are compared at once.
const maxCompared = 3

// hallStops is how many exhibits of a hall are told as its highlights.
const hallStops = 3

// steps collects the steps of a task.
type steps struct{ list []planStep }

// add puts a step to the end and returns its number.
func (s *steps) add(name, description string, args any, after ...int) int {
	raw, err := json.Marshal(args)
	if err != nil {
		return 0 // cannot happen: strings and numbers
	}
	s.list = append(s.list, planStep{ID: len(s.list) + 1, Description: description, Tool: name, Args: raw, Expected: "facts", DependsOn: after})
	return len(s.list)
}

// template lists the steps of a task, without a model.
func (s *shelf) template(p plan.ExecutionPlan, t Turn) []planStep {
	var out steps
	if p.Template != plan.Compound {
		s.addSteps(&out, p.Template, p.Arguments, t, p.Language, false)
		return out.list
	}
	for _, part := range p.Parts {
		if part.Template == "" {
			out.add(toolRecall, part.Text, recallArgs{part.Text, part.Exhibit})
			continue
		}
		s.addSteps(&out, part.Template, part.Arguments, t, p.Language, true)
	}
	return out.list
}

// addSteps adds the steps of one template. As one part of several it is told in short.
func (s *shelf) addSteps(out *steps, template plan.Template, a plan.Arguments, t Turn, language string, short bool) {
	switch template {
	case plan.Compare:
		ids := slices.Clone(a.Exhibits)
		if !a.Query.Zero() && s.gallery != nil {
			for _, e := range collection.Select(s.gallery.Exhibits, a.Query).Exhibits {
				if !slices.Contains(ids, e.ID) && len(ids) < maxCompared {
					ids = append(ids, e.ID)
				}
			}
		}
		if a.Ranks { // the answer, before what there is to tell of them
			out.add(toolCompare, "which is the older", compareArgs{ids})
		}
		for _, id := range ids {
			out.add(toolExhibit, "what it is", exhibitArgs{ID: id})
		}
		if !a.Ranks {
			out.add(toolCompare, "what they share and differ in", compareArgs{ids})
		}
	case plan.Highlights:
		out.add(toolHall, "what the hall is about", hallArgs{a.Hall})
		n := 0
		for _, e := range s.catalogue.Exhibits {
			if e.Hall == a.Hall && e.ID != t.Exhibit && n < hallStops && !short {
				out.add(toolExhibit, "what it is", exhibitArgs{ID: e.ID, Short: true})
				n++
			}
		}
	case plan.Route:
		out.add(toolTour, "the walk", tourArgs{Minutes: a.Minutes, Interests: a.Interests, Hall: a.Hall, StepFree: a.StepFree, Children: a.Children, Quiet: a.Quiet, Dislikes: a.Dislikes})
	case plan.Family:
		minutes := a.Minutes
		if minutes == 0 {
			minutes = usualMinutes
		}
		out.add(toolTour, "a walk for children", tourArgs{Minutes: minutes, Interests: a.Interests, Hall: a.Hall, StepFree: a.StepFree, Children: true, Dislikes: a.Dislikes})
		child, baby := "How much is a ticket for a child?", "Where is the baby care room?"
		if language == words.Chinese {
			child, baby = "儿童票多少钱？", "母婴室在哪里？"
		}
		out.add(toolRecall, "what it costs", recallArgs{Question: child})
		out.add(toolRecall, "what families need", recallArgs{Question: baby})
	case plan.Practical:
		out.add(toolVenue, "that day", venueArgs{a.Topic, a.Day})
	case plan.Next:
		out.add(toolNext, "what to see next", nextArgs{Interests: a.Interests, Dislikes: a.Dislikes, StepFree: a.StepFree, Children: a.Children})
	case plan.Walk:
		to := ""
		switch {
		case len(a.Exhibits) > 0:
			to = a.Exhibits[0]
		case !a.Query.Zero():
			if of := collection.Select(s.gallery.Exhibits, a.Query).Exhibits; len(of) > 0 {
				to = of[0].ID
			}
		}
		out.add(toolWalk, "the way there", walkArgs{From: a.From, To: to, Hall: a.Hall, StepFree: a.StepFree})
	case plan.Collection:
		s.addCollection(out, a, short)
	}
}

// mostTold is how many exhibits that a question means are told of, beside being listed.
const mostTold = 3

// addCollection adds what the catalogue knows, then what the few exhibits are that were meant, and the ways between
// them. Which they are is known before the first step, as it is looked up in the catalogue at hand.
func (s *shelf) addCollection(out *steps, a plan.Arguments, short bool) {
	listed := out.add(toolCollection, "which they are", collectionArgs{a.Query})
	if a.Query.Order == "" {
		return
	}
	of := collection.Select(s.gallery.Exhibits, a.Query).Exhibits
	of = of[:min(len(of), mostTold)]
	for _, e := range of {
		if !short {
			out.add(toolExhibit, "what it is", exhibitArgs{ID: e.ID}, listed)
		}
	}
	for i := 1; i < len(of) && a.Between; i++ {
		out.add(toolWalk, "the way between them", walkArgs{From: of[i-1].ID, To: of[i].ID, StepFree: a.StepFree}, listed)
	}
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
