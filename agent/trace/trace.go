// Package trace records how one turn of the guide came about: what was decided, looked up, asked of a model and checked.
package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Turn is the record of one turn. It has what the visitor asked, so it is kept and exported like a visit.
type Turn struct {
	Visit    string          `json:"visit,omitempty"`
	Began    time.Time       `json:"began"`
	Millis   float64         `json:"ms"`
	Question string          `json:"question,omitempty"`
	Explain  bool            `json:"explain,omitempty"`
	Exhibit  string          `json:"exhibit,omitempty"`
	Release  string          `json:"release"`
	Plan     json.RawMessage `json:"plan,omitempty"` // plan.ExecutionPlan
	Stages   []Stage         `json:"stages"`
	Searches []Search        `json:"searches,omitempty"`
	Steps    []Step          `json:"steps,omitempty"`
	Tools    []ToolCall      `json:"tools,omitempty"`
	Models   []ModelCall     `json:"models,omitempty"`
	Checks   []Check         `json:"checks,omitempty"`
	Used     Used            `json:"used"`             // of the limits of the run
	Limits   []string        `json:"limits,omitempty"` // that were hit, in the order they were
	Outcome  string          `json:"outcome"`          // answered, nothing, clarify, courtesy, failed, cancelled
	By       string          `json:"by,omitempty"`     // who wrote the answer
	Cost     float64         `json:"cost,omitempty"`   // of all model calls, in the currency of the prices
}

// Used counts what a turn took of its limits.
type Used struct {
	Models int `json:"model_calls"`
	Tools  int `json:"tool_calls"`
	Steps  int `json:"steps"`
}

// Stage is one part of a turn. Millis count from the turn's begin.
type Stage struct {
	Name   string  `json:"name"`
	Millis float64 `json:"at_ms"`
}

// Search is one search and what it brought, best first.
type Search struct {
	Text     string `json:"text"`
	Language string `json:"language,omitempty"`
	Hits     []Hit  `json:"hits"`
}

// Hit is one passage found.
type Hit struct {
	Passage string  `json:"passage"`
	Score   float64 `json:"score"`
}

// Step is how one step of a task came out.
type Step struct {
	ID          int    `json:"id"`
	Description string `json:"description,omitempty"`
	Tool        string `json:"tool"`
	Met         bool   `json:"met"`               // it brought what it was for
	By          string `json:"by,omitempty"`      // who found the call that brought it, where it was not the plan's: rules, model
	Refused     bool   `json:"refused,omitempty"` // by a limit
}

// ToolCall is one call of a tool.
type ToolCall struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args,omitempty"`
	Success bool            `json:"success"`
	Error   string          `json:"error,omitempty"`
	Tries   int             `json:"tries"` // 0 where a limit refused it
	At      float64         `json:"at_ms"` // when it began, from the turn's begin
	Millis  float64         `json:"ms"`
}

// NoSuchTool is the error of a call of a tool that there is not.
const NoSuchTool = "no such tool"

// ModelCall is one text that a model was asked for. Tokens are estimated where the server does not tell them.
type ModelCall struct {
	Purpose  string  `json:"purpose"` // write, plan, explore, replan, rewrite
	Tries    int     `json:"tries"`   // requests to the server
	At       float64 `json:"at_ms"`   // when it began, from the turn's begin
	Millis   float64 `json:"ms"`
	TokensIn int     `json:"tokens_in"`
	Tokens   int     `json:"tokens_out"`
	Counted  bool    `json:"tokens_counted"` // by the server
	Cost     float64 `json:"cost,omitempty"`
	Error    string  `json:"error,omitempty"`
}

// Check is one thing that was held against the evidence and failed.
type Check struct {
	Kind   string `json:"kind"` // a word of the program's: unsupported, miscited, citation, mostly, uncited, plan, replan, step, warning
	What   string `json:"what,omitempty"`
	Result string `json:"result"` // rewritten, withheld, withdrawn, admitted
}

// Sink takes the record of each finished turn. Record must return soon.
type Sink interface{ Record(Turn) }

// Listener is a sink that hears the parts of a turn as they come. Part must return soon.
type Listener interface{ Part(Part) }

// Part is one part of a turn under way.
type Part struct {
	Visit string    `json:"visit,omitempty"`
	Began time.Time `json:"began"` // of the turn
	Kind  string    `json:"kind"`  // stage, plan, search, step, tool, model, check, limit, used, end
	Data  any       `json:"data"`  // of the kind's type: Stage, json.RawMessage, Search, Step, ToolCall, ModelCall, Check, string, Used, Turn
}

