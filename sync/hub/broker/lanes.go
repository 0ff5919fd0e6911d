package broker

import (
	"context"
	"hash/maphash"
	"sync"
)

// Lanes deal with messages many at a time, so that they share a transaction, and with those under one key one after the
// other.
type Lanes[M any] struct {
	lanes []chan M
	seed  maphash.Seed
	wg    sync.WaitGroup
}

// NewLanes starts n lanes; in each, depth messages may wait. Close ends them.
func NewLanes[M any](n, depth int, do func(M)) *Lanes[M] {
	l := &Lanes[M]{lanes: make([]chan M, n), seed: maphash.MakeSeed()}
	for i := range l.lanes {
		lane := make(chan M, depth)
		l.lanes[i] = lane
		l.wg.Go(func() {
			for m := range lane {
				do(m)
			}
		})
	}
	return l
}

func (l *Lanes[M]) lane(key string) chan M {
	return l.lanes[maphash.String(l.seed, key)%uint64(len(l.lanes))]
}

// Offer adds a message if there is room for it.
func (l *Lanes[M]) Offer(key string, m M) bool {
	select {
	case l.lane(key) <- m:
		return true
	default:
		return false
	}
}

// Put adds a message as soon as there is room for it.
func (l *Lanes[M]) Put(ctx context.Context, key string, m M) error {
	select {
	case l.lane(key) <- m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close waits until what was added is dealt with. Nothing may be added any more.
func (l *Lanes[M]) Close() {
	for _, lane := range l.lanes {
		close(lane)
	}
	l.wg.Wait()
}
