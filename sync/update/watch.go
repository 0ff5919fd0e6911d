package update

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/sync/wire"
)

// stopError says why a deployment that is under way does not go on.
type stopError struct {
	code string // "aborted", "superseded", or "renamed": the same release goes on for another rollout
	err  error
}

func (e *stopError) Error() string { return e.err.Error() }

// stops says why a deployment shall not go on by the hub's wish, nil where it shall. What is shown already is taken back
// for an abort only.
func stops(st State, wish wire.Desired) *stopError {
	switch {
	case ended(st.Status):
		return nil
	case wish.Abort && wish.Deployment == st.Deployment:
		return &stopError{"aborted", fmt.Errorf("rollout %s was aborted", wish.Deployment)}
	case wish.Abort, wish.ReleaseID == "", onShow(st.Status):
		return nil
	case wish.ReleaseID != st.ReleaseID:
		return &stopError{"superseded", fmt.Errorf("release %s is wanted now", wish.ReleaseID)}
	case wish.Deployment != st.Deployment:
		return &stopError{"renamed", fmt.Errorf("it is wanted by rollout %s now", wish.Deployment)}
	}
	return nil
}

// watch looks, while a deployment is under way, at what the source wants, whenever it is woken and now and then. The
// context it returns ends when the deployment shall not go on; see [stopping]. The caller calls stop at the end.
func (u *Updater) watch(ctx context.Context, source Source) (wanted context.Context, stop func()) {
	wanted, cancel := context.WithCancelCause(ctx)
	watching, quit := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.watchUntil(watching, source, cancel)
	}()
	return wanted, func() { quit(); <-done; cancel(nil) }
}

func (u *Updater) watchUntil(ctx context.Context, source Source, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(u.opt.Poll)
	defer tick.Stop()
	woken := false
	defer func() {
		if woken { // by something that may matter after this deployment
			u.Desired()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.wake:
			woken = true
		case <-tick.C:
		}
		wish, err := newFetcher(source).wish(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			u.opt.Logger.Warn("what the hub wants is not known", "err", err)
		case wish != nil && u.stopIf(*wish, cancel):
			woken = true // there may be something else to bring
			return
		}
	}
}

// stopIf ends what is under way if the wish says so. The state cannot change meanwhile.
func (u *Updater) stopIf(wish wire.Desired, cancel context.CancelCauseFunc) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	why := stops(u.state, wish)
	if why != nil {
		cancel(why)
	}
	return why != nil
}

// stopping says why a deployment shall not go on, nil where it shall.
func stopping(wanted context.Context) *stopError {
	var why *stopError
	if wanted.Err() != nil {
		errors.As(context.Cause(wanted), &why)
	}
	return why
}

// stopped ends a deployment that shall not go on. What it has put on show is taken back.
func (u *Updater) stopped(ctx context.Context, st *State, why *stopError) error {
	if why.code == "renamed" {
		return nil // the next look goes on with it under its new name
	}
	if onShow(st.Status) && u.s.Shown() == u.s.release(st.ReleaseID) {
		return u.takeBack(ctx, st, why.code, why)
	}
	st.hold(why.code)
	if err := u.end(st, wire.DeployAborted, why.code, why); err != nil {
		return err
	}
	u.opt.Logger.Info("new content is not taken", "release", st.ReleaseID, "why", why.code)
	if why.code == "superseded" {
		return nil // what came may be of use to what is wanted now
	}
	return u.s.prune(u.s.Shown(), st.Previous)
}

// abort follows the hub's word that a rollout was aborted. What has succeeded stays.
func (u *Updater) abort(st State, wish wire.Desired) error {
	if st.Deployment == wish.Deployment && ended(st.Status) {
		return u.idle()
	}
	if st.Deployment != wish.Deployment { // it was not begun here
		st = st.next(wire.Deploy{Deployment: wish.Deployment, ReleaseID: wish.ReleaseID, Number: wish.Number})
	}
	st.hold("aborted")
	if err := u.end(&st, wire.DeployAborted, "aborted", fmt.Errorf("rollout %s was aborted", wish.Deployment)); err != nil {
		return err
	}
	return u.idle()
}
