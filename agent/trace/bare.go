package trace

import (
	"encoding/json"
	"slices"
	"strings"
)

// failed stands for an error whose words may be a visitor's.
const failed = "failed"

// Bare returns the record without words of visitors or models: when what was done, how long it took, what it found and
// cost, and which limits were hit. It leads to no visitor, and may be kept when the visit is over.
func (t Turn) Bare() Turn {
	t.Question = ""
	t.Plan = barePlan(t.Plan)
	t.Searches = bareEach(t.Searches, Search.bare)
	t.Steps = bareEach(t.Steps, Step.bare)
	t.Tools = bareEach(t.Tools, ToolCall.bare)
	t.Models = bareEach(t.Models, ModelCall.bare)
	t.Checks = bareEach(t.Checks, Check.bare)
	return t
}

// Bare returns the part without words of visitors or models.
func (p Part) Bare() Part {
	switch d := p.Data.(type) {
	case json.RawMessage:
		p.Data = barePlan(d)
	case Search:
		p.Data = d.bare()
	case Step:
		p.Data = d.bare()
	case ToolCall:
		p.Data = d.bare()
	case ModelCall:
		p.Data = d.bare()
	case Check:
		p.Data = d.bare()
	case Turn:
		p.Data = d.Bare()
	}
	return p
}

func bareEach[T any](of []T, bare func(T) T) []T {
	of = slices.Clone(of)
	for i := range of {
		of[i] = bare(of[i])
	}
	return of
}

// barePlan keeps what is of the program's own words.
func barePlan(plan json.RawMessage) json.RawMessage {
	if len(plan) == 0 {
		return nil
	}
	var p struct {
		Mode         string            `json:"execution_mode"`
		Task         string            `json:"task"`
		Template     string            `json:"template,omitempty"`
		Courtesy     string            `json:"courtesy,omitempty"`
		Language     string            `json:"language"`
		Level        string            `json:"level,omitempty"`
		Domains      []string          `json:"domains,omitempty"`
		SubQuestions []json.RawMessage `json:"sub_questions,omitempty"`
	}
	if json.Unmarshal(plan, &p) != nil {
		return nil
	}
	for i := range p.SubQuestions { // how many they are
		p.SubQuestions[i] = json.RawMessage("{}")
	}
	out, err := json.Marshal(p)
	if err != nil {
		return nil // cannot happen
	}
	return out
}

// webPassage begins the id of a passage of a page in the web, which goes on with an address that may hold the question.
const webPassage = "web/"

func (s Search) bare() Search {
	s.Text = ""
	s.Hits = bareEach(s.Hits, func(h Hit) Hit {
		if strings.HasPrefix(h.Passage, webPassage) {
			h.Passage = webPassage
		}
		return h
	})
	return s
}

func (s Step) bare() Step {
	s.Description = ""
	return s
}

func (c ToolCall) bare() ToolCall {
	if c.Error == NoSuchTool {
		c.Tool = "" // a model made the name up
	}
	c.Args, c.Error = nil, bareError(c.Error)
	return c
}

func (c ModelCall) bare() ModelCall {
	c.Error = bareError(c.Error)
	return c
}

func (c Check) bare() Check {
	c.What = ""
	return c
}

func bareError(e string) string {
	if e == "" {
		return ""
	}
	return failed
}
