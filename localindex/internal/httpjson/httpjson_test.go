package httpjson

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"docent/localindex/internal/scripted"
)

func TestPost(t *testing.T) {
	var status *StatusError
	for _, tt := range []struct {
		name  string
		reply scripted.Reply
		check func(err error) bool
	}{
		{"answer", scripted.Raw(`{"a":1}`), func(err error) bool { return err == nil }},
		{"rate limit", scripted.Status(429, "slow\ndown", 3*time.Second), func(err error) bool {
			return errors.As(err, &status) && status.Temporary() && status.RetryAfter == 3*time.Second && status.Message == "slow down"
		}},
		{"server error", scripted.Status(500, "", 0), func(err error) bool { return errors.As(err, &status) && status.Temporary() }},
		{"refused", scripted.Status(401, "no key", 0), func(err error) bool { return errors.As(err, &status) && !status.Temporary() }},
		{"error as a text", func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"error":"bad"}`))
		}, func(err error) bool { return errors.As(err, &status) && status.Message == "bad" }},
		{"redirect", func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, "/other", http.StatusFound)
		},
			func(err error) bool { return errors.As(err, &status) && status.Status == http.StatusFound }},
		{"web page", scripted.Raw("<html>"), func(err error) bool { return errors.Is(err, ErrMalformed) }},
		{"half a body", scripted.Half(`{"a":`), func(err error) bool { return errors.Is(err, ErrCut) }},
		{"silence", scripted.Silence(), func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, err := New(scripted.New(t, tt.reply).URL, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			var out struct{ A int }
			if err := server.Post(ctx, "x", struct{}{}, &out); !tt.check(err) {
				t.Errorf("error is %v", err)
			}
		})
	}
	server, err := New("http://127.0.0.1:1", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Post(t.Context(), "x", nil, nil); !errors.Is(err, ErrConnect) {
		t.Errorf("error is %v, want it not reached", err)
	}
}
