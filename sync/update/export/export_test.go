package export_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"archive/tar"

	"docent/sync/update/export"
	"docent/sync/update/internal/house"
	"docent/sync/update/trust"
)

func TestBundleIsATar(t *testing.T) {
	h := house.New(t)
	h.Publish(house.Pack(t, 1, 5))
	h.Publish(house.Pack(t, 2, 5, 3))
	set, err := export.Find(t.Context(), h, export.Options{Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Releases) != 1 || set.Releases[0].Number != 2 {
		t.Errorf("releases %+v", set.Releases)
	}
	if d := set.Expires.Sub(h.Now()); d < 6*24*time.Hour || d > 8*24*time.Hour {
		t.Errorf("expires in %v", d)
	}
	var b bytes.Buffer
	if err := set.WriteTo(t.Context(), h, &b, h.Now()); err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(&b)
	var names []string
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	if names[0] != export.About || names[1] != "metadata/1.root.json" || len(names) != 1+len(set.Metadata)+len(set.Objects) {
		t.Errorf("%d files: %.200s", len(names), names)
	}
}

// TestFolder writes a mirror twice: only what is new is written, and what is old goes.
func TestFolder(t *testing.T) {
	h, dir := house.New(t), t.TempDir()
	write := func() export.Written {
		t.Helper()
		set, err := export.Find(t.Context(), h, export.Options{All: true, Now: h.Now})
		if err != nil {
			t.Fatal(err)
		}
		w, err := set.WriteFolder(t.Context(), h, dir)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	h.Publish(house.Pack(t, 1, 20))
	if w := write(); w.Objects < 20 || w.Removed != 0 {
		t.Errorf("first: %+v", w)
	}
	own := filepath.Join(dir, "objects", "README")
	if err := os.WriteFile(own, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h.Publish(house.Pack(t, 2, 20, 3))
	if w := write(); w.Objects != 2 || w.Removed != 0 { // index, picture; the release before stays
		t.Errorf("second: %+v", w)
	}
	h.Publish(house.Pack(t, 3, 20, 3))
	if w := write(); w.Objects != 2 || w.Removed != 2 {
		t.Errorf("third: %+v", w)
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("the file of somebody else: %v", err)
	}
	metadata, err := os.ReadDir(filepath.Join(dir, "metadata"))
	if err != nil || len(metadata) != 4 { // root, timestamp, snapshot, targets
		t.Errorf("%v, %v", metadata, err)
	}
}

// TestFolderOfOthers: a folder with something else in it is refused and left as it was; one that was begun is not.
func TestFolderOfOthers(t *testing.T) {
	h := house.New(t)
	h.Publish(house.Pack(t, 1, 3))
	set, err := export.Find(t.Context(), h, export.Options{All: true, Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	object := strings.Repeat("a", 64)
	for name, tt := range map[string]struct {
		files []string
		good  bool
	}{
		"nothing":                   {nil, true},
		"a mirror that was begun":   {[]string{"objects/" + object, "objects/." + object + ".123", "metadata/1.root.json"}, true},
		"a mirror and a page":       {[]string{"metadata/1.root.json", "metadata/timestamp.json", "index.html"}, true},
		"a page":                    {[]string{"index.html"}, false},
		"objects of something else": {[]string{"objects/chair.obj"}, false},
		"objects in folders":        {[]string{"objects/ab/cd"}, false},
		"metadata of photographs":   {[]string{"metadata/louvre.json"}, false},
		"what a hub publishes from": {[]string{"hub.key", "objects/" + object, "metadata/1.root.json", "metadata/timestamp.json"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tt.files {
				path := filepath.Join(dir, filepath.FromSlash(f))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("mine"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := set.WriteFolder(t.Context(), h, dir)
			if tt.good != (err == nil) || !tt.good && !errors.Is(err, export.ErrForeign) {
				t.Fatal(err)
			}
			if tt.good {
				return
			}
			for _, f := range tt.files {
				if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f))); err != nil || string(data) != "mine" {
					t.Errorf("%s: %s, %v", f, data, err)
				}
			}
		})
	}
}

// TestFindRefuses what a kiosk would refuse.
func TestFindRefuses(t *testing.T) {
	h, other := house.New(t), house.New(t)
	h.Publish(house.Pack(t, 1, 3))
	other.Publish(house.Pack(t, 1, 3))
	_, err := export.Find(t.Context(), h, export.Options{Root: other.Root(), Now: h.Now})
	if trust.Code(err) != "signature" {
		t.Errorf("another house's root: %v", err)
	}
	_, err = export.Find(t.Context(), h, export.Options{Now: func() time.Time { return h.Now().AddDate(0, 0, 10) }})
	if trust.Code(err) != "expired" {
		t.Errorf("after ten days: %v", err)
	}
	_, err = export.Find(t.Context(), house.New(t), export.Options{Now: h.Now})
	if !errors.Is(err, trust.ErrNotFound) {
		t.Errorf("nothing published: %v", err)
	}
	set, err := export.Find(t.Context(), h, export.Options{Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	h.Damage(t, set.Objects[2].SHA256)
	if err := set.WriteTo(t.Context(), h, io.Discard, h.Now()); err == nil || !strings.Contains(err.Error(), "not the one that was signed") {
		t.Errorf("damaged object: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.docent")
	if err := set.WriteFile(t.Context(), h, path, h.Now()); err == nil {
		t.Error("a file was written")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
