package update

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// TestClockThatIsWrong sets the kiosk's clock back and forth by ten years: nothing new is taken with a clock that says
// it is expired, what is shown stays, and a clock in the past does not stop updates.
func TestClockThatIsWrong(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	before := k.shows()
	x := h.publish(pack(t, 2, 3, 1))
	h.now = epoch.AddDate(10, 0, 0)
	if err := k.follow(h); trust.Code(err) != "expired" || k.shows() != before {
		t.Errorf("ten years on: %v, shows %s", err, k.shows())
	}
	h.now = epoch.AddDate(-10, 0, 0)
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Errorf("ten years back: %v, shows %s", err, k.shows())
	}
}

// TestHubThatIsAnOlderCopy puts the hub back to a copy of days ago: what it says is refused until the release is published
// again.
func TestHubThatIsAnOlderCopy(t *testing.T) {
	dir := t.TempDir()
	h := newHouse(t, dir)
	k := newKiosk(t, pack(t, 1, 3), h.root())
	h.publish(pack(t, 2, 3, 0))
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(h.hub.Path(""))); err != nil {
		t.Fatal(err)
	}
	for day := range 4 {
		h.now = epoch.AddDate(0, 0, day+1)
		if err := h.hub.Renew(h.now); err != nil {
			t.Fatal(err)
		}
	}
	third := pack(t, 3, 3, 1)
	x := h.publish(third)
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Fatalf("%v, shows %s", err, k.shows())
	}
	if err := os.RemoveAll(h.hub.Path("")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(h.hub.Path(""), os.DirFS(copied)); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Hour)
	if err := k.follow(h); trust.Code(err) != "stale" || k.shows() != x.ReleaseID {
		t.Errorf("put back: %v, shows %s", err, k.shows())
	}
	h.publish(third)
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Errorf("published again: %v, shows %s", err, k.shows())
	}
	fourth := h.publish(pack(t, 4, 3, 2))
	if err := k.follow(h); err != nil || k.shows() != fourth.ReleaseID {
		t.Errorf("a new release: %v, shows %s", err, k.shows())
	}
}

// TestKeysRotateWhileAKioskIsAway changes all offline keys twice.
func TestKeysRotateWhileAKioskIsAway(t *testing.T) {
	dir := t.TempDir()
	h := newHouse(t, dir)
	k := newKiosk(t, pack(t, 1, 3), h.root())
	for range 2 {
		if err := h.author.Rotate(); err != nil {
			t.Fatal(err)
		}
		h.reopen(dir, nil)
	}
	x := h.publish(pack(t, 2, 3, 1))
	if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
		t.Errorf("%v, shows %s", err, k.shows())
	}
}

// TestCutsCostLittle cuts the line after every tenth block and starts the kiosk anew at some: what came is kept.
func TestCutsCostLittle(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	dir := pack(t, 2, 40, 1)
	x := h.publish(dir)
	n := 0
	h.fail = func(wire.Fetch) error {
		if n++; n%10 == 0 {
			return errors.New("cut")
		}
		return nil
	}
	var size, starts int
	for _, c := range unique(x) {
		size += int(c.Size)
	}
	for starts = 1; k.shows() != x.ReleaseID && starts < 200; starts++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+10*starts)*time.Millisecond)
		err := k.start(h).once(ctx)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if _, total := h.sent(); k.shows() != x.ReleaseID || float64(total) > 1.05*float64(size)+float64(starts*len(encode(t, x))) {
		t.Errorf("%d starts, shows %s, %d bytes came of %d", starts, k.shows(), total, size)
	}
}

func unique(x bundle.Index) map[string]bundle.Chunk {
	out := map[string]bundle.Chunk{}
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			out[c.SHA256] = c
		}
	}
	return out
}

// TestDamagedContentIsFetchedAgain flips a bit in an installed picture that the next release has too, and in one of
// the release that is shown.
func TestDamagedContentIsFetchedAgain(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	second := h.publish(pack(t, 2, 6, 1))
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	u := k.start(h)
	third := h.publish(pack(t, 3, 6, 1, 2))
	picture := filepath.Join(k.dir, "releases", second.ReleaseID, "pictures", "5.png")
	damage(t, picture)
	if err := u.once(t.Context()); err != nil || k.shows() != third.ReleaseID {
		t.Fatalf("%v, shows %s", err, k.shows())
	}
	damage(t, filepath.Join(k.dir, "releases", third.ReleaseID, "pictures", "2.png"))
	if err := os.RemoveAll(filepath.Join(k.dir, "releases", second.ReleaseID)); err != nil {
		t.Fatal(err)
	}
	if err := k.follow(h); err != nil || k.shows() != third.ReleaseID {
		t.Errorf("after damage of what was shown: %v, shows %s, %s", err, k.shows(), k.statuses())
	}
}

func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/3] ^= 4
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
