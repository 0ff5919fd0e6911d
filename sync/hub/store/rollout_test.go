package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

var release = rollout.Release{ID: "2-bbb", Number: 2}

func kioskNamed(i int) wire.Address {
	return wire.Address{Site: "museum", Kiosk: fmt.Sprint("kiosk-", i)}
}

// introduce lets n kiosks be known.
func introduce(t *testing.T, s *Store, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		st := wire.Status{State: wire.PresenceReady, SessionSeq: 1, BootID: bootID, TS: now}
		if err := s.SetPresence(t.Context(), kioskNamed(i), st, now); err != nil {
			t.Fatal(err)
		}
	}
}

// followed moves rollouts of a store on, step by step.
type followed struct {
	*rollout.Rollouts
	s *Store
}

func follow(s *Store) followed {
	return followed{rollout.Follow(rollout.Options{
		Store: s, Published: func(rollout.Release) (bool, error) { return true, nil },
		Notify: func(context.Context, string) {}, Clock: func() time.Time { return now }, Settle: -1,
	}), s}
}

// publish begins a rollout.
func (f followed) publish(t *testing.T, id string, plan rollout.Plan) {
	t.Helper()
	r, err := rollout.New(id, release, plan, "ann", now)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// step moves a rollout on, at a time.
func step(ctx context.Context, s *Store, id string, at time.Time) (bool, error) {
	return s.ChangeRollout(ctx, id, at, true, func(r *rollout.Rollout, t []rollout.Tally) (rollout.Effects, error) {
		return r.Step(t, at), nil
	})
}

// settle steps until nothing changes any more.
func settle(t *testing.T, s *Store, id string, at time.Time) rollout.Rollout {
	t.Helper()
	for {
		changed, err := step(t.Context(), s, id, at)
		if err != nil {
			t.Fatal(err)
		}
		if !changed {
			break
		}
	}
	r, err := s.Rollout(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func report(t *testing.T, s *Store, kiosk wire.Address, id string, status wire.DeployStatus) {
	t.Helper()
	d := wire.Deploy{Deployment: id, ReleaseID: release.ID, Number: release.Number, Status: status, Shown: "1-aaa", TS: now}
	if status == wire.DeploySuccess {
		d.Shown = release.ID
	}
	if status == wire.DeployFailure {
		d.Code = "health"
	}
	if _, err := s.ReportRollout(t.Context(), kiosk, d, now); err != nil {
		t.Fatal(err)
	}
}

// members are the kiosks of a rollout by what became of them.
func members(t *testing.T, s *Store, id string) map[rollout.Progress][]wire.Address {
	t.Helper()
	all, err := s.RolloutMembers(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	out := map[rollout.Progress][]wire.Address{}
	for _, m := range all {
		out[m.State] = append(out[m.State], m.Kiosk)
	}
	return out
}

func counts(t *testing.T, s *Store, id string) map[rollout.Progress]int {
	t.Helper()
	n := map[rollout.Progress]int{}
	for state, kiosks := range members(t, s, id) {
		n[state] = len(kiosks)
	}
	return n
}

func wanted(t *testing.T, s *Store, kiosk wire.Address) wire.Desired {
	t.Helper()
	parts, err := s.RolloutParts(t.Context(), kiosk)
	if err != nil {
		t.Fatal(err)
	}
	return rollout.Wanted(parts)
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

var tenthThenAll = rollout.Plan{Groups: []rollout.Group{
	{Name: "canary", Percent: 10, Errors: rollout.Limit{N: 5, Percent: true}, TimeoutHours: 4},
	{Name: "all", Rest: true, Errors: rollout.Limit{N: 100, Percent: true}},
}}

// TestRolloutOnDisk leads a rollout through its groups; the store is opened anew before each step.
func TestRolloutOnDisk(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		introduce(t, p.open(t), 0, 20)
		follow(p.open(t)).publish(t, "r1", tenthThenAll)
		s := p.open(t)
		r := settle(t, s, "r1", now)
		check(t, "state", r.State, rollout.Running)
		check(t, "kiosks", counts(t, s, "r1"), map[rollout.Progress]int{rollout.Going: 2, rollout.Held: 18})
		canaries := members(t, s, "r1")[rollout.Going]
		check(t, "a canary's release", wanted(t, s, canaries[0]), wire.Desired{Deployment: "r1", ReleaseID: release.ID, Number: 2})
		check(t, "another's", wanted(t, s, members(t, s, "r1")[rollout.Held][0]), wire.Desired{})

		report(t, p.open(t), canaries[0], "r1", wire.DeploySuccess)
		s = p.open(t)
		r = settle(t, s, "r1", now)
		check(t, "groups begun", r.Begun, 1)
		report(t, s, canaries[1], "r1", wire.DeploySuccess)
		s = p.open(t)
		r = settle(t, s, "r1", now)
		check(t, "groups begun", r.Begun, 2)
		check(t, "kiosks", counts(t, s, "r1"), map[rollout.Progress]int{rollout.Success: 2, rollout.Going: 18})

		introduce(t, s, 20, 1) // comes later
		r = settle(t, p.open(t), "r1", now)
		check(t, "kiosks", counts(t, s, "r1"), map[rollout.Progress]int{rollout.Success: 2, rollout.Going: 19})
		going := members(t, s, "r1")[rollout.Going]
		for _, k := range going[:17] {
			report(t, s, k, "r1", wire.DeploySuccess)
		}
		report(t, s, going[17], "r1", wire.DeployFailure)
		check(t, "state", settle(t, s, "r1", now).State, rollout.Running)
		r = settle(t, s, "r1", now.Add(8*24*time.Hour))
		check(t, "state", r.State, rollout.Finished)
		check(t, "kiosks", counts(t, s, "r1"), map[rollout.Progress]int{rollout.Success: 19, rollout.Failure: 1, rollout.TimedOut: 1})
		check(t, "a new kiosk's release", wanted(t, s, kioskNamed(99)), wire.Desired{Deployment: "r1", ReleaseID: release.ID, Number: 2})
	})
}

// TestCanaryTimesOut pauses a rollout whose canaries began and were not heard of again, and passes over those that were
// switched off.
func TestCanaryTimesOut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		begun bool
		state rollout.State
		why   string
		want  map[rollout.Progress]int
	}{
		{"began", true, rollout.Paused, rollout.TooManyFailed, map[rollout.Progress]int{rollout.TimedOut: 1, rollout.Success: 1, rollout.Held: 18}},
		{"switched off", false, rollout.Running, "", map[rollout.Progress]int{rollout.TimedOut: 1, rollout.Success: 1, rollout.Going: 18}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			both(t, func(t *testing.T, p place) {
				s := p.open(t)
				introduce(t, s, 0, 20)
				follow(s).publish(t, "r1", tenthThenAll)
				canaries := members(t, s, "r1")[rollout.Going]
				report(t, s, canaries[0], "r1", wire.DeploySuccess)
				if tt.begun {
					report(t, s, canaries[1], "r1", wire.DeployInstalling)
				}
				check(t, "before its time", settle(t, s, "r1", now.Add(4*time.Hour-1)).Begun, 1)
				r := settle(t, s, "r1", now.Add(4*time.Hour))
				check(t, "state", r.State, tt.state)
				check(t, "reason", r.Reason.Code, tt.why)
				check(t, "kiosks", counts(t, s, "r1"), tt.want)
			})
		})
	}
}

