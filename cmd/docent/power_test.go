package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKilledHubAndKiosk runs a hub and a kiosk as the two processes they are in life, kills each with -9, and finds every
// event at the hub exactly once.
func TestKilledHubAndKiosk(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole product; not part of -short")
	}
	dir := t.TempDir()
	mqtt, page, screen := freeAddress(t), freeAddress(t), freeAddress(t)
	config := filepath.Join(dir, "kiosk.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, "site: louvre\nkiosk: kiosk-1\nlisten: %s\ndata_dir: %s\nrelease: %s\nhub: {broker: tls://%s}\n",
		screen, filepath.Join(dir, "kiosk"), sampleRelease(t), mqtt), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	hubConfig := filepath.Join(dir, "hub.yaml")
	err = os.WriteFile(hubConfig, fmt.Appendf(nil, "data_dir: %s\nmqtt_listen: %s\nhttp_listen: %s\n", filepath.Join(dir, "hub"), mqtt, page), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	hub := func() *process {
		p := start(t, "hub", "--config", hubConfig)
		p.out.match(t, `(hub is open)`) // before that it has no database
		return p
	}
	ready := func() bool {
		res, err := http.Get("http://" + screen + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	}
	visits := 0
	visit := func(n int) {
		t.Helper()
		for range n {
			var v struct{ Visit string }
			if code := request(t, http.MethodPost, "http://"+screen+"/api/v1/visit/start", map[string]string{"language": "en"}, &v); code != http.StatusCreated {
				t.Fatalf("start visit: %d", code)
			}
			visits++
		}
	}

	h := hub()
	k := start(t, "kiosk", "--config", config)
	authorise(t, k, page)
	eventually(t, "a ready kiosk", ready)
	visit(20)
	h.kill(t)
	visit(20) // the kiosk goes on without its hub
	k.kill(t)
	start(t, "kiosk", "--config", config)
	eventually(t, "a ready kiosk after its death", ready)
	visit(20)
	hub()

	eventually(t, "every event at the hub", func() bool {
		return countType("visit.started", storedEvents(t, filepath.Join(dir, "hub", "hub.db"))) >= visits
	})
	if got := countType("visit.started", storedEvents(t, filepath.Join(dir, "hub", "hub.db"))); got != visits {
		t.Errorf("the hub has %d visits, the kiosk had %d", got, visits)
	}
}

// authorise gives a kiosk that waits its certificate, as staff do: by the code that it shows.
func authorise(t *testing.T, k *process, page string) {
	t.Helper()
	waiting := k.out.match(t, `code=([A-Z0-9]{6})`)
	if code, out, errs := docent(t, "hub", "kiosks", "authorise", waiting, "--hub", "http://"+page); code != exitDone {
		t.Fatalf("authorise %s: %d\n%s%s", waiting, code, out, errs)
	}
}

func countType(typ string, events []string) (n int) {
	for _, e := range events {
		if strings.HasPrefix(e, typ) {
			n++
		}
	}
	return n
}

// freeAddress is an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
