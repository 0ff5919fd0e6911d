package trust

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/theupdateframework/go-tuf/v2/metadata"
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
	if _, err := a.Sign([]byte("first"), "1-abc", 1); err != nil {
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
	for _, name := range []string{"timestamp.json", fmt.Sprintf("%d.snapshot.json", now.Unix()), "2.targets.json"} {
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
		targets, err := c.Refresh(t.Context(), func(_ context.Context, n string, _ int64) ([]byte, error) {
			if n == name {
				return data, nil
			}
			if d, ok := good[n]; ok {
				return d, nil
			}
			return nil, ErrNotFound
		}, now)
		if err == nil && (len(targets) != 2 || targets[0].ReleaseID != "1-abc" || targets[1].ReleaseID != "2-abc") {
			t.Errorf("accepted %+v", targets)
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

// TestWhichReleasesAreSigned signs one release after another: the one before stays, unless it is told to go.
func TestWhichReleasesAreSigned(t *testing.T) {
	dir := t.TempDir()
	clock := func() time.Time { return now }
	hub, err := OpenHub(filepath.Join(dir, "hub"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenAuthor(filepath.Join(dir, "keys"), hub.Public(), clock)
	if err != nil {
		t.Fatal(err)
	}
	root, err := a.Root()
	if err != nil {
		t.Fatal(err)
	}
	kiosk, err := NewClient(filepath.Join(dir, "kiosk"), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id     string
		number int
		only   bool
		rotate bool
		want   string
	}{
		{id: "1-a", number: 1, want: "[1-a]"},
		{id: "2-a", number: 2, want: "[1-a 2-a]"},
		{id: "3-a", number: 3, want: "[2-a 3-a]"},
		{id: "3-b", number: 3, want: "[2-a 3-b]"}, // built anew under its number
		{id: "2-a", number: 2, want: "[2-a 3-b]"},
		{id: "4-a", number: 4, rotate: true, want: "[3-b 4-a]"},
		{id: "3-b", number: 3, only: true, want: "[3-b]"}, // the newer one is taken away
		{id: "5-a", number: 5, want: "[3-b 5-a]"},
	} {
		if tt.rotate {
			if err := a.Rotate(); err != nil {
				t.Fatal(err)
			}
		}
		sign := a.Sign
		if tt.only {
			sign = a.SignOnly
		}
		files, err := sign([]byte("index of "+tt.id), tt.id, tt.number)
		if err != nil {
			t.Fatal(err)
		}
		newest, err := hub.Publish(files, now)
		if err != nil {
			t.Fatal(err)
		}
		published, err := hub.Targets()
		if err != nil {
			t.Fatal(err)
		}
		got, err := kiosk.Refresh(t.Context(), func(_ context.Context, name string, _ int64) ([]byte, error) {
			data, err := os.ReadFile(hub.Path(name))
			if errors.Is(err, fs.ErrNotExist) {
				return nil, ErrNotFound
			}
			return data, err
		}, now)
		if err != nil {
			t.Fatal(err)
		}
		if ids(got) != tt.want || ids(published) != tt.want || newest.ReleaseID != got[len(got)-1].ReleaseID {
			t.Errorf("after %s: kiosks may show %s, the hub says %s, newest %s; want %s", tt.id, ids(got), ids(published), newest.ReleaseID, tt.want)
		}
	}
}

func ids(targets []Target) string {
	var out []string
	for _, t := range targets {
		out = append(out, t.ReleaseID)
	}
	return fmt.Sprint(out)
}

// TestTargetsAreRefused signs lists of releases that no author's tool writes.
func TestTargetsAreRefused(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, custom string) *metadata.TargetFiles {
		f, err := metadata.TargetFile().FromBytes(name, []byte("index"), "sha256")
		if err != nil {
			t.Fatal(err)
		}
		raw := json.RawMessage(custom)
		f.Custom = &raw
		return f
	}
	many := map[string]*metadata.TargetFiles{}
	for i := range MaxTargetCount + 1 {
		many[fmt.Sprintf("%d-a.json", i)] = file("x", fmt.Sprintf(`{"release_id":"%d-a","number":%d}`, i, i))
	}
	for name, targets := range map[string]map[string]*metadata.TargetFiles{
		"none":             {},
		"too many":         many,
		"not described":    {"1-a.json": {Length: 5}},
		"another's name":   {"1-b.json": file("1-b.json", `{"release_id":"1-a","number":1}`)},
		"no id":            {".json": file(".json", `{"number":-1}`)},
		"two of a number":  {"1-a.json": file("1-a.json", `{"release_id":"1-a","number":1}`), "1-b.json": file("1-b.json", `{"release_id":"1-b","number":1}`)},
		"described by a 1": {"1-a.json": file("1-a.json", `1`)},
	} {
		m := metadata.Targets(now)
		m.Signed.Targets = targets
		if _, err := signed(m, key); err != nil {
			t.Fatal(err)
		}
		if got, err := list(m); Code(err) != "metadata" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
