package trust

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// forge makes metadata by hand, well signed or not, the way neither Author nor Hub would.
type forge struct {
	t                                *testing.T
	root, targets, online, next, odd ed25519.PrivateKey
	files                            map[string][]byte // what the hub serves
	releases                         map[int]map[string]*metadata.TargetFiles
}

// newForge makes keys. releases, which may be shared, keeps what names a release in targets metadata.
func newForge(t *testing.T, releases map[int]map[string]*metadata.TargetFiles) *forge {
	t.Helper()
	f := &forge{t: t, files: map[string][]byte{}, releases: releases}
	for _, key := range []*ed25519.PrivateKey{&f.root, &f.targets, &f.online, &f.next, &f.odd} {
		_, made, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		*key = made
	}
	return f
}

// rootWith is root metadata as an author makes it, changed before it is signed.
func (f *forge) rootWith(version int64, change func(*metadata.RootType), signers ...ed25519.PrivateKey) []byte {
	f.t.Helper()
	m := metadata.Root(now.Add(rootValid))
	m.Signed.Version = version
	for role, key := range map[string]ed25519.PrivateKey{
		metadata.ROOT: f.root, metadata.TARGETS: f.targets, metadata.SNAPSHOT: f.online, metadata.TIMESTAMP: f.online,
	} {
		f.addKey(&m.Signed, role, key)
	}
	if change != nil {
		change(&m.Signed)
	}
	return sealed(f.t, m, signers)
}

