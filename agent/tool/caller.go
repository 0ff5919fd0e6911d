package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"docent/agent/trace"
)

// Limits of one run, which is one turn.
type Limits struct {
	Models   int // calls of a model
	Tools    int // calls of tools
	Steps    int // steps of all plans
	Same     int // calls of one tool with the same arguments
	Failures int // failures in a row
	Retries  int // of a call that failed for a while only
}

// DefaultLimits are those of a run.
var DefaultLimits = Limits{Models: 8, Tools: 6, Steps: 25, Same: 2, Failures: 3, Retries: 2}

// VisitLimits are those of a whole visit.
var VisitLimits = Limits{Models: 40, Tools: 30}

// Bounds of the pause between tries.
const (
	MinBackOff = 200 * time.Millisecond
	MaxBackOff = 1200 * time.Millisecond
)

// BackOff is the pause after so many tries: it doubles, with jitter of up to its own length. random is from 0 to 1.
func BackOff(tries int, random float64) time.Duration {
	pause := MinBackOff << min(max(0, tries-1), 8)
	return min(MaxBackOff, pause+time.Duration(random*float64(pause)))
}

// Limit says which limit refused something. It is told to a model and noted in the trace; it is no error of a turn.
type Limit string

// The limits that can be hit.
const (
	LimitTools       Limit = "tool calls of a run"
	LimitVisitTools  Limit = "tool calls of a visit"
	LimitModels      Limit = "model calls of a run"
	LimitVisitModels Limit = "model calls of a visit"
	LimitSteps       Limit = "steps"
	LimitSame        Limit = "same call"
	LimitFailures    Limit = "failures in a row"
)

// Ledger counts what a visit has used.
type Ledger struct {
	mu            sync.Mutex
	limits        Limits
	models, tools int
}

// NewLedger returns an empty ledger.
func NewLedger(l Limits) *Ledger { return &Ledger{limits: l} }

func (l *Ledger) take(used *int, limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *used >= limit {
		return false
	}
	*used++
	return true
}

// Caller calls tools and grants calls of a model within the limits of one run. It is the only place that does. It is
// safe for concurrent use.
type Caller struct {
	registry *Registry
	limits   Limits
	visit    *Ledger
	trace    *trace.Recorder
	clock    func() time.Time
	random   func() float64 // 0…1

	mu                             sync.Mutex
	models, tools, steps, failures int
	same                           map[string]int
}

// NewCaller returns the caller of one run. visit and rec may be nil; random nil means [rand.Float64].
func NewCaller(r *Registry, l Limits, visit *Ledger, rec *trace.Recorder, clock func() time.Time, random func() float64) *Caller {
	if random == nil {
		random = rand.Float64
	}
	return &Caller{registry: r, limits: l, visit: visit, trace: rec, clock: clock, random: random, same: make(map[string]int)}
}

// Call runs a tool. What goes wrong is in the result.
func (c *Caller) Call(ctx context.Context, name string, args json.RawMessage) Result {
	args = compact(args)
	t, ok := c.registry.tools[name]
	if !ok {
		c.failed()
		c.trace.Tool(trace.ToolCall{Tool: name, Args: args, Error: trace.NoSuchTool})
		return Result{Error: fmt.Sprintf("there is no tool %q", name), Hint: "use one of the tools listed"}
	}
	if refusal, limit := c.grant(name, args); limit != "" {
		c.trace.Limit(string(limit))
		c.trace.Tool(trace.ToolCall{Tool: name, Args: args, Error: refusal.Error})
		return refusal
	}
	began := c.clock()
	data, tries, err := c.try(ctx, t, args)
	result := Result{Success: err == nil, Data: data}
	if err != nil {
		result = Result{Error: err.Error()}
		var miss *Miss
		if errors.As(err, &miss) {
			result.Hint = miss.Hint
		}
		c.failed()
	} else {
		c.succeeded()
	}
	c.trace.Tool(trace.ToolCall{Tool: name, Args: args, Success: err == nil, Error: result.Error, Tries: tries, Millis: float64(c.clock().Sub(began).Microseconds()) / 1000})
	return result
}

// grant takes a call from the limits, or says why not.
func (c *Caller) grant(name string, args json.RawMessage) (Result, Limit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := name + "\x00" + string(args)
	switch {
	case c.failures >= c.limits.Failures:
		return refused("too many calls failed in a row", "answer with what is known"), LimitFailures
	case c.same[key] >= c.limits.Same:
		return refused("this call was made before, with the same arguments", "change the arguments, use another tool, or answer with what is known"), LimitSame
	case c.tools >= c.limits.Tools:
		return refused("no more tools may be called for this question", "answer with what is known"), LimitTools
	case c.visit != nil && !c.visit.take(&c.visit.tools, c.visit.limits.Tools):
		return refused("no more tools may be called in this visit", "answer with what is known"), LimitVisitTools
	}
	c.tools++
	c.same[key]++
	return Result{}, ""
}

func refused(why, hint string) Result { return Result{Error: why, Hint: hint, Refused: true} }

// try runs a tool, again after a pause where the error says that it may help.
func (c *Caller) try(ctx context.Context, t *entry, args json.RawMessage) (data Data, tries int, err error) {
	f, err := t.build()
	if err != nil {
		return Data{}, 1, fmt.Errorf("start %s: %w", t.Name, err)
	}
	for tries = 1; ; tries++ {
		data, err = once(ctx, f, t.Timeout, args)
		if err == nil || !errors.Is(err, ErrTemporary) || tries > c.limits.Retries || ctx.Err() != nil {
			return data, tries, err
		}
		select {
		case <-time.After(BackOff(tries, c.random())):
		case <-ctx.Done():
			return Data{}, tries, ctx.Err()
		}
	}
}

func once(ctx context.Context, f Func, timeout time.Duration, args json.RawMessage) (Data, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it took longer than %v", timeout))
	defer cancel()
	data, err := f(ctx, args)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return data, err
}

func (c *Caller) failed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures++
}

// Failing reports whether one failure more ends the calls of the run.
func (c *Caller) Failing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failures >= c.limits.Failures-1
}

func (c *Caller) succeeded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = 0
}

// Model takes one call of a model from the limits. It returns the limit that refuses it, "" where none does.
func (c *Caller) Model() Limit {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.models >= c.limits.Models:
		c.trace.Limit(string(LimitModels))
		return LimitModels
	case c.visit != nil && !c.visit.take(&c.visit.models, c.visit.limits.Models):
		c.trace.Limit(string(LimitVisitModels))
		return LimitVisitModels
	}
	c.models++
	return ""
}

// Step takes one step from the limits.
func (c *Caller) Step() Limit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steps >= c.limits.Steps {
		c.trace.Limit(string(LimitSteps))
		return LimitSteps
	}
	c.steps++
	return ""
}

// Used is what the run has taken of its limits so far.
func (c *Caller) Used() trace.Used {
	c.mu.Lock()
	defer c.mu.Unlock()
	return trace.Used{Models: c.models, Tools: c.tools, Steps: c.steps}
}

// compact brings arguments into one form, so that spaces make no other call of it.
func compact(args json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(args, &v) == nil {
		if out, err := json.Marshal(v); err == nil { // members sorted
			return out
		}
	}
	return bytes.TrimSpace(args)
}

// Specs lists the tools that can be called.
func (c *Caller) Specs() []Spec { return c.registry.Specs() }

// Registry returns the tools.
func (c *Caller) Registry() *Registry { return c.registry }
