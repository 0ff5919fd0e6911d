package camera

import (
	"errors"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
)

// scenery is a large picture with something to see everywhere.
func scenery() gocv.Mat {
	img := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(90, 110, 130, 0), 720, 1400, gocv.MatTypeCV8UC3)
	random := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		v := uint8(random.IntN(230))
		gocv.Circle(&img, image.Pt(random.IntN(1400), random.IntN(720)), 20+random.IntN(70), color.RGBA{v, v, 255 - v, 0}, -1)
	}
	return img
}

// window is a photo of a part of the scenery, with light and noise of its own.
func window(scenery gocv.Mat, left int, light, noise float64) frame {
	part := scenery.Region(image.Rect(left, 0, left+1280, 720))
	defer part.Close()
	img := gocv.NewMat()
	part.ConvertToWithParams(&img, gocv.MatTypeCV8UC3, float32(light), 0)
	if noise > 0 {
		grain := gocv.NewMatWithSize(720, 1280, gocv.MatTypeCV16SC3)
		defer grain.Close()
		rng := gocv.TheRNG()
		rng.Fill(&grain, gocv.RNGDistNormal, 0, noise, true)
		wide := gocv.NewMat()
		defer wide.Close()
		img.ConvertTo(&wide, gocv.MatTypeCV16SC3)
		gocv.Add(wide, grain, &wide)
		wide.ConvertTo(&img, gocv.MatTypeCV8UC3)
	}
	return frame{bgr: img, at: time.Now()}
}

func TestMotion(t *testing.T) {
	all := scenery()
	defer all.Close()
	see := func(left int, light, noise float64) thumb {
		f := window(all, left, light, noise)
		defer f.bgr.Close()
		return shrunk(f.bgr)
	}
	before := see(20, 1, 8)
	for name, c := range map[string]struct {
		now   thumb
		moved bool
	}{
		"noise":             {see(20, 1, 8), false},
		"much noise":        {see(20, 1, 14), false},
		"a lamp goes on":    {see(20, 1.1, 8), false},
		"it gets darker":    {see(20, .8, 8), false},
		"a breath":          {see(20+5, 1, 8), false},
		"a hand's width":    {see(20+45, 1, 8), true},
		"another way round": {thumb{width: 36, height: 64, grey: make([]byte, 36*64)}, true},
	} {
		if got := motion(before, c.now); got > motionLimit != c.moved {
			t.Errorf("%s: motion %.2f", name, got)
		}
	}
	if m := motion(see(0, 0, 0), see(0, 0, 0)); m != 0 || math.IsNaN(m) {
		t.Errorf("darkness moves by %v", m)
	}
}

func TestStillness(t *testing.T) {
	all := scenery()
	defer all.Close()
	synctest.Test(t, func(t *testing.T) {
		var s stillness
		left := 0
		at := func(step int) Quality {
			t.Helper()
			time.Sleep(qualityEvery)
			left += step
			q, err := s.measure(window(all, left, 1, 5))
			if err != nil {
				t.Fatal(err)
			}
			if q.Still != (q.Steady >= 1) {
				t.Errorf("%+v", q)
			}
			return q
		}
		if q := at(0); q.Steady != 0 || q.Sharpness < 10 || q.Advice != vision.AdviceNone {
			t.Errorf("the first: %+v", q)
		}
		for i := 1; i <= 3; i++ {
			if q := at(0); q.Still || math.Abs(q.Steady-float64(i)*.2/.7) > .01 {
				t.Errorf("step %d: %+v", i, q)
			}
		}
		if q := at(0); !q.Still {
			t.Errorf("after 0.8 s: %+v", q)
		}
		if q := at(45); q.Steady != 0 {
			t.Errorf("moved: %+v", q)
		}
		for range 5 { // too slow to be seen from one to the next
			if q := at(9); q.Still {
				t.Errorf("drifts: %+v", q)
			}
		}
		for range 4 {
			at(0)
		}
		if q := at(0); !q.Still {
			t.Errorf("stands again: %+v", q)
		}
		time.Sleep(2 * HoldFor)
		if q := at(0); q.Steady != 0 {
			t.Errorf("after a gap nobody looked at: %+v", q)
		}
	})
}

func TestQualityForItsViewers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes, n := 0, 0
		unplug := false
		c := start(t, func(int) (Source, error) {
			return &script{closed: &closes, next: func(int) (int, float64, error) {
				if n++; unplug {
					return 0, 0, errNoFrame
				}
				return 200, 0, nil
			}}, nil
		})
		if _, err := c.Quality(t.Context()); !errors.Is(err, ErrNotReady) {
			t.Errorf("before it is ready: %v", err)
		}
		time.Sleep(time.Second)
		seen, err := c.Quality(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		count, still := 0, false
		for end := time.After(3 * time.Second); count >= 0; {
			select {
			case q := <-seen:
				count++
				still = q.Still
				continue
			case <-end:
			}
			break
		}
		if count < 8 || count > 15 || !still {
			t.Errorf("%d measurements in 3 s, at last still: %v", count, still)
		}
		unplug = true
		for range seen { // it must end
		}
		if _, err := c.Quality(t.Context()); !errors.Is(err, ErrNotReady) {
			t.Errorf("of a lost camera: %v", err)
		}
	})
}
