package kiosk

import (
	"testing"
)

func TestSearchConfig(t *testing.T) {
	for _, tt := range []struct {
		name   string
		search SearchConfig
		want   []string // problems, by the beginning of their text
	}{
		{"nothing", SearchConfig{}, nil},
		{"servers", SearchConfig{Embeddings: ServerConfig{BaseURL: "http://127.0.0.1:1/v1", Name: "m"}, Rerank: ServerConfig{BaseURL: "https://h"}}, nil},
		{"no address", SearchConfig{Embeddings: ServerConfig{BaseURL: "ftp://x", Name: "m"}}, []string{"search.embeddings.base_url: "}},
		{"no model", SearchConfig{Embeddings: ServerConfig{BaseURL: "http://x"}}, []string{"search.embeddings.name: "}},
		{"both", SearchConfig{Embeddings: ServerConfig{BaseURL: "x"}, Rerank: ServerConfig{BaseURL: "http://"}},
			[]string{"search.embeddings.base_url: ", "search.embeddings.name: ", "search.rerank.base_url: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := DefaultConfig()
			c.Search = tt.search
			wantProblems(t, c, tt.want)
		})
	}
}
