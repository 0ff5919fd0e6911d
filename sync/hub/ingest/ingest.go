// Package ingest makes what kiosks send durable, many messages in one transaction, and tells each kiosk how far the
// hub has its events. It knows nothing of brokers: one hands it payloads and waits.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

// ErrClosed is returned for payloads that come when the hub is going down. Nothing was stored.
var ErrClosed = errors.New("ingest is closed")

// Bounds of the queue and of one transaction.
const (
	queueLen    = 256  // payloads waiting; further ones wait in their connection, which holds their kiosk back
	batchEvents = 4096 // events in one transaction, at least one payload
	// A transaction of few events waits a moment for more: each costs a sync of the disk, and writes again the pages that its
	// events share with those of others.
	fewEvents  = 64
	gatherTime = 20 * time.Millisecond
	ackSpacing = 20 * time.Millisecond
	maxDirty   = 100_000 // acknowledgements waiting to be sent; a stream beyond them is answered when its kiosk sends again
)

// Store makes batches durable.
type Store interface {
	Put(ctx context.Context, batch []store.Arrival) (store.Receipt, error)
}

var _ Store = (*store.Store)(nil)

// Options of an Ingest. Store and Send are required.
type Options struct {
	Store Store
	// Send delivers an acknowledgement to a kiosk. It must not block for long; one that is lost is made up for by the next.
	Send   func(store.Ack)
	Clock  func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil discards
}

// Ingest has two goroutines of its own, one that commits and one that acknowledges. Close waits for both.
type Ingest struct {
	opt   Options
	queue chan *request

	closing chan struct{}
	stopped chan struct{} // closed when nothing is committed any more
	once    sync.Once
	wg      sync.WaitGroup

	mu    sync.Mutex
	dirty map[streamKey]store.Ack // acknowledgements to send: the newest of each stream, at most maxDirty
	wake  chan struct{}           // capacity 1
}

type streamKey struct {
	addr wire.Address
	id   string
}

// request is one payload on its way to the disk.
type request struct {
	arrivals []store.Arrival
	done     chan error // capacity 1
}

// New starts an Ingest.
func New(opt Options) *Ingest {
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	in := &Ingest{
		opt: opt, queue: make(chan *request, queueLen), closing: make(chan struct{}), stopped: make(chan struct{}),
		dirty: map[streamKey]store.Ack{}, wake: make(chan struct{}, 1),
	}
	in.wg.Add(2)
	go in.commit()
	go in.acknowledge()
	return in
}

// Payload stores the events of one message from a kiosk and returns when they are durable; then, and only then, the
// broker may answer the kiosk. What is no event of this kiosk goes to the quarantine and counts as answered too:
// it would come again for ever otherwise.
func (in *Ingest) Payload(ctx context.Context, from wire.Address, payload []byte) error {
	r := &request{arrivals: in.read(from, payload), done: make(chan error, 1)}
	select {
	case in.queue <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-in.closing:
		return ErrClosed
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-in.stopped:
	}
	select { // the committer ended: with or without this one?
	case err := <-r.done:
		return err
	default:
		return ErrClosed
	}
}

// read takes a payload apart.
func (in *Ingest) read(from wire.Address, payload []byte) []store.Arrival {
	now := in.opt.Clock()
	parts, err := wire.SplitBatch(payload)
	if err != nil {
		return []store.Arrival{{From: from, At: now, Raw: payload, Refused: err.Error()}}
	}
	out := make([]store.Arrival, 0, len(parts))
	for _, part := range parts {
		out = append(out, readEvent(from, now, part))
	}
	return out
}

func readEvent(from wire.Address, now time.Time, b []byte) store.Arrival {
	e, raw, err := wire.ReadEvent(b)
	if err == nil && e.KioskID != from.Kiosk {
		err = fmt.Errorf("event of kiosk %q: %w", e.KioskID, wire.ErrInvalid)
	}
	if err != nil {
		return store.Arrival{From: from, At: now, Raw: b, Refused: err.Error()}
	}
	return store.Arrival{From: from, At: now, Event: e, Raw: raw}
}

// commit stores what waits, as much as fits into one transaction at a time.
func (in *Ingest) commit() {
	defer in.wg.Done()
	defer close(in.stopped)
	for {
		select {
		case r := <-in.queue:
			in.store(in.gather(r))
		case <-in.closing:
			return
		}
	}
}

// gather takes what waits behind r, and where that is little, what comes within a moment.
func (in *Ingest) gather(r *request) []*request {
	batch, n := []*request{r}, len(r.arrivals)
	var moment <-chan time.Time
	for n < batchEvents {
		select {
		case r := <-in.queue:
			batch, n = append(batch, r), n+len(r.arrivals)
			continue
		default:
		}
		if n >= fewEvents {
			return batch
		}
		if moment == nil {
			timer := time.NewTimer(gatherTime)
			defer timer.Stop()
			moment = timer.C
		}
		select {
		case r := <-in.queue:
			batch, n = append(batch, r), n+len(r.arrivals)
		case <-moment:
			return batch
		case <-in.closing:
			return batch
		}
	}
	return batch
}

func (in *Ingest) store(batch []*request) {
	var all []store.Arrival
	for _, r := range batch {
		all = append(all, r.arrivals...)
	}
	// Not the payload's context: a transaction that many share must not end with one connection.
	receipt, err := in.opt.Store.Put(context.Background(), all)
	for _, r := range batch {
		r.done <- err
	}
	if err != nil {
		in.opt.Logger.Error("events not stored, kiosks will send them again", "err", err, "events", len(all))
		return
	}
	if receipt.Quarantined > 0 {
		in.opt.Logger.Warn("refused into the quarantine", "events", receipt.Quarantined, "kiosk", refusedKiosk(all))
	}
	if receipt.Broken > 0 {
		in.opt.Logger.Warn("hash chain broken", "streams", receipt.Broken)
	}
	in.mark(receipt.Acks)
}

// refusedKiosk names one kiosk of a batch with refusals, for the log.
func refusedKiosk(all []store.Arrival) string {
	for _, a := range all {
		if a.Refused != "" {
			return a.From.Kiosk
		}
	}
	return all[0].From.Kiosk
}

// mark queues acknowledgements; a newer one of the same stream takes the older one's place.
func (in *Ingest) mark(acks []store.Ack) {
	in.mu.Lock()
	for _, a := range acks {
		k := streamKey{a.To, a.Ack.StreamID}
		if before, ok := in.dirty[k]; ok || len(in.dirty) < maxDirty {
			if len(a.Ack.Refused) == 0 {
				a.Ack.Refused = before.Ack.Refused // else nobody would tell
			}
			in.dirty[k] = a
		}
	}
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// acknowledge sends what is marked, with a pause between rounds so that a busy kiosk gets one answer for many events.
func (in *Ingest) acknowledge() {
	defer in.wg.Done()
	for {
		select {
		case <-in.closing:
			return
		case <-in.wake:
		}
		in.mu.Lock()
		dirty := in.dirty
		in.dirty = map[streamKey]store.Ack{}
		in.mu.Unlock()
		for _, a := range dirty {
			in.opt.Send(a)
		}
		select {
		case <-in.closing:
			return
		case <-time.After(ackSpacing):
		}
	}
}

// Close lets the transaction under way finish, refuses what waits, and returns when both goroutines have ended.
func (in *Ingest) Close() {
	in.once.Do(func() { close(in.closing) })
	in.wg.Wait()
}
