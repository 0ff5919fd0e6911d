package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"docent/sync/wire"
)

// tx is one transaction together with the state that holds once it is durable.
type tx struct {
	o        *Outbox
	txn      *badger.Txn
	streams  []stream
	depth    uint64
	held     uint64
	dead     uint64
	dropped  uint64     // events that made room
	aside    uint64     // dead letters
	reports  []Position // new reports of losses
	session  uint64
	appended bool
	dirty    bool
	deletes  int
	moved    int
	movedLen int
	full     error     // set once the disk was found too full
	checked  bool      // whether the disk was looked at
	none     error     // set once the disk was found to have nothing left
	looked   bool      // whether the disk was looked at for that
	note     string    // what is degraded once this is durable
	failed   error     // set when something went wrong half-way: nothing of this may be committed
	fresh    []Pending // what is appended
	torn     bool      // the newest events are not what they were, apart from fresh
}

func (o *Outbox) begin() *tx {
	o.mu.Lock()
	defer o.mu.Unlock()
	return &tx{
		o: o, txn: o.db.NewTransaction(true),
		streams: append([]stream(nil), o.streams...), depth: o.depth, held: o.held, dead: o.dead, session: o.session,
		dropped: o.dropped, aside: o.aside,
	}
}

func (t *tx) apply(p *op) (more bool, err error) {
	if !t.looked {
		t.looked, t.none = true, t.o.spare(min(t.o.opt.MinFree, minAny))
	}
	if t.none != nil {
		return false, t.none
	}
	switch {
	case p.ack != nil:
		return t.acknowledge(p)
	case p.letter != nil:
		return false, t.setAside(*p.letter)
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
	id, err := wire.NewID(p.wall, t.o.opt.Random)
	if err != nil {
		return err
	}
	if err := t.room(p); err != nil {
		return err
	}
	err = t.put(wire.Event{
		Schema: wire.Schema, EventID: id,
		TSWall: p.wall, TSMonoMS: p.mono.Milliseconds(), BootID: t.o.opt.BootID, ClockSynced: t.o.opt.ClockSynced(),
		Type: p.typ, Data: p.data,
	})
	p.seq = t.streams[len(t.streams)-1].last
	return err
}

// put numbers an event in the present stream and stores it.
func (t *tx) put(e wire.Event) error {
	cur := &t.streams[len(t.streams)-1]
	e.KioskID, e.StreamID, e.Seq, e.PrevHash = t.o.opt.Kiosk, cur.meta.ID, cur.last+1, cur.hash
	b, err := e.Encode()
	if err != nil {
		return err
	}
	if err := t.txn.Set(eventKey(cur.ordinal, e.Seq), b); err != nil {
		return err
	}
	t.fresh = append(t.fresh, Pending{Position: Position{cur.ordinal, e.Seq}, StreamID: cur.meta.ID, Seq: e.Seq, Event: b})
	cur.last, cur.hash = e.Seq, wire.Hash(b)
	if e.Type == LostType {
		t.reports = append(t.reports, Position{cur.ordinal, e.Seq})
	}
	t.depth++
	t.held += uint64(len(b))
	t.appended, t.dirty = true, true
	return nil
}

// acknowledge carries out an acknowledgement. It may stop half-way only by failing the whole transaction.
func (t *tx) acknowledge(p *op) (more bool, err error) {
	more, err = t.ack(p)
	if err != nil && !errors.Is(err, ErrUnknownStream) {
		t.failed = err
	}
	return more, err
}

// ack deletes the events an acknowledgement covers. It reports more when some are left for the next transaction.
func (t *tx) ack(p *op) (more bool, err error) {
	i := slices.IndexFunc(t.streams, func(s stream) bool { return s.meta.ID == p.ack.StreamID })
	if i < 0 {
		return false, ErrUnknownStream
	}
	s := &t.streams[i]
	if !s.meta.Diverged {
		if err := t.compare(i, *p.ack); err != nil {
			return false, err
		}
		s = &t.streams[i] // compare may have begun a stream
	}
	if s.meta.Diverged {
		p.err = ErrRenumbered
		return t.renumber(i)
	}
	if s.meta.DroppedFrom > 0 && p.ack.AckedSeq >= s.meta.Acked { // the hub has read which events made room
		s.meta.DroppedFrom = 0
		if err := t.left(i); err != nil {
			return false, err
		}
	}
	to := min(p.ack.AckedSeq, s.last)
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
		if err := t.forget(p, eventKey(s.ordinal, seq)); err != nil {
			return false, err
		}
	}
	s.meta.Acked = upto
	s.meta.Reported = slices.DeleteFunc(slices.Clone(s.meta.Reported), func(r wire.Range) bool { return r[1] <= upto })
	return upto < to, t.left(i)
}

