// Package releasetest makes small releases for tests of what carries them.
package releasetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"docent/localindex/gallery"
	"docent/localindex/release"
)

// Pack makes a release with pictures of these bytes, one for each exhibit, and returns its folder. No picture is read.
func Pack(t testing.TB, number int, created time.Time, pictures [][]byte, parts ...release.Part) string {
	t.Helper()
	from := t.TempDir()
	if err := os.MkdirAll(filepath.Join(from, "pictures"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := &gallery.Gallery{ID: "test", Name: gallery.Localized{"en": "Test"}, Languages: []string{"en"}}
	for i, data := range pictures {
		file := fmt.Sprintf("pictures/%d.png", i)
		if err := os.WriteFile(filepath.Join(from, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
		g.Exhibits = append(g.Exhibits, gallery.Exhibit{ID: fmt.Sprint("e", i), Pictures: []gallery.Picture{{File: file}}})
	}
	dst := filepath.Join(t.TempDir(), "r")
	if _, err := release.Pack(t.Context(), dst, release.Content{Gallery: g, PicturesFrom: from, Number: number, Created: created, Parts: parts}); err != nil {
		t.Fatal(err)
	}
	return dst
}

// Pictures is n pictures of some ten bytes, repeated as often as that says. Those in change are the release's own, the
// others the same in every release.
func Pictures(number, n, repeated int, change ...int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		text := fmt.Sprintf("picture %d ", i)
		if slices.Contains(change, i) {
			text = fmt.Sprintf("changed %d in %d ", i, number)
		}
		out[i] = bytes.Repeat([]byte(text), repeated)
	}
	return out
}