// TestTwoOfTwentyFail pauses a rollout where 5 % of the first 20 kiosks may fail and 2 do: none of the others is told.
func TestTwoOfTwentyFail(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		introduce(t, s, 0, 40)
		plan := rollout.Plan{Groups: []rollout.Group{{Name: "canary", Percent: 50, Errors: rollout.Limit{N: 5, Percent: true}}, {Name: "all", Rest: true}}}
		follow(s).publish(t, "r1", plan)
		canaries := members(t, s, "r1")[rollout.Going]
		for i, k := range canaries {
			status := wire.DeploySuccess
			if i == 4 || i == 11 {
				status = wire.DeployFailure
			}
			report(t, s, k, "r1", status)
			want := rollout.Running
			if i >= 11 {
				want = rollout.Paused
			}
			check(t, fmt.Sprint("after ", i+1), settle(t, s, "r1", now).State, want)
		}
		check(t, "kiosks", counts(t, s, "r1"), map[rollout.Progress]int{rollout.Success: 18, rollout.Failure: 2, rollout.Held: 20})
		for _, k := range members(t, s, "r1")[rollout.Held] {
			check(t, k.Kiosk, wanted(t, s, k), wire.Desired{})
		}
	})
}

// TestAbortIsFinal stops a rollout: what kiosks say later is noted and counts for nothing, and one that is at it is told.
func TestAbortIsFinal(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		introduce(t, s, 0, 4)
		f := follow(s)
		f.publish(t, "r1", rollout.Everybody())
		report(t, s, kioskNamed(0), "r1", wire.DeploySuccess)
		report(t, s, kioskNamed(1), "r1", wire.DeployDownloading)
		report(t, s, kioskNamed(2), "r1", wire.DeployDownloading)
		if err := f.Abort(t.Context(), "r1", "bob", "typo"); err != nil {
			t.Fatal(err)
		}
		want := map[rollout.Progress]int{rollout.Success: 1, rollout.Aborted: 3}
		check(t, "kiosks", counts(t, s, "r1"), want)
		stop := wire.Desired{Deployment: "r1", ReleaseID: release.ID, Number: 2, Abort: true}
		check(t, "one at it", wanted(t, s, kioskNamed(1)), stop)
		check(t, "one that has not begun", wanted(t, s, kioskNamed(3)), wire.Desired{})
		report(t, s, kioskNamed(1), "r1", wire.DeploySuccess)
		report(t, s, kioskNamed(2), "r1", wire.DeployAborted)
		check(t, "kiosks", counts(t, s, "r1"), want)
		check(t, "one that was too fast", wanted(t, s, kioskNamed(1)), wire.Desired{Deployment: "r1", ReleaseID: release.ID, Number: 2})
		check(t, "one that has heard", wanted(t, s, kioskNamed(2)), wire.Desired{})
		all, err := s.RolloutMembers(t.Context(), "r1")
		if err != nil {
			t.Fatal(err)
		}
		check(t, "noted", []wire.DeployStatus{all[0].Late, all[1].Late, all[2].Late, all[3].Late}, []wire.DeployStatus{"", wire.DeploySuccess, wire.DeployAborted, ""})
		for word, err := range map[string]error{
			"resume": f.Resume(t.Context(), "r1", "bob"), "approve": f.Approve(t.Context(), "r1", "bob"),
			"pause": f.Pause(t.Context(), "r1", "bob", ""), "abort": f.Abort(t.Context(), "r1", "bob", ""), "publish": f.Publish(t.Context(), "r1"),
		} {
			if !errors.Is(err, rollout.ErrState) {
				t.Errorf("%s: %v", word, err)
			}
		}
		if r := settle(t, s, "r1", now.Add(1000*time.Hour)); r.State != rollout.Stopped || r.Reason.Text != "typo" || r.Reason.By != "bob" {
			t.Errorf("%s, %+v", r.State, r.Reason)
		}
	})
}

