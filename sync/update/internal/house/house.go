// Package house is, for tests of what brings content to kiosks: an author, a hub and what the hub serves.
package house

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"docent/localindex/release/releasetest"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Epoch is the time it is at first.
var Epoch = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// Pack makes a release with n pictures of about 20 kB, those named in change with other bytes, and returns its folder.
func Pack(t testing.TB, number, n int, change ...int) string {
	t.Helper()
	return releasetest.Pack(t, number, Epoch, releasetest.Pictures(number, n, 2000, change...))
}

// House has its keys and all that it published in one folder. It answers as a hub does.
type House struct {
	t      testing.TB
	author *trust.Author
	hub    *trust.Hub
	dir    string

	mu   sync.Mutex
	now  time.Time
	fail error
	sent map[string]int // bytes of each file
}

// New founds a house.
func New(t testing.TB) *House {
	t.Helper()
	h := &House{t: t, now: Epoch, dir: t.TempDir(), sent: map[string]int{}}
	var err error
	if h.hub, err = trust.OpenHub(filepath.Join(h.dir, "hub")); err != nil {
		t.Fatal(err)
	}
	if h.author, err = trust.OpenAuthor(filepath.Join(h.dir, "keys"), h.hub.Public(), h.Now); err != nil {
		t.Fatal(err)
	}
	return h
}

// Now is the house's clock.
func (h *House) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Pass lets time pass.
func (h *House) Pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// Publish signs a release and puts it up.
func (h *House) Publish(dir string) bundle.Index {
	h.t.Helper()
	x, data, err := bundle.Write(h.t.Context(), dir, h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	files, err := h.author.Sign(data, x.ReleaseID, x.Number)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.hub.Publish(files, h.Now()); err != nil {
		h.t.Fatal(err)
	}
	return x
}

// Root is what its kiosks are given to trust.
func (h *House) Root() []byte {
	h.t.Helper()
	data, err := h.author.Root()
	if err != nil {
		h.t.Fatal(err)
	}
	return data
}

// Damage changes a byte of an object.
func (h *House) Damage(t testing.TB, sum string) {
	t.Helper()
	path := filepath.Join(h.dir, "objects", sum)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Fail makes all answers this error, nil none.
func (h *House) Fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail = err
}

// Sent is how many bytes of objects it has sent, and of metadata.
func (h *House) Sent() (objects, metadata int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, n := range h.sent {
		if wire.ValidObject(name) {
			objects += n
		} else {
			metadata += n
		}
	}
	return objects, metadata
}

// Fetch answers as the hub does.
func (h *House) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := errors.Join(ctx.Err(), h.fail, req.Validate()); err != nil {
		return wire.Chunk{}, err
	}
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset}
	path := h.hub.Path(req.Name)
	if wire.ValidObject(req.Name) {
		path = filepath.Join(h.dir, "objects", req.Name)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		c.Error = wire.FetchNotFound
		return c, nil
	}
	if err != nil {
		return c, err
	}
	c.Size = int64(len(data))
	c.Offset = min(req.Offset, c.Size)
	c.Data = data[c.Offset:min(c.Size, c.Offset+int64(req.Length))]
	h.sent[req.Name] += len(c.Data)
	return c, nil
}
