package outbox

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"docent/sync/wire"
)

// spare is the part of MaxBytes, one in spare, that is freed at once when the oldest events make room: each time costs
// an event that tells the hub.
const spare = 16

// reasonFull is what the hub is told of events that made room.
const reasonFull = "the outbox was full"

// room makes sure that one more event fits under MaxBytes.
func (t *tx) room(p *op) error {
	limit := t.o.opt.MaxBytes
	if limit == 0 || p.typ == LostType || t.held+uint64(p.size()) <= limit {
		return nil
	}
	if t.o.opt.OnFull == RejectNew {
		return fmt.Errorf("%d of %d bytes: %w", t.held, limit, ErrFull)
	}
	err := t.drop(limit-limit/spare-min(limit/2, uint64(p.size())), p)
	if err != nil && !errors.Is(err, ErrFull) {
		t.failed = err
	}
	return err
}

// drop deletes the oldest events until no more than target bytes are held, and tells the hub.
func (t *tx) drop(target uint64, p *op) error {
	var told []json.RawMessage // what dropped events told of losses
	var losses []Loss
	for i := 0; i < len(t.streams) && t.held > target; i++ {
		s := &t.streams[i]
		if s.meta.Diverged || s.meta.Acked >= s.last {
			continue
		}
		if s.meta.DroppedFrom == 0 {
			s.meta.DroppedFrom = s.meta.Acked + 1
		}
		before := s.meta.Acked
		for s.meta.Acked < s.last && t.held > target && t.deletes < maxDelete {
			lost, err := t.dropEvent(s)
			if err != nil {
				return err
			}
			if lost != nil {
				told = append(told, lost)
			}
		}
		if s.meta.Acked == before {
			break
		}
		losses = append(losses, Loss{StreamID: s.meta.ID, From: s.meta.DroppedFrom, To: s.meta.Acked, Reason: reasonFull})
		n := len(t.streams)
		if err := t.left(i); err != nil {
			return err
		}
		if len(t.streams) < n { // all of an older stream has left
			i--
		}
	}
	if len(losses) == 0 {
		return fmt.Errorf("%d bytes, none of which can go: %w", t.held, ErrFull)
	}
	for _, l := range losses {
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		told = append(told, b)
	}
	for _, data := range told {
		if covered(data, losses) {
			continue
		}
		if err := t.append(&op{typ: LostType, data: data, wall: p.wall, mono: p.mono}); err != nil {
			return err
		}
	}
	return nil
}

// dropEvent deletes the oldest event of a stream. Of one that told the hub of a loss it returns the data.
func (t *tx) dropEvent(s *stream) (told json.RawMessage, err error) {
	seq := s.meta.Acked + 1
	key := eventKey(s.ordinal, seq)
	s.meta.Acked, s.meta.AckedHash = seq, ""
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := item.ValueCopy(nil)
	if err != nil {
		return nil, err
	}
	s.meta.AckedHash = wire.Hash(b)
	t.gone(uint64(len(b)))
	t.deletes++
	t.dropped++
	if err := t.txn.Delete(key); err != nil {
		return nil, err
	}
	var e struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &e); err != nil || e.Type != LostType {
		return nil, nil // unreadable bytes tell nothing
	}
	return e.Data, nil
}

// covered tells whether what an event told of a loss is within a longer range that is told now.
func covered(data json.RawMessage, losses []Loss) bool {
	var l Loss
	if json.Unmarshal(data, &l) != nil {
		return false
	}
	for _, wider := range losses {
		if l != wider && l.StreamID == wider.StreamID && l.From >= wider.From && l.To <= wider.To {
			return true
		}
	}
	return false
}
