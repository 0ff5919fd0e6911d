package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestDrainsWithinMemory sends what a kiosk has kept while it was alone, in a process of its own whose memory is bounded: a
// million events in the long form.
func TestDrainsWithinMemory(t *testing.T) {
	events, most := 20_000, 200.0 // MiB
	if os.Getenv("DOCENT_FAULTS") != "" {
		events = 1_000_000
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), program, "bench", "sync", "--kiosks", "1", "--rate", "20", "--seconds", "1", "--outage", "100ms",
		"--backlog", strconv.Itoa(events), "--dir", t.TempDir(), "--json", file)
	cmd.Env = append(os.Environ(), runAsDocent+"=1", "GOMEMLIMIT=128MiB", "TMPDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r, b := fleetReport(t, file)
	if r.Events != events+20 || r.Unacknowledged != 0 || r.Lost == nil || *r.Lost != 0 || *r.Duplicated != 0 {
		t.Errorf("report %s", b)
	}
	if r.PeakMiB.Kiosks > most || r.PeakMiB.Hub > most {
		t.Errorf("memory: kiosk %.0f MiB, hub %.0f MiB, of at most %.0f", r.PeakMiB.Kiosks, r.PeakMiB.Hub, most)
	}
	t.Logf("%d events drained at %.0f a second, %d sent again; memory: kiosk %.0f MiB, hub %.0f MiB", events, r.BacklogEventsPerS, r.Resent, r.PeakMiB.Kiosks, r.PeakMiB.Hub)
}
