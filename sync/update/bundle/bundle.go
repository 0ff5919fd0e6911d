// Package bundle describes a release as objects named by their SHA-256, so that only what changed has to travel, and
// writes a signed release into a folder that a hub can take.
package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"docent/localindex/release"
)

// Index lists every file of a release and what it is made of.
type Index struct {
	ReleaseID string
	Number    int
	Manifest  []byte // the release's manifest.json; it travels within the index
	Files     []File // all others, sorted by path
}

// File is one file of a release.
type File struct {
	Path   string // slash-separated, below the release
	Size   int64
	Chunks []Chunk // in order; none for an empty file
}

// Chunk is a run of bytes of a file.
type Chunk struct {
	SHA256 string
	Size   int64 // 1 … MaxWhole
}

// Make reads a release and describes it. The release is verified first.
func Make(ctx context.Context, dir string) (Index, error) { return walk(ctx, dir, nil) }

// Write describes a release and writes its objects, and the index as one of them, below dst/objects. It returns the
// index's bytes.
func Write(ctx context.Context, dir, dst string) (Index, []byte, error) {
	objects := filepath.Join(dst, "objects")
	if err := os.MkdirAll(objects, 0o755); err != nil {
		return Index{}, nil, fmt.Errorf("write bundle: %w", err)
	}
	keep := func(sum string, data []byte) error { return writeObject(filepath.Join(objects, sum), data) }
	x, err := walk(ctx, dir, keep)
	if err != nil {
		return Index{}, nil, err
	}
	data, err := x.Encode()
	if err != nil {
		return Index{}, nil, err
	}
	if err := keep(Sum(data), data); err != nil {
		return Index{}, nil, fmt.Errorf("write bundle: %w", err)
	}
	return x, data, nil
}

func walk(ctx context.Context, dir string, keep func(sum string, data []byte) error) (Index, error) {
	if _, err := release.Verify(ctx, dir); err != nil {
		return Index{}, err
	}
	data, err := os.ReadFile(filepath.Join(dir, release.ManifestFile))
	if err != nil {
		return Index{}, fmt.Errorf("describe release: %w", err)
	}
	m, err := release.DecodeManifest(data)
	if err != nil {
		return Index{}, fmt.Errorf("describe release: %w", err)
	}
	x := Index{ReleaseID: m.ID, Number: m.Number, Manifest: data}
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return Index{}, err
		}
		file := File{Path: f.Path, Size: f.Size}
		if err := cut(dir, &file, keep); err != nil {
			return Index{}, fmt.Errorf("describe %s: %w", f.Path, err)
		}
		x.Files = append(x.Files, file)
	}
	return x, nil
}

// cut reads a file chunk by chunk.
func cut(dir string, f *File, keep func(string, []byte) error) error {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(f.Path)))
	if err != nil {
		return err
	}
	defer file.Close()
	c := newCutter(file, f.Path, f.Size)
	for {
		data, err := c.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		chunk := Chunk{SHA256: Sum(data), Size: int64(len(data))}
		f.Chunks = append(f.Chunks, chunk)
		if keep == nil {
			continue
		}
		if err := keep(chunk.SHA256, data); err != nil {
			return err
		}
	}
}

// writeObject writes what is not there yet.
func writeObject(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
		return nil
	}
	if err := os.WriteFile(path+".part", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// Sum is the SHA-256 of bytes in hex: the name of an object.
func Sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
