package update

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/localindex/gallery"
	"docent/localindex/release"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

var epoch = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// pack makes a release with n pictures of 20 kB, those named in change with other bytes, and from 40 on a large file.
func pack(t testing.TB, number, n int, change ...int) string {
	t.Helper()
	from := t.TempDir()
	if err := os.MkdirAll(filepath.Join(from, "pictures"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := &gallery.Gallery{ID: "test", Name: gallery.Localized{"en": "Test"}, Languages: []string{"en"}}
	for i := range n {
		text := fmt.Sprintf("picture %d ", i)
		if slices.Contains(change, i) {
			text = fmt.Sprintf("changed %d in %d ", i, number)
		}
		file := fmt.Sprintf("pictures/%d.png", i)
		if err := os.WriteFile(filepath.Join(from, file), bytes.Repeat([]byte(text), 2000), 0o644); err != nil {
			t.Fatal(err)
		}
		g.Exhibits = append(g.Exhibits, gallery.Exhibit{ID: fmt.Sprint("e", i), Pictures: []gallery.Picture{{File: file}}})
	}
	var parts []release.Part
	if n >= 40 {
		parts = append(parts, large{})
	}
	dst := filepath.Join(t.TempDir(), "r")
	_, err := release.Pack(t.Context(), dst, release.Content{Gallery: g, PicturesFrom: from, Number: number, Created: epoch, Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

// large is a file of more than one chunk.
type large struct{}

func (large) Name() string { return "large" }
func (large) Build(_ context.Context, _ *gallery.Gallery, _, dir string) (any, error) {
	data := make([]byte, bundle.MaxWhole+bundle.ChunkSize/2)
	for i := range data {
		data[i] = byte(i >> 12)
	}
	return nil, os.WriteFile(filepath.Join(dir, "large.bin"), data, 0o644)
}

// house is an author, a hub and what the hub serves.
type house struct {
	t       testing.TB
	author  *trust.Author
	hub     *trust.Hub
	objects string
	now     time.Time

	mu     sync.Mutex
	asked  map[string]int // bytes sent of each object
	mangle func(req wire.Fetch, c *wire.Chunk)
	fail   func(req wire.Fetch) error
}

func newHouse(t testing.TB, dir string) *house {
	t.Helper()
	h := &house{t: t, now: epoch, objects: filepath.Join(dir, "objects"), asked: map[string]int{}}
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
	if wire.ValidObject(req.Name) {
		path = filepath.Join(h.objects, req.Name)
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
}

func (s *stage) Check(ctx context.Context, dir string) error {
	if _, err := release.Verify(ctx, dir); err != nil {
		return err
	}
	if s.dislike != nil {
		return s.dislike(dir, false)
	}
	return nil
}

func (s *stage) Switch(_ context.Context, dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.switches = dir, s.switches+1
	return nil
}

func (s *stage) Healthy(context.Context) error {
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
		Free: func(string) (uint64, error) { return k.free, nil },
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

func TestUpdates(t *testing.T) {
	h := newHouse(t, t.TempDir())
	first := pack(t, 1, 50)
	k := newKiosk(t, first, h.root())
	if err := k.follow(h); err != nil { // nothing is published
		t.Fatal(err)
	}
	second := h.publish(pack(t, 2, 50, 7))
	h.sent()
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if k.shows() != second.ReleaseID {
		t.Errorf("shows %s, want %s", k.shows(), second.ReleaseID)
	}
	if want := "pending downloading downloaded verifying pause_before_installing installing pause_before_committing success"; k.statuses() != want {
		t.Errorf("reported %s", k.statuses())
	}
	if l := k.last(); l.Shown != second.ReleaseID || l.Resumed || l.RolledBack || l.Done != l.Of || l.Of == 0 {
		t.Errorf("last report %+v", l)
	}
	// The index, the manifest and the picture.
	if n, bytes := h.sent(); n != 3 || bytes > 100_000 {
		t.Errorf("one picture changed: %d objects, %d bytes came", n, bytes)
	}
	third := h.publish(pack(t, 3, 50, 7, 8))
	fourth := h.publish(pack(t, 4, 50, 9))
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if k.shows() != fourth.ReleaseID || third.ReleaseID == fourth.ReleaseID {
		t.Errorf("shows %s", k.shows())
	}
	entries, err := os.ReadDir(filepath.Join(k.dir, "releases"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%d releases kept, want the one shown and the one before: %v", len(entries), err)
	}
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if n, _ := h.sent(); k.stage.switches != 2 || n == 0 {
		t.Errorf("%d switches", k.stage.switches)
	}
}

func TestWaitsUntilNobodyIsThere(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	x := h.publish(pack(t, 2, 3, 1))
	k.stage.busy = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k.stage.asked = cancel // the program ends while it waits
	u := k.start(h)
	if err := u.once(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("while a visitor was there: %v", err)
	}
	if s := k.last().Status; s != wire.DeployPauseBeforeInstall {
		t.Errorf("waits in state %s", s)
	}
	if k.shows() == x.ReleaseID || k.stage.switches > 0 {
		t.Error("switched while a visitor was there")
	}
	k.stage.busy = false
	// The hub is away: what is whole is shown all the same.
	h.fail = func(wire.Fetch) error { return errors.New("no hub") }
	u = k.start(h)
	if err := u.resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k.shows() != x.ReleaseID || !k.last().Resumed {
		t.Errorf("shows %s, %+v", k.shows(), k.last())
	}
}

func TestBadReleasesAreTakenBack(t *testing.T) {
	bad := errors.New("a search found nothing")
	for _, tt := range []struct {
		name    string
		dislike func(id string) func(dir string, shown bool) error
		status  wire.DeployStatus
		back    bool
	}{
		{"before it is shown", func(id string) func(string, bool) error {
			return func(dir string, _ bool) error {
				if filepath.Base(dir) == id {
					return bad
				}
				return nil
			}
		}, wire.DeployRejected, false},
		{"after it is shown", func(id string) func(string, bool) error {
			return func(dir string, shown bool) error {
				if shown && filepath.Base(dir) == id {
					return bad
				}
				return nil
			}
		}, wire.DeployFailure, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, t.TempDir())
			k := newKiosk(t, pack(t, 1, 3), h.root())
			before := k.shows()
			x := h.publish(pack(t, 2, 3, 1))
			k.stage.dislike = tt.dislike(x.ReleaseID)
			if err := k.follow(h); !errors.Is(err, bad) {
				t.Errorf("error is %v", err)
			}
			if l := k.last(); l.Status != tt.status || l.Code != "health" || l.RolledBack != tt.back || l.Shown != before {
				t.Errorf("last report %+v", l)
			}
			if k.shows() != before || tt.back && k.stage.shown != k.factory {
				t.Errorf("shows %s, stage %s", k.shows(), k.stage.shown)
			}
			n := len(k.reports)
			if err := k.follow(h); err != nil { // it is not tried again
				t.Error(err)
			}
			if len(k.reports) != n {
				t.Errorf("tried again: %+v", k.reports[n:])
			}
			next := h.publish(pack(t, 3, 3, 2))
			if err := k.follow(h); err != nil || k.shows() != next.ReleaseID {
				t.Errorf("the next release: %v, shows %s", err, k.shows())
			}
		})
	}
}

// TestWrongBytesAreRefused serves objects that are not what was signed.
func TestWrongBytesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		mangle func(req wire.Fetch, c *wire.Chunk)
		code   string
	}{
		{"a changed byte", func(_ wire.Fetch, c *wire.Chunk) {
			if len(c.Data) > 0 {
				c.Data[len(c.Data)/2] ^= 1
			}
		}, "wrong_hash"},
		{"too long", func(_ wire.Fetch, c *wire.Chunk) { c.Size++; c.Data = append(c.Data, 'x') }, "wrong_size"},
		{"too short", func(_ wire.Fetch, c *wire.Chunk) { c.Size-- }, "wrong_size"},
		{"torn", func(_ wire.Fetch, c *wire.Chunk) { c.Data = nil }, "wrong_block"},
		{"not there", func(_ wire.Fetch, c *wire.Chunk) { *c = wire.Chunk{Error: wire.FetchNotFound} }, "missing_object"},
		{"of another place", func(_ wire.Fetch, c *wire.Chunk) { c.Offset += 5 }, "wrong_block"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, t.TempDir())
			k := newKiosk(t, pack(t, 1, 3), h.root())
			before := k.shows()
			x := h.publish(pack(t, 2, 3, 1))
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if wire.ValidObject(req.Name) {
					tt.mangle(req, c)
				}
			}
			if err := k.follow(h); err == nil {
				t.Error("no error")
			}
			if l := k.last(); l.Status != wire.DeployRejected || l.Code != tt.code || k.shows() != before || k.stage.switches > 0 {
				t.Errorf("last report %+v, shows %s", l, k.shows())
			}
			h.mangle = nil // the hub is mended
			if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
				t.Errorf("mended: %v, shows %s", err, k.shows())
			}
		})
	}
}

