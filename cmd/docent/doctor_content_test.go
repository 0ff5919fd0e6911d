package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/kiosk"
	"docent/sync/update/trust"
)

// stamp is a timestamp.json, without what doctor does not look at.
func stamp(until time.Time) []byte {
	return fmt.Appendf(nil, `{"signatures":[],"signed":{"_type":"timestamp","expires":%q,"version":1}}`, until.UTC().Format(time.RFC3339))
}

func TestDoctorLooksAtContent(t *testing.T) {
	dir := t.TempDir()
	hub, err := trust.OpenHub(filepath.Join(dir, "hub"))
	if err != nil {
		t.Fatal(err)
	}
	author, err := trust.OpenAuthor(filepath.Join(dir, "keys"), hub.Public(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	data, err := author.Root()
	if err != nil {
		t.Fatal(err)
	}
	root, torn := filepath.Join(dir, "root.json"), filepath.Join(dir, "torn.json")
	for path, b := range map[string][]byte{root: data, torn: data[:len(data)/2], filepath.Join(dir, "web", "metadata", "timestamp.json"): stamp(time.Now().Add(time.Hour)),
		filepath.Join(dir, "web", "old", "metadata", "timestamp.json"): stamp(time.Now().Add(-time.Hour)), filepath.Join(dir, "web", "other", "metadata", "timestamp.json"): []byte("{}")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	web := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "web"))))
	defer web.Close()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!doctype html><title>Sign in</title>"))
	}))
	defer pages.Close()
	tests := []struct {
		name string
		set  func(*kiosk.Config)
		want []string // status and a part of the detail
	}{
		{"no root", func(c *kiosk.Config) { c.Hub.Root = "" }, nil},
		{"all well", func(c *kiosk.Config) { c.Content.Mirror = web.URL }, []string{"ok " + root, "ok " + web.URL, "ok looked for in"}},
		{"root is torn, no sticks", func(c *kiosk.Config) { c.Hub.Root, c.Content.StickFolders = torn, nil }, []string{"missing " + torn}},
		{"root is missing", func(c *kiosk.Config) { c.Hub.Root = torn + "x" }, []string{"missing open", "ok looked for in"}},
		{"mirror of nothing, folder of nothing", func(c *kiosk.Config) {
			c.Content.Mirror, c.Content.StickFolders = web.URL+"/elsewhere", []string{filepath.Join(dir, "none")}
		}, []string{"ok", "note " + web.URL + "/elsewhere answers, but has no", "note none of"}},
		{"mirror of pages", func(c *kiosk.Config) { c.Content.Mirror = pages.URL }, []string{"ok", "note " + pages.URL + " answers, but what it gives as metadata/timestamp.json is none: it begins with", "ok"}},
		{"mirror of other things", func(c *kiosk.Config) { c.Content.Mirror = web.URL + "/other" }, []string{"ok", "note " + web.URL + "/other answers, but what it gives", "ok"}},
		{"mirror that ran out", func(c *kiosk.Config) { c.Content.Mirror = web.URL + "/old" }, []string{"ok", "note " + web.URL + "/old has content, whose metadata ran out on", "ok"}},
		{"mirror is off", func(c *kiosk.Config) { c.Content.Mirror = "http://127.0.0.1:1" }, []string{"ok", "note mirror: fetch timestamp.json", "ok"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := kiosk.DefaultConfig()
			config.Hub.Root, config.Content.StickFolders = root, []string{dir}
			tt.set(&config)
			got := doctor{config: config}.content(t.Context())
			if len(got) != len(tt.want) {
				t.Fatalf("%+v", got)
			}
			for i, f := range got {
				if line := f.Status + " " + f.Detail; !strings.HasPrefix(line, tt.want[i]) {
					t.Errorf("%s, want %s", line, tt.want[i])
				}
			}
		})
	}
}
