package model

import "encoding/json"

// payload is the body of a request, as the chat completions API has it.
type payload struct {
	Model         string         `json:"model"`
	Messages      []messageJSON  `json:"messages"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
	MaxTokens     int            `json:"max_tokens,omitempty"`
	Temperature   float64        `json:"temperature"`
	Tools         []toolJSON     `json:"tools,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type messageJSON struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []callJSON `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type callJSON struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionJSON `json:"function"`
}

type functionJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Arguments   *string         `json:"arguments,omitempty"`
}

type toolJSON struct {
	Type     string       `json:"type"`
	Function functionJSON `json:"function"`
}

// newPayload asks for usage only where somebody wants to hear it: a server that does not know the option may refuse it.
func newPayload(model string, r Request) payload {
	p := payload{Model: model, Stream: true, MaxTokens: r.MaxTokens, Temperature: r.Temperature}
	if r.Used != nil {
		p.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	for _, m := range r.Messages {
		out := messageJSON{Role: m.Role, Content: m.Content, ToolCallID: m.CallID}
		for _, c := range m.Calls {
			args := string(c.Args)
			out.ToolCalls = append(out.ToolCalls, callJSON{ID: c.ID, Type: "function", Function: functionJSON{Name: c.Name, Arguments: &args}})
		}
		p.Messages = append(p.Messages, out)
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, toolJSON{Type: "function", Function: functionJSON{Name: t.Name, Description: t.Description, Parameters: t.Parameters}})
	}
	return p
}
