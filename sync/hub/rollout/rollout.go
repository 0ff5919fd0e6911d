package rollout

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// State is a word for how far a rollout is (those of hawkBit).
type State string

// The states. Stopped and Finished are final.
const (
	Creating State = "creating"             // the release is not published yet
	Waiting  State = "waiting_for_approval" // the next group waits for somebody's word
	Ready    State = "ready"                // it waits for its time
	Running  State = "running"
	Paused   State = "paused" // no further kiosk begins
	Stopped  State = "stopped"
	Finished State = "finished"
)

// Words is the state as staff read it.
func (s State) Words() string {
	switch s {
	case Creating:
		return "being published"
	case Waiting:
		return "waiting for approval"
	case Ready:
		return "waiting for its time"
	}
	return string(s)
}

// Over tells whether nothing follows the state.
func (s State) Over() bool { return s == Stopped || s == Finished }

// Words of Reason.Code: why a rollout is paused or stopped.
const (
	ByStaff       = "by_staff"
	TooManyFailed = "too_many_failed"
	TooFewSucceed = "too_few_succeeded" // all of the group are done
	NobodyTried   = "nobody_tried"      // no kiosk of the group was there
	Superseded    = "superseded"        // by another rollout
	NotPublished  = "not_published"     // publishing failed
)

// Reason says why a rollout is paused or stopped.
type Reason struct {
	Code  string `json:"code"`
	By    string `json:"by,omitempty"`
	Text  string `json:"text,omitempty"`  // what staff wrote, or the rollout that took over
	Group string `json:"group,omitempty"` // whose failures it is about
	N     int    `json:"n,omitempty"`     // kiosks that failed, or that succeeded
	Of    int    `json:"of,omitempty"`    // kiosks of the group
}

// Words of Entry.What.
const (
	Created   = "created"
	Approved  = "approved"
	Started   = "started"
	WasPaused = "paused"
	Resumed   = "resumed"
	WasStop   = "stopped"
	WasFinish = "finished"
)

// maxEntries is how many entries of its history a rollout keeps, the newest.
const maxEntries = 100

// Entry is a line of a rollout's history.
type Entry struct {
	At     time.Time `json:"at"`
	What   string    `json:"what"`
	By     string    `json:"by,omitempty"`
	Group  string    `json:"group,omitempty"`
	Reason Reason    `json:"reason,omitzero"`
}

// Release is what is rolled out.
type Release struct {
	ID     string `json:"release_id"`
	Number int    `json:"number"`
}

// Rollout is the way of a release to the kiosks.
type Rollout struct {
	ID      string  `json:"id"` // also wire.Desired's Deployment
	Release Release `json:"release"`
	// Back lets kiosks go to a lower number than they show.
	Back    bool   `json:"back,omitempty"`
	Of      string `json:"of,omitempty"` // rollout that is taken back
	Plan    Plan   `json:"plan"`
	State   State  `json:"state"`
	Begun   int    `json:"groups_begun"` // groups that have begun: the first ones of the plan
	Cleared int    `json:"cleared"`      // groups that are approved: the first ones of the plan
	// Excused are, for each group, the failures that staff have seen and gone on from; Waived tells whether they have gone
	// on without any kiosk of the group having tried.
	Excused []int   `json:"excused"`
	Waived  []bool  `json:"waived"`
	Reason  Reason  `json:"reason,omitzero"` // why it is paused or stopped
	History []Entry `json:"history"`

	CreatedAt time.Time `json:"created_at"`
	BegunAt   time.Time `json:"begun_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`

	// Seq is the rollout's place in the order of all; Version counts its changes. Both are the store's.
	Seq     int64 `json:"-"`
	Version int64 `json:"-"`
}

// New begins a rollout of a release that is not published yet.
func New(id string, of Release, plan Plan, by string, now time.Time) (Rollout, error) {
	if err := plan.Validate(); err != nil {
		return Rollout{}, err
	}
	if err := ValidText(by); err != nil {
		return Rollout{}, fmt.Errorf("name of who rolls out: %w", err)
	}
	n := len(plan.Groups)
	r := Rollout{ID: id, Release: of, Plan: plan, State: Creating, Excused: make([]int, n), Waived: make([]bool, n), CreatedAt: now}
	r.note(now, Entry{What: Created, By: by})
	return r, nil
}

