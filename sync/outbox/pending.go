package outbox

import (
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Keys: "e" + stream ordinal + seq for events, "d" + the same for dead letters, "s" + stream ordinal for streams, all big-endian so that the order of
// keys is the order of events.
var (
	keySession = []byte("m/session") // number of the last connection
	keyKiosk   = []byte("m/kiosk")   // name under which the events were recorded
)

const eventKeyLen = 1 + 4 + 8

func eventKey(ordinal uint32, seq uint64) []byte {
	k := make([]byte, 0, eventKeyLen)
	k = append(k, 'e')
	k = binary.BigEndian.AppendUint32(k, ordinal)
	return binary.BigEndian.AppendUint64(k, seq)
}

func parseEventKey(k []byte) (ordinal uint32, seq uint64) {
	return binary.BigEndian.Uint32(k[1:5]), binary.BigEndian.Uint64(k[5:])
}

func streamKey(ordinal uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{'s'}, ordinal)
}

// Position is a place in the order of events: streams from the oldest, within each by number. The zero Position is
// before the first.
type Position struct {
	ordinal uint32
	seq     uint64
}

// Pending is one event that the hub has not acknowledged.
type Pending struct {
	Position Position
	StreamID string
	Seq      uint64
	Event    []byte // canonical bytes of the envelope
}

// Pending returns the events after a position in order: at most limit of them, and no more than maxBytes together
// unless the first alone is larger.
func (o *Outbox) Pending(after Position, limit, maxBytes int) ([]Pending, error) {
	o.reading.RLock()
	defer o.reading.RUnlock()
	if o.closed {
		return nil, fmt.Errorf("read outbox: %w", ErrClosed)
	}
	o.mu.Lock()
	streams, broken := append([]stream(nil), o.streams...), o.broken
	newest, ok := o.newest.after(after, streams[len(streams)-1].meta.Acked, limit, maxBytes)
	o.mu.Unlock()
	if o.db == nil {
		return nil, fmt.Errorf("read outbox: no store: %w", broken)
	}
	if ok {
		return newest, nil
	}

	var out []Pending
	size := 0
	err := o.db.View(func(txn *badger.Txn) error {
		iopt := badger.DefaultIteratorOptions
		iopt.PrefetchSize = min(limit, 100)
		iopt.Prefix = []byte{'e'}
		it := txn.NewIterator(iopt)
		defer it.Close()
		for _, s := range streams {
			if s.ordinal < after.ordinal || s.meta.Diverged {
				continue
			}
			from := s.meta.Acked
			if s.ordinal == after.ordinal {
				from = max(from, after.seq)
			}
			// Seeking past what was deleted matters: a scan from the stream's beginning would step over every tombstone.
			for it.Seek(eventKey(s.ordinal, from+1)); it.Valid(); it.Next() {
				ordinal, seq := parseEventKey(it.Item().Key())
				if ordinal != s.ordinal || seq > s.last {
					break
				}
				if len(out) >= limit || (len(out) > 0 && size+int(it.Item().ValueSize()) > maxBytes) {
					return nil
				}
				b, err := it.Item().ValueCopy(nil)
				if err != nil {
					return fmt.Errorf("event %d: %w", seq, err)
				}
				size += len(b) + 1
				out = append(out, Pending{Position: Position{ordinal, seq}, StreamID: s.meta.ID, Seq: seq, Event: b})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	return out, nil
}

// Before tells whether p comes before q in the order of events.
func (p Position) Before(q Position) bool {
	return p.ordinal < q.ordinal || p.ordinal == q.ordinal && p.seq < q.seq
}
