package trust

import (
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"docent/internal/durable"

	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// How long signed metadata holds. A hub that is gone stops nothing that is installed: after these times kiosks take
// nothing new, and keep what they show.
const (
	rootValid      = 5 * 365 * 24 * time.Hour
	targetsValid   = 2 * 365 * 24 * time.Hour
	snapshotValid  = 30 * 24 * time.Hour
	timestampValid = 7 * 24 * time.Hour
)

// Author holds the offline keys of one house in a folder, with the roots and the newest targets metadata they signed.
// One program at a time uses it.
type Author struct {
	dir string
	now func() time.Time

	root, targets ed25519.PrivateKey
	version       int64 // of the newest root
}

// OpenAuthor opens the folder of keys, making keys and a first root where there are none. The root gives the hub's
// key the right to say which release is the newest.
func OpenAuthor(dir string, hub ed25519.PublicKey, now func() time.Time) (*Author, error) {
	a := &Author{dir: dir, now: now}
	if err := a.open(hub); err != nil {
		return nil, fmt.Errorf("signing keys in %s: %w", dir, err)
	}
	return a, nil
}

func (a *Author) open(hub ed25519.PublicKey) (err error) {
	if err := os.MkdirAll(filepath.Join(a.dir, "metadata"), 0o700); err != nil {
		return err
	}
	if a.version, err = newest(filepath.Join(a.dir, "metadata"), "root"); err != nil {
		return err
	}
	if err := a.finishRotation(); err != nil {
		return err
	}
	if a.root, err = Key(filepath.Join(a.dir, "root.key")); err != nil {
		return err
	}
	if a.targets, err = Key(filepath.Join(a.dir, "targets.key")); err != nil {
		return err
	}
	if a.version == 0 {
		return a.newRoot(hub, a.root, a.targets, a.root)
	}
	known, err := a.latestRoot()
	if err != nil {
		return err
	}
	if hub == nil {
		return nil
	}
	id, err := keyID(hub)
	if err != nil {
		return err
	}
	for _, role := range []string{metadata.TIMESTAMP, metadata.SNAPSHOT} {
		if ids := known.Signed.Roles[role].KeyIDs; len(ids) != 1 || ids[0] != id {
			return a.newRoot(hub, a.root, a.targets, a.root) // another hub
		}
	}
	return nil
}

// newRoot signs the next version of the root with the given keys.
func (a *Author) newRoot(hub ed25519.PublicKey, root, targets ed25519.PrivateKey, signers ...ed25519.PrivateKey) error {
	if len(hub) != ed25519.PublicKeySize {
		return errors.New("the hub's public key is needed to make the first root")
	}
	m := metadata.Root(a.now().UTC().Truncate(time.Second).Add(rootValid))
	m.Signed.Version = a.version + 1
	for _, r := range []struct {
		role string
		key  crypto.PublicKey
	}{
		{metadata.ROOT, root.Public()}, {metadata.TARGETS, targets.Public()}, {metadata.SNAPSHOT, hub}, {metadata.TIMESTAMP, hub},
	} {
		key, err := metadata.KeyFromPublicKey(r.key)
		if err != nil {
			return err
		}
		if err := m.Signed.AddKey(key, r.role); err != nil {
			return err
		}
	}
	data, err := signed(m, signers...)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(a.file(m.Signed.Version, "root"), data, 0o644); err != nil {
		return err
	}
	a.version = m.Signed.Version
	return nil
}

// Rotate makes new root and targets keys. The new root is signed by the old and the new root key, so that kiosks that
// know any root before it can follow. What the old targets key signed holds no more: sign the release again.
func (a *Author) Rotate() error {
	known, err := a.latestRoot()
	if err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	hub, err := publicOf(known, metadata.TIMESTAMP)
	if err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	root, err := Key(filepath.Join(a.dir, "root.key.new"))
	if err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	targets, err := Key(filepath.Join(a.dir, "targets.key.new"))
	if err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	if err := a.newRoot(hub, root, targets, a.root, root); err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	if err := a.finishRotation(); err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	a.root, a.targets = root, targets
	return nil
}

// finishRotation puts new keys in the old ones' place once a root names them. Interrupted before that, the new keys are
// used by the next rotation.
func (a *Author) finishRotation() error {
	if a.version == 0 {
		return nil
	}
	known, err := a.latestRoot()
	if err != nil {
		return err
	}
	for role, name := range map[string]string{metadata.ROOT: "root.key", metadata.TARGETS: "targets.key"} {
		path := filepath.Join(a.dir, name)
		if _, err := os.Stat(path + ".new"); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		key, err := Key(path + ".new")
		if err != nil {
			return err
		}
		id, err := keyID(key.Public().(ed25519.PublicKey))
		if err != nil {
			return err
		}
		if known.Signed.Roles[role].KeyIDs[0] != id {
			continue
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return durable.SyncDir(a.dir)
}

// Sign signs the index of a release as one that kiosks may show, together with the newest that was signed beside it, so
// that there is one to go back to. It returns the metadata that a hub needs, by file name: all roots and the new targets.
func (a *Author) Sign(index []byte, releaseID string, number int) (map[string][]byte, error) {
	return a.sign(index, releaseID, number, 1)
}

// SignOnly is as Sign, but all other releases may not be shown any more.
func (a *Author) SignOnly(index []byte, releaseID string, number int) (map[string][]byte, error) {
	return a.sign(index, releaseID, number, 0)
}

func (a *Author) sign(index []byte, releaseID string, number, others int) (map[string][]byte, error) {
	files, err := a.signTargets(index, releaseID, number, others)
	if err != nil {
		return nil, fmt.Errorf("sign release %s: %w", releaseID, err)
	}
	return files, nil
}

func (a *Author) signTargets(index []byte, releaseID string, number, others int) (map[string][]byte, error) {
	last, err := newest(filepath.Join(a.dir, "metadata"), "targets")
	if err != nil {
		return nil, err
	}
	m := metadata.Targets(a.now().UTC().Truncate(time.Second).Add(targetsValid))
	m.Signed.Version = last + 1
	if err := a.keep(m.Signed.Targets, last, number, others); err != nil {
		return nil, err
	}
	f, err := metadata.TargetFile().FromBytes(targetName(releaseID), index, "sha256")
	if err != nil {
		return nil, err
	}
	about, err := json.Marshal(custom{releaseID, number})
	if err != nil {
		return nil, err
	}
	raw := json.RawMessage(about)
	f.Custom = &raw
	m.Signed.Targets[targetName(releaseID)] = f
	data, err := signed(m, a.targets)
	if err != nil {
		return nil, err
	}
	if err := durable.WriteFile(a.file(m.Signed.Version, "targets"), data, 0o644); err != nil {
		return nil, err
	}
	out := map[string][]byte{fmt.Sprintf("%d.targets.json", m.Signed.Version): data}
	for v := int64(1); v <= a.version; v++ {
		if out[fmt.Sprintf("%d.root.json", v)], err = os.ReadFile(a.file(v, "root")); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keep takes over the newest n releases that were signed last, but those of a number, which is signed anew.
func (a *Author) keep(targets map[string]*metadata.TargetFiles, version int64, number, n int) error {
	if version == 0 || n == 0 {
		return nil
	}
	m, err := metadata.Targets().FromFile(a.file(version, "targets"))
	if err != nil {
		return fmt.Errorf("read what was signed last: %w", err)
	}
	known, err := list(m)
	if err != nil {
		return fmt.Errorf("read what was signed last: %w", err)
	}
	known = slices.DeleteFunc(known, func(t Target) bool { return t.Number == number })
	for _, t := range known[max(0, len(known)-n):] {
		targets[targetName(t.ReleaseID)] = m.Signed.Targets[targetName(t.ReleaseID)]
	}
	return nil
}

// Last are the releases that were signed last, by number, the newest last; none where none was.
func (a *Author) Last() ([]Target, error) {
	version, err := newest(filepath.Join(a.dir, "metadata"), "targets")
	if err != nil || version == 0 {
		return nil, err
	}
	data, err := os.ReadFile(a.file(version, "targets"))
	if err != nil {
		return nil, fmt.Errorf("read what was signed last: %w", err)
	}
	return Named(data)
}

// Named are the releases that targets metadata names, at least one, by number, the newest last. Its signatures are not looked
// at: it is for telling people what they hold.
func Named(targets []byte) ([]Target, error) {
	m, err := metadata.Targets().FromBytes(targets)
	if err != nil {
		return nil, refused("targets.json", err)
	}
	return list(m)
}

// Root is the newest root metadata: what a kiosk is given to trust.
func (a *Author) Root() ([]byte, error) { return os.ReadFile(a.file(a.version, "root")) }

func (a *Author) latestRoot() (*metadata.Metadata[metadata.RootType], error) {
	return metadata.Root().FromFile(a.file(a.version, "root"))
}

func (a *Author) file(version int64, role string) string {
	return filepath.Join(a.dir, "metadata", fmt.Sprintf("%d.%s.json", version, role))
}

// newest is the highest version of a role's metadata in a folder, 0 where there is none.
func newest(dir, role string) (int64, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*."+role+".json"))
	if err != nil {
		return 0, err
	}
	highest := int64(0)
	for _, f := range files {
		var v int64
		if _, err := fmt.Sscanf(filepath.Base(f), "%d."+role+".json", &v); err == nil {
			highest = max(highest, v)
		}
	}
	return highest, nil
}

// signed signs metadata and returns its bytes.
func signed[T metadata.Roles](m *metadata.Metadata[T], keys ...ed25519.PrivateKey) ([]byte, error) {
	m.ClearSignatures()
	for _, key := range keys {
		signer, err := signature.LoadED25519Signer(key)
		if err != nil {
			return nil, err
		}
		if _, err := m.Sign(signer); err != nil {
			return nil, err
		}
	}
	return m.ToBytes(false)
}

func keyID(public ed25519.PublicKey) (string, error) {
	key, err := metadata.KeyFromPublicKey(public)
	if err != nil {
		return "", err
	}
	return key.ID()
}

func publicOf(root *metadata.Metadata[metadata.RootType], role string) (ed25519.PublicKey, error) {
	r, ok := root.Signed.Roles[role]
	if !ok || len(r.KeyIDs) == 0 {
		return nil, fmt.Errorf("root names no key for %s", role)
	}
	key, ok := root.Signed.Keys[r.KeyIDs[0]]
	if !ok {
		return nil, fmt.Errorf("root lacks the key for %s", role)
	}
	public, err := key.ToPublicKey()
	if err != nil {
		return nil, err
	}
	ed, ok := public.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the key for %s is not of Ed25519", role)
	}
	return ed, nil
}

// Key reads a private key (PKCS #8 in PEM), or makes one that only this user can read.
func Key(path string) (ed25519.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newKey(path)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("%s is no private key in PEM", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	ed, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s is not a key of Ed25519", path)
	}
	return ed, nil
}

func newKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, durable.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// WritePublic writes a public key (PKIX in PEM).
func WritePublic(w io.Writer, key ed25519.PublicKey) error {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return err
	}
	return pem.Encode(w, &pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// ReadPublic reads a public key that WritePublic wrote.
func ReadPublic(data []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("it is no public key in PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ed, ok := key.(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("it is not a key of Ed25519")
	}
	return ed, nil
}
