package kiosk

import (
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	w := newWindow(3, time.Minute)
	for i, tt := range []struct {
		after time.Duration // the one before
		wait  time.Duration // 0: allowed
	}{
		{0, 0}, {10 * time.Second, 0}, {10 * time.Second, 0},
		{10 * time.Second, 30 * time.Second},
		{29 * time.Second, time.Second},
		{time.Second, 0},
		{0, 10 * time.Second},
		{10 * time.Second, 0},
		{time.Second, 9 * time.Second},
		{-time.Hour, 0}, // the clock was set back
	} {
		now = now.Add(tt.after)
		if wait, ok := w.allow(now); ok != (tt.wait == 0) || wait != tt.wait {
			t.Errorf("%d: %v, %v; want %v", i, wait, ok, tt.wait)
		}
	}
}

// TestWindowSlides asks at random, and looks at every span of a minute.
func TestWindowSlides(t *testing.T) {
	const most = 20
	w, now := newWindow(most, time.Minute), time.Unix(1_800_000_000, 0)
	var allowed []time.Time
	for i := range 5000 {
		now = now.Add(time.Duration(i*i%4001) * time.Millisecond)
		if _, ok := w.allow(now); ok {
			allowed = append(allowed, now)
		}
	}
	if len(allowed) < 1000 {
		t.Fatalf("%d allowed", len(allowed))
	}
	for i := most; i < len(allowed); i++ {
		if span := allowed[i].Sub(allowed[i-most]); span < time.Minute {
			t.Fatalf("%d questions within %v", most+1, span)
		}
	}
}
