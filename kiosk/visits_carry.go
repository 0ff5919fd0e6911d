package kiosk

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/agent/memory"
	"docent/internal/durable"
	"docent/kiosk/pass"
	"docent/kiosk/visit"
	"docent/sync/wire"
)

// HubLine asks the hub for parts of things by name. A link is one.
type HubLine interface {
	// Fetch waits for the answer, ctx, or the end of the connection.
	Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error)
}

// passDesk is what passes need beside the visits: the hub, its key, and what is to be done in the background.
type passDesk struct {
	line     HubLine // nil: a kiosk without a hub
	keyFile  string
	log      *slog.Logger
	tries    *bucket
	scanning sync.Mutex
	deriving sync.Mutex // one at a time: each takes 32 MiB

	mu   sync.Mutex
	key  ed25519.PublicKey
	todo map[string]task // by the visit's name, at most maxTasks
	wake chan struct{}
}

// task is what is to be done about a visit.
type task struct{ carry, merge, forget bool }

// maxTasks bounds the visits that something is to be done about; what is forgotten comes again when the hub does.
const maxTasks = 10_000

func newPassDesk(o Options) passDesk {
	return passDesk{line: o.Hub, keyFile: filepath.Join(o.Config.DataDir, "pass.key"), log: o.Logger, tries: newBucket(codeTries, codeEvery), todo: map[string]task{}, wake: make(chan struct{}, 1)}
}

