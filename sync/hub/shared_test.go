package hub

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/sync/hub/postgres/pgtest"
	"docent/sync/update/bundle"
	"docent/sync/wire"
)

// copyKeys gives a second hub the keys of the first, as whoever sets it up does.
func copyKeys(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{"content/hub.key", "visits/pass.key"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTwoHubsOneDatabase lets a kiosk go from one hub to another and back: each knows what the other has.
func TestTwoHubsOneDatabase(t *testing.T) {
	url := pgtest.Database(t)
	first, second, kioskDir := t.TempDir(), t.TempDir(), t.TempDir()
	a := startHub(t, Config{Dir: first, Database: url})
	copyKeys(t, first, second)
	b := startHub(t, Config{Dir: second, Database: url})
	object := bytes.Repeat([]byte("picture"), 20_000)
	for i, h := range []running{a, b, a, b} {
		k := startKiosk(t, h.MQTTAddr(), "kiosk-1", kioskDir)
		k.record(t, 40)
		k.drained(t)
		if s := k.State(); s.AckedSeq != uint64(40*(i+1)) || s.Degraded != "" {
			t.Errorf("at hub %d: %+v", i, s)
		}
		k.stop()
	}
	counts, err := b.store.Counts(t.Context())
	if err != nil || counts.Events != 160 || counts.Lost != 0 || counts.Quarantined != 0 {
		t.Errorf("counts %+v, %v", counts, err)
	}
	events, err := a.store.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, events)

	if code, body := send(t, a, http.MethodPut, "/api/v1/content/objects/"+bundle.Sum(object), object, true); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, body)
	}
	c := b.content.Read(wire.Fetch{ID: 1, Name: bundle.Sum(object), Offset: 100_000, Length: 7})
	if string(c.Data) != string(object[100_000:100_007]) || c.Size != int64(len(object)) {
		t.Errorf("the other hub reads %+v", c)
	}

	if code, body := send(t, a, http.MethodPut, "/api/v1/emergency", []byte(`{"text":{"en":"Leave."}}`), true); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	if _, _, body := get(t, b, "/api/v1/emergency"); !strings.Contains(body, "Leave.") {
		t.Errorf("the other hub shows %s", body)
	}
	told := screen(t, b.MQTTAddr(), "kiosk-2")
	var newest wire.Emergency
	shows(t, told, &newest, "Leave.")
	if code, body := send(t, b, http.MethodDelete, "/api/v1/emergency", nil, true); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	shows(t, told, &newest, "")
	if _, _, body := get(t, a, "/api/v1/emergency"); body != `{"text":null}` {
		t.Errorf("the first hub still shows %s", body)
	}
}

// TestHubWithOtherKeys starts a second hub that was not given the keys of the first: it must not let kiosks in.
func TestHubWithOtherKeys(t *testing.T) {
	url := pgtest.Database(t)
	first, second := t.TempDir(), t.TempDir()
	runHub(t, Config{Dir: first, Database: url})
	for _, missing := range []string{"authority/authority.pem", "content/hub.key", "visits/pass.key"} {
		h, err := New(Config{Dir: second, Database: url, MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Run(t.Context()); err == nil || !strings.Contains(err.Error(), missing) {
			t.Fatalf("without %s: %v", missing, err)
		}
		b, err := os.ReadFile(filepath.Join(first, missing))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(second, missing)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(second, missing), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runHub(t, Config{Dir: second, Database: url})
}

// TestOlderCopyInPostgres restores a backup that was made while the hub ran: the kiosk brings what it still has, and the
// rest is counted as lost.
func TestOlderCopyInPostgres(t *testing.T) {
	dir, url := t.TempDir(), pgtest.Database(t)
	h := startHub(t, Config{Dir: dir, Database: url})
	address := h.MQTTAddr()
	k := startKiosk(t, address, "kiosk-1", t.TempDir())
	k.record(t, 10)
	k.drained(t)
	backup := pgtest.Restored(t, url)
	k.record(t, 7)
	k.drained(t)
	h.stop()
	h = startHub(t, Config{Dir: dir, Database: backup, MQTTListen: address})
	k.record(t, 5)
	k.drained(t)
	c, err := h.store.Counts(t.Context())
	if err != nil || c.Lost != 7 || c.Events != 10+5+1 || c.Quarantined != 0 {
		t.Errorf("counts %+v, %v; want 16 events, 7 lost", c, err)
	}
}
