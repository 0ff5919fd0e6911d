// Package update brings a kiosk the release that its hub publishes: fetched in pieces over the kiosk's one connection,
// verified before any of it is used, shown in one step when nobody is there, and taken back by the kiosk itself when it
// does not do.
package update

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/internal/durable"
	"docent/internal/space"
	"docent/localindex/release"
	"docent/sync/update/bundle"
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
	retryAfter     = time.Minute            // after something went wrong that may pass
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

// Desired says that the hub may have something new. It does not block.
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
	u.report(u.State())
	wait := time.Duration(0)
	if err := u.resume(ctx); err != nil && ctx.Err() == nil {
		u.opt.Logger.Warn("content not updated", "err", err)
	}
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
		err := u.once(ctx)
		if errors.Is(err, errInterrupted) {
			wait = 0
			continue
		}
		if err != nil && ctx.Err() == nil {
			u.opt.Logger.Warn("content not updated", "err", err)
			if trust.Code(err) == "" {
				wait = u.opt.Retry
			}
		}
	}
}

// resume goes on where the program ended. What was not whole yet is left to once, which keeps what was fetched.
func (u *Updater) resume(ctx context.Context) error {
	st := u.State()
	switch st.Status {
	case wire.DeployVerifying, wire.DeployPauseBeforeInstall, wire.DeployInstalling, wire.DeployPauseBeforeCommit:
		st.Resumed = true
		if _, err := os.Stat(u.s.release(st.ReleaseID)); err != nil {
			return nil
		}
		return u.activate(ctx, st)
	}
	return nil
}

// once looks at what the hub publishes and brings it, if it is new.
func (u *Updater) once(ctx context.Context) error { return u.round(ctx, u.opt.Source) }

// round looks at what a source publishes and brings it, if it is new.
func (u *Updater) round(ctx context.Context, source Source) error {
	fetching, done := u.interruptible(ctx)
	defer done()
	f := &fetcher{source: source}
	f.block.Store(firstBlock)
	st := u.State()
	shown, err := manifest(u.s.Shown())
	if err != nil {
		return fmt.Errorf("read the release that is shown: %w", err)
	}
	known := later(st.LatestTime, shown.Created) // not by this clock, which may be ahead for an hour
	now := later(u.s.now(), known)
	targets, err := u.opt.Trust.Refresh(fetching, f.metadata, now)
	if errors.Is(err, trust.ErrNotFound) {
		return nil // the hub publishes nothing
	}
	if code := trust.Code(err); code != "" {
		u.refuse(State{Deploy: wire.Deploy{}}, code, err)
		return err
	}
	if err != nil {
		return interrupted(fetching, err)
	}
	target := targets[len(targets)-1]
	switch {
	case target.ReleaseID == shown.ID:
		if st.ReleaseID != shown.ID {
			return u.set(&State{
				Deploy:   wire.Deploy{ReleaseID: shown.ID, Number: shown.Number, Status: wire.DeployAlreadyInstalled},
				Previous: st.Previous, FailedNumber: st.FailedNumber, LatestTime: known,
			})
		}
		return nil
	case target.Number <= st.FailedNumber:
		return nil // it was tried, or refused
	case target.Number <= shown.Number:
		err := fmt.Errorf("release %s is not newer than %s", target.ReleaseID, shown.ID)
		u.refuse(State{Deploy: wire.Deploy{ReleaseID: target.ReleaseID, Number: target.Number}}, "older", err)
		return nil
	}
	next := State{
		Deploy:       wire.Deploy{ReleaseID: target.ReleaseID, Number: target.Number, Status: wire.DeployPending},
		FailedNumber: st.FailedNumber, Previous: st.Previous, LatestTime: known,
	}
	next.Resumed = st.ReleaseID == target.ReleaseID && st.Status != wire.DeployFailure && st.Status != wire.DeployRejected
	if err := u.set(&next); err != nil {
		return err
	}
	err = u.download(fetching, f, &next, target)
	var bad *objectError
	if errors.As(err, &bad) {
		next.FailedNumber = max(next.FailedNumber, rejectedNumber(bad.code, next))
		return errors.Join(err, u.end(&next, wire.DeployRejected, bad.code, err))
	}
	if err != nil {
		if fetching.Err() != nil {
			return interrupted(fetching, err)
		}
		return errors.Join(err, u.end(&next, wire.DeployFailure, "download", err))
	}
	done() // what is fetched is not interrupted any more
	return u.activate(ctx, next)
}

