// Package content keeps what kiosks fetch: the objects of releases, named by their SHA-256, and the signed metadata that
// says which release is the newest.
package content

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Errors of Publish and Put.
var (
	ErrObject     = errors.New("it is not the object of that name")
	ErrIncomplete = errors.New("objects are missing")
	ErrOtherKeys  = errors.New("it is signed with other keys than this hub's")
	ErrOtherHub   = errors.New("it names another hub's key: sign it with --hub-key of this hub")
)

// KnownError is the error of a release that was published before.
type KnownError struct {
	Release trust.Target
	Newest  bool // it is the newest that is published
	Err     error
}

// Error says which release it is.
func (e *KnownError) Error() string {
	return "release " + e.Release.ReleaseID + " is published already"
}

// Unwrap returns why what was signed is refused.
func (e *KnownError) Unwrap() error { return e.Err }

// renewEvery is how often the signature that says what is newest is looked at.
const renewEvery = time.Hour

// Store is the content that is published. It is safe for concurrent use.
type Store struct {
	place place
	now   func() time.Time
	log   *slog.Logger
}

// place is where content is.
type place interface {
	// read reads from an object or a metadata file; data is empty at its end. fs.ErrNotExist where there is none.
	read(name string, offset int64, n int) (data []byte, size int64, err error)
	// put stores an object.
	put(sum string, data []byte) error
	// object reads the whole of an object.
	object(sum string) ([]byte, error)
	// sizes are those of objects that are here.
	sizes(sums []string) (map[string]int64, error)
	// settle returns when all objects that were stored outlast a loss of power.
	settle() error
	// sign lets f, and nobody else meanwhile, read and change what is published.
	sign(f func(*trust.Hub) error) error
	// releases are those that are published.
	releases() ([]trust.Target, error)
	// public is the key that signs what is the newest.
	public() ed25519.PublicKey
}

// Open opens the folder of content, making it and the hub's signing key where there is none.
func Open(dir string, now func() time.Time, log *slog.Logger) (*Store, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("open content: %w", err)
	}
	return &Store{place: f, now: now, log: log}, nil
}

// OpenShared opens content that several hubs share in a database that postgres.Open has opened. The folder has the hub's
// signing key, which must be the same for all of them, and a copy of the metadata.
func OpenShared(ctx context.Context, db *sql.DB, dir string, now func() time.Time, log *slog.Logger) (*Store, error) {
	d, err := openDatabase(ctx, db, dir)
	if err != nil {
		return nil, fmt.Errorf("open content: %w", err)
	}
	return &Store{place: d, now: now, log: log}, nil
}

// PublicKey is the key that the root metadata has to name, in PEM.
func (s *Store) PublicKey(w io.Writer) error { return trust.WritePublic(w, s.place.public()) }

// Read answers a kiosk's request. The request is valid.
func (s *Store) Read(req wire.Fetch) wire.Chunk {
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset}
	if err := s.read(req, &c); err != nil {
		c.Data, c.Size = nil, 0
		c.Error = wire.FetchFailed
		if errors.Is(err, fs.ErrNotExist) {
			c.Error = wire.FetchNotFound
		} else {
			s.log.Warn("content not read", "name", req.Name, "err", err)
		}
	}
	return c
}

func (s *Store) read(req wire.Fetch, c *wire.Chunk) (err error) {
	c.Data, c.Size, err = s.place.read(req.Name, req.Offset, req.Length)
	c.Offset = min(req.Offset, c.Size)
	return err
}

// Has tells whether an object is here.
func (s *Store) Has(sum string) bool {
	if !wire.ValidObject(sum) {
		return false
	}
	sizes, err := s.place.sizes([]string{sum})
	if err != nil {
		s.log.Warn("object not looked up", "err", err)
	}
	_, ok := sizes[sum]
	return ok
}

// Put takes an object. Bytes that are not of that name are refused with ErrObject.
func (s *Store) Put(sum string, data []byte) error {
	if !wire.ValidObject(sum) || bundle.Sum(data) != sum {
		return ErrObject
	}
	if s.Has(sum) {
		return nil
	}
	if err := s.place.put(sum, data); err != nil {
		return fmt.Errorf("keep object: %w", err)
	}
	return nil
}

// Publish makes a signed release the one that kiosks shall show. All its objects must be here. What an author signed
// is verified as a kiosk would.
func (s *Store) Publish(files map[string][]byte) (t trust.Target, err error) {
	err = s.place.sign(func(hub *trust.Hub) error {
		if t, err = hub.Check(files, s.now()); err != nil {
			return err
		}
		if err := s.Whole(t); err != nil {
			return err
		}
		// The objects' bytes are on the disk since they came; that they are named has to be, too, before anyone is told
		// of the release.
		if err := s.place.settle(); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
		t, err = hub.Publish(files, s.now())
		return err
	})
	if err != nil {
		return trust.Target{}, err
	}
	s.log.Info("release published", "release", t.ReleaseID)
	return t, nil
}

func (s *Store) complete(x bundle.Index) error {
	var sums []string
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			sums = append(sums, c.SHA256)
		}
	}
	sizes, err := s.place.sizes(sums)
	if err != nil {
		return fmt.Errorf("look objects up: %w", err)
	}
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			if size, ok := sizes[c.SHA256]; !ok || size != c.Size {
				return fmt.Errorf("%w: of %s", ErrIncomplete, f.Path)
			}
		}
	}
	return nil
}

// Desired is the newest release; false where nothing is published.
func (s *Store) Desired() (wire.Desired, bool) {
	all, err := s.Releases()
	if err != nil {
		s.log.Warn("published release not known", "err", err)
	}
	if len(all) == 0 {
		return wire.Desired{}, false
	}
	t := all[len(all)-1]
	return wire.Desired{ReleaseID: t.ReleaseID, Number: t.Number}, true
}

// Run keeps the hub's signatures fresh until ctx ends.
func (s *Store) Run(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		if err := s.place.sign(func(hub *trust.Hub) error { return hub.Renew(s.now()) }); err != nil {
			s.log.Error("what is published could not be signed again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
