package rerank

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
)

type answer string

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a))), Request: r}, nil
}

// FuzzServiceAnswer hears whatever a rerank service may say: either an error, or a finite score for each text.
func FuzzServiceAnswer(f *testing.F) {
	for _, s := range []string{
		twoResults, `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":2}]}`,
		`{"results":[{"index":2,"relevance_score":1}]}`, `{"results":[{"index":0},{"index":1,"relevance_score":1e400}]}`, `{"results":[]}`, "null", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s, err := NewService(ServiceOptions{BaseURL: "http://server.test/v1", HTTP: &http.Client{Transport: answer(body)}})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := s.Rerank(t.Context(), "why?", []string{"a", "b"})
		if err != nil {
			return
		}
		if len(scores) != 2 {
			t.Fatalf("scores %v", scores)
		}
		for _, x := range scores {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("scores %v", scores)
			}
		}
	})
}
