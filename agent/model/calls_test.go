package model

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// offered is a request with a tool.
var offered = Request{Tools: []Tool{{Name: "search", Description: "Searches.", Parameters: json.RawMessage(`{"type":"object"}`)}}}

func collectCalls(r io.Reader) (string, error) {
	var b strings.Builder
	err := readStream(r, offered, func(piece string) bool { b.WriteString(piece); return true })
	return b.String(), err
}

func TestReadCalls(t *testing.T) {
	delta := func(calls string) string {
		return `data: {"choices":[{"delta":{"tool_calls":` + calls + `}}]}` + "\n\n"
	}
	const end = `data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	tiles := []Call{{ID: "call_1", Name: "search", Args: json.RawMessage(`{"q":"tiles"}`)}}
	tests := []struct {
		name, stream, text string
		calls              []Call
		err                error // instead of calls
	}{
		{"in pieces, after a text", readFile(t, "tool-call-pieces.sse"), "Let me look.", tiles, nil},
		{"whole", readFile(t, "tool-call-whole.sse"), "", tiles, nil},
		{"two, mixed", delta(`[{"index":0,"id":"a","function":{"name":"search","arguments":"{"}},{"index":1,"id":"b","function":{"name":"read","arguments":"{"}}]`) +
			delta(`[{"index":1,"function":{"arguments":"}"}}]`) + delta(`[{"index":0,"function":{"arguments":"}"}}]`) + end,
			"", []Call{{ID: "a", Name: "search", Args: json.RawMessage(`{}`)}, {ID: "b", Name: "read", Args: json.RawMessage(`{}`)}}, nil},
		{"by id, without index", delta(`[{"id":"a","function":{"name":"search","arguments":"{\"q\":"}}]`) + delta(`[{"id":"a","function":{"arguments":"1}"}}]`) + end,
			"", []Call{{ID: "a", Name: "search", Args: json.RawMessage(`{"q":1}`)}}, nil},
		{"two with one index", delta(`[{"index":0,"id":"a","function":{"name":"search","arguments":"{}"}}]`) + delta(`[{"index":0,"id":"b","function":{"name":"search","arguments":"{}"}}]`) + end,
			"", []Call{{ID: "a", Name: "search", Args: json.RawMessage(`{}`)}, {ID: "b", Name: "search", Args: json.RawMessage(`{}`)}}, nil},
		{"arguments as an object, no id", delta(`[{"function":{"name":"search","arguments":{"q":"tiles"}}}]`) + end,
			"", []Call{{ID: "call_1", Name: "search", Args: json.RawMessage(`{"q":"tiles"}`)}}, nil},
		{"no arguments, ended as if it were a text", delta(`[{"id":"a","function":{"name":"search"}}]`) + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n",
			"", []Call{{ID: "a", Name: "search", Args: json.RawMessage(`{}`)}}, nil},
		{"arguments that are no JSON", delta(`[{"id":"a","function":{"name":"search","arguments":"{\"q\":"}}]`) + end, "", nil, ErrMalformed},
		{"no name", delta(`[{"id":"a","function":{"arguments":"{}"}}]`) + end, "", nil, ErrMalformed},
		{"no list", delta(`"search"`) + end, "", nil, ErrMalformed},
		{"cut off", delta(`[{"id":"a","function":{"name":"search","arguments":"{}"}}]`), "", nil, ErrCut},
		{"ended by a call that never came", end, "", nil, ErrToolCall},
		{"too many", delta("[" + manyCalls(maxCalls+1) + "]"), "", nil, ErrTooLarge},
		{"arguments without an end", strings.Repeat(delta(`[{"index":0,"id":"a","function":{"name":"search","arguments":"`+strings.Repeat("a", 1000)+`"}}]`), 20), "", nil, ErrTooLarge},
		{"as text", readFile(t, "tool-call-text.sse"), "<tool", nil, ErrToolCall},
		{"none", readFile(t, "plain.sse"), "Roger Penrose found it in 1974 [1].", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := collectCalls(strings.NewReader(tt.stream))
			if text != tt.text {
				t.Errorf("text %q, want %q", text, tt.text)
			}
			var calls *Calls
			if errors.As(err, &calls) {
				if d := cmp.Diff(tt.calls, calls.Calls); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
				return
			}
			if tt.calls != nil || !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
		})
	}
}

func manyCalls(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`{"index":` + string(rune('0'+i)) + `,"id":"` + string(rune('a'+i)) + `","function":{"name":"s"}},`)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// TestToolsOverHTTP asks with tools and a chat that goes on after a call, and hears the tokens counted.
func TestToolsOverHTTP(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = string(body)
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"I look.","tool_calls":[{"id":"a","function":{"name":"search","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		serveFile(t, w, "usage.sse")
	}))
	defer server.Close()
	var used Usage
	r := offered
	r.Used = func(u Usage) { used = u }
	r.Messages = []Message{
		{Role: User, Content: "Which?"}, {Role: Assistant, Calls: []Call{{ID: "a", Name: "search", Args: json.RawMessage(`{"q":1}`)}}}, {Role: ToolRole, Content: "{}", CallID: "a"},
	}
	text, err := read(t.Context(), newClient(t, Options{BaseURL: server.URL, Model: "m"}), r)
	var calls *Calls
	if text != "I look." || !errors.As(err, &calls) || calls.Calls[0].Name != "search" || used != (Usage{7, 3}) {
		t.Errorf("%q, %v, used %+v", text, err, used)
	}
	const want = `{"model":"m","messages":[{"role":"user","content":"Which?"},{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{\"q\":1}"}}]},{"role":"tool","content":"{}","tool_call_id":"a"}],"stream":true,"stream_options":{"include_usage":true},"temperature":0,"tools":[{"type":"function","function":{"name":"search","description":"Searches.","parameters":{"type":"object"}}}]}`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sent (-want +got)\n%s", d)
	}
	used = Usage{}
	if _, err := read(t.Context(), newClient(t, Options{BaseURL: server.URL, Model: "m", APIKey: "k"}), r); err != nil || used.In == 0 || used.Out == 0 {
		t.Errorf("streamed: %v, used %+v", err, used)
	}
}

func TestTemporary(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{&StatusError{Status: 429}, true}, {&StatusError{Status: 500}, true}, {&StatusError{Status: 503}, true}, {ErrConnect, true},
		{&StatusError{Status: 401}, false}, {&StatusError{Status: 404}, false}, {&StatusError{}, false}, {ErrCut, false}, {ErrIdle, false}, {ErrMalformed, false}, {nil, false},
	} {
		if got := Temporary(tt.err); got != tt.want {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	_, err := read(t.Context(), newClient(t, Options{BaseURL: server.URL, Model: "m"}), Request{})
	var status *StatusError
	if !errors.As(err, &status) || status.RetryAfter != 3*time.Second {
		t.Errorf("%v", err)
	}
}
