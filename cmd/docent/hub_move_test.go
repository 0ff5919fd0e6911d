package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/internal/settings"
	"docent/sync/hub/move"
	"docent/sync/hub/postgres/pgtest"
	"docent/sync/hub/store"
	"docent/sync/hub/visits"
	"docent/sync/wire"
)

// TestHubMove moves an empty hub, as those of sync/hub/move are full, by the command: there, back, and where it may not.
func TestHubMove(t *testing.T) {
	url := pgtest.Database(t)
	dir := filepath.Join(t.TempDir(), "hub")
	s, err := store.Open(t.Context(), filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := visits.Migrate(t.Context(), filepath.Join(dir, "visits")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "hub.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "data_dir: %s\n", dir), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := run(context.Background(), append([]string{"hub", "move", "--config", config}, args...), &out, &errs)
		return code, out.String(), errs.String()
	}
	for _, args := range [][]string{{"--to", "mysql://x"}, {"--to", "sqlite"}, {"--to", url, "--from", url}} {
		if code, _, _ := call(args...); code != 2 {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	code, out, errs := call("--to", url, "--json", "-")
	var r move.Report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Tables) == 0 {
		t.Fatalf("there: %d, %v, %s", code, err, errs)
	}
	if code, _, errs := call("--to", "sqlite", "--from", url); code != 1 || !strings.Contains(errs, "hub.db is there") {
		t.Errorf("over what is there: %d, %s", code, errs)
	}
	if err := os.Remove(filepath.Join(dir, "hub.db")); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := call("--to", "sqlite", "--from", url); code != 0 || !strings.Contains(out, "found the same") {
		t.Errorf("back: %d, %s, %s", code, out, errs)
	}
	s, err = store.Open(t.Context(), filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if acks, err := s.Acks(t.Context(), wire.Address{Site: "museum", Kiosk: "hall"}); err != nil || len(acks) != 0 {
		t.Error(acks, err)
	}
}

func TestHubDatabaseSetting(t *testing.T) {
	for setting, good := range map[string]bool{"sqlite": true, "postgres://hub@db/docent": true, "postgresql:///docent?host=/run/postgresql": true, "": false, "mysql://x": false, "/var/lib/x": false} {
		c := defaultHubConfig()
		c.Database = settings.Secret(setting)
		if err := c.Validate(); (err == nil) != good {
			t.Errorf("%q: %v", setting, err)
		}
	}
}
