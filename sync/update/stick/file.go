// Package stick finds bundle files on what is plugged into a kiosk, and reads content from them. Nothing in them is
// believed: what a release is, signed metadata says.
package stick

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"docent/sync/update/export"
	"docent/sync/wire"
)

// Bounds of a bundle file. Objects are not read before they are asked for.
const (
	maxEntries  = 1_000_000
	maxMetadata = 64 << 10 // bytes of one metadata file
	maxInMemory = 4 << 20  // bytes of all of them
)

// BrokenError says that a file is no bundle, or not all of one.
type BrokenError struct {
	Code string // torn, not_a_bundle
	Err  error
}

// Error says what is wrong, in words for the person with the stick.
func (e *BrokenError) Error() string {
	if e.Code == codeTorn {
		return "the file is not whole, copy it again: " + e.Err.Error()
	}
	return "the file is none that docent gallery bundle wrote: " + e.Err.Error()
}

// Unwrap returns what was found.
func (e *BrokenError) Unwrap() error { return e.Err }

// Words of BrokenError.
const (
	codeTorn       = "torn"
	codeNotABundle = "not_a_bundle"
)

// File is a bundle file whose list of contents was read. Metadata is in memory, so that a stick that was pulled has said
// all it had to say. Objects are read when they are asked for; between, the file is not open, so that a stick can be
// unmounted at any time. It is safe for concurrent use.
type File struct {
	path     string
	info     fs.FileInfo // when it was read
	label    export.Label
	metadata map[string][]byte
	objects  map[string]extent
}

// extent is where an object is in the file.
type extent struct{ offset, size int64 }

// Open reads the list of what is in a bundle file, and its metadata. What is wrong with the file comes as a *BrokenError.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	defer f.Close()
	b := &File{path: path, metadata: map[string][]byte{}, objects: map[string]extent{}}
	if err := b.read(f); err != nil {
		return nil, fmt.Errorf("open bundle %s: %w", path, err)
	}
	return b, nil
}

// Label is what the file says of itself.
func (b *File) Label() export.Label { return b.label }

// read goes from header to header of the archive.
func (b *File) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b.info = info
	if !info.Mode().IsRegular() {
		return &BrokenError{codeNotABundle, errors.New("it is no plain file")}
	}
	in := &failing{r: f}
	t := tar.NewReader(in)
	inMemory := int64(0)
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case in.err != nil:
			return in.err // the disk's, not the archive's
		case errors.Is(err, io.EOF):
			return b.complete(info.Size())
		case errors.Is(err, io.ErrUnexpectedEOF) && n > 0:
			return &BrokenError{codeTorn, fmt.Errorf("it ends within the archive, after %d files", n)}
		case err != nil && len(b.metadata) > 0:
			return &BrokenError{codeTorn, fmt.Errorf("after %d files comes something else: %w", n, err)}
		case err != nil:
			return &BrokenError{codeNotABundle, err}
		case n >= maxEntries:
			return &BrokenError{codeNotABundle, fmt.Errorf("there are more than %d files in it", maxEntries)}
		case n == 0 && h.Name != export.About:
			return &BrokenError{codeNotABundle, fmt.Errorf("it does not begin with %s", export.About)}
		case h.Typeflag != tar.TypeReg || len(h.PAXRecords) > 0 || h.Size < 0:
			return &BrokenError{codeNotABundle, fmt.Errorf("%.100q in it is no plain file", h.Name)}
		}
		if inMemory, err = b.entry(f, t, h, info.Size(), inMemory); err != nil {
			if in.err != nil {
				return in.err
			}
			return err
		}
	}
}

