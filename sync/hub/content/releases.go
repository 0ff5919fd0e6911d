package content

import (
	"errors"
	"fmt"
	"io/fs"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
)

// Check verifies what an author signed as Publish does, without taking it, and returns the newest release it names.
func (s *Store) Check(files map[string][]byte) (t trust.Target, err error) {
	err = s.place.sign(func(hub *trust.Hub) error {
		t, err = hub.Check(files, s.now())
		return err
	})
	if err != nil {
		return trust.Target{}, err
	}
	return t, s.Whole(t)
}

// Releases are those that kiosks may show by what is published, by number, the newest last; none where nothing is.
func (s *Store) Releases() ([]trust.Target, error) {
	all, err := s.place.releases()
	if errors.Is(err, trust.ErrNotFound) {
		return nil, nil
	}
	return all, err
}

// Whole says what is missing of a release, ErrIncomplete, if anything is.
func (s *Store) Whole(t trust.Target) error {
	data, err := s.place.object(t.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the index", ErrIncomplete)
	}
	if err != nil {
		return fmt.Errorf("read index: %w", err)
	}
	x, err := bundle.Decode(data)
	if err == nil && (x.ReleaseID != t.ReleaseID || x.Number != t.Number) {
		err = fmt.Errorf("it is of %s, signed was %s", x.ReleaseID, t.ReleaseID)
	}
	if err != nil {
		return &trust.RefusedError{Name: "index", Code: "bad_index", Err: err}
	}
	return s.complete(x)
}
