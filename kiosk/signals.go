package kiosk

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	mostSignalStreams = 32
	signalBeat        = 3 * time.Second
)

// signals hold what every page of this kiosk must hear at once.
type signals struct {
	mu        sync.Mutex
	emergency Emergency
	screen    screen
	changed   chan struct{} // closed with the next change
	streams   int
}

// now returns what holds, and a channel that is closed when it changes.
func (s *signals) now() (emergency map[string]string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.emergency.Text, s.changed
}

func (s *signals) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams >= mostSignalStreams {
		return false
	}
	s.streams++
	return true
}

func (s *signals) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams--
}

// getSignals tells a page over server-sent events what it must show at once: first what holds, then every change. A page
// that loses it knows that the kiosk is away.
func (k *Kiosk) getSignals(c *fiber.Ctx) error {
	if c.Method() == fiber.MethodHead {
		return c.SendStatus(fiber.StatusOK)
	}
	if !k.signals.enter() {
		return busy("signals")
	}
	c.Set("X-Accel-Buffering", "no")
	return k.stream(c, "text/event-stream", func(ctx context.Context, w *bufio.Writer) {
		pulse := time.NewTicker(signalBeat)
		defer pulse.Stop()
		var told [2]string // only what is another is told
		for {
			text, changed := k.signals.now()
			for i, event := range []struct {
				name string
				data any
			}{{"emergency", fiber.Map{"text": text}}, {"screen", k.signals.house()}} {
				data, err := json.Marshal(event.data)
				if err != nil {
					k.log.Error("encode signal", "signal", event.name, "error", err)
					return
				}
				if string(data) != told[i] {
					told[i] = string(data)
					fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event.name, data)
				}
			}
			if w.Flush() != nil || !waitForChange(ctx, w, changed, pulse.C) {
				return
			}
		}
	}, k.signals.leave)
}

// waitForChange writes a comment on each beat, and says whether there is a change to tell.
func waitForChange(ctx context.Context, w *bufio.Writer, changed <-chan struct{}, pulse <-chan time.Time) bool {
	for {
		select {
		case <-changed:
			return true
		case <-pulse:
			if _, _ = w.WriteString(":\n\n"); w.Flush() != nil {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}
