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
	Limits   []string        `json:"limits,omitempty"` // that were hit, in the order they were
	Outcome  string          `json:"outcome"`          // answered, nothing, clarify, courtesy, failed, cancelled
	By       string          `json:"by,omitempty"`     // who wrote the answer
	Cost     float64         `json:"cost,omitempty"`   // of all model calls, in the currency of the prices
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
	Millis  float64         `json:"ms"`
}

// ModelCall is one text that a model was asked for. Tokens are estimated where the server does not tell them.
type ModelCall struct {
	Purpose  string  `json:"purpose"` // write, plan, explore, replan, rewrite
	Tries    int     `json:"tries"`   // requests to the server
	Millis   float64 `json:"ms"`
	TokensIn int     `json:"tokens_in"`
	Tokens   int     `json:"tokens_out"`
	Counted  bool    `json:"tokens_counted"` // by the server
	Cost     float64 `json:"cost,omitempty"`
	Error    string  `json:"error,omitempty"`
}

// Check is one thing that was held against the evidence and failed.
type Check struct {
	What   string `json:"what"`
	Result string `json:"result"` // rewritten, withheld, withdrawn, admitted
}

// Sink takes the record of each finished turn. Record must return soon.
type Sink interface{ Record(Turn) }

// Recorder collects the record of one turn. All its methods may be called at the same time; a nil Recorder records
// nothing.
type Recorder struct {
	mu    sync.Mutex
	turn  Turn
	clock func() time.Time
}

// New begins a record.
func New(clock func() time.Time, t Turn) *Recorder {
	t.Began = clock()
	return &Recorder{turn: t, clock: clock}
}

func (r *Recorder) note(f func(t *Turn)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.turn)
}

// Stage notes that a stage began.
func (r *Recorder) Stage(name string) {
	r.note(func(t *Turn) { t.Stages = append(t.Stages, Stage{name, millis(r.clock().Sub(t.Began))}) })
}

// Plan notes what was decided.
func (r *Recorder) Plan(plan any) {
	r.note(func(t *Turn) {
		if data, err := json.Marshal(plan); err == nil {
			t.Plan = data
		}
	})
}

// Search notes a search.
func (r *Recorder) Search(s Search) { r.note(func(t *Turn) { t.Searches = append(t.Searches, s) }) }

// Step notes how a step came out.
func (r *Recorder) Step(s Step) { r.note(func(t *Turn) { t.Steps = append(t.Steps, s) }) }

// Tool notes a call of a tool.
func (r *Recorder) Tool(c ToolCall) { r.note(func(t *Turn) { t.Tools = append(t.Tools, c) }) }

// Model notes a call of a model.
func (r *Recorder) Model(c ModelCall) {
	r.note(func(t *Turn) { t.Models, t.Cost = append(t.Models, c), t.Cost+c.Cost })
}

// Check notes what did not stand against the evidence.
func (r *Recorder) Check(what, result string) {
	r.note(func(t *Turn) { t.Checks = append(t.Checks, Check{what, result}) })
}

// Limit notes a limit that was hit.
func (r *Recorder) Limit(what string) { r.note(func(t *Turn) { t.Limits = append(t.Limits, what) }) }

// End closes the record and returns it.
func (r *Recorder) End(outcome, by string) Turn {
	var out Turn
	r.note(func(t *Turn) {
		t.Outcome, t.By, t.Millis = outcome, by, millis(r.clock().Sub(t.Began))
		out = *t
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