// entry takes one file of the archive.
func (b *File) entry(f *os.File, t *tar.Reader, h *tar.Header, size, inMemory int64) (int64, error) {
	if sum, ok := strings.CutPrefix(h.Name, "objects/"); ok && wire.ValidObject(sum) {
		offset, err := f.Seek(0, io.SeekCurrent) // headers are read in whole blocks, so here the object begins
		if err != nil {
			return 0, err
		}
		if _, twice := b.objects[sum]; twice || h.Size < 1 || h.Size > wire.MaxObject {
			return 0, &BrokenError{codeNotABundle, fmt.Errorf("object %s in it has %d bytes, or is there twice", sum, h.Size)}
		}
		if offset+h.Size > size {
			return 0, &BrokenError{codeTorn, fmt.Errorf("it ends within object %s", sum)}
		}
		b.objects[sum] = extent{offset, h.Size}
		return inMemory, nil
	}
	name, ok := strings.CutPrefix(h.Name, "metadata/")
	about := h.Name == export.About
	if !about && (!ok || !wire.ValidMetadata(name)) {
		return inMemory, nil // of a newer version, or somebody's own
	}
	if _, twice := b.metadata[name]; twice || h.Size > maxMetadata || about && h.Size > export.AboutLimit || inMemory+h.Size > maxInMemory {
		return 0, &BrokenError{codeNotABundle, fmt.Errorf("%.100q in it is too large, or there twice", h.Name)}
	}
	data := make([]byte, h.Size)
	if _, err := io.ReadFull(t, data); err != nil {
		return 0, &BrokenError{codeTorn, fmt.Errorf("it ends within %s", h.Name)}
	}
	if !about {
		b.metadata[name] = data
		return inMemory + h.Size, nil
	}
	if err := json.Unmarshal(data, &b.label); err != nil || b.label.Format != export.Format || len(b.label.ReleaseID) > 64 || b.label.Number < 0 {
		return 0, &BrokenError{codeNotABundle, fmt.Errorf("its %s is of another version, or unreadable", export.About)}
	}
	return inMemory, nil
}

// complete makes sure that what the file says it has is there.
func (b *File) complete(size int64) error {
	if b.metadata["timestamp.json"] == nil || len(b.objects) == 0 {
		return &BrokenError{codeTorn, errors.New("there is no release in it")}
	}
	if len(b.objects) < b.label.Objects {
		return &BrokenError{codeTorn, fmt.Errorf("%d of its %d objects are there, in %d bytes", len(b.objects), b.label.Objects, size)}
	}
	return nil
}

// failing remembers the error of a disk, to tell it from what is wrong with the bytes.
type failing struct {
	r   io.ReadSeeker
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	f.note(err)
	return n, err
}

// Seek lets the archive's reader pass over objects.
func (f *failing) Seek(offset int64, whence int) (int64, error) {
	n, err := f.r.Seek(offset, whence)
	f.note(err)
	return n, err
}

func (f *failing) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
}

// Has tells whether the file has an object.
func (b *File) Has(sum string) bool {
	_, ok := b.objects[sum]
	return ok
}

// Fetch answers from the file. An error means that it could not be read, as when the stick was pulled.
func (b *File) Fetch(_ context.Context, req wire.Fetch) (wire.Chunk, error) {
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset}
	if err := req.Validate(); err != nil {
		return c, err
	}
	if data, ok := b.metadata[req.Name]; ok {
		c.Size = int64(len(data))
		c.Offset = min(req.Offset, c.Size)
		c.Data = data[c.Offset:min(c.Size, c.Offset+int64(req.Length))]
		return c, nil
	}
	at, ok := b.objects[req.Name]
	if !ok {
		c.Error, c.Offset = wire.FetchNotFound, 0
		return c, nil
	}
	c.Size = at.size
	c.Offset = min(req.Offset, c.Size)
	c.Data = make([]byte, min(int64(req.Length), c.Size-c.Offset))
	if err := b.readAt(c.Data, at.offset+c.Offset); err != nil {
		return wire.Chunk{}, fmt.Errorf("read from %s: %w", b.path, err)
	}
	return c, nil
}

// errGone says that what was found is not there any more.
var errGone = errors.New("it is gone, or another file has its name")

func (b *File) readAt(p []byte, offset int64) error {
	f, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !same(info, b.info) {
		return errGone
	}
	_, err = f.ReadAt(p, offset)
	return err
}

// same tells whether it is the same file, unchanged. Its number says nothing: FAT has none, and Linux makes up new ones.
func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