// interrupted is why fetching ended: err, unless it was for something else.
func interrupted(fetching context.Context, err error) error {
	if fetching.Err() != nil && errors.Is(context.Cause(fetching), errInterrupted) {
		return errInterrupted
	}
	return err
}

// rejectedNumber is the release not to try again, 0 where the hub may do better the next time.
func rejectedNumber(code string, st State) int {
	if code == "bad_index" || code == "not_the_release" {
		return st.Number
	}
	return 0
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

// download fetches what is missing of a release and puts it whole among the releases.
func (u *Updater) download(ctx context.Context, f *fetcher, st *State, t trust.Target) error {
	st.Status = wire.DeployDownloading
	if err := u.set(st); err != nil {
		return err
	}
	incoming := filepath.Join(u.s.dir, "incoming", t.SHA256[:32])
	objects := filepath.Join(incoming, "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return err
	}
	if t.Length > bundle.MaxIndex {
		return &objectError{"bad_index", fmt.Errorf("the index has %d bytes", t.Length)}
	}
	if err := f.object(ctx, objects, bundle.Chunk{SHA256: t.SHA256, Size: t.Length}); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(objects, t.SHA256))
	if err != nil {
		return err
	}
	x, err := bundle.Decode(data)
	if err == nil && (x.ReleaseID != t.ReleaseID || x.Number != t.Number) {
		err = fmt.Errorf("it is of release %s", x.ReleaseID)
	}
	if err != nil {
		return &objectError{"bad_index", err}
	}
	tree := filepath.Join(incoming, "tree")
	err = u.gather(ctx, f, st, x, u.s.inventory(ctx, u.installed()...), objects, tree)
	if errors.Is(err, errNotTheRelease) {
		// Something that is installed is damaged and was built in. All of it travels then.
		u.opt.Logger.Warn("installed content is damaged, all of the new release is fetched", "err", err)
		err = u.gather(ctx, f, st, x, nil, objects, tree)
	}
	if errors.Is(err, errNotTheRelease) {
		return &objectError{"not_the_release", err}
	}
	if err != nil {
		return err
	}
	u.s.crash("assembled")
	dst := u.s.release(x.ReleaseID)
	if err := os.RemoveAll(dst); err != nil { // left by an attempt before; what is shown has another id
		return err
	}
	if err := durable.WriteFile(filepath.Join(u.s.dir, "indexes", x.ReleaseID), data, 0o600); err != nil {
		return err
	}
	if err := os.Rename(tree, dst); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(dst))
}

// gather fetches what is neither installed nor fetched yet, and builds and verifies the release in tree.
func (u *Updater) gather(ctx context.Context, f *fetcher, st *State, x bundle.Index, have map[string]place, objects, tree string) error {
	want, size := missing(x, have, objects)
	if err := u.checkFree(x, have, size); err != nil {
		return err
	}
	f.done.Store(0)
	st.Of = size
	stop := u.progress(f, *st)
	err := f.objects(ctx, objects, want)
	stop()
	if err != nil {
		return err
	}
	st.Done = size
	st.Status = wire.DeployDownloaded
	if err := u.set(st); err != nil {
		return err
	}
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return err
	}
	if err := assemble(ctx, x, have, objects, tree); err != nil {
		return err
	}
	if _, err := release.Verify(ctx, tree); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errNotTheRelease, err)
	}
	return ctx.Err()
}

