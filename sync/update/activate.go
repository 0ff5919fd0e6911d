package update

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/sync/wire"
)

// errNotTheRelease says that what is here is not what was signed.
var errNotTheRelease = errors.New("it is not the release that was signed")

// activate verifies a release that is whole, waits until nobody is there, shows it, and keeps it or takes it back. When
// wanted ends, so does the deployment; once it is shown, only for an abort.
func (u *Updater) activate(ctx, wanted context.Context, st State) error {
	dir := u.s.release(st.ReleaseID)
	if !onShow(st.Status) {
		if err := u.prepare(wanted, &st, dir); err != nil {
			return u.notPrepared(ctx, wanted, &st, err)
		}
	}
	if shown := u.s.Shown(); shown != dir {
		st.Before, st.Previous = st.Previous, shown
	}
	st.Status = wire.DeployInstalling
	if err := u.set(&st); err != nil {
		return err
	}
	if why := stopping(wanted); why != nil {
		return u.stopped(ctx, &st, why)
	}
	err := u.install(ctx, &st, dir)
	if err == nil {
		err = u.tryOut(ctx, wanted)
	}
	if err != nil {
		if why := aborted(wanted); why != nil && ctx.Err() == nil {
			return u.stopped(ctx, &st, why)
		}
		var bad *badError
		if ctx.Err() != nil || !errors.As(err, &bad) {
			return err // gone on with at the next start, or look
		}
		return errors.Join(err, u.takeBack(ctx, &st, "health", err))
	}
	return u.commit(st, dir)
}

// badError says that a release does not do.
type badError struct{ error }

func (e *badError) Unwrap() error { return e.error }

// prepare verifies and tries out a release that is not shown yet, and waits until nobody is there.
func (u *Updater) prepare(wanted context.Context, st *State, dir string) error {
	st.Status = wire.DeployVerifying
	if err := u.set(st); err != nil {
		return err
	}
	if err := u.verify(wanted, dir, *st); err != nil {
		return &badError{err}
	}
	st.Status = wire.DeployPauseBeforeInstall
	if err := u.set(st); err != nil {
		return err
	}
	return u.waitUnattended(wanted)
}

// notPrepared ends a deployment that came to nothing before it was shown.
func (u *Updater) notPrepared(ctx, wanted context.Context, st *State, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if why := stopping(wanted); why != nil {
		return u.stopped(ctx, st, why)
	}
	var bad *badError
	if !errors.As(err, &bad) {
		return err
	}
	code := "health"
	if errors.Is(err, errNotTheRelease) {
		code = "not_the_release"
	}
	st.fail()
	return errors.Join(err, u.end(st, wire.DeployRejected, code, err), u.s.prune(u.s.Shown(), st.Previous))
}

// install shows a release from now on, to visitors and at the next start.
func (u *Updater) install(ctx context.Context, st *State, dir string) error {
	if err := u.s.show(dir); err != nil {
		return err
	}
	u.s.crash("shown")
	if err := u.opt.Content.Switch(ctx, dir); err != nil {
		return &badError{err}
	}
	st.Status = wire.DeployPauseBeforeCommit
	return u.set(st)
}

// tryOut tries out what is shown, unless that is aborted.
func (u *Updater) tryOut(ctx, wanted context.Context) error {
	trying, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	defer context.AfterFunc(wanted, func() {
		if aborted(wanted) != nil {
			cancel()
		}
	})()
	if err := u.opt.Content.Healthy(trying); err != nil {
		return &badError{err}
	}
	if why := aborted(wanted); why != nil {
		return why
	}
	return nil
}

// aborted says why what is shown shall be taken back, nil where it need not be: for an abort, and for nothing else that
// may have come while it was put on show.
func aborted(wanted context.Context) *stopError {
	if why := stopping(wanted); why != nil && why.code == "aborted" {
		return why
	}
	return nil
}

// commit keeps what is shown.
func (u *Updater) commit(st State, dir string) error {
	if m, err := manifest(dir); err == nil {
		st.LatestTime = later(st.LatestTime, m.Created)
	}
	if st.Back {
		if m, err := manifest(st.Previous); err == nil {
			st.HeldNumber = max(st.HeldNumber, m.Number)
		}
	}
	st.Attempts, st.Before = 0, ""
	if err := u.end(&st, wire.DeploySuccess, "", nil); err != nil {
		return err
	}
	u.opt.Logger.Info("new content is shown", "release", st.ReleaseID)
	return u.s.prune(dir, st.Previous)
}

// verify makes sure that it is the release that was signed and tries it out; opening it reads every byte.
func (u *Updater) verify(ctx context.Context, dir string, st State) error {
	m, err := manifest(dir)
	if err == nil && (m.ID != st.ReleaseID || m.Number != st.Number) {
		err = fmt.Errorf("it is %s", m.ID)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotTheRelease, err)
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	return u.opt.Content.Check(ctx, dir)
}

// takeBack shows the release before again. code is "health", or that of a stopError.
func (u *Updater) takeBack(ctx context.Context, st *State, code string, why error) error {
	err := u.s.rollBack(st, st.Previous, code, why.Error())
	if err != nil {
		u.remember(*st) // as far as it came
		return err
	}
	u.keep(*st)
	u.opt.Logger.Warn("new content was taken back", "release", st.ReleaseID, "why", code, "err", why)
	u.behind = true
	if err := u.catchUp(ctx); err != nil {
		return err
	}
	return u.s.prune(u.s.Shown(), st.Previous)
}

// catchUp has visitors see again what was shown before, where that has not been done yet.
func (u *Updater) catchUp(ctx context.Context) error {
	if !u.behind {
		return nil
	}
	if err := u.opt.Content.Switch(ctx, u.s.Shown()); err != nil {
		return fmt.Errorf("show the release before again: %w", err)
	}
	u.behind = false
	return nil
}

func (u *Updater) waitUnattended(ctx context.Context) error {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for !u.opt.Content.Unattended() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return ctx.Err()
}
