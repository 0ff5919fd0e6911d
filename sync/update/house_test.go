package update

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/localindex/gallery"
	"docent/localindex/release"
	"docent/localindex/release/releasetest"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

var epoch = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// pack makes a release with n pictures of 20 kB, those named in change with other bytes, and from 40 on a large file.
func pack(t testing.TB, number, n int, change ...int) string {
	t.Helper()
	var parts []release.Part
	if n >= 40 {
		parts = append(parts, large{})
	}
	return releasetest.Pack(t, number, epoch, releasetest.Pictures(number, n, 2000, change...), parts...)
}

// large is a file of more than one chunk.
type large struct{}

func (large) Name() string { return "large" }
func (large) Build(_ context.Context, _ *gallery.Gallery, _, dir string) (any, error) {
	data := make([]byte, 5<<20)
	for i := range data {
		data[i] = byte(i >> 9 * i >> 3)
	}
	return nil, os.WriteFile(filepath.Join(dir, "large.bin"), data, 0o644)
}

// house is an author, a hub and what the hub serves.
type house struct {
	t       testing.TB
	author  *trust.Author
	hub     *trust.Hub
	objects string
	wish    string // file with what kiosks are told to show; none: they are told nothing
	now     time.Time

	mu     sync.Mutex
	asked  map[string]int // bytes sent of each object
	mangle func(req wire.Fetch, c *wire.Chunk)
	fail   func(req wire.Fetch) error
}

func newHouse(t testing.TB, dir string) *house {
	t.Helper()
	h := &house{t: t, now: epoch, objects: filepath.Join(dir, "objects"), wish: filepath.Join(dir, "desired.json"), asked: map[string]int{}}
	var err error
	if h.hub, err = trust.OpenHub(filepath.Join(dir, "hub")); err != nil {
		t.Fatal(err)
	}
	h.reopen(dir, h.hub.Public())
	return h
}

func (h *house) reopen(dir string, key ed25519.PublicKey) {
	h.t.Helper()
	var err error
	if h.author, err = trust.OpenAuthor(filepath.Join(dir, "keys"), key, h.clock); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) clock() time.Time { return h.now }

// publish signs a release and puts it up.
func (h *house) publish(dir string) bundle.Index {
	h.t.Helper()
	x, data, err := bundle.Write(h.t.Context(), dir, filepath.Dir(h.objects))
	if err != nil {
		h.t.Fatal(err)
	}
	h.publishIndex(data, x.ReleaseID, x.Number)
	return x
}

func (h *house) publishIndex(data []byte, id string, number int) {
	h.t.Helper()
	files, err := h.author.Sign(data, id, number)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.hub.Publish(files, h.now); err != nil {
		h.t.Fatal(err)
	}
}

