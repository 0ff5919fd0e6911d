package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"docent/localindex/gallery"
)

// bomb is a PNG whose header claims a size it has no pixels for.
func bomb(w, h uint32) []byte {
	head := append([]byte("IHDR"), 0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0)
	binary.BigEndian.PutUint32(head[4:], w)
	binary.BigEndian.PutUint32(head[8:], h)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	out = append(out, head...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
}

func TestReadPictureSize(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"good.png":      picture(t, "good.png", 320, 301),
		"good.jpg":      picture(t, "good.jpg", 320, 301),
		"misnamed.jpg":  picture(t, "x.png", 320, 301),
		"empty.png":     nil,
		"text.png":      []byte("hello"),
		"heic.jpg":      []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"),
		"gif.gif":       []byte("GIF89a\x01\x00\x01\x00"),
		"bomb.png":      bomb(20000, 20000),
		"overflow.png":  bomb(0x7fffffff, 0x7fffffff),
		"zero.png":      bomb(0, 10),
		"thin.png":      picture(t, "x.png", 2000, 3),
		"cuthead.png":   picture(t, "x.png", 320, 301)[:20],
		"big.jpg":       append([]byte("\xff\xd8\xff"), make([]byte, 100)...),
		"tinyside.jpeg": picture(t, "x.jpg", 63, 640),
	} {
		write(t, filepath.Join(dir, name), data)
	}
	if err := os.Truncate(filepath.Join(dir, "big.jpg"), MaxPictureBytes+1); err != nil { // sparse
		t.Fatal(err)
	}
	if err := errors.Join(
		syscall.Mkfifo(filepath.Join(dir, "pipe.png"), 0o600),
		os.Mkdir(filepath.Join(dir, "folder.png"), 0o755),
		os.Symlink("/etc/hostname", filepath.Join(dir, "outside.png")),
		os.Symlink("good.png", filepath.Join(dir, "inside.png")),
	); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"good.png": "", "good.jpg": "", "misnamed.jpg": "", "inside.png": "",
		"absent.png":    "no such file",
		"empty.png":     "empty",
		"text.png":      "not a JPEG, PNG or WebP",
		"heic.jpg":      "HEIC",
		"gif.gif":       "GIF",
		"bomb.png":      "megapixels",
		"overflow.png":  "damaged",
		"zero.png":      "damaged",
		"thin.png":      "at least 64",
		"cuthead.png":   "damaged",
		"big.jpg":       "larger than 64 MiB",
		"tinyside.jpeg": "at least 64",
		"pipe.png":      "not a plain file",
		"folder.png":    "not a plain file",
		"outside.png":   "cannot be read",
	} {
		t.Run(name, func(t *testing.T) {
			w, h, err := readPictureSize(root, name)
			if want == "" {
				if err != nil || w != 320 || h != 301 {
					t.Errorf("size %d×%d, %v; want 320×301", w, h, err)
				}
				return
			}
			if err == nil || !strings.Contains(pictureProblem(err), want) {
				t.Errorf("problem is %v, want one that says %q", err, want)
			}
		})
	}
}

func TestCheckPictures(t *testing.T) {
	dir := t.TempDir()
	whole := picture(t, "x.png", 320, 301)
	write(t, filepath.Join(dir, "whole.png"), whole)
	write(t, filepath.Join(dir, "cut.png"), whole[:len(whole)-40])
	jpg := picture(t, "x.jpg", 320, 301)
	write(t, filepath.Join(dir, "cut.jpg"), jpg[:len(jpg)/2])
	shown := func(files ...string) *gallery.Gallery {
		g := &gallery.Gallery{}
		for _, f := range files {
			g.Exhibits = append(g.Exhibits, gallery.Exhibit{Pictures: []gallery.Picture{{File: f, Width: 320, Height: 301}}})
		}
		return g
	}
	problems, err := CheckPictures(t.Context(), dir, shown("whole.png", "cut.png", "cut.jpg", "cut.png"))
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) != 2 || problems[0].File != "cut.jpg" || problems[1].File != "cut.png" || Errors(problems) != 2 ||
		!strings.Contains(problems[0].Message, "JPEG picture is damaged") {
		t.Errorf("problems are %v", problems)
	}

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CheckPictures(cancelled, dir, shown("whole.png")); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
}
