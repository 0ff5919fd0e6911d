package release

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
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Damage is one thing that is wrong with a release.
type Damage struct {
	Path string // slash-separated, below the release
	What string // such as "is missing"
}

// DamagedError names everything that is wrong with a release.
type DamagedError struct {
	Dir     string
	Damages []Damage // sorted by path
}

// Error names the first few damages.
func (e *DamagedError) Error() string {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "release %s is damaged: ", e.Dir)
	for i, d := range e.Damages {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(e.Damages)-shown)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", d.Path, d.What)
	}
	return b.String()
}

// Verify compares a release with its manifest, byte for byte. The error is a *DamagedError where a file is missing,
// changed, extra or of a kind that does not belong there (a symbolic link, a device), and where the manifest itself
// is not usable (then errors.Is ErrManifest, too).
func Verify(ctx context.Context, dir string) (Manifest, error) {
	dir, err := filepath.EvalSymlinks(dir) // the folder itself may be a link, such as "current"; nothing in it may
	if err != nil {
		return Manifest{}, fmt.Errorf("verify release: %w", err)
	}
	m, err := readManifest(dir)
	if err != nil {
		return Manifest{}, err
	}
	found, damages, err := list(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("verify release %s: %w", dir, err)
	}
	same, differing := compareSizes(m.Files, found, damages)
	damages = append(damages, differing...)
	hashed := slices.Clone(same) // only these: a file of another size is not read
	if err := hashAll(ctx, dir, hashed); err != nil {
		return Manifest{}, fmt.Errorf("verify release %s: %w", dir, err)
	}
	for i, want := range same {
		if hashed[i] != want {
			damages = append(damages, Damage{want.Path, "was changed"})
		}
	}
	if len(damages) > 0 {
		slices.SortFunc(damages, func(a, b Damage) int { return strings.Compare(a.Path, b.Path) })
		return Manifest{}, &DamagedError{Dir: dir, Damages: damages}
	}
	return m, nil
}

func readManifest(dir string) (Manifest, error) {
	data, err := readLimited(filepath.Join(dir, ManifestFile), MaxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // no release at all, or not for us
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	var m Manifest
	if err == nil {
		m, err = DecodeManifest(data)
	}
	if err != nil {
		return Manifest{}, &manifestError{DamagedError{Dir: dir, Damages: []Damage{{ManifestFile, err.Error()}}}, err}
	}
	return m, nil
}

// manifestError is a damaged release whose manifest is the damage.
type manifestError struct {
	damaged DamagedError
	cause   error
}

func (e *manifestError) Error() string   { return e.damaged.Error() }
func (e *manifestError) Unwrap() []error { return []error{&e.damaged, e.cause} }

// list returns the files below dir with their sizes, sorted by path, without the manifest. What is no plain file or
// folder is a damage.
func list(dir string) ([]File, []Damage, error) {
	var files []File
	var damages []Damage
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !d.Type().IsRegular() {
			damages = append(damages, Damage{rel, "is " + kind(d.Type()) + ", not a plain file"})
			return nil
		}
		if rel == ManifestFile {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files = append(files, File{Path: rel, Size: info.Size()})
		if len(files) > MaxFiles {
			return fmt.Errorf("there are more than %d files", MaxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list files: %w", err)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, damages, nil
}

// hashAll fills in the hashes of files.
func hashAll(ctx context.Context, dir string, files []File) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(min(4, runtime.GOMAXPROCS(0)))
	for i := range files {
		g.Go(func() error { return hash(ctx, dir, &files[i]) })
	}
	return g.Wait()
}

// hash fills in the hash of a file, and its size as it was read.
func hash(ctx context.Context, dir string, f *File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, err := os.Open(filepath.Join(dir, filepath.FromSlash(f.Path)))
	if err != nil {
		return fmt.Errorf("hash file: %w", err)
	}
	defer r.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, f.Size+1))
	if err != nil {
		return fmt.Errorf("hash file %s: %w", f.Path, err)
	}
	f.Size, f.SHA256 = n, hex.EncodeToString(h.Sum(nil))
	return nil
}

// compareSizes parts the files of a manifest into those that are there in their size and those that are not, and adds
// what is there beside them. Paths that are damages already are passed over.
func compareSizes(want, found []File, known []Damage) (same []File, damages []Damage) {
	sizes := make(map[string]int64, len(found))
	for _, f := range found {
		sizes[f.Path] = f.Size
	}
	for _, w := range want {
		size, ok := sizes[w.Path]
		delete(sizes, w.Path)
		switch {
		case slices.ContainsFunc(known, func(d Damage) bool { return d.Path == w.Path }):
		case !ok:
			damages = append(damages, Damage{w.Path, "is missing"})
		case size != w.Size:
			damages = append(damages, Damage{w.Path, fmt.Sprintf("has %d bytes instead of %d", size, w.Size)})
		default:
			same = append(same, w)
		}
	}
	for path := range sizes {
		damages = append(damages, Damage{path, "is not part of the release"})
	}
	return same, damages
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "something special"
}

// ReadJSON reads one of the release's own files of text into v, at most MaxTextBytes, accepting no unknown key.
func ReadJSON(dir, file string, v any) error {
	data, err := readLimited(filepath.Join(dir, file), MaxTextBytes)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: something follows its end", file)
	}
	return nil
}

// readLimited reads a plain file of at most limit bytes.
func readLimited(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a plain file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, nil
}
