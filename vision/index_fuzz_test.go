package vision_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"docent/vision"
	"docent/vision/internal/sealed"
)

var indexFiles = []string{"index.bin", "features.bin", "model.bin", "votes.bin", "vectors.bin"}

// small is the files of an index of two paintings.
func small(t testing.TB) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if _, err := vision.BuildIndex(context.Background(), references(t, 2), dir, vision.Options{}); err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, name := range indexFiles {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

func put(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzOpenChangedIndex changes one byte of one file: that is an error, always.
func FuzzOpenChangedIndex(f *testing.F) {
	whole := small(f)
	for i := range indexFiles {
		f.Add(uint8(i), uint32(0), byte(1))
		f.Add(uint8(i), uint32(len(whole[indexFiles[i]])/2), byte(0x80))
		f.Add(uint8(i), uint32(len(whole[indexFiles[i]])-1), byte(0xff))
	}
	dir := f.TempDir()
	put(f, dir, whole)
	f.Fuzz(func(t *testing.T, file uint8, at uint32, change byte) {
		if change == 0 {
			return
		}
		name := indexFiles[int(file)%len(indexFiles)]
		bad := bytes.Clone(whole[name])
		bad[int(at)%len(bad)] ^= change
		put(t, dir, map[string][]byte{name: bad})
		defer put(t, dir, map[string][]byte{name: whole[name]})
		if r, err := vision.Open(dir, vision.Options{}); !errors.Is(err, vision.ErrDamaged) {
			if err == nil {
				r.Close()
			}
			t.Fatalf("%s with byte %d changed by %#x: error %v, want ErrDamaged", name, int(at)%len(bad), change, err)
		}
	})
}

// FuzzOpenForgedIndex changes bytes and puts the right sums to them, as a faulty builder might: what is opened all the
// same must not panic when a photo is recognised, and what it answers must be of the list.
func FuzzOpenForgedIndex(f *testing.F) {
	whole := small(f)
	for i := range 4 {
		for _, at := range []uint32{0, 3, 4, 8, 12, 40, 1000} {
			f.Add(uint8(i), at, []byte{0xff})
			f.Add(uint8(i), at, []byte{0, 0, 0, 0x7f})
		}
	}
	shot, _ := photo(f, 0, nil)
	kinds := map[string]string{"index.bin": "DOCIDX1", "features.bin": "DOCFEA1", "model.bin": "DOCMOD1", "votes.bin": "DOCVOT3"}
	content := make(map[string][]byte)
	for name, kind := range kinds {
		dir := f.TempDir()
		put(f, dir, map[string][]byte{name: whole[name]})
		data, _, err := sealed.ReadFile(filepath.Join(dir, name), kind, 1<<30)
		if err != nil {
			f.Fatal(err)
		}
		content[name] = data
	}
	dir := f.TempDir()
	put(f, dir, whole)
	f.Fuzz(func(t *testing.T, file uint8, at uint32, change []byte) {
		name := indexFiles[int(file)%4]
		bad := bytes.Clone(content[name])
		copy(bad[int(at)%len(bad):], change)
		seal := func(name string, data []byte) {
			if _, err := sealed.WriteFile(filepath.Join(dir, name), kinds[name], data); err != nil {
				t.Fatal(err)
			}
		}
		seal(name, bad)
		if key := map[string]string{"features.bin": "features_sha256", "model.bin": "model_sha256", "votes.bin": "votes_sha256"}[name]; key != "" {
			var list map[string]any
			if err := json.Unmarshal(content["index.bin"], &list); err != nil {
				t.Fatal(err)
			}
			list[key] = fmt.Sprintf("%x", sumOf(t, filepath.Join(dir, name), kinds[name]))
			data, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			seal("index.bin", data)
		}
		defer put(t, dir, map[string][]byte{name: whole[name], "index.bin": whole["index.bin"]})
		r, err := vision.Open(dir, vision.Options{})
		if err != nil {
			return
		}
		defer r.Close()
		got, err := r.Recognise(context.Background(), shot)
		if err != nil {
			t.Fatalf("recognise: %v", err)
		}
		for _, c := range got.Candidates {
			if name != "index.bin" && c.ExhibitID != "a0" && c.ExhibitID != "a1" || c.Confidence < 0 || c.Confidence > 1 {
				t.Fatalf("candidate %+v", c)
			}
		}
	})
}

func sumOf(t testing.TB, path, kind string) sealed.Sum {
	t.Helper()
	_, sum, err := sealed.ReadFile(path, kind, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