func (f *forge) addKey(r *metadata.RootType, role string, private ed25519.PrivateKey) string {
	f.t.Helper()
	key, err := metadata.KeyFromPublicKey(private.Public())
	if err != nil {
		f.t.Fatal(err)
	}
	if err := r.AddKey(key, role); err != nil {
		f.t.Fatal(err)
	}
	id, err := key.ID()
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

func sealed[T metadata.Roles](t *testing.T, m *metadata.Metadata[T], signers []ed25519.PrivateKey) []byte {
	t.Helper()
	data, err := signed(m, signers...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// chain says when each role's metadata ends and who signs it.
type chain struct {
	version                              int64
	number                               int
	targetsEnd, snapshotEnd, stampEnd    time.Time
	targetsKeys, snapshotKeys, stampKeys []ed25519.PrivateKey
}

func (f *forge) chain(version int64, number int) chain {
	return chain{version, number, now.Add(targetsValid), now.Add(snapshotValid), now.Add(timestampValid),
		[]ed25519.PrivateKey{f.targets}, []ed25519.PrivateKey{f.online}, []ed25519.PrivateKey{f.online}}
}

// serve puts up targets, snapshot and timestamp that name each other.
func (f *forge) serve(c chain) {
	f.t.Helper()
	targets := metadata.Targets(c.targetsEnd)
	targets.Signed.Version = c.version
	f.release(targets, c.number)
	targetsData := sealed(f.t, targets, c.targetsKeys)

	snapshot := metadata.Snapshot(c.snapshotEnd)
	snapshot.Signed.Version = c.version
	snapshot.Signed.Meta["targets.json"] = describe(c.version, targetsData)
	snapshotData := sealed(f.t, snapshot, c.snapshotKeys)

	stamp := metadata.Timestamp(c.stampEnd)
	stamp.Signed.Version = c.version
	stamp.Signed.Meta["snapshot.json"] = describe(c.version, snapshotData)
	f.files["timestamp.json"] = sealed(f.t, stamp, c.stampKeys)
	f.files[fmt.Sprintf("%d.snapshot.json", c.version)] = snapshotData
	f.files[fmt.Sprintf("%d.targets.json", c.version)] = targetsData
}

// release lets the author's own code name a release in targets metadata.
func (f *forge) release(m *metadata.Metadata[metadata.TargetsType], number int) {
	f.t.Helper()
	if f.releases[number] == nil {
		a, err := OpenAuthor(f.t.TempDir(), f.online.Public().(ed25519.PublicKey), func() time.Time { return now })
		if err != nil {
			f.t.Fatal(err)
		}
		files, err := a.Sign([]byte("index"), fmt.Sprintf("%d-abc", number), number)
		if err != nil {
			f.t.Fatal(err)
		}
		made, err := metadata.Targets().FromBytes(files["1.targets.json"])
		if err != nil {
			f.t.Fatal(err)
		}
		f.releases[number] = made.Signed.Targets
	}
	m.Signed.Targets = maps.Clone(f.releases[number])
}

func (f *forge) fetch(_ context.Context, name string, limit int64) ([]byte, error) {
	data, ok := f.files[name]
	if !ok {
		return nil, ErrNotFound
	}
	if int64(len(data)) > limit {
		return nil, &RefusedError{Name: name, Code: "too_long", Err: fmt.Errorf("%d bytes", len(data))}
	}
	return data, nil
}

// TestForgedMetadataIsRefused plays tricks with keys, thresholds, roles and releases on a kiosk that knows version 2:
// each is refused with its word, and afterwards the kiosk takes version 5 of the true house.
func TestForgedMetadataIsRefused(t *testing.T) {
	type trick func(f *forge)
	releases := map[int]map[string]*metadata.TargetFiles{}
	count := 0
	keys := func(k ...ed25519.PrivateKey) []ed25519.PrivateKey { return k }
	// targets names the key of the role targets in a new root, signed by the true root key, and serves under it.
	withRoot := func(change func(f *forge, r *metadata.RootType), then func(f *forge)) trick {
		return func(f *forge) {
			f.files["2.root.json"] = f.rootWith(2, func(r *metadata.RootType) { change(f, r) }, f.root)
			f.serve(f.chain(3, 3))
			if then != nil {
				then(f)
			}
		}
	}
	for name, tt := range map[string]struct {
		trick trick
		code  string
	}{
		// Thresholds.
		"threshold 0 for the root": {withRoot(func(_ *forge, r *metadata.RootType) { r.Roles[metadata.ROOT].Threshold = 0 }, nil), "signature"},
		"threshold 0 for targets, unsigned targets": {withRoot(func(_ *forge, r *metadata.RootType) { r.Roles[metadata.TARGETS].Threshold = 0 }, func(f *forge) {
			c := f.chain(3, 3)
			c.targetsKeys = nil
			f.serve(c)
		}), "signature"},
		"threshold 0 for the timestamp": {withRoot(func(_ *forge, r *metadata.RootType) { r.Roles[metadata.TIMESTAMP].Threshold = 0 }, nil), "signature"},
		"threshold -1 for the snapshot": {withRoot(func(_ *forge, r *metadata.RootType) { r.Roles[metadata.SNAPSHOT].Threshold = -1 }, nil), "signature"},
		"no key for targets":            {withRoot(func(_ *forge, r *metadata.RootType) { r.Roles[metadata.TARGETS].KeyIDs = nil }, nil), "signature"},
		"one of two signatures": {withRoot(func(f *forge, r *metadata.RootType) {
			f.addKey(r, metadata.TARGETS, f.next)
			r.Roles[metadata.TARGETS].Threshold = 2
		}, nil), "signature"},
		"two of two, the same key listed twice": {withRoot(func(_ *forge, r *metadata.RootType) {
			role := r.Roles[metadata.TARGETS]
			role.KeyIDs, role.Threshold = append(role.KeyIDs, role.KeyIDs[0]), 2
		}, nil), "signature"},
		"two of two, the same key under two ids": {withRoot(func(f *forge, r *metadata.RootType) {
			role := r.Roles[metadata.TARGETS]
			r.Keys["00ff"] = r.Keys[role.KeyIDs[0]]
			role.KeyIDs, role.Threshold = append(role.KeyIDs, "00ff"), 2
		}, func(f *forge) {
			f.resign(3, func(m *metadata.Metadata[metadata.TargetsType]) {
				again := m.Signatures[0]
				again.KeyID = "00ff"
				m.Signatures = append(m.Signatures, again)
			})
		}), "signature"},
		"the same signature twice": {func(f *forge) {
			f.serve(f.chain(3, 3))
			f.resign(3, func(m *metadata.Metadata[metadata.TargetsType]) { m.Signatures = append(m.Signatures, m.Signatures[0]) })
		}, "signature"},

		// Keys and roles.
		"targets signed by the hub's key":   {func(f *forge) { c := f.chain(3, 3); c.targetsKeys = keys(f.online); f.serve(c) }, "signature"},
		"targets signed by an unknown key":  {func(f *forge) { c := f.chain(3, 3); c.targetsKeys = keys(f.odd); f.serve(c) }, "signature"},
		"snapshot signed by the author":     {func(f *forge) { c := f.chain(3, 3); c.snapshotKeys = keys(f.targets); f.serve(c) }, "signature"},
		"timestamp signed by the author":    {func(f *forge) { c := f.chain(3, 3); c.stampKeys = keys(f.targets, f.root); f.serve(c) }, "signature"},
		"timestamp with no signature":       {func(f *forge) { c := f.chain(3, 3); c.stampKeys = nil; f.serve(c) }, "signature"},
		"root signed by the new key only":   {func(f *forge) { f.files["2.root.json"] = f.newRoot(2, f.next) }, "signature"},
		"root signed by the old key only":   {func(f *forge) { f.files["2.root.json"] = f.newRoot(2, f.root) }, "signature"},
		"root signed by the targets key":    {func(f *forge) { f.files["2.root.json"] = f.rootWith(2, nil, f.targets, f.online) }, "signature"},
		"root of the same version again":    {func(f *forge) { f.files["2.root.json"] = f.rootWith(1, nil, f.root) }, "stale"},
		"root that skips a version":         {func(f *forge) { f.files["2.root.json"] = f.rootWith(3, nil, f.root) }, "stale"},
		"targets in the timestamp's place":  {func(f *forge) { f.files["timestamp.json"] = f.files["2.targets.json"] }, "signature"},
		"snapshot in the timestamp's place": {func(f *forge) { f.files["timestamp.json"] = f.files["2.snapshot.json"] }, "signature"},
		"timestamp in the root's place":     {func(f *forge) { f.files["2.root.json"] = f.files["timestamp.json"] }, "signature"},

		// Expiry of each role alone.
		"expired timestamp": {func(f *forge) { c := f.chain(3, 3); c.stampEnd = now.Add(-time.Second); f.serve(c) }, "expired"},
		"expired snapshot":  {func(f *forge) { c := f.chain(3, 3); c.snapshotEnd = now.Add(-time.Second); f.serve(c) }, "expired"},
		"expired targets":   {func(f *forge) { c := f.chain(3, 3); c.targetsEnd = now.Add(-time.Second); f.serve(c) }, "expired"},
		"expired root": {withRoot(func(_ *forge, r *metadata.RootType) { r.Expires = now.Add(-time.Second) }, nil),
			"expired"},

		// Replays and mixtures of what was well signed.
		"everything of before":            {func(f *forge) { f.serve(f.chain(1, 1)) }, "stale"},
		"new timestamp over old snapshot": {func(f *forge) { f.serve(f.chain(3, 3)); f.files["3.snapshot.json"] = f.files["2.snapshot.json"] }, "mismatch"},
		"new snapshot over old targets":   {func(f *forge) { f.serve(f.chain(3, 3)); f.files["3.targets.json"] = f.files["2.targets.json"] }, "mismatch"},
		"snapshot that puts targets back": {func(f *forge) {
			f.serve(f.chain(3, 3))
			f.restamp(4, describe(1, f.files["1.targets.json"]))
		}, "stale"},
		"snapshot without targets": {func(f *forge) { f.serve(f.chain(3, 3)); f.restamp(4, nil) }, "metadata"},
		"targets that name nothing": {func(f *forge) {
			f.serve(f.chain(3, 3))
			f.resign(3, func(m *metadata.Metadata[metadata.TargetsType]) {
				clear(m.Signed.Targets)
				resigned := sealed(f.t, m, keys(f.targets))
				again, err := metadata.Targets().FromBytes(resigned)
				if err != nil {
					f.t.Fatal(err)
				}
				*m = *again
			})
		}, "metadata"},
		"a timestamp longer than any": {func(f *forge) {
			f.files["timestamp.json"] = append(slices.Clone(f.files["timestamp.json"]), make([]byte, MaxTimestamp)...)
		}, "too_long"},
		"half a timestamp": {func(f *forge) { d := f.files["timestamp.json"]; f.files["timestamp.json"] = d[:len(d)/2] }, "metadata"},
	} {
		count++
		t.Run(name, func(t *testing.T) {
			f := newForge(t, releases)
			dir := t.TempDir()
			c, err := NewClient(dir, f.rootWith(1, nil, f.root))
			if err != nil {
				t.Fatal(err)
			}
			f.serve(f.chain(1, 1))
			f.serve(f.chain(2, 2))
			if _, err := c.Refresh(t.Context(), f.fetch, now); err != nil {
				t.Fatal(err)
			}
			good := maps.Clone(f.files)
			tt.trick(f)
			for _, when := range []string{"at once", "after a restart"} {
				if _, err := c.Refresh(t.Context(), f.fetch, now); Code(err) != tt.code {
					t.Fatalf("%s: %v (%q), want %q", when, err, Code(err), tt.code)
				}
				if c, err = NewClient(dir, c.root); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := f.files["2.root.json"]; ok && tt.code != "stale" {
				if stored, err := c.load("root.json"); err == nil && stored != nil {
					return // a root that the true key signed was followed, as it must be: the true house has to follow it too
				}
			}
			f.files = good
			f.serve(f.chain(5, 5))
			if _, err := c.Refresh(t.Context(), f.fetch, now); err != nil {
				t.Errorf("the true house afterwards: %v", err)
			}
		})
	}
	t.Logf("%d tricks with metadata: each refused with its word, none changed what the kiosk knows", count)
}

// newRoot is a root for another root key.
func (f *forge) newRoot(version int64, signer ed25519.PrivateKey) []byte {
	return f.rootWith(version, func(r *metadata.RootType) {
		r.Roles[metadata.ROOT].KeyIDs = nil
		f.addKey(r, metadata.ROOT, f.next)
	}, signer)
}

// resign changes targets metadata, and lets snapshot and timestamp name what came of it.
func (f *forge) resign(version int64, change func(*metadata.Metadata[metadata.TargetsType])) {
	f.t.Helper()
	name := fmt.Sprintf("%d.targets.json", version)
	m, err := metadata.Targets().FromBytes(f.files[name])
	if err != nil {
		f.t.Fatal(err)
	}
	change(m)
	if f.files[name], err = m.ToBytes(false); err != nil {
		f.t.Fatal(err)
	}
	f.restamp(version, describe(version, f.files[name]))
}

// restamp signs snapshot and timestamp anew, for what targets says of the targets metadata; nil: nothing.
func (f *forge) restamp(version int64, targets *metadata.MetaFiles) {
	f.t.Helper()
	snapshot := metadata.Snapshot(now.Add(snapshotValid))
	snapshot.Signed.Version = version
	clear(snapshot.Signed.Meta)
	if targets != nil {
		snapshot.Signed.Meta["targets.json"] = targets
	}
	data := sealed(f.t, snapshot, []ed25519.PrivateKey{f.online})
	f.files[fmt.Sprintf("%d.snapshot.json", version)] = data
	stamp := metadata.Timestamp(now.Add(timestampValid))
	stamp.Signed.Version = version
	stamp.Signed.Meta["snapshot.json"] = describe(version, data)
	f.files["timestamp.json"] = sealed(f.t, stamp, []ed25519.PrivateKey{f.online})
}

// TestRootsOfTrustThatAreNone gives a kiosk roots to begin with that do not hold by themselves.
func TestRootsOfTrustThatAreNone(t *testing.T) {
	f := newForge(t, nil)
	for name, root := range map[string][]byte{
		"unsigned":                    f.rootWith(1, nil),
		"signed by another":           f.rootWith(1, nil, f.odd),
		"threshold 0":                 f.rootWith(1, func(r *metadata.RootType) { r.Roles[metadata.ROOT].Threshold = 0 }, f.root),
		"two wanted, one key, twice":  f.rootWith(1, func(r *metadata.RootType) { r.Roles[metadata.ROOT].Threshold = 2 }, f.root),
		"no root at all":              []byte("{}"),
		"targets in the place of one": []byte(`{"signed":{"_type":"targets","spec_version":"1.0.31","version":1,"expires":"2030-01-01T00:00:00Z","targets":{}},"signatures":[]}`),
	} {
		if _, err := NewClient(t.TempDir(), root); err == nil {
			t.Errorf("%s: trusted", name)
		}
	}
}

// TestHubClockJumps moves the hub's clock by ten years and sets it right again, with a release published each time: what
// it signed ahead of its time does not hold for ten years, and kiosks with the right time take what comes next.
func TestHubClockJumps(t *testing.T) {
	dir := t.TempDir()
	hub, err := OpenHub(filepath.Join(dir, "hub"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenAuthor(filepath.Join(dir, "keys"), hub.Public(), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	root, err := a.Root()
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(filepath.Join(dir, "kiosk"), root)
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(_ context.Context, name string, _ int64) ([]byte, error) {
		data, err := os.ReadFile(hub.Path(name))
		if err != nil {
			return nil, ErrNotFound
		}
		return data, nil
	}
	number := 1
	publish := func(at time.Time) {
		t.Helper()
		number++
		files, err := a.Sign([]byte("index"), fmt.Sprintf("%d-abc", number), number)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hub.Publish(files, at); err != nil {
			t.Fatal(err)
		}
	}
	publish(now)
	for i, years := range []int{1, 0, -10, 0, 1, -10, 0} {
		at := now.AddDate(years, 0, 0).Add(time.Duration(i) * time.Hour)
		if years <= 1 && years >= 0 {
			publish(at)
		}
		if err := hub.Renew(at); err != nil {
			t.Fatal(err)
		}
		stamp, err := hub.stamp()
		if err != nil {
			t.Fatal(err)
		}
		if left := stamp.Signed.Expires.Sub(at); left <= 0 || left > timestampValid+time.Hour {
			t.Errorf("step %d, %d years: the timestamp holds for %v", i, years, left)
		}
		_, err = c.Refresh(t.Context(), fetch, now.Add(time.Duration(i)*time.Hour))
		if years >= 0 && err != nil || years < 0 && Code(err) != "expired" {
			t.Errorf("step %d, %d years: %v", i, years, err)
		}
	}
}
