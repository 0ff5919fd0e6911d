// Package rerank puts search results into a better order by what a model thinks of each: a rerank service
// (/v1/rerank), or a chat model that scores them from 0 to 10. Where neither answers the order stays.
package rerank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"docent/localindex/internal/httpjson"
)

// The names of the ways, as they stand in a trace.
const (
	ByService = "service"
	ByModel   = "model"
	ByOrder   = "order" // as it was
)

// MaxTexts is how many results are put into order at once.
const MaxTexts = 100

// ErrIncomplete is an answer that leaves out texts or has scores that are none.
var ErrIncomplete = errors.New("not every text was scored")

// ServiceOptions configure a rerank service.
type ServiceOptions struct {
	BaseURL string // such as http://127.0.0.1:8082/v1; "/rerank" is appended
	APIKey  string
	Model   string
	HTTP    *http.Client // nil means one of its own
}

// Service is a rerank server as llama.cpp, vLLM, Jina and Cohere have it.
type Service struct {
	server *httpjson.Server
	model  string
}

// NewService returns a service. It does not connect.
func NewService(o ServiceOptions) (*Service, error) {
	server, err := httpjson.New(o.BaseURL, o.APIKey, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("rerank %w", err)
	}
	return &Service{server, o.Model}, nil
}

var _ Reranker = (*Service)(nil)

// Name is ByService.
func (s *Service) Name() string { return ByService }

// Rerank returns a score for each text; higher is better.
func (s *Service) Rerank(ctx context.Context, question string, texts []string) ([]float64, error) {
	var answer struct {
		Results []struct {
			Index int      `json:"index"`
			Score *float64 `json:"relevance_score"`
		} `json:"results"`
	}
	in := struct {
		Model     string   `json:"model,omitempty"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}{s.model, question, texts, len(texts)}
	if err := s.server.Post(ctx, "rerank", in, &answer); err != nil {
		return nil, fmt.Errorf("rerank %d texts: %w", len(texts), err)
	}
	scores := make([]float64, len(texts))
	have := make([]bool, len(texts))
	for _, r := range answer.Results {
		if r.Index < 0 || r.Index >= len(texts) || have[r.Index] || r.Score == nil || math.IsNaN(*r.Score) || math.IsInf(*r.Score, 0) {
			return nil, fmt.Errorf("rerank %d texts: %w: result %d", len(texts), ErrIncomplete, r.Index)
		}
		scores[r.Index], have[r.Index] = *r.Score, true
	}
	for _, ok := range have {
		if !ok {
			return nil, fmt.Errorf("rerank %d texts: %w", len(texts), ErrIncomplete)
		}
	}
	return scores, nil
}

// DefaultTimeouts of one reranking: a visitor waits for it.
const (
	DefaultServiceTimeout = 2 * time.Second
	DefaultModelTimeout   = 6 * time.Second
)
