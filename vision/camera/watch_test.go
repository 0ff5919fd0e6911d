package camera

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gocv.io/x/gocv"
)

// sensor is a live source: ten frames a second of what scene says at that moment.
type sensor struct {
	scene func() (grey float64, noise, edges bool)
	n     float64
}

func (s *sensor) Frozen() time.Duration { return 2 * time.Second }
func (s *sensor) Close() error          { return nil }

func (s *sensor) Read(ctx context.Context, dst *gocv.Mat) error {
	if err := sleep(ctx, 100*time.Millisecond); err != nil {
		return err
	}
	grey, noise, edges := s.scene()
	if edges {
		board(dst, int(grey), 0)
	} else {
		plain := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(grey, grey, grey, 0), 120, 160, gocv.MatTypeCV8UC3)
		defer plain.Close()
		plain.CopyTo(dst)
	}
	if noise {
		s.n++
		dst.SetUCharAt(1, 1, uint8(int(s.n)%256))
	}
	return nil
}

// timeline starts a camera whose scene changes with time, and returns how often it was opened.
func timeline(t *testing.T, scene func(after time.Duration) (grey float64, noise, edges bool)) (c *Camera, opened func() int) {
	t.Helper()
	began := time.Now()
	c = start(t, func(int) (Source, error) {
		return &sensor{scene: func() (float64, bool, bool) { return scene(time.Since(began)) }}, nil
	})
	return c, func() int { return c.Health().Opened }
}

func TestFrozenCamera(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, opened := timeline(t, func(after time.Duration) (float64, bool, bool) {
			return 200, after < 5*time.Second || after > 10*time.Second, true
		})
		time.Sleep(4 * time.Second)
		wantState(t, c, StateReady)
		time.Sleep(3200 * time.Millisecond)
		wantState(t, c, StateAlert)
		if h := c.Health(); !strings.Contains(h.Trouble, "again and again") || time.Since(h.Since) > time.Second {
			t.Errorf("health %+v", h)
		}
		time.Sleep(10 * time.Second)
		wantState(t, c, StateReady)
		if n := opened(); n < 2 || n > 4 {
			t.Errorf("opened %d times", n)
		}
		if h := c.Health(); h.Trouble != "" {
			t.Errorf("health %+v", h)
		}
	})
}

// TestStillSceneIsNoFault is what a camera sees at night in a lit hall: nothing moves but noise.
func TestStillSceneIsNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, opened := timeline(t, func(time.Duration) (float64, bool, bool) { return 200, true, true })
		time.Sleep(time.Hour)
		wantState(t, c, StateReady)
		if opened() != 1 {
			t.Errorf("opened %d times", opened())
		}
	})
}

// TestNight turns the light off for eight hours: the camera says so, comes back with the light, and is opened again
// now and then in case that helps, but not all night long.
func TestNight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		night := func(after time.Duration) bool { return after > time.Minute && after < 8*time.Hour }
		c, opened := timeline(t, func(after time.Duration) (float64, bool, bool) {
			if night(after) {
				return 3, true, false
			}
			return 200, true, true
		})
		time.Sleep(time.Minute + 2*time.Second)
		wantState(t, c, StateReady)
		time.Sleep(3 * time.Second)
		wantState(t, c, StateAlert)
		if h := c.Health(); h.Trouble != "the picture is black" {
			t.Errorf("health %+v", h)
		}
		time.Sleep(7 * time.Hour)
		wantState(t, c, StateAlert)
		if n := opened(); n < 10 || n > 60 {
			t.Errorf("opened %d times in a night", n)
		}
		time.Sleep(time.Hour)
		wantState(t, c, StateReady)
	})
}

func TestLightComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, opened := timeline(t, func(after time.Duration) (float64, bool, bool) {
			return 200, true, after > 20*time.Second
		})
		time.Sleep(2 * time.Second)
		wantState(t, c, StateInit)
		time.Sleep(2 * time.Second)
		wantState(t, c, StateAlert)
		if h := c.Health(); h.Trouble != "the picture has one colour all over" {
			t.Errorf("health %+v", h)
		}
		time.Sleep(17 * time.Second)
		wantState(t, c, StateReady)
		if opened() != 1 {
			t.Errorf("opened %d times", opened())
		}
	})
}

func TestBlankness(t *testing.T) {
	noisy := func(mean, dev float64) gocv.Mat {
		m := gocv.NewMatWithSize(480, 640, gocv.MatTypeCV8UC3)
		rng := gocv.TheRNG()
		rng.Fill(&m, gocv.RNGDistNormal, mean, dev, true)
		return m
	}
	for name, c := range map[string]struct {
		mean, dev float64
		want      string
	}{
		"lens cap":           {1, 2, "the picture is black"},
		"nothing":            {0, 0, "the picture is black"},
		"dark hall":          {12, 9, ""},
		"dark and noisy":     {4, 8, ""},
		"test signal":        {100, 0, "the picture has one colour all over"},
		"wall":               {140, 3, ""},
		"lamp in the lens":   {255, 0, ""},
		"burnt out and even": {254, .3, ""},
	} {
		img := noisy(c.mean, c.dev)
		if got := blankness(img); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		img.Close()
	}
}

func TestBackoff(t *testing.T) {
	r := 1.0
	b := newBackoff(func() float64 { return r })
	for i, want := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, retryMost, retryMost} {
		if got := b.next(); got != want {
			t.Errorf("wait %d: %v, want %v", i, got, want)
		}
	}
	b.worked(provenAfter - 1)
	r = .25
	if got := b.next(); got != retryMost/4 {
		t.Errorf("a wait of a quarter: %v", got)
	}
	b.worked(provenAfter)
	r = 0
	if got := b.next(); got != 0 || b.bound != 2*retryFirst {
		t.Errorf("after it worked: %v, then at most %v", got, b.bound)
	}
}
