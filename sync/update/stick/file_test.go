package stick

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/sync/update/bundle"
	"docent/sync/update/export"
	"docent/sync/update/internal/house"
	"docent/sync/wire"
)

// write makes a bundle file of what a house publishes.
func write(t testing.TB, h *house.House, path string) {
	t.Helper()
	set, err := export.Find(t.Context(), h, export.Options{Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := set.WriteFile(t.Context(), h, path, h.Now()); err != nil {
		t.Fatal(err)
	}
}

func TestFileAnswersAsTheHub(t *testing.T) {
	h := house.New(t)
	x := h.Publish(house.Pack(t, 1, 5))
	path := filepath.Join(t.TempDir(), "1.docent")
	write(t, h, path)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Label(); l.ReleaseID != x.ReleaseID || l.Number != 1 || l.Objects != len(f.objects) {
		t.Errorf("label %+v", l)
	}
	names := []string{"1.root.json", "2.root.json", "timestamp.json", wire.DesiredName, bundle.Sum([]byte("nothing"))}
	for sum := range f.objects {
		names = append(names, sum)
	}
	for _, name := range names {
		for _, offset := range []int64{0, 1, 1000, 1 << 20} {
			req := wire.Fetch{ID: 7, Name: name, Offset: offset, Length: 5000}
			want, err := h.Fetch(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Fetch(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if got.Error != want.Error || got.Size != want.Size || !bytes.Equal(got.Data, want.Data) || got.Error == "" && got.Offset != want.Offset {
				t.Errorf("%s at %d: %d bytes at %d of %d (%s), the hub %d at %d of %d (%s)", name, offset,
					len(got.Data), got.Offset, got.Size, got.Error, len(want.Data), want.Offset, want.Size, want.Error)
			}
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTornAtAnyByte cuts a bundle off: what is opened all the same holds every object.
func TestTornAtAnyByte(t *testing.T) {
	h := house.New(t)
	h.Publish(house.Pack(t, 1, 3))
	dir := t.TempDir()
	path := filepath.Join(dir, "1.docent")
	write(t, h, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, "torn.docent")
	end := len(bytes.TrimRight(whole, "\x00")) // of the last object, then come zeros
	for n := 0; n < end; n += 997 {
		if err := os.WriteFile(torn, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(torn)
		var broken *BrokenError
		if err == nil {
			t.Fatalf("cut at %d of %d: opened", n, len(whole))
		}
		if !errors.As(err, &broken) || n > 1024 && broken.Code != codeTorn {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	// A stick that was pulled while it was written: the length is there, the bytes are not.
	for i := end / 2; i < len(whole); i++ {
		whole[i] = 0
	}
	if err := os.WriteFile(torn, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	var broken *BrokenError
	if _, err := Open(torn); !errors.As(err, &broken) || broken.Code != codeTorn {
		t.Errorf("zeros from the middle on: %v", err)
	}
}

func TestNotABundle(t *testing.T) {
	type entry struct {
		name string
		data string
		kind byte
	}
	about := entry{export.About, `{"format":1,"release_id":"1-a","number":1,"objects":1}`, tar.TypeReg}
	object := entry{"objects/" + bundle.Sum([]byte("x")), "x", tar.TypeReg}
	stamp := entry{"metadata/timestamp.json", "{}", tar.TypeReg}
	tests := []struct {
		name    string
		entries []entry
		want    string // of the error, empty for none
	}{
		{"all there", []entry{about, stamp, object}, ""},
		{"with something else", []entry{about, {"readme.txt", "hello", tar.TypeReg}, stamp, object, {"../../etc/passwd", "x", tar.TypeReg}}, ""},
		{"empty", nil, "no release in it"},
		{"another archive", []entry{{"a.txt", "hello", tar.TypeReg}}, "does not begin with"},
		{"link", []entry{about, {"objects/x", "", tar.TypeSymlink}, stamp, object}, "no plain file"},
		{"device", []entry{about, {"objects/x", "", tar.TypeChar}}, "no plain file"},
		{"object twice", []entry{about, stamp, object, object}, "twice"},
		{"metadata twice", []entry{about, stamp, stamp, object}, "twice"},
		{"large metadata", []entry{about, {"metadata/timestamp.json", strings.Repeat("x", maxMetadata+1), tar.TypeReg}}, "too large"},
		{"large about", []entry{{export.About, strings.Repeat(" ", export.AboutLimit+1), tar.TypeReg}}, "too large"},
		{"newer", []entry{{export.About, `{"format":2}`, tar.TypeReg}}, "another version"},
		{"no metadata", []entry{about, object}, "no release in it"},
		{"empty object", []entry{about, stamp, {object.name, "", tar.TypeReg}}, "has 0 bytes"},
		{"objects missing", []entry{{export.About, `{"format":1,"objects":9}`, tar.TypeReg}, stamp, object}, "1 of its 9 objects"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			for _, e := range tt.entries {
				h := &tar.Header{Name: e.name, Size: int64(len(e.data)), Typeflag: e.kind, Mode: 0o644, Format: tar.FormatUSTAR}
				if e.kind == tar.TypeSymlink {
					h.Linkname = "/etc/passwd"
				}
				if err := w.WriteHeader(h); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(w, e.data); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "a.docent")
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			if tt.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
}

// FuzzOpen: whatever lies on a stick, opening it ends, within bounds, and what is read of it are its own bytes.
func FuzzOpen(f *testing.F) {
	var whole bytes.Buffer
	w := tar.NewWriter(&whole)
	for _, e := range [][2]string{
		{export.About, `{"format":1,"release_id":"1-a","number":1,"objects":1}`}, {"metadata/timestamp.json", "{}"}, {"objects/" + bundle.Sum([]byte("x")), "x"},
	} {
		if err := w.WriteHeader(&tar.Header{Name: e[0], Size: int64(len(e[1])), Typeflag: tar.TypeReg, Mode: 0o644, Format: tar.FormatUSTAR}); err != nil {
			f.Fatal(err)
		}
		if _, err := io.WriteString(w, e[1]); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:1600])
	f.Add([]byte("docent.json"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Open(path)
		if err != nil {
			return
		}
		for sum, at := range b.objects {
			c, err := b.Fetch(t.Context(), wire.Fetch{Name: sum, Length: wire.MaxBlock})
			if err != nil {
				t.Fatalf("object of %d bytes at %d in a file of %d: %v", at.size, at.offset, len(data), err)
			}
			if err := c.Validate(); err != nil || !bytes.Equal(c.Data, data[at.offset:at.offset+int64(len(c.Data))]) {
				t.Errorf("%d bytes, %v", len(c.Data), err)
			}
		}
	})
}
