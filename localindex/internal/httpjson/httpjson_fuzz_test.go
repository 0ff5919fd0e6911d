package httpjson

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// answer is a server that always says the same.
type answer struct {
	status int
	retry  string
	body   string
}

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Retry-After": {a.retry}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}, nil
}

// FuzzPost hears whatever a server may say: what cannot be used is one of the named errors, and what is told of a
// refusal is short, on one line, and asks to wait for no more than a day.
func FuzzPost(f *testing.F) {
	f.Add(200, "", `{"ok":true}`)
	f.Add(200, "", `{"ok":`)
	f.Add(429, "3", `{"error":{"message":"slow\ndown"}}`)
	f.Add(503, "9999999999999", `{"error":"`+strings.Repeat("图", 100)+`"}`)
	f.Add(400, "-1", `{"message":"\u0000 no"}`)
	f.Add(500, "x", "\xff")
	f.Fuzz(func(t *testing.T, status int, retry, body string) {
		if status < 200 || status > 599 || status/100 == 3 { // the client of net/http follows redirects itself
			return
		}
		s, err := New("http://server.test/v1", "key", &http.Client{Transport: answer{status, retry, body}})
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		err = s.Post(t.Context(), "rerank", struct{}{}, &out)
		var refusal *StatusError
		switch {
		case status == http.StatusOK:
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v", err)
			}
		case !errors.As(err, &refusal):
			t.Errorf("error %v, want a refusal", err)
		case refusal.Status != status || refusal.RetryAfter < 0 || refusal.RetryAfter > 24*time.Hour:
			t.Errorf("refusal %+v", refusal)
		case len(refusal.Message) > maxMessage+len("…") || strings.Contains(refusal.Message, "\n") || !utf8.ValidString(refusal.Message):
			t.Errorf("message %q", refusal.Message)
		}
	})
}
