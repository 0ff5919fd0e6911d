package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/wire"
)

// bench is a runner whose actions are counted.
type bench struct {
	*Runner
	now   time.Time
	done  []wire.CommandName
	sent  []wire.Result
	fails error
}

func open(t *testing.T, path string) *bench {
	t.Helper()
	b := &bench{now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	act := func(_ context.Context, c wire.Command) (Answer, error) {
		b.done = append(b.done, c.Name)
		return Answer{Detail: "ok", Data: []byte("data")}, b.fails
	}
	r, err := New(Options{
		Path: path, Clock: func() time.Time { return b.now },
		Actions: map[wire.CommandName]Action{wire.CommandSleep: act, wire.CommandLogs: act, wire.CommandRestart: act},
		Send:    func(r wire.Result) error { b.sent = append(b.sent, r); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Runner = r
	return b
}

// ask gives the runner a command that has a minute, after some time has passed.
func (b *bench) ask(t *testing.T, n int, name wire.CommandName, waits time.Duration) error {
	t.Helper()
	id, err := wire.NewID(time.UnixMilli(int64(n)), strings.NewReader("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	hub := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC) // another clock than the kiosk's
	b.Receive(wire.Command{ID: id, Name: name, IssuedAt: hub, SentAt: hub, ExpiresAt: hub.Add(time.Minute)})
	b.now = b.now.Add(waits)
	return b.do(context.Background(), <-b.queue)
}

func (b *bench) last() string {
	r := b.sent[len(b.sent)-1]
	return string(r.Status) + " " + r.Detail + " " + string(r.Data)
}

func TestEachCommandOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "commands.json")
	b := open(t, path)
	for range 3 {
		if err := b.ask(t, 1, wire.CommandSleep, 0); err != nil {
			t.Fatal(err)
		}
	}
	b = open(t, path) // the program starts again
	if err := b.ask(t, 1, wire.CommandSleep, 0); err != nil || len(b.done) != 0 || b.last() != "done ok " {
		t.Errorf("after a restart: %v, %v, %s", err, b.done, b.last())
	}
	for range 2 { // what only reads is read again, so that its data comes
		if err := b.ask(t, 2, wire.CommandLogs, 0); err != nil || b.last() != "done ok data" {
			t.Errorf("logs: %v, %s", err, b.last())
		}
	}
	if diff := cmp.Diff([]wire.CommandName{wire.CommandLogs, wire.CommandLogs}, b.done); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNotDone(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "commands.json"))
	for _, tt := range []struct {
		name  wire.CommandName
		waits time.Duration
		fails error
		want  string
	}{
		{wire.CommandSleep, time.Minute, nil, "expired it came too late "},
		{wire.CommandBrightness, 0, nil, "unsupported this kiosk does not know the command "},
		{wire.CommandSleep, 0, ErrUnsupported, "unsupported this kiosk cannot data"},
		{wire.CommandSleep, 0, fmt.Errorf("%w: a visit", ErrRefused), "refused not now: a visit data"},
		{wire.CommandSleep, 0, errors.New("no screen"), "failed no screen data"},
		{wire.CommandSleep, 59 * time.Second, nil, "done ok data"},
	} {
		b.fails = tt.fails
		if err := b.ask(t, len(b.sent)+10, tt.name, tt.waits); err != nil {
			t.Fatal(err)
		}
		if b.last() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, b.last(), tt.want)
		}
	}
}

func TestRestartIsAnsweredAfterIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "commands.json")
	b := open(t, path)
	b.fails = ErrEnds
	if err := b.ask(t, 1, wire.CommandRestart, 0); !errors.Is(err, ErrEnds) || len(b.sent) != 0 {
		t.Fatalf("%v, sent %v", err, b.sent)
	}
	b = open(t, path)
	if err := b.ask(t, 1, wire.CommandRestart, 0); err != nil || len(b.done) != 0 || b.last() != "done started again " {
		t.Errorf("%v, %v, %s", err, b.done, b.last())
	}
}

func TestInterruptedCommandIsNotDoneAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "commands.json")
	b := open(t, path)
	if err := b.begin(wire.Command{ID: mustID(t, 1), Name: wire.CommandSleep}); err != nil { // killed in the middle
		t.Fatal(err)
	}
	b = open(t, path)
	if err := b.ask(t, 1, wire.CommandSleep, 0); err != nil || len(b.done) != 0 || b.last() != "failed the program ended meanwhile " {
		t.Errorf("%v, %v, %s", err, b.done, b.last())
	}
}

func mustID(t *testing.T, n int64) string {
	t.Helper()
	id, err := wire.NewID(time.UnixMilli(n), strings.NewReader("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestJournalIsBoundedAndDamageIsNoEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "commands.json")
	b := open(t, path)
	for n := range maxEntries + 10 {
		if err := b.ask(t, n+1, wire.CommandSleep, 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.entries) != maxEntries {
		t.Errorf("%d entries", len(b.entries))
	}
	if err := os.WriteFile(path, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b = open(t, path); len(b.entries) != 0 {
		t.Errorf("%d entries of a damaged journal", len(b.entries))
	}
	// A journal that cannot be written: rather not done than done twice.
	b.opt.Path = filepath.Join(path, "no", "folder")
	if err := b.ask(t, 999, wire.CommandSleep, 0); err != nil || len(b.done) != 0 || !strings.HasPrefix(b.last(), "failed it could not be noted") {
		t.Errorf("%v, %v, %s", err, b.done, b.last())
	}
}

func FuzzParseJournal(f *testing.F) {
	f.Add([]byte(`[{"id":"0192f0c1-2345-7abc-8def-0123456789ab","name":"sleep","result":{"id":"0192f0c1-2345-7abc-8def-0123456789ab","status":"done","at":"2026-11-01T12:00:00Z"}}]`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := parseJournal(b)
		for _, e := range entries {
			if err == nil && e.Result != nil && e.Result.Validate() != nil {
				t.Errorf("accepted %q", b)
			}
		}
	})
}
