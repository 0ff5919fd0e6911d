package model

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// chunk is one event of a chat completion stream, or a whole chat completion from a server that does not stream.
type chunk struct {
	Choices []choice        `json:"choices"`
	Error   json.RawMessage `json:"error"`
	Usage   *Usage          `json:"usage"`
}

type choice struct {
	Delta        content `json:"delta"`
	Message      content `json:"message"`
	FinishReason string  `json:"finish_reason"`
}

type content struct {
	Content      string          `json:"content"`
	ToolCalls    json.RawMessage `json:"tool_calls"`
	FunctionCall json.RawMessage `json:"function_call"`
}

// parseChunk reads one event's data.
func parseChunk(data []byte) (chunk, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return chunk{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if present(c.Error) {
		return chunk{}, &StatusError{Message: errorMessage(c.Error)}
	}
	return c, nil
}

// text returns what the chunk adds to the text. finished reports that the model ended its turn. Calls of tools go to
// called; where that is nil, none were offered and they are an error.
func (c chunk) text(called *assembly) (text string, finished bool, err error) {
	if len(c.Choices) == 0 {
		return "", false, nil // a chunk that carries usage only
	}
	first := c.Choices[0]
	for _, part := range []content{first.Delta, first.Message} {
		switch {
		case present(part.FunctionCall), present(part.ToolCalls) && called == nil:
			return "", false, ErrToolCall
		case present(part.ToolCalls):
			if err := called.add(part.ToolCalls); err != nil {
				return "", false, err
			}
		}
	}
	text = first.Delta.Content + first.Message.Content
	switch first.FinishReason {
	case "":
		return text, false, nil
	case "length", "content_filter":
		return text, true, fmt.Errorf("%w: %s", ErrUnfinished, first.FinishReason)
	case "tool_calls", "function_call":
		if called == nil || len(called.calls) == 0 {
			return text, true, ErrToolCall
		}
	}
	return text, true, nil
}

// present reports whether a JSON value is there and neither null nor an empty list.
func present(raw json.RawMessage) bool {
	trimmed := bytes.TrimSpace(raw)
	return len(trimmed) > 0 && string(trimmed) != "null" && string(trimmed) != "[]"
}

// errorMessage reads the error of a server: an object with a message, or a string.
func errorMessage(raw json.RawMessage) string {
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return shorten(object.Message, 200)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return shorten(text, 200)
	}
	return shorten(string(raw), 200)
}