// installed lists the folders of the releases that are here.
func (u *Updater) installed() []string {
	dirs := []string{u.s.Shown()}
	entries, err := os.ReadDir(filepath.Join(u.s.dir, "releases"))
	if err != nil {
		return dirs
	}
	for _, e := range entries {
		if d := u.s.release(e.Name()); d != dirs[0] {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// checkFree makes sure that what is to be fetched and built fits on the disk.
func (u *Updater) checkFree(x bundle.Index, have map[string]place, size int64) error {
	need := uint64(size)
	for _, f := range x.Files {
		if len(f.Chunks) > 1 { // others are linked
			need += uint64(f.Size)
		}
	}
	free, err := u.opt.Free(u.s.dir)
	if err != nil {
		return err
	}
	if free < need+u.opt.MinFree {
		return &objectError{"disk_full", fmt.Errorf("%d MiB are needed beside %d MiB that stay free, there are %d", need>>20, u.opt.MinFree>>20, free>>20)}
	}
	return nil
}

// progress reports how much has come, until stop is called.
func (u *Updater) progress(f *fetcher, st State) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				st.Done = f.done.Load()
				u.report(st)
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// activate verifies a release that is whole, waits until nobody is there, shows it, and keeps it or takes it back.
func (u *Updater) activate(ctx context.Context, st State) error {
	dir := u.s.release(st.ReleaseID)
	if st.Status != wire.DeployInstalling && st.Status != wire.DeployPauseBeforeCommit {
		st.Status = wire.DeployVerifying
		if err := u.set(&st); err != nil {
			return err
		}
		if err := u.verify(ctx, dir, st); err != nil {
			if ctx.Err() != nil {
				return err
			}
			code := "health"
			if errors.Is(err, errNotTheRelease) {
				code = "not_the_release"
			}
			st.FailedNumber = max(st.FailedNumber, st.Number)
			return errors.Join(err, u.end(&st, wire.DeployRejected, code, err), u.s.prune(u.s.Shown(), st.Previous))
		}
		st.Status = wire.DeployPauseBeforeInstall
		if err := u.set(&st); err != nil {
			return err
		}
		if err := u.waitUnattended(ctx); err != nil {
			return err
		}
	}
	if shown := u.s.Shown(); shown != dir {
		st.Previous = shown
	}
	st.Status = wire.DeployInstalling
	if err := u.set(&st); err != nil {
		return err
	}
	if err := u.s.show(dir); err != nil {
		return err
	}
	u.s.crash("shown")
	err := u.opt.Content.Switch(ctx, dir)
	if err == nil {
		st.Status = wire.DeployPauseBeforeCommit
		if err := u.set(&st); err != nil {
			return err
		}
		err = u.healthy(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err // decided at the next start
		}
		return errors.Join(err, u.takeBack(ctx, &st, err))
	}
	st.Attempts = 0
	if m, err := manifest(dir); err == nil {
		st.LatestTime = later(st.LatestTime, m.Created)
	}
	if err := u.end(&st, wire.DeploySuccess, "", nil); err != nil {
		return err
	}
	u.opt.Logger.Info("new content is shown", "release", st.ReleaseID)
	return u.s.prune(dir, st.Previous)
}

var errNotTheRelease = errors.New("it is not the release that was signed")

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

func (u *Updater) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	return u.opt.Content.Healthy(ctx)
}

// takeBack shows the release before again.
func (u *Updater) takeBack(ctx context.Context, st *State, why error) error {
	if err := u.s.rollBack(st, "health", why.Error()); err != nil {
		return err
	}
	u.keep(*st)
	if err := u.opt.Content.Switch(ctx, st.Previous); err != nil {
		return fmt.Errorf("show the release before again: %w", err)
	}
	u.opt.Logger.Warn("new content was taken back", "release", st.ReleaseID, "err", why)
	return u.s.prune(st.Previous)
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
	return nil
}

// refuse reports something that changes nothing here.
func (u *Updater) refuse(st State, code string, why error) {
	st.Status, st.Code, st.Detail = wire.DeployRejected, code, clip(why.Error(), 512)
	u.report(st)
}

// end notes and reports how a deployment ended.
func (u *Updater) end(st *State, status wire.DeployStatus, code string, why error) error {
	st.Status, st.Code, st.Detail = status, code, ""
	if why != nil {
		st.Detail = clip(why.Error(), 512)
	}
	return u.set(st)
}

// set notes and reports a state.
func (u *Updater) set(st *State) error {
	if err := u.s.save(*st); err != nil {
		return err
	}
	u.keep(*st)
	return nil
}

func (u *Updater) keep(st State) {
	u.mu.Lock()
	u.state = st
	u.mu.Unlock()
	u.report(st)
}

func (u *Updater) report(st State) {
	d := st.Deploy
	if d.Status == "" {
		d.Status = wire.DeployAlreadyInstalled
	}
	if m, err := manifest(u.s.Shown()); err == nil {
		d.Shown = m.ID
		if d.Status == wire.DeployAlreadyInstalled {
			d.ReleaseID, d.Number = m.ID, m.Number
		}
	}
	d.TS = u.s.now().UTC()
	u.mu.Lock()
	u.said = d
	u.mu.Unlock()
	u.opt.Report(d)
}
