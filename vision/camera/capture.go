package camera

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"gocv.io/x/gocv"
)

var errNoFrame = errors.New("no frame came")

// capture is a camera or stream, read through OpenCV. Read waits inside OpenCV and cannot be interrupted: at most
// 10 s for a V4L2 camera and 30 s for a stream by OpenCV 4.6's own time-outs, and for ever in some drivers.
type capture struct {
	name string
	vc   *gocv.VideoCapture
}

// openDevice opens a V4L2 camera. MJPEG is asked for because most USB cameras deliver more than 5 frames per
// second of raw pixels only at small sizes; the buffer of one frame keeps the picture from lagging behind.
func openDevice(spec string, s Settings) (Source, error) {
	var target any = spec
	if n, err := strconv.Atoi(spec); err == nil {
		target = n
	}
	vc, err := gocv.OpenVideoCaptureWithAPI(target, gocv.VideoCaptureV4L2)
	if err != nil {
		vc.Close()
		return nil, fmt.Errorf("open camera %s: %w", spec, err)
	}
	vc.Set(gocv.VideoCaptureFOURCC, vc.ToCodec("MJPG"))
	vc.Set(gocv.VideoCaptureFrameWidth, float64(s.Width))
	vc.Set(gocv.VideoCaptureFrameHeight, float64(s.Height))
	vc.Set(gocv.VideoCaptureFPS, s.FrameRate)
	vc.Set(gocv.VideoCaptureBufferSize, 1)
	return &capture{name: "camera " + spec, vc: vc}, nil
}

func openStream(spec string, _ Settings) (Source, error) {
	name := "stream"
	if u, err := url.Parse(spec); err == nil {
		name += " " + u.Redacted()
	}
	vc, err := gocv.OpenVideoCaptureWithAPI(spec, gocv.VideoCaptureFFmpeg)
	if err != nil {
		vc.Close()
		return nil, fmt.Errorf("open %s: it does not answer, or its video cannot be read", name) // err holds the password
	}
	return &capture{name: name, vc: vc}, nil
}

func (c *capture) Read(ctx context.Context, dst *gocv.Mat) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.vc.Read(dst) || dst.Empty() {
		return fmt.Errorf("read %s: %w", c.name, errNoFrame)
	}
	return nil
}

func (c *capture) Close() error { return c.vc.Close() }

// video is a video file, played at its own pace and over again.
type video struct {
	capture
	pace pace
}

func openVideo(path string, s Settings) (Source, error) {
	vc, err := gocv.OpenVideoCaptureWithAPI(path, gocv.VideoCaptureFFmpeg) // the same formats everywhere
	if err != nil {
		vc.Close()
		return nil, fmt.Errorf("open video %s: it is no video that can be read", path)
	}
	rate := vc.Get(gocv.VideoCaptureFPS)
	if !(rate >= 1 && rate <= 120) { // files that do not know their rate say 0, NaN or 1000
		rate = s.FrameRate
	}
	return &video{
		capture: capture{name: "video " + path, vc: vc},
		pace:    newPace(rate, s.Now),
	}, nil
}

func (v *video) Read(ctx context.Context, dst *gocv.Mat) error {
	if err := v.pace.wait(ctx); err != nil {
		return err
	}
	if err := v.capture.Read(ctx, dst); err == nil {
		return nil
	}
	v.vc.Set(gocv.VideoCapturePosFrames, 0)
	return v.capture.Read(ctx, dst)
}

// pace lets frames through at a steady rate, and does not catch up after a delay.
type pace struct {
	interval time.Duration
	now      func() time.Time
	due      time.Time
}

func newPace(rate float64, now func() time.Time) pace {
	return pace{interval: time.Duration(float64(time.Second) / rate), now: now}
}

func (p *pace) wait(ctx context.Context) error {
	now := p.now()
	if err := sleep(ctx, p.due.Sub(now)); err != nil {
		return err
	}
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(p.interval)
	return nil
}
