package release

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
)

// words is a part that writes some files.
type words struct {
	name  string
	files map[string]string
	err   error
	link  bool
}

func (w words) Name() string { return w.name }

func (w words) Build(_ context.Context, _ *gallery.Gallery, _, partDir string) (any, error) {
	for name, text := range w.files {
		if err := os.WriteFile(filepath.Join(partDir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if w.link {
		if err := os.Symlink("/etc/passwd", filepath.Join(partDir, "link")); err != nil {
			return nil, err
		}
	}
	return map[string]int{"files": len(w.files)}, w.err
}

func content(t *testing.T, parts ...Part) Content {
	t.Helper()
	from := t.TempDir()
	if err := os.MkdirAll(filepath.Join(from, "pictures", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pictures/a.png", "pictures/deep/鼎.png", "pictures/unused.png"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte("picture "+name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return Content{
		Gallery: &gallery.Gallery{
			ID: "test", Name: gallery.Localized{"en": "Test"}, Languages: []string{"en", "zh"},
			Exhibits: []gallery.Exhibit{
				{ID: "a", Pictures: []gallery.Picture{{File: "pictures/a.png"}}},
				{ID: "b", Pictures: []gallery.Picture{{File: "pictures/deep/鼎.png"}, {File: "pictures/a.png"}}},
			},
			Sections: []gallery.Section{{ID: "a/en/1", Exhibit: "a", Text: "A <b> & c."}},
		},
		Passages:     []gallery.Passage{{ID: "a/en/1#1", Section: "a/en/1", Text: "A <b> & c."}},
		PicturesFrom: from,
		Number:       7,
		Created:      time.Date(2026, 5, 4, 3, 2, 1, 999, time.UTC),
		Parts:        parts,
	}
}

func pack(t *testing.T, c Content) string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "releases", "7")
	if _, err := Pack(t.Context(), dst, c); err != nil {
		t.Fatal(err)
	}
	return dst
}

func paths(m Manifest) []string {
	var ps []string
	for _, f := range m.Files {
		ps = append(ps, f.Path)
	}
	return ps
}

func TestPackAndVerify(t *testing.T) {
	c := content(t, words{name: "words", files: map[string]string{"x.bin": "x", "y.bin": ""}})
	dst := filepath.Join(t.TempDir(), "releases", "7")
	packed, err := Pack(t.Context(), dst, c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Verify(t.Context(), dst)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(packed, m); diff != "" {
		t.Errorf("Verify returns another manifest than Pack (-pack +verify):\n%s", diff)
	}
	want := []string{
		"catalogue.json", "parts/words/x.bin", "parts/words/y.bin", "passages.json", "pictures/a.png",
		"pictures/deep/鼎.png", "sections.json",
	}
	if diff := cmp.Diff(want, paths(m)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if m.Number != 7 || m.Gallery != "test" || !strings.HasPrefix(m.ID, "7-") || len(m.ID) != len("7-")+12 {
		t.Errorf("manifest says number %d, gallery %s, id %s", m.Number, m.Gallery, m.ID)
	}
	if want := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC); !m.Created.Equal(want) {
		t.Errorf("created %s, want %s", m.Created, want)
	}
	if diff := cmp.Diff(`{"files":2}`, compact(t, m.Parts["words"])); diff != "" {
		t.Errorf("report of the part differs (-want +got):\n%s", diff)
	}

	var catalogue gallery.Gallery
	if err := ReadJSON(dst, CatalogueFile, &catalogue); err != nil {
		t.Fatal(err)
	}
	if len(catalogue.Exhibits) != 2 || catalogue.Sections != nil {
		t.Errorf("catalogue has %d exhibits and sections %v", len(catalogue.Exhibits), catalogue.Sections)
	}
	var sections []gallery.Section
	if err := ReadJSON(dst, SectionsFile, &sections); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Gallery.Sections, sections); diff != "" {
		t.Errorf("sections differ (-want +got):\n%s", diff)
	}
	if left := glob(t, filepath.Join(filepath.Dir(dst), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	info, err := os.Stat(filepath.Join(dst, "parts", "words", "x.bin"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode is %v, %v; want readable by everybody, whoever wrote it", info.Mode(), err)
	}
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSameContentGivesTheSameRelease(t *testing.T) {
	c := content(t, words{name: "words", files: map[string]string{"x.bin": "x"}})
	first, err := os.ReadFile(filepath.Join(pack(t, c), ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(filepath.Join(pack(t, c), ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("manifests differ:\n%s", diff)
	}
}

// TestEveryByteCounts changes one byte of each file of a release, the manifest included, cuts it, makes it longer,
// removes it and puts a link in its place: each must be found, and the file named.
func TestEveryByteCounts(t *testing.T) {
	c := content(t, words{name: "words", files: map[string]string{"x.bin": "x", "empty": ""}})
	dst := pack(t, c)
	m, err := Verify(t.Context(), dst)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(paths(m), ManifestFile) {
		path := filepath.Join(dst, file)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		restore := func() {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		check := func(what string) {
			t.Helper()
			_, err := Verify(t.Context(), dst)
			var damaged *DamagedError
			switch {
			case err == nil:
				t.Errorf("%s: %s: not noticed", file, what)
			case file == ManifestFile && errors.Is(err, fs.ErrNotExist):
			case !errors.As(err, &damaged):
				t.Errorf("%s: %s: error is %v, want a DamagedError", file, what, err)
			case !slices.ContainsFunc(damaged.Damages, func(d Damage) bool { return d.Path == file }) || !strings.Contains(err.Error(), file):
				t.Errorf("%s: %s: the file is not named: %v", file, what, err)
			}
			restore()
		}
		for i := range whole {
			if i%7 != 0 { // every seventh, for the time it takes
				continue
			}
			changed := slices.Clone(whole)
			changed[i] ^= 0x10
			if err := os.WriteFile(path, changed, 0o644); err != nil {
				t.Fatal(err)
			}
			check("flipped a bit")
		}
		if err := os.WriteFile(path, append(slices.Clone(whole), ' '), 0o644); err != nil {
			t.Fatal(err)
		}
		check("appended a byte")
		if len(whole) > 0 {
			if err := os.Truncate(path, int64(len(whole)/2)); err != nil {
				t.Fatal(err)
			}
			check("cut in half")
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		check("removed")
		if err := errors.Join(os.Remove(path), os.Symlink("/dev/null", path)); err != nil {
			t.Fatal(err)
		}
		check("replaced by a link")
	}
	if _, err := Verify(t.Context(), dst); err != nil {
		t.Errorf("restored release: %v", err)
	}
}

func TestExtraFilesAreNamed(t *testing.T) {
	dst := pack(t, content(t))
	for _, extra := range []string{"extra.txt", "pictures/more.png", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dst, extra), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Verify(t.Context(), dst)
	var damaged *DamagedError
	if !errors.As(err, &damaged) {
		t.Fatalf("error is %v", err)
	}
	want := []Damage{
		{".hidden", "is not part of the release"},
		{"extra.txt", "is not part of the release"},
		{"pictures/more.png", "is not part of the release"},
	}
	if diff := cmp.Diff(want, damaged.Damages); diff != "" {
		t.Errorf("damages differ (-want +got):\n%s", diff)
	}
}

func TestPackRefuses(t *testing.T) {
	broken := errors.New("broken")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	picture := func(file string) func(*Content) {
		return func(c *Content) { c.Gallery.Exhibits[0].Pictures[0].File = file }
	}
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		change func(*Content)
		want   string
	}{
		{"picture outside", t.Context(), picture("../a.png"), "not allowed"},
		{"absolute picture", t.Context(), picture("/etc/passwd"), "not allowed"},
		{"picture with the name of a file of ours", t.Context(), picture("manifest.json"), "not allowed"},
		{"picture among the parts", t.Context(), picture("parts/words/x.png"), "not allowed"},
		{"missing picture", t.Context(), picture("pictures/absent.png"), "absent.png"},
		{"part that fails", t.Context(), func(c *Content) { c.Parts = []Part{words{name: "words", err: broken}} }, "broken"},
		{"two parts of one name", t.Context(), func(c *Content) { c.Parts = []Part{words{name: "w"}, words{name: "w"}} }, "exists"},
		{"part with a bad name", t.Context(), func(c *Content) { c.Parts = []Part{words{name: "../w"}} }, "not allowed"},
		{"part that makes a link", t.Context(), func(c *Content) { c.Parts = []Part{words{name: "w", link: true}} }, "symbolic link"},
		{"gallery without an id", t.Context(), func(c *Content) { c.Gallery.ID = "" }, "gallery"},
		{"cancelled", cancelled, func(*Content) {}, "canceled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := content(t)
			tt.change(&c)
			parent := t.TempDir()
			_, err := Pack(tt.ctx, filepath.Join(parent, "r"), c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want it to say %q", err, tt.want)
			}
			left, err := os.ReadDir(parent)
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestPackLeavesWhatIsThere(t *testing.T) {
	c := content(t)
	dst := pack(t, c)
	if _, err := Pack(t.Context(), dst, c); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v, want ErrExist", err)
	}
	if _, err := Verify(t.Context(), dst); err != nil {
		t.Error(err)
	}
}

// TestPictureLinksStayInside packs a gallery in which a picture is a link out of its folder.
func TestPictureLinksStayInside(t *testing.T) {
	c := content(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.PicturesFrom, "pictures", "a.png")
	if err := errors.Join(os.Remove(path), os.Symlink(secret, path)); err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(t.Context(), filepath.Join(t.TempDir(), "r"), c); err == nil {
		t.Error("packed a file from outside of the gallery's folder")
	}
}
