package trust

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"docent/internal/durable"

	"github.com/theupdateframework/go-tuf/v2/metadata"
	"github.com/theupdateframework/go-tuf/v2/metadata/trustedmetadata"
)

// Hub is the hub's half of the signing: its folder holds all metadata that kiosks fetch, and the key that says which
// is the newest. It is not safe for concurrent use.
type Hub struct {
	dir string
	key ed25519.PrivateKey
}

// OpenHub opens the hub's folder, making its key where there is none.
func OpenHub(dir string) (*Hub, error) {
	if err := os.MkdirAll(filepath.Join(dir, "metadata"), 0o700); err != nil {
		return nil, fmt.Errorf("hub's signing key: %w", err)
	}
	key, err := Key(filepath.Join(dir, "hub.key"))
	if err != nil {
		return nil, fmt.Errorf("hub's signing key: %w", err)
	}
	return &Hub{dir: dir, key: key}, nil
}

// Public is the hub's key, which the root has to name.
func (h *Hub) Public() ed25519.PublicKey { return h.key.Public().(ed25519.PublicKey) }

// Path is the file of a metadata file that kiosks ask for. The name was checked by wire.Fetch.
func (h *Hub) Path(name string) string { return filepath.Join(h.dir, "metadata", name) }

// Check verifies what an author signed against what the hub has, without taking it: roots that follow the known ones
// and name this hub's key, and newer targets. It returns the newest release they name.
func (h *Hub) Check(files map[string][]byte, now time.Time) (Target, error) {
	t, _, err := h.prepare(files, now)
	return t, err
}

// Publish takes what an author signed, signs that it is the newest, and puts it where kiosks fetch it. It appears there
// as a whole: the timestamp, which names all the rest, comes last.
func (h *Hub) Publish(files map[string][]byte, now time.Time) (Target, error) {
	t, out, err := h.prepare(files, now)
	if err != nil {
		return Target{}, err
	}
	return t, h.write(out)
}

func (h *Hub) write(out map[string][]byte) error {
	for name, data := range out {
		if name == "timestamp.json" {
			continue
		}
		if err := durable.WriteFile(h.Path(name), data, 0o644); err != nil {
			return fmt.Errorf("publish %s: %w", name, err)
		}
	}
	if err := durable.WriteFile(h.Path("timestamp.json"), out["timestamp.json"], 0o644); err != nil {
		return fmt.Errorf("publish timestamp: %w", err)
	}
	return nil
}

// Current is the newest release that is published; ErrNotFound where there is none.
func (h *Hub) Current() (Target, error) {
	targets, err := h.Targets()
	if err != nil {
		return Target{}, err
	}
	return targets[len(targets)-1], nil
}

// Targets are the releases that kiosks may show, at least one, by number, the newest last; ErrNotFound where nothing is
// published.
func (h *Hub) Targets() ([]Target, error) {
	version, err := newest(h.Path(""), "targets")
	if err != nil {
		return nil, fmt.Errorf("read published metadata: %w", err)
	}
	if version == 0 {
		return nil, ErrNotFound
	}
	m, err := metadata.Targets().FromFile(h.Path(fmt.Sprintf("%d.targets.json", version)))
	if err != nil {
		return nil, fmt.Errorf("read published metadata: %w", err)
	}
	return list(m)
}

// Renew signs again that the published release is the newest, when more than half a day of the signature's time has
// passed, or when it holds for longer than any signature should, because the clock was ahead. It does nothing where nothing
// is published.
func (h *Hub) Renew(now time.Time) error {
	stamp, err := h.stamp()
	if err != nil || stamp == nil {
		return err
	}
	if left := stamp.Signed.Expires.Sub(now); left > timestampValid-12*time.Hour && left < timestampValid+time.Hour {
		return nil
	}
	_, out, err := h.prepare(nil, now)
	if err != nil {
		return err
	}
	return h.write(out)
}

func (h *Hub) stamp() (*metadata.Metadata[metadata.TimestampType], error) {
	if _, err := os.Stat(h.Path("timestamp.json")); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	m, err := metadata.Timestamp().FromFile(h.Path("timestamp.json"))
	if err != nil {
		return nil, fmt.Errorf("read published metadata: %w", err)
	}
	return m, nil
}

