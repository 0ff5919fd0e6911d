// Package export collects what kiosks would fetch of a hub, verified as a kiosk verifies it, and writes it to where
// kiosks can get it without that hub: a folder for a web server, or one file for a stick.
package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Source answers requests for parts of files.
type Source interface {
	Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error)
}

// Options of Find.
type Options struct {
	// Root is the root metadata to trust; nil trusts the first that the source has.
	Root []byte
	// All is every release that may be shown; else the newest alone.
	All bool
	Now func() time.Time
}

// Set is what belongs to some releases.
type Set struct {
	Releases []trust.Target // by number, the newest last
	Expires  time.Time      // until when kiosks take it for the newest
	Metadata []File         // in the order in which a kiosk asks for it
	Objects  []bundle.Chunk // each once, indexes first
	Bytes    int64          // of the objects

	indexes map[string][]byte
}

// File is a metadata file.
type File struct {
	Name string
	Data []byte
}

// Find asks a source for signed metadata, verifies it, and finds out which objects belong to the releases it names.
func Find(ctx context.Context, from Source, opt Options) (*Set, error) {
	s := &Set{indexes: map[string][]byte{}}
	read := func(ctx context.Context, name string, limit int64) ([]byte, error) {
		data, err := readMetadata(ctx, from, name, limit)
		if err == nil {
			s.Metadata = append(s.Metadata, File{name, data})
		}
		return data, err
	}
	first, err := read(ctx, "1.root.json", trust.MaxRoot)
	if err != nil {
		return nil, fmt.Errorf("read what is published: %w", err)
	}
	if opt.Root == nil {
		opt.Root = first
	}
	dir, err := os.MkdirTemp("", "docent-export-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	client, err := trust.NewClient(dir, opt.Root)
	if err != nil {
		return nil, err
	}
	s.Releases, err = client.Refresh(ctx, read, opt.Now())
	if err != nil {
		return nil, fmt.Errorf("read what is published: %w", err)
	}
	s.Metadata = distinct(s.Metadata)
	if !opt.All {
		s.Releases = s.Releases[len(s.Releases)-1:]
	}
	s.Expires = s.expires()
	if err := s.find(ctx, from); err != nil {
		return nil, err
	}
	return s, nil
}

// distinct drops files that were read twice.
func distinct(files []File) (out []File) {
	seen := map[string]bool{}
	for _, f := range files {
		if !seen[f.Name] {
			seen[f.Name] = true
			out = append(out, f)
		}
	}
	return out
}

// expires is when the first of the files that say what is newest runs out.
func (s *Set) expires() (first time.Time) {
	for _, f := range s.Metadata {
		var m struct {
			Signed struct {
				Expires time.Time `json:"expires"`
			} `json:"signed"`
		}
		if json.Unmarshal(f.Data, &m) != nil {
			continue // it was verified and has one
		}
		if e := m.Signed.Expires; first.IsZero() || e.Before(first) {
			first = e
		}
	}
	return first
}

func (s *Set) find(ctx context.Context, from Source) error {
	seen := map[string]bool{}
	add := func(c bundle.Chunk) {
		if !seen[c.SHA256] {
			seen[c.SHA256] = true
			s.Objects = append(s.Objects, c)
			s.Bytes += c.Size
		}
	}
	var indexes []bundle.Index
	for _, t := range s.Releases {
		data, err := readObject(ctx, from, bundle.Chunk{SHA256: t.SHA256, Size: t.Length})
		if err != nil {
			return fmt.Errorf("read index of release %s: %w", t.ReleaseID, err)
		}
		x, err := bundle.Decode(data)
		if err != nil {
			return fmt.Errorf("release %s: %w", t.ReleaseID, err)
		}
		s.indexes[t.SHA256] = data
		add(bundle.Chunk{SHA256: t.SHA256, Size: t.Length})
		indexes = append(indexes, x)
	}
	for _, x := range indexes {
		for _, f := range x.Files {
			for _, c := range f.Chunks {
				add(c)
			}
		}
	}
	return nil
}

// object reads an object of the set.
func (s *Set) object(ctx context.Context, from Source, c bundle.Chunk) ([]byte, error) {
	if data, ok := s.indexes[c.SHA256]; ok {
		return data, nil
	}
	return readObject(ctx, from, c)
}

func readMetadata(ctx context.Context, from Source, name string, limit int64) ([]byte, error) {
	var out []byte
	for {
		c, err := from.Fetch(ctx, wire.Fetch{Name: name, Offset: int64(len(out)), Length: int(min(wire.MaxBlock, limit))})
		switch {
		case err != nil:
			return nil, err
		case c.Error == wire.FetchNotFound:
			return nil, fmt.Errorf("%s: %w", name, trust.ErrNotFound)
		case c.Error != "" || c.Offset != int64(len(out)) || len(c.Data) == 0:
			return nil, fmt.Errorf("%s: it could not be read", name)
		case c.Size > limit || int64(len(out)+len(c.Data)) > c.Size:
			return nil, fmt.Errorf("%s: it has more than %d bytes", name, limit)
		}
		if out = append(out, c.Data...); int64(len(out)) == c.Size {
			return out, nil
		}
	}
}

// readObject reads an object into memory; it has at most wire.MaxObject bytes.
func readObject(ctx context.Context, from Source, want bundle.Chunk) ([]byte, error) {
	if want.Size < 1 || want.Size > wire.MaxObject {
		return nil, fmt.Errorf("object %s: %d bytes", want.SHA256, want.Size)
	}
	out := make([]byte, 0, want.Size)
	for int64(len(out)) < want.Size {
		c, err := from.Fetch(ctx, wire.Fetch{Name: want.SHA256, Offset: int64(len(out)), Length: int(min(wire.MaxBlock, want.Size-int64(len(out))))})
		switch {
		case err != nil:
			return nil, err
		case c.Error != "":
			return nil, fmt.Errorf("object %s: %s", want.SHA256, c.Error)
		case c.Offset != int64(len(out)) || len(c.Data) == 0 || c.Size != want.Size || int64(len(out)+len(c.Data)) > want.Size:
			return nil, fmt.Errorf("object %s: it is not the one that was signed", want.SHA256)
		}
		out = append(out, c.Data...)
	}
	if bundle.Sum(out) != want.SHA256 {
		return nil, errors.New("object " + want.SHA256 + ": it is not the one that was signed")
	}
	return out, nil
}
