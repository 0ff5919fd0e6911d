// Package trust decides which release a kiosk may show, by The Update Framework: root and targets keys that are kept
// offline sign what a release is, the hub's own key signs which is the newest, and a kiosk refuses what is old,
// expired, mixed or signed by anyone else.
package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"docent/internal/durable"

	"github.com/theupdateframework/go-tuf/v2/metadata"
	"github.com/theupdateframework/go-tuf/v2/metadata/trustedmetadata"
)

// MaxTargetCount is how many releases the targets metadata may name: few may be shown at any time.
const MaxTargetCount = 32

// Limits of metadata in bytes. There are few targets, so that all of it is small.
const (
	MaxRoot      = 64 << 10
	MaxTimestamp = 16 << 10
	MaxSnapshot  = 64 << 10
	MaxTargets   = 64 << 10
	maxRotations = 256 // roots stepped over in one refresh
)

// ErrNotFound is what a Fetch returns for metadata that is not there.
var ErrNotFound = errors.New("no such metadata")

// Fetch reads a metadata file from the hub, at most limit bytes.
type Fetch func(ctx context.Context, name string, limit int64) ([]byte, error)

// Target is a release that the signed metadata names, under the name of its id and ".json": kiosks may show it.
type Target struct {
	ReleaseID string
	Number    int
	Length    int64  // of its index
	SHA256    string // of its index, hex
	Version   int64  // of the targets metadata
}

// custom is what the targets metadata says of a release beside its hash.
type custom struct {
	ReleaseID string `json:"release_id"`
	Number    int    `json:"number"`
}

// Client is a kiosk's trust. It keeps the newest metadata it has seen, so that older is refused later.
type Client struct {
	dir  string
	root []byte
}

// CheckRoot says what is wrong with root metadata, if anything.
func CheckRoot(root []byte) error {
	if len(root) > MaxRoot {
		return fmt.Errorf("it has %d bytes, at most %d are allowed", len(root), MaxRoot)
	}
	_, err := trustedmetadata.New(root)
	return err
}

// NewClient keeps metadata in dir and trusts, to begin with, the given root metadata.
func NewClient(dir string, root []byte) (*Client, error) {
	if _, err := trustedmetadata.New(root); err != nil {
		return nil, fmt.Errorf("root of trust: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of trusted metadata: %w", err)
	}
	return &Client{dir: dir, root: root}, nil
}

// Refresh fetches what is newer than what is known and returns the releases that may be shown, at least one, by number,
// the newest last. now decides about expiry. An error of fetch comes back as it is; what is wrong with the metadata has a
// word, see [Code].
func (c *Client) Refresh(ctx context.Context, fetch Fetch, now time.Time) ([]Target, error) {
	trusted, err := c.start()
	if err != nil {
		return nil, err
	}
	trusted.RefTime = now.UTC()
	for _, step := range []func(context.Context, *trustedmetadata.TrustedMetadata, Fetch) error{
		c.roots, c.timestamp, c.snapshot, c.targets,
	} {
		if err := step(ctx, trusted, fetch); err != nil {
			return nil, err
		}
	}
	return list(trusted.Targets[metadata.TARGETS])
}

// start trusts the newest root known: the stored one, or the given one where that is newer or the stored is damaged.
func (c *Client) start() (*trustedmetadata.TrustedMetadata, error) {
	given, err := trustedmetadata.New(c.root)
	if err != nil {
		return nil, fmt.Errorf("root of trust: %w", err)
	}
	stored, err := c.load("root.json")
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return given, nil
	}
	known, err := trustedmetadata.New(stored)
	if err != nil || known.Root.Signed.Version < given.Root.Signed.Version {
		return given, nil
	}
	return known, nil
}

