package hold

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hub")
	first, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("held twice: %v", err)
	}
	other, err := Folder(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
