package camera

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"time"

	"gocv.io/x/gocv"
)

// run is the goroutine that owns the source: it opens it, reads it until it fails, and opens it again after a
// wait that doubles up to [retryMost] and starts over once the camera was ready.
func (c *Camera) run() {
	wait := retryFirst
	for c.ctx.Err() == nil {
		ready, err := c.session()
		if c.ctx.Err() != nil {
			return
		}
		if ready {
			wait = retryFirst
		}
		c.fail(err, wait)
		if sleep(c.ctx, wait) != nil {
			return
		}
		wait = min(2*wait, retryMost)
	}
}

// session opens the source, lets its brightness settle, and publishes its frames until it fails. It says whether
// it came so far as to publish.
func (c *Camera) session() (ready bool, err error) {
	src, err := c.open()
	if err != nil {
		return false, err
	}
	defer func() {
		c.setSource(nil)
		err = errors.Join(err, src.Close())
	}()
	c.setSource(src)
	// read is filled outside the lock and then swapped with the last frame, so no pixel is copied here.
	read := gocv.NewMat()
	defer func() { read.Close() }()
	if err := c.settle(src, &read); err != nil {
		return false, err
	}
	for {
		if err := readBGR(c.ctx, src, &read); err != nil {
			return ready, err
		}
		c.publish(&read)
		ready = true
	}
}

// settle drops frames until the brightness stands still.
func (c *Camera) settle(src Source, read *gocv.Mat) error {
	before, calm := math.Inf(1), 0
	for range settleFrames {
		if err := readBGR(c.ctx, src, read); err != nil {
			return err
		}
		b := brightness(*read)
		if math.Abs(b-before) <= settleChange {
			calm++
		} else {
			calm = 0
		}
		if calm >= settleCalm {
			break
		}
		before = b
	}
	return nil
}

// brightness is the mean of all channels, 0 to 1, of about 3,000 of the pixels.
func brightness(img gocv.Mat) float64 {
	small := gocv.NewMat()
	defer small.Close()
	gocv.Resize(img, &small, image.Pt(64, 48), 0, 0, gocv.InterpolationNearestNeighbor)
	m := small.Mean()
	return (m.Val1 + m.Val2 + m.Val3) / 3 / 255
}

// readBGR reads a frame and makes it BGR.
func readBGR(ctx context.Context, src Source, dst *gocv.Mat) error {
	if err := src.Read(ctx, dst); err != nil {
		return err
	}
	switch {
	case dst.Empty():
		return errNoFrame
	case dst.Type() == gocv.MatTypeCV8UC1:
		colour := gocv.NewMat()
		gocv.CvtColor(*dst, &colour, gocv.ColorGrayToBGR)
		dst.Close()
		*dst = colour
	case dst.Type() != gocv.MatTypeCV8UC3:
		return fmt.Errorf("read frame: pixels of type %d are neither BGR nor grey", dst.Type())
	}
	return nil
}

// publish makes *img the last frame, and gives back the one before in its place.
func (c *Camera) publish(img *gocv.Mat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, *img = *img, c.last
	c.seq++
	c.at = c.now()
	if c.state != StateReady {
		c.log.Info("camera ready", "width", c.last.Cols(), "height", c.last.Rows())
	}
	c.state = StateReady
	c.announce()
}

// fail puts the camera in alert and ends the previews, which would stand still otherwise.
func (c *Camera) fail(err error, wait time.Duration) {
	c.mu.Lock()
	if c.state != StateAlert { // later ones are the same story
		c.log.Warn("camera lost", "error", err, "retry_ms", wait.Milliseconds())
	}
	c.state = StateAlert
	c.announce()
	c.mu.Unlock()
	c.preview.endAll()
}

func (c *Camera) setSource(src Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = src
}

// announce wakes all who wait for a change. It is called with mu held.
func (c *Camera) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}
