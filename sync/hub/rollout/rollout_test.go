package rollout_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/rollout"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func percent(n int) rollout.Limit { return rollout.Limit{N: n, Percent: true} }

func of(n int) *int { return &n }

// canary is a plan of a tenth and then the rest.
func canary(change func(g []rollout.Group)) rollout.Plan {
	g := []rollout.Group{{Name: "canary", Percent: 10}, {Name: "all", Rest: true, Errors: percent(100)}}
	if change != nil {
		change(g)
	}
	return rollout.Plan{Groups: g}
}

// begin is a rollout that has been published.
func begin(t *testing.T, p rollout.Plan) rollout.Rollout {
	t.Helper()
	r, err := rollout.New("r1-abcde", rollout.Release{ID: "2-abc", Number: 2}, p, "ann", start)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Publish(start)
	if err != nil || !e.Enter || !e.Change {
		t.Fatalf("publish: %+v, %v", e, err)
	}
	return r
}

// tally has waiting, running, succeeded, failed, away kiosks.
func tally(n ...int) rollout.Tally {
	n = append(n, make([]int, 5)...)
	return rollout.Tally{Waiting: n[0], Running: n[1], Succeeded: n[2], Failed: n[3], Away: n[4]}
}

// TestStep walks a rollout whose first group has begun on by one step.
func TestStep(t *testing.T) {
	for _, tt := range []struct {
		name    string
		plan    rollout.Plan
		tallies []rollout.Tally
		state   rollout.State
		begun   int
		start   []int
		reason  rollout.Reason
	}{
		{"canary under way", canary(nil), []rollout.Tally{tally(0, 2), tally(18)}, rollout.Running, 1, nil, rollout.Reason{}},
		{"one of two done", canary(nil), []rollout.Tally{tally(0, 1, 1), tally(18)}, rollout.Running, 1, nil, rollout.Reason{}},
		{"canary done", canary(nil), []rollout.Tally{tally(0, 0, 2), tally(18)}, rollout.Running, 2, []int{1}, rollout.Reason{}},
		{
			"a failure and none allowed", canary(nil), []rollout.Tally{tally(0, 1, 0, 1), tally(18)}, rollout.Paused, 1, nil,
			rollout.Reason{Code: rollout.TooManyFailed, Group: "canary", N: 1, Of: 2},
		},
		{
			"2 of 20 and 5 % allowed", canary(func(g []rollout.Group) { g[0].Errors = percent(5) }), []rollout.Tally{tally(0, 18, 0, 2), tally(180)}, rollout.Paused, 1, nil,
			rollout.Reason{Code: rollout.TooManyFailed, Group: "canary", N: 2, Of: 20},
		},
		{"1 of 20 and 5 % allowed", canary(func(g []rollout.Group) { g[0].Errors = percent(5) }), []rollout.Tally{tally(0, 19, 0, 1), tally(180)}, rollout.Running, 1, nil, rollout.Reason{}},
		{"2 failures and 2 allowed", canary(func(g []rollout.Group) { g[0].Errors.N = 2 }), []rollout.Tally{tally(0, 1, 0, 2), tally(18)}, rollout.Running, 1, nil, rollout.Reason{}},
		{
			"3 failures and 2 allowed", canary(func(g []rollout.Group) { g[0].Errors.N = 2 }), []rollout.Tally{tally(0, 1, 9, 3), tally(18)}, rollout.Paused, 1, nil,
			rollout.Reason{Code: rollout.TooManyFailed, Group: "canary", N: 3, Of: 13},
		},
		{"half is enough", canary(func(g []rollout.Group) { g[0].Success = of(50) }), []rollout.Tally{tally(0, 2, 2), tally(18)}, rollout.Running, 2, []int{1}, rollout.Reason{}},
		{"less than half is not", canary(func(g []rollout.Group) { g[0].Success = of(50) }), []rollout.Tally{tally(0, 3, 2), tally(18)}, rollout.Running, 1, nil, rollout.Reason{}},
		{
			"all done and too few succeeded", canary(func(g []rollout.Group) { g[0].Errors.N = 1 }), []rollout.Tally{tally(0, 0, 3, 1), tally(18)}, rollout.Paused, 1, nil,
			rollout.Reason{Code: rollout.TooFewSucceed, Group: "canary", N: 3, Of: 4},
		},
		{"those switched off do not count", canary(nil), []rollout.Tally{tally(0, 0, 1, 0, 3), tally(18)}, rollout.Running, 2, []int{1}, rollout.Reason{}},
		{
			"all switched off", canary(nil), []rollout.Tally{tally(0, 0, 0, 0, 2), tally(18)}, rollout.Paused, 1, nil,
			rollout.Reason{Code: rollout.NobodyTried, Group: "canary", Of: 2},
		},
		{"no kiosk at all", canary(nil), []rollout.Tally{{}, {}}, rollout.Paused, 1, nil, rollout.Reason{Code: rollout.NobodyTried, Group: "canary"}},
		{"none of a threshold of nothing has tried", canary(func(g []rollout.Group) { g[0].Success = of(0) }), []rollout.Tally{tally(0, 2), tally(18)}, rollout.Running, 1, nil, rollout.Reason{}},
		{
			"the second group needs approval", canary(func(g []rollout.Group) { g[1].Approval = true }), []rollout.Tally{tally(0, 0, 2), tally(18)},
			rollout.Waiting, 1, nil, rollout.Reason{},
		},
		{"everybody, one failed", rollout.Everybody(), []rollout.Tally{tally(0, 1, 0, 1)}, rollout.Running, 1, nil, rollout.Reason{}},
		{"everybody, one has come", rollout.Everybody(), []rollout.Tally{tally(1, 1, 3)}, rollout.Running, 1, []int{0}, rollout.Reason{}},
		{"everybody is done", rollout.Everybody(), []rollout.Tally{tally(0, 0, 3, 2, 1)}, rollout.Finished, 1, nil, rollout.Reason{}},
		{"nobody is there", rollout.Everybody(), []rollout.Tally{{}}, rollout.Finished, 1, nil, rollout.Reason{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, tt.plan)
			e := r.Step(tt.tallies, start.Add(time.Hour))
			if r.State != tt.state || r.Begun != tt.begun {
				t.Errorf("%s with %d groups begun, want %s with %d", r.State, r.Begun, tt.state, tt.begun)
			}
			if diff := cmp.Diff(tt.start, e.Start); diff != "" {
				t.Errorf("groups to begin: %s", diff)
			}
			if diff := cmp.Diff(tt.reason, r.Reason); diff != "" {
				t.Errorf("reason: %s", diff)
			}
			if e.Abort || e.Renew || e.Enter {
				t.Errorf("effects: %+v", e)
			}
			again := r
			if e := again.Step(tt.tallies, start.Add(2*time.Hour)); e.Change && r.Begun == tt.begun && tt.start == nil {
				t.Errorf("the same again changes it to %s", again.State)
			}
		})
	}
}

