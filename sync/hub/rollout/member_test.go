package rollout_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

const (
	old   = "1-aaa"
	fresh = "2-bbb"
)

func part(id string, state rollout.State, number int, member rollout.Progress, change ...func(*rollout.Part)) rollout.Part {
	p := rollout.Part{ID: id, Release: rollout.Release{ID: map[int]string{1: old, 2: fresh}[number], Number: number}, Whole: true, State: state}
	if member != "" {
		p.Member = &rollout.Member{State: member, StartedAt: start}
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func begun(p *rollout.Part) { p.Member.BegunAt = start }

func late(s wire.DeployStatus) func(*rollout.Part) {
	return func(p *rollout.Part) { p.Member.Late, p.Member.BegunAt = s, start }
}

func TestReport(t *testing.T) {
	now := start.Add(time.Hour)
	good := wire.Deploy{Deployment: "r2", ReleaseID: fresh, Shown: fresh, Status: wire.DeploySuccess, TS: now}
	says := func(s wire.DeployStatus, code string) wire.Deploy {
		return wire.Deploy{Deployment: "r2", ReleaseID: fresh, Shown: old, Status: s, Code: code, TS: now}
	}
	for _, tt := range []struct {
		name  string
		part  rollout.Part
		says  wire.Deploy
		state rollout.Progress
		begun bool
		late  wire.DeployStatus
	}{
		{"first word", part("r2", rollout.Running, 2, rollout.Going), says(wire.DeployPending, ""), rollout.Going, true, ""},
		{"success", part("r2", rollout.Running, 2, rollout.Going), good, rollout.Success, true, ""},
		{"had it already", part("r2", rollout.Running, 2, rollout.Going), wire.Deploy{ReleaseID: fresh, Shown: fresh, Status: wire.DeployAlreadyInstalled, TS: now}, rollout.Success, true, ""},
		{"success with another release", part("r2", rollout.Running, 2, rollout.Going), wire.Deploy{Deployment: "r2", ReleaseID: old, Shown: old, Status: wire.DeploySuccess, TS: now}, rollout.Going, true, ""},
		{"success that is not shown", part("r2", rollout.Running, 2, rollout.Going), wire.Deploy{Deployment: "r2", ReleaseID: fresh, Shown: old, Status: wire.DeploySuccess, TS: now}, rollout.Going, true, ""},
		{"failure", part("r2", rollout.Running, 2, rollout.Going), says(wire.DeployFailure, "health"), rollout.Failure, true, ""},
		{"refused", part("r2", rollout.Running, 2, rollout.Going), says(wire.DeployRejected, "disk_full"), rollout.Rejected, true, ""},
		{"the line broke", part("r2", rollout.Running, 2, rollout.Going), says(wire.DeployFailure, "download"), rollout.Going, true, ""},
		{"success after a failure", part("r2", rollout.Running, 2, rollout.Failure, begun), good, rollout.Success, true, ""},
		{"success after its time", part("r2", rollout.Finished, 2, rollout.TimedOut), good, rollout.Success, true, ""},
		{"failure after success", part("r2", rollout.Running, 2, rollout.Success, begun), says(wire.DeployFailure, "does_not_open"), rollout.Failure, true, ""},
		{"failure from before success", part("r2", rollout.Running, 2, rollout.Success, begun, func(p *rollout.Part) { p.Member.SaidAt = now.Add(1) }), says(wire.DeployFailure, "health"), rollout.Success, true, ""},
		{"success while it is paused", part("r2", rollout.Paused, 2, rollout.Going, begun), good, rollout.Success, true, ""},
		{"success after the abort", part("r2", rollout.Stopped, 2, rollout.Aborted, begun), good, rollout.Aborted, true, wire.DeploySuccess},
		{"aborted after the abort", part("r2", rollout.Stopped, 2, rollout.Aborted), says(wire.DeployAborted, ""), rollout.Aborted, true, wire.DeployAborted},
		{"at it after the abort", part("r2", rollout.Stopped, 2, rollout.Aborted), says(wire.DeployDownloading, ""), rollout.Aborted, true, wire.DeployDownloading},
		{"failure after the abort of one that succeeded", part("r2", rollout.Stopped, 2, rollout.Success, begun), says(wire.DeployFailure, "x"), rollout.Success, true, wire.DeployFailure},
		{"failure before its turn", part("r2", rollout.Running, 2, rollout.Held), says(wire.DeployFailure, "health"), rollout.Held, false, ""},
		{"success before its turn, from a stick", part("r2", rollout.Running, 2, rollout.Held), good, rollout.Success, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := tt.part.Report(tt.says, now)
			if m.State != tt.state || m.BegunAt.IsZero() == tt.begun || m.Late != tt.late {
				t.Errorf("%s, begun %s, late %q; want %s, %t, %q", m.State, m.BegunAt, m.Late, tt.state, tt.begun, tt.late)
			}
			tt.part.Member = &m
			if again, differs := tt.part.Report(tt.says, now.Add(time.Hour)); differs {
				t.Errorf("the same again changes %+v to %+v", m, again)
			}
		})
	}
}

func TestAbout(t *testing.T) {
	parts := []rollout.Part{part("r3", rollout.Running, 1, rollout.Going), part("r2", rollout.Stopped, 2, rollout.Aborted), part("r1", rollout.Finished, 1, "")}
	for _, tt := range []struct {
		name string
		says wire.Deploy
		want string
	}{
		{"by its name", wire.Deploy{Deployment: "r2", ReleaseID: fresh}, "r2"},
		{"by the release", wire.Deploy{ReleaseID: old}, "r3"},
		{"by the release, without a name only", wire.Deploy{Deployment: "r9", ReleaseID: old}, ""},
		{"in none of its groups", wire.Deploy{Deployment: "r1", ReleaseID: old}, ""},
		{"about nothing", wire.Deploy{}, ""},
	} {
		got := ""
		if p := rollout.About(parts, tt.says); p != nil {
			got = p.ID
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWanted(t *testing.T) {
	first := part("r1", rollout.Finished, 1, rollout.Success)
	r1 := wire.Desired{Deployment: "r1", ReleaseID: old, Number: 1}
	r2 := wire.Desired{Deployment: "r2", ReleaseID: fresh, Number: 2}
	stop := wire.Desired{Deployment: "r2", ReleaseID: fresh, Number: 2, Abort: true}
	narrow := func(p *rollout.Part) { p.Whole = false }
	back := func(p *rollout.Part) { p.Back = true }
	for _, tt := range []struct {
		name  string
		parts []rollout.Part
		want  wire.Desired
	}{
		{"no rollout", nil, wire.Desired{}},
		{"its turn", []rollout.Part{part("r2", rollout.Running, 2, rollout.Going), first}, r2},
		{"not its turn", []rollout.Part{part("r2", rollout.Running, 2, rollout.Held), first}, r1},
		{"approval is waited for", []rollout.Part{part("r2", rollout.Waiting, 2, rollout.Held), first}, r1},
		{"its group is done, another waits", []rollout.Part{part("r2", rollout.Waiting, 2, rollout.Success), first}, r2},
		{"paused and not begun", []rollout.Part{part("r2", rollout.Paused, 2, rollout.Going), first}, r1},
		{"paused and at it", []rollout.Part{part("r2", rollout.Paused, 2, rollout.Going, begun), first}, r2},
		{"failed", []rollout.Part{part("r2", rollout.Running, 2, rollout.Failure, begun), first}, r2},
		{"timed out", []rollout.Part{part("r2", rollout.Running, 2, rollout.TimedOut), first}, r2},
		{"aborted and at it", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Aborted, begun), first}, stop},
		{"aborted, at it, has not heard", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Aborted, late(wire.DeployDownloading)), first}, stop},
		{"aborted and has heard", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Aborted, late(wire.DeployAborted)), first}, r1},
		{"aborted and failed", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Aborted, late(wire.DeployFailure)), first}, r1},
		{"aborted too late", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Aborted, late(wire.DeploySuccess)), first}, r2},
		{"aborted and never begun", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Aborted), first}, r1},
		{"stopped, had succeeded", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Success, begun), first}, r2},
		{"stopped, had failed", []rollout.Part{part("r2", rollout.Stopped, 2, rollout.Failure, begun), first}, r1},
		{"new kiosk, finished rollout", []rollout.Part{part("r2", rollout.Finished, 2, ""), part("r1", rollout.Finished, 1, "")}, r2},
		{"new kiosk, finished rollout of some", []rollout.Part{part("r2", rollout.Finished, 2, "", narrow), part("r1", rollout.Finished, 1, "")}, r1},
		{"new kiosk, stopped rollout", []rollout.Part{part("r2", rollout.Stopped, 2, ""), part("r1", rollout.Finished, 1, "")}, r1},
		{"new kiosk, nothing finished", []rollout.Part{part("r2", rollout.Running, 2, "")}, wire.Desired{}},
		{"back", []rollout.Part{part("r3", rollout.Running, 1, rollout.Going, back), part("r2", rollout.Stopped, 2, rollout.Success), first}, wire.Desired{Deployment: "r3", ReleaseID: old, Number: 1, Back: true}},
		{"new kiosk after going back", []rollout.Part{part("r3", rollout.Finished, 1, "", back), part("r2", rollout.Finished, 2, "")}, wire.Desired{Deployment: "r3", ReleaseID: old, Number: 1, Back: true}},
		{"a back that is aborted", []rollout.Part{part("r3", rollout.Stopped, 1, rollout.Aborted, back, begun)}, wire.Desired{Deployment: "r3", ReleaseID: old, Number: 1, Abort: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := rollout.Wanted(tt.parts)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}
