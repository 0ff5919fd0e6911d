// Package fleet simulates many kiosks against a hub: each has an outbox and a link of its own, as real ones do. It
// measures how fast the hub is and whether anything gets lost.
package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"docent/sync/link"
	"docent/sync/outbox"
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

	Rate    float64       // events a second, of all kiosks together
	Last    time.Duration // how long events come at that rate
	Backlog int           // events that each kiosk holds when the line comes back; 0 passes that over
	Outage  time.Duration // how long the line is cut for all at once; 0 passes that over
	Logger  *slog.Logger  // nil discards
}

// maxEach is how many events a simulated kiosk records at most, see outbox.Options.Brief.
const maxEach = 30_000

// Milliseconds are percentiles of a time.
type Milliseconds struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Report is what was measured. Lost and Duplicated are counted by whoever can look into the hub's store.
type Report struct {
	Kiosks     int     `json:"kiosks"`
	Events     int     `json:"events"`       // appended, durable in an outbox
	Rate       float64 `json:"rate"`         // events a second that were asked for
	EventsPerS float64 `json:"events_per_s"` // durable at the hub and acknowledged, from the first append to the last acknowledgement
	// AckMS is from the moment an event is durable in its outbox until the hub's acknowledgement has taken it out.
	AckMS Milliseconds `json:"ack_ms"`
	// OpenS and ConnectS are how long it took until all outboxes were open, and then until all kiosks were connected, which
	// all begin at once.
	OpenS    float64 `json:"open_s"`
	ConnectS float64 `json:"connect_s"`
	// Unacknowledged are events that still wait at the end.
	Unacknowledged uint64 `json:"unacknowledged"`
	Resent         uint64 `json:"resent"` // events published more than once

	Reconnect *Reconnect `json:"reconnect,omitempty"`
	// BacklogEventsPerS is how fast the backlog drained that all kiosks held after the outage.
	BacklogEventsPerS float64 `json:"backlog_events_per_s,omitempty"`

	Lost       *int `json:"lost,omitempty"`       // acknowledged, and not in the hub's store
	Duplicated *int `json:"duplicated,omitempty"` // rows beyond one an event
}

// Reconnect is how kiosks came back after the line was cut for all of them.
type Reconnect struct {
	OutageS float64 `json:"outage_s"`
	P50S    float64 `json:"p50_s"` // after the line's return
	AllS    float64 `json:"all_s"` // until the last was back
	// BusiestSecond is the largest share of kiosks that came back within one second.
	BusiestSecond float64 `json:"busiest_second"`
	Failed        int     `json:"failed"` // attempts that failed after the line's return
}

// Stream names what a simulated kiosk has appended: numbers 1 to Last of a stream.
type Stream struct {
	Kiosk string
	ID    string
	Last  uint64
}

// kiosk is a simulated one.
type kiosk struct {
	measured
	link *link.Link
	name string
}

// measured is an outbox that notes how long acknowledgements take.
type measured struct {
	*outbox.Outbox

	mu    sync.Mutex
	begun []time.Time // of event number i+1
	acked uint64
	took  []time.Duration
	last  time.Time // of the newest acknowledgement
}

