package camera

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"testing"
	"testing/synctest"
	"time"

	"gocv.io/x/gocv"
)

// script is a source that gives the frames that next describes, one every 100 ms.
type script struct {
	next   func(n int) (grey int, blur float64, err error) // of the n-th frame, from 0
	n      int
	closed *int
	stuck  <-chan struct{} // where set, a read beyond the script waits for it, as OpenCV does
}

func (s *script) Read(ctx context.Context, dst *gocv.Mat) error {
	if err := sleep(ctx, 100*time.Millisecond); err != nil {
		return err
	}
	grey, blur, err := s.next(s.n)
	s.n++
	if errors.Is(err, errStuck) {
		<-s.stuck
		return errNoFrame
	}
	if err != nil {
		return err
	}
	board(dst, grey, blur)
	return nil
}

func (s *script) Close() error {
	*s.closed++
	return nil
}

var errStuck = errors.New("stuck")

// board draws a chequered board whose light squares have the value grey.
func board(dst *gocv.Mat, grey int, blur float64) {
	img := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(float64(grey)/2, float64(grey)/2, float64(grey)/2, 0), 120, 160, gocv.MatTypeCV8UC3)
	defer img.Close()
	for y := 0; y < 120; y += 20 {
		for x := y % 40; x < 160; x += 40 {
			square := img.Region(image.Rect(x, y, x+20, y+20))
			square.SetTo(gocv.NewScalar(float64(grey), float64(grey), float64(grey), 0))
			square.Close()
		}
	}
	if blur > 0 {
		gocv.GaussianBlur(img, &img, image.Point{}, blur, blur, gocv.BorderDefault)
	}
	img.CopyTo(dst)
}

func steady(int) (int, float64, error) { return 200, 0, nil }

// start starts a camera over sources made one after the other by next. It returns the camera and how many were
// opened and closed.
func start(t *testing.T, open func(n int) (Source, error)) *Camera {
	t.Helper()
	n := 0
	c := Start(Options{
		Open: func() (Source, error) {
			n++
			return open(n - 1)
		},
		Random: func() float64 { return 1 },
	})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close camera: %v", err)
		}
	})
	return c
}

func wantState(t *testing.T, c *Camera, want State) {
	t.Helper()
	if got := c.State(); got != want {
		t.Fatalf("state %s, want %s", got, want)
	}
}

func TestCameraDropsFramesUntilBrightnessIsStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		src := &script{closed: &closes, next: func(n int) (int, float64, error) { return min(60+20*n, 200), 0, nil }}
		c := start(t, func(int) (Source, error) { return src, nil })
		time.Sleep(750 * time.Millisecond) // frame 7 is the first of 200, three calm ones follow
		wantState(t, c, StateInit)
		if _, err := c.Latest(); !errors.Is(err, ErrNotReady) {
			t.Errorf("latest: %v, want %v", err, ErrNotReady)
		}
		time.Sleep(600 * time.Millisecond)
		wantState(t, c, StateReady)
		p, err := c.Latest()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if p.TakenAt.IsZero() || p.Size() != image.Pt(160, 120) {
			t.Errorf("photo of %v taken at %v", p.Size(), p.TakenAt)
		}
	})
}

func TestCameraThatNeverSettlesIsReadyAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		src := &script{closed: &closes, next: func(n int) (int, float64, error) { return 60 + 100*(n%2), 0, nil }}
		c := start(t, func(int) (Source, error) { return src, nil })
		time.Sleep((settleFrames + 2) * 100 * time.Millisecond)
		wantState(t, c, StateReady)
	})
}

func TestBurstReturnsTheSharpest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		src := &script{closed: &closes, next: func(n int) (int, float64, error) {
			if n == 12 {
				return 200, 0, nil
			}
			return 200, 3, nil
		}}
		c := start(t, func(int) (Source, error) { return src, nil })
		time.Sleep(1050 * time.Millisecond) // ten frames
		blurred, err := c.Burst(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer blurred.Close()
		sharp, err := c.Burst(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		defer sharp.Close()
		if sharp.Sharpness < 4*blurred.Sharpness {
			t.Errorf("sharpness %.0f, want the frame in focus and not the one of %.0f", sharp.Sharpness, blurred.Sharpness)
		}
	})
}

func TestBurstEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		c := start(t, func(int) (Source, error) { return &script{closed: &closes, next: steady}, nil })
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		if _, err := c.Burst(ctx, 10); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestCameraComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		unplugged := errors.New("unplugged")
		c := start(t, func(n int) (Source, error) {
			switch n {
			case 0: // works for two seconds
				return &script{closed: &closes, next: func(n int) (int, float64, error) {
					if n == 20 {
						return 0, 0, unplugged
					}
					return 200, 0, nil
				}}, nil
			case 1, 2, 3:
				return nil, unplugged
			default:
				return &script{closed: &closes, next: steady}, nil
			}
		})
		time.Sleep(1500 * time.Millisecond)
		wantState(t, c, StateReady)
		view, err := c.Preview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(700 * time.Millisecond)
		wantState(t, c, StateAlert)
		for range view { // one frame may be waiting; then the channel must end
		}
		if _, err := c.Burst(t.Context(), 3); !errors.Is(err, ErrNotReady) {
			t.Errorf("burst of a lost camera: %v, want %v", err, ErrNotReady)
		}
		if _, err := c.Preview(t.Context()); !errors.Is(err, ErrNotReady) {
			t.Errorf("preview of a lost camera: %v, want %v", err, ErrNotReady)
		}
		if closes != 1 {
			t.Errorf("the failed source was closed %d times", closes)
		}
		// Waits of 0.5, 1, 2 and 4 s, then a second to settle.
		time.Sleep(7 * time.Second)
		wantState(t, c, StateAlert)
		time.Sleep(1500 * time.Millisecond)
		wantState(t, c, StateReady)
	})
}

func TestSilentCameraIsInAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		released := make(chan struct{})
		c := start(t, func(int) (Source, error) {
			return &script{closed: &closes, stuck: released, next: func(n int) (int, float64, error) {
				if n == 10 {
					return 0, 0, errStuck
				}
				return 200, 0, nil
			}}, nil
		})
		time.Sleep(2 * time.Second)
		wantState(t, c, StateReady)
		if _, err := c.Burst(t.Context(), 3); !errors.Is(err, ErrNotReady) {
			t.Errorf("burst: %v, want %v", err, ErrNotReady)
		}
		wantState(t, c, StateAlert)
		close(released)
	})
}

func TestCloseWaitsForTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		c := start(t, func(int) (Source, error) { return &script{closed: &closes, next: steady}, nil })
		time.Sleep(time.Second)
		view, err := c.Preview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if closes != 1 {
			t.Errorf("source closed %d times when Close returned", closes)
		}
		for range view {
		}
		if _, err := c.Burst(t.Context(), 1); !errors.Is(err, ErrClosed) {
			t.Errorf("burst of a closed camera: %v", err)
		}
		if _, err := c.Latest(); !errors.Is(err, ErrClosed) {
			t.Errorf("latest of a closed camera: %v", err)
		}
		if _, err := c.Preview(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("preview of a closed camera: %v", err)
		}
	})
}

func TestPreviewIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		src := &script{closed: &closes, next: steady}
		c := Start(Options{
			Open:    func() (Source, error) { return src, nil },
			Preview: PreviewOptions{MaxSide: 80, FrameRate: 4, Viewers: 2},
		})
		defer c.Close()
		time.Sleep(time.Second)
		ctx, leave := context.WithCancel(t.Context())
		quick, err := c.Preview(ctx)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := c.Preview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Preview(t.Context()); !errors.Is(err, ErrBusy) {
			t.Fatalf("third viewer: %v, want %v", err, ErrBusy)
		}
		frames := 0
		var last []byte
		for deadline := time.After(5 * time.Second); ; {
			select {
			case last = <-quick:
				frames++
				continue
			case <-deadline:
			}
			break
		}
		if frames < 10 || frames > 21 {
			t.Errorf("%d frames in 5 s, want at most 4 a second", frames)
		}
		img, err := jpeg.Decode(bytes.NewReader(last))
		if err != nil {
			t.Fatal(err)
		}
		if img.Bounds().Size() != image.Pt(80, 60) {
			t.Errorf("frame of %v", img.Bounds().Size())
		}
		leave()
		for range quick {
		}
		if len(slow) != 1 {
			t.Errorf("a viewer who took nothing has %d frames waiting, want 1", len(slow))
		}
		again, err := c.Preview(t.Context())
		if err != nil {
			t.Fatalf("after one left: %v", err)
		}
		if _, ok := <-again; !ok {
			t.Error("the new viewer got no frame")
		}
	})
}

func TestCameraRefusesStrangePixels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, func(int) (Source, error) { return floats{}, nil })
		time.Sleep(time.Second)
		wantState(t, c, StateAlert)
	})
}

// floats is a source of pixels that are neither BGR nor grey.
type floats struct{}

func (floats) Read(_ context.Context, dst *gocv.Mat) error {
	m := gocv.NewMatWithSize(10, 10, gocv.MatTypeCV32FC3)
	defer m.Close()
	m.CopyTo(dst)
	return nil
}

func (floats) Close() error { return nil }

func TestGreyCameraGivesBGR(t *testing.T) {
	dst := gocv.NewMat()
	defer func() { dst.Close() }()
	if err := readBGR(t.Context(), greys{}, &dst); err != nil {
		t.Fatal(err)
	}
	if dst.Type() != gocv.MatTypeCV8UC3 {
		t.Errorf("type %v", dst.Type())
	}
}

type greys struct{}

func (greys) Read(_ context.Context, dst *gocv.Mat) error {
	m := gocv.NewMatWithSize(10, 10, gocv.MatTypeCV8UC1)
	defer m.Close()
	m.CopyTo(dst)
	return nil
}

func (greys) Close() error { return nil }
