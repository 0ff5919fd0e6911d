package embedding

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

// FuzzEmbedAnswer hears whatever a server of vectors may say: either an error, or a vector for each text, all of one
// length and finite.
func FuzzEmbedAnswer(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4]}]}`,
		`{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[3]}]}`,
		`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":null}]}`,
		`{"data":[{"index":-1,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[1e39,0]},{"index":1,"embedding":[0,0]}]}`,
		`{"data":null}`, `[]`, "",
	} {
		f.Add(s, 0)
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, body string, dimension int) {
		c, err := New(Options{BaseURL: "http://server.test/v1", Model: "m", Dimension: dimension, HTTP: &http.Client{Transport: answer(body)}})
		if err != nil {
			return // the dimension is not allowed
		}
		vectors, err := c.Embed(t.Context(), []string{"a", "b"})
		if err != nil {
			return
		}
		if len(vectors) != 2 || len(vectors[0]) == 0 || len(vectors[0]) != len(vectors[1]) || dimension > 0 && len(vectors[0]) != dimension {
			t.Fatalf("vectors %v", vectors)
		}
		for _, v := range vectors {
			for _, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					t.Errorf("vector %v", v)
				}
			}
		}
	})
}
