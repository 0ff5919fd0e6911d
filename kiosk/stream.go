package kiosk

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/vision"
	"docent/vision/camera"
)

// stream sends an answer piece by piece. write runs after the handler has returned, in a goroutine of its own, so it
// must use nothing of the request; its context is done when the kiosk stops. closed is called when all is over, also
// where the stream never began.
func (k *Kiosk) stream(c *fiber.Ctx, contentType string, write func(ctx context.Context, w *bufio.Writer), closed func()) error {
	if !k.streams.enter() {
		closed()
		return notReady("stopping")
	}
	route := c.Route().Path
	c.Set(fiber.HeaderContentType, contentType)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer k.streams.leave()
		defer closed()
		defer func() {
			if e := recover(); e != nil {
				k.log.Error("stream panicked", "route", route, "panic", e, "stack", string(debug.Stack()))
			}
		}()
		ctx, cancel := context.WithCancel(k.stopping)
		defer cancel()
		write(ctx, w)
	})
	return nil
}

// boundary parts the frames of the preview.
const boundary = "docent-frame"

// frameWait is how long the preview stays open without a frame.
const frameWait = 10 * time.Second

// getPreview shows the camera's live picture as MJPEG, until the client goes or the camera fails.
func (k *Kiosk) getPreview(c *fiber.Ctx) error {
	if k.camera == nil {
		return &problem{status: fiber.StatusServiceUnavailable, code: codeNoCamera}
	}
	if c.Method() == fiber.MethodHead {
		return c.SendStatus(fiber.StatusOK)
	}
	ctx, cancel := context.WithCancel(k.stopping)
	frames, err := k.camera.Preview(ctx)
	if err != nil {
		cancel()
		return err
	}
	return k.stream(c, "multipart/x-mixed-replace; boundary="+boundary, func(ctx context.Context, w *bufio.Writer) {
		t := time.NewTimer(frameWait)
		defer t.Stop()
		for {
			select {
			case jpeg, ok := <-frames:
				if !ok || !sendFrame(w, jpeg) {
					return
				}
				t.Reset(frameWait)
			case <-t.C:
				return
			case <-ctx.Done():
				return
			}
		}
	}, cancel)
}

// sendFrame says whether the client is still there.
func sendFrame(w *bufio.Writer, jpeg []byte) bool {
	fmt.Fprintf(w, "--%s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", boundary, len(jpeg))
	_, _ = w.Write(jpeg)
	_, _ = w.WriteString("\r\n")
	return w.Flush() == nil // a bufio.Writer keeps its first error
}

// liveQuality is how the live picture would do as a photo, as the page gets it.
type liveQuality struct {
	Advice    vision.AdviceCode `json:"advice"`
	Still     bool              `json:"still"`  // nothing has moved for 0.7 s
	Steady    float64           `json:"steady"` // how much of that time has passed, 0 to 1
	Sharpness float64           `json:"sharpness"`
}

// getQuality tells over server-sent events how the live picture would do as a photo, at most five times a second,
// until the client goes or the camera fails.
func (k *Kiosk) getQuality(c *fiber.Ctx) error {
	if k.camera == nil {
		return &problem{status: fiber.StatusServiceUnavailable, code: codeNoCamera}
	}
	if c.Method() == fiber.MethodHead {
		return c.SendStatus(fiber.StatusOK)
	}
	ctx, cancel := context.WithCancel(k.stopping)
	seen, err := k.camera.Quality(ctx)
	if err != nil {
		cancel()
		return err
	}
	c.Set("X-Accel-Buffering", "no")
	return k.stream(c, "text/event-stream", func(ctx context.Context, w *bufio.Writer) {
		pulse := time.NewTicker(beat)
		defer pulse.Stop()
		for {
			select {
			case q, ok := <-seen:
				if !ok || !sendQuality(w, q) {
					return
				}
			case <-pulse.C: // so that a client that went away is noticed
				_, _ = w.WriteString(":\n\n")
				if w.Flush() != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}, cancel)
}

// sendQuality says whether the client is still there.
func sendQuality(w *bufio.Writer, q camera.Quality) bool {
	data, err := json.Marshal(liveQuality{
		Advice: q.Advice, Still: q.Still, Steady: math.Round(q.Steady*100) / 100, Sharpness: math.Round(q.Sharpness*10) / 10,
	})
	if err != nil { // a number that JSON does not have
		return true
	}
	fmt.Fprintf(w, "event: quality\ndata: %s\n\n", data)
	return w.Flush() == nil
}
