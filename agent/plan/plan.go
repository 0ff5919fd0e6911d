// Package plan decides, before anything is looked up, what a question wants: whether to ask back, to look one thing up,
// or to take several steps. It is rules only, in Chinese and English, and needs no model.
package plan

import "docent/localindex/gallery"

// Mode is how a question is answered. Asking back comes before looking up, and looking up before taking steps.
type Mode string

// The modes.
const (
	Clarify Mode = "CLARIFY"
	Chat    Mode = "RAG_CHAT"
	Agent   Mode = "REACT_AGENT"
)

// Task says how a question stands to the ones before it.
type Task string

// The tasks.
const (
	Single    Task = "single"
	Continued Task = "continued"
	MultiStep Task = "multi_step"
)

// Template names the steps of a task that takes more than one.
type Template string

// The templates.
const (
	Compare    Template = "compare"
	Highlights Template = "highlights" // of one hall
	Route      Template = "route"
	Family     Template = "family"
	Practical  Template = "practical" // hours and events on a day
)

// Courtesy is what is said to people rather than asked of the gallery.
type Courtesy string

// The courtesies.
const (
	Greeting   Courtesy = "greeting"
	Thanks     Courtesy = "thanks"
	Farewell   Courtesy = "farewell"
	AboutGuide Courtesy = "about_guide"
	Insult     Courtesy = "insult"
	Injection  Courtesy = "injection"
	Outside    Courtesy = "out_of_scope" // looked up all the same: an exhibit may tell of the weather
)

// MaxSubQuestions is how many parts of a compound question are answered.
const MaxSubQuestions = 4

// ExecutionPlan is what was decided.
type ExecutionPlan struct {
	Mode         Mode             `json:"execution_mode"`
	Rewritten    string           `json:"rewritten_question"` // can be understood without the turns before
	SubQuestions []SubQuestion    `json:"sub_questions,omitempty"`
	Domains      []gallery.Domain `json:"domains,omitempty"` // what it is about, empty for anything
	Clarify      *Question        `json:"clarify,omitempty"`
	Task         Task             `json:"task"`
	Template     Template         `json:"template,omitempty"`
	Arguments    Arguments        `json:"arguments,omitzero"`
	Courtesy     Courtesy         `json:"courtesy,omitempty"`
	Language     string           `json:"language"`
	Level        gallery.Level    `json:"level,omitempty"`
}

// SubQuestion is one thing to look up.
type SubQuestion struct {
	Text    string `json:"text"`
	Exhibit string `json:"exhibit,omitempty"` // that it points at
}

// Arguments are what a template needs.
type Arguments struct {
	Exhibits  []string `json:"exhibits,omitempty"`
	Hall      string   `json:"hall,omitempty"`
	Minutes   int      `json:"minutes,omitempty"`
	Interests []string `json:"interests,omitempty"`
	StepFree  bool     `json:"step_free,omitempty"`
	Quiet     bool     `json:"quiet,omitempty"` // rather where fewer people are
	Topic     string   `json:"topic,omitempty"` // practical: hours or events
	Day       Day      `json:"day,omitzero"`
}

// Question asks the visitor back.
type Question struct {
	Text    string   `json:"text"`
	Choices []Choice `json:"choices"`
}

// Choice is one answer to tap. Ask is the whole question it stands for.
type Choice struct {
	Label string `json:"label"`
	Ask   string `json:"ask"`
}

// Exchange is a question of the visit and what was answered.
type Exchange struct{ Question, Answer string }

// Input is what a plan is made from.
type Input struct {
	Question string
	Language string // of the question
	Level    gallery.Level
	Exhibit  string // in hand
	Hall     string // where the kiosk stands
	History  []Exchange
}

// Make plans a turn.
func Make(c *Catalogue, in Input) ExecutionPlan {
	p := ExecutionPlan{Mode: Chat, Task: Single, Rewritten: in.Question, Language: in.Language, Level: levelOf(in.Question, in.Level)}
	p.Courtesy = courtesyOf(in.Question)
	if p.Courtesy != "" && p.Courtesy != Outside {
		return p
	}
	r := rewrite(c, in)
	p.Rewritten = r.full
	if r.continued {
		p.Task = Continued
	}
	p.Domains = domainsOf(r.full)
	if t, args, ok := templateOf(c, in, r); ok {
		p.Mode, p.Task, p.Template, p.Arguments = Agent, MultiStep, t, args
		if q := missing(c, in, t, args); q != nil {
			p.Mode, p.Clarify = Clarify, q
		}
		return p
	}
	if q := ambiguity(c, in, r); q != nil {
		p.Mode, p.Clarify = Clarify, q
		return p
	}
	p.SubQuestions = split(c, r)
	return p
}