// TestFailureInAnEarlierGroup pauses a rollout by a kiosk of a group that was passed already.
func TestFailureInAnEarlierGroup(t *testing.T) {
	for _, waits := range []bool{false, true} {
		r := begin(t, canary(func(g []rollout.Group) { g[0].Success, g[1].Approval = of(50), waits }))
		r.Step([]rollout.Tally{tally(0, 1, 1), tally(18)}, start)
		r.Step([]rollout.Tally{tally(0, 0, 1, 1), tally(18)}, start)
		if r.State != rollout.Paused || r.Reason.Group != "canary" {
			t.Errorf("approval %t: %s, %+v", waits, r.State, r.Reason)
		}
	}
}

// TestResume goes on from each reason to pause: what staff have seen does not pause it again, what comes then does.
func TestResume(t *testing.T) {
	for _, tt := range []struct {
		name    string
		plan    rollout.Plan
		tallies []rollout.Tally
		pause   bool // by staff
		state   rollout.State
		start   []int
		after   []rollout.Tally
		then    rollout.State
	}{
		{"all of the group failed", canary(nil), []rollout.Tally{tally(0, 0, 0, 2), tally(18)}, false, rollout.Running, []int{1}, nil, ""},
		{"one failed, one is at it", canary(nil), []rollout.Tally{tally(0, 1, 0, 1), tally(18)}, false, rollout.Running, nil, []rollout.Tally{tally(0, 0, 0, 2), tally(18)}, rollout.Paused},
		{"one failed, one is at it and succeeds", canary(nil), []rollout.Tally{tally(0, 1, 0, 1), tally(18)}, false, rollout.Running, nil, []rollout.Tally{tally(0, 0, 1, 1), tally(18)}, rollout.Running},
		{"nobody tried", canary(nil), []rollout.Tally{tally(0, 0, 0, 0, 2), tally(18)}, false, rollout.Running, []int{1}, nil, ""},
		{"too few", canary(func(g []rollout.Group) { g[0].Errors.N = 1 }), []rollout.Tally{tally(0, 0, 3, 1), tally(18)}, false, rollout.Running, []int{1}, nil, ""},
		{"by staff", canary(nil), []rollout.Tally{tally(0, 2), tally(18)}, true, rollout.Running, nil, []rollout.Tally{tally(0, 0, 2), tally(18)}, rollout.Running},
		{"by staff, done meanwhile", canary(nil), []rollout.Tally{tally(0, 0, 2), tally(18)}, true, rollout.Running, []int{1}, nil, ""},
		{
			"by staff, and then approval", canary(func(g []rollout.Group) { g[1].Approval = true }), []rollout.Tally{tally(0, 0, 2), tally(18)}, true,
			rollout.Waiting, nil, nil, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, tt.plan)
			if tt.pause {
				if _, err := r.Pause("ann", "wait for Bob", start); err != nil {
					t.Fatal(err)
				}
			} else if r.Step(tt.tallies, start); r.State != rollout.Paused {
				t.Fatalf("not paused: %s", r.State)
			}
			if e := r.Step(tt.tallies, start); e.Change || len(e.Start) > 0 {
				t.Errorf("a step while it is paused: %+v", e)
			}
			e, err := r.Resume("ann", tt.tallies, start)
			if err != nil || !e.Renew || !e.Change {
				t.Fatalf("resume: %+v, %v", e, err)
			}
			if r.State != tt.state || cmp.Diff(tt.start, e.Start) != "" || r.Reason != (rollout.Reason{}) {
				t.Errorf("%s, begins %v, %+v; want %s, %v", r.State, e.Start, r.Reason, tt.state, tt.start)
			}
			if tt.after != nil {
				if r.Step(tt.after, start); r.State != tt.then {
					t.Errorf("then %s, want %s", r.State, tt.then)
				}
			}
		})
	}
}

