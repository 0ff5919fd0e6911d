package outbox

import (
	"encoding/json"
	"fmt"
	"time"

	"docent/sync/wire"
)

// Bounds of one transaction. A transaction of the store may hold 15 % of a memtable (1.2 MiB of 8); past these bounds
// the rest goes into the next one.
const (
	maxOps    = 512
	maxBytes  = 768 << 10
	maxDelete = 4096
	maxMove   = 256 // events given a new number; of 2 KiB each on average they would fill half a transaction
)

// op is one thing asked of the writer: an event to append, an acknowledgement, a session number, or an event to set aside.
type op struct {
	typ  string
	data json.RawMessage
	wall time.Time
	mono time.Duration

	ack     *wire.Ack
	session bool
	letter  *letterOf

	seq   uint64 // of the event or session
	freed uint64 // events deleted by the acknowledgement
	err   error
	done  chan struct{} // closed when the results above are final
}

func (p *op) finish(err error) {
	if err != nil {
		p.err = err
	}
	close(p.done)
}

func (p *op) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// write is the only goroutine that writes to the store. Whatever waits when it gets to the queue shares one synced
// transaction.
func (o *Outbox) write() {
	defer close(o.stopped)
	sweep := time.NewTicker(o.opt.Sweep)
	defer sweep.Stop()
	for {
		select {
		case p := <-o.queue:
			o.commit(o.gather(p))
		case <-sweep.C:
			o.replaceIf(o.sweepable())
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
	if o.broken != nil {
		for _, p := range batch {
			p.finish(o.broken)
		}
		return
	}
	for len(batch) > 0 {
		batch = o.commitOnce(batch)
	}
	o.replaceIf(o.wasteful())
}

// replaceIf replaces the store where that is worth it.
func (o *Outbox) replaceIf(worth bool) {
	if !worth || o.broken != nil {
		return
	}
	if err := o.reclaim(); err != nil {
		o.mu.Lock()
		o.broken = err
		o.mu.Unlock()
		o.opt.Logger.Error("outbox has no store any more", "kiosk", o.opt.Kiosk, "err", err)
	}
}

// commitOnce carries out a batch and returns the acknowledgements that still have events to free.
func (o *Outbox) commitOnce(batch []*op) (unfinished []*op) {
	t := o.begin()
	var applied []*op
	for _, p := range batch {
		more, err := t.apply(p)
		if t.failed != nil {
			break
		}
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
		for _, p := range batch {
			if !p.finished() {
				p.finish(err)
			}
		}
		return nil
	}
	for _, p := range applied {
		p.finish(nil)
	}
	return unfinished
}