// forget deletes one event.
func (t *tx) forget(p *op, key []byte) error {
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil // lost before; the hub was told
	}
	if err != nil {
		return err
	}
	t.deletes, p.freed = t.deletes+1, p.freed+1
	t.gone(uint64(item.ValueSize()))
	return t.txn.Delete(key)
}

// gone keeps the books of a deleted event.
func (t *tx) gone(size uint64) {
	t.depth--
	t.held -= min(t.held, size)
	t.dead += size
}

// left stores how far events have left a stream, and drops the stream when it is an older one with none left.
func (t *tx) left(i int) error {
	t.dirty = true
	s := t.streams[i]
	if s.meta.End > 0 && s.meta.Acked >= s.last {
		t.streams = slices.Delete(t.streams, i, i+1)
		return t.txn.Delete(streamKey(s.ordinal))
	}
	return t.set(streamKey(s.ordinal), s.meta)
}

// compare holds an acknowledgement against the store. When the hub is ahead of all numbers ever given out, or has
// another event under the number it acknowledges, this store is an older copy put back, and nothing the hub says of
// the stream is about the events in it. The stream is then marked as diverged, and a new one begun.
func (t *tx) compare(i int, a wire.Ack) error {
	s := &t.streams[i]
	if a.AckedSeq <= s.issued() {
		if a.AckedHash == "" || a.AckedSeq <= s.meta.Acked || a.AckedSeq > s.last {
			return nil
		}
		own, err := t.hashOf(s.ordinal, a.AckedSeq)
		if err != nil || own == "" || own == a.AckedHash {
			return err
		}
	}
	s.meta.Diverged = true
	t.note = fmt.Sprintf("the hub has other events than this store up to number %d: the store is an older copy", a.AckedSeq)
	if i == len(t.streams)-1 {
		return t.beginStream(a.AckedSeq)
	}
	t.dirty = true
	return t.set(streamKey(s.ordinal), s.meta)
}

// renumber moves events of a diverged stream into the present one. They keep their event ids, by which the hub knows
// those that it has already. It reports more when some are left for the next transaction.
func (t *tx) renumber(i int) (more bool, err error) {
	s := &t.streams[i]
	for s.meta.Acked < s.last {
		if t.moved >= maxMove || t.movedLen >= maxBytes/2 {
			return true, t.left(i)
		}
		if err := t.move(s, s.meta.Acked+1); err != nil {
			return false, err
		}
	}
	return false, t.left(i)
}

// move gives one event the next number of the present stream.
func (t *tx) move(s *stream, seq uint64) error {
	key := eventKey(s.ordinal, seq)
	s.meta.Acked, s.meta.AckedHash = seq, ""
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
	e, err := wire.DecodeEvent(b)
	if err != nil {
		return fmt.Errorf("event %d: %w", seq, err)
	}
	s.meta.AckedHash = wire.Hash(b)
	if err := t.txn.Delete(key); err != nil {
		return err
	}
	t.moved, t.movedLen = t.moved+1, t.movedLen+len(b)
	t.gone(uint64(len(b)))
	return t.put(e)
}

// beginStream closes the present stream, which issued numbers up to end at least, and begins the next.
func (t *tx) beginStream(end uint64) error {
	id, err := wire.NewID(t.o.opt.Clock(), t.o.opt.Random)
	if err != nil {
		return err
	}
	next := stream{meta: streamMeta{ID: id}}
	if n := len(t.streams); n > 0 {
		old := &t.streams[n-1]
		next.ordinal = old.ordinal + 1
		old.meta.End = max(old.issued(), end, 1)
		if err := t.left(n - 1); err != nil {
			return err
		}
	}
	t.streams = append(t.streams, next)
	t.dirty, t.torn = true, true
	return t.set(streamKey(next.ordinal), next.meta)
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
	if t.failed != nil || !t.dirty {
		return t.failed
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
	o.streams, o.depth, o.held, o.dead, o.session = t.streams, t.depth, t.held, t.dead, t.session
	o.dropped, o.aside = t.dropped, t.aside
	if t.torn {
		o.newest = newest{}
	} else {
		o.newest.add(t.fresh)
	}
	o.reports = pendingReports(append(o.reports, t.reports...), o.streams)
	if t.note != "" {
		o.degrade(t.note)
	}
	o.mu.Unlock()
	if t.appended {
		select {
		case o.changed <- struct{}{}:
		default:
		}
	}
	return nil
}
