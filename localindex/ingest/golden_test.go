package ingest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"docent/localindex/gallery"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden reads the folders in testdata/*.txtar. What comes out of each is in the .golden file beside it: the
// problems, and the gallery with its sections and passages.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no folders to read: %v", err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "test-house")
			unpack(t, archive, dir)
			g, problems, err := Read(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			got := dump(t, g, problems)
			golden := strings.TrimSuffix(archive, ".txtar") + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("differs from %s (-want +got); look at it, then run with -update:\n%s", golden, diff)
			}
		})
	}
}

// unpack writes the files of an archive, and draws the pictures its pictures.list names with their sizes.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == "pictures.list" {
			for line := range strings.Lines(string(f.Data)) {
				var name string
				var w, h int
				if _, err := fmt.Sscan(line, &name, &w, &h); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name), picture(t, name, w, h))
			}
			continue
		}
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func picture(t testing.TB, name string, w, h int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		m.Set(x, x%h, color.RGBA{uint8(x), uint8(h), 99, 255})
	}
	var b bytes.Buffer
	var err error
	if strings.HasSuffix(name, ".jpg") {
		err = jpeg.Encode(&b, m, nil)
	} else {
		err = png.Encode(&b, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func dump(t *testing.T, g *gallery.Gallery, problems []Problem) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range problems {
		fmt.Fprintln(&b, p)
	}
	fmt.Fprintln(&b, "---- gallery")
	facts := *g
	facts.Sections = nil
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(facts); err != nil {
		t.Fatal(err)
	}
	for _, s := range g.Sections {
		fmt.Fprintf(&b, "---- %s", s.ID)
		for _, part := range []struct{ name, value string }{
			{"heading", s.Heading}, {"path", strings.Join(s.Path, " / ")}, {"exhibit", s.Exhibit}, {"hall", s.Hall},
			{"domain", string(s.Domain)}, {"language", s.Language}, {"level", string(s.Level)},
			{"sources", strings.Join(s.Sources, " ")}, {"document", s.Document}, {"keywords", strings.Join(s.Keywords, ", ")},
		} {
			if part.value != "" {
				fmt.Fprintf(&b, " | %s: %s", part.name, part.value)
			}
		}
		b.WriteByte('\n')
		for _, p := range Passages(s) {
			fmt.Fprintf(&b, "%s\n", p.Text)
		}
	}
	return b.Bytes()
}
