package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// outage cuts the line of all kiosks, lets a backlog grow, and watches how they come back.
func (f *fleet) outage(ctx context.Context) error {
	before, err := f.use()
	if err != nil {
		return err
	}
	f.line.cut(true)
	cut := time.Now()
	if err := each(f.kiosks, func(k *kiosk) error { return k.record(ctx, f.opt.Backlog) }); err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	if err := pause(ctx, time.Until(cut.Add(f.opt.Outage))); err != nil {
		return err
	}
	back := time.Now()
	f.line.cut(false)
	took, err := f.connected(ctx, back, connectLimit)
	if err != nil {
		return err
	}
	slices.Sort(took)
	r := &Reconnect{OutageS: back.Sub(cut).Seconds(), P50S: took[len(took)/2].Seconds(), AllS: took[len(took)-1].Seconds(), Failed: f.line.failures()}
	r.BusiestSecond = busiest(took)
	f.report.Reconnect = r
	if err := f.drained(ctx); err != nil {
		return err
	}
	if f.opt.Backlog == 0 {
		return nil
	}
	n := f.opt.Backlog * len(f.kiosks)
	f.report.BacklogEventsPerS = float64(n) / f.lastAck().Sub(back).Seconds()
	cost, err := f.since(before, n)
	f.report.Cost.Outage = &cost
	return err
}

// How long the fleet waits for its connections, and how often it looks.
const (
	connectLimit = 5 * time.Minute
	look         = 20 * time.Millisecond
)

// connected waits until all kiosks are, and returns how long each took from a moment on.
func (f *fleet) connected(ctx context.Context, since time.Time, limit time.Duration) ([]time.Duration, error) {
	var took []time.Duration
	away := slices.Clone(f.kiosks)
	for len(away) > 0 {
		away = slices.DeleteFunc(away, func(k *kiosk) bool {
			s := k.link.State()
			if !s.Connected || s.Since.Before(since) {
				return false
			}
			took = append(took, s.Since.Sub(since))
			return true
		})
		if time.Since(since) > limit {
			return nil, fmt.Errorf("fleet: %d of %d kiosks connected within %s; one says: %s", len(took), len(f.kiosks), limit, f.complaint())
		}
		if err := pause(ctx, look); err != nil {
			return nil, err
		}
	}
	return took, nil
}

func (f *fleet) complaint() string {
	for _, k := range f.kiosks {
		if e := k.link.State().LastError; e != "" {
			return e
		}
	}
	return "nothing"
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
