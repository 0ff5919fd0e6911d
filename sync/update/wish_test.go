package update

import (
	"errors"
	"path/filepath"
	"testing"

	"docent/sync/wire"
)

// TestTheHubChooses says which of two signed releases a kiosk shall show.
func TestTheHubChooses(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	first := k.shows()
	second, third := h.publish(pack(t, 2, 3, 0)), h.publish(pack(t, 3, 3, 1))
	for _, tt := range []struct {
		name   string
		wish   wire.Desired
		shows  string
		status wire.DeployStatus // of the last report, "" for none
		code   string
	}{
		{"none for this kiosk", wire.Desired{}, first, "", ""},
		{"one that is not signed", wire.Desired{Deployment: "a", ReleaseID: "9-abc", Number: 9}, first, wire.DeployRejected, "not_signed"},
		{"another number", wire.Desired{Deployment: "a", ReleaseID: third.ReleaseID, Number: 4}, first, wire.DeployRejected, "not_signed"},
		{"not the newest", wire.Desired{Deployment: "a", ReleaseID: second.ReleaseID, Number: 2}, second.ReleaseID, wire.DeploySuccess, ""},
		{"the same again", wire.Desired{Deployment: "a", ReleaseID: second.ReleaseID, Number: 2}, second.ReleaseID, "", ""},
		{"for another rollout", wire.Desired{Deployment: "b", ReleaseID: second.ReleaseID, Number: 2}, second.ReleaseID, wire.DeployAlreadyInstalled, ""},
		{"the newest", wire.Desired{Deployment: "c", ReleaseID: third.ReleaseID, Number: 3}, third.ReleaseID, wire.DeploySuccess, ""},
		{"a lower one", wire.Desired{Deployment: "d", ReleaseID: second.ReleaseID, Number: 2}, third.ReleaseID, wire.DeployRejected, "older"},
		{"a step back to one that is not signed", wire.Desired{Deployment: "e", ReleaseID: first, Number: 1, Back: true}, third.ReleaseID, wire.DeployRejected, "not_signed"},
		{"a step back", wire.Desired{Deployment: "f", ReleaseID: second.ReleaseID, Number: 2, Back: true}, second.ReleaseID, wire.DeploySuccess, ""},
		{"forward again", wire.Desired{Deployment: "g", ReleaseID: third.ReleaseID, Number: 3}, third.ReleaseID, wire.DeploySuccess, ""},
	} {
		n := len(k.reports)
		h.want(tt.wish)
		h.sent()
		if err := k.follow(h); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if k.shows() != tt.shows {
			t.Errorf("%s: shows %s, want %s", tt.name, k.shows(), tt.shows)
		}
		var last wire.Deploy
		if len(k.reports) > n {
			last = k.last()
		}
		if last.Status != tt.status || last.Code != tt.code || tt.status != "" && last.Deployment != tt.wish.Deployment {
			t.Errorf("%s: last report %+v", tt.name, last)
		}
		if n, _ := h.sent(); n > 0 && (tt.wish.Deployment >= "d") {
			t.Errorf("%s: %d objects came for releases that are here", tt.name, n)
		}
	}
}

// TestStepBackThatFails is taken back itself, not tried again for the same rollout, and tried for another.
func TestStepBackThatFails(t *testing.T) {
	s := setScene(t, "back")
	s.k.stage.dislike = dislikeShown(s.next)
	if err := s.k.follow(s.h); err == nil {
		t.Error("no error")
	}
	s.check(t, s.before, wire.DeployFailure)
	n := len(s.k.reports)
	if err := s.k.follow(s.h); err != nil || len(s.k.reports) > n {
		t.Errorf("tried again: %v, %+v", err, s.k.reports[n:])
	}
	s.k.stage.dislike = nil
	s.wish.Deployment = "roll-2"
	s.h.want(s.wish)
	if err := s.k.follow(s.h); err != nil {
		t.Error(err)
	}
	s.check(t, s.next, wire.DeploySuccess)
}

// TestFailedReleaseInAnotherRollout is not tried again, and the rollout hears of it.
func TestFailedReleaseInAnotherRollout(t *testing.T) {
	s := setScene(t, "update")
	s.k.stage.dislike = dislikeShown(s.next)
	if err := s.k.follow(s.h); err == nil {
		t.Error("no error")
	}
	s.k.stage.dislike = nil
	s.h.want(wire.Desired{Deployment: "roll-2", ReleaseID: s.next, Number: 3})
	if err := s.k.follow(s.h); err != nil || s.k.shows() != s.before {
		t.Errorf("%v, shows %s", err, s.k.shows())
	}
	if l := s.k.last(); l.Status != wire.DeployRejected || l.Code != "failed_before" || l.Deployment != "roll-2" {
		t.Errorf("%+v", l)
	}
}

