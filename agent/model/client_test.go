package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// transcripts are recorded or hand-written streams as servers and proxies send them, and what must come of them.
var transcripts = []struct {
	file string
	text string // all pieces joined
	err  error  // errors.Is
}{
	{file: "plain.sse", text: "Roger Penrose found it in 1974 [1]."},
	{file: "comments.sse", text: "Two tiles."},
	{file: "no-done.sse", text: "两种瓷砖。"},
	{file: "usage.sse", text: "Two tiles."},
	{file: "data-lines.sse", text: "Two tiles."},
	{file: "thoughts.sse", text: "Two tiles."},
	{file: "dropped-between-events.sse", text: "Two tiles cover the picture.", err: ErrCut},
	{file: "dropped-in-event.sse", text: "Two tiles", err: ErrCut},
	{file: "dropped-in-field.sse", text: "Two tiles", err: ErrCut},
	{file: "empty.sse", err: ErrCut},
	{file: "html.sse", err: ErrMalformed},
	{file: "html-midway.sse", text: "Two tiles", err: ErrMalformed},
	{file: "invalid-json.sse", text: "Two tiles", err: ErrMalformed},
	{file: "error-after-comment.sse", text: "Two tiles", err: &StatusError{Message: "upstream is gone"}},
	{file: "error-bare.sse", text: "Two tiles", err: &StatusError{Message: "model runner has stopped"}},
	{file: "error-event.sse", text: "Two tiles", err: &StatusError{Message: "overloaded"}},
	{file: "tool-call-whole.sse", err: ErrToolCall},
	{file: "tool-call-pieces.sse", text: "Let me look.", err: ErrToolCall},
	{file: "tool-call-text.sse", text: "<tool", err: ErrToolCall},
	{file: "tool-call-json.sse", text: "```json\n{\"name\": \"search\", ", err: ErrToolCall},
	{file: "length.sse", text: "Two tiles cover the", err: ErrUnfinished},
}

func TestReadStream(t *testing.T) {
	for _, tt := range transcripts {
		raw, err := os.ReadFile(filepath.Join("testdata", tt.file))
		if err != nil {
			t.Fatal(err)
		}
		readers := map[string]io.Reader{
			"at once":      bytes.NewReader(raw),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(raw)),
			"half lines":   iotest.HalfReader(bytes.NewReader(raw)),
			"data and end": iotest.DataErrReader(bytes.NewReader(raw)),
		}
		for how, r := range readers {
			t.Run(tt.file+" "+how, func(t *testing.T) {
				text, err := collect(r)
				if text != tt.text {
					t.Errorf("text = %q, want %q", text, tt.text)
				}
				wantError(t, err, tt.err)
			})
		}
	}
}

func collect(r io.Reader) (string, error) {
	var b strings.Builder
	err := readStream(r, Request{}, func(piece string) bool { b.WriteString(piece); return true })
	return b.String(), err
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if status, ok := want.(*StatusError); ok {
		var got *StatusError
		if !errors.As(err, &got) {
			t.Fatalf("error = %v, want %v", err, want)
		}
		if d := cmp.Diff(status, got); d != "" {
			t.Errorf("error (-want +got):\n%s", d)
		}
		return
	}
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

func TestReadStreamLimits(t *testing.T) {
	delta := func(content string) string {
		return `data: {"choices":[{"delta":{"content":"` + content + `"}}]}` + "\n\n"
	}
	endless := strings.Repeat(delta(strings.Repeat("a", 1000)), maxText/1000+1)
	tests := []struct {
		name string
		r    io.Reader
		text int // length
	}{
		{"line", strings.NewReader(delta("ok") + delta(strings.Repeat("a", maxLine))), 2},
		{"line without an end", io.MultiReader(strings.NewReader(delta("ok")+"data: "), endlessly("a")), 2},
		{"event of many lines", io.MultiReader(strings.NewReader(delta("ok")), endlessly("data: aaaa\n")), 2},
		{"comments without an end", endlessly(": wait\n\n"), 0},
		{"text", strings.NewReader(endless), maxText / 1000 * 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := collect(tt.r)
			if len(text) != tt.text {
				t.Errorf("text has %d bytes, want %d", len(text), tt.text)
			}
			wantError(t, err, ErrTooLarge)
		})
	}
}

