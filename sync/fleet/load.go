package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// seen is an event as a visitor makes one.
type seen struct {
	Visit      string  `json:"visit"`
	Exhibit    string  `json:"exhibit"`
	Confidence float64 `json:"confidence"`
	By         string  `json:"by"`
}

// record appends events as fast as the disk takes them.
func (k *kiosk) record(ctx context.Context, n int) error {
	const callers = 64 // share transactions
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	errs := make([]error, min(callers, n))
	for i := range errs {
		wg.Go(func() {
			for left.Add(-1) >= 0 && errs[i] == nil {
				errs[i] = k.append(ctx, seen{"0192f0c1", "girih", 0.93, "photo"})
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// steady lets events come at the rate, each kiosk at its own moments, and waits until all are acknowledged.
func (f *fleet) steady(ctx context.Context) error {
	every := time.Duration(float64(len(f.kiosks)) / f.opt.Rate * float64(time.Second))
	each1 := int(f.opt.Last / every)
	if each1 < 1 {
		each1 = 1
	}
	before, err := f.use()
	if err != nil {
		return err
	}
	begun := time.Now()
	var wg sync.WaitGroup
	errs := make([]error, len(f.kiosks))
	for i, k := range f.kiosks {
		wg.Go(func() {
			at := begun.Add(every * time.Duration(i) / time.Duration(len(f.kiosks)))
			for range each1 {
				if errs[i] = pause(ctx, time.Until(at)); errs[i] != nil {
					return
				}
				if errs[i] = k.append(ctx, seen{"0192f0c1", "penrose", 0.97, "photo"}); errs[i] != nil {
					return
				}
				at = at.Add(every)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	if err := f.drained(ctx); err != nil {
		return err
	}
	var took []time.Duration
	events := 0
	for _, k := range f.kiosks {
		took, events = append(took, k.times()...), events+k.events()
		f.report.Messages += k.link.State().Messages
	}
	f.report.AckMS = percentiles(took)
	f.report.EventsPerS = float64(events) / f.lastAck().Sub(begun).Seconds()
	f.report.Cost.Steady, err = f.since(before, events)
	return err
}

// lastAck is when the newest acknowledgement came.
func (f *fleet) lastAck() (last time.Time) {
	for _, k := range f.kiosks {
		k.mu.Lock()
		if k.last.After(last) {
			last = k.last
		}
		k.mu.Unlock()
	}
	return last
}

// drainLimit is how long the fleet waits for the last acknowledgement.
const drainLimit = 5 * time.Minute

func (f *fleet) drained(ctx context.Context) error {
	for end := time.Now().Add(drainLimit); time.Now().Before(end); {
		waits := uint64(0)
		for _, k := range f.kiosks {
			waits += k.Depth()
		}
		if waits == 0 {
			return nil
		}
		if err := pause(ctx, look); err != nil {
			return err
		}
	}
	return nil // what is left is reported
}
