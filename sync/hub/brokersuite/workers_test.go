package brokersuite

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/sync/hub"
	"docent/sync/hub/brokerfiles"
	"docent/sync/hub/jetstream"
	"docent/sync/hub/mosquitto"
	"docent/sync/hub/store"
	"docent/sync/wire"
)

// counting is a process of the hub that notes events and cannot store some of them at first.
type counting struct {
	mu   sync.Mutex
	got  map[string]int
	fail int // times that are still to fail
}

func (c *counting) Events(_ context.Context, _ wire.Address, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail > 0 {
		c.fail--
		return errors.New("the disk is full")
	}
	c.got[string(payload)]++
	return nil
}

func (c *counting) Status(context.Context, wire.Address, wire.Status) error { return nil }
func (c *counting) Fetch(context.Context, wire.Address, wire.Fetch)         {}
func (c *counting) Deploy(context.Context, wire.Address, wire.Deploy) error { return nil }
func (c *counting) Result(context.Context, wire.Address, wire.Result) error { return nil }

func (c *counting) seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.got)
}

// has tells whether all of n messages came.
func (c *counting) has(from, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		if c.got[fmt.Sprint(from+i)] == 0 {
			return false
		}
	}
	return true
}

// join starts an adapter by itself.
func (h *house) join(worker string, c *counting) hub.Broker {
	h.t.Helper()
	identity := func() (*tls.Config, error) { return h.authority.Worker(worker) }
	var b hub.Broker
	var err error
	if h.kind == brokerfiles.NATS {
		b, err = jetstream.Start(jetstream.Options{URL: h.url, Worker: worker, TLS: identity, Receiver: c, Replicas: max(1, h.replicas)})
	} else {
		b, err = mosquitto.Start(mosquitto.Options{URL: h.url, Worker: "docent-worker-" + worker, Group: "test", TLS: identity, Receiver: c})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

// send publishes n messages of events as kiosk-0.
func (h *house) send(identity *tls.Config, from, n int) {
	h.t.Helper()
	g := h.mustVisit(kioskName(0).ClientID(), identity)
	defer g.Disconnect(100)
	for i := range n {
		if token := g.Publish(kioskName(0).Topic(wire.KindEvent), 1, false, fmt.Sprint(from+i)); !token.WaitTimeout(10*time.Second) || token.Error() != nil {
			h.t.Fatal("publish: ", token.Error())
		}
	}
}

// joined waits until a process gets messages.
func (h *house) joined(identity *tls.Config, c *counting) {
	h.t.Helper()
	i := 1_000_000
	until(h.t, "the process has joined", func() bool {
		h.send(identity, i, 1)
		i++
		time.Sleep(100 * time.Millisecond)
		return c.seen() > 0
	})
}

// TestNotAnsweredBeforeStored fails to store, and goes away with messages unanswered: each comes again.
func TestNotAnsweredBeforeStored(t *testing.T) {
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		c := &counting{got: map[string]int{}}
		b := h.join("1", c)
		h.joined(ids[0], c)
		c.mu.Lock()
		c.got, c.fail = map[string]int{}, 3
		c.mu.Unlock()
		h.send(ids[0], 0, 20)
		until(t, "all 20", func() bool { return c.has(0, 20) })
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		h.send(ids[0], 100, 20) // while nobody is there
		again := &counting{got: map[string]int{}}
		b = h.join("1", again)
		until(t, "what came meanwhile", func() bool { return again.has(100, 20) })
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d of the messages before came again, their answers were lost", again.seen()-20)
	})
}

// TestProcessesShare has two processes take each message once.
func TestProcessesShare(t *testing.T) {
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		one, two := &counting{got: map[string]int{}}, &counting{got: map[string]int{}}
		for worker, c := range map[string]*counting{"1": one, "2": two} {
			b := h.join(worker, c)
			defer b.Close()
			h.joined(ids[0], c)
		}
		before := one.seen() + two.seen()
		h.send(ids[0], 0, 200)
		until(t, "all 200", func() bool { return one.seen()+two.seen() >= before+200 })
		t.Logf("%d and %d messages", one.seen(), two.seen())
		if one.seen() < 20 || two.seen() < 20 {
			t.Errorf("one process does almost all: %d and %d", one.seen(), two.seen())
		}
	})
}

// TestClusterOfThree loses one of three servers of NATS, which keep each message on three disks, while kiosks record.
func TestClusterOfThree(t *testing.T) {
	first := &house{t: t, kind: brokerfiles.NATS, dir: t.TempDir(), replicas: 3}
	var routes, clusters, clients []string
	for range 3 {
		c := free(t)
		clusters, routes, clients = append(clusters, c), append(routes, "nats://"+c), append(clients, free(t))
	}
	var all []*house
	for i := range 3 {
		h := &house{t: t, kind: brokerfiles.NATS, dir: first.dir, address: free(t), replicas: 3}
		h.authority = h.open()
		h.files = brokerfiles.Options{
			Kind: brokerfiles.NATS, Dir: filepath.Join(h.dir, fmt.Sprint("broker", i)), Authority: h.authority, Listen: h.address, Hub: clients[i],
			Data: filepath.Join(h.dir, fmt.Sprint("data", i)), Server: fmt.Sprint("docent-", i+1), Host: "127.0.0.1", Cluster: clusters[i], Routes: routes,
		}
		h.url = "nats://" + clients[0] + ",nats://" + clients[1] + ",nats://" + clients[2]
		all = append(all, h)
	}
	ids := all[0].identities(2)
	var certificates []store.Certificate
	all[0].store(func(s *store.Store) {
		var err error
		if certificates, err = s.AllCertificates(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	})
	for _, h := range all {
		h.write(certificates)
	}
	var starting sync.WaitGroup
	for _, h := range all {
		starting.Go(h.start)
		t.Cleanup(func() { h.stop(false) })
	}
	starting.Wait()
	all[0].runHub("1")
	k0 := all[1].startKiosk(0, ids[0], t.TempDir())
	k1 := all[2].startKiosk(1, ids[1], t.TempDir())
	k0.record(t, 100)
	k1.record(t, 100)
	k0.drained(t)
	k1.drained(t)
	all[0].stop(true)
	began := time.Now()
	k0.record(t, 100)
	k1.record(t, 100)
	k0.drained(t)
	k1.drained(t)
	t.Logf("one server of three ended: 200 events acknowledged %v later", time.Since(began).Round(10*time.Millisecond))
	all[0].start()
	all[2].stop(true)
	k0.record(t, 100)
	k0.drained(t)
	if rows := all[0].rows(); rows["kiosk-0"] != 300 || rows["kiosk-1"] != 200 {
		t.Errorf("rows: %v", rows)
	}
}

// TestCloseLeavesNoGoroutine ends processes that are connected, and one that never was.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		c := &counting{got: map[string]int{}}
		b := h.join("1", c)
		h.joined(ids[0], c)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		h.stop(false)
		b = h.join("1", c)
		if err := b.Publish(kioskName(0).Topic(wire.KindAck), []byte("x"), false); err == nil {
			t.Error("sent without a broker")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		until(t, "no goroutine is left", func() bool { return strays() == "" }, strays)
	})
}

// strays are goroutines of the adapters and their libraries.
func strays() string {
	buf := make([]byte, 1<<20)
	for _, one := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		for _, of := range []string{"docent/sync/hub/mosquitto.", "docent/sync/hub/jetstream.", "paho.mqtt.golang.", "nats-io/nats.go."} {
			if strings.Contains(one, of) {
				return one
			}
		}
	}
	return ""
}