// Tally counts the kiosks of a group.
type Tally struct {
	Waiting   int `json:"waiting"` // not begun
	Running   int `json:"running"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`  // those too that began and were not heard of again
	Away      int `json:"away"`    // timed out without ever having been there
	Aborted   int `json:"aborted"` // the rollout was stopped before they were done
}

// Total is the number of kiosks of the group.
func (t Tally) Total() int {
	return t.Waiting + t.Running + t.Succeeded + t.Failed + t.Away + t.Aborted
}

// Add counts n more kiosks.
func (t *Tally) Add(p Progress, begun bool, n int) {
	switch {
	case p == Held:
		t.Waiting += n
	case p == Going:
		t.Running += n
	case p == Success:
		t.Succeeded += n
	case p == TimedOut && !begun:
		t.Away += n
	case p == Aborted:
		t.Aborted += n
	default:
		t.Failed += n
	}
}

// Merge adds the kiosks of another group.
func (t *Tally) Merge(o Tally) {
	t.Waiting, t.Running, t.Succeeded = t.Waiting+o.Waiting, t.Running+o.Running, t.Succeeded+o.Succeeded
	t.Failed, t.Away, t.Aborted = t.Failed+o.Failed, t.Away+o.Away, t.Aborted+o.Aborted
}

func (t Tally) ended() bool { return t.Waiting == 0 && t.Running == 0 }

// Effects are what a step asks to be done with kiosks, together with the change of the rollout.
type Effects struct {
	Enter  bool  // the rollouts before it stop, and all kiosks are put into its groups
	Start  []int // groups whose waiting kiosks begin
	Renew  bool  // kiosks that were held back have their time anew
	Abort  bool  // all that are not done are aborted
	Change bool  // the rollout itself has changed
}

// Step moves the rollout on by what its groups' kiosks have come to; tallies has one of each group.
func (r *Rollout) Step(tallies []Tally, now time.Time) Effects {
	var e Effects
	if r.State != Running && r.State != Waiting && r.State != Ready {
		return e
	}
	for i, t := range tallies[:r.Begun] {
		if t.Failed > r.Excused[i] && r.Plan.Groups[i].Errors.exceeded(t.Failed-r.Excused[i], t.Total()) {
			r.pause(&e, now, Reason{Code: TooManyFailed, Group: r.Plan.Groups[i].Name, N: t.Failed, Of: t.Total()})
			return e
		}
	}
	if r.State != Running {
		r.tryNext(&e, now)
		return e
	}
	for i, t := range tallies[:r.Begun] {
		if t.Waiting > 0 {
			e.Start = append(e.Start, i) // they came later
		}
	}
	if len(e.Start) > 0 {
		return e
	}
	if r.Begun == len(r.Plan.Groups) {
		if !slices.ContainsFunc(tallies, func(t Tally) bool { return !t.ended() }) {
			r.end(&e, now, Finished, WasFinish, Reason{})
		}
		return e
	}
	i := r.Begun - 1
	switch t := tallies[i]; {
	case r.passed(i, t):
		r.tryNext(&e, now)
	case t.ended() && t.Succeeded+t.Failed == 0:
		r.pause(&e, now, Reason{Code: NobodyTried, Group: r.Plan.Groups[i].Name, Of: t.Total()})
	case t.ended():
		r.pause(&e, now, Reason{Code: TooFewSucceed, Group: r.Plan.Groups[i].Name, N: t.Succeeded, Of: t.Total()})
	}
	return e
}

// passed tells whether enough of a group have succeeded for the next one to begin.
func (r *Rollout) passed(group int, t Tally) bool {
	if r.Waived[group] {
		return true
	}
	count := t.Total() - t.Away - min(r.Excused[group], t.Failed)
	if t.Succeeded == 0 && r.Excused[group] == 0 { // nobody has tried it: no threshold allows that
		return false
	}
	return t.Succeeded*100 >= r.Plan.Groups[group].success()*count
}

// tryNext begins the next group, or says what it waits for.
func (r *Rollout) tryNext(e *Effects, now time.Time) {
	g, before := r.Plan.Groups[r.Begun], r.State
	switch {
	case g.Approval && r.Cleared <= r.Begun:
		r.State = Waiting
	case r.Begun == 0 && now.Before(r.Plan.StartAt):
		r.State = Ready
	default:
		r.State = Running
		e.Start = append(e.Start, r.Begun)
		r.Begun++
		if r.BegunAt.IsZero() {
			r.BegunAt = now
		}
		r.note(now, Entry{What: Started, Group: g.Name})
		e.Change = true
	}
	e.Change = e.Change || r.State != before
}

