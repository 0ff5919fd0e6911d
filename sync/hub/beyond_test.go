package hub

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"docent/sync/hub/brokerfiles"
	"docent/sync/wire"
)

// TestGuardHears gives the guard first statuses of sessions as a broker beyond the process hands them over.
func TestGuardHears(t *testing.T) {
	const a, b, c = "a", "b", "c"
	type status struct {
		boot    string
		session uint64
	}
	for _, tt := range []struct {
		name     string
		said     []status
		first    int // of them, the first of a session
		conflict bool
	}{
		{"one session", []status{{a, 1}, {a, 1}, {a, 1}}, 1, false},
		{"reconnects", []status{{a, 1}, {a, 2}, {a, 3}}, 3, false},
		{"restarts", []status{{a, 1}, {b, 2}, {c, 3}}, 3, false},
		{"a late message of the session before", []status{{a, 1}, {a, 2}, {a, 1}}, 2, false},
		{"a late message of the boot before", []status{{a, 1}, {b, 2}, {a, 1}, {b, 2}}, 2, false},
		{"one session of the boot before that comes late", []status{{a, 1}, {b, 3}, {a, 2}}, 3, false},
		{"two machines", []status{{a, 1}, {b, 1}, {a, 2}, {b, 2}}, 4, true},
		{"three machines", []status{{a, 1}, {b, 1}, {c, 1}, {a, 2}, {b, 2}}, 5, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var g guard
			kiosk, now, first := wire.Address{Site: site, Kiosk: "kiosk-1"}, time.Now(), 0
			for _, s := range tt.said {
				if g.heard(kiosk, s.boot, s.session, now) {
					first++
				}
				now = now.Add(time.Second)
			}
			if first != tt.first || g.conflict(kiosk, now) != tt.conflict {
				t.Errorf("%d first of a session, conflict %v", first, g.conflict(kiosk, now))
			}
		})
	}
}

func TestBeyondRefuses(t *testing.T) {
	good := Config{Dir: t.TempDir(), HTTPListen: "127.0.0.1:0", Beyond: &Beyond{URL: "nats://127.0.0.1:1", EnrolListen: "127.0.0.1:0"}}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"in clear":             func(c *Config) { c.Clear, c.MQTTListen = true, "127.0.0.1:0" },
		"MQTT in clear":        func(c *Config) { c.Beyond.URL = "mqtt://127.0.0.1:1" },
		"no broker":            func(c *Config) { c.Beyond.URL = "" },
		"no enrolment":         func(c *Config) { c.Beyond.EnrolListen = "" },
		"a worker of no name":  func(c *Config) { c.Beyond.Worker = "a/b" },
		"a worker with a plus": func(c *Config) { c.Beyond.Worker = "+" },
	} {
		c, b := good, *good.Beyond
		c.Beyond = &b
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestWriteBrokerFiles(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Dir: dir}
	for range 2 { // the second time beside what is there
		if err := WriteBrokerFiles(context.Background(), cfg, brokerfiles.Options{Kind: brokerfiles.Mosquitto, Dir: filepath.Join(dir, "broker")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteBrokerFiles(context.Background(), cfg, brokerfiles.Options{Kind: "x", Dir: dir}); err == nil {
		t.Error("files for a broker of no kind")
	}
}
