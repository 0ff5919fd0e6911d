package embedding

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/localindex/internal/httpjson"
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Embed returns one vector for each text, in their order, all of one length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names what makes them: vectors of two models cannot be compared.
	Model() string
}

var _ Embedder = (*Client)(nil)

// AllOptions say how many texts are embedded.
type AllOptions struct {
	Batch int    // texts in one request; DefaultBatch where 0
	Cache *Cache // nil means none
	// Wait waits before a request is tried again; nil means a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// How often a request is tried, and how long is waited where the server does not say.
const (
	tries     = 4
	firstWait = time.Second
	maxWait   = time.Minute
)

// PartialError is an embedding that ended before all texts had a vector. What was done is in the cache, so that the next
// run goes on from there.
type PartialError struct {
	Done, All int
	Err       error
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("embedded %d of %d texts: %v", e.Done, e.All, e.Err)
}

func (e *PartialError) Unwrap() error { return e.Err }

// All embeds texts in batches, with those it embedded before from the cache. A server that is busy or failing is asked
// again a few times, after as long as it asks for. The error is a *PartialError where some texts have no vector.
func All(ctx context.Context, e Embedder, texts []string, o AllOptions) ([][]float32, error) {
	batch := o.Batch
	if batch <= 0 {
		batch = DefaultBatch
	}
	batch = min(batch, MaxBatch)
	wait := o.Wait
	if wait == nil {
		wait = sleep
	}
	vectors := make([][]float32, len(texts))
	var missing []int
	for i, text := range texts {
		if o.Cache != nil {
			if v, ok := o.Cache.Get(text); ok {
				vectors[i] = v
				continue
			}
		}
		missing = append(missing, i)
	}
	done := len(texts) - len(missing)
	for len(missing) > 0 {
		now := missing[:min(batch, len(missing))]
		some := make([]string, len(now))
		for j, i := range now {
			some[j] = texts[i]
		}
		found, err := ask(ctx, e, some, wait)
		if err != nil {
			return nil, &PartialError{Done: done, All: len(texts), Err: err}
		}
		if o.Cache != nil {
			if err := o.Cache.Put(some, found); err != nil {
				return nil, &PartialError{Done: done, All: len(texts), Err: err}
			}
		}
		for j, i := range now {
			vectors[i] = found[j]
		}
		done += len(now)
		missing = missing[len(now):]
	}
	if err := check(vectors, 0); err != nil { // a model that changed its dimension under its name
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

// ask tries one request a few times.
func ask(ctx context.Context, e Embedder, texts []string, wait func(context.Context, time.Duration) error) ([][]float32, error) {
	pause := firstWait
	for try := 1; ; try++ {
		vectors, err := e.Embed(ctx, texts)
		if err == nil {
			if len(vectors) != len(texts) {
				return nil, fmt.Errorf("%w: %d vectors for %d texts", httpjson.ErrMalformed, len(vectors), len(texts))
			}
			return vectors, nil
		}
		if ctx.Err() != nil || try == tries || !temporary(err) {
			return nil, err
		}
		var status *httpjson.StatusError
		if errors.As(err, &status) && status.RetryAfter > 0 {
			pause = status.RetryAfter
		}
		if err := wait(ctx, min(pause, maxWait)); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// temporary reports whether a request that failed so may succeed later.
func temporary(err error) bool {
	var status *httpjson.StatusError
	if errors.As(err, &status) {
		return status.Temporary()
	}
	return errors.Is(err, httpjson.ErrConnect) || errors.Is(err, httpjson.ErrCut) || errors.Is(err, context.DeadlineExceeded)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
