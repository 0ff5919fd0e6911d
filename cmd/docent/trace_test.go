package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/agent/trace"
	"docent/agent/trace/store"
)

func traceSettings(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kiosk.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTraceFromDisk reads the traces of a kiosk that does not run.
func TestTraceFromDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(filepath.Join(dir, "traces"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, age := range []time.Duration{48 * time.Hour, time.Hour, time.Minute} {
		s.Record(trace.Turn{Visit: "v", Began: time.Now().Add(-age), Release: "r", Outcome: fmt.Sprintf("outcome-%d", i), Models: []trace.ModelCall{{Purpose: "write", TokensIn: 9}}})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	config := traceSettings(t, "data_dir: "+dir+"\nlisten: 127.0.0.1:1\n")
	code, out, stderr := docent(t, "trace", "--config", config)
	if code != exitDone || strings.Count(out, "\n") != 2 || !strings.Contains(out, "outcome-1") || !strings.Contains(out, "outcome-2") {
		t.Errorf("exit code %d: %s\n%s", code, out, stderr)
	}
	file := filepath.Join(t.TempDir(), "traces.json")
	if code, _, stderr := docent(t, "trace", "--config", config, "--since", "72h", "--limit", "3", "--otlp", "--out", file); code != exitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	written, err := os.ReadFile(file)
	if err != nil || strings.Count(string(written), `"resourceSpans"`) != 3 || !strings.Contains(string(written), `"chat write"`) {
		t.Errorf("%v: %s", err, written)
	}
	for name, text := range map[string]string{"no traces": "data_dir: " + t.TempDir() + "\nlisten: 127.0.0.1:1\n"} {
		if code, _, stderr := docent(t, "trace", "--config", traceSettings(t, text)); code != exitFailed || stderr == "" {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
	}
}

// TestTraceOfARunningKiosk asks a kiosk with the PIN of its settings.
func TestTraceOfARunningKiosk(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			PIN    string
			Since  time.Time
			Limit  int
			Follow bool
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/api/v1/staff/trace" || time.Since(in.Since) < time.Hour || in.Limit != 7 {
			t.Errorf("%s %+v: %v", r.URL.Path, in, err)
		}
		switch {
		case in.PIN != "482913":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"detail":"That is not the PIN"}`)
		case in.Follow:
			fmt.Fprint(w, ":\n\nevent: stage\ndata: {\"kind\":\"stage\"}\n\nevent: end\ndata: {\"kind\":\"end\"}\n\n")
		default:
			fmt.Fprint(w, `{"release":"r","outcome":"answered"}`+"\n")
		}
	}))
	defer server.Close()
	config := traceSettings(t, "listen: "+server.Listener.Addr().String()+"\nstaff: {pin: \"482913\"}\n")
	for args, want := range map[string]string{
		"": `"outcome":"answered"`, "--otlp": `"stringValue":"answered"`, "--follow": "{\"kind\":\"stage\"}\n{\"kind\":\"end\"}\n",
	} {
		code, out, stderr := docent(t, append([]string{"trace", "--config", config, "--since", "2h", "--limit", "7"}, strings.Fields(args)...)...)
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d: %s\n%s", args, code, out, stderr)
		}
	}
	config = traceSettings(t, "listen: "+server.Listener.Addr().String()+"\nstaff: {pin: \"0000\"}\n")
	if code, _, stderr := docent(t, "trace", "--config", config, "--since", "2h", "--limit", "7"); code != exitFailed || !strings.Contains(stderr, "That is not the PIN") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
