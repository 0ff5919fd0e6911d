package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/wire"
)

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
	begun []time.Time // of the Append of event number i+1
	acked uint64
	took  []time.Duration // from Append to acknowledgement
	last  time.Time       // of the newest acknowledgement
}

// events is how many have been recorded.
func (m *measured) events() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.begun)
}

// times are how long the acknowledgements took so far.
func (m *measured) times() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.took)
}

// append records an event and notes when that began.
func (m *measured) append(ctx context.Context, data any) error {
	begun := time.Now()
	seq, err := m.Outbox.Append(ctx, "exhibit.seen", data)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for uint64(len(m.begun)) < seq {
		m.begun = append(m.begun, time.Time{})
	}
	m.begun[seq-1] = begun
	if seq <= m.acked { // before Append came back
		m.took = append(m.took, time.Since(begun))
	}
	return nil
}

// Ack notes which events have been taken out.
func (m *measured) Ack(a wire.Ack) (uint64, error) {
	freed, err := m.Outbox.Ack(a)
	if err != nil || freed == 0 {
		return freed, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = time.Now()
	for seq := m.acked + 1; seq <= a.AckedSeq; seq++ {
		if seq <= uint64(len(m.begun)) && !m.begun[seq-1].IsZero() {
			m.took = append(m.took, m.last.Sub(m.begun[seq-1]))
		}
	}
	m.acked = max(m.acked, a.AckedSeq)
	return freed, err
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
	if k.Outbox, err = outbox.Open(dir, outbox.Options{Kiosk: name, Logger: f.opt.Logger, Brief: f.opt.Kiosks > few}); err != nil {
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
