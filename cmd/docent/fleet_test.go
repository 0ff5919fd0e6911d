package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"docent/sync/fleet"
	"docent/sync/hub"
)

// TestFleetAgainstAHub measures a hub that is there already, from its page, with kiosks that it does not know yet.
func TestFleetAgainstAHub(t *testing.T) {
	dir := t.TempDir()
	h, err := hub.New(hub.Config{Dir: dir, MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	<-h.Ready()
	file := filepath.Join(t.TempDir(), "report.json")
	var out, errOut bytes.Buffer
	args := []string{"fleet", "--broker", "tls://" + h.MQTTAddr(), "--page", "http://" + h.HTTPAddr(), "--kiosks", "3", "--rate", "30", "--seconds", "1",
		"--outage", "0", "--dir", t.TempDir()}
	if code := run(ctx, args, &out, &errOut); code != exitUsage {
		t.Errorf("without --authority: exit code %d", code)
	}
	args = append(args, "--authority", filepath.Join(dir, "authority"), "--enrol", h.MQTTAddr(), "--json", file)
	errOut.Reset()
	if code := run(ctx, args, &out, &errOut); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	r, b := fleetReport(t, file)
	if r.Events != 30 || r.Lost == nil || *r.Lost != 0 || *r.Duplicated != 0 || r.Unacknowledged != 0 || r.Cost.Steady.Hub != nil || r.Reconnect != nil {
		t.Errorf("report %s", b)
	}
}

// fleetReport reads what a fleet's command wrote, and the same as it stands in the file.
func fleetReport(t *testing.T, file string) (r fleet.Report, b []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r, b
}
