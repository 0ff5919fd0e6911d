package trust

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var now = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// FuzzRefresh feeds each role's metadata to a kiosk's trust.
func FuzzRefresh(f *testing.F) {
	dir := f.TempDir()
	hub, err := OpenHub(filepath.Join(dir, "hub"))
	if err != nil {
		f.Fatal(err)
	}
	clock := func() time.Time { return now }
	a, err := OpenAuthor(filepath.Join(dir, "keys"), hub.Public(), clock)
	if err != nil {
		f.Fatal(err)
	}
	root, err := a.Root()
	if err != nil {
		f.Fatal(err)
	}
	signed, err := a.Sign([]byte("index"), "2-abc", 2)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := hub.Publish(signed, now); err != nil {
		f.Fatal(err)
	}
	good := map[string][]byte{}
	for _, name := range []string{"timestamp.json", fmt.Sprintf("%d.snapshot.json", now.Unix()), "1.targets.json"} {
		if good[name], err = os.ReadFile(hub.Path(name)); err != nil {
			f.Fatal(err)
		}
		f.Add(name, good[name])
	}
	f.Add("2.root.json", root)
	f.Add("2.root.json", []byte(`{"signed":{"_type":"root","version":2,"roles":{"root":{"keyids":[],"threshold":0}}},"signatures":[]}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		c, err := NewClient(t.TempDir(), root)
		if err != nil {
			t.Fatal(err)
		}
		target, err := c.Refresh(t.Context(), func(_ context.Context, n string, _ int64) ([]byte, error) {
			if n == name {
				return data, nil
			}
			if d, ok := good[n]; ok {
				return d, nil
			}
			return nil, ErrNotFound
		}, now)
		if err == nil && (target.Number != 2 || target.ReleaseID != "2-abc") {
			t.Errorf("accepted %+v", target)
		}
	})
}

// TestHubRefuses publishes what a hub must not take.
func TestHubRefuses(t *testing.T) {
	dir := t.TempDir()
	clock := func() time.Time { return now }
	hub, err := OpenHub(filepath.Join(dir, "hub"))
	if err != nil {
		t.Fatal(err)
	}
	author := func(name string, h *Hub) *Author {
		a, err := OpenAuthor(filepath.Join(dir, name), h.Public(), clock)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	sign := func(a *Author) map[string][]byte {
		files, err := a.Sign([]byte("index"), "2-abc", 2)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	a := author("keys", hub)
	first, second := sign(a), sign(a)
	if _, err := hub.Publish(second, now); err != nil {
		t.Fatal(err)
	}
	otherHub, err := OpenHub(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		files map[string][]byte
		code  string
	}{
		"older":               {first, "stale"},
		"the same again":      {second, "stale"},
		"other author":        {sign(author("others", hub)), "stale"},
		"root for other hubs": {sign(author("keys2", otherHub)), "stale"},
	} {
		if _, err := hub.Publish(tt.files, now); Code(err) != tt.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	others := author("others", hub)
	sign(others)
	if _, err := hub.Publish(sign(others), now); Code(err) != "signature" {
		t.Errorf("newer, of another author: %v", err)
	}
	fresh, err := OpenHub(filepath.Join(dir, "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Publish(second, now); Code(err) != "signature" {
		t.Errorf("to a hub whose key the root does not name: %v", err)
	}
	if got, err := hub.Current(); err != nil || got.Version != 2 {
		t.Errorf("current %+v, %v", got, err)
	}
	before, err := os.ReadFile(hub.Path("timestamp.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after   time.Duration
		renewed bool
	}{{time.Hour, false}, {24 * time.Hour, true}} {
		if err := hub.Renew(now.Add(tt.after)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(hub.Path("timestamp.json"))
		if err != nil {
			t.Fatal(err)
		}
		if (string(data) != string(before)) != tt.renewed {
			t.Errorf("after %s: renewed is %t", tt.after, !tt.renewed)
		}
	}
}
