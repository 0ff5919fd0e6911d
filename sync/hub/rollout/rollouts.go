package rollout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Store keeps rollouts. Several processes may share one: a change that another has come before is ErrConflict.
type Store interface {
	// AddRollout stores a new one behind all others.
	AddRollout(ctx context.Context, r Rollout) error
	// OpenRollouts lists those that are not over, in their order.
	OpenRollouts(ctx context.Context) ([]Rollout, error)
	// ChangeRollout changes one and its kiosks at once; late tells whether kiosks may count as timed out.
	ChangeRollout(ctx context.Context, id string, now time.Time, late bool, f Change) (changed bool, err error)
}

// Options of Rollouts. All but Every, Settle and Logger are required.
type Options struct {
	Store Store
	// Published tells whether kiosks can fetch a release.
	Published func(Release) (bool, error)
	// Notify is called when kiosks of a rollout shall look what they are to show.
	Notify func(ctx context.Context, id string)
	Clock  func() time.Time
	Every  time.Duration // between looks without a word; 0 means 5 s
	// Settle is how long after the start no kiosk counts as timed out: those that could not say how it went while the hub
	// was away have that time. 0 means 5 minutes, negative none.
	Settle time.Duration
	Logger *slog.Logger // nil discards
}

// notPublished is after how long a rollout ends whose release never came.
const notPublished = 10 * time.Minute

// breath is how long there is between two looks at least, however much happens: a thousand kiosks may come at once.
const breath = 50 * time.Millisecond

// attempts is how often a change is tried again that another process came before.
const attempts = 20

// Rollouts moves all rollouts on. Run is its one goroutine; the other methods may be called from any.
type Rollouts struct {
	opt  Options
	wake chan struct{} // capacity 1
}

