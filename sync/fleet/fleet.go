// Package fleet simulates many kiosks against a hub: each has an outbox and a link of its own, as real ones do. It
// measures how fast the hub is and whether anything gets lost.
package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"docent/sync/wire"
)

// Options of a run. Broker, Site, Kiosks and Dir are required.
type Options struct {
	Broker string // tls://HOST:PORT, or tcp:// on this machine
	Site   string
	Kiosks int
	Dir    string // for the outboxes; in memory (tmpfs), unless the disk is what is measured
	// TLS is the configuration of one kiosk, nil in clear.
	TLS func(kiosk wire.Address) (*tls.Config, error)
	// Hub says what the hub's process has used, nil where that is not known. A hub in this process cannot be told apart.
	Hub func() (Usage, error)

	Rate    float64       // events a second, of all kiosks together
	Last    time.Duration // how long events come at that rate
	Backlog int           // events that each kiosk holds when the line comes back; 0 passes that over
	Outage  time.Duration // how long the line is cut for all at once; 0 passes that over
	Logger  *slog.Logger  // nil discards
}

// Bounds of a run. With more than few kiosks their stores are brief, see outbox.Options.Brief, and hold less.
const (
	maxKiosks = 10_000
	few       = 16
	maxEach   = 30_000    // events of each kiosk
	maxOfFew  = 2_000_000 // events of each of few kiosks
)

// check says what is wrong with the options.
func (opt Options) check() error {
	if opt.Kiosks < 1 || opt.Kiosks > maxKiosks || opt.Rate <= 0 {
		return fmt.Errorf("fleet: 1 to %d kiosks and a rate above 0", maxKiosks)
	}
	most := maxEach
	if opt.Kiosks <= few {
		most = maxOfFew
	}
	if n := opt.Rate*opt.Last.Seconds()/float64(opt.Kiosks) + float64(opt.Backlog); n > float64(most) {
		return fmt.Errorf("fleet: %.0f events a kiosk, at most %d", n, most)
	}
	return nil
}

// fleet is a run under way.
type fleet struct {
	opt    Options
	line   line
	kiosks []*kiosk

	mu     sync.Mutex // for PeakMiB of the report
	report Report
}

// Run simulates and measures. The streams say what the hub must have.
func Run(ctx context.Context, opt Options) (_ Report, streams []Stream, err error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if err := opt.check(); err != nil {
		return Report{}, nil, err
	}
	f := &fleet{opt: opt, report: Report{Kiosks: opt.Kiosks, Rate: opt.Rate}}
	defer func() {
		err = errors.Join(err, each(f.kiosks, func(k *kiosk) error { return k.Close() }))
	}()
	if err := f.open(); err != nil {
		return Report{}, nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	var links sync.WaitGroup // and watch
	defer links.Wait()
	defer stop()
	links.Go(func() { f.watch(ctx) })
	if err := f.connect(ctx, &links); err != nil {
		return Report{}, nil, err
	}
	if err := f.steady(ctx); err != nil {
		return Report{}, nil, err
	}
	if opt.Outage > 0 {
		if err := f.outage(ctx); err != nil {
			return Report{}, nil, err
		}
	}
	for _, k := range f.kiosks {
		st := k.State()
		f.report.Events += k.events()
		f.report.Unacknowledged += st.Depth
		f.report.Resent += k.link.State().Resent
		streams = append(streams, Stream{Kiosk: k.name, ID: st.StreamID, Last: uint64(k.events()), Acked: st.AckedSeq})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report, streams, nil
}

// connect lets all kiosks connect, all at once. Their links run until ctx ends.
func (f *fleet) connect(ctx context.Context, links *sync.WaitGroup) error {
	before, err := f.use()
	if err != nil {
		return err
	}
	begun := time.Now()
	for _, k := range f.kiosks {
		links.Go(func() { _ = k.link.Run(ctx) }) // its end is the run's
	}
	took, err := f.connected(ctx, begun, connectLimit)
	if err != nil {
		return err
	}
	f.report.ConnectS = slices.Max(took).Seconds()
	f.report.Cost.Connect, err = f.since(before, len(f.kiosks))
	return err
}