// TestSignedNonsenseIsRefused signs what is no index, one of another release, and one of a release whose files are not
// those of its manifest.
func TestSignedNonsenseIsRefused(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	before := k.shows()
	dir := pack(t, 9, 3, 1)
	whole, _, err := bundle.Write(t.Context(), dir, filepath.Dir(h.objects))
	if err != nil {
		t.Fatal(err)
	}
	mixed := whole
	mixed.Files = slices.Clone(whole.Files)
	mixed.Files[len(mixed.Files)-1].Chunks, mixed.Files[len(mixed.Files)-1].Size = mixed.Files[0].Chunks, mixed.Files[0].Size
	for i, tt := range []struct {
		name string
		data func() []byte
		id   string
		code string
	}{
		{"no index", func() []byte { return []byte("{}") }, "2-abc", "bad_index"},
		{"other release", func() []byte { return encode(t, whole) }, "3-abc", "bad_index"},
		{"mixed files", func() []byte { mixed.Number = 4; return encode(t, mixed) }, whole.ReleaseID, "not_the_release"},
	} {
		data := tt.data()
		if err := os.WriteFile(filepath.Join(h.objects, bundle.Sum(data)), data, 0o644); err != nil {
			t.Fatal(err)
		}
		h.publishIndex(data, tt.id, i+2)
		if err := k.follow(h); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
		if l := k.last(); l.Status != wire.DeployRejected || l.Code != tt.code || k.shows() != before {
			t.Errorf("%s: last report %+v, shows %s", tt.name, l, k.shows())
		}
	}
}

