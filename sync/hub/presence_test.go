package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/command"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/wire"
)

func TestTroubles(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	good := store.Kiosk{
		State: "ready", StateAt: now.Add(-time.Hour), FreeBytes: 10 << 30, ReportAt: now.Add(-time.Minute), ReportedTS: now.Add(-time.Minute),
		Report: wire.Health{Camera: "ready", Temperature: 55, MemoryFree: 1 << 30, MemoryTotal: 4 << 30, CertUntil: now.Add(300 * 24 * time.Hour)},
	}
	for _, tt := range []struct {
		name   string
		change func(*store.Kiosk)
		d      *wire.Deploy
		two    bool
		want   string
	}{
		{"nothing", func(*store.Kiosk) {}, nil, false, ""},
		{"two machines", func(*store.Kiosk) {}, nil, true, "two_kiosks"},
		{"just lost", func(k *store.Kiosk) { k.State, k.StateAt = "lost", now.Add(-time.Minute) }, nil, false, ""},
		{"lost", func(k *store.Kiosk) { k.State, k.StateAt = "lost", now.Add(-3*time.Hour) }, nil, false, "lost 3 h"},
		{"off", func(k *store.Kiosk) { k.State, k.StateAt = "disconnected", now.Add(-72*time.Hour) }, nil, false, "switched_off 3 d"},
		{"silent", func(k *store.Kiosk) { k.ReportAt, k.ReportedTS = now.Add(-10*time.Minute), now.Add(-10*time.Minute) }, nil, false, "silent 10 min"},
		{"store", func(k *store.Kiosk) { k.Degraded = "store was damaged" }, nil, false, "store store was damaged"},
		{"disk", func(k *store.Kiosk) { k.FreeBytes = 300 << 20 }, nil, false, "disk 0.3 GiB"},
		{"clock behind", func(k *store.Kiosk) { k.ReportedTS = k.ReportAt.Add(-10 * 365 * 24 * time.Hour) }, nil, false, "clock 3650 d"},
		{"clock ahead", func(k *store.Kiosk) { k.ReportedTS = k.ReportAt.Add(time.Hour) }, nil, false, "clock 60 min"},
		{"camera", func(k *store.Kiosk) { k.Report.Camera, k.Report.CameraTrouble = "alert", "unplugged" }, nil, false, "camera unplugged"},
		{"no camera", func(k *store.Kiosk) { k.Report.Camera = "none" }, nil, false, ""},
		{"hot", func(k *store.Kiosk) { k.Report.Temperature = 85.4 }, nil, false, "hot 85 °C"},
		{"memory", func(k *store.Kiosk) { k.Report.MemoryFree = 100 << 20 }, nil, false, "memory 100 MiB"},
		{"certificate", func(k *store.Kiosk) { k.Report.CertUntil = now.Add(5 * 24 * time.Hour) }, nil, false, "certificate 2026-11-06"},
		{"events wait", func(k *store.Kiosk) { k.OutboxDepth = 5000 }, nil, false, "waiting 5000"},
		{"rolled back", func(*store.Kiosk) {}, &wire.Deploy{Status: wire.DeployFailure, RolledBack: true, Code: "health"}, false, "rolled_back health"},
		{"refused", func(*store.Kiosk) {}, &wire.Deploy{Status: wire.DeployRejected, Code: "expired"}, false, "not_updated expired"},
		{"visitors all day", func(*store.Kiosk) {}, &wire.Deploy{Status: wire.DeployPauseBeforeInstall, TS: now.Add(-30 * time.Hour)}, false, "update_waits 30 h"},
	} {
		k := good
		tt.change(&k)
		var got []string
		for _, x := range troubles(k, tt.d, tt.two, now) {
			got = append(got, strings.TrimSpace(x.Code+" "+x.Value))
			for lang, w := range texts {
				if s := w.Trouble(x); strings.Contains(s, "%") || s == x.Code {
					t.Errorf("%s: no sentence in %s: %q", tt.name, lang, s)
				}
			}
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, s, tt.want)
		}
	}
}

// commanded is a kiosk that does commands: those that count are counted.
type commanded struct {
	*kiosk
	slept  atomic.Int64
	shots  atomic.Int64 // the first is a picture
	runner *command.Runner
	ends   chan error
}

