package update

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"docent/internal/durable"
	"docent/localindex/release"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Store is the folder of a kiosk's content: releases, what is being fetched, and how far the last one came.
//
//	releases/ID   whole releases: the one shown, the one before, and one about to be shown
//	indexes/ID    what each is made of
//	incoming      objects of a release on its way, and the release that is built of them
//	current       link to the release that is shown; none: the one the kiosk came with
//	deploy.json   State
type Store struct {
	dir     string
	factory string // folder of the release the kiosk came with
	now     func() time.Time

	// For tests: crash is called after each durable step, fail before it, in place of an error of the disk.
	crash func(point string)
	fail  func(point string) error
}

// maxAttempts is how often the program may start with a release that was not committed. A release that ends the
// program each time is rolled back then.
const maxAttempts = 2

// OpenStore opens the folder, making it where there is none. factory is the release that is shown without any other.
func OpenStore(dir, factory string, now func() time.Time) (*Store, error) {
	for _, d := range []string{"releases", "indexes", "incoming"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, fmt.Errorf("open content folder: %w", err)
		}
	}
	return &Store{dir: dir, factory: factory, now: now, crash: func(string) {}, fail: func(string) error { return nil }}, nil
}

// Shown is the folder of the release that visitors see.
func (s *Store) Shown() string {
	id, err := os.Readlink(filepath.Join(s.dir, "current"))
	if err != nil {
		return s.factory
	}
	return filepath.Join(s.dir, id)
}

// Start opens the release to show when the program starts: the current one, or the one before where the current cannot
// be opened or has ended the program too often before it was committed. The error is of the last one tried.
func (s *Store) Start(open func(dir string) error) error {
	st, err := s.state()
	if err != nil {
		return err
	}
	if err := s.beforeStart(&st); err != nil {
		return err
	}
	shown := s.Shown()
	err = open(shown)
	if err == nil || shown == s.factory {
		return err
	}
	why := err.Error()
	for _, before := range []string{st.Previous, s.factory} {
		if before == "" || before == shown {
			continue
		}
		err2 := open(before)
		if err2 == nil {
			return s.rollBack(&st, before, "does_not_open", why)
		}
		err = errors.Join(err, err2)
	}
	return err
}

// beforeStart takes back what was being taken back, or has ended the program too often.
func (s *Store) beforeStart(st *State) error {
	switch {
	case !onShow(st.Status):
		return nil
	case st.TakingBack != "":
		return s.rollBack(st, st.Previous, st.TakingBack, st.Detail)
	}
	if st.Attempts++; st.Attempts > maxAttempts {
		return s.rollBack(st, st.Previous, "ended_the_program", "the program ended before the release was found good")
	}
	if err := s.save(*st); err != nil && !full(err) {
		return err // on a full disk the start is not counted: something has to be shown
	}
	return nil
}

// rollBack shows another release again, the one before, and notes why. Interrupted, or after an error, it is gone on with
// by the state in st, which is that on the disk.
func (s *Store) rollBack(st *State, to, code, detail string) error {
	detail = clip(detail, 512)
	done := *st
	if onShow(st.Status) {
		st.TakingBack, st.Detail = code, detail
		if err := s.save(*st); err != nil {
			return err
		}
		done.takenBack(code)
	} else { // it was kept, and is damaged: it may be fetched again
		done.Deploy = wire.Deploy{ReleaseID: filepath.Base(s.Shown()), Status: wire.DeployFailure}
		if m, err := manifest(s.Shown()); err == nil {
			done.ReleaseID, done.Number = m.ID, m.Number
		}
	}
	if err := s.show(to); err != nil {
		return err
	}
	s.crash("rolled back")
	done.RolledBack, done.Code, done.Detail = true, code, detail
	done.Previous, done.Before, done.TakingBack, done.Attempts = st.Before, "", "", 0
	if err := s.save(done); err != nil {
		return err
	}
	*st = done
	return nil
}