// endlessly repeats a text for ever.
type endlessly string

func (e endlessly) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	if n == 0 {
		n = copy(p, e)
	}
	return n, nil
}

func TestStreamOverHTTP(t *testing.T) {
	var got struct {
		Model       string
		Messages    []map[string]string
		Stream      bool
		MaxTokens   int `json:"max_tokens"`
		Temperature float64
	}
	var path, key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, key = r.URL.Path, r.Header.Get("Authorization")
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		serveFile(t, w, "plain.sse")
	}))
	defer server.Close()
	c := newClient(t, Options{BaseURL: server.URL + "/v1/", APIKey: "secret", Model: "small"})
	messages := []Message{{Role: System, Content: "Be short."}, {Role: User, Content: "Who found it?"}}
	sent := []map[string]string{{"role": System, "content": "Be short."}, {"role": User, "content": "Who found it?"}}

	text, err := read(t.Context(), c, Request{Messages: messages, MaxTokens: 99, Temperature: 0.5})

	if want := "Roger Penrose found it in 1974 [1]."; text != want || err != nil {
		t.Errorf("got %q, %v; want %q", text, err, want)
	}
	if path != "/v1/chat/completions" || key != "Bearer secret" {
		t.Errorf("asked %s with %q", path, key)
	}
	if d := cmp.Diff(sent, got.Messages); d != "" || got.Model != "small" || !got.Stream || got.MaxTokens != 99 || got.Temperature != 0.5 {
		t.Errorf("sent %+v\n%s", got, d)
	}
}

func TestStreamAnswersThatAreNoStream(t *testing.T) {
	tests := []struct {
		name   string
		status int
		kind   string
		body   string
		text   string
		err    error
	}{
		{"whole completion", 200, "application/json", readFile(t, "whole.json"), "Two tiles.", nil},
		{"whole error", 200, "application/json", `{"error":{"message":"no such model"}}`, "", &StatusError{Message: "no such model"}},
		{"web page", 200, "text/html; charset=utf-8", "<html>", "", ErrMalformed},
		{"too many requests", 429, "application/json", `{"error":{"message":"slow down"}}`, "", &StatusError{Status: 429, Message: "slow down"}},
		{"server error with a page", 502, "text/html", "<html>bad gateway</html>", "", &StatusError{Status: 502, Message: "Bad Gateway"}},
		{"redirect", 302, "text/html", "", "", &StatusError{Status: 302, Message: "Found"}},
		{"error as text", 401, "application/json", `{"error":"no key"}`, "", &StatusError{Status: 401, Message: "no key"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			text, err := read(t.Context(), newClient(t, Options{BaseURL: server.URL, Model: "m"}), Request{})
			if text != tt.text {
				t.Errorf("text = %q, want %q", text, tt.text)
			}
			wantError(t, err, tt.err)
		})
	}
}

func TestStreamConnectionRefused(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	_, err := read(t.Context(), newClient(t, Options{BaseURL: server.URL, Model: "m"}), Request{})
	wantError(t, err, ErrConnect)
}

func TestStreamConnectionDropped(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		serveFile(t, w, "dropped-between-events.sse")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	text, err := read(t.Context(), newClient(t, Options{BaseURL: server.URL, Model: "m"}), Request{})
	if want := "Two tiles cover the picture."; text != want {
		t.Errorf("text = %q, want %q", text, want)
	}
	wantError(t, err, ErrCut)
}

