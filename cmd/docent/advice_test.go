package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrorsSayWhatToDo makes the mistakes that newcomers make.
func TestErrorsSayWhatToDo(t *testing.T) {
	full, empty := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(full, "releases", "3"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gallery.yaml", "releases/3/manifest.json"} {
		if err := os.WriteFile(filepath.Join(full, filepath.FromSlash(name)), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	nobody := freeAddress(t)
	config := filepath.Join(empty, "hub.yaml")
	if err := os.WriteFile(config, []byte("data_dir: "+filepath.Join(empty, "hub")+"\nhttp_listen: "+taken.Addr().String()+"\nmqtt_listen: 127.0.0.1:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(empty, "away.yaml")
	if err := os.WriteFile(away, []byte("data_dir: "+filepath.Join(empty, "away")+"\nhttp_listen: 127.0.0.1:0\nmqtt_listen: 127.0.0.1:0\ndatabase: postgres://hub@"+nobody+"/docent\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		want string // part of what is said
	}{
		{"no gallery", []string{"gallery", "check", filepath.Join(empty)}, "docent gallery new"},
		{"a sample over something", []string{"gallery", "new", full}, "does not exist yet"},
		{"the same number again", []string{"gallery", "build", full, "--number", "3"}, "leave out --number"},
		{"sign a gallery", []string{"gallery", "sign", full, "--keys", filepath.Join(empty, "keys"), "--out", filepath.Join(empty, "out")}, "releases/1"},
		{"publish a gallery", []string{"gallery", "publish", full}, "docent gallery sign --out"},
		{"a hub elsewhere", []string{"emergency", "tell", "--hub", "http://" + nobody}, "--hub http"},
		{"a kiosk list elsewhere", []string{"hub", "kiosks", "list", "--hub", "http://" + nobody}, "--hub http"},
		{"a database elsewhere", []string{"hub", "--config", away}, "see that PostgreSQL runs"},
		{"an address in use", []string{"hub", "--config", config}, "set another address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, _, errs := docent(t, tt.args...)
			if code == exitDone || !strings.Contains(errs, tt.want) {
				t.Errorf("exit code %d, said %q, want %q in it", code, errs, tt.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(empty, "keys")); err == nil {
		t.Error("keys were made although there was nothing to sign")
	}
}