// append records an event and notes when it is durable.
func (m *measured) append(ctx context.Context, data any) error {
	seq, err := m.Outbox.Append(ctx, "exhibit.seen", data)
	if err != nil {
		return err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for uint64(len(m.begun)) < seq {
		m.begun = append(m.begun, time.Time{})
	}
	m.begun[seq-1] = now
	return nil
}

// Ack notes which events have been taken out.
func (m *measured) Ack(a wire.Ack) (uint64, error) {
	freed, err := m.Outbox.Ack(a)
	if err != nil || freed == 0 {
		return freed, err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = now
	for seq := m.acked + 1; seq <= a.AckedSeq && seq <= uint64(len(m.begun)); seq++ {
		if t := m.begun[seq-1]; !t.IsZero() {
			m.took = append(m.took, now.Sub(t))
		} else { // acknowledged before the appender came back
			m.took = append(m.took, 0)
		}
	}
	m.acked = max(m.acked, min(a.AckedSeq, uint64(len(m.begun))))
	return freed, err
}

// fleet is a run under way.
type fleet struct {
	opt    Options
	line   line
	kiosks []*kiosk
	report Report
}

// Run simulates and measures. The streams say what the hub must have.
func Run(ctx context.Context, opt Options) (_ Report, streams []Stream, err error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Kiosks < 1 || opt.Kiosks > 10_000 || opt.Rate <= 0 {
		return Report{}, nil, errors.New("fleet: 1 to 10,000 kiosks and a rate above 0")
	}
	if n := opt.Rate*opt.Last.Seconds()/float64(opt.Kiosks) + float64(opt.Backlog); n > maxEach {
		return Report{}, nil, fmt.Errorf("fleet: %.0f events a kiosk, at most %d", n, maxEach)
	}
	f := &fleet{opt: opt, report: Report{Kiosks: opt.Kiosks, Rate: opt.Rate}}
	defer func() {
		err = errors.Join(err, each(f.kiosks, func(k *kiosk) error { return k.Close() }))
	}()
	if err := f.open(); err != nil {
		return Report{}, nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	var links sync.WaitGroup
	defer links.Wait()
	defer stop()
	begun := time.Now()
	for _, k := range f.kiosks {
		links.Go(func() { _ = k.link.Run(ctx) }) // its end is the run's
	}
	if _, err := f.connected(ctx, begun, 2*time.Minute); err != nil {
		return Report{}, nil, err
	}
	f.report.ConnectS = time.Since(begun).Seconds()
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
		f.report.Events += len(k.begun)
		f.report.Unacknowledged += st.Depth
		f.report.Resent += k.link.State().Resent
		streams = append(streams, Stream{Kiosk: k.name, ID: st.StreamID, Last: uint64(len(k.begun))})
	}
	return f.report, streams, nil
}

// open makes the kiosks, several at a time.
func (f *fleet) open() error {
	begun := time.Now()
	f.kiosks = make([]*kiosk, f.opt.Kiosks)
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for w := range errs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(f.kiosks) && errs[w] == nil; i = int(next.Add(1)) - 1 {
				f.kiosks[i], errs[w] = f.kiosk(fmt.Sprintf("fleet-%04d", i+1))
			}
		})
	}
	wg.Wait()
	f.kiosks = slices.DeleteFunc(f.kiosks, func(k *kiosk) bool { return k == nil })
	f.report.OpenS = time.Since(begun).Seconds()
	return errors.Join(errs...)
}

func (f *fleet) kiosk(name string) (*kiosk, error) {
	k := &kiosk{name: name}
	dir := filepath.Join(f.opt.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open simulated kiosk: %w", err)
	}
	var err error
	if k.Outbox, err = outbox.Open(dir, outbox.Options{Kiosk: name, Logger: f.opt.Logger, Brief: true}); err != nil {
		return nil, err
	}
	opt := link.Options{Broker: f.opt.Broker, Site: f.opt.Site, Kiosk: name, Outbox: &k.measured, Version: "fleet", Logger: f.opt.Logger, Dial: f.line.dial}
	if f.opt.TLS != nil {
		opt.TLS, err = f.opt.TLS(wire.Address{Site: f.opt.Site, Kiosk: name})
	}
	if err == nil {
		k.link, err = link.New(opt)
	}
	if err != nil {
		return nil, errors.Join(err, k.Outbox.Close())
	}
	return k, nil
}

