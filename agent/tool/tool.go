// Package tool holds what the guide can do besides quoting: tools with one form of result, and the one place where
// they are called, where every limit is kept.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Func does a tool's work. An error is told to later steps and to the visitor in plain words; see [Miss] and
// [ErrTemporary].
type Func func(ctx context.Context, args json.RawMessage) (Data, error)

// Tool is one thing the guide can do.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments
	Timeout     time.Duration   // of one try; 0 means DefaultTimeout
	CanParallel bool
	New         func() (Func, error) // builds it at its first call
}

// DefaultTimeout is how long a try of a tool may take.
const DefaultTimeout = 2 * time.Second

// Data is what a tool found: sentences, and the values behind them for a program.
type Data struct {
	Facts  []Fact `json:"facts"`
	Values any    `json:"values,omitempty"`
}

// Fact is one sentence in the visitor's language and the passage it rests on.
type Fact struct {
	Text    string `json:"text"`
	Passage string `json:"passage"`
}

// Result is how a call came out.
type Result struct {
	Success bool   `json:"success"`
	Data    Data   `json:"data,omitzero"`
	Error   string `json:"error,omitempty"`
	Hint    string `json:"hint,omitempty"` // what to try instead
	// Refused is set where a limit, and not the tool, said no.
	Refused bool `json:"refused,omitempty"`
}

// Miss is a tool that worked and found nothing.
type Miss struct{ What, Hint string }

func (m *Miss) Error() string { return m.What }

// ErrTemporary marks an error after which the same call may work.
var ErrTemporary = errors.New("temporary")

// Spec is what a model is told of a tool.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"parameters"`
	CanParallel bool            `json:"can_parallel"`
}

// Registry holds tools by name. It is safe for concurrent use.
type Registry struct {
	order []string
	tools map[string]*entry
}

type entry struct {
	Tool
	build func() (Func, error)
}

// NewRegistry returns a registry of tools; their names must differ.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]*entry)}
	for _, t := range tools {
		if _, ok := r.tools[t.Name]; ok || t.Name == "" || t.New == nil {
			return nil, fmt.Errorf("register tool %q: no name, no constructor, or twice", t.Name)
		}
		if !json.Valid(t.Schema) {
			return nil, fmt.Errorf("register tool %q: its schema is no JSON", t.Name)
		}
		if t.Timeout <= 0 {
			t.Timeout = DefaultTimeout
		}
		r.order = append(r.order, t.Name)
		r.tools[t.Name] = &entry{Tool: t, build: sync.OnceValues(t.New)}
	}
	return r, nil
}

// Specs lists the tools in the order they were registered.
func (r *Registry) Specs() []Spec {
	out := make([]Spec, 0, len(r.order))
	for _, name := range r.order {
		t := r.tools[name]
		out = append(out, Spec{t.Name, t.Description, t.Schema, t.CanParallel})
	}
	return out
}

// Has reports whether there is a tool of that name.
func (r *Registry) Has(name string) bool { return slices.Contains(r.order, name) }

// CanParallel reports whether a tool may run beside others.
func (r *Registry) CanParallel(name string) bool {
	t, ok := r.tools[name]
	return ok && t.CanParallel
}
