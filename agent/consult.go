package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"docent/agent/model"
	"docent/agent/tool"
	"docent/agent/trace"
)

// guideCaller is a caller with the toolbox behind it.
type guideCaller struct {
	*tool.Caller
	box   *toolbox
	trace *trace.Recorder

	mu    sync.Mutex
	down  bool      // the model did not answer
	until time.Time // when the turn's time with the model is over
}

// maxPlanText is the most bytes of a text that no visitor sees: a plan, a step, a sentence written again.
const maxPlanText = 8 << 10

// Why a model is not asked.
var (
	errDown  = errors.New("the model did not answer before in this turn")
	errRests = errors.New("the model did not answer in the last turns, and is left alone for a while")
)

// ask streams a text of the model. Every request to the server counts as a call of the run and of the visit; one that
// failed for a while only, before anything was written, is made again after a pause, twice at most. All that a turn asks
// of the model takes no longer than the time for an answer. begun says that a word came.
func (g *Guide) ask(ctx context.Context, c *guideCaller, purpose string, r model.Request) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		call := trace.ModelCall{Purpose: purpose}
		r.Used = func(u model.Usage) { call.TokensIn, call.Tokens, call.Counted = u.In, u.Out, true }
		began := g.clock()
		var text strings.Builder
		var err error
		defer func() { c.trace.Model(g.priced(call, r, text.String(), milliseconds(g.clock().Sub(began)), err)) }()
		ctx, cancel := context.WithDeadlineCause(ctx, c.modelUntil(g.answerTimeout), fmt.Errorf("the model did not finish within %v", g.answerTimeout))
		defer cancel()
		for {
			if err = g.allowModel(c); err != nil {
				yield("", err)
				return
			}
			call.Tries++
			listening := true
			err = nil
			for piece, failed := range g.model.Stream(ctx, r) {
				if err = failed; err != nil {
					break
				}
				text.WriteString(piece)
				if listening = yield(piece, nil); !listening {
					break
				}
			}
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			switch {
			case err == nil || !listening:
				g.breaker.heard(true, g.clock())
				return
			case text.Len() == 0 && call.Tries <= tool.DefaultLimits.Retries && g.pause(ctx, err, call.Tries):
				continue
			}
			switch {
			case errors.Is(err, context.Canceled): // the visitor left
			case text.Len() > 0, errors.Is(err, model.ErrToolCall):
				g.breaker.heard(true, g.clock())
			default:
				c.modelDown()
				g.breaker.heard(false, g.clock())
			}
			yield("", err)
			return
		}
	}
}

// pause waits before a request is made again. It returns false where that is of no use.
func (g *Guide) pause(ctx context.Context, err error, tries int) bool {
	var status *model.StatusError
	if !model.Temporary(err) || errors.As(err, &status) && status.RetryAfter > tool.MaxBackOff {
		return false
	}
	t := time.NewTimer(tool.BackOff(tries, g.random()))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// consult asks the model for a short text that no visitor sees, within the time for a first word. Where it calls tools
// that the request offers, they are returned.
func (g *Guide) consult(ctx context.Context, c *guideCaller, purpose string, r model.Request) (string, []model.Call, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.firstTokenTimeout, fmt.Errorf("the model did not %s within %v", purpose, g.firstTokenTimeout))
	defer cancel()
	var text strings.Builder
	for piece, err := range g.ask(ctx, c, purpose, r) {
		var called *model.Calls
		switch {
		case errors.As(err, &called):
			return text.String(), called.Calls, nil
		case err != nil:
			return "", nil, err
		}
		if text.WriteString(piece); text.Len() > maxPlanText {
			return "", nil, errLong
		}
	}
	return text.String(), nil, nil
}

// offered are the tools that a model may call: all but the look-up in the web, which takes words out of the house.
func (c *guideCaller) offered() []tool.Spec {
	return slices.DeleteFunc(c.Specs(), func(s tool.Spec) bool { return s.Name == toolWeb })
}

// allowModel takes one call of the model from the limits.
func (g *Guide) allowModel(c *guideCaller) error {
	c.mu.Lock()
	down := c.down
	c.mu.Unlock()
	switch {
	case down:
		return errDown
	case g.breaker.rests(g.clock()):
		return errRests
	}
	if limit := c.Model(); limit != "" {
		return fmt.Errorf("no more model calls: %s", limit)
	}
	return nil
}

func (c *guideCaller) modelDown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
}

// modelUntil is when the turn's time with the model is over; it begins with the first request.
func (c *guideCaller) modelUntil(limit time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until.IsZero() {
		c.until = time.Now().Add(limit) // contexts run by this clock
	}
	return c.until
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// charactersPerToken is what tokens are estimated by: some four Latin letters, or one Chinese character.
const charactersPerToken = 4

// priced completes a call for the trace. Its tokens are estimated where the server did not count them.
func (g *Guide) priced(call trace.ModelCall, r model.Request, text string, ms float64, err error) trace.ModelCall {
	call.Millis = ms
	if !call.Counted {
		for _, m := range r.Messages {
			call.TokensIn += tokens(m.Content)
		}
		call.Tokens = tokens(text)
	}
	call.Cost = (float64(call.TokensIn)*g.prices.In + float64(call.Tokens)*g.prices.Out) / 1e6
	if err != nil && !errors.As(err, new(*model.Calls)) {
		call.Error = err.Error()
	}
	return call
}

func tokens(s string) int {
	wide, narrow := 0, 0
	for _, r := range s {
		if r >= 0x2E80 {
			wide++
		} else {
			narrow++
		}
	}
	return wide + (narrow+charactersPerToken-1)/charactersPerToken
}
