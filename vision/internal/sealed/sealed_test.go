package sealed

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSealAndUnseal(t *testing.T) {
	for _, content := range []string{"", "x", "a list of pictures"} {
		data, sum := Seal("TEST1", []byte(content))
		got, gotSum, err := Unseal("TEST1", data)
		if err != nil || string(got) != content || gotSum != sum {
			t.Errorf("%q came back as %q, error %v", content, got, err)
		}
		if _, _, err := Unseal("TEST2", data); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q as another kind: error %v, want ErrDamaged", content, err)
		}
	}
}

func TestEveryChangedByteIsSeen(t *testing.T) {
	data, _ := Seal("TEST1", []byte("content"))
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1
		if _, _, err := Unseal("TEST1", bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d changed: error %v, want ErrDamaged", i, err)
		}
		if _, _, err := Unseal("TEST1", data[:i]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at byte %d: error %v, want ErrDamaged", i, err)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	sum, err := WriteFile(path, "TEST1", []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	got, gotSum, err := ReadFile(path, "TEST1", 100)
	if err != nil || string(got) != "content" || gotSum != sum {
		t.Errorf("read %q, error %v", got, err)
	}
	mapped, gotSum, unmap, err := MapFile(path, "TEST1", 100)
	if err != nil || string(mapped) != "content" || gotSum != sum {
		t.Fatalf("mapped %q, error %v", mapped, err)
	}
	if err := unmap(); err != nil {
		t.Errorf("unmap: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left, want 1", len(entries))
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	long, short, empty := filepath.Join(dir, "long"), filepath.Join(dir, "short"), filepath.Join(dir, "empty")
	if _, err := WriteFile(long, "TEST1", bytes.Repeat([]byte("x"), 200)); err != nil {
		t.Fatal(err)
	}
	whole, _ := Seal("TEST1", []byte("content"))
	for path, data := range map[string][]byte{short: whole[:len(whole)-1], empty: nil} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path string
		want error
	}{{long, ErrDamaged}, {short, ErrDamaged}, {empty, ErrDamaged}, {filepath.Join(dir, "none"), fs.ErrNotExist}} {
		if _, _, err := ReadFile(c.path, "TEST1", 100); !errors.Is(err, c.want) {
			t.Errorf("read %s: error %v, want %v", filepath.Base(c.path), err, c.want)
		}
		if _, _, _, err := MapFile(c.path, "TEST1", 100); !errors.Is(err, c.want) {
			t.Errorf("map %s: error %v, want %v", filepath.Base(c.path), err, c.want)
		}
	}
	if _, err := WriteFile(filepath.Join(dir, "none", "a"), "TEST1", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("write into no folder: error %v, want ErrNotExist", err)
	}
}

func FuzzUnseal(f *testing.F) {
	data, _ := Seal("TEST1", []byte("content"))
	f.Add(data)
	f.Add(data[:headSize])
	f.Add([]byte("TEST1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		content, _, err := Unseal("TEST1", data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("error %v is not ErrDamaged", err)
			}
			return
		}
		if again, _ := Seal("TEST1", content); !bytes.Equal(again, data) {
			t.Error("an accepted file is not what would be written")
		}
	})
}
