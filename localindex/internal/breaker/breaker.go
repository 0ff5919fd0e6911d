// Package breaker is a circuit breaker: a service that failed several times in a row is left alone for a while.
package breaker

import (
	"sync"
	"time"
)

// The usual values.
const (
	DefaultFailures = 3
	DefaultPause    = 30 * time.Second
)

// Breaker counts the failures of one service. It is safe for concurrent use.
type Breaker struct {
	failures int
	pause    time.Duration
	now      func() time.Time

	mu      sync.Mutex
	inRow   int
	until   time.Time // no calls before
	probing bool      // one call is finding out whether the service is back
}

// New returns a breaker that opens after so many failures in a row and lets one call through after the pause. Numbers of 0
// mean the usual values, a nil clock the system's.
func New(failures int, pause time.Duration, now func() time.Time) *Breaker {
	if failures <= 0 {
		failures = DefaultFailures
	}
	if pause <= 0 {
		pause = DefaultPause
	}
	if now == nil {
		now = time.Now
	}
	return &Breaker{failures: failures, pause: pause, now: now}
}

// Allow reports whether the service may be called. Whoever is allowed calls Done once.
func (b *Breaker) Allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inRow < b.failures {
		return true
	}
	if b.probing || b.now().Before(b.until) {
		return false
	}
	b.probing = true
	return true
}

// Done tells how a call ended.
func (b *Breaker) Done(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if ok {
		b.inRow = 0
		return
	}
	b.inRow++
	if b.inRow >= b.failures {
		b.until = b.now().Add(b.pause)
	}
}

// Abandon takes back a call that told nothing about the service, such as one whose visitor went away.
func (b *Breaker) Abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// Open reports whether calls are refused now.
func (b *Breaker) Open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inRow >= b.failures && (b.probing || b.now().Before(b.until))
}
