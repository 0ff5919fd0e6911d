package breaker

import (
	"testing"
	"time"
)

func TestBreaker(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := New(2, time.Minute, func() time.Time { return now })
	call := func(want, ok bool) {
		t.Helper()
		if got := b.Allow(); got != want {
			t.Fatalf("allowed: %v, want %v", got, want)
		}
		if want {
			b.Done(ok)
		}
	}
	call(true, false)
	call(true, true) // a success begins the count anew
	call(true, false)
	call(true, false)
	call(false, false) // open
	if !b.Open() {
		t.Error("it is not open")
	}
	now = now.Add(time.Minute)
	if !b.Allow() {
		t.Fatal("no probe after the pause")
	}
	if b.Allow() {
		t.Error("a second call beside the probe")
	}
	b.Done(false)
	call(false, false) // open again
	now = now.Add(time.Minute)
	if !b.Allow() {
		t.Fatal("no probe after the second pause")
	}
	b.Abandon()
	call(true, true) // the next probe, which closes it
	call(true, true)
	if b.Open() {
		t.Error("it is open after a success")
	}
}
