package memory

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Run takes what waits in the queue to the store, until ctx is done.
func (m *Memory) Run(ctx context.Context) {
	for ctx.Err() == nil {
		m.wait(ctx, m.step(ctx))
	}
}

// wait returns when something new is in the queue, at the time next if that is not zero, or when ctx is done.
func (m *Memory) wait(ctx context.Context, next time.Time) {
	var due <-chan time.Time
	if !next.IsZero() {
		t := time.NewTimer(max(0, next.Sub(m.o.Now())))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-ctx.Done():
	case <-m.wake:
	case <-due:
	}
}

// step takes up everything that is due, oldest first within a visit, and returns when the next is; the zero time where
// nothing waits.
func (m *Memory) step(ctx context.Context) (next time.Time) {
	m.mu.Lock()
	shelves := make([]*shelf, 0, len(m.shelves))
	for _, s := range m.shelves {
		shelves = append(shelves, s)
	}
	m.mu.Unlock()
	for _, s := range shelves {
		for ctx.Err() == nil {
			due, ok := m.consume(ctx, s)
			if !ok {
				break
			}
			if !due.IsZero() {
				if next.IsZero() || due.Before(next) {
					next = due
				}
				break
			}
		}
	}
	return next
}

// consume takes up the oldest utterance of a visit. It returns false where none waits, and the time when it is due
// where that is still to come, or the attempt failed.
func (m *Memory) consume(ctx context.Context, s *shelf) (due time.Time, ok bool) {
	s.mu.Lock()
	if s.forgotten || len(s.queue) == 0 {
		s.mu.Unlock()
		return time.Time{}, false
	}
	u := s.queue[0]
	s.mu.Unlock()
	if u.due.After(m.o.Now()) {
		return u.due, true
	}
	drafts, err := m.o.Classify(ctx, u.Said)
	s.write.Lock()
	defer s.write.Unlock()
	if err == nil {
		var commands, settled, before []Command
		for _, d := range drafts {
			c := u.command(d, s.visit.Name, m.o.Kiosk)
			if !u.stored(d) {
				commands = append(commands, c)
			} else if now, still := s.holds(c); still {
				before = append(before, now)
			}
		}
		if settled, err = m.store(ctx, s, commands, change{done: u.ID}); err == nil {
			m.publish(ctx, s, append(before, settled...))
			return time.Time{}, true
		}
	}
	if errors.Is(err, ErrForgotten) || ctx.Err() != nil {
		return time.Time{}, false
	}
	return m.retry(ctx, s, u, err), true
}

// retry puts an utterance off, or gives it up after the last attempt. It is called with s.write held.
func (m *Memory) retry(ctx context.Context, s *shelf, u utterance, cause error) (due time.Time) {
	u.Attempts++
	u.due = m.o.Now().Add(min(lastRetry, firstRetry<<(u.Attempts-1)))
	at := atJob
	if u.Attempts >= maxAttempts {
		at = atDead
		m.o.Logger.Error("give up storing what a visitor said", "attempts", u.Attempts, "error", cause)
	} else {
		m.o.Logger.Warn("store what a visitor said", "attempt", u.Attempts, "error", cause)
	}
	s.mu.Lock()
	visit := s.visit
	if s.forgotten {
		s.mu.Unlock()
		return time.Time{}
	}
	if at == atDead {
		s.queue = slices.DeleteFunc(s.queue, func(o utterance) bool { return o.ID == u.ID })
		s.dead = newest(append(s.dead, u), maxQueue)
		due = time.Time{}
	} else {
		s.queue[0] = u
		due = u.due
	}
	s.mu.Unlock()
	place := at + visit.Name + "/" + u.ID
	box, err := visit.seal(place, u, m.o.Random)
	if err == nil {
		var old []string
		if at == atDead {
			old = []string{atJob + visit.Name + "/" + u.ID}
		}
		err = m.o.Store.Commit(ctx, []Record{{place, box}}, old, m.o.Keep)
	}
	if err != nil { // the attempts are counted anew after a restart
		m.o.Logger.Warn("note an attempt", "error", err)
	}
	return due
}

// change is what becomes of the queue together with commands that are stored.
type change struct {
	add  *utterance // comes into the queue
	done string     // id of the one that is done with
}

// store settles commands that were said here and commits them; the queue changes with them. It
// returns those that hold now, the ones stored before included. It is called with s.write held.
func (m *Memory) store(ctx context.Context, s *shelf, commands []Command, from change) (settled []Command, err error) {
	var puts []Command
	s.mu.Lock()
	for _, c := range commands {
		placed, put := s.settle(c)
		if put {
			puts = append(puts, placed)
		}
		if placed.ID != "" {
			settled = append(settled, placed)
		}
	}
	s.mu.Unlock()
	return settled, m.commit(ctx, s, puts, from)
}

// commit makes commands the stored ones, on disk first, in one write. It is called with s.write held.
func (m *Memory) commit(ctx context.Context, s *shelf, commands []Command, from change) error {
	s.mu.Lock()
	visit, gone := s.visit, s.forgotten
	s.mu.Unlock()
	if gone {
		return ErrForgotten
	}
	if len(commands) == 0 && from == (change{}) {
		return nil
	}
	records := make([]Record, 0, len(commands))
	for _, c := range commands {
		place := visit.place(c.slot())
		box, err := visit.seal(place, c, m.o.Random)
		if err != nil {
			return err
		}
		records = append(records, Record{place, box})
	}
	if from.add != nil {
		place := atJob + visit.Name + "/" + from.add.ID
		box, err := visit.seal(place, from.add, m.o.Random)
		if err != nil {
			return err
		}
		records = append(records, Record{place, box})
	}
	var deletes []string
	if from.done != "" {
		deletes = []string{atJob + visit.Name + "/" + from.done}
	}
	if err := m.o.Store.Commit(ctx, records, deletes, m.o.Keep); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(commands)
	if from.done != "" {
		s.queue = slices.DeleteFunc(s.queue, func(u utterance) bool { return u.ID == from.done })
		s.uncache(from.done)
	}
	if from.add != nil {
		s.uncache(from.add.ID)
		s.cache = append(s.cache, *from.add)
		s.queue = append(s.queue, *from.add)
	}
	s.expireCache(m.o.Now())
	return nil
}

// publish hands commands to other kiosks. Where that fails this kiosk remembers all the same.
func (m *Memory) publish(ctx context.Context, s *shelf, commands []Command) {
	s.mu.Lock()
	visit, gone := s.visit, s.forgotten
	s.mu.Unlock()
	if gone || m.o.Publish == nil || len(commands) == 0 {
		return
	}
	e, err := visit.envelope(EnvelopeCommands, commands, m.o.Random)
	if err == nil {
		err = m.o.Publish(ctx, e)
	}
	if err != nil {
		m.o.Logger.Warn("publish memory commands", "error", err)
	}
}
