package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"docent/localindex/gallery"
)

// Part adds something of its own to a release, such as an index. It writes files into partDir, an empty folder, and
// returns what is worth knowing about them for the manifest.
type Part interface {
	Name() string // lower case letters, digits, dashes
	Build(ctx context.Context, g *gallery.Gallery, galleryDir, partDir string) (report any, err error)
}

// Content is what a release is made of.
type Content struct {
	Gallery  *gallery.Gallery
	Passages []gallery.Passage
	// PicturesFrom is the folder below which the files of the exhibits' pictures are.
	PicturesFrom string
	Number       int
	Created      time.Time
	Parts        []Part
}

// Pack writes a release to dst, which must not exist. It appears there complete or not at all: everything is written
// and synced in a folder beside it first.
func Pack(ctx context.Context, dst string, c Content) (_ Manifest, err error) {
	dst = filepath.Clean(dst)
	if _, err := os.Lstat(dst); err == nil {
		return Manifest{}, fmt.Errorf("pack release %s: %w", dst, fs.ErrExist)
	}
	parent := filepath.Dir(dst)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return Manifest{}, fmt.Errorf("pack release %s: %w", dst, err)
	}
	temp, err := os.MkdirTemp(parent, "."+filepath.Base(dst)+".partial-")
	if err != nil {
		return Manifest{}, fmt.Errorf("pack release %s: %w", dst, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()

	m, err := fill(ctx, temp, c)
	if err != nil {
		return Manifest{}, fmt.Errorf("pack release %s: %w", dst, err)
	}
	if err := os.Rename(temp, dst); err != nil {
		return Manifest{}, fmt.Errorf("pack release %s: %w", dst, err)
	}
	if err := syncPath(parent); err != nil {
		return Manifest{}, fmt.Errorf("pack release %s: %w", dst, err)
	}
	return m, nil
}

// fill writes everything into dir and syncs it.
func fill(ctx context.Context, dir string, c Content) (Manifest, error) {
	m := Manifest{
		Format: Format, Number: c.Number, Created: c.Created.UTC().Truncate(time.Second),
		Gallery: c.Gallery.ID, Languages: c.Gallery.Languages, Parts: map[string]json.RawMessage{},
	}
	if err := writeTexts(dir, c); err != nil {
		return Manifest{}, err
	}
	if err := copyPictures(ctx, dir, c); err != nil {
		return Manifest{}, err
	}
	for _, p := range c.Parts {
		report, err := buildPart(ctx, dir, c, p)
		if err != nil {
			return Manifest{}, err
		}
		m.Parts[p.Name()] = report
	}
	if err := settle(dir); err != nil {
		return Manifest{}, err
	}
	files, damages, err := list(dir)
	if err != nil {
		return Manifest{}, err
	}
	if len(damages) > 0 { // a part made a link, say
		return Manifest{}, &DamagedError{Dir: dir, Damages: damages}
	}
	if err := hashAll(ctx, dir, files); err != nil {
		return Manifest{}, err
	}
	m.Files = files
	m.ID = releaseID(m.Number, m.Files)
	if err := m.validate(); err != nil {
		return Manifest{}, err
	}
	data, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	if err := writeFile(filepath.Join(dir, ManifestFile), data); err != nil {
		return Manifest{}, err
	}
	if err := syncPath(dir); err != nil {
		return Manifest{}, err
	}
	return DecodeManifest(data)
}

func writeTexts(dir string, c Content) error {
	catalogue := *c.Gallery
	catalogue.Sections = nil
	for _, text := range []struct {
		file  string
		value any
	}{
		{CatalogueFile, catalogue},
		{SectionsFile, orEmpty(c.Gallery.Sections)},
		{PassagesFile, orEmpty(c.Passages)},
	} {
		data, err := marshal(text.value)
		if err != nil {
			return fmt.Errorf("encode %s: %w", text.file, err)
		}
		if len(data) > MaxTextBytes {
			return fmt.Errorf("encode %s: it has %d bytes, at most %d are allowed", text.file, len(data), MaxTextBytes)
		}
		if err := writeFile(filepath.Join(dir, text.file), data); err != nil {
			return err
		}
	}
	return nil
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// copyPictures copies each picture of an exhibit once. It never leaves the pictures' folder, whatever a path or a
// symbolic link says.
func copyPictures(ctx context.Context, dir string, c Content) error {
	from, err := os.OpenRoot(c.PicturesFrom)
	if err != nil {
		return fmt.Errorf("open folder of pictures: %w", err)
	}
	defer from.Close()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open release folder: %w", err)
	}
	defer to.Close()

	for _, e := range c.Gallery.Exhibits {
		for _, p := range e.Pictures {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !validPath(p.File) || reserved(p.File) {
				return fmt.Errorf("picture path %q of exhibit %s is not allowed", p.File, e.ID)
			}
			if err := copyFile(from, to, p.File); err != nil {
				return fmt.Errorf("copy picture %s of exhibit %s: %w", p.File, e.ID, err)
			}
		}
	}
	return nil
}

// reserved reports whether a path is one of a release's own.
func reserved(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return slices.Contains([]string{ManifestFile, CatalogueFile, SectionsFile, PassagesFile, PartsFolder}, first)
}

func copyFile(from, to *os.Root, name string) error {
	if _, err := to.Lstat(name); err == nil {
		return nil // a picture that two exhibits share
	}
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		if err := to.MkdirAll(name[:i], 0o755); err != nil {
			return err
		}
	}
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func buildPart(ctx context.Context, dir string, c Content, p Part) (json.RawMessage, error) {
	if !slug.MatchString(p.Name()) {
		return nil, fmt.Errorf("part name %q is not allowed", p.Name())
	}
	partDir := filepath.Join(dir, PartsFolder, p.Name())
	if err := os.MkdirAll(filepath.Dir(partDir), 0o755); err != nil {
		return nil, fmt.Errorf("make folder of part %s: %w", p.Name(), err)
	}
	if err := os.Mkdir(partDir, 0o755); err != nil { // also refuses two parts of one name
		return nil, fmt.Errorf("make folder of part %s: %w", p.Name(), err)
	}
	report, err := p.Build(ctx, c.Gallery, c.PicturesFrom, partDir)
	if err != nil {
		return nil, fmt.Errorf("build part %s: %w", p.Name(), err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		return nil, fmt.Errorf("encode report of part %s: %w", p.Name(), err)
	}
	return data, nil
}

// settle gives everything below dir the same modes, whoever wrote it, and brings it to the disk.
func settle(dir string) error {
	var folders []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			folders = append(folders, path)
			return os.Chmod(path, 0o755)
		}
		if !d.Type().IsRegular() {
			return nil // named when the files are listed
		}
		if err := os.Chmod(path, 0o644); err != nil {
			return err
		}
		return syncPath(path)
	})
	if err != nil {
		return fmt.Errorf("sync files: %w", err)
	}
	for _, folder := range slices.Backward(folders) {
		if err := syncPath(folder); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// syncPath brings a file or folder to the disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}
