package update

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// TestWrongBytesAreRefused serves objects that are not what was signed.
func TestWrongBytesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		mangle func(req wire.Fetch, c *wire.Chunk)
		code   string
	}{
		{"a changed byte", func(_ wire.Fetch, c *wire.Chunk) {
			if len(c.Data) > 0 {
				c.Data[len(c.Data)/2] ^= 1
			}
		}, "wrong_hash"},
		{"too long", func(_ wire.Fetch, c *wire.Chunk) { c.Size++; c.Data = append(c.Data, 'x') }, "wrong_size"},
		{"too short", func(_ wire.Fetch, c *wire.Chunk) { c.Size-- }, "wrong_size"},
		{"torn", func(_ wire.Fetch, c *wire.Chunk) { c.Data = nil }, "wrong_block"},
		{"not there", func(_ wire.Fetch, c *wire.Chunk) { *c = wire.Chunk{Error: wire.FetchNotFound} }, "missing_object"},
		{"of another place", func(_ wire.Fetch, c *wire.Chunk) { c.Offset += 5 }, "wrong_block"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, t.TempDir())
			k := newKiosk(t, pack(t, 1, 3), h.root())
			before := k.shows()
			x := h.publish(pack(t, 2, 3, 1))
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if wire.ValidObject(req.Name) {
					tt.mangle(req, c)
				}
			}
			if err := k.follow(h); err == nil {
				t.Error("no error")
			}
			if l := k.last(); l.Status != wire.DeployRejected || l.Code != tt.code || k.shows() != before || k.stage.switches > 0 {
				t.Errorf("last report %+v, shows %s", l, k.shows())
			}
			h.mangle = nil // the hub is mended
			if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
				t.Errorf("mended: %v, shows %s", err, k.shows())
			}
		})
	}
}

// TestSignedNonsenseIsRefused signs what is no index, one of another release, and one of a release whose files are not
// those of its manifest.
func TestSignedNonsenseIsRefused(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	before := k.shows()
	dir := pack(t, 4, 3, 1)
	whole, _, err := bundle.Write(t.Context(), dir, filepath.Dir(h.objects))
	if err != nil {
		t.Fatal(err)
	}
	mixed := whole
	mixed.Files = slices.Clone(whole.Files)
	pictures := slices.DeleteFunc(slices.Clone(whole.Files), func(f bundle.File) bool { return filepath.Dir(f.Path) != "pictures" })
	last := slices.IndexFunc(mixed.Files, func(f bundle.File) bool { return f.Path == pictures[2].Path })
	mixed.Files[last].Chunks = pictures[0].Chunks // another picture of the same length
	if pictures[0].Size != pictures[2].Size {
		t.Fatal("the pictures differ in length")
	}
	for i, tt := range []struct {
		name string
		data func() []byte
		id   string
		code string
	}{
		{"no index", func() []byte { return []byte("{}") }, "2-abc", "bad_index"},
		{"other release", func() []byte { return encode(t, whole) }, "3-abc", "bad_index"},
		{"mixed files", func() []byte { return encode(t, mixed) }, whole.ReleaseID, "not_the_release"},
	} {
		data := tt.data()
		if err := os.WriteFile(filepath.Join(h.objects, bundle.Sum(data)), data, 0o644); err != nil {
			t.Fatal(err)
		}
		h.publishIndex(data, tt.id, i+2)
		if err := k.follow(h); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
		if l := k.last(); l.Status != wire.DeployRejected || l.Code != tt.code || k.shows() != before {
			t.Errorf("%s: last report %+v, shows %s", tt.name, l, k.shows())
		}
	}
}

func encode(t testing.TB, x bundle.Index) []byte {
	t.Helper()
	data, err := x.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestMetadataIsRefused plays each trick with metadata that is or was well signed.
func TestMetadataIsRefused(t *testing.T) {
	type trick func(t *testing.T, h *house, old map[string][]byte)
	restore := func(names ...string) trick {
		return func(t *testing.T, h *house, old map[string][]byte) {
			for _, n := range names {
				if err := os.WriteFile(h.hub.Path(n), old[n], 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, tt := range []struct {
		name  string
		trick trick
		code  string
	}{
		{"older timestamp", restore("timestamp.json"), "stale"},
		{"expired", func(_ *testing.T, h *house, _ map[string][]byte) { h.now = h.now.AddDate(10, 0, 0) }, "expired"},
		{"timestamp too long", func(_ *testing.T, h *house, _ map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if req.Name == "timestamp.json" {
					c.Size = trust.MaxTimestamp + 1
				}
			}
		}, "too_long"},
		{"changed byte", func(_ *testing.T, h *house, _ map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if req.Name == "timestamp.json" {
					c.Data = bytes.Replace(c.Data, []byte(`"spec_version":"1.0.31"`), []byte(`"spec_version":"1.0.32"`), 1)
				}
			}
		}, "signature"},
		{"snapshot of another time", func(_ *testing.T, h *house, old map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if strings.HasSuffix(req.Name, "snapshot.json") {
					c.Data = bytes.Clone(old["snapshot"])
					c.Size = int64(len(c.Data))
				}
			}
		}, "mismatch"},
		{"targets changed", func(_ *testing.T, h *house, _ map[string][]byte) {
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				if strings.HasSuffix(req.Name, "targets.json") {
					c.Data[len(c.Data)/2] ^= 1
				}
			}
		}, "mismatch"},
		{"signed by another house", func(t *testing.T, h *house, _ map[string][]byte) {
			other := newHouse(t, t.TempDir())
			for range 6 {
				other.publish(pack(t, 9, 1))
			}
			data, err := os.ReadFile(other.hub.Path("timestamp.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(h.hub.Path("timestamp.json"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
		{"root of another house", func(t *testing.T, h *house, _ map[string][]byte) {
			other := newHouse(t, t.TempDir())
			if err := other.author.Rotate(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(h.hub.Path("2.root.json"), other.root(), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, t.TempDir())
			k := newKiosk(t, pack(t, 1, 3), h.root())
			h.publish(pack(t, 2, 3, 0))
			old := map[string][]byte{}
			second := h.publish(pack(t, 3, 3, 1))
			if err := k.follow(h); err != nil {
				t.Fatal(err)
			}
			for key, n := range map[string]string{"timestamp.json": "timestamp.json", "snapshot": fmt.Sprintf("%d.snapshot.json", epoch.Unix()+1)} {
				data, err := os.ReadFile(h.hub.Path(n))
				if err != nil {
					t.Fatal(err)
				}
				old[key] = data
			}
			h.publish(pack(t, 4, 3, 2))
			if tt.code == "stale" { // the kiosk knows the newer timestamp and has not installed it
				k.free = 0
				if err := k.follow(h); err == nil || k.last().Code != "disk_full" {
					t.Fatalf("%v, %+v", err, k.last())
				}
				k.free = 1 << 40
			}
			tt.trick(t, h, old)
			if err := k.follow(h); trust.Code(err) != tt.code {
				t.Errorf("error is %v", err)
			}
			if l := k.last(); l.Status != wire.DeployRejected || l.Code != tt.code || l.Shown != second.ReleaseID || k.shows() != second.ReleaseID {
				t.Errorf("last report %+v", l)
			}
		})
	}
}

// TestOlderReleaseIsRefused signs, well and newly, a release with a lower number.
func TestOlderReleaseIsRefused(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 5, 3), h.root())
	before := k.shows()
	h.publish(pack(t, 4, 3, 1))
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if l := k.last(); l.Status != wire.DeployRejected || l.Code != "older" || k.shows() != before {
		t.Errorf("%+v", l)
	}
}