// Recorder collects the record of one turn. All its methods may be called at the same time; a nil Recorder records
// nothing.
type Recorder struct {
	mu    sync.Mutex
	turn  Turn
	clock func() time.Time
	part  func(Part)
}

// New begins a record.
func New(clock func() time.Time, t Turn) *Recorder {
	t.Began = clock()
	return &Recorder{turn: t, clock: clock, part: func(Part) {}}
}

// Tell lets a listener hear what comes from now on. It is called before the record is used.
func (r *Recorder) Tell(l Listener) { r.part = l.Part }

// note changes the record, and tells what changed.
func (r *Recorder) note(kind string, f func(t *Turn) any) {
	if r == nil {
		return
	}
	r.mu.Lock()
	data := f(&r.turn)
	p := Part{Visit: r.turn.Visit, Began: r.turn.Began, Kind: kind, Data: data}
	r.mu.Unlock()
	r.part(p)
}

// Stage notes that a stage began.
func (r *Recorder) Stage(name string) {
	r.note("stage", func(t *Turn) any {
		s := Stage{name, millis(r.clock().Sub(t.Began))}
		t.Stages = append(t.Stages, s)
		return s
	})
}

// Plan notes what was decided.
func (r *Recorder) Plan(plan any) {
	r.note("plan", func(t *Turn) any {
		if data, err := json.Marshal(plan); err == nil {
			t.Plan = data
		}
		return t.Plan
	})
}

// Search notes a search.
func (r *Recorder) Search(s Search) {
	r.note("search", func(t *Turn) any { t.Searches = append(t.Searches, s); return s })
}

// Step notes how a step came out.
func (r *Recorder) Step(s Step) {
	r.note("step", func(t *Turn) any { t.Steps = append(t.Steps, s); return s })
}

// Tool notes a call of a tool.
func (r *Recorder) Tool(c ToolCall) {
	r.note("tool", func(t *Turn) any {
		c.At = max(0, millis(r.clock().Sub(t.Began))-c.Millis)
		t.Tools = append(t.Tools, c)
		return c
	})
}

// Model notes a call of a model.
func (r *Recorder) Model(c ModelCall) {
	r.note("model", func(t *Turn) any {
		c.At = max(0, millis(r.clock().Sub(t.Began))-c.Millis)
		t.Models, t.Cost = append(t.Models, c), t.Cost+c.Cost
		return c
	})
}

// Check notes what did not stand against the evidence.
func (r *Recorder) Check(kind, what, result string) {
	r.note("check", func(t *Turn) any {
		c := Check{kind, what, result}
		t.Checks = append(t.Checks, c)
		return c
	})
}

// Limit notes a limit that was hit.
func (r *Recorder) Limit(what string) {
	r.note("limit", func(t *Turn) any { t.Limits = append(t.Limits, what); return what })
}

// Use notes what the turn took of its limits.
func (r *Recorder) Use(u Used) {
	r.note("used", func(t *Turn) any { t.Used = u; return u })
}

// End closes the record and returns it.
func (r *Recorder) End(outcome, by string) Turn {
	var out Turn
	r.note("end", func(t *Turn) any {
		t.Outcome, t.By, t.Millis = outcome, by, millis(r.clock().Sub(t.Began))
		out = *t
		return out
	})
	return out
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Write writes turns as JSON, one a line.
func Write(w io.Writer, turns ...Turn) error {
	e := json.NewEncoder(w)
	for _, t := range turns {
		if err := e.Encode(t); err != nil {
			return fmt.Errorf("write the trace of a turn: %w", err)
		}
	}
	return nil
}

// Keep is a sink that keeps the last turns in memory.
type Keep struct {
	mu    sync.Mutex
	turns []Turn
	limit int
}

// NewKeep returns a sink that keeps the last limit turns.
func NewKeep(limit int) *Keep { return &Keep{limit: max(1, limit)} }

// Record implements [Sink].
func (k *Keep) Record(t Turn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turns = append(k.turns, t)
	k.turns = k.turns[max(0, len(k.turns)-k.limit):]
}

// Turns returns the turns kept, oldest first.
func (k *Keep) Turns() []Turn {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]Turn(nil), k.turns...)
}
