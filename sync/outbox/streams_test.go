package outbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/sync/wire"
)

func TestStoreThatIsAnOlderCopy(t *testing.T) {
	dir, older := filepath.Join(t.TempDir(), "now"), filepath.Join(t.TempDir(), "older")
	o := open(t, dir)
	fill(t, o, 20)
	if _, err := o.Ack(ack(o, 10)); err != nil {
		t.Fatal(err)
	}
	closeNow(t, o)
	if err := os.CopyFS(older, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}

	// The device goes on and the hub has everything.
	o = open(t, dir)
	fill(t, o, 10)
	events := pending(t, o)
	hub := ack(o, 30)
	hub.AckedHash = wire.Hash(events[len(events)-1].Event)
	closeNow(t, o)

	tests := []struct {
		name   string
		extra  int // events recorded by the older copy before it hears of the hub
		moved  int
		before []string
	}{
		{"the hub is ahead of it", 2, 12, nil},
		{"it has other events under the hub's numbers", 15, 25, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(older)); err != nil {
				t.Fatal(err)
			}
			o := open(t, dir)
			fill(t, o, tt.extra)
			var ids []string
			for _, p := range pending(t, o) {
				e, err := wire.DecodeEvent(p.Event)
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, e.EventID)
			}
			if _, err := o.Ack(hub); !errors.Is(err, ErrRenumbered) {
				t.Fatalf("ack: %v", err)
			}
			events := pending(t, o)
			checkChain(t, events)
			var after []string
			for _, p := range events {
				e, err := wire.DecodeEvent(p.Event)
				if err != nil {
					t.Fatal(err)
				}
				if e.StreamID == hub.StreamID {
					t.Errorf("event %d kept its old stream", e.Seq)
				}
				after = append(after, e.EventID)
			}
			if diff := cmp.Diff(ids, after); diff != "" {
				t.Errorf("events (-before +after):\n%s", diff)
			}
			s := o.State()
			if len(after) != tt.moved || s.LastSeq != uint64(tt.moved) || s.Depth != uint64(tt.moved) || s.Degraded == "" {
				t.Errorf("%d events, state %+v", len(after), s)
			}
			if _, err := o.Ack(hub); !errors.Is(err, ErrUnknownStream) {
				t.Errorf("the old stream is still there: %v", err)
			}
			closeNow(t, o)
			o = open(t, dir)
			if s := o.State(); s.Degraded != "" || s.Depth != uint64(tt.moved) || s.LastSeq != uint64(tt.moved) {
				t.Errorf("after a restart: %+v", s)
			}
		})
	}
}

func TestMatchingHashIsNoOlderCopy(t *testing.T) {
	o := open(t, t.TempDir())
	fill(t, o, 5)
	events := pending(t, o)
	a := ack(o, 3)
	a.AckedHash = wire.Hash(events[2].Event)
	if freed, err := o.Ack(a); err != nil || freed != 3 {
		t.Errorf("freed %d, %v", freed, err)
	}
}

func TestNumbersAnewOfManyEventsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	const n = 3*maxMove + 7
	fill(t, o, n)
	// What a process that died half-way leaves behind: the stream is marked, some events have moved.
	tx := o.begin()
	if err := tx.compare(0, ack(o, n+1)); err != nil {
		t.Fatal(err)
	}
	if more, err := tx.renumber(0); err != nil || !more {
		t.Fatal(more, err)
	}
	if err := tx.commit(); err != nil {
		t.Fatal(err)
	}
	closeNow(t, o)
	o = open(t, dir)
	events := pending(t, o)
	checkChain(t, events)
	if s := o.State(); len(events) != n || s.LastSeq != n || s.Depth != n || len(o.streams) != 1 {
		t.Errorf("%d events of %d, %d streams, state %+v", len(events), n, len(o.streams), s)
	}
}

func TestKioskWithANewNameTakesItsEventsAlong(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 7)
	if _, err := o.Ack(ack(o, 3)); err != nil {
		t.Fatal(err)
	}
	old := o.State().StreamID
	closeNow(t, o)
	o = open(t, dir, func(opt *Options) { opt.Kiosk = "entrance" })
	events := pending(t, o)
	checkChain(t, events)
	for _, p := range events {
		e, err := wire.DecodeEvent(p.Event)
		if err != nil || e.KioskID != "entrance" || e.StreamID == old {
			t.Errorf("event %+v, %v", e, err)
		}
	}
	if s := o.State(); len(events) != 4 || s.LastSeq != 4 || s.Degraded != "" || len(s.Losses) > 0 {
		t.Errorf("%d events, state %+v", len(events), s)
	}
	next := o.State().StreamID
	closeNow(t, o)
	if s := open(t, dir, func(opt *Options) { opt.Kiosk = "entrance" }).State(); s.StreamID != next || s.Depth != 4 {
		t.Errorf("after another restart: %+v", s)
	}
}