// note queues a task.
func (d *passDesk) note(name string, change func(*task)) {
	d.mu.Lock()
	t, known := d.todo[name]
	if known || len(d.todo) < maxTasks {
		change(&t)
		d.todo[name] = t
	}
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// due says whether a visit has changed since it was carried last, and takes that out of the queue.
func (d *passDesk) due(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.todo[name]
	due := t.carry
	if t.carry = false; due {
		d.todo[name] = t
	}
	return due
}

// take returns what is queued.
func (d *passDesk) take() map[string]task {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.todo
	d.todo = map[string]task{}
	return out
}

// VisitNotice tells the kiosk what has happened to visits at others. It does not block.
func (k *Kiosk) VisitNotice(n wire.VisitNotice) {
	for _, name := range n.Forgotten {
		k.passes.note(name, func(t *task) { t.forget = true })
	}
	for _, name := range n.Changed {
		k.passes.note(name, func(t *task) { t.merge = true })
	}
}

// changed queues what is to be carried of a visit, if it has a pass.
func (k *Kiosk) changed(v visit.Visit) {
	if v.Carried != nil {
		k.passes.note(v.Name(), func(t *task) { t.carry = true })
	}
}

// changedVisit is changed for a visit that may have got its pass meanwhile.
func (k *Kiosk) changedVisit(name string) {
	if v, ok := k.visits.Named(name); ok {
		k.changed(v)
	}
}

// follow does what is queued until the kiosk stops, and what was queued by then.
func (k *Kiosk) follow() {
	for {
		select {
		case <-k.passes.wake:
			k.followOnce()
		case <-k.stopping.Done():
			k.followOnce()
			return
		}
	}
}

func (k *Kiosk) followOnce() {
	for name, t := range k.passes.take() {
		ctx, cancel := context.WithTimeout(context.Background(), passWait)
		switch {
		case t.forget:
			k.forgottenElsewhere(ctx, name)
		case t.merge:
			if v, ok := k.visits.Named(name); ok && v.Carried != nil {
				k.troubled("follow a visit", k.mergeCarried(ctx, v, false))
			}
		}
		if t.carry && !t.forget {
			k.troubled("carry a visit", k.carry(ctx, name))
		}
		cancel()
	}
}

// forgottenElsewhere ends a visit that its visitor wants forgotten, and keeps what comes late of it out.
func (k *Kiosk) forgottenElsewhere(ctx context.Context, name string) {
	known, err := k.memory.Forgotten(name)
	k.troubled("look up what is forgotten", err)
	v, open := k.visits.Named(name)
	dropped := k.visits.Drop(name)
	if open {
		k.phones.withdraw(v.ID, k.now())
	}
	if known && !dropped {
		return
	}
	k.turns.cancel(name)
	k.photos.wipe(name)
	k.troubled("forget a visit", k.memory.Forget(ctx, name))
	if dropped {
		k.remember(eventVisitEnded, visitEnded{Visit: name, Reason: "forgotten"})
	}
}

// carry puts the state of a visit that has a pass into the outbox.
func (k *Kiosk) carry(ctx context.Context, name string) error {
	v, ok := k.visits.Named(name)
	if !ok || v.Carried == nil || !v.Carried.Expires.After(k.now()) || k.events == nil {
		return nil
	}
	v, err := k.visits.Amend(v.ID, func(v *visit.Visit) {
		v.Carried.Number++
	})
	if err != nil {
		return fmt.Errorf("carry visit: %w", err)
	}
	commands, err := k.memory.Commands(keyed(v))
	if err != nil {
		return fmt.Errorf("carry visit: %w", err)
	}
	box, err := pass.Seal(passOf(v), pass.Of(v, commands))
	if err != nil {
		return err
	}
	_, err = k.events.Append(ctx, wire.EventVisitCarried, wire.VisitCarried{
		Visit: name, Number: v.Carried.Number, Expires: v.Carried.Expires.UTC(), Covers: v.Carried.Covers, Box: box,
	})
	if err != nil {
		return fmt.Errorf("carry visit: %w", err)
	}
	return nil
}

func passOf(v visit.Visit) pass.Pass {
	return pass.Pass{Visit: v.ID, Expires: v.Carried.Expires, Signature: v.Carried.Signature}
}

// resume lets the visit of a pass go on here. Where the hub is away, only a visit that is open here already can.
func (k *Kiosk) resume(ctx context.Context, p pass.Pass) (resumed, error) {
	if err := k.passes.verify(ctx, k.config.Site, p, k.now()); err != nil {
		return resumed{}, err
	}
	v, err := k.visits.Get(p.Visit)
	known := err == nil
	if errors.Is(err, visit.ErrNone) {
		v, err = visit.Visit{ID: p.Visit}, nil
	}
	if err != nil {
		return resumed{}, err
	}
	if v.Carried == nil {
		v.Carried = &visit.Carried{}
	}
	v.Carried.Expires, v.Carried.Signature = p.Expires, p.Signature
	err = k.mergeCarried(ctx, v, true)
	if known && (errors.Is(err, errHubAway) || errors.Is(err, errUnknown)) {
		err = nil
	}
	if err != nil {
		return resumed{}, err
	}
	if v, err = k.visits.Get(p.Visit); err != nil {
		return resumed{}, err
	}
	// What came to the hub between its answer and the visit's opening here was told to nobody.
	k.passes.note(v.Name(), func(t *task) { t.merge = true })
	k.remember(eventVisitResumed, visitStarted{Visit: v.Name(), Language: v.Language})
	return k.resumed(v)
}

// mergeCarried merges what the hub has of a visit into it, and opens it here where it is not, if that is wanted: a visit that
// ends meanwhile stays ended.
func (k *Kiosk) mergeCarried(ctx context.Context, v visit.Visit, opening bool) error {
	p := passOf(v)
	bundle, err := k.passes.arrived(ctx, p.Name())
	if errors.Is(err, errForgotten) {
		k.forgottenElsewhere(ctx, p.Name())
	}
	if err != nil {
		return err
	}
	var merged pass.State
	covers, number, clock, any := map[string]uint64{}, uint64(0), uint64(0), false
	for _, s := range bundle.States {
		number = max(number, s.Number)
		covers[s.Kiosk] = s.Number
		if len(s.Box) == 0 {
			continue // in another's
		}
		state, err := pass.Open(p, s.Box)
		if err != nil {
			k.log.Warn("what a kiosk knew of a visit cannot be read", "kiosk", s.Kiosk, "error", err)
			delete(covers, s.Kiosk)
			continue
		}
		clock = max(clock, state.Stamp.Logical)
		if !any {
			merged, any = state, true
		} else {
			merged = pass.Merge(merged, state)
		}
	}
	if !any {
		return errUnknown
	}
	delete(covers, k.config.Kiosk)
	if _, err := k.memory.Apply(ctx, keyed(v), merged.Commands); err != nil {
		if errors.Is(err, memory.ErrForgotten) {
			return errForgotten
		}
		return fmt.Errorf("take in a visit: %w", err)
	}
	err = k.takeIn(v, merged, covers, number, clock, opening)
	if errors.Is(err, visit.ErrNone) {
		return k.memory.Leave(ctx, v.Name())
	}
	return err
}

// takeIn makes a merged state the visit's here.
func (k *Kiosk) takeIn(v visit.Visit, merged pass.State, covers map[string]uint64, number, clock uint64, opening bool) error {
	settle := func(now *visit.Visit) {
		s := merged
		if !now.Started.IsZero() {
			s = pass.Merge(pass.Of(*now, nil), merged)
		}
		now.Language, now.Level, now.Exhibit, now.Talk, now.Started = s.Language, s.Level, s.Exhibit, s.Talk, s.Started
		now.Seen = s.All()
		c := now.Carried
		c.Stamp = s.Stamp
		c.Number, c.Clock = max(c.Number, number), max(c.Clock, clock, s.Stamp.Logical)
		if c.Covers == nil {
			c.Covers = map[string]uint64{}
		}
		for kiosk, n := range covers {
			c.Covers[kiosk] = max(c.Covers[kiosk], n)
		}
	}
	return k.withContent(func(content *content) error {
		_, err := k.visits.Amend(v.ID, func(now *visit.Visit) {
			if now.Carried == nil {
				now.Carried = v.Carried
			}
			if now.Carried.Expires.Before(v.Carried.Expires) {
				now.Carried.Expires, now.Carried.Signature = v.Carried.Expires, v.Carried.Signature
			}
			settle(now)
		})
		if !errors.Is(err, visit.ErrNone) || !opening {
			return err
		}
		settle(&v)
		v.Language = content.language(v.Language)
		if _, ok := content.release.Exhibit(v.Exhibit); !ok {
			v.Exhibit = ""
		}
		_, err = k.visits.Adopt(v)
		return err
	})
}

// arrived asks for what the hub has of a visit, again for a moment where nothing has arrived yet.
func (d *passDesk) arrived(ctx context.Context, name string) (wire.VisitBundle, error) {
	for n := 0; ; n++ {
		b, err := d.fetch(ctx, wire.VisitQuery{Kind: wire.QueryVisit, Name: name})
		if err == nil {
			return wire.DecodeVisitBundle(b)
		}
		if !errors.Is(err, errUnknown) || n == arrivals {
			return wire.VisitBundle{}, err
		}
		select {
		case <-time.After(arrivalWait):
		case <-ctx.Done():
			return wire.VisitBundle{}, errUnknown
		}
	}
}

// sign gets the hub's signature of a pass.
func (d *passDesk) sign(ctx context.Context, site string, p *pass.Pass, now time.Time) error {
	signature, err := d.fetch(ctx, wire.VisitQuery{Kind: wire.QuerySign, Name: p.Name(), Expires: p.Expires})
	if err != nil {
		return err
	}
	p.Signature = signature
	return d.verify(ctx, site, *p, now)
}

// verify checks a pass against the hub's key: the one that is known, else, or where that does not fit, the one it has now.
func (d *passDesk) verify(ctx context.Context, site string, p pass.Pass, now time.Time) error {
	key := d.knownKey()
	err := p.Verify(key, site, now)
	if !errors.Is(err, pass.ErrForged) {
		return err
	}
	fresh, asked := d.fetch(ctx, wire.VisitQuery{Kind: wire.QueryPassKey})
	if asked != nil {
		if key != nil {
			return err // by the key that is known it is forged
		}
		return asked
	}
	if err := p.Verify(fresh, site, now); err != nil {
		return err
	}
	d.keepKey(fresh)
	return nil
}

func (d *passDesk) knownKey() ed25519.PublicKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.key == nil {
		if b, err := os.ReadFile(d.keyFile); err == nil && len(b) == ed25519.PublicKeySize {
			d.key = b
		}
	}
	return d.key
}

