package ways_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"docent/localindex/release"
	"docent/sync/update"
	"docent/sync/update/export"
	"docent/sync/update/internal/house"
	"docent/sync/update/mirror"
	"docent/sync/update/stick"
	"docent/sync/update/trust"
	"docent/sync/update/ways"
	"docent/sync/wire"
)

// whims are ways that come and go, one of three at a time being there for sure, and give no more of a block than they
// like: so content is gone on with at any byte, over any way.
type whims struct {
	mu     sync.Mutex
	random *rand.Rand
	up     int // the way that is there
	bytes  int64
	left   int // objects' blocks until stop is called
	stop   context.CancelFunc
}

func (w *whims) decide() (up, length int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.random.IntN(4) == 0 {
		w.up = w.random.IntN(3)
	}
	return w.up, 1 + w.random.IntN(6000)
}

type whim struct {
	*whims
	source ways.Source
	bit    int
	last   bool // of the three: it always answers where the others do not
}

var errAway = errors.New("it is away")

func (w *whim) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	if !wire.ValidObject(req.Name) {
		return w.source.Fetch(ctx, req)
	}
	up, length := w.decide()
	if up != w.bit && !w.last {
		return wire.Chunk{}, errAway
	}
	req.Length = min(req.Length, length)
	c, err := w.source.Fetch(ctx, req)
	if err == nil && c.Error == "" {
		w.mu.Lock()
		w.bytes += int64(len(c.Data))
		if w.left--; w.left == 0 {
			w.stop() // the program ends, at once: what has come last may be lost
		}
		w.mu.Unlock()
	}
	return c, err
}

func (w *whim) Failed(error) {}
func (w *whim) Proved()      {}

// anything shows any release that is whole.
type anything struct{}

func (anything) Check(ctx context.Context, dir string) error {
	_, err := release.Verify(ctx, dir)
	return err
}
func (anything) Switch(context.Context, string) error { return nil }
func (anything) Healthy(context.Context) error        { return nil }
func (anything) Unattended() bool                     { return true }

// TestResumesAtAnyByteOverAllWays fetches a release while ways come and go at each block, blocks end anywhere, and the
// program ends again and again.
func TestResumesAtAnyByteOverAllWays(t *testing.T) {
	h := house.New(t)
	changed := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	x := h.Publish(house.Pack(t, 2, len(changed), changed...))
	dir := t.TempDir()
	set, err := export.Find(t.Context(), h, export.Options{Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.WriteFolder(t.Context(), h, filepath.Join(dir, "web")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "2.docent")
	if err := set.WriteFile(t.Context(), h, path, h.Now()); err != nil {
		t.Fatal(err)
	}
	file, err := stick.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "web"))))
	defer server.Close()
	web, err := mirror.New(mirror.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()

	w := &whims{random: rand.New(rand.NewPCG(3, 4))}
	over := ways.New(ways.Options{Sticks: &whim{w, file, 0, false}, Mirror: &whim{w, web, 1, false}, Hub: &whim{w, h, 2, true}})
	first := house.Pack(t, 1, 3)
	client, err := trust.NewClient(filepath.Join(dir, "metadata"), h.Root())
	if err != nil {
		t.Fatal(err)
	}
	starts := 0
	for done := false; !done; starts++ {
		if starts > 500 {
			t.Fatal("it never came")
		}
		store, err := update.OpenStore(filepath.Join(dir, "content"), first, h.Now)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		w.mu.Lock()
		w.left, w.stop = 3+w.random.IntN(15), cancel
		w.mu.Unlock()
		u, err := update.New(update.Options{
			Store: store, Trust: client, Source: over, Content: anything{}, MinFree: 1,
			Report: func(d wire.Deploy) {
				if d.Status == wire.DeploySuccess {
					done = true
					cancel()
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Run(ctx); err != nil {
			t.Fatal(err)
		}
	}
	store, err := update.OpenStore(filepath.Join(dir, "content"), first, h.Now)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := release.Verify(t.Context(), store.Shown()); err != nil || m.ID != x.ReleaseID {
		t.Errorf("shown is %s, %v", m.ID, err)
	}
	came := over.Came()
	t.Logf("%d starts, %d of %d bytes came twice; %v", starts, w.bytes-set.Bytes, set.Bytes, came)
	for _, name := range []string{ways.Stick, ways.Web, ways.TheHub} {
		if came[name] == 0 {
			t.Errorf("nothing came by %s", name)
		}
	}
	if twice := w.bytes - set.Bytes; twice > set.Bytes/20 {
		t.Errorf("%d of %d bytes came twice", twice, set.Bytes)
	}
	if _, err := os.Stat(filepath.Join(dir, "content", "incoming")); err != nil {
		t.Error(err)
	}
}

// TestMirrorOfWrongFiles: what a mirror lacks, has torn or has changed comes from the hub, and nothing else does.
func TestMirrorOfWrongFiles(t *testing.T) {
	h := house.New(t)
	changed := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	x := h.Publish(house.Pack(t, 2, len(changed), changed...))
	dir := t.TempDir()
	set, err := export.Find(t.Context(), h, export.Options{Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.WriteFolder(t.Context(), h, dir); err != nil {
		t.Fatal(err)
	}
	var size int64
	for i, c := range set.Objects[len(set.Objects)-3:] { // of the last pictures
		path := filepath.Join(dir, "objects", c.SHA256)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0:
			err = os.Remove(path)
		case 1:
			err = os.WriteFile(path, data[:len(data)/2], 0o644)
		case 2:
			data[len(data)-1] ^= 1
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		size += c.Size
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	web, err := mirror.New(mirror.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	_, before := h.Sent()
	sent, _ := h.Sent()
	over := ways.New(ways.Options{Mirror: web, Hub: h})
	kiosk := t.TempDir()
	client, err := trust.NewClient(filepath.Join(kiosk, "metadata"), h.Root())
	if err != nil {
		t.Fatal(err)
	}
	store, err := update.OpenStore(filepath.Join(kiosk, "content"), house.Pack(t, 1, 3), h.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last wire.Deploy
	u, err := update.New(update.Options{
		Store: store, Trust: client, Source: over, Content: anything{}, MinFree: 1,
		Report: func(d wire.Deploy) {
			if last = d; d.Status == wire.DeploySuccess || d.Status == wire.DeployRejected || d.Status == wire.DeployFailure {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if m, err := release.Verify(t.Context(), store.Shown()); err != nil || m.ID != x.ReleaseID {
		t.Fatalf("shown is %s, %v; %+v", m.ID, err, last)
	}
	after, metadata := h.Sent()
	if got := int64(after - sent); got != size {
		t.Errorf("the hub sent %d bytes of objects, %d were wrong at the mirror; %v", got, size, over.Came())
	}
	if metadata == before {
		t.Error("the hub was not asked for metadata")
	}
	if _, why := web.Trouble(); why != nil {
		t.Errorf("two wrong files and a missing one shut the mirror out: %v", why)
	}
}
