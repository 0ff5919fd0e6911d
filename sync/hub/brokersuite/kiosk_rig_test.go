package brokersuite

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"testing"
	"time"

	"docent/sync/enrol"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/wire"
)

// identities makes certificates for kiosk-0 to kiosk-(n-1), which the hub knows, and writes the broker's files.
func (h *house) identities(n int) []*tls.Config {
	h.t.Helper()
	var out []*tls.Config
	h.store(func(s *store.Store) {
		for i := range n {
			a := kioskName(i)
			c, err := enrol.ClientConfig(h.authority, a)
			if err != nil {
				h.t.Fatal(err)
			}
			cert, err := c.GetClientCertificate(nil)
			if err != nil {
				h.t.Fatal(err)
			}
			if err := s.AddCertificate(context.Background(), store.Describe(a, cert.Leaf)); err != nil {
				h.t.Fatal(err)
			}
			out = append(out, c)
		}
		if h.kind != "embedded" {
			all, err := s.AllCertificates(context.Background(), time.Now())
			if err != nil {
				h.t.Fatal(err)
			}
			h.write(all)
		}
	})
	if h.broker != nil {
		until(h.t, "the broker has read who may come in", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.changes == h.listed()
		})
	}
	return out
}

func kioskName(i int) wire.Address {
	return wire.Address{Site: site, Kiosk: fmt.Sprintf("kiosk-%d", i)}
}

// kiosk is an outbox with a link that runs.
type kiosk struct {
	*outbox.Outbox
	name string
	link *link.Link
	stop func()
}

func (h *house) startKiosk(i int, identity *tls.Config, dir string, change ...func(*link.Options)) *kiosk {
	h.t.Helper()
	return h.startMachine(i, identity, dir, "", change...)
}

// startMachine is startKiosk with a boot id.
func (h *house) startMachine(i int, identity *tls.Config, dir, boot string, change ...func(*link.Options)) *kiosk {
	h.t.Helper()
	name := kioskName(i).Kiosk
	o, err := outbox.Open(dir, outbox.Options{Kiosk: name, MinFree: 1, BootID: boot})
	if err != nil {
		h.t.Fatal(err)
	}
	opt := link.Options{
		Broker: "tls://" + h.address, TLS: identity, Site: site, Kiosk: name, Outbox: o, AckTimeout: 2 * time.Second, StatusEvery: 5 * time.Second,
		Random: func() float64 { return 0.02 }, // come back soon
	}
	for _, c := range change {
		c(&opt)
	}
	l, err := link.New(opt)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	var once sync.Once
	k := &kiosk{Outbox: o, name: name, link: l, stop: func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				h.t.Errorf("link: %v", err)
			}
			if err := o.Close(); err != nil {
				h.t.Errorf("outbox: %v", err)
			}
		})
	}}
	h.t.Cleanup(k.stop)
	return k
}

// record appends n events, several at a time.
func (k *kiosk) record(t testing.TB, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for c := range min(n, 32) {
		wg.Go(func() {
			for i := c; i < n; i += min(n, 32) {
				if _, err := k.Append(context.Background(), "exhibit.seen", map[string]any{"n": i, "exhibit": "penrose"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// drained waits until the hub has everything.
func (k *kiosk) drained(t testing.TB) {
	t.Helper()
	until(t, k.name+" drained", func() bool { return k.Depth() == 0 }, func() string { return fmt.Sprintf("%+v, %+v", k.link.State(), k.State()) })
}
