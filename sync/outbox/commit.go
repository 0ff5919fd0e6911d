package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"docent/sync/wire"
)

// Bounds of one transaction. A transaction of the store may hold 15 % of a memtable (1.2 MiB of 8); past these bounds
// the rest goes into the next one.
const (
	maxOps    = 512
	maxBytes  = 768 << 10
	maxDelete = 4096
)

// op is one thing asked of the writer: an event to append, an acknowledgement, or a session number.
type op struct {
	typ  string
	data json.RawMessage
	wall time.Time
	mono time.Duration

	ack     *wire.Ack
	session bool

	seq   uint64 // of the event or session
	freed uint64 // events deleted by the acknowledgement
	err   error
	done  chan struct{} // closed when the results above are final
}

func (p *op) finish(err error) {
	p.err = err
	close(p.done)
}

// write is the only goroutine that writes to the store. Whatever waits when it gets to the queue shares one synced
// transaction.
func (o *Outbox) write() {
	defer close(o.stopped)
	for {
		select {
		case p := <-o.queue:
			o.commit(o.gather(p))
		case <-o.closing:
			for {
				select {
				case p := <-o.queue:
					o.commit(o.gather(p))
				default:
					return
				}
			}
		}
	}
}

// gather takes what waits behind p, up to the bounds of a transaction; it does not wait for more.
func (o *Outbox) gather(p *op) []*op {
	batch, size := []*op{p}, p.size()
	for len(batch) < maxOps && size < maxBytes {
		select {
		case p := <-o.queue:
			batch, size = append(batch, p), size+p.size()
		default:
			return batch
		}
	}
	return batch
}

func (p *op) size() int { return len(p.data) + 512 } // the envelope is 300 to 450 bytes

// commit carries out a batch in one transaction, or in several when acknowledgements free many events.
func (o *Outbox) commit(batch []*op) {
	for len(batch) > 0 {
		batch = o.commitOnce(batch)
	}
}

// commitOnce carries out a batch and returns the acknowledgements that still have events to free.
func (o *Outbox) commitOnce(batch []*op) (unfinished []*op) {
	t := o.begin()
	var applied []*op
	for _, p := range batch {
		more, err := t.apply(p)
		if err != nil {
			p.finish(err)
			continue
		}
		if more {
			unfinished = append(unfinished, p)
			continue
		}
		applied = append(applied, p)
	}
	if err := t.commit(); err != nil {
		err = fmt.Errorf("commit: %w", err)
		for _, p := range append(applied, unfinished...) {
			p.finish(err)
		}
		return nil
	}
	for _, p := range applied {
		p.finish(nil)
	}
	return unfinished
}

// tx is one transaction together with the state that holds once it is durable.
type tx struct {
	o        *Outbox
	txn      *badger.Txn
	streams  []stream
	depth    uint64
	session  uint64
	appended bool
	dirty    bool
	deletes  int
	full     error // set once the disk was found too full
	checked  bool
}

func (o *Outbox) begin() *tx {
	o.mu.Lock()
	defer o.mu.Unlock()
	return &tx{
		o: o, txn: o.db.NewTransaction(true),
		streams: append([]stream(nil), o.streams...), depth: o.depth, session: o.session,
	}
}

func (t *tx) apply(p *op) (more bool, err error) {
	switch {
	case p.ack != nil:
		return t.ack(p)
	case p.session:
		t.session++
		p.seq, t.dirty = t.session, true
		return false, t.set(keySession, t.session)
	default:
		return false, t.append(p)
	}
}

func (t *tx) append(p *op) error {
	if !t.checked {
		t.checked, t.full = true, t.o.checkFree(t.o.opt.MinFree)
	}
	if t.full != nil {
		return t.full
	}
	cur := &t.streams[len(t.streams)-1]
	id, err := wire.NewID(p.wall, t.o.opt.Random)
	if err != nil {
		return err
	}
	e := wire.Event{
		Schema: wire.Schema, KioskID: t.o.opt.Kiosk, StreamID: cur.meta.ID, Seq: cur.last + 1, EventID: id,
		TSWall: p.wall, TSMonoMS: p.mono.Milliseconds(), BootID: t.o.opt.BootID, ClockSynced: t.o.opt.ClockSynced(),
		Type: p.typ, Data: p.data, PrevHash: cur.hash,
	}
	b, err := e.Encode()
	if err != nil {
		return err
	}
	if err := t.txn.Set(eventKey(cur.ordinal, e.Seq), b); err != nil {
		return err
	}
	cur.last, cur.hash = e.Seq, wire.Hash(b)
	t.depth++
	p.seq, t.appended, t.dirty = e.Seq, true, true
	return nil
}

// ack deletes the events an acknowledgement covers. It reports more when some are left for the next transaction.
func (t *tx) ack(p *op) (more bool, err error) {
	a := *p.ack
	i := -1
	for j := range t.streams {
		if t.streams[j].meta.ID == a.StreamID {
			i = j
		}
	}
	if i < 0 {
		return false, ErrUnknownStream
	}
	s := &t.streams[i]
	to := min(a.AckedSeq, s.last)
	if to <= s.meta.Acked {
		return false, nil
	}
	upto := min(to, s.meta.Acked+uint64(max(maxDelete-t.deletes, 0)))
	if upto == s.meta.Acked {
		return true, nil
	}
	if s.meta.AckedHash, err = t.hashOf(s.ordinal, upto); err != nil {
		return false, err
	}
	for seq := s.meta.Acked + 1; seq <= upto; seq++ {
		key := eventKey(s.ordinal, seq)
		switch _, err := t.txn.Get(key); {
		case errors.Is(err, badger.ErrKeyNotFound):
			continue // lost before; the hub was told
		case err != nil:
			return false, err
		}
		if err := t.txn.Delete(key); err != nil {
			return false, err
		}
		t.deletes++
		t.depth--
		p.freed++
	}
	s.meta.Acked = upto
	t.dirty = true
	if s.meta.End > 0 && upto == s.last { // an older stream, all of it acknowledged
		if err := t.txn.Delete(streamKey(s.ordinal)); err != nil {
			return false, err
		}
		t.streams = append(t.streams[:i], t.streams[i+1:]...)
		return false, nil
	}
	return upto < to, t.set(streamKey(s.ordinal), s.meta)
}

func (t *tx) hashOf(ordinal uint32, seq uint64) (string, error) {
	item, err := t.txn.Get(eventKey(ordinal, seq))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var hash string
	err = item.Value(func(b []byte) error {
		hash = wire.Hash(b)
		return nil
	})
	return hash, err
}

func (t *tx) set(key []byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return t.txn.Set(key, b)
}

// commit makes the transaction durable and then the state visible.
func (t *tx) commit() error {
	defer t.txn.Discard()
	if !t.dirty {
		return nil
	}
	if err := t.txn.Commit(); err != nil {
		return err
	}
	cur := t.streams[len(t.streams)-1]
	if t.appended {
		if err := t.o.mark.write(cur.meta.ID, cur.last); err != nil {
			// The event is stored all the same; without the mark a later loss of the newest events may go unseen.
			t.o.opt.Logger.Warn("outbox watermark not written", "kiosk", t.o.opt.Kiosk, "err", err)
		}
	}
	o := t.o
	o.mu.Lock()
	o.streams, o.depth, o.session = t.streams, t.depth, t.session
	o.mu.Unlock()
	if t.appended {
		select {
		case o.changed <- struct{}{}:
		default:
		}
	}
	return nil
}
