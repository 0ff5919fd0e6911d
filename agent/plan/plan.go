// Package plan decides, before anything is looked up, what a question wants: whether to ask back, to look one thing up,
// or to take several steps. It is rules only, in Chinese and English, and needs no model.
package plan

import (
	"regexp"
	"slices"

	"docent/agent/collection"
	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

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
	Practical  Template = "practical"  // hours and events on a day
	Collection Template = "collection" // what the catalogue knows of its exhibits together
	Walk       Template = "walk"       // how to get from one place to another
	Next       Template = "next"       // what to see after this
	Compound   Template = "compound"   // several questions, one of which at least is a task; see Parts
)

// Courtesy is what is said to people rather than asked of the gallery.
type Courtesy string

// The courtesies.
const (
	Greeting   Courtesy = "greeting"
	Thanks     Courtesy = "thanks"
	Nod        Courtesy = "nod" // yes, no, oh: an answer to nothing, as the guide asks back with choices only
	Farewell   Courtesy = "farewell"
	AboutGuide Courtesy = "about_guide"
	Insult     Courtesy = "insult"
	Injection  Courtesy = "injection"
	Taste      Courtesy = "taste"        // what somebody likes, or thinks of what they see
	Languages  Courtesy = "languages"    // which languages the guide speaks
	Others     Courtesy = "others"       // what other visitors asked or did, which is nobody's business
	World      Courtesy = "world"        // how the weather is or what a sum comes to: no text of a gallery can tell
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
	Parts        []Part           `json:"parts,omitempty"` // of a compound task, in the order they were asked
	Courtesy     Courtesy         `json:"courtesy,omitempty"`
	Language     string           `json:"language"`
	Level        gallery.Level    `json:"level,omitempty"`
}

// SubQuestion is one thing to look up.
type SubQuestion struct {
	Text    string `json:"text"`
	Exhibit string `json:"exhibit,omitempty"` // that it points at
}

// Part is one question of a compound task: a task of its own, or something to look up.
type Part struct {
	SubQuestion
	Template  Template  `json:"template,omitempty"` // empty: to look up
	Arguments Arguments `json:"arguments,omitzero"`
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
	Children  bool     `json:"children,omitempty"` // the walk is one for children
	Dislikes  []string `json:"dislikes,omitempty"`
	// Query says which exhibits a collection question means, or which one to compare with; Between asks for the way between them too.
	Query   collection.Query `json:"query,omitzero"`
	Between bool             `json:"between,omitempty"`
	Ranks   bool             `json:"ranks,omitempty"` // which of those compared is the older or newer is asked
	From    string           `json:"from,omitempty"`  // exhibit where a walk begins; empty: where the visitor stands
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
	Visit    Visit
}

// Visit is what is remembered of the visitor. It fills in what a question leaves open, and never overrules it.
type Visit struct {
	Minutes  int // left; 0 where nobody said
	StepFree bool
	Children bool
	Likes    []string
	Dislikes []string
}

// politely matches how a question is led up to in Chinese, which is nothing to look up.
var politely = regexp.MustCompile(`^\s*(?:[你您]好[，,。!！ ]*)?(?:我们?)?(?:就是)?(?:想要?|要)(?:请)?问(?:一?下)?[，,：: ]*|^\s*(?:[你您]好[，,。!！ ]*)?请问(?:一?下)?[，,：: ]*`)

// Make plans a turn.
func Make(c *Catalogue, in Input) ExecutionPlan {
	in.Question = withoutAside(civil(politely.ReplaceAllString(in.Question, "")))
	p := ExecutionPlan{Mode: Chat, Task: Single, Rewritten: in.Question, Language: in.Language, Level: levelOf(in.Question, in.Level)}
	p.Courtesy = courtesyOf(in.Question)
	if folded := words.Fold(in.Question); numericDate.MatchString(dayPattern.FindString(folded)) && practicalResidue(folded) {
		p.Courtesy = "" // 3/12 is no sum
	}
	if p.Courtesy == "" && tastes(in.Question) {
		p.Courtesy = Taste
	}
	if p.Courtesy != "" && p.Courtesy != Outside {
		return p
	}
	r := rewrite(c, in)
	p.Rewritten = r.full
	if r.continued {
		p.Task = Continued
	}
	p.Domains = DomainsOf(r.full)
	for _, unclear := range []func(Input, resolved) *Question{noSuchDay, eitherDay} {
		if q := unclear(in, r); q != nil {
			p.Mode, p.Clarify = Clarify, q
			return p
		}
	}
	if parts := compound(c, in, r); parts != nil {
		p.Mode, p.Task, p.Template, p.Parts = Agent, MultiStep, Compound, parts
		for _, part := range parts {
			p.SubQuestions = append(p.SubQuestions, part.SubQuestion)
			if q := missing(c, in, part.Template, part.Arguments); q != nil && p.Clarify == nil {
				p.Mode, p.Clarify = Clarify, q
			}
		}
		return p
	}
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

// compound takes a question of several parts apart where one of them at least is a task. It returns nil for others:
// parts that are only looked up, and a comparison of which a further part asks no more than where the two are.
func compound(c *Catalogue, in Input, r resolved) []Part {
	subs := split(c, r)
	if len(subs) < 2 {
		return nil
	}
	var parts []Part
	tasks := 0
	for _, sub := range subs {
		of := in
		of.Question, of.Exhibit, of.History = sub.Text, sub.Exhibit, nil
		t, args, ok := templateOf(c, of, rewrite(c, of))
		if n := len(parts); n > 0 && parts[n-1].Template == Collection && walkBetween.MatchString(words.Fold(sub.Text)) {
			parts[n-1].Arguments.Between = true
			continue
		}
		if n := len(parts); n > 0 && parts[n-1].Template == Collection && bareWhere.MatchString(words.Fold(sub.Text)) {
			continue // the catalogue tells where they are
		}
		if ok {
			tasks++
		}
		parts = append(parts, Part{SubQuestion: sub, Template: t, Arguments: args})
	}
	if tasks == 0 {
		return nil
	}
	if t, _, ok := templateOf(c, in, r); ok && t == Compare && !slices.ContainsFunc(parts[1:], func(p Part) bool {
		return !bareWhere.MatchString(words.Fold(p.Text))
	}) {
		return nil
	}
	return parts
}

// bareWhere matches a part that asks where what was compared is.
var bareWhere = regexp.MustCompile(`^(and )?where (is|are) (it|they|them|each( of them)?|the two|both)[?.! ]*$|^(它们|两者|这两个)?(分别|各|都)?在?(哪里|哪儿|哪个展?厅)[?？。]*$`)
