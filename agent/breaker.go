package agent

import (
	"sync"
	"time"
)

// A model that did not answer in so many turns in a row is left alone for a while, so that visitors do not wait for a
// server that is down. Then one turn tries it again.
const (
	restAfter = 3
	restFor   = 30 * time.Second
)

// breaker says whether a model is asked. The zero value asks it.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	until    time.Time
}

// rests reports whether the model is left alone.
func (b *breaker) rests(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.until)
}

// heard notes whether the model answered.
func (b *breaker) heard(answered bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answered {
		b.failures, b.until = 0, time.Time{}
		return
	}
	if b.failures++; b.failures >= restAfter {
		b.until = now.Add(restFor)
	}
}