// silent is a server that sends what it has and then nothing more, until the request ends.
type silent struct{ before string }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	rest, w := io.Pipe()
	context.AfterFunc(r.Context(), func() { w.CloseWithError(r.Context().Err()) })
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(s.before), rest), rest},
	}, nil
}

func TestStreamIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Options{BaseURL: "http://model/v1", Model: "m", IdleTimeout: 3 * time.Second,
			HTTP: &http.Client{Transport: silent{readFile(t, "dropped-between-events.sse")}}})
		began := time.Now()
		text, err := read(t.Context(), c, Request{})
		if want := "Two tiles cover the picture."; text != want {
			t.Errorf("text = %q, want %q", text, want)
		}
		wantError(t, err, ErrIdle)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("gave up after %v, want 3s", took)
		}
	})
}

func TestStreamSlowReaderIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Options{BaseURL: "http://model/v1", Model: "m", IdleTimeout: time.Second,
			HTTP: &http.Client{Transport: silent{readFile(t, "plain.sse")}}})
		var b strings.Builder
		for piece, err := range c.Stream(t.Context(), Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			b.WriteString(piece)
		}
		if want := "Roger Penrose found it in 1974 [1]."; b.String() != want {
			t.Errorf("text = %q, want %q", b.String(), want)
		}
	})
}

func TestStreamCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Options{BaseURL: "http://model/v1", Model: "m", HTTP: &http.Client{Transport: silent{}}})
		gone := errors.New("the visitor left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		_, err := read(ctx, c, Request{})
		wantError(t, err, gone)
	})
}

func TestStreamLeftEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		c := newClient(t, Options{BaseURL: "http://model/v1", Model: "m", HTTP: &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			context.AfterFunc(r.Context(), func() { ended = true })
			return silent{readFile(t, "plain.sse")}.RoundTrip(r)
		})}})
		for range c.Stream(t.Context(), Request{}) {
			break
		}
		synctest.Wait()
		if !ended {
			t.Error("the request goes on after its reader left")
		}
	})
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewRefuses(t *testing.T) {
	tests := map[string]Options{
		"no URL":    {Model: "m"},
		"no scheme": {BaseURL: "localhost:11434/v1", Model: "m"},
		"file":      {BaseURL: "file:///etc/passwd", Model: "m"},
		"no model":  {BaseURL: "http://localhost/v1"},
		"time-out":  {BaseURL: "http://localhost/v1", Model: "m", HTTP: &http.Client{Timeout: time.Second}},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := New(o); err == nil {
				t.Error("no error")
			}
		})
	}
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(ctx context.Context, c *Client, r Request) (string, error) {
	var b strings.Builder
	for piece, err := range c.Stream(ctx, r) {
		if err != nil {
			return b.String(), err
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func serveFile(t *testing.T, w io.Writer, name string) {
	if _, err := io.WriteString(w, readFile(t, name)); err != nil {
		t.Error(err)
	}
}

// FuzzReadStream feeds the reader whatever bytes: it ends, keeps its limits, and gives the same text however the
// bytes arrive.
func FuzzReadStream(f *testing.F) {
	for _, tt := range transcripts {
		f.Add([]byte(readFile(f, tt.file)))
	}
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"<think>\"},\"finish_reason\":\"stop\"}]}\r\rdata: [DONE]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := collect(bytes.NewReader(raw))
		if len(text) > maxText {
			t.Errorf("text of %d bytes", len(text))
		}
		if _, err := collectCalls(bytes.NewReader(raw)); err != nil {
			var calls *Calls
			if errors.As(err, &calls) && (len(calls.Calls) == 0 || len(calls.Calls) > maxCalls) {
				t.Errorf("%d calls", len(calls.Calls))
			}
		}
		again, errAgain := collect(iotest.OneByteReader(bytes.NewReader(raw)))
		if text != again || (err == nil) != (errAgain == nil) {
			t.Errorf("at once %q, %v; byte by byte %q, %v", text, err, again, errAgain)
		}
	})
}