// TestNextRolloutTakesOver stops a rollout by publishing another one, also where that was created before.
func TestNextRolloutTakesOver(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		introduce(t, s, 0, 20)
		f := follow(s)
		f.publish(t, "r1", tenthThenAll)
		f.publish(t, "r2", tenthThenAll)
		first, err := s.Rollout(t.Context(), "r1")
		if err != nil {
			t.Fatal(err)
		}
		check(t, "the first", first.Reason, rollout.Reason{Code: rollout.Superseded, Text: "r2"})
		check(t, "its kiosks", counts(t, s, "r1"), map[rollout.Progress]int{rollout.Aborted: 20})
		check(t, "the second's", counts(t, s, "r2"), map[rollout.Progress]int{rollout.Going: 2, rollout.Held: 18})
		open, err := s.OpenRollouts(t.Context())
		if err != nil || len(open) != 1 || open[0].ID != "r2" {
			t.Errorf("open: %+v, %v", open, err)
		}
	})
}

// TestProcessesShareRollouts has several hubs step one rollout, publish it and take reports on it, all at once: each group
// begins once, no kiosk is started twice, and the rollout ends as one hub would have ended it.
func TestProcessesShareRollouts(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		const hubs, kiosks = 4, 40
		introduce(t, p.open(t), 0, kiosks)
		var stores []*Store
		for range hubs {
			stores = append(stores, p.open(t))
		}
		r, err := rollout.New("r1", release, tenthThenAll, "ann", now)
		if err != nil {
			t.Fatal(err)
		}
		if err := follow(stores[0]).Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var mu sync.Mutex
		started := map[wire.Address][]time.Time{} // each time that a kiosk was seen to have been started
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				if err := follow(s).Publish(ctx, "r1"); err != nil {
					t.Errorf("publish: %v", err)
				}
				for n := 0; ctx.Err() == nil; n++ {
					// Each hub's clock is its own, so that a second start would show.
					at := now.Add(time.Duration(i+1)*time.Second + time.Duration(n)*time.Microsecond)
					if _, err := step(ctx, s, "r1", at); err != nil && !errors.Is(err, rollout.ErrConflict) {
						t.Errorf("step: %v", err)
						return
					}
					all, err := s.RolloutMembers(ctx, "r1")
					if err != nil {
						t.Errorf("members: %v", err)
						return
					}
					done := 0
					for _, m := range all {
						if m.State == rollout.Success {
							done++
						}
						if m.StartedAt.IsZero() {
							continue
						}
						mu.Lock()
						if !slices.ContainsFunc(started[m.Kiosk], m.StartedAt.Equal) {
							started[m.Kiosk] = append(started[m.Kiosk], m.StartedAt)
						}
						mu.Unlock()
						// A kiosk speaks to one hub.
						if m.State == rollout.Going && int(m.Kiosk.Kiosk[len(m.Kiosk.Kiosk)-1])%hubs == i {
							d := wire.Deploy{Deployment: "r1", ReleaseID: release.ID, Shown: release.ID, Status: wire.DeploySuccess, TS: now}
							if _, err := s.ReportRollout(ctx, m.Kiosk, d, at); err != nil {
								t.Errorf("report: %v", err)
								return
							}
						}
					}
					if done == kiosks {
						return
					}
				}
			})
		}
		wg.Wait()
		if r = settle(t, stores[0], "r1", now.Add(time.Minute)); r.State != rollout.Finished {
			t.Errorf("it is %s", r.State)
		}
		if len(started) != kiosks {
			t.Errorf("%d kiosks were started, want %d", len(started), kiosks)
		}
		for k, times := range started {
			if len(times) != 1 {
				t.Errorf("%s was started at %v", k.Kiosk, times)
			}
		}
		begun := map[string]int{}
		for _, e := range r.History {
			if e.What == rollout.Started {
				begun[e.Group]++
			}
		}
		check(t, "groups begun", begun, map[string]int{"canary": 1, "all": 1})
	})
}

