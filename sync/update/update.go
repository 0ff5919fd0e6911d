// Package update brings a kiosk the release that its hub publishes: fetched in pieces over the kiosk's one connection,
// verified before any of it is used, shown in one step when nobody is there, and taken back by the kiosk itself when it
// does not do.
package update

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"docent/internal/space"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Content is what shows releases to visitors.
type Content interface {
	// Check opens a release beside the one that is shown and tries it out.
	Check(ctx context.Context, dir string) error
	// Switch shows a release from now on.
	Switch(ctx context.Context, dir string) error
	// Healthy tries out the release that is shown.
	Healthy(ctx context.Context) error
	// Unattended tells whether nobody is there.
	Unattended() bool
}

// Defaults of Options.
const (
	DefaultPoll    = 15 * time.Minute // between looks at the hub without a word from it
	DefaultMinFree = 256 << 20        // bytes that stay free on the disk
	healthTimeout  = 2 * time.Minute
	lookAgain      = 500 * time.Millisecond // while waiting until nobody is there
	retryAfter     = time.Minute            // after something went wrong that may pass; twice as long each time, to Poll
	DefaultGrace   = 10 * time.Second       // a start waits so long for the hub's word on what it was in the middle of
	reportEvery    = time.Second            // of progress
)

// Options of an Updater. Store, Trust, Source and Content are required.
type Options struct {
	Store   *Store
	Trust   *trust.Client
	Source  Source
	Content Content
	// Report is told how far the kiosk is; the newest report replaces the ones before.
	Report  func(wire.Deploy)
	Poll    time.Duration                    // 0 means DefaultPoll
	Retry   time.Duration                    // 0 means a minute
	Grace   time.Duration                    // 0 means DefaultGrace
	MinFree uint64                           // 0 means DefaultMinFree
	Free    func(dir string) (uint64, error) // nil asks the file system
	Logger  *slog.Logger                     // nil discards
}

// Updater follows the hub. Run is its one goroutine.
type Updater struct {
	opt   Options
	s     *Store
	wake  chan struct{}
	looks chan *look // capacity 1: what Look was given

	behind bool // visitors do not see what the store says is shown; of Run's goroutine

	mu    sync.Mutex
	state State
	stop  context.CancelCauseFunc // of what is being fetched, nil while nothing is
	said  wire.Deploy             // the newest report
}

// New returns an Updater that Run sets going.
func New(opt Options) (*Updater, error) {
	if opt.Report == nil {
		opt.Report = func(wire.Deploy) {}
	}
	if opt.Poll == 0 {
		opt.Poll = DefaultPoll
	}
	if opt.Retry == 0 {
		opt.Retry = retryAfter
	}
	if opt.Grace == 0 {
		opt.Grace = DefaultGrace
	}
	if opt.MinFree == 0 {
		opt.MinFree = DefaultMinFree
	}
	if opt.Free == nil {
		opt.Free = space.Free
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	st, err := opt.Store.state()
	if err != nil {
		return nil, err
	}
	return &Updater{opt: opt, s: opt.Store, wake: make(chan struct{}, 1), looks: make(chan *look, 1), state: st}, nil
}

// Desired says that the hub may want something else. It does not block.
func (u *Updater) Desired() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// State is how far the last deployment came.
func (u *Updater) State() State {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state
}

// Run finishes what an earlier run was in the middle of and follows the hub until ctx ends; then it returns nil.
func (u *Updater) Run(ctx context.Context) error {
	u.report(u.State().Deploy)
	wait, retry := time.Duration(0), u.opt.Retry
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case l := <-u.looks:
			timer.Stop()
			u.lookAt(ctx, l)
			wait = 0 // go on with what was interrupted
			continue
		case <-u.wake:
			timer.Stop()
		case <-timer.C:
		}
		wait = u.opt.Poll
		err := u.resume(ctx)
		if err == nil {
			err = u.once(ctx)
		}
		switch {
		case errors.Is(err, errInterrupted):
			wait = 0
		case err == nil || ctx.Err() != nil:
			retry = u.opt.Retry
		default:
			u.opt.Logger.Warn("content not updated", "err", err)
			if trust.Code(err) == "" {
				wait, retry = min(retry, u.opt.Poll), 2*retry
			}
		}
	}
}

// resume goes on with what is being shown: where the program ended, or where something went wrong that may have passed.
// What was not whole yet is left to once, which keeps what was fetched.
func (u *Updater) resume(ctx context.Context) error {
	if err := u.catchUp(ctx); err != nil {
		return err
	}
	st := u.State()
	if !activating(st.Status) {
		return nil
	}
	if _, err := os.Stat(u.s.release(st.ReleaseID)); err != nil {
		return nil
	}
	st.Resumed = true
	if st.TakingBack != "" {
		return u.takeBack(ctx, &st, st.TakingBack, errors.New(st.Detail))
	}
	wanted, stop := u.watch(ctx, u.opt.Source)
	defer stop()
	if why := u.heard(ctx, st); why != nil {
		return u.stopped(ctx, &st, why)
	}
	return u.activate(ctx, wanted, st)
}

// heard asks, for a while, whether the hub has changed its mind while the program was not running. Without a word from it
// what is whole is shown.
func (u *Updater) heard(ctx context.Context, st State) *stopError {
	ctx, cancel := context.WithTimeout(ctx, u.opt.Grace)
	defer cancel()
	wish, err := newFetcher(u.opt.Source).wish(ctx)
	if err != nil || wish == nil {
		return nil
	}
	return stops(st, *wish)
}