func encode(t testing.TB, x bundle.Index) []byte {
	t.Helper()
	data, err := x.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestMetadataIsRefused plays each trick with metadata that is or was well signed.
func TestMetadataIsRefused(t *testing.T) {
	type trick func(t *testing.T, h *house, old map[string][]byte)
	restore := func(names ...string) trick {
		return func(t *testing.T, h *house, old map[string][]byte) {
			for _, n := range names {
				if err := os.WriteFile(h.hub.Path(n), old[n], 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, tt := range []struct {
		name  string
		trick trick
		code  string
	}{
		{"older timestamp", restore("timestamp.json"), "stale"},
		{"expired", func(_ *testing.T, h *house, _ map[string][]byte) { h.now = h.now.AddDate(10, 0, 0) }, "expired"},
		{"timestamp too long", func(_ *testing.T, h *house, _ map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if req.Name == "timestamp.json" {
					c.Size = trust.MaxTimestamp + 1
				}
			}
		}, "too_long"},
		{"changed byte", func(_ *testing.T, h *house, _ map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if req.Name == "timestamp.json" {
					c.Data = bytes.Replace(c.Data, []byte(`"spec_version":"1.0.31"`), []byte(`"spec_version":"1.0.32"`), 1)
				}
			}
		}, "signature"},
		{"snapshot of another time", func(_ *testing.T, h *house, old map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if strings.HasSuffix(req.Name, "snapshot.json") {
					c.Data = bytes.Clone(old["snapshot"])
					c.Size = int64(len(c.Data))
				}
			}
		}, "mismatch"},
		{"targets changed", func(_ *testing.T, h *house, _ map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if strings.HasSuffix(req.Name, "targets.json") {
					c.Data[len(c.Data)/2] ^= 1
				}
			}
		}, "mismatch"},
		{"signed by another house", func(t *testing.T, h *house, _ map[string][]byte) {
			other := newHouse(t, t.TempDir())
			for range 6 {
				other.publish(pack(t, 9, 1))
			}
			data, err := os.ReadFile(other.hub.Path("timestamp.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(h.hub.Path("timestamp.json"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
		{"root of another house", func(t *testing.T, h *house, _ map[string][]byte) {
			other := newHouse(t, t.TempDir())
			if err := other.author.Rotate(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(h.hub.Path("2.root.json"), other.root(), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, t.TempDir())
			k := newKiosk(t, pack(t, 1, 3), h.root())
			h.publish(pack(t, 2, 3, 0))
			old := map[string][]byte{}
			second := h.publish(pack(t, 3, 3, 1))
			if err := k.follow(h); err != nil {
				t.Fatal(err)
			}
			for key, n := range map[string]string{"timestamp.json": "timestamp.json", "snapshot": fmt.Sprintf("%d.snapshot.json", epoch.Unix()+1)} {
				data, err := os.ReadFile(h.hub.Path(n))
				if err != nil {
					t.Fatal(err)
				}
				old[key] = data
			}
			h.publish(pack(t, 4, 3, 2))
			if tt.code == "stale" { // the kiosk knows the newer timestamp and has not installed it
				k.free = 0
				if err := k.follow(h); err == nil || k.last().Code != "disk_full" {
					t.Fatalf("%v, %+v", err, k.last())
				}
				k.free = 1 << 40
			}
			tt.trick(t, h, old)
			if err := k.follow(h); trust.Code(err) != tt.code {
				t.Errorf("error is %v", err)
			}
			if l := k.last(); l.Status != wire.DeployRejected || l.Code != tt.code || l.Shown != second.ReleaseID || k.shows() != second.ReleaseID {
				t.Errorf("last report %+v", l)
			}
		})
	}
}

// TestOlderReleaseIsRefused signs, well and newly, a release with a lower number.
func TestOlderReleaseIsRefused(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 5, 3), h.root())
	before := k.shows()
	h.publish(pack(t, 4, 3, 1))
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if l := k.last(); l.Status != wire.DeployRejected || l.Code != "older" || k.shows() != before {
		t.Errorf("%+v", l)
	}
}

// TestClockThatIsWrong sets the kiosk's clock back and forth by ten years: nothing new is taken with a clock that says
// it is expired, what is shown stays, and a clock in the past does not stop updates.
func TestClockThatIsWrong(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	before := k.shows()
	x := h.publish(pack(t, 2, 3, 1))
	h.now = epoch.AddDate(10, 0, 0)
	if err := k.follow(h); trust.Code(err) != "expired" || k.shows() != before {
		t.Errorf("ten years on: %v, shows %s", err, k.shows())
	}
	h.now = epoch.AddDate(-10, 0, 0)
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Errorf("ten years back: %v, shows %s", err, k.shows())
	}
}

// TestHubThatIsAnOlderCopy puts the hub back to a copy of days ago: what it says is refused until the release is published
// again.
func TestHubThatIsAnOlderCopy(t *testing.T) {
	dir := t.TempDir()
	h := newHouse(t, dir)
	k := newKiosk(t, pack(t, 1, 3), h.root())
	h.publish(pack(t, 2, 3, 0))
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(h.hub.Path(""))); err != nil {
		t.Fatal(err)
	}
	for day := range 4 {
		h.now = epoch.AddDate(0, 0, day+1)
		if err := h.hub.Renew(h.now); err != nil {
			t.Fatal(err)
		}
	}
	third := pack(t, 3, 3, 1)
	x := h.publish(third)
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Fatalf("%v, shows %s", err, k.shows())
	}
	if err := os.RemoveAll(h.hub.Path("")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(h.hub.Path(""), os.DirFS(copied)); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Hour)
	if err := k.follow(h); trust.Code(err) != "stale" || k.shows() != x.ReleaseID {
		t.Errorf("put back: %v, shows %s", err, k.shows())
	}
	h.publish(third)
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Errorf("published again: %v, shows %s", err, k.shows())
	}
	fourth := h.publish(pack(t, 4, 3, 2))
	if err := k.follow(h); err != nil || k.shows() != fourth.ReleaseID {
		t.Errorf("a new release: %v, shows %s", err, k.shows())
	}
}

