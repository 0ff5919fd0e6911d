package camera

import (
	"context"
	"time"

	"docent/vision"
)

// PreviewOptions bound the preview. Zero fields mean the defaults.
type PreviewOptions struct {
	MaxSide   int     // long side in pixels, default 960
	Quality   int     // JPEG quality 1 to 100, default 75
	FrameRate float64 // at most, in frames per second, default 12
	Viewers   int     // at most, default 4
}

func (o PreviewOptions) withDefaults() PreviewOptions {
	if o.MaxSide <= 0 {
		o.MaxSide = 960
	}
	if o.Quality <= 0 || o.Quality > 100 {
		o.Quality = 75
	}
	if o.FrameRate <= 0 {
		o.FrameRate = 12
	}
	if o.Viewers <= 0 {
		o.Viewers = 4
	}
	return o
}

// Preview returns JPEG frames for one viewer until ctx is done, the camera fails, or the camera is closed; then
// the channel is closed. It holds one frame: a viewer that is slow gets the newest and misses those between. The
// bytes are shared between viewers and must not be changed. The error is [ErrNotReady], [ErrClosed] or [ErrBusy].
func (c *Camera) Preview(ctx context.Context) (<-chan []byte, error) {
	switch {
	case c.ctx.Err() != nil:
		return nil, ErrClosed
	case c.State() != StateReady:
		return nil, ErrNotReady
	}
	return c.preview.join(ctx)
}

// encode is the goroutine that makes the preview's frames, one JPEG for all viewers, and only while there are any.
func (c *Camera) encode() {
	defer c.preview.shut()
	var seq uint64
	interval := time.Duration(float64(time.Second) / c.look.FrameRate)
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.preview.wanted():
		}
		f, err := c.next(c.ctx, seq)
		if err == nil {
			seq = f.seq
			err = c.show(f)
		}
		if err != nil && c.ctx.Err() == nil {
			c.preview.endAll()
		}
		if sleep(c.ctx, interval) != nil {
			return
		}
	}
}

// show encodes f, which it takes over, and gives it to the viewers.
func (c *Camera) show(f frame) error {
	photo := vision.Photo{Image: f.bgr, TakenAt: f.at}
	defer photo.Close()
	jpeg, err := photo.JPEG(c.look.MaxSide, c.look.Quality)
	if err != nil {
		return err
	}
	c.preview.send(jpeg)
	return nil
}
