package content

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
)

// Check verifies what an author signed as Publish does, without taking it, and returns the newest release it names.
func (s *Store) Check(files map[string][]byte) (trust.Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.hub.Check(files, s.now())
	if err != nil {
		return trust.Target{}, err
	}
	return t, s.Whole(t)
}

// Releases are those that kiosks may show by what is published, by number, the newest last; none where nothing is.
func (s *Store) Releases() ([]trust.Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.hub.Targets()
	if errors.Is(err, trust.ErrNotFound) {
		return nil, nil
	}
	return all, err
}

// Whole says what is missing of a release, ErrIncomplete, if anything is.
func (s *Store) Whole(t trust.Target) error {
	data, err := os.ReadFile(s.object(t.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the index", ErrIncomplete)
	}
	if err != nil {
		return fmt.Errorf("read index: %w", err)
	}
	x, err := bundle.Decode(data)
	if err != nil {
		return &trust.RefusedError{Name: "index", Code: "bad_index", Err: err}
	}
	return s.complete(x)
}
