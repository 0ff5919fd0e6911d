package camera

import (
	"context"
	"sync"
)

// audience is the viewers of what a camera shows. Each has room for one thing: one who is slow gets the newest and
// misses those between.
type audience[T any] struct {
	most int

	mu      sync.Mutex
	viewers map[chan T]struct{}
	some    chan struct{} // closed while there are viewers
	over    bool
}

func newAudience[T any](most int) *audience[T] {
	return &audience[T]{most: most, viewers: map[chan T]struct{}{}, some: make(chan struct{})}
}

// wanted returns a channel that is closed once there are viewers.
func (a *audience[T]) wanted() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.some
}

// join returns a channel that is closed when ctx is done or the audience is sent home. The error is [ErrClosed] or
// [ErrBusy].
func (a *audience[T]) join(ctx context.Context) (<-chan T, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over:
		return nil, ErrClosed
	case len(a.viewers) >= a.most:
		return nil, ErrBusy
	}
	v := make(chan T, 1)
	if len(a.viewers) == 0 {
		close(a.some)
	}
	a.viewers[v] = struct{}{}
	context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.leave(v)
	})
	return v, nil
}

// leave ends a viewer, if it is still there. It is called with mu held.
func (a *audience[T]) leave(v chan T) {
	if _, ok := a.viewers[v]; !ok {
		return
	}
	delete(a.viewers, v)
	close(v)
	if len(a.viewers) == 0 {
		a.some = make(chan struct{})
	}
}

// send puts something in the place of what a viewer has not taken yet.
func (a *audience[T]) send(something T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for v := range a.viewers {
		select {
		case <-v:
		default:
		}
		v <- something // there is room: only send puts something in, and it holds mu
	}
}

// endAll sends all viewers home.
func (a *audience[T]) endAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for v := range a.viewers {
		a.leave(v)
	}
}

// shut sends all viewers home and lets no more in.
func (a *audience[T]) shut() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.endAll()
}
