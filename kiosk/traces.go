package kiosk

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/agent/trace"
)

// Traces keep how the guide's turns came about. The store of the agent's traces is one.
type Traces interface {
	// Unlock holds the key of a visit's words until Forget.
	Unlock(visit string, key [32]byte)
	Forget(visit string) error
	Sweep(open func(visit string) bool) error
	// Turns returns the newest turns since a time, oldest first.
	Turns(since time.Time, limit int) ([]trace.Turn, error)
	// Follow returns the parts of turns as they come, until ctx is done.
	Follow(ctx context.Context) <-chan trace.Part
}

// noTraces keep nothing.
type noTraces struct{}

var _ Traces = noTraces{}

func (noTraces) Unlock(string, [32]byte)                    {}
func (noTraces) Forget(string) error                        { return nil }
func (noTraces) Sweep(func(string) bool) error              { return nil }
func (noTraces) Turns(time.Time, int) ([]trace.Turn, error) { return nil, nil }
func (noTraces) Follow(context.Context) <-chan trace.Part {
	c := make(chan trace.Part)
	close(c)
	return c
}

// Bounds of what staff read at once.
const (
	maxTraces     = 10_000
	defaultTraces = 200
)

// postTrace tells staff who know the PIN how turns came about: the newest ones as lines of JSON, or, with follow, the
// parts of turns as server-sent events while they come.
func (k *Kiosk) postTrace(c *fiber.Ctx) error {
	var in struct {
		PIN    string    `json:"pin"`
		Since  time.Time `json:"since"`
		Limit  int       `json:"limit"`
		Follow bool      `json:"follow"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if err := k.checkPIN(in.PIN); err != nil {
		return err
	}
	if in.Follow {
		ctx, cancel := context.WithCancel(k.stopping)
		parts := k.traces.Follow(ctx)
		return k.stream(c, "text/event-stream", func(ctx context.Context, w *bufio.Writer) { sendParts(ctx, parts, w) }, cancel)
	}
	if in.Limit <= 0 {
		in.Limit = defaultTraces
	}
	turns, err := k.traces.Turns(in.Since, min(in.Limit, maxTraces))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "application/x-ndjson")
	return trace.Write(c, turns...)
}

// sendParts writes parts as they come, and a comment on each beat without one, until the client goes.
func sendParts(ctx context.Context, parts <-chan trace.Part, w *bufio.Writer) {
	pulse := time.NewTicker(beat)
	defer pulse.Stop()
	for {
		select {
		case p, ok := <-parts:
			if !ok {
				return
			}
			data, err := json.Marshal(p)
			if err != nil {
				continue // cannot happen: they were JSON
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", p.Kind, data)
		case <-pulse.C:
			_, _ = w.WriteString(":\n\n")
		case <-ctx.Done():
			return
		}
		if w.Flush() != nil {
			return
		}
	}
}
