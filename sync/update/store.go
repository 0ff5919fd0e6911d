package update

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"docent/internal/durable"
	"docent/localindex/release"
	"docent/sync/update/bundle"
	"docent/sync/wire"
)

// Store is the folder of a kiosk's content: releases, what is being fetched, and how far the last one came.
//
//	releases/ID   whole releases: the one shown, the one before, and one about to be shown
//	indexes/ID    what each is made of
//	incoming/ID   objects of a release on its way
//	current       link to the release that is shown; none: the one the kiosk came with
//	deploy.json   State
type Store struct {
	dir     string
	factory string // folder of the release the kiosk came with
	now     func() time.Time
	crash   func(point string) // for tests: called at each durable step
}

// State is how far the last deployment came. It is written before each step is taken.
type State struct {
	wire.Deploy
	Previous     string    `json:"previous"`                // folder shown before
	Attempts     int       `json:"attempts,omitempty"`      // starts of the program since the switch
	FailedNumber int       `json:"failed_number,omitempty"` // releases up to this number are not tried again
	LatestTime   time.Time `json:"latest_time,omitzero"`    // the latest time known to have been, from signed content
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
	return &Store{dir: dir, factory: factory, now: now, crash: func(string) {}}, nil
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
	if st.Status == wire.DeployInstalling || st.Status == wire.DeployPauseBeforeCommit {
		if st.Attempts++; st.Attempts > maxAttempts {
			if err := s.rollBack(&st, "ended_the_program", "the program ended before the release was found good"); err != nil {
				return err
			}
		} else if err := s.save(st); err != nil {
			return err
		}
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
			st.Previous = before
			return s.rollBack(&st, "does_not_open", why)
		}
		err = errors.Join(err, err2)
	}
	return err
}

// rollBack shows the release before again and notes why.
func (s *Store) rollBack(st *State, code, detail string) error {
	if err := s.show(st.Previous); err != nil {
		return err
	}
	s.crash("rolled back")
	committed := st.Status == wire.DeploySuccess // then it is damaged, not bad: it may be fetched again
	st.Status, st.RolledBack, st.Code, st.Detail = wire.DeployFailure, true, code, clip(detail, 512)
	if !committed {
		st.FailedNumber = max(st.FailedNumber, st.Number)
	}
	return s.save(*st)
}

// show makes a release the current one, in one step.
func (s *Store) show(dir string) error {
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
	data, err := json.Marshal(st)
	if err == nil {
		err = durable.WriteFile(filepath.Join(s.dir, "deploy.json"), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note deployment: %w", err)
	}
	s.crash("saved " + string(st.Status))
	return nil
}

// release is the folder of a release by its id.
func (s *Store) release(id string) string { return filepath.Join(s.dir, "releases", id) }

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

// manifest reads what a release says of itself, without verifying the rest of it.
func manifest(dir string) (release.Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, release.ManifestFile))
	if err != nil {
		return release.Manifest{}, err
	}
	return release.DecodeManifest(data)
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
