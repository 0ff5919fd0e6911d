// Package model lets an OpenAI-compatible server write text: llama.cpp, Ollama, vLLM, or a service in the cloud.
package model

import (
	"errors"
	"fmt"
)

// The roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Message is one message of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request asks for one text.
type Request struct {
	Messages    []Message
	MaxTokens   int     // 0 leaves it to the server
	Temperature float64 // 0…2
}

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
	// ErrToolCall is a model that called a tool, although none was offered, instead of writing.
	ErrToolCall = errors.New("model called a tool instead of writing")
	// ErrUnfinished is a text that the server ended before the model did: at the token limit or by a content filter.
	ErrUnfinished = errors.New("model text is unfinished")
)

// StatusError is an error the server told of, in its answer's status or in the stream (then Status is 0).
type StatusError struct {
	Status  int
	Message string // as told by the server, shortened
}

func (e *StatusError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("model server reported an error: %s", e.Message)
	}
	return fmt.Sprintf("model server answered with status %d: %s", e.Status, e.Message)
}
