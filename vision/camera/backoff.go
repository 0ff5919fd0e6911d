package camera

import (
	"context"
	"time"
)

const (
	retryFirst = 500 * time.Millisecond // bound of the first wait; doubled each time
	retryMost  = 5 * time.Second
	// provenAfter is how long a camera must have worked for the waits to begin anew. One that comes and goes is opened
	// less and less often.
	provenAfter = 10 * time.Second
)

// backoff waits between attempts to open a source, for a random part of a bound that doubles ("full jitter", Marc
// Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog 2015).
type backoff struct {
	random func() float64 // in [0, 1)
	bound  time.Duration
}

func newBackoff(random func() float64) *backoff { return &backoff{random: random, bound: retryFirst} }

// next is how long to wait now.
func (b *backoff) next() time.Duration {
	wait := time.Duration(b.random() * float64(b.bound))
	b.bound = min(2*b.bound, retryMost)
	return wait
}

// worked says for how long the source has worked.
func (b *backoff) worked(d time.Duration) {
	if d >= provenAfter {
		b.bound = retryFirst
	}
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