// TestAbortAgainstSuccess lets an abort and the successes of all kiosks meet: each kiosk ends as one or the other, and
// where it was aborted its success is noted as late.
func TestAbortAgainstSuccess(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		const kiosks = 30
		a, b := p.open(t), p.open(t)
		introduce(t, a, 0, kiosks)
		f := follow(a)
		f.publish(t, "r1", rollout.Everybody())
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range kiosks {
				report(t, b, kioskNamed(i), "r1", wire.DeploySuccess)
			}
		})
		wg.Go(func() {
			for len(members(t, a, "r1")[rollout.Success]) < kiosks/3 {
				time.Sleep(time.Millisecond)
			}
			if err := f.Abort(context.Background(), "r1", "bob", ""); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		all, err := a.RolloutMembers(t.Context(), "r1")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if ok := m.State == rollout.Success && m.Late == "" || m.State == rollout.Aborted && m.Late == wire.DeploySuccess; !ok {
				t.Errorf("%s: %s, late %q", m.Kiosk.Kiosk, m.State, m.Late)
			}
		}
		t.Logf("%v", counts(t, a, "r1"))
	})
}

// TestOldRolloutsAreForgotten keeps the newest ones, and the one that kiosks which come later go by.
func TestOldRolloutsAreForgotten(t *testing.T) {
	s := open(t, t.TempDir())
	introduce(t, s, 0, 1)
	f := follow(s)
	const first = "r0"
	f.publish(t, first, rollout.Everybody())
	report(t, s, kioskNamed(0), first, wire.DeploySuccess)
	check(t, "the first", settle(t, s, first, now).State, rollout.Finished)
	list := rollout.Plan{Groups: []rollout.Group{{Name: "one", Kiosks: []rollout.Kiosk{rollout.Kiosk(kioskNamed(0))}}}}
	for i := range maxRollouts + 20 {
		f.publish(t, fmt.Sprint("r", i+1), list)
	}
	all, err := s.Rollouts(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rollout(t.Context(), first); err != nil || len(all) != maxRollouts+21 {
		t.Errorf("while the first is the one for all: %d rollouts, %v", len(all), err)
	}
	f.publish(t, "whole", rollout.Everybody())
	report(t, s, kioskNamed(0), "whole", wire.DeploySuccess)
	settle(t, s, "whole", now)
	f.publish(t, "last", list)
	if all, err = s.Rollouts(t.Context(), 1000); err != nil || len(all) != maxRollouts {
		t.Errorf("%d rollouts, %v", len(all), err)
	}
	check(t, "rows", count(t, s, `SELECT count(*) FROM rollout_kiosks WHERE rollout NOT IN (SELECT id FROM rollouts)`), 0)
	check(t, "newest", all[0].ID, "last")
}

// TestShutOutKiosksAreLeftOut leaves kiosks whose certificate was revoked out of rollouts.
func TestShutOutKiosksAreLeftOut(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		introduce(t, s, 0, 3)
		if _, err := s.Revoke(t.Context(), kioskNamed(1), now, wire.RefusedRevoked); err != nil {
			t.Fatal(err)
		}
		follow(s).publish(t, "r1", rollout.Everybody())
		check(t, "kiosks", members(t, s, "r1"), map[rollout.Progress][]wire.Address{rollout.Going: {kioskNamed(0), kioskNamed(2)}})
	})
}