func startCommanded(t *testing.T, h running, dir string, health func() wire.Health) *commanded {
	t.Helper()
	c := &commanded{ends: make(chan error, 1)}
	var line atomic.Pointer[link.Link]
	var err error
	c.runner, err = command.New(command.Options{
		Path: filepath.Join(dir, "commands.json"),
		Actions: map[wire.CommandName]command.Action{
			wire.CommandSleep: func(context.Context, wire.Command) (command.Answer, error) {
				c.slept.Add(1)
				return command.Answer{}, nil
			},
			wire.CommandScreenshot: func(context.Context, wire.Command) (command.Answer, error) {
				picture := []byte("\xff\xd8\xff\xe0 as far as a browser looks")
				if c.shots.Add(1) > 1 {
					picture = []byte("<script>alert(1)</script>")
				}
				return command.Answer{Type: "image/jpeg", Data: picture}, nil
			},
			wire.CommandRestart: func(context.Context, wire.Command) (command.Answer, error) {
				return command.Answer{}, command.ErrEnds
			},
			wire.CommandLogs: func(context.Context, wire.Command) (command.Answer, error) {
				return command.Answer{Type: "application/gzip", Data: bytes.Repeat([]byte("\x00\n"), wire.MaxResultData/2)}, nil
			},
		},
		Send: func(r wire.Result) error {
			if l := line.Load(); l != nil {
				return l.Answer(r)
			}
			return link.ErrNotConnected
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.kiosk = startKiosk(t, h.MQTTAddr(), "kiosk-1", filepath.Join(dir, "outbox"), func(o *link.Options) {
		o.Command, o.Health, o.StatusEvery = c.runner.Receive, health, 50*time.Millisecond
	})
	line.Store(c.link)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { c.ends <- c.runner.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return c
}

// answered waits for a command's answer.
func answered(t *testing.T, h running, id string) store.Command {
	t.Helper()
	var c store.Command
	until(t, "answer", func() bool {
		var err error
		if c, err = h.store.Command(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		return c.Result != nil
	})
	return c
}

func TestCommands(t *testing.T) {
	hubClock := &clock{}
	h := startHub(t, Config{Dir: t.TempDir(), Clock: hubClock.now})
	dir := t.TempDir()
	health := func() wire.Health {
		return wire.Health{ReleaseID: "7-abc", ReleaseNumber: 7, Camera: "alert", CameraTrouble: "unplugged", Attended: true}
	}
	k := startCommanded(t, h, dir, health)
	to := wire.Address{Site: site, Kiosk: "kiosk-1"}
	ctx := context.Background()
	ask := func(name wire.CommandName, life time.Duration) string {
		t.Helper()
		c, err := h.Command(ctx, to, name, 0, life)
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	until(t, "presence with what the kiosk says of itself", func() bool {
		list, err := h.store.Kiosks(ctx)
		return err == nil && len(list) == 1 && list[0].State == "alert" && cmp.Equal(list[0].Report, health())
	})

	// Done once, however often it is sent.
	id := ask(wire.CommandSleep, time.Minute)
	if c := answered(t, h, id); c.Result.Status != wire.ResultDone {
		t.Errorf("sleep: %+v", c.Result)
	}
	found, err := h.store.Command(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		h.ask(to, found.Command)
	}
	if c := answered(t, h, ask(wire.CommandLogs, time.Minute)); len(c.Result.Data) != wire.MaxResultData || c.Result.Type != "application/gzip" {
		t.Errorf("logs: %d bytes", len(c.Result.Data))
	}
	if n := k.slept.Load(); n != 1 {
		t.Errorf("slept %d times", n)
	}
	if c := answered(t, h, ask(wire.CommandBrightness, time.Minute)); c.Result.Status != wire.ResultUnsupported {
		t.Errorf("brightness: %+v", c.Result)
	}

	// A kiosk that is away gets it when it comes, unless that is too late.
	k.stop()
	waits, late := ask(wire.CommandSleep, time.Hour), ask(wire.CommandSleep, time.Minute)
	hubClock.set(2 * time.Minute)
	k = startCommanded(t, h, dir, health)
	if c := answered(t, h, waits); c.Result.Status != wire.ResultDone || k.slept.Load() != 1 {
		t.Errorf("a command that waited: %+v", c.Result)
	}
	if c, err := h.store.Command(ctx, late); err != nil || c.Result != nil || view(c, hubClock.now()).Status != wire.ResultExpired {
		t.Errorf("a command that came too late: %+v, %v", c, err)
	}

	// A restart is answered after it.
	id = ask(wire.CommandRestart, time.Hour)
	if err := <-k.ends; err != command.ErrEnds {
		t.Errorf("restart: %v", err)
	}
	k.stop()
	if c, err := h.store.Command(ctx, id); err != nil || c.Result != nil {
		t.Errorf("a restart is answered before it: %+v, %v", c.Result, err)
	}
	startCommanded(t, h, dir, health)
	if c := answered(t, h, id); c.Result.Status != wire.ResultDone || c.Result.Detail != "started again" {
		t.Errorf("restart: %+v", c.Result)
	}
}

func TestAnswerLostOnTheWayComesWithTheNextSignOfLife(t *testing.T) {
	hubClock := &clock{}
	h := startHub(t, Config{Dir: t.TempDir(), Clock: hubClock.now})
	k := startCommanded(t, h, t.TempDir(), nil)
	ctx := context.Background()
	until(t, "kiosk", func() bool { return k.link.State().Connected })
	to := wire.Address{Site: site, Kiosk: "kiosk-1"}
	now := hubClock.now()
	c := wire.Command{ID: "0192f0c1-2345-7abc-8def-0123456789ab", Name: wire.CommandSleep, IssuedAt: now, ExpiresAt: now.Add(time.Hour), SentAt: now}
	h.ask(to, c) // the store does not know it yet: the answer goes nowhere
	until(t, "sleep", func() bool { return k.slept.Load() == 1 })
	if err := h.store.AddCommand(ctx, to, c); err != nil {
		t.Fatal(err)
	}
	hubClock.set(commandAgain)
	if got := answered(t, h, c.ID); got.Result.Status != wire.ResultDone || k.slept.Load() != 1 {
		t.Errorf("%+v, slept %d times", got.Result, k.slept.Load())
	}
}

func TestResultsAreTheKiosksOwn(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	ctx := context.Background()
	mine, other := wire.Address{Site: site, Kiosk: "kiosk-1"}, wire.Address{Site: site, Kiosk: "kiosk-2"}
	c, err := h.Command(ctx, mine, wire.CommandSleep, 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[wire.Address]bool{other: false, mine: true} {
		if from == mine {
			continue
		}
		if err := h.store.SetResult(ctx, from, wire.Result{ID: c.ID, Status: wire.ResultDone}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := h.store.Command(ctx, c.ID); err != nil || (got.Result != nil) != want {
			t.Errorf("answer of %s: %+v, %v", from.Kiosk, got.Result, err)
		}
	}
}

func TestCommandAPI(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	k := startCommanded(t, h, t.TempDir(), nil)
	until(t, "kiosk", func() bool { return k.link.State().Connected })
	post := func(path, body string) (int, commandView) {
		r, err := http.NewRequest(http.MethodPost, "http://"+h.HTTPAddr()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(publishHeader, "1")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var v commandView
		if err := json.NewDecoder(res.Body).Decode(&v); err != nil && res.StatusCode < 300 {
			t.Fatal(err)
		}
		return res.StatusCode, v
	}
	for _, tt := range []struct {
		path, body string
		want       int
	}{
		{"/api/v1/kiosks/museum/kiosk-1/commands", `{"name":"reboot"}`, 400},
		{"/api/v1/kiosks/museum/kiosk-1/commands", `{"name":"volume","value":200}`, 400},
		{"/api/v1/kiosks/museum/kiosk-1/commands", `{"name":"sleep","expires_in_s":99999999}`, 400},
		{"/api/v1/kiosks/museum/Kiosk/commands", `{"name":"sleep"}`, 400},
		{"/api/v1/kiosks/museum/kiosk-9/commands", `{"name":"sleep"}`, 404},
	} {
		if got, _ := post(tt.path, tt.body); got != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.path, tt.body, got, tt.want)
		}
	}
	status, v := post("/api/v1/kiosks/museum/kiosk-1/commands", `{"name":"logs"}`)
	if status != http.StatusAccepted {
		t.Fatal(status)
	}
	answered(t, h, v.ID)
	if status, header, body := get(t, h, "/api/v1/commands/"+v.ID+"/data"); status != 200 || len(body) != wire.MaxResultData || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") {
		t.Errorf("data: %d, %d bytes", status, len(body))
	}
	// A picture is shown, on the page too; what only says that it is one is a file to keep.
	for _, want := range []struct{ disposition, kind string }{{"inline", "image/jpeg"}, {"attachment", "application/octet-stream"}} {
		_, v := post("/api/v1/kiosks/museum/kiosk-1/commands", `{"name":"screenshot"}`)
		answered(t, h, v.ID)
		path := "/api/v1/commands/" + v.ID + "/data"
		_, header, _ := get(t, h, path)
		if d := header.Get("Content-Disposition"); !strings.HasPrefix(d, want.disposition) || header.Get("Content-Type") != want.kind || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("a screenshot comes as %v", header)
		}
		if _, _, body := get(t, h, "/"); !strings.Contains(body, `<img src="`+path+`"`) {
			t.Errorf("the page does not show %s", path)
		}
	}
	if _, _, body := get(t, h, "/api/v1/kiosks/museum/kiosk-1/commands"); !strings.Contains(body, `"status":"done"`) {
		t.Errorf("list: %s", body)
	}
	if status, _, _ := get(t, h, "/api/v1/commands/none"); status != 404 {
		t.Errorf("no command: %d", status)
	}
}
