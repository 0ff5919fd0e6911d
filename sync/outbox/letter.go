package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// maxLetters is how many dead letters are kept; the oldest give way.
const maxLetters = 256

// DeadLetter is an event that the hub would not take. It is out of the queue and stays here for a person to look at.
type DeadLetter struct {
	StreamID string          `json:"stream_id"`
	Seq      uint64          `json:"seq"`
	Reason   string          `json:"reason"`
	Event    json.RawMessage `json:"event"` // the envelope
}

// letterOf names the event to set aside.
type letterOf struct {
	streamID string
	seq      uint64
	reason   string
}

// SetAside takes an event that the hub refuses out of the queue into the list of dead letters and tells the hub that
// its number is lost. An event that is not held is no error: there is nothing left to do.
func (o *Outbox) SetAside(ctx context.Context, streamID string, seq uint64, reason string) error {
	p := &op{letter: &letterOf{streamID, seq, reason}, wall: o.opt.Clock(), mono: o.opt.Uptime(), done: make(chan struct{})}
	if err := o.do(ctx, p); err != nil {
		return fmt.Errorf("set event %d aside: %w", seq, err)
	}
	return nil
}

func (t *tx) setAside(l letterOf) error {
	i := slices.IndexFunc(t.streams, func(s stream) bool { return s.meta.ID == l.streamID })
	if i < 0 || t.streams[i].meta.Diverged || l.seq <= t.streams[i].meta.Acked {
		return nil
	}
	if err := t.moveAside(&t.streams[i], l); err != nil {
		t.failed = err
		return err
	}
	return nil
}

func (t *tx) moveAside(s *stream, l letterOf) error {
	key := eventKey(s.ordinal, l.seq)
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := item.ValueCopy(nil)
	if err != nil {
		return err
	}
	letter, err := json.Marshal(DeadLetter{StreamID: l.streamID, Seq: l.seq, Reason: l.reason, Event: b})
	if err != nil {
		return err
	}
	if err := t.txn.Delete(key); err != nil {
		return err
	}
	t.gone(uint64(len(b)))
	if err := t.txn.Set(letterKey(s.ordinal, l.seq), letter); err != nil {
		return err
	}
	t.aside++
	if err := t.forgetLetters(); err != nil {
		return err
	}
	s.report(l.seq, l.seq) // a hole that needs no second report
	t.dirty, t.torn = true, true
	if err := t.set(streamKey(s.ordinal), s.meta); err != nil {
		return err
	}
	data, err := json.Marshal(Loss{StreamID: l.streamID, From: l.seq, To: l.seq, Reason: "refused by the hub: " + clip(l.reason, 200)})
	if err != nil {
		return err
	}
	return t.append(&op{typ: LostType, data: data, wall: t.o.opt.Clock(), mono: t.o.opt.Uptime()})
}

// forgetLetters deletes the oldest dead letters beyond maxLetters.
func (t *tx) forgetLetters() error {
	if t.aside <= maxLetters {
		return nil
	}
	it := t.txn.NewIterator(badger.IteratorOptions{Prefix: []byte{'d'}})
	defer it.Close()
	for it.Rewind(); it.Valid() && t.aside > maxLetters; it.Next() {
		if err := t.txn.Delete(it.Item().KeyCopy(nil)); err != nil {
			return err
		}
		t.aside--
	}
	return nil
}

// DeadLetters returns the events that were set aside, the oldest first.
func (o *Outbox) DeadLetters() ([]DeadLetter, error) {
	o.reading.RLock()
	defer o.reading.RUnlock()
	if o.closed || o.db == nil {
		return nil, fmt.Errorf("read dead letters: %w", ErrClosed)
	}
	var out []DeadLetter
	err := o.db.View(func(txn *badger.Txn) error {
		iopt := badger.DefaultIteratorOptions
		iopt.Prefix = []byte{'d'}
		it := txn.NewIterator(iopt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			var l DeadLetter
			if err := it.Item().Value(func(b []byte) error { return json.Unmarshal(b, &l) }); err != nil {
				return err
			}
			out = append(out, l)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read dead letters: %w", err)
	}
	return out, nil
}

func letterKey(ordinal uint32, seq uint64) []byte {
	return append([]byte{'d'}, bytes.Clone(eventKey(ordinal, seq))[1:]...)
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
