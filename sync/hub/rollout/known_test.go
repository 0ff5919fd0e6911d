package rollout_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

func TestUnknownAndAlike(t *testing.T) {
	known := []wire.Address{{Site: "louvre", Kiosk: "hall-1"}, {Site: "louvre", Kiosk: "k1"}, {Site: "orsay", Kiosk: "k9"}, {Site: "louvre", Kiosk: "k19"}}
	plan := rollout.Plan{Groups: []rollout.Group{
		{Name: "canary", Kiosks: []rollout.Kiosk{{Site: "louvre", Kiosk: "k1"}, {Site: "louvre", Kiosk: "k9"}}},
		{Name: "all", Rest: true},
	}}
	k9 := wire.Address{Site: "louvre", Kiosk: "k9"}
	if diff := cmp.Diff(plan.Unknown(known), []wire.Address{k9}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(rollout.Alike(k9, known, 2), []wire.Address{{Site: "louvre", Kiosk: "k1"}, {Site: "louvre", Kiosk: "k19"}}); diff != "" {
		t.Error(diff)
	}
	if got := rollout.Alike(k9, nil, 2); got != nil {
		t.Errorf("of none: %v", got)
	}
	if got := rollout.Everybody().Unknown(nil); got != nil {
		t.Errorf("of everybody: %v", got)
	}
}

// TestStateErrorSaysItOnce: what cannot be done is said in one sentence.
func TestStateErrorSaysItOnce(t *testing.T) {
	for state, want := range map[rollout.State]string{
		rollout.Finished: "r1 is finished; there is nothing to approve",
		rollout.Ready:    "r1 is waiting for its time; there is nothing to approve",
	} {
		r := rollout.Rollout{ID: "r1", State: state}
		if _, err := r.Approve("ann", time.Now()); !errors.Is(err, rollout.ErrState) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
