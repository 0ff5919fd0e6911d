package update

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/internal/space"
	"docent/internal/space/smalldisk"
	"docent/localindex/release"
	"docent/sync/update/bundle"
	"docent/sync/wire"
)

// deployPoints are the durable steps of a deployment, in order.
var deployPoints = []string{"saved pending", "saved downloading", "saved downloaded", "assembled", "saved verifying",
	"saved pause_before_installing", "saved installing", "shown", "saved pause_before_committing", "saved success"}

// TestDiskFullInEachState takes the last byte of the disk at each step of a deployment, the first one and an update: what
// is shown stays whole while it is full, over a restart too, and with room again all ends well without help.
func TestDiskFullInEachState(t *testing.T) {
	cases := 0
	for _, from := range []string{"first", "update"} {
		for _, point := range deployPoints {
			t.Run(from+"/"+strings.ReplaceAll(point, " ", "_"), func(t *testing.T) {
				disk := smalldisk.Mount(t, "4m")
				h := newHouse(t, t.TempDir())
				k := newKiosk(t, pack(t, 1, 3), h.root())
				k.dir = filepath.Join(disk, "content")
				if from == "update" {
					h.publish(pack(t, 2, 3, 0))
					if err := k.follow(h); err != nil {
						t.Fatal(err)
					}
				}
				before := k.shows()
				x := h.publish(pack(t, 3, 3, 1))
				u := k.start(h)
				var free func()
				u.s.crash = func(at string) {
					if at == point && free == nil {
						free = smalldisk.Fill(t, disk)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				err := u.once(ctx)
				cancel()
				if free == nil {
					t.Fatalf("never came to %s: %v, %s", point, err, k.statuses())
				}
				full := k.shows()
				if full != before && full != x.ReleaseID {
					t.Errorf("full, it shows %s", full)
				}
				// The program starts again on the full disk: it shows something whole, or says why it cannot note its start.
				s, err := OpenStore(k.dir, k.factory, h.clock)
				if err != nil {
					t.Fatal(err)
				}
				opened := ""
				err = s.Start(func(dir string) error { opened = dir; _, err := release.Verify(t.Context(), dir); return err })
				if err == nil && opened == "" {
					t.Error("started without content")
				}
				free()
				if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
					t.Errorf("with room again: %v, shows %s, want %s: %s", err, k.shows(), x.ReleaseID, k.statuses())
				}
				cases++
			})
		}
	}
	t.Logf("disk full at %d steps of a deployment: old or new shown, whole, and the new one in the end", cases)
}

// opener is a stage that opens what it shows, as a kiosk does, and can be told to fail at one release.
type opener struct {
	*stage
	refuse string
}

func (o *opener) Switch(ctx context.Context, dir string) error {
	if _, err := release.Verify(ctx, dir); err != nil {
		return err
	}
	if filepath.Base(dir) == o.refuse {
		return errors.New("it does not open")
	}
	return o.stage.Switch(ctx, dir)
}

// TestErrorInEachState lets something else go wrong in each state of a deployment, the first one and an update.
func TestErrorInEachState(t *testing.T) {
	bad := errors.New("broken")
	cases := 0
	for _, from := range []string{"first", "update"} {
		for _, tt := range []struct {
			state  string
			broken func(h *house, k *kiosk, u *Updater, o *opener, x bundle.Index)
			status wire.DeployStatus
			code   string
			back   bool // it was shown and taken back
			again  bool // the same release is tried again and does
		}{
			{"downloading", func(h *house, _ *kiosk, _ *Updater, _ *opener, _ bundle.Index) {
				h.mangle = func(req wire.Fetch, c *wire.Chunk) {
					if wire.ValidObject(req.Name) {
						*c = wire.Chunk{ID: c.ID, Name: c.Name, Offset: c.Offset, Error: wire.FetchFailed}
					}
				}
			}, wire.DeployFailure, "download", false, true},
			{"downloaded", func(_ *house, k *kiosk, u *Updater, _ *opener, _ bundle.Index) {
				u.s.crash = func(point string) {
					if point != "saved downloaded" {
						return
					}
					objects, err := filepath.Glob(filepath.Join(k.dir, "incoming", "*", "objects", "*"))
					if err != nil || len(objects) == 0 {
						k.t.Fatal(objects, err)
					}
					for _, o := range objects { // all that came is gone from the disk
						if err := os.Remove(o); err != nil {
							k.t.Fatal(err)
						}
					}
				}
			}, wire.DeployFailure, "download", false, true},
			{"verifying", func(_ *house, k *kiosk, _ *Updater, _ *opener, x bundle.Index) {
				k.stage.dislike = func(dir string, _ bool) error {
					if filepath.Base(dir) == x.ReleaseID {
						return bad
					}
					return nil
				}
			}, wire.DeployRejected, "health", false, false},
			{"pause_before_installing", func(_ *house, k *kiosk, u *Updater, _ *opener, x bundle.Index) {
				u.s.crash = func(point string) { // what was verified is damaged while it waits
					if point == "saved pause_before_installing" {
						if err := os.RemoveAll(filepath.Join(k.dir, "releases", x.ReleaseID)); err != nil {
							k.t.Fatal(err)
						}
					}
				}
			}, wire.DeployFailure, "health", true, false},
			{"installing", func(_ *house, _ *kiosk, _ *Updater, o *opener, x bundle.Index) {
				o.refuse = x.ReleaseID
			}, wire.DeployFailure, "health", true, false},
			{"pause_before_committing", func(_ *house, k *kiosk, _ *Updater, _ *opener, x bundle.Index) {
				k.stage.dislike = dislikeShown(x.ReleaseID)
			}, wire.DeployFailure, "health", true, false},
		} {
			t.Run(from+"/"+tt.state, func(t *testing.T) {
				h := newHouse(t, t.TempDir())
				k := newKiosk(t, pack(t, 1, 3), h.root())
				o := &opener{stage: k.stage}
				if from == "update" {
					h.publish(pack(t, 2, 3, 0))
					if err := k.follow(h); err != nil {
						t.Fatal(err)
					}
				}
				before := k.shows()
				x := h.publish(pack(t, 3, 3, 1))
				u := k.start(h)
				u.opt.Content = o
				tt.broken(h, k, u, o, x)
				if err := u.once(t.Context()); err == nil {
					t.Error("no error")
				}
				if l := k.last(); l.Status != tt.status || l.Code != tt.code || l.RolledBack != tt.back || l.Shown != before || k.shows() != before {
					t.Errorf("last report %+v, shows %s", l, k.shows())
				}
				h.mangle, k.stage.dislike = nil, nil
				err := k.follow(h)
				if want := map[bool]string{true: x.ReleaseID, false: before}[tt.again]; err != nil || k.shows() != want {
					t.Errorf("mended: %v, shows %s, want %s", err, k.shows(), want)
				}
				next := h.publish(pack(t, 4, 3, 2))
				if err := k.follow(h); err != nil || k.shows() != next.ReleaseID {
					t.Errorf("the next release: %v, shows %s", err, k.shows())
				}
				cases++
			})
		}
	}
	t.Logf("error in a state of a deployment: %d cases, the old release shown each time, whole, and the next one taken", cases)
}

// TestForeignChunks answers with well-formed bytes that belong elsewhere: an object of another release, of the same
// length, and the same object from another place, with what it says of itself put right.
func TestForeignChunks(t *testing.T) {
	for _, name := range []string{"another object of the same length", "another place of the same object"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, t.TempDir())
			k := newKiosk(t, pack(t, 1, 3), h.root())
			before := k.shows()
			other, _, err := bundle.Write(t.Context(), pack(t, 9, 3, 2), filepath.Dir(h.objects))
			if err != nil {
				t.Fatal(err)
			}
			x := h.publish(pack(t, 2, 3, 1))
			sizes := map[int64]string{}
			for _, c := range unique(other) {
				sizes[c.Size] = c.SHA256
			}
			own := map[string]bundle.Chunk{}
			for sum, c := range unique(x) {
				own[sum] = c
			}
			h.mangle = func(req wire.Fetch, c *wire.Chunk) {
				mine, ok := own[req.Name]
				if !ok || len(c.Data) == 0 {
					return
				}
				if name == "another place of the same object" {
					c.Data = append(bytes.Clone(c.Data[1:]), c.Data[0])
					return
				}
				foreign, err := os.ReadFile(filepath.Join(h.objects, sizes[mine.Size]))
				if err == nil && sizes[mine.Size] != req.Name {
					c.Data = bytes.Clone(foreign[req.Offset:min(req.Offset+int64(len(c.Data)), mine.Size)])
				}
			}
			if err := k.follow(h); err == nil {
				t.Error("no error")
			}
			if l := k.last(); l.Status != wire.DeployRejected || l.Code != "wrong_hash" || k.shows() != before || k.stage.switches > 0 {
				t.Errorf("last report %+v, shows %s", l, k.shows())
			}
			h.mangle = nil
			if err := k.follow(h); err != nil || k.shows() != x.ReleaseID {
				t.Errorf("mended: %v, shows %s", err, k.shows())
			}
		})
	}
}

