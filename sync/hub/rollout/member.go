package rollout

import (
	"slices"
	"time"

	"docent/sync/wire"
)

// Progress is a word for how far a kiosk is within a rollout.
type Progress string

// The words.
const (
	Held     Progress = "waiting" // its group has not begun
	Going    Progress = "running" // it is told to show the release
	Success  Progress = "success"
	Failure  Progress = "failure"  // it could not show the release, or took it back
	Rejected Progress = "rejected" // it refused the release
	TimedOut Progress = "timed_out"
	Aborted  Progress = "aborted" // the rollout was stopped before the kiosk was done
)

// Member is a kiosk within a rollout.
type Member struct {
	Kiosk     wire.Address `json:"kiosk"`
	Group     int          `json:"group"`
	State     Progress     `json:"state"`
	StartedAt time.Time    `json:"started_at,omitzero"` // when it was told
	BegunAt   time.Time    `json:"begun_at,omitzero"`   // when it first answered
	EndedAt   time.Time    `json:"ended_at,omitzero"`
	SaidAt    time.Time    `json:"-"` // of the last report that counted, by the kiosk's clock
	Code      string       `json:"code,omitempty"`
	Detail    string       `json:"detail,omitempty"`
	// Late is what a kiosk has said last after the rollout was stopped. It counts for nothing.
	Late wire.DeployStatus `json:"late,omitempty"`
}

// Part is a rollout as one kiosk sees it.
type Part struct {
	ID      string
	Release Release
	Back    bool
	Whole   bool // kiosks that come later are in it
	State   State
	Member  *Member // nil where the kiosk is in none of its groups
}

// shows tells whether a report says that visitors see the release.
func shows(d wire.Deploy, r Release) bool {
	return (d.Status == wire.DeploySuccess || d.Status == wire.DeployAlreadyInstalled) && d.ReleaseID == r.ID && d.Shown == r.ID
}

// failed tells whether a report says that the kiosk has given up. A line that broke is no reason to: it tries again.
func failed(d wire.Deploy) bool {
	return d.Status == wire.DeployRejected || d.Status == wire.DeployFailure && d.Code != "download"
}

// About finds the rollout that a report is about among those of the kiosk, the newest first; nil where there is none. A
// kiosk that names no rollout, because it found the release elsewhere, is taken at the release's name.
func About(parts []Part, d wire.Deploy) *Part {
	i := slices.IndexFunc(parts, func(p Part) bool {
		return p.Member != nil && (p.ID == d.Deployment || d.Deployment == "" && p.Release.ID == d.ReleaseID)
	})
	if i < 0 {
		return nil
	}
	return &parts[i]
}

// Report is what becomes of a kiosk's place in a rollout by what it says; false where nothing changes.
func (p Part) Report(d wire.Deploy, now time.Time) (Member, bool) {
	m := *p.Member
	if m.BegunAt.IsZero() && (m.State != Held || shows(d, p.Release)) {
		m.BegunAt = now
	}
	switch {
	case m.State == Aborted || p.State == Stopped:
		m.Late = d.Status
	case shows(d, p.Release):
		m.end(Success, d, now)
	case m.State == Held || m.State == Success && d.TS.Before(m.SaidAt): // not its turn; a report from before
	case failed(d):
		state := Failure
		if d.Status == wire.DeployRejected {
			state = Rejected
		}
		m.end(state, d, now)
	}
	return m, m != *p.Member
}

// end notes how it went, once.
func (m *Member) end(s Progress, d wire.Deploy, now time.Time) {
	if m.State == s && m.Code == d.Code {
		return
	}
	m.State, m.Code, m.Detail, m.EndedAt, m.SaidAt = s, d.Code, d.Detail, now, d.TS.UTC().Round(0)
}

// Unheard tells whether the kiosk has been told something that it has not answered yet.
func (m Member) Unheard() bool { return m.State == Going && m.BegunAt.IsZero() || m.unheard() }

// unheard tells whether a stop has still to be told to a kiosk that was at it.
func (m Member) unheard() bool {
	if m.State != Aborted || m.BegunAt.IsZero() {
		return false
	}
	switch m.Late {
	case wire.DeployAborted, wire.DeployFailure, wire.DeployRejected, wire.DeploySuccess, wire.DeployAlreadyInstalled:
		return false
	}
	return true
}

// Wanted is what a kiosk shall show by the rollouts it knows of, the newest first: the newest that has reached it and was
// not stopped before. Without any, what it shows stays.
func Wanted(parts []Part) wire.Desired {
	for _, p := range parts {
		d := wire.Desired{Deployment: p.ID, ReleaseID: p.Release.ID, Number: p.Release.Number, Back: p.Back}
		m := p.Member
		switch {
		case m == nil:
			if p.State == Finished && p.Whole {
				return d
			}
		case m.unheard():
			d.Back, d.Abort = false, true
			return d
		case p.State == Stopped:
			if m.State == Success || m.Late == wire.DeploySuccess || m.Late == wire.DeployAlreadyInstalled {
				return d // it shows the release, and stays with it
			}
		case m.State == Held: // its turn has not come
		case p.State == Paused && m.BegunAt.IsZero(): // held back
		default:
			return d
		}
	}
	return wire.Desired{}
}
