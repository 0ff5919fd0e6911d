package visit

import (
	"errors"
	"testing"
	"time"
)

// TestClockJumpsOverARestart: a kiosk without a clock of its own starts with the wrong time and is set right later. A
// visit that was open stays usable or is gone, and none stays on the disk for years.
func TestClockJumpsOverARestart(t *testing.T) {
	const years = 10 * 365 * 24 * time.Hour
	for name, jump := range map[string]time.Duration{"ten years back": -years, "ten years on": years, "an hour back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			dir, c := t.TempDir(), newClock()
			o := Options{Now: c.Now, TTL: 10 * time.Minute}
			s := open(t, dir, o)
			v := start(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c.pass(jump)
			s = open(t, dir, o)
			if _, err := s.Get(v.ID); (err == nil) != (jump < 0) || err != nil && !errors.Is(err, ErrNone) {
				t.Errorf("after the restart: %v", err)
			}
			second := start(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c.pass(-jump) // set right
			s = open(t, dir, o)
			if _, err := s.Get(second.ID); (err == nil) != (jump > 0) {
				t.Errorf("a visit begun under the wrong time: %v", err)
			}
			c.pass(o.TTL + time.Second)
			s.Expire()
			if s.Len() != 0 {
				t.Errorf("%d visits are still there after their time", s.Len())
			}
		})
	}
}