// TestWords tries every word of staff in every state.
func TestWords(t *testing.T) {
	now := start.Add(time.Hour)
	states := map[rollout.State]func(*testing.T) rollout.Rollout{
		rollout.Creating: func(t *testing.T) rollout.Rollout {
			r, err := rollout.New("r1-abcde", rollout.Release{ID: "2-abc", Number: 2}, canary(nil), "ann", start)
			if err != nil {
				t.Fatal(err)
			}
			return r
		},
		rollout.Waiting: func(t *testing.T) rollout.Rollout {
			return begin(t, canary(func(g []rollout.Group) { g[0].Approval = true }))
		},
		rollout.Ready: func(t *testing.T) rollout.Rollout {
			p := canary(nil)
			p.StartAt = start.Add(10 * time.Hour)
			return begin(t, p)
		},
		rollout.Running: func(t *testing.T) rollout.Rollout { return begin(t, canary(nil)) },
		rollout.Paused: func(t *testing.T) rollout.Rollout {
			r := begin(t, canary(nil))
			r.Step([]rollout.Tally{tally(0, 1, 0, 1), tally(18)}, start)
			return r
		},
		rollout.Stopped: func(t *testing.T) rollout.Rollout {
			r := begin(t, canary(nil))
			if _, err := r.Abort(rollout.Reason{Code: rollout.ByStaff}, start); err != nil {
				t.Fatal(err)
			}
			return r
		},
		rollout.Finished: func(t *testing.T) rollout.Rollout {
			r := begin(t, rollout.Everybody())
			r.Step([]rollout.Tally{tally(0, 0, 3)}, start)
			return r
		},
	}
	tallies := []rollout.Tally{tally(0, 1, 0, 1), tally(18)}
	words := map[string]func(*rollout.Rollout) error{
		"publish": func(r *rollout.Rollout) error { _, err := r.Publish(now); return err },
		"approve": func(r *rollout.Rollout) error { _, err := r.Approve("bob", now); return err },
		"pause":   func(r *rollout.Rollout) error { _, err := r.Pause("bob", "", now); return err },
		"resume": func(r *rollout.Rollout) error {
			_, err := r.Resume("bob", tallies[:len(r.Plan.Groups)], now)
			return err
		},
		"abort": func(r *rollout.Rollout) error {
			e, err := r.Abort(rollout.Reason{Code: rollout.ByStaff, By: "bob"}, now)
			if err == nil && !e.Abort {
				return errors.New("its kiosks go on")
			}
			return err
		},
	}
	want := map[string]rollout.State{
		"creating publish": rollout.Running, "creating abort": rollout.Stopped,
		"waiting_for_approval approve": rollout.Running, "waiting_for_approval pause": rollout.Paused, "waiting_for_approval abort": rollout.Stopped,
		"ready pause": rollout.Paused, "ready abort": rollout.Stopped,
		"running pause": rollout.Paused, "running abort": rollout.Stopped,
		"paused resume": rollout.Running, "paused abort": rollout.Stopped,
	}
	for state, of := range states {
		for word, do := range words {
			r := of(t)
			if r.State != state {
				t.Fatalf("%s, want %s", r.State, state)
			}
			err := do(&r)
			to, possible := want[fmt.Sprint(state, " ", word)]
			if !possible {
				to = state
			}
			if r.State != to || errors.Is(err, rollout.ErrState) == possible || err != nil && possible {
				t.Errorf("%s when %s: %s, %v; want %s", word, state, r.State, err, to)
			}
		}
	}
}

