package kiosk

import (
	"sync"
	"time"
)

// window lets at most so many things happen within any span of that length. A refusal counts for nothing.
type window struct {
	span time.Duration

	mu   sync.Mutex
	past []time.Time // a ring of when the last ones happened
	next int         // the oldest of them
}

// newWindow panics where most is not positive.
func newWindow(most int, span time.Duration) *window {
	return &window{span: span, past: make([]time.Time, most)}
}

// allow takes one, or says how long it is until there is one.
func (w *window) allow(now time.Time) (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := w.past[w.next]
	if since := now.Sub(oldest); !oldest.IsZero() && since >= 0 && since < w.span { // a clock set back forgets
		return w.span - since, false
	}
	w.past[w.next] = now
	w.next = (w.next + 1) % len(w.past)
	return 0, true
}
