package outbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"docent/sync/wire"
)

// LostType is the type of the event that tells the hub of a Loss.
const LostType = "outbox.lost"

// inspect reads the streams and checks the numbering and hash chain of the events they hold. A panic over damaged
// tables counts as an error of them.
func (o *Outbox) inspect() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("read store: %v", r)
		}
	}()
	if err := o.load(); err != nil {
		return err
	}
	for i := range o.streams {
		if err := o.checkStream(&o.streams[i]); err != nil {
			return err
		}
	}
	return nil
}

// load reads the stored streams and counters.
func (o *Outbox) load() error {
	return o.db.View(func(txn *badger.Txn) error {
		if err := getJSON(txn, keySession, &o.session); err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			return fmt.Errorf("read session number: %w", err)
		}
		if err := getJSON(txn, keyKiosk, &o.kiosk); err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			return fmt.Errorf("read kiosk's name: %w", err)
		}
		iopt := badger.DefaultIteratorOptions
		letters := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{'d'}})
		for letters.Rewind(); letters.Valid(); letters.Next() {
			o.aside++
		}
		letters.Close()
		iopt.Prefix = []byte{'s'}
		it := txn.NewIterator(iopt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			s := stream{ordinal: binary.BigEndian.Uint32(it.Item().Key()[1:])}
			err := it.Item().Value(func(b []byte) error { return json.Unmarshal(b, &s.meta) })
			if err != nil {
				return fmt.Errorf("read stream %d: %w", s.ordinal, err)
			}
			s.last, s.hash = s.meta.Acked, s.meta.AckedHash
			o.streams = append(o.streams, s)
		}
		return nil
	})
}

// checkStream walks a stream's events and sets its last number and hash.
func (o *Outbox) checkStream(s *stream) error {
	return o.db.View(func(txn *badger.Txn) error {
		iopt := badger.DefaultIteratorOptions
		iopt.Prefix = eventKey(s.ordinal, 0)[:5]
		it := txn.NewIterator(iopt)
		defer it.Close()
		for it.Seek(eventKey(s.ordinal, s.meta.Acked+1)); it.Valid(); it.Next() {
			_, seq := parseEventKey(it.Item().Key())
			if seq > s.last+1 {
				if s.report(s.last+1, seq-1) {
					o.lose(s.meta.ID, s.last+1, seq-1, "missing in the store")
				}
				s.hash = ""
			}
			err := it.Item().Value(func(b []byte) error {
				if prev, ok := wire.PrevHash(b); (!ok || s.hash != "" && prev != s.hash) && s.report(seq, seq) {
					o.degrade(fmt.Sprintf("the hash chain does not hold at event %d", seq))
				}
				s.hash = wire.Hash(b)
				if isReport(b) {
					o.reports = append(o.reports, Position{s.ordinal, seq})
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("read event %d: %w", seq, err)
			}
			s.last = seq
			o.depth++
			o.held += uint64(it.Item().ValueSize())
		}
		return nil
	})
}

// report notes that a range is reported and tells whether some of it is new.
func (s *stream) report(from, to uint64) bool {
	next := from
	for covered := true; covered && next <= to; {
		covered = false
		for _, r := range s.meta.Reported {
			if r[0] <= next && next <= r[1] {
				next, covered = r[1]+1, true
			}
		}
	}
	if next > to {
		return false
	}
	s.meta.Reported = append(slices.Clone(s.meta.Reported), wire.Range{from, to})
	return true
}

// checkWatermark holds the newest event against the newest number ever given out. A flipped bit in the store's log
// makes every record after it vanish without an error; the watermark is a file that the log has no part in.
func (o *Outbox) checkWatermark() {
	id, seq, ok := o.mark.read()
	if !ok {
		return
	}
	for i, s := range o.streams {
		if s.meta.ID != id {
			continue
		}
		if seq > s.issued() {
			o.lose(id, s.last+1, seq, "cut off in the store")
			o.streams[i].meta.End = seq
		}
		return
	}
	o.lose(id, 1, seq, "the store is gone")
}

func (o *Outbox) lose(streamID string, from, to uint64, reason string) {
	o.losses = append(o.losses, Loss{StreamID: streamID, From: from, To: to, Reason: reason})
	o.degrade(fmt.Sprintf("events %d to %d are gone: %s", from, to, reason))
}

// renew begins a new stream, whose first events tell the hub what is lost. When the kiosk has a new name, the events
// that wait are to move there too: the hub takes events under their own kiosk's name only.
func (o *Outbox) renew() error {
	t := o.begin()
	defer t.txn.Discard()
	t.checked = true // Open has looked at the disk
	for i := range t.streams {
		s := &t.streams[i]
		s.meta.Diverged = s.meta.Diverged || o.kiosk != o.opt.Kiosk
		if err := t.set(streamKey(s.ordinal), s.meta); err != nil {
			return fmt.Errorf("begin stream: %w", err)
		}
	}
	if err := t.set(keyKiosk, o.opt.Kiosk); err != nil {
		return fmt.Errorf("begin stream: %w", err)
	}
	if err := t.beginStream(0); err != nil {
		return fmt.Errorf("begin stream: %w", err)
	}
	for _, l := range o.losses {
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if err := t.append(&op{typ: LostType, data: b, wall: o.opt.Clock(), mono: o.opt.Uptime()}); err != nil {
			return fmt.Errorf("report lost events: %w", err)
		}
	}
	if err := t.commit(); err != nil {
		return fmt.Errorf("begin stream: %w", err)
	}
	cur := o.streams[len(o.streams)-1]
	return o.mark.write(cur.meta.ID, cur.last)
}

// finishMove moves on what is left in diverged streams after a restart.
func (o *Outbox) finishMove() error {
	for {
		t := o.begin()
		i := slices.IndexFunc(t.streams, func(s stream) bool { return s.meta.Diverged })
		if i < 0 {
			t.txn.Discard()
			return nil
		}
		if _, err := t.renumber(i); err != nil {
			t.txn.Discard()
			return fmt.Errorf("number events anew: %w", err)
		}
		if err := t.commit(); err != nil {
			return fmt.Errorf("number events anew: %w", err)
		}
	}
}

func getJSON(txn *badger.Txn, key []byte, v any) error {
	item, err := txn.Get(key)
	if err != nil {
		return err
	}
	return item.Value(func(b []byte) error { return json.Unmarshal(b, v) })
}
