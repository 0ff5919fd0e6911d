package update

import (
	"context"
	"errors"

	"docent/sync/update/trust"
	"docent/sync/wire"
)

// errInterrupted ends the fetching of one thing for another that is at hand.
var errInterrupted = errors.New("something else is looked at first")

// look is a source to look at once.
type look struct {
	ctx    context.Context
	source Source
	done   chan looked // capacity 1
}

type looked struct {
	deploy wire.Deploy
	err    error
}

// Look has Run look at a source beside its own once, such as a stick, and waits for how that ends. What Run is fetching
// is interrupted for it and gone on with afterwards; what is being shown is not. It returns the last report about it, and
// as an error what went wrong. When ctx ends fetching ends, too.
func (u *Updater) Look(ctx context.Context, from Source) (wire.Deploy, error) {
	l := &look{ctx, from, make(chan looked, 1)}
	select {
	case u.looks <- l:
	case <-ctx.Done():
		return wire.Deploy{}, ctx.Err()
	}
	u.interrupt()
	select {
	case r := <-l.done:
		return r.deploy, r.err
	case <-ctx.Done():
		return wire.Deploy{}, ctx.Err()
	}
}

// interrupt ends what is being fetched.
func (u *Updater) interrupt() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stop != nil {
		u.stop(errInterrupted)
	}
}

// interruptible is the context of fetching: interrupt ends it. The caller calls done when all is fetched.
func (u *Updater) interruptible(ctx context.Context) (fetching context.Context, done func()) {
	fetching, stop := context.WithCancelCause(ctx)
	u.mu.Lock()
	u.stop = stop
	u.mu.Unlock()
	if len(u.looks) > 0 { // it came before u.stop was set
		stop(errInterrupted)
	}
	return fetching, func() {
		u.mu.Lock()
		u.stop = nil
		u.mu.Unlock()
		stop(nil)
	}
}

// lookAt looks at a source that Look was given.
func (u *Updater) lookAt(ctx context.Context, l *look) {
	u.mu.Lock()
	u.said = wire.Deploy{}
	u.mu.Unlock()
	defer context.AfterFunc(l.ctx, u.interrupt)()
	var r looked
	if r.err = l.ctx.Err(); r.err == nil {
		r.err = u.round(ctx, l.source)
	}
	u.mu.Lock()
	r.deploy = u.said
	u.mu.Unlock()
	if r.deploy.Status == "" { // there was nothing to be said: it is shown, or known not to do
		r.deploy = u.State().Deploy
		if m, err := manifest(u.s.Shown()); err == nil {
			r.deploy.Shown = m.ID
		}
	}
	if r.err != nil && trust.Code(r.err) == "" && ctx.Err() == nil && !errors.Is(r.err, errInterrupted) {
		u.opt.Logger.Warn("content not updated", "err", r.err)
	}
	l.done <- r
}
