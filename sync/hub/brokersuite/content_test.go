package brokersuite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/localindex/release"
	"docent/localindex/release/releasetest"
	"docent/sync/command"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/update"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// pack makes a release of 10 pictures, one of which is its own.
func pack(t *testing.T, number int) string {
	t.Helper()
	return releasetest.Pack(t, number, time.Now(), releasetest.Pictures(number, 10, 10_000, 7))
}

// ask sends the hub's page a request and decodes the answer, if out is not nil.
func (r running) ask(t *testing.T, method, path string, body []byte, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.HTTPAddr()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Docent-Publish", "1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, data)
	}
	if out == nil {
		return
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = data
	} else if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
}

// publish signs a release and hands it to the hub.
func (r running) publish(t *testing.T, a *trust.Author, number int) (id string) {
	t.Helper()
	out := t.TempDir()
	x, data, err := bundle.Write(t.Context(), pack(t, number), out)
	if err != nil {
		t.Fatal(err)
	}
	files, err := a.Sign(data, x.ReleaseID, x.Number)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := os.ReadDir(filepath.Join(out, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		b, err := os.ReadFile(filepath.Join(out, "objects", o.Name()))
		if err != nil {
			t.Fatal(err)
		}
		r.ask(t, http.MethodPut, "/api/v1/content/objects/"+o.Name(), b, nil)
	}
	body, err := json.Marshal(map[string]any{"files": files})
	if err != nil {
		t.Fatal(err)
	}
	r.ask(t, http.MethodPost, "/api/v1/content/release", body, nil)
	return x.ReleaseID
}

// stage is a kiosk's content that takes whatever is whole, with nobody before the screen.
type stage struct{}

func (stage) Check(ctx context.Context, dir string) error {
	_, err := release.Verify(ctx, dir)
	return err
}
func (stage) Switch(context.Context, string) error { return nil }
func (stage) Healthy(context.Context) error        { return nil }
func (stage) Unattended() bool                     { return true }

// TestContent brings two releases down to a kiosk, the second only by what is new in it, a command that is answered, and
// an emergency message with its end, also to a kiosk that comes later.
func TestContent(t *testing.T) {
	brokers(t, func(t *testing.T, h *house) {
		ids := h.identities(2)
		r := h.runHub("1")
		var pem []byte
		r.ask(t, http.MethodGet, "/api/v1/content/key", nil, &pem)
		key, err := trust.ReadPublic(pem)
		if err != nil {
			t.Fatal(err)
		}
		author, err := trust.OpenAuthor(filepath.Join(t.TempDir(), "keys"), key, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		root, err := author.Root()
		if err != nil {
			t.Fatal(err)
		}

		dir := t.TempDir()
		var line atomic.Pointer[link.Link]
		var content atomic.Pointer[update.Updater]
		var refreshed atomic.Int64
		runner, err := command.New(command.Options{
			Path: filepath.Join(dir, "commands.json"),
			Actions: map[wire.CommandName]command.Action{wire.CommandSleep: func(context.Context, wire.Command) (command.Answer, error) {
				refreshed.Add(1)
				return command.Answer{}, nil
			}},
			Send: func(r wire.Result) error { return line.Load().Answer(r) },
		})
		if err != nil {
			t.Fatal(err)
		}
		alarms := make(chan wire.Emergency, 100)
		k := h.startKiosk(0, ids[0], filepath.Join(dir, "outbox"), func(o *link.Options) {
			o.Command = runner.Receive
			o.Emergency = func(e wire.Emergency) { alarms <- e }
			o.Desired = func(wire.Desired) {
				if u := content.Load(); u != nil {
					u.Desired()
				}
			}
		})
		line.Store(k.link)
		s, err := update.OpenStore(filepath.Join(dir, "content"), pack(t, 0), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		client, err := trust.NewClient(filepath.Join(dir, "content", "metadata"), root)
		if err != nil {
			t.Fatal(err)
		}
		u, err := update.New(update.Options{
			Store: s, Trust: client, Source: k.link, Content: stage{}, Report: k.link.Report, MinFree: 1, Poll: time.Hour, Retry: 200 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		content.Store(u)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { u.Run(ctx) })
		wg.Go(func() { runner.Run(ctx) })
		defer wg.Wait()
		defer cancel()
		until(t, "the kiosk is known", func() (ok bool) {
			h.store(func(s *store.Store) {
				all, err := s.Kiosks(t.Context())
				ok = err == nil && len(all) == 1
			})
			return ok
		})

		for number := 1; number <= 2; number++ {
			id := r.publish(t, author, number) // the kiosk does not poll: it is woken
			until(t, fmt.Sprintf("release %d is shown", number), func() (ok bool) {
				h.store(func(s *store.Store) {
					d, err := s.Deployments(t.Context())
					ok = err == nil && d[kioskName(0)].Shown == id
				})
				return ok
			})
		}

		var asked struct{ ID, Status string }
		r.ask(t, http.MethodPost, "/api/v1/kiosks/museum/kiosk-0/commands", []byte(`{"name":"sleep"}`), &asked)
		until(t, "the command is answered", func() bool {
			r.ask(t, http.MethodGet, "/api/v1/commands/"+asked.ID, nil, &asked)
			return asked.Status == string(wire.ResultDone)
		}, func() string { return asked.Status })
		if n := refreshed.Load(); n != 1 {
			t.Errorf("the command was done %d times", n)
		}

		alarm := func(c <-chan wire.Emergency, want string) {
			t.Helper()
			limit := time.After(20 * time.Second)
			for {
				select {
				case e := <-c:
					if e.Text["en"] == want {
						return
					}
				case <-limit:
					t.Fatalf("no message %q", want)
				}
			}
		}
		r.ask(t, http.MethodPut, "/api/v1/emergency", []byte(`{"text":{"en":"Leave by the nearest exit."}}`), nil)
		alarm(alarms, "Leave by the nearest exit.")
		late := make(chan wire.Emergency, 100)
		h.startKiosk(1, ids[1], t.TempDir(), func(o *link.Options) { o.Emergency = func(e wire.Emergency) { late <- e } })
		alarm(late, "Leave by the nearest exit.")
		r.ask(t, http.MethodDelete, "/api/v1/emergency", nil, nil)
		alarm(alarms, "")
		alarm(late, "")
		if got := h.troubles(r); strings.Contains(strings.Join(got, " "), "two_kiosks") {
			t.Errorf("troubles: %v", got)
		}
	})
}