// TestWayBackFromBelow: the hub goes back to a release that this kiosk has missed, from one that failed here. It is shown; if
// it fails as well, it is not tried again for the same rollout.
func TestWayBackFromBelow(t *testing.T) {
	for name, does := range map[string]bool{"does": true, "fails too": false} {
		t.Run(name, func(t *testing.T) {
			s := setScene(t, "update") // shows 2, has missed 3
			fourth := s.h.publish(pack(t, 4, 3, 2))
			s.h.want(wire.Desired{Deployment: "roll-2", ReleaseID: fourth.ReleaseID, Number: 4})
			s.k.stage.dislike = dislikeShown(fourth.ReleaseID)
			if err := s.k.follow(s.h); err == nil {
				t.Error("no error")
			}
			s.k.stage.dislike = nil
			if !does {
				s.k.stage.dislike = dislikeShown(s.next)
			}
			s.wish = wire.Desired{Deployment: "back-3", ReleaseID: s.next, Number: 3, Back: true}
			s.h.want(s.wish)
			if err := s.k.follow(s.h); (err == nil) != does {
				t.Errorf("%v", err)
			}
			if does {
				s.check(t, s.next, wire.DeploySuccess)
				return
			}
			s.check(t, s.before, wire.DeployFailure)
			n := len(s.k.reports)
			if err := s.k.follow(s.h); err != nil || len(s.k.reports) > n {
				t.Errorf("tried again: %v, %+v", err, s.k.reports[n:])
			}
		})
	}
}

// TestWishThatCannotBeRead changes nothing, and least of all brings the newest release.
func TestWishThatCannotBeRead(t *testing.T) {
	for name, mangle := range map[string]func(c *wire.Chunk){
		"no JSON":    func(c *wire.Chunk) { c.Data[0] = 'x' },
		"not read":   func(c *wire.Chunk) { *c = wire.Chunk{Error: wire.FetchFailed} },
		"too long":   func(c *wire.Chunk) { c.Size = wire.MaxDesired + 1 },
		"ends early": func(c *wire.Chunk) { c.Data = nil },
	} {
		s := setScene(t, "update")
		s.h.mangle = func(req wire.Fetch, c *wire.Chunk) {
			if req.Name == wire.DesiredName {
				mangle(c)
			}
		}
		if err := s.k.follow(s.h); err == nil || s.k.shows() != s.before || len(s.k.reports) > 0 {
			t.Errorf("%s: %v, shows %s, %s", name, err, s.k.shows(), s.k.statuses())
		}
	}
}

// TestStepBackAcrossNewKeys goes back to a release that was signed with keys that hold no more, and that the new ones
// name, at a kiosk that was away meanwhile; one they do not name stays out of reach.
func TestStepBackAcrossNewKeys(t *testing.T) {
	s := setScene(t, "back")
	keys := filepath.Dir(s.h.objects)
	for range 2 {
		if err := s.h.author.Rotate(); err != nil {
			t.Fatal(err)
		}
		s.h.reopen(keys, nil)
	}
	fourth := s.h.publish(pack(t, 4, 3, 2)) // the new targets name 3 and 4
	if err := s.k.follow(s.h); err != nil || s.k.shows() != s.before || s.k.last().Code != "not_signed" {
		t.Errorf("to one that is not signed any more: %v, shows %s, %+v", err, s.k.shows(), s.k.last())
	}
	for _, wish := range []wire.Desired{
		{Deployment: "roll-2", ReleaseID: fourth.ReleaseID, Number: 4},
		{Deployment: "roll-3", ReleaseID: s.before, Number: 3, Back: true},
	} {
		s.h.want(wish)
		if err := s.k.follow(s.h); err != nil || s.k.shows() != wish.ReleaseID {
			t.Errorf("%+v: %v, shows %s", wish, err, s.k.shows())
		}
	}
}

// TestDamagedReleaseToGoBackTo is fetched anew.
func TestDamagedReleaseToGoBackTo(t *testing.T) {
	s := setScene(t, "back")
	damage(t, filepath.Join(s.k.dir, "releases", s.next, "pictures", "0.png"))
	s.h.sent()
	if err := s.k.follow(s.h); err != nil {
		t.Error(err)
	}
	s.check(t, s.next, wire.DeploySuccess)
	if n, _ := s.h.sent(); n != 2 { // the index and the picture
		t.Errorf("%d objects came", n)
	}
}

// TestStartWithoutTheHub goes on, after a while, with what is whole; the hub's word is heard where it comes.
func TestStartWithoutTheHub(t *testing.T) {
	s := setScene(t, "update")
	s.kill(t, "saved pause_before_installing", "", "")
	s.h.fail = func(wire.Fetch) error { return errors.New("no hub") }
	s.k.grace = 1
	if err := s.k.start(s.h).resume(t.Context()); err != nil {
		t.Error(err)
	}
	if s.k.shows() != s.next || !s.k.last().Resumed {
		t.Errorf("shows %s, %+v", s.k.shows(), s.k.last())
	}
}
