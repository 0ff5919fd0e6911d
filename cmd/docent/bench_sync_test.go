package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"docent/sync/fleet"
)

// TestBenchSync measures a small fleet and a hub in a process of its own.
func TestBenchSync(t *testing.T) {
	t.Setenv(runAsDocent, "1") // for the hub
	file := filepath.Join(t.TempDir(), "report.json")
	var out, errOut bytes.Buffer
	code := run(context.Background(), []string{"bench", "sync", "--kiosks", "4", "--rate", "40", "--seconds", "1", "--outage", "200ms", "--backlog", "100",
		"--dir", t.TempDir(), "--profile", t.TempDir(), "--json", file}, &out, &errOut)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	r, b := fleetReport(t, file)
	if r.Events != 440 || r.Lost == nil || *r.Lost != 0 || r.Duplicated == nil || *r.Duplicated != 0 || r.Unacknowledged != 0 {
		t.Errorf("report %s", b)
	}
	if r.AckMS.P99 <= 0 || r.AckMS.P50 > r.AckMS.P99 || r.Messages == 0 || r.Messages > 40 || r.Reconnect == nil || r.Reconnect.AllS <= 0 {
		t.Errorf("report %s", b)
	}
	for name, c := range map[string]fleet.Cost{"connect": r.Cost.Connect, "steady": r.Cost.Steady, "outage": *r.Cost.Outage} {
		if c.Hub == nil || c.Hub.CallsEach <= 0 || c.Kiosks.CallsEach <= 0 {
			t.Errorf("%s cost %+v", name, c)
		}
	}
	if r.PeakMiB.Kiosks < 1 || r.PeakMiB.Hub < 1 {
		t.Errorf("memory %+v", r.PeakMiB)
	}
	if code := run(context.Background(), []string{"bench", "sync", "--kiosks", "0"}, &out, &errOut); code != exitUsage {
		t.Errorf("no kiosks: exit code %d", code)
	}
}
