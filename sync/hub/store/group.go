package store

import (
	"context"
	"database/sql"
	"errors"
)

// Bounds of small writes that share a transaction.
const (
	groupQueue = 256 // waiting; more wait for a place
	groupMost  = 512 // in one transaction
)

// errClosing is for writes that come when the store is being closed.
var errClosing = errors.New("the store is closed")

// small is one write that may share its transaction with others.
type small struct {
	ctx  context.Context
	do   func(context.Context, *sql.Tx) error
	done chan error // capacity 1
}

// together runs a write in a transaction that it shares with whatever else waits, and returns when that is on the disk:
// when a thousand kiosks come at once, what they say of themselves costs a few syncs of the disk and not a thousand.
func (s *Store) together(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	w := small{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case s.smalls <- w:
	case <-s.closing:
		return errClosing
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-s.grouped: // the writer has ended: with or without this one?
		select {
		case err := <-w.done:
			return err
		default:
			return errClosing
		}
	}
}

// group commits small writes until the store is closed.
func (s *Store) group() {
	defer close(s.grouped)
	for {
		var batch []small
		select {
		case <-s.closing:
			return
		case w := <-s.smalls:
			batch = append(batch, w)
		}
	gather:
		for len(batch) < groupMost {
			select {
			case w := <-s.smalls:
				batch = append(batch, w)
			default:
				break gather
			}
		}
		s.commit(batch)
	}
}

// commit writes a batch in one transaction, and if one of them fails, each in its own.
func (s *Store) commit(batch []small) {
	ctx := context.Background() // many share it: it must not end with one of them
	err := s.inTogether(ctx, func(tx *sql.Tx) error {
		for _, w := range batch {
			if err := w.do(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	for _, w := range batch {
		each := err
		if err != nil && len(batch) > 1 {
			each = s.inTogether(w.ctx, func(tx *sql.Tx) error { return w.do(w.ctx, tx) })
		}
		w.done <- each
	}
}

// inTogether runs small writes in one transaction. They are statements that stand for themselves, and are not kept apart
// from those of other processes.
func (s *Store) inTogether(ctx context.Context, f func(*sql.Tx) error) error {
	return s.again(ctx, func(ctx context.Context) error { return s.inOne(ctx, nil, f) })
}
