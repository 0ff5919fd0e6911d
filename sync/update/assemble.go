package update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"docent/internal/durable"
	"docent/localindex/release"
	"docent/sync/update/bundle"
)

// place is where bytes of an installed release are.
type place struct {
	file   string
	offset int64
	size   int64 // of the file
}

// inventory finds chunks in releases that are here.
func (s *Store) inventory(ctx context.Context, dirs ...string) map[string]place {
	places := map[string]place{}
	for _, dir := range dirs {
		x, err := s.index(ctx, dir)
		if err != nil {
			continue // damaged: then its chunks travel again
		}
		for _, f := range x.Files {
			offset := int64(0)
			for _, c := range f.Chunks {
				places[c.SHA256] = place{filepath.Join(dir, filepath.FromSlash(f.Path)), offset, f.Size}
				offset += c.Size
			}
		}
	}
	return places
}

// sound is what is left of an inventory without the files that are damaged.
func (s *Store) sound(ctx context.Context, have map[string]place, dirs ...string) map[string]place {
	bad := map[string]bool{}
	for _, dir := range dirs {
		var damaged *release.DamagedError
		if _, err := release.Verify(ctx, dir); errors.As(err, &damaged) {
			for _, d := range damaged.Damages {
				bad[filepath.Join(dir, filepath.FromSlash(d.Path))] = true
			}
		} else if err != nil {
			return nil // all of it travels
		}
	}
	maps.DeleteFunc(have, func(_ string, p place) bool { return bad[p.file] })
	return have
}

// missing lists, each once, the chunks of an index that are neither installed nor fetched.
func missing(x bundle.Index, have map[string]place, objects string) (out []bundle.Chunk, size int64) {
	seen := map[string]bool{}
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			if seen[c.SHA256] {
				continue
			}
			seen[c.SHA256] = true
			if _, ok := have[c.SHA256]; ok {
				continue
			}
			if info, err := os.Stat(filepath.Join(objects, c.SHA256)); err == nil && info.Size() == c.Size {
				continue
			}
			out, size = append(out, c), size+c.Size
		}
	}
	return out, size
}

// assemble builds the release of an index in dir, which must not exist yet, from objects and what is installed. A
// file that is installed whole is linked, as no file of a release is ever written again.
func assemble(ctx context.Context, x bundle.Index, have map[string]place, objects, dir string) error {
	dirs := map[string]bool{dir: true}
	for _, f := range x.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		for d := filepath.Dir(path); d != dir && !dirs[d]; d = filepath.Dir(d) {
			dirs[d] = true
		}
		if err := build(path, f, have, objects); err != nil {
			return fmt.Errorf("assemble %s: %w", f.Path, err)
		}
	}
	if err := durable.WriteFile(filepath.Join(dir, release.ManifestFile), x.Manifest, 0o644); err != nil {
		return fmt.Errorf("assemble: %w", err)
	}
	for d := range dirs {
		if err := durable.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

func build(path string, f bundle.File, have map[string]place, objects string) error {
	if len(f.Chunks) == 1 {
		from := filepath.Join(objects, f.Chunks[0].SHA256)
		if p, ok := have[f.Chunks[0].SHA256]; ok && p.size == f.Size {
			from = p.file
		}
		if os.Link(from, path) == nil {
			return nil
		}
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for _, c := range f.Chunks {
		if err := copyChunk(out, c, have, objects); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(out.Sync(), out.Close())
}

func copyChunk(out io.Writer, c bundle.Chunk, have map[string]place, objects string) error {
	p, ok := have[c.SHA256]
	if !ok {
		p = place{file: filepath.Join(objects, c.SHA256)}
	}
	in, err := os.Open(p.file)
	if err != nil {
		return err
	}
	defer in.Close()
	n, err := io.Copy(out, io.NewSectionReader(in, p.offset, c.Size))
	if err == nil && n != c.Size {
		err = io.ErrUnexpectedEOF
	}
	return err
}