// TestDiskFullIsFoundBeforehand asks the file system itself: a release that does not fit is not begun.
func TestDiskFullIsFoundBeforehand(t *testing.T) {
	disk := smalldisk.Mount(t, "1m")
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	k.dir = filepath.Join(disk, "content")
	before := k.shows()
	h.publish(pack(t, 2, 60)) // 60 pictures of 26 kB and a large file
	u := k.start(h)
	u.opt.Free = space.Free
	u.opt.MinFree = 64 << 10
	h.sent()
	if err := u.once(t.Context()); err == nil {
		t.Error("no error")
	}
	if l := k.last(); l.Status != wire.DeployRejected || l.Code != "disk_full" || k.shows() != before {
		t.Errorf("last report %+v", l)
	}
	if n, _ := h.sent(); n != 1 {
		t.Errorf("%d objects came, want the index alone", n)
	}
}

// TestKioskClockJumps moves the kiosk's clock between its looks at the hub, and at the author's: content that was taken is
// kept, a clock that is right again takes what comes next, and nothing of the wrong time is remembered against it.
func TestKioskClockJumps(t *testing.T) {
	years := func(n int) time.Time { return epoch.AddDate(n, 0, 0) }
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	number := 1
	publish := func() string {
		number++
		return h.publish(pack(t, number, 3, number%3)).ReleaseID
	}
	shown := k.shows()
	for i, jump := range []int{10, 0, -10, 0, -10, 10, 0} {
		h.now = epoch.Add(time.Duration(i) * time.Hour)
		next := publish() // by a hub and an author whose clocks are right
		h.now = years(jump).Add(time.Duration(i) * time.Hour)
		err := k.follow(h)
		if jump <= 0 {
			shown = next
		}
		if (err == nil) != (jump <= 0) || k.shows() != shown {
			t.Errorf("step %d, %d years: %v, shows %s, want %s", i, jump, err, k.shows(), shown)
		}
	}
	// For an hour all clocks of the house are a month ahead, within what signatures hold, and something is published.
	h.now = epoch.AddDate(0, 1, 0)
	ahead := publish()
	if err := k.follow(h); err != nil || k.shows() != ahead {
		t.Fatalf("a month ahead: %v, shows %s", err, k.shows())
	}
	h.now = epoch.Add(24 * time.Hour)
	if next, err := publish(), k.follow(h); err != nil || k.shows() != next {
		t.Errorf("right again: %v, shows %s, %+v", err, k.shows(), k.last())
	}
}