// Follow returns what Run sets going.
func Follow(opt Options) *Rollouts {
	if opt.Every == 0 {
		opt.Every = 5 * time.Second
	}
	if opt.Settle == 0 {
		opt.Settle = 5 * time.Minute
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Rollouts{opt: opt, wake: make(chan struct{}, 1)}
}

// Wake says that something has happened that may move a rollout on. It does not block.
func (s *Rollouts) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run moves rollouts on until ctx ends.
func (s *Rollouts) Run(ctx context.Context) {
	settled := s.opt.Clock().Add(s.opt.Settle)
	tick := time.NewTicker(s.opt.Every)
	defer tick.Stop()
	for {
		if err := s.step(ctx, settled); err != nil && ctx.Err() == nil {
			s.opt.Logger.Error("rollouts not moved on", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(breath):
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.wake:
		}
	}
}

// step looks at all rollouts once.
func (s *Rollouts) step(ctx context.Context, settled time.Time) error {
	open, err := s.opt.Store.OpenRollouts(ctx)
	if err != nil {
		return err
	}
	now := s.opt.Clock()
	var errs []error
	for _, r := range open {
		if r.State == Creating {
			errs = append(errs, s.found(ctx, r, now))
			continue
		}
		errs = append(errs, s.change(ctx, r.ID, !now.Before(settled), func(r *Rollout, t []Tally, now time.Time) (Effects, error) {
			return r.Step(t, now), nil
		}))
	}
	return errors.Join(errs...)
}

// found goes on with a rollout whose creation was cut off: the release is published by now, or it never will be.
func (s *Rollouts) found(ctx context.Context, r Rollout, now time.Time) error {
	published, err := s.opt.Published(r.Release)
	switch {
	case err != nil:
		return err
	case published:
		return s.Publish(ctx, r.ID)
	case now.Sub(r.CreatedAt) > notPublished:
		return s.abort(ctx, r.ID, Reason{Code: NotPublished})
	}
	return nil
}

// change makes a change, again where another process came before.
func (s *Rollouts) change(ctx context.Context, id string, late bool, f func(*Rollout, []Tally, time.Time) (Effects, error)) error {
	now := s.opt.Clock()
	for i := 0; ; i++ {
		var before, after State
		changed, err := s.opt.Store.ChangeRollout(ctx, id, now, late, func(r *Rollout, t []Tally) (e Effects, err error) {
			before = r.State
			e, err = f(r, t, now)
			after = r.State
			return e, err
		})
		if errors.Is(err, ErrConflict) && i < attempts && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		if changed {
			if after != before {
				s.opt.Logger.Info("rollout", "rollout", id, "state", after)
			}
			s.opt.Notify(ctx, id)
			s.Wake() // what has begun may be done already
		}
		return nil
	}
}

// Create stores a rollout of a release that is about to be published.
func (s *Rollouts) Create(ctx context.Context, r Rollout) error {
	for i := 0; ; i++ {
		err := s.opt.Store.AddRollout(ctx, r)
		if errors.Is(err, ErrConflict) && i < attempts && ctx.Err() == nil {
			continue
		}
		return err
	}
}

// Publish lets a rollout go whose release can be fetched now. It takes over from all before it. One that was published
// before stays as it is.
func (s *Rollouts) Publish(ctx context.Context, id string) error {
	before, err := s.opt.Store.OpenRollouts(ctx)
	if err != nil {
		return err
	}
	err = s.change(ctx, id, false, func(r *Rollout, _ []Tally, now time.Time) (Effects, error) {
		if r.State != Creating && r.State != Stopped {
			return Effects{}, nil
		}
		return r.Publish(now)
	})
	if err != nil {
		return err
	}
	for _, r := range before {
		if r.ID != id {
			s.opt.Notify(ctx, r.ID)
		}
	}
	return nil
}

// Approve lets the group begin that waits for it.
func (s *Rollouts) Approve(ctx context.Context, id, by string) error {
	return s.change(ctx, id, false, func(r *Rollout, _ []Tally, now time.Time) (Effects, error) { return r.Approve(by, now) })
}

// Pause keeps further kiosks from beginning.
func (s *Rollouts) Pause(ctx context.Context, id, by, text string) error {
	return s.change(ctx, id, false, func(r *Rollout, _ []Tally, now time.Time) (Effects, error) { return r.Pause(by, text, now) })
}

// Resume goes on, in spite of the failures there were so far.
func (s *Rollouts) Resume(ctx context.Context, id, by string) error {
	return s.change(ctx, id, false, func(r *Rollout, t []Tally, now time.Time) (Effects, error) { return r.Resume(by, t, now) })
}

// Abort ends a rollout for good.
func (s *Rollouts) Abort(ctx context.Context, id, by, text string) error {
	return s.abort(ctx, id, Reason{Code: ByStaff, By: by, Text: text})
}

func (s *Rollouts) abort(ctx context.Context, id string, why Reason) error {
	return s.change(ctx, id, false, func(r *Rollout, _ []Tally, now time.Time) (Effects, error) { return r.Abort(why, now) })
}

// Earlier is the release to go back to from another one: of those that may be shown the highest number below it whose
// newest rollout was not stopped, taken back, or paused when the next one came. rollouts are the newest ones, the newest
// first.
func Earlier(than Release, shown []Release, rollouts []Rollout) (best Release, found bool) {
	for _, r := range shown {
		if r.Number < than.Number && r.Number > best.Number && proven(r, rollouts) {
			best, found = r, true
		}
	}
	return best, found
}

// proven tells whether a release was rolled out without staff or failures having ended that.
func proven(release Release, rollouts []Rollout) bool {
	i := slices.IndexFunc(rollouts, func(r Rollout) bool { return r.Release == release })
	if i < 0 {
		return false
	}
	r := rollouts[i]
	takenBack := slices.ContainsFunc(rollouts, func(o Rollout) bool { return o.Of == r.ID })
	paused := len(r.History) > 1 && r.History[len(r.History)-2].What == WasPaused
	return !takenBack && (r.State == Finished || r.State == Stopped && r.Reason.Code == Superseded && !paused)
}

// Back is a rollout that takes another one back: all kiosks that are in it are to show an earlier release. It begins when
// it is published.
func Back(id string, of Rollout, members []Member, to Release, by string, now time.Time) (Rollout, error) {
	if of.State == Creating {
		return Rollout{}, of.in("take back")
	}
	if to.Number >= of.Release.Number {
		return Rollout{}, fmt.Errorf("take back rollout %s: release %s is not an earlier one: %w", of.ID, to.ID, ErrState)
	}
	plan := Everybody()
	if !of.Plan.Whole() {
		g := Group{Name: "all", Errors: Limit{100, true}}
		for _, m := range members {
			g.Kiosks = append(g.Kiosks, Kiosk(m.Kiosk))
		}
		plan.Groups = []Group{g}
	}
	r, err := New(id, to, plan, by, now)
	r.Back, r.Of = true, of.ID
	return r, err
}
