package camera

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gocv.io/x/gocv"
)

// run is the goroutine that owns the source: it opens it, reads it until it fails, and opens it again after a while.
func (c *Camera) run() {
	wait := newBackoff(c.random)
	blank := blankFirst // how long a blank picture is looked at before the source is opened again
	for c.ctx.Err() == nil {
		began := c.now()
		shown, err := c.session(blank)
		if c.ctx.Err() != nil {
			return
		}
		if !shown.IsZero() {
			wait.worked(c.now().Sub(shown))
		}
		blank = blankFirst
		if errors.Is(err, errBlank) {
			blank = min(2*c.now().Sub(began), blankMost)
		}
		c.fail(err)
		if sleep(c.ctx, wait.next()) != nil {
			return
		}
	}
}

// errBlank ends a session whose picture stayed blank.
var errBlank = errors.New("opened again because the picture stays blank")

// session opens the source, lets its brightness settle, and publishes its frames until it fails, or has been blank for
// as long as patience. It says since when frames are published, zero where there was none.
func (c *Camera) session(patience time.Duration) (shown time.Time, err error) {
	src, err := c.openSource()
	if err != nil {
		return shown, err
	}
	defer func() {
		c.setSource(nil)
		err = errors.Join(err, src.Close())
	}()
	c.setSource(src)
	w := watch{}
	if s, ok := src.(live); ok {
		w.frozen = s.Frozen()
	}
	// read is filled outside the lock and then swapped with the last frame, so no pixel is copied here.
	read := gocv.NewMat()
	defer func() { read.Close() }()
	if err := c.settle(src, &read); err != nil {
		return shown, err
	}
	for {
		if err := readBGR(c.ctx, src, &read); err != nil {
			return shown, err
		}
		blank, lasted, err := w.look(read, c.now())
		switch {
		case err != nil:
			return shown, err
		case blank == "":
			if shown.IsZero() {
				shown = c.now()
			}
			c.publish(&read)
		case lasted >= patience:
			return shown, fmt.Errorf("%w: %s", errBlank, blank)
		case lasted >= blankFor:
			c.lose(blank)
		case c.State() == StateReady: // not for long yet
			c.publish(&read)
		}
	}
}

func (c *Camera) openSource() (Source, error) {
	c.mu.Lock()
	c.opened++
	c.mu.Unlock()
	return c.open()
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
		c.state, c.since = StateReady, c.at
	}
	c.trouble = ""
	c.announce()
}

// fail notes that the source was lost.
func (c *Camera) fail(err error) {
	trouble := "it ended"
	if err != nil {
		trouble = err.Error()
	}
	c.lose(trouble)
}

// lose puts the camera in alert and ends the previews, which would stand still otherwise.
func (c *Camera) lose(trouble string) {
	c.mu.Lock()
	first := c.state != StateAlert
	if first {
		c.state, c.since = StateAlert, c.now()
	}
	if first {
		c.log.Warn("camera lost", "trouble", trouble)
	} else if c.trouble != trouble {
		c.log.Debug("camera still lost", "trouble", trouble)
	}
	c.trouble = trouble
	c.announce()
	c.mu.Unlock()
	if first {
		c.preview.endAll()
		c.quality.endAll()
	}
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
