package picture

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gocv.io/x/gocv"

	"docent/vision"
)

func write(t *testing.T, name string, w, h int) string {
	t.Helper()
	img := gocv.NewMatWithSize(h, w, gocv.MatTypeCV8UC3)
	defer img.Close()
	rng := gocv.TheRNG()
	rng.Fill(&img, gocv.RNGDistUniform, 0, 255, false)
	path := filepath.Join(t.TempDir(), name)
	if !gocv.IMWrite(path, img) {
		t.Fatalf("write %s", name)
	}
	return path
}

func TestScaled(t *testing.T) {
	for _, tt := range []struct {
		name        string
		w, h, width int
		want        image.Point
	}{
		{"landscape.png", 1000, 500, 320, image.Pt(320, 160)},
		{"portrait.png", 500, 1000, 320, image.Pt(320, 640)},
		{"small.png", 200, 100, 640, image.Pt(200, 100)},
		{"narrow.png", 300, 900, 640, image.Pt(300, 900)},
		{"tall.jpg", 1400, 3000, 1280, image.Pt(1280, 2743)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := NewCache(1<<30).Scaled(t.Context(), write(t, tt.name, tt.w, tt.h), tt.width)
			if err != nil {
				t.Fatal(err)
			}
			img, err := jpeg.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if got := img.Bounds().Size(); got != tt.want {
				t.Errorf("size %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCacheIsBoundedInBytes(t *testing.T) {
	a, b, c := write(t, "a.png", 64, 64), write(t, "b.png", 64, 64), write(t, "c.png", 64, 64)
	cache := NewCache(1 << 30)
	first, err := cache.Scaled(t.Context(), a, 320)
	if err != nil {
		t.Fatal(err)
	}
	cache = NewCache(len(first)*5/2 + 1) // room for two
	for _, path := range []string{a, b, a, c} {
		if _, err := cache.Scaled(t.Context(), path, 320); err != nil {
			t.Fatal(err)
		}
	}
	if cache.Size() > cache.most || len(cache.entries) != 2 || cache.recent.Len() != 2 {
		t.Errorf("%d of %d bytes in %d entries", cache.Size(), cache.most, len(cache.entries))
	}
	// a was used after b, so b is the one that had to go.
	for path, want := range map[string]bool{a: true, b: false, c: true} {
		k, err := keyOf(path, 320)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := cache.get(k); ok != want {
			t.Errorf("%s is kept: %v, want %v", filepath.Base(path), ok, want)
		}
	}
	tiny := NewCache(10)
	if _, err := tiny.Scaled(t.Context(), a, 320); err != nil || tiny.Size() != 0 {
		t.Errorf("a cache too small for one picture holds %d bytes: %v", tiny.Size(), err)
	}
}

// TestFileOfTwoReleasesIsScaledOnce: what two releases share stays at hand when the kiosk switches.
func TestFileOfTwoReleasesIsScaledOnce(t *testing.T) {
	a, b := write(t, "a.png", 64, 64), filepath.Join(t.TempDir(), "b.png")
	if err := os.Link(a, b); err != nil {
		t.Skip("files cannot be linked here:", err)
	}
	cache := NewCache(1 << 20)
	first, err := cache.Scaled(t.Context(), a, 320)
	if err != nil {
		t.Fatal(err)
	}
	second, err := cache.Scaled(t.Context(), b, 320)
	if err != nil || &first[0] != &second[0] || len(cache.entries) != 1 {
		t.Errorf("scaled twice: %d entries, %v", len(cache.entries), err)
	}
	if _, err := cache.Scaled(t.Context(), a+"-none", 320); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestScaledByManyAtOnce(t *testing.T) {
	path := write(t, "a.png", 800, 600)
	cache := NewCache(1 << 20)
	var wg sync.WaitGroup
	for range 8 {
		for _, w := range Widths {
			wg.Go(func() {
				if _, err := cache.Scaled(t.Context(), path, w); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if len(cache.entries) != len(Widths) {
		t.Errorf("%d entries", len(cache.entries))
	}
}

func TestScaledFailures(t *testing.T) {
	cache := NewCache(1 << 20)
	if _, err := cache.Scaled(t.Context(), "/nowhere.png", 320); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	text := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Scaled(t.Context(), text, 320); !errors.Is(err, vision.ErrFormat) {
		t.Errorf("text: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cache.slots <- struct{}{}
	cache.slots <- struct{}{}
	if _, err := cache.Scaled(ctx, write(t, "b.png", 64, 64), 320); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	<-cache.slots
	<-cache.slots
}