// TestReady waits for its time.
func TestReady(t *testing.T) {
	p := rollout.Everybody()
	p.StartAt = start.Add(10 * time.Hour)
	r := begin(t, p)
	if e := r.Step([]rollout.Tally{tally(3)}, start.Add(9*time.Hour)); e.Change || r.State != rollout.Ready {
		t.Errorf("too early: %s", r.State)
	}
	if e := r.Step([]rollout.Tally{tally(3)}, start.Add(10*time.Hour)); r.State != rollout.Running || len(e.Start) != 1 || !r.BegunAt.Equal(start.Add(10*time.Hour)) {
		t.Errorf("at its time: %s, %+v", r.State, e)
	}
}

// TestHistory keeps who did what, and no more than it may.
func TestHistory(t *testing.T) {
	r := begin(t, canary(nil))
	for range 200 {
		if _, err := r.Pause("bob", "tea", start); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Resume("carl", []rollout.Tally{tally(0, 2), tally(18)}, start); err != nil {
			t.Fatal(err)
		}
	}
	n := len(r.History)
	first, last := r.History[0], r.History[n-1]
	if n != 100 || first.What != rollout.Created || first.By != "ann" || last.What != rollout.Resumed || last.By != "carl" || r.History[n-2].Reason.Text != "tea" {
		t.Errorf("%d entries, %+v … %+v", n, first, last)
	}
}

// TestEarlier finds the release to go back to.
func TestEarlier(t *testing.T) {
	rel := func(n int) rollout.Release { return rollout.Release{ID: fmt.Sprint(n, "-x"), Number: n} }
	is := func(id string, n int, s rollout.State, code string, change ...func(*rollout.Rollout)) rollout.Rollout {
		r := rollout.Rollout{ID: id, Release: rel(n), State: s, Reason: rollout.Reason{Code: code}, History: []rollout.Entry{{What: rollout.Created}, {What: rollout.Started}, {What: rollout.WasStop}}}
		for _, c := range change {
			c(&r)
		}
		return r
	}
	paused := func(r *rollout.Rollout) { r.History[1].What = rollout.WasPaused }
	back := func(of string) func(*rollout.Rollout) {
		return func(r *rollout.Rollout) { r.Back, r.Of = true, of }
	}
	now := is("r4", 4, rollout.Running, "")
	for _, tt := range []struct {
		name     string
		shown    []int
		rollouts []rollout.Rollout
		want     int
	}{
		{"finished", []int{3, 4}, []rollout.Rollout{now, is("r3", 3, rollout.Finished, "")}, 3},
		{"the next one came before it was done", []int{3, 4}, []rollout.Rollout{now, is("r3", 3, rollout.Stopped, rollout.Superseded)}, 3},
		{"paused when the next one came", []int{3, 4}, []rollout.Rollout{now, is("r3", 3, rollout.Stopped, rollout.Superseded, paused)}, 0},
		{"aborted", []int{3, 4}, []rollout.Rollout{now, is("r3", 3, rollout.Stopped, rollout.ByStaff)}, 0},
		{"aborted, and another before it", []int{2, 3, 4}, []rollout.Rollout{now, is("r3", 3, rollout.Stopped, rollout.ByStaff), is("r2", 2, rollout.Finished, "")}, 2},
		{"taken back", []int{2, 3, 4}, []rollout.Rollout{now, is("b2", 2, rollout.Finished, "", back("r3")), is("r3", 3, rollout.Finished, ""), is("r2", 2, rollout.Finished, "")}, 2},
		{"aborted and then rolled out again", []int{3, 4}, []rollout.Rollout{now, is("r3b", 3, rollout.Finished, ""), is("r3", 3, rollout.Stopped, rollout.ByStaff)}, 3},
		{"not rolled out here", []int{3, 4}, []rollout.Rollout{now}, 0},
		{"not signed any more", []int{4}, []rollout.Rollout{now, is("r3", 3, rollout.Finished, "")}, 0},
		{"a higher one only", []int{4, 5}, []rollout.Rollout{now, is("r5", 5, rollout.Finished, "")}, 0},
	} {
		var shown []rollout.Release
		for _, n := range tt.shown {
			shown = append(shown, rel(n))
		}
		got, found := rollout.Earlier(now.Release, shown, tt.rollouts)
		if got.Number != tt.want || found != (tt.want > 0) {
			t.Errorf("%s: %d, want %d", tt.name, got.Number, tt.want)
		}
	}
}
