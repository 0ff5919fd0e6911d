package export

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"docent/internal/durable"
)

// Names in a bundle file, which is a tar archive: About first, then metadata, then objects.
const (
	Suffix     = ".docent" // of a bundle file's name
	About      = "docent.json"
	AboutLimit = 4 << 10 // bytes of About
	Format     = 1
)

// Label is what a bundle file says of itself, for people. Nothing of it is signed.
type Label struct {
	Format    int       `json:"format"`
	ReleaseID string    `json:"release_id"` // of the newest release in it
	Number    int       `json:"number"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires"`
	Objects   int       `json:"objects"`
	Bytes     int64     `json:"bytes"`
}

// Label describes the set as a bundle file.
func (s *Set) Label(now time.Time) Label {
	newest := s.Releases[len(s.Releases)-1]
	return Label{
		Format: Format, ReleaseID: newest.ReleaseID, Number: newest.Number, Created: now.UTC().Truncate(time.Second),
		Expires: s.Expires, Objects: len(s.Objects), Bytes: s.Bytes,
	}
}

// WriteTo writes the set as a bundle file. Any tar reads it; names and sizes are such that plain headers do.
func (s *Set) WriteTo(ctx context.Context, from Source, w io.Writer, now time.Time) error {
	about, err := json.MarshalIndent(s.Label(now), "", "  ")
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	t := tar.NewWriter(w)
	put := func(name string, data []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: now.Truncate(time.Second), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := t.Write(data)
		return err
	}
	if err := put(About, append(about, '\n')); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	for _, f := range s.Metadata {
		if err := put("metadata/"+f.Name, f.Data); err != nil {
			return fmt.Errorf("write bundle: %w", err)
		}
	}
	for _, c := range s.Objects {
		data, err := s.object(ctx, from, c)
		if err == nil {
			err = put("objects/"+c.SHA256, data)
		}
		if err != nil {
			return fmt.Errorf("write bundle: %w", err)
		}
	}
	if err := t.Close(); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

// WriteFile writes the set as a bundle file at path, which is whole afterwards or as it was.
func (s *Set) WriteFile(ctx context.Context, from Source, path string, now time.Time) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	err = s.WriteTo(ctx, from, f, now)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return durable.SyncDir(filepath.Dir(path))
}
