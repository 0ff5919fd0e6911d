package update

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"docent/internal/space"
	"docent/internal/space/smalldisk"
	"docent/localindex/release"
	"docent/sync/wire"
)

// TestErrorAtEachStep has the disk fail once at each durable step of each kind of deployment, and of one that is taken
// back and of one that is aborted. What is shown is whole, and the kiosk gets over it by itself: when it looks again, and
// when it starts anew.
func TestErrorAtEachStep(t *testing.T) {
	broken := &fs.PathError{Op: "write", Path: "content", Err: syscall.EIO}
	cases := 0
	for _, kind := range kinds() {
		for _, ending := range []string{"success", "bad", "aborted"} {
			for _, restart := range []bool{false, true} {
				for i, point := range errorPoints(kind, ending) {
					if os.Getenv("DOCENT_FAULTS") != "1" && (i%2 == 0) == restart {
						continue // the short form takes turns
					}
					t.Run(fmt.Sprintf("%s/%s/%s/restart %t", kind, ending, point, restart), func(t *testing.T) {
						s := setScene(t, kind)
						u := s.k.start(s.h)
						var failed atomic.Bool // blocks come several at once
						u.s.fail = func(at string) error {
							if at == point && failed.CompareAndSwap(false, true) {
								return broken
							}
							return nil
						}
						want, status := s.next, wire.DeploySuccess
						switch ending {
						case "bad":
							s.k.stage.dislike = dislikeShown(s.next)
							want, status = s.before, wire.DeployFailure
						case "aborted":
							abortIn(u, s.k, s.h, wire.DeployPauseBeforeCommit)
							want, status = s.before, wire.DeployAborted
						}
						if err := u.once(t.Context()); err == nil || !failed.Load() {
							t.Fatalf("no error: %s", s.k.statuses())
						}
						if got := s.k.shows(); got != s.before && got != s.next {
							t.Errorf("it shows %s", got)
						}
						s.k.stage.at = nil
						if restart {
							u = s.k.start(s.h)
						}
						for range 2 { // for the second time there is nothing to do
							err := errors.Join(u.resume(t.Context()), u.once(t.Context()))
							if err != nil && ending != "bad" {
								t.Error(err)
							}
						}
						if filepath.Base(s.k.stage.shown) != filepath.Base(u.s.Shown()) {
							t.Errorf("visitors see %s, it would start with %s", s.k.stage.shown, u.s.Shown())
						}
						s.check(t, want, status)
						cases++
					})
				}
			}
		}
	}
	t.Logf("the disk failed at %d steps of deployments: old or new shown, whole, nothing left over", cases)
}

func errorPoints(kind, ending string) []string {
	points := slices.Clone(steps(kind))
	points = slices.DeleteFunc(points, func(p string) bool { return p == "shown" || p == "saved success" })
	if kind != "back" {
		points = append(points, "block")
	}
	switch ending {
	case "success":
		return append(points, "show", "saved success", "prune")
	case "bad":
		return []string{"saved pause_before_committing taking back", "saved failure"}
	}
	return []string{"saved pause_before_committing taking back", "saved aborted"}
}

// TestDiskFillsUp fills the disk while a release comes, in place of others: nothing half done is left, the room is given
// back, the kiosk goes on, and takes the release when there is room.
func TestDiskFillsUp(t *testing.T) {
	for _, tt := range []struct {
		name string
		fill func(t *testing.T, s scene, u *Updater) (free func())
	}{
		{"the disk says so", func(_ *testing.T, _ scene, u *Updater) func() {
			var n atomic.Int32
			u.s.fail = func(at string) error {
				if at == "block" && n.Add(1) > 1 {
					return &os.PathError{Op: "write", Path: "object", Err: syscall.ENOSPC}
				}
				return nil
			}
			return func() { u.s.fail = func(string) error { return nil } }
		}},
		{"others take what is to stay free", func(_ *testing.T, s scene, u *Updater) func() {
			var n, left atomic.Uint64
			left.Store(1 << 40)
			u.opt.Free = func(string) (uint64, error) { return left.Load(), nil }
			s.h.mangle = func(req wire.Fetch, _ *wire.Chunk) {
				if wire.ValidObject(req.Name) && n.Add(1) > 2 {
					left.Store(DefaultMinFree / 4)
				}
			}
			return func() { s.h.mangle = nil; left.Store(1 << 40) }
		}},
		{"a disk of its own", func(t *testing.T, s scene, u *Updater) func() {
			disk := smalldisk.Mount(t, "2m")
			if err := os.CopyFS(filepath.Join(disk, "content"), os.DirFS(s.k.dir)); err != nil {
				t.Fatal(err)
			}
			u.s.dir, s.k.dir = filepath.Join(disk, "content"), filepath.Join(disk, "content")
			u.opt.Free, u.opt.MinFree = space.Free, 1
			n := 0
			var free func()
			s.h.mangle = func(req wire.Fetch, _ *wire.Chunk) {
				if wire.ValidObject(req.Name) {
					if n++; n == 3 {
						free = smalldisk.Fill(t, disk)
					}
				}
			}
			return func() {
				if free == nil {
					t.Fatal("nothing came")
				}
				free()
				s.h.mangle = nil
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := setScene(t, "first")
			many := s.h.publish(pack(t, 4, 12))
			s.next, s.wish = many.ReleaseID, wire.Desired{Deployment: "roll-1", ReleaseID: many.ReleaseID, Number: 4}
			s.h.want(s.wish)
			u := s.k.start(s.h)
			free := tt.fill(t, s, u)
			err := u.once(t.Context())
			if err == nil {
				t.Error("no error")
			}
			if l := s.k.last(); l.Status != wire.DeployRejected || l.Code != "disk_full" || l.Shown != s.before {
				t.Errorf("%v; last report %+v", err, l)
			}
			used := 0
			walkErr := filepath.WalkDir(filepath.Join(u.s.dir, "incoming"), func(_ string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					used++
				}
				return err
			})
			if walkErr != nil || used > 0 {
				t.Errorf("%d files are left of fetching: %v", used, walkErr)
			}
			if _, err := release.Verify(t.Context(), u.s.Shown()); err != nil {
				t.Error(err)
			}
			free()
			if err := u.once(t.Context()); err != nil || !strings.HasSuffix(u.s.Shown(), s.next) {
				t.Errorf("with room again: %v, shows %s", err, u.s.Shown())
			}
		})
	}
}

// TestDiskFullAtTheStart opens a release that was not kept yet on a disk that cannot note the start: it is shown all the
// same.
func TestDiskFullAtTheStart(t *testing.T) {
	disk := smalldisk.Mount(t, "2m")
	s := setScene(t, "first")
	s.kill(t, "saved pause_before_committing", "", "")
	dir := filepath.Join(disk, "content")
	if err := os.CopyFS(dir, os.DirFS(s.k.dir)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Symlinkat(filepath.Join("releases", s.next), unix.AT_FDCWD, filepath.Join(dir, "current")); err != nil && !errors.Is(err, unix.EEXIST) {
		t.Fatal(err)
	}
	defer smalldisk.Fill(t, disk)()
	store, err := OpenStore(dir, s.k.factory, s.h.clock)
	if err != nil {
		t.Fatal(err)
	}
	opened := ""
	if err := store.Start(func(dir string) error { opened = filepath.Base(dir); return nil }); err != nil || opened != s.next {
		t.Errorf("%v, opened %q", err, opened)
	}
}
