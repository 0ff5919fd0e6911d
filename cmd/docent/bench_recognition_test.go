package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/vision/bench"
)

func TestBenchRecognition(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.json")
	code, out, errs := docent(t, "bench", "recognition", "--sizes", "2,4", "--photos", "2", "--json", report)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{"references", "shortlist, ms", "photo to answer, p95 ms", "2 of 2", "0 of 1", "brute force, ms", "exact", "1.000"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Collections) != 2 || r.Collections[1].References != 4 || r.Collections[1].BruteForce.Ratio <= 0 {
		t.Errorf("report %+v", r)
	}
	if code, _, errs := docent(t, "bench", "recognition", "--sizes", "1"); code == exitDone || !strings.Contains(errs, "at least 2") {
		t.Errorf("a collection of one: exit code %d: %s", code, errs)
	}
}