func (d *passDesk) keepKey(key ed25519.PublicKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.key = key
	if err := durable.WriteFile(d.keyFile, key, 0o600); err != nil && d.log != nil {
		d.log.Warn("keep the hub's key of passes", "error", err)
	}
}

func (d *passDesk) derive(site, code string) pass.Code {
	d.deriving.Lock()
	defer d.deriving.Unlock()
	return pass.Derive(site, code)
}

// maxFetched bounds an answer.
const maxFetched = 2 << 20

// fetch asks the hub and puts the answer's blocks together. The error is errHubAway, errUnknown, errForgotten or
// errTooManyTries.
func (d *passDesk) fetch(ctx context.Context, q wire.VisitQuery) ([]byte, error) {
	if d.line == nil {
		return nil, errHubAway
	}
	var out []byte
	for {
		c, err := d.line.Fetch(ctx, wire.Fetch{Name: q.String(), Offset: int64(len(out)), Length: wire.MaxBlock})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errHubAway, err)
		}
		switch c.Error {
		case "":
		case wire.FetchNotFound:
			return nil, errUnknown
		case wire.FetchGone:
			return nil, errForgotten
		case wire.FetchBusy:
			return nil, errTooManyTries
		default:
			return nil, fmt.Errorf("%w: it answers %q", errHubAway, c.Error)
		}
		out = append(out, c.Data...)
		if int64(len(out)) >= c.Size {
			return out, nil
		}
		if len(c.Data) == 0 || c.Size > maxFetched {
			return nil, fmt.Errorf("%w: its answer cannot be put together", errHubAway)
		}
	}
}
