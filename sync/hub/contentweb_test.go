package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/localindex/release"
	"docent/localindex/release/releasetest"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/update"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// packRelease makes a release with pictures of 100 kB, one of which differs by number.
func packRelease(t *testing.T, number int) string {
	t.Helper()
	return releasetest.Pack(t, number, time.Now(), releasetest.Pictures(number, 30, 10_000, 7))
}

// signed is a release as an author hands it over.
type signed struct {
	index   bundle.Index
	files   map[string][]byte
	objects string
}

func sign(t *testing.T, a *trust.Author, dir string) signed {
	t.Helper()
	out := t.TempDir()
	x, data, err := bundle.Write(t.Context(), dir, out)
	if err != nil {
		t.Fatal(err)
	}
	files, err := a.Sign(data, x.ReleaseID, x.Number)
	if err != nil {
		t.Fatal(err)
	}
	return signed{x, files, filepath.Join(out, "objects")}
}

// send sends a request with a body and returns the status and the answer.
func send(t *testing.T, h running, method, path string, body []byte, program bool) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+h.HTTPAddr()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if program {
		req.Header.Set(publishHeader, "1")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// upload sends all objects of a release but skip of them.
func (s signed) upload(t *testing.T, h running, skip int) {
	t.Helper()
	entries, err := os.ReadDir(s.objects)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries[skip:] {
		data, err := os.ReadFile(filepath.Join(s.objects, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if code, body := send(t, h, http.MethodPut, "/api/v1/content/objects/"+e.Name(), data, true); code != http.StatusNoContent {
			t.Fatalf("object: %d %s", code, body)
		}
	}
}

func (s signed) publish(t *testing.T, h running) (int, string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"files": s.files})
	if err != nil {
		t.Fatal(err)
	}
	return send(t, h, http.MethodPost, "/api/v1/content/release", body, true)
}

// author makes keys whose root names the hub.
func author(t *testing.T, h running) *trust.Author {
	t.Helper()
	_, _, pem := get(t, h, "/api/v1/content/key")
	key, err := trust.ReadPublic([]byte(pem))
	if err != nil {
		t.Fatal(err)
	}
	a, err := trust.OpenAuthor(filepath.Join(t.TempDir(), "keys"), key, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPublishRefuses(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	a := author(t, h)
	s := sign(t, a, packRelease(t, 2))
	object := bundle.Sum([]byte("x"))
	for _, tt := range []struct {
		name, method, path, body string
		program                  bool
		want                     int
	}{
		{"from a page of another site", http.MethodPost, "/api/v1/content/release", "{}", false, http.StatusForbidden},
		{"object from such a page", http.MethodPut, "/api/v1/content/objects/" + object, "x", false, http.StatusForbidden},
		{"object of another name", http.MethodPut, "/api/v1/content/objects/" + object, "y", true, http.StatusBadRequest},
		{"object that is a path", http.MethodPut, "/api/v1/content/objects/..%2Fhub.key", "y", true, http.StatusBadRequest},
		{"no JSON", http.MethodPost, "/api/v1/content/release", "hello", true, http.StatusBadRequest},
		{"a timestamp", http.MethodPost, "/api/v1/content/release", `{"files":{"timestamp.json":""}}`, true, http.StatusBadRequest},
		{"a path", http.MethodPost, "/api/v1/content/release", `{"files":{"../hub.key":""}}`, true, http.StatusBadRequest},
		{"nothing", http.MethodPost, "/api/v1/content/release", `{"files":{}}`, true, http.StatusConflict},
		{"good names, no metadata", http.MethodPost, "/api/v1/content/release", `{"files":{"1.root.json":"e30=","1.targets.json":"e30="}}`, true, http.StatusConflict},
	} {
		if code, body := send(t, h, tt.method, tt.path, []byte(tt.body), tt.program); code != tt.want {
			t.Errorf("%s: %d %s", tt.name, code, body)
		}
	}
	s.upload(t, h, 1)
	if code, body := s.publish(t, h); code != http.StatusConflict {
		t.Errorf("an object is missing: %d %s", code, body)
	}
	s.upload(t, h, 0)
	if code, body := s.publish(t, h); code != http.StatusOK {
		t.Errorf("complete: %d %s", code, body)
	}
	if code, body := s.publish(t, h); code != http.StatusOK || !strings.Contains(body, `"again":true`) || strings.Contains(body, `"rollout"`) {
		t.Errorf("the same again: %d %s", code, body)
	}
}

// stage is a kiosk's content that takes whatever is whole.
type stage struct{}

func (stage) Check(ctx context.Context, dir string) error {
	_, err := release.Verify(ctx, dir)
	return err
}
func (stage) Switch(context.Context, string) error { return nil }
func (stage) Healthy(context.Context) error        { return nil }
func (stage) Unattended() bool                     { return true }

// TestContentOverTheLine publishes releases to a hub that a kiosk follows,
// and finds that only what changed has travelled.
func TestContentOverTheLine(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	a := author(t, h)
	root, err := a.Root()
	if err != nil {
		t.Fatal(err)
	}
	kioskDir := t.TempDir()
	box, err := outbox.Open(filepath.Join(kioskDir, "outbox"), outbox.Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := update.OpenStore(filepath.Join(kioskDir, "content"), packRelease(t, 1), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	client, err := trust.NewClient(filepath.Join(kioskDir, "metadata"), root)
	if err != nil {
		t.Fatal(err)
	}
	var u *update.Updater
	l, err := link.New(link.Options{
		Broker: "tcp://" + h.MQTTAddr(), Site: site, Kiosk: "kiosk-1", Outbox: box,
		Desired: func(wire.Desired) { u.Desired() }, Random: func() float64 { return 0.02 },
	})
	if err != nil {
		t.Fatal(err)
	}
	counted := &counter{source: l}
	if u, err = update.New(update.Options{Store: s, Trust: client, Source: counted, Content: stage{}, Report: l.Report, MinFree: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, run := range []func(context.Context) error{l.Run, u.Run} {
		wg.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	defer func() {
		cancel()
		wg.Wait()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, number := range []int{2, 3} {
		r := sign(t, a, packRelease(t, number))
		r.upload(t, h, 0)
		if code, body := r.publish(t, h); code != http.StatusOK {
			t.Fatalf("publish: %d %s", code, body)
		}
		deadline := time.Now().Add(time.Minute)
		for {
			deployments, err := h.store.Deployments(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d := deployments[wire.Address{Site: site, Kiosk: "kiosk-1"}]
			if d.Shown == r.index.ReleaseID && d.Status == wire.DeploySuccess {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("release %s never came: %+v, %+v", r.index.ReleaseID, d, u.State())
			}
			time.Sleep(5 * time.Millisecond)
		}
		// The index and the picture, of 3 MB in all.
		if n, objects := counted.take(); objects != 2 || n > 400_000 {
			t.Errorf("release %d: %d objects, %d bytes travelled", number, objects, n)
		}
	}
}

// counter counts the content that comes.
type counter struct {
	source update.Source
	mu     sync.Mutex
	bytes  int
	names  map[string]bool
}

func (c *counter) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	got, err := c.source.Fetch(ctx, req)
	if err == nil && wire.ValidObject(req.Name) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.names == nil {
			c.names = map[string]bool{}
		}
		c.bytes, c.names[req.Name] = c.bytes+len(got.Data), true
	}
	return got, err
}

func (c *counter) take() (bytes, objects int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	bytes, objects = c.bytes, len(c.names)
	c.bytes, c.names = 0, nil
	return bytes, objects
}
