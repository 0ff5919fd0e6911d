package release

import (
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
	m, err := readManifest(dir)
	if err != nil {
		return Manifest{}, err
	}
	found, damages, err := survey(ctx, dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("verify release %s: %w", dir, err)
	}
	damages = append(damages, compare(m.Files, found, damages)...)
	if len(damages) > 0 {
		slices.SortFunc(damages, func(a, b Damage) int { return strings.Compare(a.Path, b.Path) })
		return Manifest{}, &DamagedError{Dir: dir, Damages: damages}
	}
	return m, nil
}

func readManifest(dir string) (Manifest, error) {
	data, err := readLimited(filepath.Join(dir, ManifestFile), MaxManifestBytes)
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	m, err := DecodeManifest(data)
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

// survey lists the files below dir with size and hash, sorted by path, without the manifest. What is no plain file
// or folder, or cannot be read, is a damage.
func survey(ctx context.Context, dir string) ([]File, []Damage, error) {
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
		switch {
		case !d.Type().IsRegular():
			damages = append(damages, Damage{rel, "is " + kind(d.Type()) + ", not a plain file"})
		case rel != ManifestFile:
			files = append(files, File{Path: rel})
		}
		if len(files) > MaxFiles {
			return fmt.Errorf("there are more than %d files", MaxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list files: %w", err)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })

	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(min(4, runtime.GOMAXPROCS(0)))
	for i := range files {
		g.Go(func() error { return hash(ctx, dir, &files[i]) })
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	return files, damages, nil
}

// hash fills in the size and hash of a file.
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
	n, err := io.Copy(h, io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return fmt.Errorf("hash file %s: %w", f.Path, err)
	}
	f.Size, f.SHA256 = n, hex.EncodeToString(h.Sum(nil))
	return nil
}

// compare names what differs between two lists sorted by path. Paths that are damages already are passed over.
func compare(want, found []File, known []Damage) []Damage {
	skip := map[string]bool{}
	for _, d := range known {
		skip[d.Path] = true
	}
	have := make(map[string]File, len(found))
	for _, f := range found {
		have[f.Path] = f
	}
	var damages []Damage
	for _, w := range want {
		f, ok := have[w.Path]
		delete(have, w.Path)
		switch {
		case skip[w.Path]:
		case !ok:
			damages = append(damages, Damage{w.Path, "is missing"})
		case f.Size != w.Size:
			damages = append(damages, Damage{w.Path, fmt.Sprintf("has %d bytes instead of %d", f.Size, w.Size)})
		case f.SHA256 != w.SHA256:
			damages = append(damages, Damage{w.Path, "was changed"})
		}
	}
	for path := range have {
		damages = append(damages, Damage{path, "is not part of the release"})
	}
	return damages
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
	dec := json.NewDecoder(strings.NewReader(string(data)))
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
