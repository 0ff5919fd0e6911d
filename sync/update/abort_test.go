package update

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"docent/sync/wire"
)

// TestAbortedInEachState has the hub abort a rollout in each state of a deployment: the kiosk stops, takes back what it
// has put on show, and takes the same release for another rollout.
func TestAbortedInEachState(t *testing.T) {
	for _, kind := range kinds() {
		for _, state := range abortStates(kind) {
			t.Run(fmt.Sprintf("%s/%s", kind, state), func(t *testing.T) {
				s := setScene(t, kind)
				u := s.k.start(s.h)
				abortIn(u, s.k, s.h, state)
				if err := u.once(t.Context()); err != nil {
					t.Error(err)
				}
				if l := s.k.last(); l.Status != wire.DeployAborted || l.Code != "aborted" || l.Deployment != "roll-1" || l.RolledBack != onShow(state) || l.ReleaseID != s.next {
					t.Errorf("last report %+v", l)
				}
				s.h.fail, s.k.stage.at, s.k.stage.asked, s.k.stage.busy = nil, nil, nil, false
				s.check(t, s.before, wire.DeployAborted)
				n := len(s.k.reports)
				if err := s.k.follow(s.h); err != nil || len(s.k.reports) != n {
					t.Errorf("heard once more: %v, %+v", err, s.k.reports[n:])
				}
				s.wish.Deployment = "roll-2"
				s.h.want(s.wish)
				if err := s.k.follow(s.h); err != nil {
					t.Error(err)
				}
				s.check(t, s.next, wire.DeploySuccess)
			})
		}
	}
}

// TestAbortAfterSuccess: what has succeeded stays, until the hub wants a step back.
func TestAbortAfterSuccess(t *testing.T) {
	s := setScene(t, "update")
	if err := s.k.follow(s.h); err != nil {
		t.Fatal(err)
	}
	s.h.want(wire.Desired{Deployment: "roll-1", ReleaseID: s.next, Number: 3, Abort: true})
	n := len(s.k.reports)
	if err := s.k.follow(s.h); err != nil || s.k.shows() != s.next || len(s.k.reports) != n {
		t.Errorf("%v, shows %s, %+v", err, s.k.shows(), s.k.reports[n:])
	}
	s.h.want(wire.Desired{Deployment: "back-1", ReleaseID: s.before, Number: 2, Back: true})
	s.h.sent()
	if err := s.k.follow(s.h); err != nil || s.k.shows() != s.before {
		t.Errorf("%v, shows %s", err, s.k.shows())
	}
	if n, _ := s.h.sent(); n > 0 {
		t.Errorf("%d objects came for a release that is here", n)
	}
}

// TestAbortOfWhatWasNotBegun: the hub hears that it is over, and a mirror without a wish does not bring it.
func TestAbortOfWhatWasNotBegun(t *testing.T) {
	s := setScene(t, "update")
	s.h.want(wire.Desired{Deployment: "roll-1", ReleaseID: s.next, Number: 3, Abort: true})
	s.h.sent()
	if err := s.k.follow(s.h); err != nil {
		t.Fatal(err)
	}
	if l := s.k.last(); l.Status != wire.DeployAborted || l.Deployment != "roll-1" || l.RolledBack {
		t.Errorf("%+v", l)
	}
	if n, _ := s.h.sent(); n > 0 {
		t.Errorf("%d objects came", n)
	}
	s.check(t, s.before, wire.DeployAborted)
	mirror := &house{t: t, now: epoch, hub: s.h.hub, objects: s.h.objects, wish: s.h.wish + "-none", asked: map[string]int{}}
	if err := s.k.follow(mirror); err != nil || s.k.shows() != s.before {
		t.Errorf("a mirror brought it: %v, shows %s", err, s.k.shows())
	}
	if l := s.k.last(); l.Code != "taken_back" {
		t.Errorf("%+v", l)
	}
}

// TestAnotherReleaseIsWantedMeanwhile names another release, or the same for another rollout, while one is under way.
func TestAnotherReleaseIsWantedMeanwhile(t *testing.T) {
	for _, state := range []wire.DeployStatus{wire.DeployDownloading, wire.DeployVerifying, wire.DeployPauseBeforeInstall, wire.DeployPauseBeforeCommit} {
		for _, same := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/same release %t", state, same), func(t *testing.T) {
				s := setScene(t, "update")
				wish := wire.Desired{Deployment: "roll-2", ReleaseID: s.next, Number: 3}
				if !same {
					fourth := s.h.publish(pack(t, 4, 3, 2))
					wish.ReleaseID, wish.Number = fourth.ReleaseID, 4
				}
				u := s.k.start(s.h)
				wantIn(u, s, state, wish)
				if err := u.once(t.Context()); err != nil {
					t.Error(err)
				}
				if state == wire.DeployPauseBeforeCommit { // it is shown already, so it is kept first
					if l := s.k.last(); l.Status != wire.DeploySuccess || l.Deployment != "roll-1" {
						t.Errorf("shown, %+v", l)
					}
				} else if l := s.k.last(); !same && (l.Status != wire.DeployAborted || l.Code != "superseded" || l.Deployment != "roll-1") {
					t.Errorf("not shown yet, %+v", l)
				}
				s.h.fail, s.k.stage.at, s.k.stage.asked, s.k.stage.busy = nil, nil, nil, false
				select {
				case <-u.wake:
				default:
					t.Error("it does not look again at once")
				}
				if err := errors.Join(u.resume(t.Context()), u.once(t.Context())); err != nil {
					t.Error(err)
				}
				l := s.k.last()
				if want := map[bool]wire.DeployStatus{true: wire.DeployAlreadyInstalled, false: wire.DeploySuccess}[same && state == wire.DeployPauseBeforeCommit]; l.Status != want || l.Deployment != "roll-2" || l.Shown != wish.ReleaseID {
					t.Errorf("%+v", l)
				}
			})
		}
	}
}

// wantIn has the hub want something else when the kiosk comes to a state, and keeps it there until it has heard, unless
// it is shown already.
func wantIn(u *Updater, s scene, state wire.DeployStatus, wish wire.Desired) {
	told := false
	tell := func() {
		if !told {
			told = true
			s.h.want(wish)
			u.Desired()
		}
	}
	switch state {
	case wire.DeployDownloading:
		s.h.fail = func(req wire.Fetch) error {
			if wire.ValidObject(req.Name) {
				tell()
				return errors.New("the line hangs")
			}
			return nil
		}
	case wire.DeployPauseBeforeInstall:
		s.k.stage.busy, s.k.stage.asked = true, tell
	default:
		s.k.stage.at = func(ctx context.Context, at wire.DeployStatus) error {
			if at != state {
				return nil
			}
			tell()
			if state == wire.DeployPauseBeforeCommit {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
	}
}
