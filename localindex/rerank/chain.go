package rerank

import (
	"context"
	"fmt"
	"time"

	"docent/localindex/internal/breaker"
)

// Reranker scores texts by how well they answer a question; higher is better. It must be safe for concurrent use.
type Reranker interface {
	Name() string // as it stands in a trace
	Rerank(ctx context.Context, question string, texts []string) ([]float64, error)
}

// Step is one way to rerank, with its time limit.
type Step struct {
	Reranker Reranker
	Timeout  time.Duration
	Failures int           // in a row, until it is left alone; 0 means the usual 3
	Pause    time.Duration // for which it is left alone; 0 means the usual 30 s
}

// Chain tries its steps in turn until one answers. It is safe for concurrent use.
type Chain struct{ steps []guarded }

type guarded struct {
	Step
	breaker *breaker.Breaker
}

// NewChain returns a chain; now is the clock of its circuit breakers, nil the system's.
func NewChain(now func() time.Time, steps ...Step) *Chain {
	c := &Chain{}
	for _, s := range steps {
		c.steps = append(c.steps, guarded{s, breaker.New(s.Failures, s.Pause, now)})
	}
	return c
}

// Answer is what a chain came to.
type Answer struct {
	By     string    // the name of the step that answered, ByOrder where none did
	Scores []float64 // one for each text; nil where none answered
	// Passed says of the steps before why they did not answer.
	Passed []string
}

// Rerank asks the steps in turn. It never fails: where no step answers, the order is the answer. Only the end of ctx is an
// error.
func (c *Chain) Rerank(ctx context.Context, question string, texts []string) (Answer, error) {
	a := Answer{By: ByOrder}
	if c == nil || len(texts) < 2 {
		return a, ctx.Err()
	}
	for _, s := range c.steps {
		if !s.breaker.Allow() {
			a.Passed = append(a.Passed, s.Reranker.Name()+": left alone after failures")
			continue
		}
		scores, err := s.ask(ctx, question, texts)
		if ctx.Err() != nil { // the visitor went away: says nothing about the step
			s.breaker.Abandon()
			return Answer{By: ByOrder}, ctx.Err()
		}
		s.breaker.Done(err == nil)
		if err == nil {
			a.By, a.Scores = s.Reranker.Name(), scores
			return a, nil
		}
		a.Passed = append(a.Passed, fmt.Sprintf("%s: %v", s.Reranker.Name(), err))
	}
	return a, nil
}

func (s guarded) ask(ctx context.Context, question string, texts []string) ([]float64, error) {
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		defer cancel()
	}
	scores, err := s.Reranker.Rerank(ctx, question, texts)
	if err == nil && len(scores) != len(texts) {
		err = fmt.Errorf("%w: %d scores for %d texts", ErrIncomplete, len(scores), len(texts))
	}
	return scores, err
}
