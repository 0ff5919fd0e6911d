package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"docent/sync/wire"
)

// small bounds an outbox to the least.
func small(policy OnFull) func(*Options) {
	return func(o *Options) { o.MaxBytes, o.OnFull = MinMaxBytes, policy }
}

// big is data of about 8 KiB.
func big(n int) map[string]any { return map[string]any{"n": n, "text": strings.Repeat("x", 8<<10)} }

func TestFullOutboxRefuses(t *testing.T) {
	o := open(t, t.TempDir(), small(RejectNew))
	defer closeNow(t, o)
	n := 0
	for {
		_, err := o.Append(t.Context(), "exhibit.seen", big(n))
		if errors.Is(err, ErrFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n++; n > 200 {
			t.Fatal("never full")
		}
	}
	if st := o.State(); n < 100 || st.HeldBytes > MinMaxBytes || st.Depth != uint64(n) || st.Dropped != 0 {
		t.Errorf("full after %d events: %+v", n, st)
	}
	if _, err := o.Ack(ack(o, 50)); err != nil {
		t.Fatal(err)
	}
	if seq, err := o.Append(t.Context(), "exhibit.seen", big(n)); err != nil || seq != uint64(n+1) {
		t.Errorf("after room was made: %d, %v", seq, err)
	}
}

// TestFullOutboxDropsTheOldest runs over the bound many times, with a restart between: what is pending and what is
// told as lost are all numbers, each stream's told range reaches back to the first number that was dropped.
func TestFullOutboxDropsTheOldest(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir, small(DropOldest))
	const total = 1000
	for i := range total {
		if i == 600 {
			closeNow(t, o)
			o = open(t, dir, small(DropOldest))
			if st := o.State(); st.Degraded != "" || len(st.Losses) > 0 {
				t.Fatalf("opened again: %+v", st)
			}
		}
		if _, err := o.Append(t.Context(), "exhibit.seen", big(i)); err != nil {
			t.Fatal(err)
		}
	}
	defer closeNow(t, o)
	st := o.State()
	if st.HeldBytes > MinMaxBytes || st.Dropped < 200 || st.AckedSeq != 0 {
		t.Errorf("%+v", st)
	}
	events := pending(t, o)
	var widest Loss
	tombstones := uint64(0)
	for _, p := range events {
		e, err := wire.DecodeEvent(p.Event)
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != LostType {
			continue
		}
		tombstones++
		var l Loss
		if err := json.Unmarshal(e.Data, &l); err != nil || l.From != 1 || l.Reason != reasonFull {
			t.Errorf("told %s, %v", e.Data, err)
		}
		if l.To > widest.To {
			widest = l
		}
	}
	if widest.To+1 != events[0].Seq || events[len(events)-1].Seq != st.LastSeq {
		t.Errorf("told as lost up to %d, held from %d to %d of %d", widest.To, events[0].Seq, events[len(events)-1].Seq, st.LastSeq)
	}
	// The hub has read it all: the stream is complete up to the last number.
	if _, err := o.Ack(ack(o, st.LastSeq)); err != nil {
		t.Fatal(err)
	}
	if st := o.State(); st.Depth != 0 || st.AckedSeq != st.LastSeq {
		t.Errorf("after the acknowledgement: %+v", st)
	}
}

// TestDroppedReportsAreToldAgain lets an event that told of a loss in another stream make room itself.
func TestDroppedReportsAreToldAgain(t *testing.T) {
	o := open(t, t.TempDir(), small(DropOldest))
	defer closeNow(t, o)
	old := Loss{StreamID: "0192f0c1-2345-7abc-8def-0123456789ab", From: 3, To: 9, Reason: "the store is gone"}
	if _, err := o.Append(t.Context(), LostType, old); err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		if _, err := o.Append(t.Context(), "exhibit.seen", big(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range pending(t, o) {
		for _, l := range toldBy(t, p) {
			if l == old {
				return
			}
		}
	}
	t.Error("the report of a loss is lost itself")
}

func TestOptionsOfTheBound(t *testing.T) {
	for _, opt := range []Options{{Kiosk: "k", MaxBytes: 1}, {Kiosk: "k", OnFull: "forget"}} {
		if o, err := Open(t.TempDir(), opt); err == nil {
			closeNow(t, o)
			t.Errorf("opened with %+v", opt)
		}
	}
}

func TestSetAside(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 10)
	stream := o.State().StreamID
	for _, seq := range []uint64{4, 5, 10, 5, 99} { // twice, and one that is not there
		if err := o.SetAside(t.Context(), stream, seq, "refused, attempt 3"); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.SetAside(t.Context(), "0192f0c1-2345-7abc-8def-0123456789ab", 1, "other stream"); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		letters, err := o.DeadLetters()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range letters {
			e, err := wire.DecodeEvent(l.Event)
			if err != nil || e.Seq != l.Seq || l.StreamID != stream || l.Reason != "refused, attempt 3" {
				t.Errorf("%s: letter %+v, %v", when, l, err)
			}
			got = append(got, fmt.Sprint(l.Seq))
		}
		if strings.Join(got, " ") != "4 5 10" {
			t.Errorf("%s: letters %v", when, got)
		}
		if st := o.State(); st.SetAside != 3 || st.Depth != 10-3+3 || st.Degraded != "" || st.StreamID != stream {
			t.Errorf("%s: %+v", when, st)
		}
		var told []uint64
		for _, p := range pending(t, o) {
			for _, l := range toldBy(t, p) {
				told = append(told, l.From)
			}
		}
		if fmt.Sprint(told) != "[4 5 10]" {
			t.Errorf("%s: told %v", when, told)
		}
	}
	check("at first")
	closeNow(t, o)
	o = open(t, dir)
	check("opened again")
	if _, err := o.Ack(ack(o, 13)); err != nil {
		t.Fatal(err)
	}
	if st := o.State(); st.Depth != 0 || st.SetAside != 3 {
		t.Errorf("acknowledged: %+v", st)
	}
	closeNow(t, o)
}

func TestDeadLettersAreBounded(t *testing.T) {
	o := open(t, t.TempDir())
	defer closeNow(t, o)
	n := maxLetters + 20
	fill(t, o, n)
	stream := o.State().StreamID
	for seq := range n {
		if err := o.SetAside(context.Background(), stream, uint64(seq+1), "refused"); err != nil {
			t.Fatal(err)
		}
	}
	letters, err := o.DeadLetters()
	if err != nil || len(letters) != maxLetters || letters[0].Seq != 21 || o.State().SetAside != maxLetters {
		t.Errorf("%d letters, state %+v, %v", len(letters), o.State(), err)
	}
}
