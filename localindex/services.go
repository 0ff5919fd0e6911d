package localindex

import (
	"context"
	"fmt"
	"time"

	"docent/localindex/internal/breaker"
	"docent/localindex/rerank"
)

// Services are the servers that may help a search. All may be absent, and any may fail: the search goes on without it.
type Services struct {
	// Embedder makes the vectors of questions for a release whose vectors were made by a server. One of another model than
	// the release's is not used.
	Embedder Embedder
	// EmbedTimeout bounds the vector of one question; DefaultEmbedTimeout where 0.
	EmbedTimeout time.Duration
	// Reranking puts the best results into a better order.
	Reranking *rerank.Chain
	// Hypotheses write what an answer might look like, which is searched for beside the question.
	Hypotheses HypothesisWriter
	// Now is the clock of the circuit breaker; nil means the system's.
	Now func() time.Time
}

// HypothesisWriter writes hypothetical answers. Where there is none, skipped says why; only the end of ctx is an error.
type HypothesisWriter interface {
	Write(ctx context.Context, question, language string) (text, skipped string, err error)
}

// DefaultEmbedTimeout is how long a visitor waits for the vector of a question.
const DefaultEmbedTimeout = 800 * time.Millisecond

// Trace is an account of one search, for logs and for people who wonder.
type Trace struct {
	Mode        Mode     `json:"mode,omitempty"`
	Keyword     int      `json:"keyword"`               // results of the keyword lane
	Dense       int      `json:"dense"`                 // results of the lane of vectors
	DenseWeight float64  `json:"dense_weight"`          // 0: vectors only filled empty places
	Vectors     string   `json:"vectors,omitempty"`     // texts or server, where the lane was asked
	Hypothesis  bool     `json:"hypothesis,omitempty"`  // a model's answer was searched for, too
	RerankedBy  string   `json:"reranked_by,omitempty"` // service, model, or order where neither answered
	Duplicates  int      `json:"duplicates,omitempty"`  // left out
	Skipped     []string `json:"skipped,omitempty"`     // what was not used, and why
}

// remote calls the services.
type remote struct {
	services Services
	breaker  *breaker.Breaker // of the embedder
}

func newRemote(s Services) remote {
	if s.EmbedTimeout <= 0 {
		s.EmbedTimeout = DefaultEmbedTimeout
	}
	return remote{s, breaker.New(0, 0, s.Now)}
}

// mismatch says why the server's vectors cannot be compared with the release's, or nothing.
func (r remote) mismatch(v *vectors) string {
	switch {
	case v == nil || v.model != nil:
		return ""
	case r.services.Embedder == nil:
		return fmt.Sprintf("no embedding server; the release's are by %s", v.report.Model)
	case r.services.Embedder.Model() != v.report.Model:
		return fmt.Sprintf("the embedding server has %s, the release's are by %s", r.services.Embedder.Model(), v.report.Model)
	}
	return ""
}

// embed makes the vectors of texts. Where there are none, skipped says why; only the end of ctx is an error.
func (r remote) embed(ctx context.Context, v *vectors, texts []string) (_ [][]float32, skipped string, err error) {
	if why := r.mismatch(v); why != "" {
		return nil, why, nil
	}
	if !r.breaker.Allow() {
		return nil, "the embedding server is left alone after failures", nil
	}
	asking, cancel := context.WithTimeout(ctx, r.services.EmbedTimeout)
	defer cancel()
	vectors, err := r.services.Embedder.Embed(asking, texts)
	if ctx.Err() != nil {
		r.breaker.Abandon()
		return nil, "", ctx.Err()
	}
	if err == nil {
		for _, vec := range vectors {
			if len(vec) != v.index.Dimension() {
				err = fmt.Errorf("a vector of dimension %d, the release's have %d", len(vec), v.index.Dimension())
			}
		}
		if len(vectors) != len(texts) {
			err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
		}
	}
	r.breaker.Done(err == nil)
	if err != nil {
		return nil, err.Error(), nil
	}
	return vectors, "", nil
}