func (r *Rollout) pause(e *Effects, now time.Time, why Reason) {
	r.State, r.Reason, e.Change = Paused, why, true
	r.note(now, Entry{What: WasPaused, By: why.By, Reason: why})
}

func (r *Rollout) end(e *Effects, now time.Time, s State, what string, why Reason) {
	r.State, r.Reason, r.EndedAt, e.Change = s, why, now, true
	e.Abort = s == Stopped
	r.note(now, Entry{What: what, By: why.By, Reason: why})
}

func (r *Rollout) note(now time.Time, e Entry) {
	e.At = now
	r.History = append(r.History, e)
	if over := len(r.History) - maxEntries; over > 0 {
		r.History = slices.Delete(r.History, 1, 1+over) // the first says who created it
	}
}

// Cutoff is the time before which a group's kiosks must have begun to count as timed out.
func (r *Rollout) Cutoff(group int, now time.Time) time.Time {
	return now.Add(-r.Plan.Groups[group].Timeout())
}

// Holds tells whether kiosks that have not begun are held back.
func (r *Rollout) Holds() bool { return r.State == Paused }

// Change is what is made of a rollout and its groups' kiosks. It may be called several times, with what has changed since.
type Change func(*Rollout, []Tally) (Effects, error)

// ErrConflict is the error of a change that came too late: another process has changed the rollout.
var ErrConflict = errors.New("another process has changed it")

// ErrState is the error of something that cannot be done in the state the rollout is in.
var ErrState = errors.New("not possible now")

// StateError is an ErrState that says what the rollout is, in words for staff.
type StateError struct{ text string }

// Error says what is wrong.
func (e *StateError) Error() string { return e.text }

// Is tells that it is an ErrState.
func (e *StateError) Is(target error) bool { return target == ErrState }

func (r *Rollout) in(what string, possible ...State) error {
	if slices.Contains(possible, r.State) {
		return nil
	}
	return &StateError{fmt.Sprintf("%s is %s; there is nothing to %s", r.ID, r.State.Words(), what)}
}

// Publish says that the release can be fetched now.
func (r *Rollout) Publish(now time.Time) (e Effects, err error) {
	if err := r.in("publish", Creating); err != nil {
		return e, err
	}
	r.State, e.Enter, e.Change = Ready, true, true
	r.tryNext(&e, now)
	return e, nil
}

// Approve lets the group begin that waits for it.
func (r *Rollout) Approve(by string, now time.Time) (e Effects, err error) {
	if err := r.in("approve", Waiting); err != nil {
		return e, err
	}
	r.Cleared, e.Change = r.Begun+1, true
	r.note(now, Entry{What: Approved, By: by, Group: r.Plan.Groups[r.Begun].Name})
	r.tryNext(&e, now)
	return e, nil
}

// Pause keeps further kiosks from beginning.
func (r *Rollout) Pause(by, text string, now time.Time) (e Effects, err error) {
	if err := r.in("pause", Waiting, Ready, Running); err != nil {
		return e, err
	}
	r.pause(&e, now, Reason{Code: ByStaff, By: by, Text: text})
	return e, nil
}

// Resume goes on, in spite of the failures there were so far.
func (r *Rollout) Resume(by string, tallies []Tally, now time.Time) (e Effects, err error) {
	if err := r.in("resume", Paused); err != nil {
		return e, err
	}
	for i, t := range tallies[:r.Begun] {
		r.Excused[i] = t.Failed
		r.Waived[i] = r.Waived[i] || r.Reason.Code == NobodyTried && i == r.Begun-1
	}
	r.Reason, e.Renew, e.Change = Reason{}, true, true
	r.note(now, Entry{What: Resumed, By: by})
	if r.Begun == 0 {
		r.State = Ready
		r.tryNext(&e, now)
		return e, nil
	}
	r.State = Running
	next := r.Step(tallies, now)
	e.Start = next.Start
	return e, nil
}

// Abort ends the rollout for good: kiosks that are not done go back to what they had.
func (r *Rollout) Abort(why Reason, now time.Time) (e Effects, err error) {
	if err := r.in("abort", Creating, Waiting, Ready, Running, Paused); err != nil {
		return e, err
	}
	r.end(&e, now, Stopped, WasStop, why)
	return e, nil
}