// connected waits until all kiosks are, and returns when each was after a moment.
func (f *fleet) connected(ctx context.Context, since time.Time, limit time.Duration) ([]time.Duration, error) {
	var took []time.Duration
	there := make([]bool, len(f.kiosks))
	for len(took) < len(f.kiosks) {
		for i, k := range f.kiosks {
			if s := k.link.State(); !there[i] && s.Connected && !s.Since.Before(since) {
				there[i], took = true, append(took, s.Since.Sub(since))
			}
		}
		if time.Since(since) > limit {
			return nil, fmt.Errorf("fleet: %d of %d kiosks connected within %s; one says: %s", len(took), len(f.kiosks), limit, f.complaint())
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
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

// seen is an event as a visitor makes one.
type seen struct {
	Visit      string  `json:"visit"`
	Exhibit    string  `json:"exhibit"`
	Confidence float64 `json:"confidence"`
	By         string  `json:"by"`
}

// steady lets events come at the rate, each kiosk at its own moments, and waits until all are acknowledged.
func (f *fleet) steady(ctx context.Context) error {
	every := time.Duration(float64(len(f.kiosks)) / f.opt.Rate * float64(time.Second))
	each1 := int(f.opt.Last / every)
	if each1 < 1 {
		each1 = 1
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
	var last time.Time
	events := 0
	for _, k := range f.kiosks {
		k.mu.Lock()
		took, events = append(took, k.took...), events+len(k.begun)
		if k.last.After(last) {
			last = k.last
		}
		k.mu.Unlock()
	}
	f.report.AckMS = percentiles(took)
	f.report.EventsPerS = float64(events) / last.Sub(begun).Seconds()
	return nil
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
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil // what is left is reported
}

// outage cuts the line of all kiosks, lets a backlog grow, and watches how they come back.
func (f *fleet) outage(ctx context.Context) error {
	f.line.cut(true)
	cut := time.Now()
	if f.opt.Backlog > 0 {
		err := each(f.kiosks, func(k *kiosk) error {
			for range f.opt.Backlog {
				if err := k.append(ctx, seen{"0192f0c1", "girih", 0.93, "photo"}); err != nil {
					return fmt.Errorf("fleet: %w", err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := pause(ctx, time.Until(cut.Add(f.opt.Outage))); err != nil {
		return err
	}
	back := time.Now()
	f.line.cut(false)
	took, err := f.connected(ctx, back, 5*time.Minute)
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
	if f.opt.Backlog > 0 {
		var last time.Time
		for _, k := range f.kiosks {
			k.mu.Lock()
			if k.last.After(last) {
				last = k.last
			}
			k.mu.Unlock()
		}
		f.report.BacklogEventsPerS = float64(f.opt.Backlog*len(f.kiosks)) / last.Sub(back).Seconds()
	}
	return nil
}

// busiest is the largest share of sorted moments within one second.
func busiest(sorted []time.Duration) float64 {
	most, from := 0, 0
	for to := range sorted {
		for sorted[to]-sorted[from] >= time.Second {
			from++
		}
		most = max(most, to-from+1)
	}
	return float64(most) / float64(len(sorted))
}

func percentiles(took []time.Duration) Milliseconds {
	if len(took) == 0 {
		return Milliseconds{}
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[min(len(took)-1, int(share*float64(len(took))))]) / float64(time.Millisecond)
	}
	return Milliseconds{P50: at(0.50), P95: at(0.95), P99: at(0.99), Max: float64(took[len(took)-1]) / float64(time.Millisecond)}
}

// each does something for all kiosks, 64 at a time.
func each(kiosks []*kiosk, do func(*kiosk) error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(kiosks))
	slots := make(chan struct{}, 64)
	for i, k := range kiosks {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = do(k)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// line is the network of all kiosks, which can be cut.
type line struct {
	mu     sync.Mutex
	down   bool
	conns  map[net.Conn]struct{}
	failed int // dials that failed while it was up
}

var errDown = errors.New("the simulated line is down")

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	down := l.down
	l.mu.Unlock()
	if down {
		return nil, errDown
	}
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed++
		return nil, err
	}
	if l.down {
		c.Close()
		return nil, errDown
	}
	if l.conns == nil {
		l.conns = map[net.Conn]struct{}{}
	}
	t := &tracked{Conn: c, line: l}
	l.conns[t] = struct{}{}
	return t, nil
}

// cut ends all connections and refuses new ones, or lets them come again.
func (l *line) cut(down bool) {
	l.mu.Lock()
	l.down, l.failed = down, 0
	var open []net.Conn
	if down {
		for c := range l.conns {
			open = append(open, c)
		}
	}
	l.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

func (l *line) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

func (l *line) failures() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// tracked leaves the line's list when it is closed.
type tracked struct {
	net.Conn
	line *line
}

// Read tells of a cut as a router would that has lost the connection, not as a connection that was closed on this side.
func (t *tracked) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if err != nil && t.line.isDown() {
		err = syscall.ECONNRESET
	}
	return n, err
}

func (t *tracked) Close() error {
	t.line.mu.Lock()
	delete(t.line.conns, t)
	t.line.mu.Unlock()
	return t.Conn.Close()
}