// TestKeysRotateWhileAKioskIsAway changes all offline keys twice.
func TestKeysRotateWhileAKioskIsAway(t *testing.T) {
	dir := t.TempDir()
	h := newHouse(t, dir)
	k := newKiosk(t, pack(t, 1, 3), h.root())
	for range 2 {
		if err := h.author.Rotate(); err != nil {
			t.Fatal(err)
		}
		h.reopen(dir, nil)
	}
	x := h.publish(pack(t, 2, 3, 1))
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Errorf("%v, shows %s", err, k.shows())
	}
}

// TestCutsCostLittle cuts the line after every tenth block and starts the kiosk anew at some: what came is kept.
func TestCutsCostLittle(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	dir := pack(t, 2, 40, 1)
	x := h.publish(dir)
	n := 0
	h.fail = func(wire.Fetch) error {
		if n++; n%10 == 0 {
			return errors.New("cut")
		}
		return nil
	}
	var size, starts int
	for _, c := range unique(x) {
		size += int(c.Size)
	}
	for starts = 1; k.shows() != x.ReleaseID && starts < 200; starts++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+10*starts)*time.Millisecond)
		err := k.start(h).once(ctx)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if _, total := h.sent(); k.shows() != x.ReleaseID || float64(total) > 1.05*float64(size)+float64(starts*len(encode(t, x))) {
		t.Errorf("%d starts, shows %s, %d bytes came of %d", starts, k.shows(), total, size)
	}
}

func unique(x bundle.Index) map[string]bundle.Chunk {
	out := map[string]bundle.Chunk{}
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			out[c.SHA256] = c
		}
	}
	return out
}

// TestDamagedContentIsFetchedAgain flips a bit in an installed picture that the next release has too, and in one of
// the release that is shown.
func TestDamagedContentIsFetchedAgain(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	second := h.publish(pack(t, 2, 6, 1))
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	u := k.start(h)
	third := h.publish(pack(t, 3, 6, 1, 2))
	picture := filepath.Join(k.dir, "releases", second.ReleaseID, "pictures", "5.png")
	damage(t, picture)
	if err := u.once(t.Context()); err != nil || k.shows() != third.ReleaseID {
		t.Fatalf("%v, shows %s", err, k.shows())
	}
	damage(t, filepath.Join(k.dir, "releases", third.ReleaseID, "pictures", "2.png"))
	if err := os.RemoveAll(filepath.Join(k.dir, "releases", second.ReleaseID)); err != nil {
		t.Fatal(err)
	}
	if err := k.follow(h); err != nil || k.shows() != third.ReleaseID {
		t.Errorf("after damage of what was shown: %v, shows %s, %s", err, k.shows(), k.statuses())
	}
}

func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/3] ^= 4
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
