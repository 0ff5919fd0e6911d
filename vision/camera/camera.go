package camera

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
)

// State says how a camera is.
type State string

// The states. A camera starts in init, is ready once its brightness has settled, and is in alert while it cannot
// be opened, or gives no frames, always the same, or blank ones; from there it comes back by itself.
const (
	StateInit  State = "init"
	StateReady State = "ready"
	StateAlert State = "alert"
)

// Errors of asking a camera for something.
var (
	ErrNotReady = errors.New("camera not ready")
	ErrClosed   = errors.New("camera closed")
	ErrBusy     = errors.New("too many viewers of the camera")
)

const (
	// After opening, exposure and white balance of a camera run in for about a second. Frames are dropped until
	// brightness moves by at most settleChange (of 1) between settleCalm frames in a row, at most settleFrames.
	settleChange = 0.02
	settleCalm   = 3
	settleFrames = 40

	// silence is how long a ready camera may give no frame before it counts as gone, even where its source still
	// waits for one.
	silence = 4500 * time.Millisecond

	maxBurst = 10
)

// Options say what a camera is made of. Zero fields mean the defaults, except Open.
type Options struct {
	// Open opens the source, at the start and after each failure.
	Open    func() (Source, error)
	Preview PreviewOptions
	Now     func() time.Time // default time.Now
	Random  func() float64   // in [0, 1), for the waits between attempts to open; default that of math/rand/v2
	Logger  *slog.Logger     // default none
}

// Camera owns a [Source]. Its methods may be called from any goroutine.
type Camera struct {
	open   func() (Source, error)
	now    func() time.Time
	random func() float64
	log    *slog.Logger
	cancel context.CancelFunc
	ctx    context.Context // done when closing
	owners sync.WaitGroup

	look    PreviewOptions
	preview *audience[[]byte]
	quality *audience[Quality]

	mu      sync.Mutex
	state   State
	since   time.Time // since when it is in that state
	trouble string    // what is wrong, for technicians
	opened  int       // how often the source was opened or tried to
	last    gocv.Mat  // last frame, BGR; empty before the first
	seq     uint64    // number of the last frame, from 1; 0 before the first
	at      time.Time
	changed chan struct{} // closed at each new frame and each change of state
	source  Source        // while open, for Next
}

// Start starts a camera. It does not wait until it is ready.
func Start(o Options) *Camera {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	ctx, cancel := context.WithCancel(context.Background())
	look := o.Preview.withDefaults()
	c := &Camera{
		open: o.Open, now: o.Now, random: o.Random, log: o.Logger, ctx: ctx, cancel: cancel,
		look: look, preview: newAudience[[]byte](look.Viewers), quality: newAudience[Quality](look.Viewers),
		state: StateInit, since: o.Now(), last: gocv.NewMat(), changed: make(chan struct{}),
	}
	c.owners.Go(c.run)
	c.owners.Go(c.encode)
	c.owners.Go(c.measure)
	return c
}

// Close ends the camera and waits for its goroutines and its source. It takes as long as the source needs to end:
// seconds at most for those of an [Opener], and as long as OpenCV waits for a frame for those of [Open]. It may be
// called again.
func (c *Camera) Close() error {
	c.cancel()
	c.owners.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Close()
}

// State returns how the camera is now. A camera that was ready and has given no frame for 5 s is in alert.
func (c *Camera) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == StateReady && c.now().Sub(c.at) > silence {
		return StateAlert
	}
	return c.state
}

// Health is how a camera is, for technicians.
type Health struct {
	State   State
	Since   time.Time // since when it is in that state
	Trouble string    // what is wrong, in English; "" where nothing is
	Opened  int       // how often the source was opened, or tried to: 1 for a camera that never failed
}

// Health returns how the camera is now.
func (c *Camera) Health() Health {
	state := c.State()
	c.mu.Lock()
	defer c.mu.Unlock()
	h := Health{State: state, Since: c.since, Trouble: c.trouble, Opened: c.opened}
	if state == StateAlert && c.state == StateReady {
		h.Since, h.Trouble = c.at, errNoFrame.Error()
	}
	return h
}

