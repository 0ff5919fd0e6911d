package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"docent/internal/durable"
	"docent/sync/wire"
)

// Written is what WriteFolder did.
type Written struct {
	Objects int // new ones
	Bytes   int64
	Removed int // objects that belong to no release any more
}

// ErrForeign is the error of WriteFolder where a folder has something else than a mirror in it.
var ErrForeign = errors.New("it is neither empty nor a mirror; name a folder of its own")

// ours refuses a folder in which there is anything else than a mirror, whole or begun. What others laid beside the files of
// a whole one is left alone.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	has := func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	}
	for _, key := range []string{"hub.key", "root.key", "targets.key"} { // where releases are published or signed from
		if has(key) {
			return fmt.Errorf("%s has %s: %w", dir, key, ErrForeign)
		}
	}
	if has("metadata/1.root.json") && has("metadata/timestamp.json") {
		return nil
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "lost+found":
		case name == "objects" && e.IsDir():
			err = only(filepath.Join(dir, name), wire.ValidObject)
		case name == "metadata" && e.IsDir():
			err = only(filepath.Join(dir, name), wire.ValidMetadata)
		default:
			err = fmt.Errorf("%s has %s: %w", dir, name, ErrForeign)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// only refuses a folder with files of other names than those that are valid, or are being written.
func only(dir string, valid func(string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if begun := strings.TrimSuffix(strings.TrimPrefix(name, "."), filepath.Ext(name)); !e.Type().IsRegular() || !valid(name) && !(name[0] == '.' && valid(begun)) {
			return fmt.Errorf("%s has %s: %w", dir, name, ErrForeign)
		}
	}
	return nil
}

// WriteFolder writes the set into the folder of a web server, one that is empty or was written so before: objects/SHA256 and metadata/NAME. What is there already is
// not written again, and what belongs to no release of the set any more is removed. A kiosk that asks meanwhile gets the
// old or the new: the metadata that names the rest comes last, each file in one step, and old objects go after it.
func (s *Set) WriteFolder(ctx context.Context, from Source, dir string) (Written, error) {
	var w Written
	if err := ours(dir); err != nil {
		return w, fmt.Errorf("write mirror: %w", err)
	}
	objects, metadata := filepath.Join(dir, "objects"), filepath.Join(dir, "metadata")
	for _, d := range []string{objects, metadata} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return w, fmt.Errorf("write mirror: %w", err)
		}
	}
	belongs := map[string]bool{}
	for _, c := range s.Objects {
		belongs[c.SHA256] = true
		path := filepath.Join(objects, c.SHA256)
		if info, err := os.Stat(path); err == nil && info.Size() == c.Size {
			continue
		}
		data, err := s.object(ctx, from, c)
		if err == nil {
			err = durable.WriteFile(path, data, 0o644)
		}
		if err != nil {
			return w, fmt.Errorf("write mirror: %w", err)
		}
		w.Objects++
		w.Bytes += c.Size
	}
	for _, last := range []bool{false, true} {
		for _, f := range s.Metadata {
			if (f.Name == "timestamp.json") != last { // which names all the others
				continue
			}
			if err := durable.WriteFile(filepath.Join(metadata, f.Name), f.Data, 0o644); err != nil {
				return w, fmt.Errorf("write mirror: %w", err)
			}
		}
	}
	var err error
	w.Removed, err = tidy(objects, metadata, belongs, s.Metadata)
	if err != nil {
		return w, fmt.Errorf("tidy mirror: %w", err)
	}
	return w, nil
}

// tidy removes objects that belong to nothing, and metadata of before. It touches nothing that has another kind of name.
func tidy(objects, metadata string, belongs map[string]bool, files []File) (removed int, err error) {
	entries, err := os.ReadDir(objects)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !wire.ValidObject(e.Name()) || belongs[e.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(objects, e.Name())); err != nil {
			return removed, err
		}
		removed++
	}
	for _, f := range files {
		belongs[f.Name] = true
	}
	if entries, err = os.ReadDir(metadata); err != nil {
		return removed, err
	}
	for _, e := range entries {
		old := strings.HasSuffix(e.Name(), ".snapshot.json") || strings.HasSuffix(e.Name(), ".targets.json")
		if !old || !wire.ValidMetadata(e.Name()) || belongs[e.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(metadata, e.Name())); err != nil {
			return removed, err
		}
	}
	return removed, nil
}
