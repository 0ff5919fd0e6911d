package outbox

import (
	"context"
	"testing"

	"docent/sync/wire"
)

// TestReports: reports of losses are to be had ahead of what waits before them, over restarts, until they are acknowledged.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 50)
	old := o.State().StreamID
	reports := func(want int) []Pending {
		t.Helper()
		got, err := o.Reports(10)
		if err != nil || len(got) != want {
			t.Fatalf("%d reports, want %d; %v", len(got), want, err)
		}
		for _, p := range got {
			if len(toldBy(t, p)) != 1 {
				t.Errorf("%s is no report", p.Event)
			}
		}
		return got
	}
	reports(0)
	if err := deleteEvents(o, 20, 21, 50); err != nil {
		t.Fatal(err)
	}
	closeNow(t, o)
	o = open(t, dir)
	told := reports(2)
	if told[0].Seq != 1 || told[1].Seq != 2 || told[0].StreamID == old {
		t.Errorf("reports are %+v", told)
	}
	// What only looks like a report does no harm.
	if _, err := o.Append(context.Background(), "exhibit.seen", map[string]string{"type": LostType}); err != nil {
		t.Fatal(err)
	}
	if one, err := o.Reports(1); err != nil || len(one) != 1 {
		t.Errorf("%d of one, %v", len(one), err)
	}
	closeNow(t, o)
	o = open(t, dir)
	if got, err := o.Reports(10); err != nil || len(got) < 2 || got[0].Seq != 1 || got[1].Seq != 2 {
		t.Errorf("after a restart: %+v, %v", got, err)
	}
	if _, err := o.Ack(wire.Ack{StreamID: told[0].StreamID, AckedSeq: 1}); err != nil {
		t.Fatal(err)
	}
	if got, err := o.Reports(10); err != nil || len(got) == 0 || got[0].Seq != 2 {
		t.Errorf("after the first was acknowledged: %+v, %v", got, err)
	}
	if _, err := o.Ack(wire.Ack{StreamID: told[0].StreamID, AckedSeq: 3}); err != nil {
		t.Fatal(err)
	}
	reports(0)
}
