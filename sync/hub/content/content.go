// Package content keeps what kiosks fetch: the objects of releases, named by their SHA-256, and the signed metadata that
// says which release is the newest.
package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/internal/durable"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Errors of Publish and Put.
var (
	ErrObject     = errors.New("it is not the object of that name")
	ErrIncomplete = errors.New("objects are missing")
)

// renewEvery is how often the signature that says what is newest is looked at.
const renewEvery = time.Hour

// Store is the folder of content. It is safe for concurrent use.
type Store struct {
	dir string
	now func() time.Time
	log *slog.Logger

	mu  sync.Mutex // over publishing
	hub *trust.Hub
}

// Open opens the folder, making it and the hub's signing key where there is none.
func Open(dir string, now func() time.Time, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o700); err != nil {
		return nil, fmt.Errorf("open content: %w", err)
	}
	hub, err := trust.OpenHub(dir)
	if err != nil {
		return nil, fmt.Errorf("open content: %w", err)
	}
	return &Store{dir: dir, now: now, log: log, hub: hub}, nil
}

// PublicKey is the key that the root metadata has to name, in PEM.
func (s *Store) PublicKey(w io.Writer) error { return trust.WritePublic(w, s.hub.Public()) }

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

func (s *Store) read(req wire.Fetch, c *wire.Chunk) error {
	path := s.hub.Path(req.Name)
	if wire.ValidObject(req.Name) {
		path = s.object(req.Name)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c.Size = info.Size()
	if req.Offset >= c.Size {
		c.Offset = min(req.Offset, c.Size)
		return nil
	}
	c.Data = make([]byte, min(int64(req.Length), c.Size-req.Offset))
	_, err = f.ReadAt(c.Data, req.Offset)
	return err
}

func (s *Store) object(sum string) string { return filepath.Join(s.dir, "objects", sum) }

// Has tells whether an object is here.
func (s *Store) Has(sum string) bool {
	_, err := os.Stat(s.object(sum))
	return wire.ValidObject(sum) && err == nil
}

// Put takes an object. Bytes that are not of that name are refused with ErrObject.
func (s *Store) Put(sum string, data []byte) error {
	if !wire.ValidObject(sum) || bundle.Sum(data) != sum {
		return ErrObject
	}
	if s.Has(sum) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Join(s.dir, "objects"), ".new-")
	if err != nil {
		return fmt.Errorf("keep object: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.object(sum))
	}
	if err != nil {
		return fmt.Errorf("keep object: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Publish makes a signed release the one that kiosks shall show. All its objects must be here. What an author signed
// is verified as a kiosk would.
func (s *Store) Publish(files map[string][]byte) (trust.Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.hub.Check(files, s.now())
	if err != nil {
		return trust.Target{}, err
	}
	data, err := os.ReadFile(s.object(t.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return trust.Target{}, fmt.Errorf("%w: the index", ErrIncomplete)
	}
	if err != nil {
		return trust.Target{}, fmt.Errorf("publish: %w", err)
	}
	x, err := bundle.Decode(data)
	if err != nil {
		return trust.Target{}, &trust.RefusedError{Name: "index", Code: "bad_index", Err: err}
	}
	if x.ReleaseID != t.ReleaseID || x.Number != t.Number {
		return trust.Target{}, &trust.RefusedError{Name: "index", Code: "bad_index", Err: fmt.Errorf("it is of %s, signed was %s", x.ReleaseID, t.ReleaseID)}
	}
	if err := s.complete(x); err != nil {
		return trust.Target{}, err
	}
	// The objects' bytes are on the disk since they came; that they are in the folder has to be, too, before anyone is
	// told of the release.
	if err := durable.SyncDir(filepath.Join(s.dir, "objects")); err != nil {
		return trust.Target{}, fmt.Errorf("publish: %w", err)
	}
	t, err = s.hub.Publish(files, s.now())
	if err != nil {
		return trust.Target{}, err
	}
	s.log.Info("release published", "release", t.ReleaseID)
	return t, nil
}

func (s *Store) complete(x bundle.Index) error {
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			info, err := os.Stat(s.object(c.SHA256))
			if err != nil || info.Size() != c.Size {
				return fmt.Errorf("%w: of %s", ErrIncomplete, f.Path)
			}
		}
	}
	return nil
}

// Desired is the release to show; false where nothing is published.
func (s *Store) Desired() (wire.Desired, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.hub.Current()
	if err != nil {
		if !errors.Is(err, trust.ErrNotFound) {
			s.log.Warn("published release not known", "err", err)
		}
		return wire.Desired{}, false
	}
	return wire.Desired{ReleaseID: t.ReleaseID, Number: t.Number}, true
}

// Run keeps the hub's signatures fresh until ctx ends.
func (s *Store) Run(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		s.mu.Lock()
		err := s.hub.Renew(s.now())
		s.mu.Unlock()
		if err != nil {
			s.log.Error("what is published could not be signed again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