// Next steps a source that can be stepped, such as a [Folder], and says whether it could.
func (c *Camera) Next() bool {
	c.mu.Lock()
	src := c.source
	c.mu.Unlock()
	s, ok := src.(interface{ Next() })
	if ok {
		s.Next()
	}
	return ok
}

// Latest returns the last frame as a photo, which the caller closes. The error is [ErrNotReady] or [ErrClosed].
func (c *Camera) Latest() (vision.Photo, error) {
	f, _, err := c.take(0)
	if err != nil {
		return vision.Photo{}, err
	}
	return f.photo()
}

// Burst waits for the next n frames, 1 to 10, and returns the sharpest of them, which the caller closes. It
// returns what it has where the camera fails on the way, and [ErrNotReady] or [ErrClosed] where it has nothing.
func (c *Camera) Burst(ctx context.Context, n int) (vision.Photo, error) {
	c.mu.Lock()
	seq := c.seq
	c.mu.Unlock()
	var best vision.Photo
	var err error
	got := 0
	for got < min(max(n, 1), maxBurst) {
		var f frame
		if f, err = c.next(ctx, seq); err != nil {
			break
		}
		seq = f.seq
		var photo vision.Photo
		if photo, err = f.photo(); err != nil {
			break
		}
		switch {
		case got == 0:
			best = photo
		case photo.Sharpness > best.Sharpness:
			best.Close()
			best = photo
		default:
			photo.Close()
		}
		got++
	}
	switch {
	case got > 0 && ctx.Err() == nil:
		return best, nil
	case got > 0:
		best.Close()
	}
	return vision.Photo{}, fmt.Errorf("take photo: %w", err)
}

// frame is a copy of one frame. Whoever has it closes its picture.
type frame struct {
	bgr gocv.Mat
	seq uint64
	at  time.Time
}

// photo makes a photo of f, which it takes over. Frames larger than a decoded photo may be are scaled down.
func (f frame) photo() (vision.Photo, error) {
	if long := max(f.bgr.Cols(), f.bgr.Rows()); long > vision.MaxSide {
		scaleTo(&f.bgr, vision.MaxSide)
	}
	return vision.NewPhoto(f.bgr, f.at)
}

// scaleTo scales img down in place to a long side of side.
func scaleTo(img *gocv.Mat, side int) {
	by := float64(side) / float64(max(img.Cols(), img.Rows()))
	size := image.Pt(max(1, int(math.Round(float64(img.Cols())*by))), max(1, int(math.Round(float64(img.Rows())*by))))
	small := gocv.NewMat()
	gocv.Resize(*img, &small, size, 0, 0, gocv.InterpolationArea)
	img.Close()
	*img = small
}

// take returns a copy of the last frame where it is newer than after, else a zero frame (seq 0) and what to wait
// for.
func (c *Camera) take(after uint64) (frame, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return frame{}, nil, ErrClosed
	case c.state != StateReady:
		return frame{}, nil, ErrNotReady
	case c.seq <= after:
		return frame{}, c.changed, nil
	}
	return frame{bgr: c.last.Clone(), seq: c.seq, at: c.at}, nil, nil
}

// next waits for a frame after seq. A camera that stays silent counts as not ready.
func (c *Camera) next(ctx context.Context, seq uint64) (frame, error) {
	for {
		f, changed, err := c.take(seq)
		if err != nil || f.seq != 0 {
			return f, err
		}
		if err := c.await(ctx, changed); err != nil {
			return frame{}, err
		}
	}
}

func (c *Camera) await(ctx context.Context, changed <-chan struct{}) error {
	t := time.NewTimer(silence)
	defer t.Stop()
	select {
	case <-changed:
		return nil
	case <-c.ctx.Done():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return ErrNotReady
	}
}
