// Package release packs a gallery's content into an immutable folder, and checks such a folder byte for byte before
// anything in it is used.
package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Format is the version of the layout of a release.
const Format = 1

// The files and folders of a release beside its pictures.
const (
	ManifestFile  = "manifest.json"
	CatalogueFile = "catalogue.json" // the gallery without its sections
	SectionsFile  = "sections.json"
	PassagesFile  = "passages.json"
	PartsFolder   = "parts" // one folder for each part
)

// Limits of a release. A thousand exhibits with ten pictures each and both languages stay far below them.
const (
	MaxManifestBytes = 16 << 20
	MaxFiles         = 50_000
	MaxFileBytes     = 4 << 30
	MaxTextBytes     = 256 << 20 // each of catalogue, sections and passages
	MaxReportBytes   = 1 << 20   // what one part says about itself
	maxPathBytes     = 512
)

// Manifest says what a release is and names every file in it.
type Manifest struct {
	Format    int                        `json:"format"`
	ID        string                     `json:"id"` // number, dash, first 12 hex digits of the SHA-256 of the list of files
	Number    int                        `json:"number"`
	Created   time.Time                  `json:"created"`
	Gallery   string                     `json:"gallery"`
	Languages []string                   `json:"languages"`
	Files     []File                     `json:"files"` // sorted by path
	Parts     map[string]json.RawMessage `json:"parts"` // what each part says about itself
	SHA256    string                     `json:"sha256"`
}

// File is one file of a release.
type File struct {
	Path   string `json:"path"` // slash-separated, below the release
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hex
}

// ErrManifest is what every error of a manifest that cannot be used is.
var ErrManifest = errors.New("manifest is not usable")

// encode writes a manifest in its one form: indented, sealed with the SHA-256 of everything else in it.
func (m Manifest) encode() ([]byte, error) {
	m.SHA256 = ""
	unsealed, err := marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	m.SHA256 = hexSum(unsealed)
	sealed, err := marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return sealed, nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// DecodeManifest reads a manifest. It accepts only what Pack writes, byte for byte, so that no change of it goes
// unnoticed; errors are ErrManifest.
func DecodeManifest(data []byte) (Manifest, error) {
	m, err := decodeManifest(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return m, nil
}

func decodeManifest(data []byte) (Manifest, error) {
	if len(data) > MaxManifestBytes {
		return Manifest{}, fmt.Errorf("it is larger than %d bytes", MaxManifestBytes)
	}
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return Manifest{}, fmt.Errorf("read it: %w", err)
	}
	if version.Format != Format {
		return Manifest{}, fmt.Errorf("its format is %d, this program reads %d", version.Format, Format)
	}
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("read it: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, errors.New("something follows it")
	}
	if err := m.validate(); err != nil {
		return Manifest{}, err
	}
	canonical, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	if !bytes.Equal(data, canonical) {
		return Manifest{}, errors.New("it was changed after it was written")
	}
	return m, nil
}

var (
	slug    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
	hexHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

func (m Manifest) validate() error {
	switch {
	case m.Number < 0:
		return fmt.Errorf("its number is %d", m.Number)
	case !slug.MatchString(m.Gallery):
		return fmt.Errorf("its gallery is %q", m.Gallery)
	case len(m.Languages) == 0:
		return errors.New("it names no language")
	case len(m.Files) > MaxFiles:
		return fmt.Errorf("it names %d files, at most %d are allowed", len(m.Files), MaxFiles)
	}
	for i, f := range m.Files {
		if err := f.validate(); err != nil {
			return err
		}
		if i > 0 && m.Files[i-1].Path >= f.Path {
			return fmt.Errorf("file %q is named twice or out of order", f.Path)
		}
	}
	for name, report := range m.Parts {
		if !slug.MatchString(name) {
			return fmt.Errorf("its part is named %q", name)
		}
		if len(report) > MaxReportBytes {
			return fmt.Errorf("the report of part %s is larger than %d bytes", name, MaxReportBytes)
		}
	}
	if want := releaseID(m.Number, m.Files); m.ID != want {
		return fmt.Errorf("its id is %q, its files say %q", m.ID, want)
	}
	return nil
}

func (f File) validate() error {
	switch {
	case !validPath(f.Path) || f.Path == ManifestFile:
		return fmt.Errorf("file path %q is not allowed", f.Path)
	case f.Size < 0 || f.Size > MaxFileBytes:
		return fmt.Errorf("file %s has a size of %d bytes, at most %d are allowed", f.Path, f.Size, int64(MaxFileBytes))
	case !hexHash.MatchString(f.SHA256):
		return fmt.Errorf("file %s has the hash %q", f.Path, f.SHA256)
	}
	return nil
}

// validPath reports whether a path stays below its folder on every system and can be printed.
func validPath(p string) bool {
	return fs.ValidPath(p) && p != "." && len(p) <= maxPathBytes && utf8.ValidString(p) &&
		!strings.ContainsFunc(p, func(r rune) bool { return r == '\\' || r == ':' || unicode.IsControl(r) })
}

// releaseID names a release by its number and content.
func releaseID(number int, files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s %d %s\n", f.SHA256, f.Size, f.Path)
	}
	return fmt.Sprintf("%d-%s", number, hex.EncodeToString(h.Sum(nil))[:12])
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
