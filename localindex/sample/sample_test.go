package sample

import (
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"docent/localindex/sample/draw"
)

func TestWriteRefusesAFolderWithSomethingInIt(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), dir); !errors.Is(err, ErrNotEmpty) {
		t.Fatalf("error %v, want ErrNotEmpty", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("folder now holds %v (%v), want only what was there", entries, err)
	}
}

func TestWriteRefusesAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), file); err == nil {
		t.Error("no error")
	}
}

func TestWriteCancelledLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "gallery")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Write(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("folder holds %v (%v), want nothing", entries, err)
	}
}

func TestWriteWhole(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("runs the simulations behind some pictures")
	}
	dir := t.TempDir()
	small := func(d draw.Drawing) image.Image { return d.DrawAt(0.05) }
	if err := write(t.Context(), dir, small); err != nil {
		t.Fatal(err)
	}
	for _, d := range draw.All() {
		f, err := os.Open(filepath.Join(dir, "pictures", d.ID+".png"))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := png.Decode(f); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
		f.Close()
		for _, name := range []string{d.ID + ".md", d.ID + ".zh.md"} {
			if _, err := os.Stat(filepath.Join(dir, "exhibits", name)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range []string{"gallery.yaml", "documents"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "gallery.yaml.part")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the part of the head is left: %v", err)
	}
}

func TestWriteFailingHalfWayLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var drawn atomic.Int32
	err := write(ctx, dir, func(draw.Drawing) image.Image {
		if drawn.Add(1) == 3 {
			cancel()
		}
		return image.NewGray(image.Rect(0, 0, 4, 4))
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("folder holds %v (%v), want nothing", entries, err)
	}
}
