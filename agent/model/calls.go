package model

import (
	"encoding/json"
	"fmt"
)

// Limits of what a model calls in one turn.
const (
	maxCalls     = 8
	maxArguments = 16 << 10 // bytes, of all calls together
)

// assembly puts calls of tools together. They come in pieces that belong together by index, else by id, or in one piece.
type assembly struct {
	calls []*piecedCall
	size  int
}

type piecedCall struct {
	index    int
	id, name string
	args     []byte
}

// add takes the tool_calls of one chunk.
func (a *assembly) add(raw json.RawMessage) error {
	var deltas []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &deltas); err != nil {
		return fmt.Errorf("%w: tool calls: %w", ErrMalformed, err)
	}
	for _, d := range deltas {
		c := a.find(d.Index, d.ID)
		if c == nil {
			if len(a.calls) == maxCalls {
				return fmt.Errorf("%w: more than %d calls of tools", ErrTooLarge, maxCalls)
			}
			c = &piecedCall{index: len(a.calls), id: d.ID}
			if d.Index != nil {
				c.index = *d.Index
			}
			a.calls = append(a.calls, c)
		}
		if c.id == "" {
			c.id = d.ID
		}
		c.name += d.Function.Name
		args := []byte(d.Function.Arguments) // an object as it is, as some servers send
		var text string
		if json.Unmarshal(args, &text) == nil {
			args = []byte(text)
		}
		if a.size += len(args) + len(d.Function.Name); a.size > maxArguments {
			return fmt.Errorf("%w: arguments of more than %d bytes", ErrTooLarge, maxArguments)
		}
		c.args = append(c.args, args...)
	}
	return nil
}

// find returns the call that a piece goes on with, nil where it begins one.
func (a *assembly) find(index *int, id string) *piecedCall {
	for _, c := range a.calls {
		if index != nil && c.index == *index && (id == "" || c.id == "" || id == c.id) || index == nil && id != "" && id == c.id {
			return c
		}
	}
	if index == nil && id == "" && len(a.calls) > 0 {
		return a.calls[len(a.calls)-1]
	}
	return nil
}

// end returns the calls as the end of a text, nil where there are none.
func (a *assembly) end() error {
	if a == nil || len(a.calls) == 0 {
		return nil
	}
	out := &Calls{}
	for i, c := range a.calls {
		if len(c.args) == 0 {
			c.args = []byte("{}")
		}
		if c.name == "" || !json.Valid(c.args) {
			return fmt.Errorf("%w: a call of a tool without a name, or with arguments that are no JSON", ErrMalformed)
		}
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d", i+1)
		}
		out.Calls = append(out.Calls, Call{ID: c.id, Name: c.name, Args: c.args})
	}
	return out
}
