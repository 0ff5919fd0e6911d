package update

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"docent/sync/wire"
)

func TestUpdates(t *testing.T) {
	h := newHouse(t, t.TempDir())
	first := pack(t, 1, 50)
	k := newKiosk(t, first, h.root())
	if err := k.follow(h); err != nil { // nothing is published
		t.Fatal(err)
	}
	second := h.publish(pack(t, 2, 50, 7))
	h.sent()
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if k.shows() != second.ReleaseID {
		t.Errorf("shows %s, want %s", k.shows(), second.ReleaseID)
	}
	if want := "pending downloading downloaded verifying pause_before_installing installing pause_before_committing success"; k.statuses() != want {
		t.Errorf("reported %s", k.statuses())
	}
	if l := k.last(); l.Shown != second.ReleaseID || l.Resumed || l.RolledBack || l.Done != l.Of || l.Of == 0 {
		t.Errorf("last report %+v", l)
	}
	// The index and the picture.
	if n, bytes := h.sent(); n != 2 || bytes > 40_000 {
		t.Errorf("one picture changed: %d objects, %d bytes came", n, bytes)
	}
	third := h.publish(pack(t, 3, 50, 7, 8))
	fourth := h.publish(pack(t, 4, 50, 9))
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if k.shows() != fourth.ReleaseID || third.ReleaseID == fourth.ReleaseID {
		t.Errorf("shows %s", k.shows())
	}
	entries, err := os.ReadDir(filepath.Join(k.dir, "releases"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%d releases kept, want the one shown and the one before: %v", len(entries), err)
	}
	if err := k.follow(h); err != nil {
		t.Fatal(err)
	}
	if n, _ := h.sent(); k.stage.switches != 2 || n == 0 {
		t.Errorf("%d switches", k.stage.switches)
	}
}

func TestWaitsUntilNobodyIsThere(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	x := h.publish(pack(t, 2, 3, 1))
	k.stage.busy = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k.stage.asked = cancel // the program ends while it waits
	u := k.start(h)
	if err := u.once(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("while a visitor was there: %v", err)
	}
	if s := k.last().Status; s != wire.DeployPauseBeforeInstall {
		t.Errorf("waits in state %s", s)
	}
	if k.shows() == x.ReleaseID || k.stage.switches > 0 {
		t.Error("switched while a visitor was there")
	}
	k.stage.busy = false
	// The hub is away: what is whole is shown all the same.
	h.fail = func(wire.Fetch) error { return errors.New("no hub") }
	u = k.start(h)
	if err := u.resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k.shows() != x.ReleaseID || !k.last().Resumed {
		t.Errorf("shows %s, %+v", k.shows(), k.last())
	}
}

func TestBadReleasesAreTakenBack(t *testing.T) {
	bad := errors.New("a search found nothing")
	for _, tt := range []struct {
		name    string
		dislike func(id string) func(dir string, shown bool) error
		status  wire.DeployStatus
		back    bool
	}{
		{"before it is shown", func(id string) func(string, bool) error {
			return func(dir string, _ bool) error {
				if filepath.Base(dir) == id {
					return bad
				}
				return nil
			}
		}, wire.DeployRejected, false},
		{"after it is shown", func(id string) func(string, bool) error {
			return func(dir string, shown bool) error {
				if shown && filepath.Base(dir) == id {
					return bad
				}
				return nil
			}
		}, wire.DeployFailure, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, t.TempDir())
			k := newKiosk(t, pack(t, 1, 3), h.root())
			before := k.shows()
			x := h.publish(pack(t, 2, 3, 1))
			k.stage.dislike = tt.dislike(x.ReleaseID)
			if err := k.follow(h); !errors.Is(err, bad) {
				t.Errorf("error is %v", err)
			}
			if l := k.last(); l.Status != tt.status || l.Code != "health" || l.RolledBack != tt.back || l.Shown != before {
				t.Errorf("last report %+v", l)
			}
			if k.shows() != before || tt.back && k.stage.shown != k.factory {
				t.Errorf("shows %s, stage %s", k.shows(), k.stage.shown)
			}
			n := len(k.reports)
			if err := k.follow(h); err != nil { // it is not tried again
				t.Error(err)
			}
			if len(k.reports) != n {
				t.Errorf("tried again: %+v", k.reports[n:])
			}
			next := h.publish(pack(t, 3, 3, 2))
			if err := k.follow(h); err != nil || k.shows() != next.ReleaseID {
				t.Errorf("the next release: %v, shows %s", err, k.shows())
			}
		})
	}
}
