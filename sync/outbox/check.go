package outbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"docent/sync/wire"
)

// LostType is the type of the event that tells the hub of a Loss.
const LostType = "outbox.lost"

// recover reads the streams, checks the numbering and hash chain of the events they hold, and begins a new stream
// when the store is new or something is missing. A flipped bit in the store's log makes every record after it vanish
// without an error, so the numbering is held against the watermark, a file that the log has no part in.
func (o *Outbox) recover() error {
	if err := o.load(); err != nil {
		return err
	}
	for i := range o.streams {
		if err := o.checkStream(&o.streams[i]); err != nil {
			return err
		}
	}
	o.checkWatermark()
	if len(o.streams) > 0 && len(o.losses) == 0 && o.degraded == "" {
		return nil
	}
	return o.renew()
}

// load reads the stored streams and counters.
func (o *Outbox) load() error {
	return o.db.View(func(txn *badger.Txn) error {
		if err := getJSON(txn, keySession, &o.session); err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			return fmt.Errorf("read session number: %w", err)
		}
		iopt := badger.DefaultIteratorOptions
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
				o.lose(s.meta.ID, s.last+1, seq-1, "missing in the store")
				s.hash = ""
			}
			err := it.Item().Value(func(b []byte) error {
				if prev, ok := wire.PrevHash(b); !ok || (s.hash != "" && prev != s.hash) {
					o.degrade(fmt.Sprintf("the hash chain does not hold at event %d", seq))
				}
				s.hash = wire.Hash(b)
				return nil
			})
			if err != nil {
				return fmt.Errorf("read event %d: %w", seq, err)
			}
			s.last = seq
			o.depth++
		}
		return nil
	})
}

// checkWatermark compares the newest event with the newest number ever given out.
func (o *Outbox) checkWatermark() {
	id, seq, ok := o.mark.read()
	if !ok {
		return
	}
	for i, s := range o.streams {
		if s.meta.ID != id {
			continue
		}
		if seq > s.last {
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

// renew closes the present stream and begins the next, whose first events tell the hub what is lost.
func (o *Outbox) renew() error {
	id, err := wire.NewID(o.opt.Clock(), o.opt.Random)
	if err != nil {
		return err
	}
	next := stream{meta: streamMeta{ID: id}}
	t := o.begin()
	defer t.txn.Discard()
	t.checked = true // Open has checked the disk
	if n := len(t.streams); n > 0 {
		old := &t.streams[n-1]
		next.ordinal = old.ordinal + 1
		old.meta.End = maxSeq(old.meta.End, maxSeq(old.last, 1))
		if err := t.set(streamKey(old.ordinal), old.meta); err != nil {
			return err
		}
	}
	t.streams = append(t.streams, next)
	t.dirty = true
	if err := t.set(streamKey(next.ordinal), next.meta); err != nil {
		return err
	}
	for _, l := range o.losses {
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		p := &op{typ: LostType, data: b, wall: o.opt.Clock(), mono: o.opt.Uptime()}
		if err := t.append(p); err != nil {
			return fmt.Errorf("report lost events: %w", err)
		}
	}
	if err := t.commit(); err != nil {
		return fmt.Errorf("begin stream: %w", err)
	}
	return o.mark.write(id, t.streams[len(t.streams)-1].last)
}

func getJSON(txn *badger.Txn, key []byte, v any) error {
	item, err := txn.Get(key)
	if err != nil {
		return err
	}
	return item.Value(func(b []byte) error { return json.Unmarshal(b, v) })
}
