// Package sample writes the sample gallery, the Gallery of Patterns (图案馆): 24 prints of well-known mathematics in
// four halls, with texts in English and Chinese. It is drawn and written by this project, so anyone may show it, print
// it or build on it.
package sample

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"docent/localindex/sample/draw"
)

// ErrNotEmpty says that the folder to write to has something in it already.
var ErrNotEmpty = errors.New("folder is not empty")

//go:embed all:content
var content embed.FS

// head is the file that makes a folder a gallery; it is written last.
const head = "gallery.yaml"

// Write writes the authoring folder of the sample gallery: its texts and, into pictures/<id>.png, its drawings, about
// 22 MB. The folder is made when it is missing and must be empty otherwise ([ErrNotEmpty]). gallery.yaml is written
// last, when everything else is on the disk, so that a folder without it is not taken for a gallery; when Write fails
// it takes away what it wrote. Drawing takes about ten seconds of one core, and is done on two where there are more.
func Write(ctx context.Context, dir string) error {
	return write(ctx, dir, draw.Drawing.Draw)
}

func write(ctx context.Context, dir string, render func(draw.Drawing) image.Image) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make sample gallery folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read sample gallery folder: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("write sample gallery to %s: %w", dir, ErrNotEmpty)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open sample gallery folder: %w", err)
	}
	defer root.Close()
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write sample gallery to %s: %w", dir, err), empty(root))
		}
	}()
	if err := writeTexts(ctx, root); err != nil {
		return err
	}
	if err := writePictures(ctx, root, render); err != nil {
		return err
	}
	return writeHead(root)
}

// writeTexts copies the embedded texts, all but the head.
func writeTexts(ctx context.Context, root *os.Root) error {
	return fs.WalkDir(content, "content", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		target, err := filepath.Rel("content", filepath.FromSlash(name))
		if err != nil {
			return err
		}
		switch {
		case target == "." || target == head:
			return nil
		case entry.IsDir():
			return root.Mkdir(target, 0o755)
		}
		text, err := content.ReadFile(name)
		if err != nil {
			return err
		}
		return writeFile(root, target, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	})
}

// writePictures draws the pictures, at most two at a time: one takes up to 70 MB of memory.
func writePictures(ctx context.Context, root *os.Root, render func(draw.Drawing) image.Image) error {
	if err := root.Mkdir("pictures", 0o755); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(2, runtime.GOMAXPROCS(0)))
	for _, d := range draw.All() {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return writePicture(root, d.ID, render(d))
		})
	}
	return group.Wait()
}

func writePicture(root *os.Root, id string, img image.Image) error {
	return writeFile(root, filepath.Join("pictures", id+".png"), func(w io.Writer) error {
		return png.Encode(w, img)
	})
}

// writeHead puts the head in its place at once, and makes sure of the folder's entries.
func writeHead(root *os.Root) error {
	text, err := content.ReadFile(path.Join("content", head))
	if err != nil {
		return err
	}
	part := head + ".part"
	if err := writeFile(root, part, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		return err
	}
	if err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return syncFolder(root, filepath.FromSlash(name))
	}); err != nil {
		return err
	}
	if err := root.Rename(part, head); err != nil {
		return err
	}
	return syncFolder(root, ".")
}

// writeFile writes a new file and waits until it is on the disk.
func writeFile(root *os.Root, name string, write func(io.Writer) error) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func syncFolder(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// empty removes what was written to the folder, the head first.
func empty(root *os.Root) error {
	if err := root.RemoveAll(head); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if err := root.RemoveAll(entry.Name()); err != nil {
			errs = append(errs, fmt.Errorf("clean up: %w", err))
		}
	}
	return errors.Join(errs...)
}