// roots steps from the known root to the newest, one version at a time, each signed by the one before and by itself.
func (c *Client) roots(ctx context.Context, trusted *trustedmetadata.TrustedMetadata, fetch Fetch) error {
	for range maxRotations {
		name := fmt.Sprintf("%d.root.json", trusted.Root.Signed.Version+1)
		data, err := fetch(ctx, name, MaxRoot)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := trusted.UpdateRoot(data); err != nil {
			return refused(name, err)
		}
		if err := c.store("root.json", data); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) timestamp(ctx context.Context, trusted *trustedmetadata.TrustedMetadata, fetch Fetch) error {
	const name = "timestamp.json"
	stored, err := c.load(name)
	if err != nil {
		return err
	}
	if stored != nil {
		// Whatever is wrong with it, expired or signed by a key of before: it is here to notice older ones only.
		_, _ = trusted.UpdateTimestamp(stored)
	}
	data, err := fetch(ctx, name, MaxTimestamp)
	if err != nil {
		return err
	}
	var same *metadata.ErrEqualVersionNumber
	_, err = trusted.UpdateTimestamp(data)
	if errors.As(err, &same) {
		return nil
	}
	if err != nil {
		return refused(name, err)
	}
	return c.store(name, data)
}

func (c *Client) snapshot(ctx context.Context, trusted *trustedmetadata.TrustedMetadata, fetch Fetch) error {
	stored, err := c.load("snapshot.json")
	if err != nil {
		return err
	}
	if stored != nil {
		if _, err := trusted.UpdateSnapshot(stored, true); err == nil {
			return nil
		}
	}
	meta, ok := trusted.Timestamp.Signed.Meta["snapshot.json"]
	if !ok {
		return refused("timestamp.json", &metadata.ErrRepository{Msg: "it names no snapshot"})
	}
	name := fmt.Sprintf("%d.snapshot.json", meta.Version)
	data, err := fetch(ctx, name, limit(meta.Length, MaxSnapshot))
	if err != nil {
		return err
	}
	if _, err := trusted.UpdateSnapshot(data, false); err != nil {
		return refused(name, err)
	}
	return c.store("snapshot.json", data)
}

func (c *Client) targets(ctx context.Context, trusted *trustedmetadata.TrustedMetadata, fetch Fetch) error {
	stored, err := c.load("targets.json")
	if err != nil {
		return err
	}
	if stored != nil {
		if _, err := trusted.UpdateTargets(stored); err == nil {
			return nil
		}
	}
	meta, ok := trusted.Snapshot.Signed.Meta["targets.json"]
	if !ok {
		return refused("snapshot.json", &metadata.ErrRepository{Msg: "it names no targets"})
	}
	name := fmt.Sprintf("%d.targets.json", meta.Version)
	data, err := fetch(ctx, name, limit(meta.Length, MaxTargets))
	if err != nil {
		return err
	}
	if _, err := trusted.UpdateTargets(data); err != nil {
		return refused(name, err)
	}
	return c.store("targets.json", data)
}

// limit is the declared length where there is one, the general bound otherwise.
func limit(declared, bound int64) int64 {
	if declared > 0 {
		return min(declared, bound)
	}
	return bound
}

// list reads the releases that targets metadata names, by number. No two have the same.
func list(m *metadata.Metadata[metadata.TargetsType]) ([]Target, error) {
	if len(m.Signed.Targets) == 0 {
		return nil, refused("targets.json", &metadata.ErrRepository{Msg: "it names no release"})
	}
	if len(m.Signed.Targets) > MaxTargetCount {
		return nil, refused("targets.json", &metadata.ErrRepository{Msg: fmt.Sprintf("it names %d releases, at most %d are allowed", len(m.Signed.Targets), MaxTargetCount)})
	}
	var out []Target
	for name, f := range m.Signed.Targets {
		t, err := target(name, f)
		if err != nil {
			return nil, refused("targets.json", err)
		}
		t.Version = m.Signed.Version
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Target) int { return cmp.Compare(a.Number, b.Number) })
	for i := 1; i < len(out); i++ {
		if out[i].Number == out[i-1].Number {
			return nil, refused("targets.json", &metadata.ErrRepository{Msg: fmt.Sprintf("it names two releases with the number %d", out[i].Number)})
		}
	}
	return out, nil
}

func target(name string, f *metadata.TargetFiles) (Target, error) {
	if f == nil || f.Custom == nil {
		return Target{}, &metadata.ErrRepository{Msg: "a release is not described"}
	}
	sum, ok := f.Hashes["sha256"]
	var c custom
	if err := json.Unmarshal(*f.Custom, &c); err != nil || !ok || len(sum) != 32 || f.Length < 1 || c.Number < 0 || len(c.ReleaseID) > 64 || name != targetName(c.ReleaseID) {
		return Target{}, &metadata.ErrRepository{Msg: "a release is not well described"}
	}
	return Target{ReleaseID: c.ReleaseID, Number: c.Number, Length: f.Length, SHA256: fmt.Sprintf("%x", []byte(sum))}, nil
}

func targetName(releaseID string) string { return releaseID + ".json" }

// load reads stored metadata; nil where there is none.
func (c *Client) load(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read trusted metadata: %w", err)
	}
	return data, nil
}

func (c *Client) store(name string, data []byte) error {
	if err := durable.WriteFile(filepath.Join(c.dir, name), data, 0o600); err != nil {
		return fmt.Errorf("keep trusted metadata: %w", err)
	}
	return nil
}

// RefusedError says which metadata was refused and why.
type RefusedError struct {
	Name string
	Code string // one of the words of Code
	Err  error
}

// Error says what is wrong.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s refused: %v", e.Name, e.Err) }

// Unwrap returns the library's error.
func (e *RefusedError) Unwrap() error { return e.Err }

func refused(name string, err error) error { return &RefusedError{name, code(err), err} }

// Code is the word for why metadata was refused: stale (older than what is known), expired, signature (too few good
// signatures), mismatch (not the length or hash that other metadata declares), metadata (anything else). It is empty
// for other errors.
func Code(err error) string {
	var e *RefusedError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func code(err error) string {
	var (
		version   *metadata.ErrBadVersionNumber
		expired   *metadata.ErrExpiredMetadata
		unsigned  *metadata.ErrUnsignedMetadata
		mismatch  *metadata.ErrLengthOrHashMismatch
		threshold *metadata.ErrValue
	)
	switch {
	case errors.As(err, &version):
		return "stale"
	case errors.As(err, &expired):
		return "expired"
	case errors.As(err, &unsigned), errors.As(err, &threshold):
		return "signature"
	case errors.As(err, &mismatch):
		return "mismatch"
	}
	return "metadata"
}
