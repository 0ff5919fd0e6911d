package content

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
)

// Check verifies what an author signed as Publish does, without taking it, and returns the newest release it names. What is
// signed with other keys, or for another hub, or was published before, has its own error: ErrOtherKeys, ErrOtherHub,
// KnownError.
func (s *Store) Check(files map[string][]byte) (t trust.Target, err error) {
	err = s.place.sign(func(hub *trust.Hub) error {
		if t, err = hub.Check(files, s.now()); err != nil {
			return explain(hub, files, err)
		}
		return nil
	})
	if err != nil {
		return trust.Target{}, err
	}
	return t, s.Whole(t)
}

// explain says in words of staff why what was signed is refused, where there are some.
func explain(hub *trust.Hub, files map[string][]byte, why error) error {
	// Of one house every hub has the same first root, byte for byte.
	first, err := os.ReadFile(hub.Path("1.root.json"))
	var refused *trust.RefusedError
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case !errors.As(why, &refused):
		return why
	case err == nil && files["1.root.json"] != nil && !bytes.Equal(first, files["1.root.json"]):
		return fmt.Errorf("%w (%w)", ErrOtherKeys, why)
	case refused.Name == "root.json":
		return fmt.Errorf("%w (%w)", ErrOtherHub, why)
	case refused.Code == "signature":
		return fmt.Errorf("%w (%w)", ErrOtherKeys, why)
	case refused.Code == "stale" && refused.Name == "targets.json":
		return known(hub, files, why)
	}
	return why
}

// known finds the release that was signed among those that are published.
func known(hub *trust.Hub, files map[string][]byte, why error) error {
	var signed []byte
	newest := 0
	for name, data := range files {
		var version int
		if _, err := fmt.Sscanf(name, "%d.targets.json", &version); err == nil && version > newest {
			newest, signed = version, data
		}
	}
	named, err := trust.Named(signed)
	if err != nil {
		return why
	}
	published, err := hub.Targets()
	if err != nil {
		return why
	}
	t := named[len(named)-1]
	i := slices.IndexFunc(published, func(p trust.Target) bool { return p.ReleaseID == t.ReleaseID && p.SHA256 == t.SHA256 })
	if i < 0 {
		return why
	}
	return &KnownError{published[i], i == len(published)-1, why}
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