// prepare verifies new files, or the published ones where there are none, makes snapshot and timestamp for them, and
// runs all of it through the checks that a kiosk makes.
func (h *Hub) prepare(files map[string][]byte, now time.Time) (Target, map[string][]byte, error) {
	out := maps.Clone(files)
	if out == nil {
		out = map[string][]byte{}
	}
	trusted, err := h.trustRoots(out)
	if err != nil {
		return Target{}, nil, err
	}
	trusted.RefTime = now.UTC()
	version, data, err := h.newTargets(out)
	if err != nil {
		return Target{}, nil, err
	}
	last := int64(0)
	if stamp, err := h.stamp(); err != nil {
		return Target{}, nil, err
	} else if stamp != nil {
		last = stamp.Signed.Version
	}

	// By the clock, so that a hub that was put back to an older copy does not give numbers out again that kiosks know.
	next := max(last+1, now.Unix())

	snapshot := metadata.Snapshot(now.UTC().Truncate(time.Second).Add(snapshotValid))
	snapshot.Signed.Version = next
	snapshot.Signed.Meta["targets.json"] = describe(version, data)
	snapshotData, err := signed(snapshot, h.key)
	if err != nil {
		return Target{}, nil, fmt.Errorf("sign snapshot: %w", err)
	}
	stamp := metadata.Timestamp(now.UTC().Truncate(time.Second).Add(timestampValid))
	stamp.Signed.Version = next
	stamp.Signed.Meta["snapshot.json"] = describe(next, snapshotData)
	stampData, err := signed(stamp, h.key)
	if err != nil {
		return Target{}, nil, fmt.Errorf("sign timestamp: %w", err)
	}
	if _, err := trusted.UpdateTimestamp(stampData); err != nil {
		return Target{}, nil, refused("root.json", fmt.Errorf("this hub's key: %w", err))
	}
	if _, err := trusted.UpdateSnapshot(snapshotData, false); err != nil {
		return Target{}, nil, refused("root.json", fmt.Errorf("this hub's key: %w", err))
	}
	targets, err := trusted.UpdateTargets(data)
	if err != nil {
		return Target{}, nil, refused("targets.json", err)
	}
	out["timestamp.json"] = stampData
	out[fmt.Sprintf("%d.snapshot.json", next)] = snapshotData
	releases, err := list(targets)
	if err != nil {
		return Target{}, nil, err
	}
	return releases[len(releases)-1], out, nil
}

// trustRoots follows the roots from the newest that the hub has, or from the first where it has none yet: then whoever
// publishes first decides whom the hub trusts. Kiosks trust the root they were given, whatever the hub does.
func (h *Hub) trustRoots(files map[string][]byte) (*trustedmetadata.TrustedMetadata, error) {
	version, err := newest(h.Path(""), "root")
	if err != nil {
		return nil, fmt.Errorf("read published metadata: %w", err)
	}
	first := files["1.root.json"]
	if version > 0 {
		if first, err = os.ReadFile(h.Path(fmt.Sprintf("%d.root.json", version))); err != nil {
			return nil, fmt.Errorf("read published metadata: %w", err)
		}
	}
	trusted, err := trustedmetadata.New(first)
	if err != nil {
		return nil, refused("1.root.json", err)
	}
	for {
		name := fmt.Sprintf("%d.root.json", trusted.Root.Signed.Version+1)
		data, ok := files[name]
		if !ok {
			return trusted, nil
		}
		if _, err := trusted.UpdateRoot(data); err != nil {
			return nil, refused(name, err)
		}
	}
}

// newTargets finds the targets to publish: one newer than the published, or the published where nothing new is given.
func (h *Hub) newTargets(files map[string][]byte) (version int64, data []byte, err error) {
	known, err := newest(h.Path(""), "targets")
	if err != nil {
		return 0, nil, fmt.Errorf("read published metadata: %w", err)
	}
	for name, d := range files {
		var v int64
		if _, err := fmt.Sscanf(name, "%d.targets.json", &v); err == nil && v > version {
			version, data = v, d
		}
	}
	if version > 0 && version <= known {
		return 0, nil, refused("targets.json", &metadata.ErrBadVersionNumber{Msg: fmt.Sprintf("version %d is published, this is %d; build the release under a higher number and sign that", known, version)})
	}
	if version > 0 {
		return version, data, nil
	}
	if known == 0 {
		return 0, nil, refused("targets.json", &metadata.ErrRepository{Msg: "there is none"})
	}
	data, err = os.ReadFile(h.Path(fmt.Sprintf("%d.targets.json", known)))
	return known, data, err
}

func describe(version int64, data []byte) *metadata.MetaFiles {
	m := metadata.MetaFile(version)
	m.Length = int64(len(data))
	m.Hashes = metadata.Hashes{"sha256": sum(data)}
	return m
}

func sum(data []byte) []byte {
	s := sha256.Sum256(data)
	return s[:]
}
