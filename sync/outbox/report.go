package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// maxReports is how many reports of losses are known to be pending; beyond them the oldest are found in their turn only.
const maxReports = 4096

// lostMark is in the canonical bytes of each report of a loss. Other events that hold it count as one, which does no harm.
var lostMark = []byte(`"type":"` + LostType + `"`)

// Reports returns the pending events that tell the hub of losses, the oldest first, at most limit of them. A hub that is
// not told of a loss waits for the lost numbers and acknowledges nothing behind them, so the report of it must not wait
// until everything before it is acknowledged.
func (o *Outbox) Reports(limit int) ([]Pending, error) {
	o.reading.RLock()
	defer o.reading.RUnlock()
	if o.closed {
		return nil, fmt.Errorf("read outbox: %w", ErrClosed)
	}
	o.mu.Lock()
	streams, reports, broken := append([]stream(nil), o.streams...), slices.Clone(o.reports), o.broken
	o.mu.Unlock()
	if o.db == nil {
		return nil, fmt.Errorf("read outbox: no store: %w", broken)
	}
	var out []Pending
	err := o.db.View(func(txn *badger.Txn) error {
		for _, p := range reports {
			i := slices.IndexFunc(streams, func(s stream) bool { return s.ordinal == p.ordinal })
			if len(out) >= limit || i < 0 || streams[i].meta.Diverged {
				continue
			}
			item, err := txn.Get(eventKey(p.ordinal, p.seq))
			if errors.Is(err, badger.ErrKeyNotFound) {
				continue // it has left meanwhile
			}
			if err != nil {
				return err
			}
			b, err := item.ValueCopy(nil)
			if err != nil {
				return fmt.Errorf("event %d: %w", p.seq, err)
			}
			out = append(out, Pending{Position: p, StreamID: streams[i].meta.ID, Seq: p.seq, Event: b})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	return out, nil
}

// pendingReports leaves out of reports what has left the streams.
func pendingReports(reports []Position, streams []stream) []Position {
	reports = slices.DeleteFunc(reports, func(p Position) bool {
		i := slices.IndexFunc(streams, func(s stream) bool { return s.ordinal == p.ordinal })
		return i < 0 || p.seq <= streams[i].meta.Acked
	})
	return reports[max(0, len(reports)-maxReports):]
}

// isReport tells whether an event's canonical bytes tell of a loss.
func isReport(event []byte) bool { return bytes.Contains(event, lostMark) }
