package model

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzWhole reads whatever a server may say at once, as an answer and as a refusal.
func FuzzWhole(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"message":{"content":"Two tiles."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`,
		`{"choices":[{"message":{"content":"<think>x</think>y","tool_calls":[{"index":0,"function":{"name":"recall","arguments":"{}"}}]}}]}`,
		`{"error":{"message":"no such model"}}`, `{"error":"busy"}`, `{"error":null}`, `{"choices":[]}`, "[]", "", "\xff",
	} {
		f.Add(s, "3")
	}
	f.Add("{}", "99999999999999999")
	f.Fuzz(func(t *testing.T, body, retry string) {
		if text, err := readWhole(strings.NewReader(body), Request{}); err == nil && len(text) > maxLine {
			t.Errorf("text of %d bytes", len(text))
		}
		err := statusError(&http.Response{
			StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {retry}}, Body: io.NopCloser(strings.NewReader(body)),
		})
		var refusal *StatusError
		if !errors.As(err, &refusal) || refusal.Status != http.StatusTooManyRequests || refusal.RetryAfter < 0 || refusal.RetryAfter > 24*time.Hour {
			t.Errorf("refusal %v", err)
		}
	})
}
