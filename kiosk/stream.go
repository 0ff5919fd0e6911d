package kiosk

import (
	"bufio"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
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
