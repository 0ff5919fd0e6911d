package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/release"
	"docent/sync/hub/rollout"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/update"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// museum is an author with three releases, the first of which kiosks come with.
type museum struct {
	author   *trust.Author
	root     []byte
	factory  string
	releases map[int]signed // 2 and 3, signed when they are published
	t        *testing.T
}

func newMuseum(t *testing.T, address string) *museum {
	t.Helper()
	key, err := trust.ReadPublic([]byte(ask(t, address, http.MethodGet, "/api/v1/content/key", nil)))
	if err != nil {
		t.Fatal(err)
	}
	a, err := trust.OpenAuthor(filepath.Join(t.TempDir(), "keys"), key, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	root, err := a.Root()
	if err != nil {
		t.Fatal(err)
	}
	return &museum{author: a, root: root, factory: packRelease(t, 1), releases: map[int]signed{}, t: t}
}

// ask sends a request to a hub's page, and fails unless it is answered with what was asked for.
func ask(t testing.TB, address, method, path string, in any) string {
	t.Helper()
	code, body := tryAsk(t, address, method, path, in)
	if code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, code, body)
	}
	return body
}

func tryAsk(t testing.TB, address, method, path string, in any) (int, string) {
	t.Helper()
	var body string
	if raw, is := in.([]byte); is {
		body = string(raw)
	} else if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = string(b)
	}
	req, err := http.NewRequest(method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(publishHeader, "1")
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

// publish signs a release and gives it to a hub with a plan; it returns the id of its rollout.
func (w *museum) publish(address string, number int, plan string) string {
	w.t.Helper()
	s := sign(w.t, w.author, packRelease(w.t, number))
	w.releases[number] = s
	entries, err := filepath.Glob(filepath.Join(s.objects, "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(e)
		if err != nil {
			w.t.Fatal(err)
		}
		ask(w.t, address, http.MethodPut, "/api/v1/content/objects/"+filepath.Base(e), data)
	}
	in := map[string]any{"files": s.files, "by": "ann"}
	if plan != "" {
		in["rollout"] = json.RawMessage(plan)
	}
	var out struct{ Rollout string }
	if err := json.Unmarshal([]byte(ask(w.t, address, http.MethodPost, "/api/v1/content/release", in)), &out); err != nil {
		w.t.Fatal(err)
	}
	return out.Rollout
}

// display is what a kiosk of a test shows: the code of the product but for the screen itself.
type display struct {
	number   atomic.Int64 // of the release that is shown
	switches atomic.Int64 // times that another release was shown
	sick     atomic.Int64 // number of the release that does not do here
	attended atomic.Bool
}

func (s *display) Check(ctx context.Context, dir string) error {
	_, err := release.Verify(ctx, dir)
	return err
}

func (s *display) Switch(ctx context.Context, dir string) error {
	m, err := release.Verify(ctx, dir)
	if err == nil {
		s.number.Store(int64(m.Number))
		s.switches.Add(1)
	}
	return err
}

func (s *display) Healthy(context.Context) error {
	if s.sick.Load() == s.number.Load() {
		return errors.New("the pictures do not load")
	}
	return nil
}
func (s *display) Unattended() bool { return !s.attended.Load() }

// shower is a kiosk: outbox, link, content store, trust and updater as in the product.
type shower struct {
	display
	name   string
	asked  atomic.Int64 // times that it has asked what it shall show
	update *update.Updater
	link   *link.Link
	online func()          // sets its line going
	cut    func()          // ends its line
	asks   *sync.WaitGroup // its own goroutines
}

// Fetch asks the hub.
func (k *shower) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	c, err := k.link.Fetch(ctx, req)
	if err == nil && req.Name == wire.DesiredName {
		k.asked.Add(1)
	}
	return c, err
}

// shower starts a kiosk that polls a hub often.
func (w *museum) shower(name, broker string) *shower {
	t := w.t
	t.Helper()
	dir := t.TempDir()
	box, err := outbox.Open(filepath.Join(dir, "outbox"), outbox.Options{Kiosk: name, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := update.OpenStore(filepath.Join(dir, "content"), w.factory, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	client, err := trust.NewClient(filepath.Join(dir, "metadata"), w.root)
	if err != nil {
		t.Fatal(err)
	}
	k := &shower{name: name, asks: &sync.WaitGroup{}}
	k.number.Store(1)
	k.link, err = link.New(link.Options{
		Broker: "tcp://" + broker, Site: site, Kiosk: name, Outbox: box,
		Desired: func(wire.Desired) { k.update.Desired() }, Random: func() float64 { return 0.02 },
	})
	if err != nil {
		t.Fatal(err)
	}
	k.update, err = update.New(update.Options{
		Store: s, Trust: client, Source: k, Content: k, Report: k.link.Report, MinFree: 1,
		Poll: 500 * time.Millisecond, Retry: 200 * time.Millisecond, Grace: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.asks.Go(func() {
		if err := k.update.Run(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	k.online = func() {
		lineCtx, cut := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := k.link.Run(lineCtx); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}()
		k.cut = func() { cut(); <-ended }
	}
	k.online()
	t.Cleanup(func() {
		k.cut()
		cancel()
		k.asks.Wait()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// fleetOf starts n kiosks.
func (w *museum) fleetOf(n int, broker string) map[string]*shower {
	all := map[string]*shower{}
	for i := range n {
		name := fmt.Sprint("kiosk-", i)
		all[name] = w.shower(name, broker)
	}
	return all
}

// eventually waits for what must come, on a machine that has much to do too.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// told is a rollout as the hub tells of it.
func told(t testing.TB, address, id string) (v rolloutView) {
	t.Helper()
	if err := json.Unmarshal([]byte(ask(t, address, http.MethodGet, "/api/v1/rollouts/"+id, nil)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// untilState waits for a rollout to be in a state.
func untilState(t testing.TB, address, id string, want rollout.State) (v rolloutView) {
	t.Helper()
	eventually(t, fmt.Sprintf("rollout %s is %s", id, want), func() bool { v = told(t, address, id); return v.State == want })
	return v
}

// untilKnown waits until a hub knows n kiosks.
func untilKnown(t testing.TB, address string, n int) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " kiosks are known"), func() bool {
		var in struct{ Kiosks []struct{ State string } }
		if err := json.Unmarshal([]byte(ask(t, address, http.MethodGet, "/api/v1/kiosks", nil)), &in); err != nil {
			t.Fatal(err)
		}
		return len(in.Kiosks) == n && !slices.ContainsFunc(in.Kiosks, func(k struct{ State string }) bool { return k.State == "lost" })
	})
}

// shown counts the kiosks by the number of the release they show.
func shown(all map[string]*shower) map[int]int {
	n := map[int]int{}
	for _, k := range all {
		n[int(k.number.Load())]++
	}
	return n
}

func untilShown(t testing.TB, all map[string]*shower, want map[int]int) {
	t.Helper()
	eventually(t, fmt.Sprint("kiosks show ", want), func() bool { return cmp.Equal(shown(all), want) })
}

// names of a rollout's kiosks in a group.
func (v rolloutView) names(group int) (names []string) {
	for _, m := range v.Kiosks {
		if m.Group == group {
			names = append(names, m.Kiosk.Kiosk)
		}
	}
	return names
}

// polls waits until each kiosk has asked the hub several times what it shall show: whatever would have begun has begun.
func polls(t testing.TB, all map[string]*shower) {
	t.Helper()
	for name, k := range all {
		before := k.asked.Load()
		eventually(t, name+" polls", func() bool { return k.asked.Load() >= before+3 })
	}
}
