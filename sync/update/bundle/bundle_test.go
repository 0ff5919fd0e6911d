package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
	"docent/localindex/release"
)

// index is a part of a release of one file: an index of which everything before the change is some bytes longer.
type index struct {
	change bool
	size   int
}

func (index) Name() string { return "index" }
func (p index) Build(_ context.Context, _ *gallery.Gallery, _, dir string) (any, error) {
	data := random(1, p.size)
	if p.change {
		data = append(bytes.Clone(data[:p.size/3]), append([]byte("some bytes more"), data[p.size/3:]...)...)
	}
	return nil, os.WriteFile(filepath.Join(dir, "index.bin"), data, 0o644)
}

func random(seed uint64, n int) []byte {
	data := make([]byte, n)
	r := rand.NewPCG(seed, 0)
	for i := 0; i+8 <= n; i += 8 {
		v := r.Uint64()
		for j := range 8 {
			data[i+j] = byte(v >> (8 * j))
		}
	}
	return data
}

// pack makes a release with n pictures of 30 kB and an index of some size; changed has another picture and index.
func pack(t testing.TB, n, size int, changed bool) string {
	t.Helper()
	from := t.TempDir()
	if err := os.MkdirAll(filepath.Join(from, "pictures"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := &gallery.Gallery{ID: "test", Name: gallery.Localized{"en": "Test"}, Languages: []string{"en"}}
	for i := range n {
		seed := uint64(i)
		if changed && i == n/2 {
			seed += 1 << 32
		}
		file := fmt.Sprintf("pictures/exhibit-%04d.jpg", i)
		if err := os.WriteFile(filepath.Join(from, file), random(seed, 30_000+8*int(seed%1000)), 0o644); err != nil {
			t.Fatal(err)
		}
		g.Exhibits = append(g.Exhibits, gallery.Exhibit{ID: fmt.Sprint("e", i), Pictures: []gallery.Picture{{File: file}}})
	}
	c := release.Content{Gallery: g, PicturesFrom: from, Number: 1, Created: time.Unix(1e9, 0), Parts: []release.Part{index{changed, size}}}
	if changed {
		c.Number = 2
	}
	dst := filepath.Join(t.TempDir(), "r")
	if _, err := release.Pack(t.Context(), dst, c); err != nil {
		t.Fatal(err)
	}
	return dst
}

// TestOnePictureOfAThousandChanged counts what travels: the index, in which the manifest is, and the chunks that a kiosk
// with the release before does not have.
func TestOnePictureOfAThousandChanged(t *testing.T) {
	old, err := Make(t.Context(), pack(t, 1000, 8<<20, false))
	if err != nil {
		t.Fatal(err)
	}
	x, data, err := Write(t.Context(), pack(t, 1000, 8<<20, true), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	have := map[Chunk]bool{}
	for _, f := range old.Files {
		for _, c := range f.Chunks {
			have[c] = true
		}
	}
	chunks, size := map[string]int{}, int64(0)
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			if !have[c] {
				have[c] = true
				chunks[f.Path]++
				size += c.Size
			}
		}
	}
	want := map[string]int{"pictures/exhibit-0500.jpg": 1, "parts/index/index.bin": 1}
	if diff := cmp.Diff(want, chunks); diff != "" {
		t.Errorf("chunks that travel (-want +got):\n%s", diff)
	}
	if len(data) > 64<<10 {
		t.Errorf("the index has %d bytes", len(data))
	}
	t.Logf("of 1,000 pictures and an index of 8 MiB a picture and a part of the index changed: %d chunks of %d bytes travel, and an index of %d bytes; the manifest within has %d",
		len(chunks), size, len(data), len(x.Manifest))
}

func TestIndexReadsBack(t *testing.T) {
	x, err := Make(t.Context(), pack(t, 3, 3<<20, false))
	if err != nil {
		t.Fatal(err)
	}
	data, err := x.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if diff := cmp.Diff(x, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	x.Files[0].Chunks = nil
	if _, err := x.Encode(); err == nil {
		t.Error("an index with a file of no chunks was encoded")
	}
}

func TestDecodeRefuses(t *testing.T) {
	x, err := Make(t.Context(), pack(t, 2, 3<<20, false))
	if err != nil {
		t.Fatal(err)
	}
	data, err := x.Encode()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	packed := func(s string) []byte {
		b, err := packBytes([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	good := string(plain)
	for name, b := range map[string][]byte{
		"not packed":         plain,
		"cut off":            data[:len(data)-9],
		"something after":    append(bytes.Clone(data), 'x'),
		"another format":     packed(strings.Replace(good, `"format":2`, `"format":1`, 1)),
		"unknown field":      packed(strings.Replace(good, `"format":2`, `"format":2,"x":1`, 1)),
		"something follows":  packed(good + "{}"),
		"changed manifest":   packed(strings.Replace(good, `exhibit-0001`, `exhibit-0009`, 1)),
		"a file of nobody's": packed(strings.Replace(good, `"cut":{`, `"cut":{"a":[],`, 1)),
		"empty chunk":        packed(strings.Replace(good, `"n":`, `"n":0`, 1)),
		"too much unpacked":  packed(strings.Repeat(" ", maxPlain+1)),
	} {
		if _, err := Decode(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestCuts finds chunks within their bounds that together are the file.
func TestCuts(t *testing.T) {
	for _, tt := range []struct {
		name string
		data []byte
		want int // chunks, 0 for several
	}{
		{"a.bin", nil, -1},
		{"a.bin", random(1, maxUncut), 1},
		{"a.png", random(1, MaxWhole), 1},
		{"a.png", random(1, MaxWhole+8), 0},
		{"a.bin", random(1, MaxWhole), 0},
		{"zeros.bin", make([]byte, 3*maxChunk), 3},
	} {
		c := newCutter(bytes.NewReader(tt.data), tt.name, int64(len(tt.data)))
		var all []byte
		n := 0
		for {
			chunk, err := c.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if n++; len(chunk) > MaxWhole || tt.want == 0 && len(chunk) > maxChunk {
				t.Errorf("%s: a chunk of %d bytes", tt.name, len(chunk))
			}
			all = append(all, chunk...)
		}
		if !bytes.Equal(all, tt.data) || tt.want > 0 && n != tt.want || tt.want == 0 && n < 3 || tt.want < 0 && n > 0 {
			t.Errorf("%s of %d bytes: %d chunks, want %d", tt.name, len(tt.data), n, tt.want)
		}
		if tt.want == 0 {
			t.Logf("%s of %d bytes: %d chunks", tt.name, len(tt.data), n)
		}
	}
}

// FuzzDecodeIndex feeds the index decoder with what is unpacked.
func FuzzDecodeIndex(f *testing.F) {
	x, err := Make(f.Context(), pack(f, 2, 3<<20, false))
	if err != nil {
		f.Fatal(err)
	}
	data, err := x.Encode()
	if err != nil {
		f.Fatal(err)
	}
	plain, err := unpack(data)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain, true)
	f.Add(data, false)
	f.Add([]byte(`{"format":2,"manifest":"{}","cut":{"../../etc/passwd":[{"h":"x","n":1}]}}`), true)
	f.Fuzz(func(t *testing.T, data []byte, plain bool) {
		if plain {
			var err error
			if data, err = packBytes(data); err != nil {
				t.Fatal(err)
			}
		}
		x, err := Decode(data)
		if err != nil {
			return
		}
		for _, file := range x.Files {
			if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
				t.Errorf("accepted the path %q", file.Path)
			}
		}
		if _, err := x.Encode(); err != nil {
			t.Error(err)
		}
	})
}