// show makes a release the current one, in one step.
func (s *Store) show(dir string) error {
	if err := s.fail("show"); err != nil {
		return fmt.Errorf("show release: %w", err)
	}
	link := filepath.Join(s.dir, "current")
	if dir == s.factory {
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("show the first release: %w", err)
		}
		return durable.SyncDir(s.dir)
	}
	rel, err := filepath.Rel(s.dir, dir)
	if err != nil {
		return fmt.Errorf("show release: %w", err)
	}
	if err := os.Remove(link + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("show release: %w", err)
	}
	if err := os.Symlink(rel, link+".new"); err != nil {
		return fmt.Errorf("show release: %w", err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		return fmt.Errorf("show release: %w", err)
	}
	return durable.SyncDir(s.dir)
}

// state reads how far the last deployment came. A file that cannot be read counts as none: nothing but the releases
// themselves is needed to go on.
func (s *Store) state() (State, error) {
	var st State
	data, err := os.ReadFile(filepath.Join(s.dir, "deploy.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, fmt.Errorf("read deployment: %w", err)
	}
	if json.Unmarshal(data, &st) != nil {
		return State{}, nil
	}
	return st, nil
}

func (s *Store) save(st State) error {
	st.TS = s.now().UTC()
	point := "saved " + string(st.Status)
	if st.TakingBack != "" {
		point += " taking back"
	}
	data, err := json.Marshal(st)
	if err == nil {
		err = s.fail(point)
	}
	if err == nil {
		err = durable.WriteFile(filepath.Join(s.dir, "deploy.json"), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note deployment: %w", err)
	}
	s.crash(point)
	return nil
}

// release is the folder of a release by its id.
func (s *Store) release(id string) string { return filepath.Join(s.dir, "releases", id) }

// has tells whether a release is here, whole and as it was signed. Every byte of it is read.
func (s *Store) has(ctx context.Context, t trust.Target) bool {
	data, err := os.ReadFile(filepath.Join(s.dir, "indexes", filepath.Base(t.ReleaseID)))
	if err != nil || bundle.Sum(data) != t.SHA256 {
		return false
	}
	m, err := release.Verify(ctx, s.release(t.ReleaseID))
	return err == nil && m.ID == t.ReleaseID && m.Number == t.Number
}

// index says what an installed release is made of, from the file beside it or by reading the release.
func (s *Store) index(ctx context.Context, dir string) (bundle.Index, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, "indexes", filepath.Base(dir)))
	if err == nil && filepath.Dir(dir) == filepath.Join(s.dir, "releases") {
		if x, err := bundle.Decode(data); err == nil {
			return x, nil
		}
	}
	return bundle.Make(ctx, dir)
}

// prune removes all releases but two, and what was left of fetching.
func (s *Store) prune(keep ...string) error {
	var errs []error
	if err := s.fail("prune"); err != nil {
		return fmt.Errorf("remove old content: %w", err)
	}
	for _, sub := range []string{"releases", "indexes", "incoming"} {
		entries, err := os.ReadDir(filepath.Join(s.dir, sub))
		errs = append(errs, err)
		for _, e := range entries {
			path := filepath.Join(s.dir, sub, e.Name())
			kept := false
			for _, k := range keep {
				kept = kept || sub != "incoming" && e.Name() == filepath.Base(k) && filepath.Dir(k) == filepath.Join(s.dir, "releases")
			}
			if !kept {
				errs = append(errs, os.RemoveAll(path))
			}
		}
	}
	return errors.Join(errs...)
}

// clearIncoming gives back the room of what was fetched.
func (s *Store) clearIncoming() error { return os.RemoveAll(s.incoming()) }

func (s *Store) incoming() string { return filepath.Join(s.dir, "incoming", "next") }

// manifest reads what a release says of itself, without verifying the rest of it.
func manifest(dir string) (release.Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, release.ManifestFile))
	if err != nil {
		return release.Manifest{}, err
	}
	return release.DecodeManifest(data)
}

// full tells whether an error is that of a full disk.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
