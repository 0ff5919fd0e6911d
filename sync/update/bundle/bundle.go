// Package bundle describes a release as objects named by their SHA-256, so that only what changed has to travel, and
// writes a signed release into a folder that a hub can take.
package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"docent/localindex/release"
	"docent/sync/wire"
)

// Format is the version of the index.
const Format = 1

// Files over MaxWhole bytes are cut into chunks of ChunkSize; others are one chunk. A thousand chunks of a picture
// each are as many round trips as files; a search index of 100 MB of which a part changed costs that part.
const (
	MaxWhole  = 4 << 20
	ChunkSize = 1 << 20
	MaxIndex  = wire.MaxObject // bytes of an encoded index
	maxFiles  = release.MaxFiles + 1
)

// Index lists every file of a release, the manifest included, and what it is made of.
type Index struct {
	Format    int    `json:"format"`
	ReleaseID string `json:"release_id"`
	Number    int    `json:"number"`
	Files     []File `json:"files"` // sorted by path
}

// File is one file of a release.
type File struct {
	Path   string  `json:"path"` // slash-separated, below the release
	Size   int64   `json:"size"`
	Chunks []Chunk `json:"chunks,omitempty"` // in order; none for an empty file
}

// Chunk is a run of bytes of a file.
type Chunk struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"` // 1 … MaxWhole
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
	m, err := release.Verify(ctx, dir)
	if err != nil {
		return Index{}, err
	}
	info, err := os.Stat(filepath.Join(dir, release.ManifestFile))
	if err != nil {
		return Index{}, fmt.Errorf("describe release: %w", err)
	}
	x := Index{Format: Format, ReleaseID: m.ID, Number: m.Number}
	x.Files = append(x.Files, File{Path: release.ManifestFile, Size: info.Size()})
	for _, f := range m.Files {
		x.Files = append(x.Files, File{Path: f.Path, Size: f.Size})
	}
	for i := range x.Files {
		if err := ctx.Err(); err != nil {
			return Index{}, err
		}
		if err := cut(dir, &x.Files[i], keep); err != nil {
			return Index{}, fmt.Errorf("describe %s: %w", x.Files[i].Path, err)
		}
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
	size := int64(ChunkSize)
	if f.Size <= MaxWhole {
		size = f.Size
	}
	for left := f.Size; left > 0; {
		data := make([]byte, min(size, left))
		if _, err := io.ReadFull(file, data); err != nil {
			return err
		}
		left -= int64(len(data))
		c := Chunk{SHA256: Sum(data), Size: int64(len(data))}
		f.Chunks = append(f.Chunks, c)
		if keep == nil {
			continue
		}
		if err := keep(c.SHA256, data); err != nil {
			return err
		}
	}
	return nil
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

// Encode returns the index's bytes, or what is wrong with it.
func (x Index) Encode() ([]byte, error) {
	if err := x.validate(); err != nil {
		return nil, fmt.Errorf("encode index: %w", err)
	}
	data, err := json.Marshal(x)
	if err == nil && len(data) > MaxIndex {
		err = fmt.Errorf("it has %d bytes, at most %d are allowed", len(data), MaxIndex)
	}
	if err != nil {
		return nil, fmt.Errorf("encode index: %w", err)
	}
	return data, nil
}

// Decode reads an index and refuses what does not hold to its limits.
func Decode(data []byte) (Index, error) {
	if len(data) > MaxIndex {
		return Index{}, fmt.Errorf("index of %d bytes, at most %d are allowed", len(data), MaxIndex)
	}
	var x Index
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&x); err != nil {
		return Index{}, fmt.Errorf("read index: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Index{}, errors.New("read index: something follows it")
	}
	if err := x.validate(); err != nil {
		return Index{}, fmt.Errorf("read index: %w", err)
	}
	return x, nil
}

func (x Index) validate() error {
	if x.Format != Format {
		return fmt.Errorf("its format is %d, this program reads %d", x.Format, Format)
	}
	if !validID(x.ReleaseID) || x.Number < 0 || len(x.Files) == 0 || len(x.Files) > maxFiles {
		return errors.New("its id, number or list of files will not do")
	}
	seen := map[string]bool{}
	for _, f := range x.Files {
		if !validPath(f.Path) || seen[f.Path] {
			return fmt.Errorf("file path %q is not allowed", f.Path)
		}
		seen[f.Path] = true
		left := f.Size
		for _, c := range f.Chunks {
			if c.Size < 1 || c.Size > MaxWhole || c.Size > left || !wire.ValidObject(c.SHA256) {
				return fmt.Errorf("file %s has a chunk that does not fit", f.Path)
			}
			left -= c.Size
		}
		if f.Size < 0 || f.Size > release.MaxFileBytes || left != 0 {
			return fmt.Errorf("file %s is not the sum of its chunks", f.Path)
		}
	}
	return nil
}

// validID accepts what names a release: it becomes the name of a folder.
func validID(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func validPath(p string) bool {
	return fs.ValidPath(p) && p != "." && len(p) <= 512 && !strings.ContainsFunc(p, func(r rune) bool {
		return r == '\\' || r == ':' || r == unicode.ReplacementChar || unicode.IsControl(r)
	})
}
