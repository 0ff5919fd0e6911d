package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/localindex/release"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// wish asks which release this kiosk shall show; nil where the source has no wish, as a mirror or a stick.
func (f *fetcher) wish(ctx context.Context) (*wire.Desired, error) {
	data, err := f.metadata(ctx, wire.DesiredName, wire.MaxDesired)
	if errors.Is(err, trust.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := wire.DecodeDesired(data)
	if err != nil {
		return nil, fmt.Errorf("which release to show: %w", err)
	}
	return &d, nil
}

// once looks at what the hub wants to be shown and brings it, if it is not shown yet.
func (u *Updater) once(ctx context.Context) error { return u.round(ctx, u.opt.Source) }

// round looks at what a source wants to be shown, or publishes, and brings it, if it is not shown yet.
func (u *Updater) round(ctx context.Context, source Source) error {
	f := newFetcher(source)
	next, target, err := u.find(ctx, f)
	if err != nil || target == nil {
		return err
	}
	if err := u.set(&next); err != nil {
		return err
	}
	wanted, stop := u.watch(ctx, source)
	defer stop()
	fetching, done := u.interruptible(wanted)
	defer done()
	if !u.s.has(ctx, *target) {
		if err := u.download(fetching, f, &next, *target); err != nil {
			return u.notFetched(ctx, fetching, &next, err)
		}
	}
	done() // what is fetched is not interrupted any more
	return u.activate(ctx, wanted, next)
}

// find finds out what is to be shown and returns the deployment to begin with its target, which is nil where there is
// nothing to do.
func (u *Updater) find(ctx context.Context, f *fetcher) (State, *trust.Target, error) {
	fetching, done := u.interruptible(ctx)
	defer done()
	st := u.State()
	shown, err := manifest(u.s.Shown())
	if err != nil {
		return State{}, nil, fmt.Errorf("read the release that is shown: %w", err)
	}
	// The wish first: what may be shown is then at least as new as the wish.
	wish, err := f.wish(fetching)
	if err != nil {
		return State{}, nil, interrupted(fetching, err)
	}
	if wish != nil && wish.Abort {
		return State{}, nil, u.abort(st, *wish)
	}
	known := later(st.LatestTime, shown.Created) // not by this clock, which may be ahead for an hour
	targets, err := u.opt.Trust.Refresh(fetching, f.metadata, later(u.s.now(), known))
	if errors.Is(err, trust.ErrNotFound) {
		return State{}, nil, nil // the hub publishes nothing
	}
	if code := trust.Code(err); code != "" {
		u.refuse(wire.Deploy{}, code, err)
		return State{}, nil, err
	}
	if err != nil {
		return State{}, nil, interrupted(fetching, err)
	}
	next, target, err := u.choose(st, shown, targets, wish)
	if err == nil && target == nil {
		err = u.idle()
	}
	next.LatestTime = known
	return next, target, err
}

// interrupted is why fetching ended: err, unless it was for something else.
func interrupted(fetching context.Context, err error) error {
	if fetching.Err() != nil && errors.Is(context.Cause(fetching), errInterrupted) {
		return errInterrupted
	}
	return err
}

// choose decides what to do about the releases that may be shown, and returns the deployment to begin with its target.
// There is no target where all is well or nothing can be done; then that is noted and reported here.
func (u *Updater) choose(st State, shown release.Manifest, targets []trust.Target, wish *wire.Desired) (State, *trust.Target, error) {
	newest := targets[len(targets)-1]
	if wish == nil {
		wish = &wire.Desired{ReleaseID: newest.ReleaseID, Number: newest.Number}
		if newest.Number <= st.HeldNumber && newest.Number > shown.Number {
			u.refuse(wire.Deploy{ReleaseID: newest.ReleaseID, Number: newest.Number}, "taken_back", errors.New("the hub had it taken back here; it is shown again when the hub says so"))
			return State{}, nil, nil
		}
	}
	about := wire.Deploy{Deployment: wish.Deployment, ReleaseID: wish.ReleaseID, Number: wish.Number}
	back := wish.Back && wish.Number < shown.Number
	switch {
	case wish.ReleaseID == "": // what is shown stays
		return State{}, nil, nil
	case wish.ReleaseID == shown.ID:
		if st.ReleaseID == shown.ID && st.Deployment == wish.Deployment && ended(st.Status) {
			return State{}, nil, nil
		}
		next := st.next(about)
		next.LatestTime = later(st.LatestTime, shown.Created)
		return State{}, nil, u.end(&next, wire.DeployAlreadyInstalled, "", nil)
	case wish.Back && st.FailedBack == backKey(about), !wish.Back && wish.Number <= st.FailedNumber:
		if st.Deployment != wish.Deployment {
			u.refuse(about, "failed_before", fmt.Errorf("release %s was tried here and did not do", wish.ReleaseID))
		}
		return State{}, nil, nil
	case !back && wish.Number <= shown.Number:
		u.refuse(about, "older", fmt.Errorf("release %s is not newer than %s", wish.ReleaseID, shown.ID))
		return State{}, nil, nil
	}
	i := slices.IndexFunc(targets, func(t trust.Target) bool { return t.ReleaseID == wish.ReleaseID && t.Number == wish.Number })
	if i < 0 {
		u.refuse(about, "not_signed", fmt.Errorf("release %s is not among those that may be shown", wish.ReleaseID))
		return State{}, nil, nil
	}
	next := st.next(about)
	next.Back = back
	next.Resumed = st.ReleaseID == about.ReleaseID && !ended(st.Status)
	return next, &targets[i], nil
}

// notFetched notes why a release did not come.
func (u *Updater) notFetched(ctx, fetching context.Context, st *State, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if why := stopping(fetching); why != nil {
		return u.stopped(ctx, st, why)
	}
	if fetching.Err() != nil {
		return interrupted(fetching, err)
	}
	if full(err) {
		err = &objectError{"disk_full", err}
	}
	var bad *objectError
	if !errors.As(err, &bad) {
		return errors.Join(err, u.end(st, wire.DeployFailure, "download", err))
	}
	switch bad.code {
	case "disk_full":
		err = errors.Join(err, u.s.clearIncoming()) // others need the room
	case "bad_index", "not_the_release": // the hub will not do better
		st.fail()
	}
	return errors.Join(err, u.end(st, wire.DeployRejected, bad.code, err))
}

// idle removes what nothing needs any more.
func (u *Updater) idle() error {
	st := u.State()
	if !ended(st.Status) || st.Code == "missing_object" { // the stick that was pulled may come back
		return nil
	}
	return u.s.prune(u.s.Shown(), st.Previous)
}

// later is the latest of several times: a clock that went back does not make expired metadata good.
func later(t time.Time, more ...time.Time) time.Time {
	for _, m := range more {
		if m.After(t) {
			t = m
		}
	}
	return t
}
