// Package model lets an OpenAI-compatible server write text: llama.cpp, Ollama, vLLM, or a service in the cloud.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool"
)

// Message is one message of a chat.
type Message struct {
	Role    string
	Content string
	// Calls are what an assistant called, in a chat that goes on after tools were called.
	Calls []Call
	// CallID says which call a message of a tool answers.
	CallID string
}

// Request asks for one text.
type Request struct {
	Messages    []Message
	MaxTokens   int     // 0 leaves it to the server
	Temperature float64 // 0…2
	// Tools may be called instead of writing. Where they are, the text ends with a [*Calls].
	Tools []Tool
	// Used, where it is set, hears the tokens that the server counted, if it tells them.
	Used func(Usage)
}

// Tool is what a model is told of a tool.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema
}

// Call is one call of a tool. Its name and arguments are the model's, and not checked.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage // valid JSON
}

// Usage counts tokens.
type Usage struct {
	In  int `json:"prompt_tokens"`
	Out int `json:"completion_tokens"`
}

// Calls ends a text whose model called tools that were offered. It is an [ErrToolCall].
type Calls struct{ Calls []Call }

func (c *Calls) Error() string { return fmt.Sprintf("%d calls of tools", len(c.Calls)) }

// Is makes it an ErrToolCall.
func (c *Calls) Is(target error) bool { return target == ErrToolCall }

// What can go wrong with a text, beside the context's own errors and a [StatusError].
var (
	// ErrConnect is a server that could not be reached.
	ErrConnect = errors.New("model server not reached")
	// ErrIdle is a server that sent nothing for longer than the idle time-out.
	ErrIdle = errors.New("model server went silent")
	// ErrCut is a stream that ended before the text did.
	ErrCut = errors.New("model stream was cut off")
	// ErrMalformed is a stream that is not what an OpenAI-compatible server sends.
	ErrMalformed = errors.New("model stream is malformed")
	// ErrTooLarge is a stream or a line of it above the limits.
	ErrTooLarge = errors.New("model stream is too large")
	// ErrToolCall is a model that called a tool instead of writing: although none was offered, or as text.
	ErrToolCall = errors.New("model called a tool instead of writing")
	// ErrUnfinished is a text that the server ended before the model did: at the token limit or by a content filter.
	ErrUnfinished = errors.New("model text is unfinished")
)

// StatusError is an error the server told of, in its answer's status or in the stream (then Status is 0).
type StatusError struct {
	Status  int
	Message string // as told by the server, shortened
	// RetryAfter is how long the server asks to be left alone; 0 where it does not say.
	RetryAfter time.Duration
}

// Temporary reports whether the same request may be answered a little later: the server was not reached, was busy, or
// broke down before it wrote anything.
func Temporary(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status == 429 || status.Status >= 500
	}
	return errors.Is(err, ErrConnect)
}

func (e *StatusError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("model server reported an error: %s", e.Message)
	}
	return fmt.Sprintf("model server answered with status %d: %s", e.Status, e.Message)
}
