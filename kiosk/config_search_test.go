package kiosk

import (
	"errors"
	"strings"
	"testing"

	"docent/internal/settings"
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
			err := c.Validate()
			var told *settings.Error
			if (err != nil) != (len(tt.want) > 0) || err != nil && !errors.As(err, &told) {
				t.Fatalf("error is %v", err)
			}
			if told != nil && len(told.Problems) != len(tt.want) {
				t.Errorf("problems are %q, want %q", told.Problems, tt.want)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not name %s", err, want)
				}
			}
		})
	}
}