// want tells kiosks what to show.
func (h *house) want(d wire.Desired) {
	h.t.Helper()
	data, err := d.Encode()
	if err == nil {
		err = os.WriteFile(h.wish+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(h.wish+".new", h.wish)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) root() []byte {
	h.t.Helper()
	data, err := h.author.Root()
	if err != nil {
		h.t.Fatal(err)
	}
	return data
}

// Fetch answers as the hub does.
func (h *house) Fetch(_ context.Context, req wire.Fetch) (wire.Chunk, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil {
		if err := h.fail(req); err != nil {
			return wire.Chunk{}, err
		}
	}
	path := h.hub.Path(req.Name)
	switch {
	case wire.ValidObject(req.Name):
		path = filepath.Join(h.objects, req.Name)
	case req.Name == wire.DesiredName:
		path = h.wish
	}
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset}
	data, err := os.ReadFile(path)
	if err != nil {
		c.Error = wire.FetchNotFound
		return c, nil
	}
	c.Size = int64(len(data))
	from := min(req.Offset, c.Size)
	c.Data = bytes.Clone(data[from:min(from+int64(req.Length), c.Size)])
	h.asked[req.Name] += len(c.Data)
	if h.mangle != nil {
		h.mangle(req, &c)
	}
	return c, nil
}

// sent is how many bytes of objects were sent since the last call.
func (h *house) sent() (objects, total int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, n := range h.asked {
		if wire.ValidObject(name) {
			objects++
			total += n
		}
	}
	clear(h.asked)
	return objects, total
}

// stage is a kiosk's content: it opens what it is given and can be told to dislike it.
type stage struct {
	mu       sync.Mutex
	shown    string
	switches int
	dislike  func(dir string, shown bool) error
	busy     bool
	asked    func() // called when it is asked whether somebody is there
	at       func(ctx context.Context, state wire.DeployStatus) error
}

func (s *stage) come(ctx context.Context, state wire.DeployStatus) error {
	if s.at == nil {
		return nil
	}
	return s.at(ctx, state)
}

func (s *stage) Check(ctx context.Context, dir string) error {
	if err := s.come(ctx, wire.DeployVerifying); err != nil {
		return err
	}
	if _, err := release.Verify(ctx, dir); err != nil {
		return err
	}
	if s.dislike != nil {
		return s.dislike(dir, false)
	}
	return nil
}

func (s *stage) Switch(ctx context.Context, dir string) error {
	if err := s.come(ctx, wire.DeployInstalling); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.switches = dir, s.switches+1
	return nil
}

func (s *stage) Healthy(ctx context.Context) error {
	if err := s.come(ctx, wire.DeployPauseBeforeCommit); err != nil {
		return err
	}
	if s.dislike != nil {
		return s.dislike(s.shown, true)
	}
	return nil
}

func (s *stage) Unattended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != nil {
		s.asked()
	}
	return !s.busy
}

// kiosk is a folder of content that follows a house.
type kiosk struct {
	t       testing.TB
	dir     string
	factory string
	root    []byte
	stage   *stage
	reports []wire.Deploy
	free    uint64
	grace   time.Duration // 0 means that the hub answers
}

func newKiosk(t testing.TB, factory string, root []byte) *kiosk {
	return &kiosk{t: t, dir: t.TempDir(), factory: factory, root: root, stage: &stage{}, free: 1 << 40}
}

// start opens the store as a program's start does and returns its updater.
func (k *kiosk) start(h *house) *Updater {
	k.t.Helper()
	s, err := OpenStore(k.dir, k.factory, h.clock)
	if err != nil {
		k.t.Fatal(err)
	}
	err = s.Start(func(dir string) error {
		_, err := release.Verify(k.t.Context(), dir)
		k.stage.shown = dir
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	c, err := trust.NewClient(filepath.Join(k.dir, "metadata"), k.root)
	if err != nil {
		k.t.Fatal(err)
	}
	u, err := New(Options{
		Store: s, Trust: c, Source: h, Content: k.stage, Report: func(d wire.Deploy) { k.reports = append(k.reports, d) },
		Free:  func(string) (uint64, error) { return k.free, nil },
		Grace: k.grace,
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return u
}

// follow starts the kiosk and lets it look at the hub once.
func (k *kiosk) follow(h *house) error {
	k.t.Helper()
	u := k.start(h)
	return errors.Join(u.resume(k.t.Context()), u.once(k.t.Context()))
}

// shows is the id of the release on show, which must be whole.
func (k *kiosk) shows() string {
	k.t.Helper()
	s, err := OpenStore(k.dir, k.factory, time.Now)
	if err != nil {
		k.t.Fatal(err)
	}
	m, err := release.Verify(context.Background(), s.Shown())
	if err != nil {
		k.t.Fatalf("what is shown is not whole: %v", err)
	}
	return m.ID
}

func (k *kiosk) last() wire.Deploy { return k.reports[len(k.reports)-1] }

func (k *kiosk) statuses() string {
	var out []string
	for _, r := range k.reports {
		out = append(out, string(r.Status))
	}
	return strings.Join(slices.Compact(out), " ")
}
