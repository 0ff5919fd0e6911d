package update

import (
	"time"

	"docent/sync/wire"
)

// State is how far the last deployment came. It is written before each step is taken.
type State struct {
	wire.Deploy
	Previous     string    `json:"previous"`                // folder shown before
	Before       string    `json:"before,omitempty"`        // Previous of what is shown, should it be shown again
	Back         bool      `json:"back,omitempty"`          // it is a step back to a lower number
	TakingBack   string    `json:"taking_back,omitempty"`   // why it is being taken back
	Attempts     int       `json:"attempts,omitempty"`      // starts of the program since the switch
	FailedNumber int       `json:"failed_number,omitempty"` // releases up to this number are not tried again
	FailedBack   string    `json:"failed_back,omitempty"`   // what failed last, not tried again when it is wished as a way back, see backKey
	HeldNumber   int       `json:"held_number,omitempty"`   // releases up to this number are shown on the hub's word only
	LatestTime   time.Time `json:"latest_time,omitzero"`    // the latest time known to have been, from signed content
}

// next is the state in which another deployment begins.
func (st State) next(d wire.Deploy) State {
	d.Status = wire.DeployPending
	return State{
		Deploy: d, Previous: st.Previous, FailedNumber: st.FailedNumber, FailedBack: st.FailedBack,
		HeldNumber: st.HeldNumber, LatestTime: st.LatestTime,
	}
}

// fail notes that the release does not do here. A kiosk that missed releases comes to the one that others go back to from
// below: that one is named as a step back is, too.
func (st *State) fail() {
	st.FailedBack = backKey(st.Deploy)
	if !st.Back {
		st.FailedNumber = max(st.FailedNumber, st.Number)
	}
}

// takenBack notes that the release is taken back.
func (st *State) takenBack(code string) {
	if code == "aborted" {
		st.Status = wire.DeployAborted
		st.hold(code)
		return
	}
	st.Status = wire.DeployFailure
	st.fail()
}

// hold notes that an aborted release is not taken from whoever publishes it without a wish.
func (st *State) hold(code string) {
	if code == "aborted" && !st.Back {
		st.HeldNumber = max(st.HeldNumber, st.Number)
	}
}

// backKey names a step back: one that failed may be tried for another rollout.
func backKey(d wire.Deploy) string { return d.Deployment + "/" + d.ReleaseID }

// ended tells whether a deployment is over.
func ended(s wire.DeployStatus) bool {
	switch s {
	case "", wire.DeploySuccess, wire.DeployFailure, wire.DeployRejected, wire.DeployAlreadyInstalled, wire.DeployAborted:
		return true
	}
	return false
}

// activating tells whether a release is whole here and on its way to the visitors.
func activating(s wire.DeployStatus) bool {
	return s == wire.DeployVerifying || s == wire.DeployPauseBeforeInstall || onShow(s)
}

// onShow tells whether a release may be shown already, and is not kept yet.
func onShow(s wire.DeployStatus) bool {
	return s == wire.DeployInstalling || s == wire.DeployPauseBeforeCommit
}
