package brokersuite

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/enrol"
	"docent/sync/hub/authority"
	"docent/sync/hub/brokerfiles"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/wire"
)

// guest is a client of a test that shows a kiosk's certificate and does what kiosks do not.
type guest struct {
	paho.Client
	mu   sync.Mutex
	got  []string // topics
	gone chan struct{}
}

// visit connects under a client id.
func (h *house) visit(id string, identity *tls.Config, change ...func(*paho.ClientOptions)) (*guest, error) {
	h.t.Helper()
	g := &guest{gone: make(chan struct{})}
	o := paho.NewClientOptions().AddBroker("tls://" + h.address).SetTLSConfig(identity).SetClientID(id).
		SetProtocolVersion(4).SetCleanSession(true).SetAutoReconnect(false).SetConnectTimeout(5 * time.Second).SetWriteTimeout(5 * time.Second).
		SetConnectionLostHandler(func(paho.Client, error) { close(g.gone) }).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.got = append(g.got, m.Topic())
		})
	for _, c := range change {
		c(o)
	}
	g.Client = paho.NewClient(o)
	token := g.Connect()
	if !token.WaitTimeout(10 * time.Second) {
		return nil, errors.New("no answer")
	}
	if token.Error() == nil {
		h.t.Cleanup(func() { g.Disconnect(50) })
	}
	return g, token.Error()
}

func (h *house) mustVisit(id string, identity *tls.Config) *guest {
	h.t.Helper()
	g, err := h.visit(id, identity)
	if err != nil {
		h.t.Fatal(err)
	}
	return g
}

func (g *guest) topics() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.got...)
}

// subscribe tells whether the broker grants a filter.
func (g *guest) subscribe(t testing.TB, filter string) bool {
	t.Helper()
	token := g.Subscribe(filter, 1, nil)
	if !token.WaitTimeout(5*time.Second) || token.Error() != nil {
		return false
	}
	for _, code := range token.(*paho.SubscribeToken).Result() {
		if code > 2 {
			return false
		}
	}
	return true
}

// TestOthersTopics lets a kiosk subscribe to and publish on what is not its own. Whether a broker refuses the subscription
// or only what would come by it, nothing of another kiosk may arrive, neither there nor at the hub.
func TestOthersTopics(t *testing.T) {
	brokers(t, func(t *testing.T, h *house) {
		ids := h.identities(2)
		h.runHub("1")
		mine, theirs := kioskName(0), kioskName(1)
		other := h.startKiosk(1, ids[1], t.TempDir())
		granted := map[string]bool{}
		for _, filter := range []string{
			"#", "+/#", "dt/#", "cmd/#", "+/docent/v1/+/+/+", "cmd/docent/v1/museum/+/+", "cmd/docent/v1/museum/+/ack", theirs.Commands(),
			theirs.Topic(wire.KindAck), theirs.Topic(wire.KindEvent), mine.Topic(wire.KindEvent), "$SYS/#", "$share/docent-hub/dt/docent/v1/+/+/+", "$share/x/#",
		} {
			// One connection each: NATS and the embedded broker end one that oversteps.
			g := h.mustVisit(mine.ClientID(), ids[0])
			granted[filter] = g.subscribe(t, filter)
			other.record(t, 3)
			other.drained(t)
			time.Sleep(50 * time.Millisecond) // for what must not come
			for _, topic := range g.topics() {
				t.Errorf("%s (granted: %v): %s arrived", filter, granted[filter], topic)
			}
			g.Disconnect(50)
		}
		if h.kind != brokerfiles.Mosquitto { // which grants anything and holds back what may not be read
			for filter, yes := range granted {
				if yes {
					t.Errorf("%s was granted", filter)
				}
			}
		}
		before := h.rows()
		event := []byte(`{"x":1}`)
		will, err := wire.Status{State: wire.PresenceLost, SessionSeq: 1 << 40, BootID: "b1b2b3b4-1111-4222-8333-444455556666"}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, topic := range []string{
			theirs.Topic(wire.KindEvent), theirs.Topic(wire.KindStatus), theirs.Topic(wire.KindAck), mine.Topic(wire.KindAck), "dt/docent/v1/museum/x", "elsewhere", "$SYS/x",
		} {
			g := h.mustVisit(mine.ClientID(), ids[0])
			g.Publish(topic, 1, true, event).WaitTimeout(time.Second)
			g.Disconnect(50)
		}
		// A will on another's topic, from a connection that ends without a goodbye.
		hangUp := func(o *paho.ClientOptions) { o.SetBinaryWill(theirs.Topic(wire.KindStatus), will, 1, true) }
		if g, err := h.visit(mine.ClientID(), ids[0], hangUp); err == nil {
			g.subscribe(t, "#") // ends it at brokers that end such connections
			h.mustVisit(mine.ClientID(), ids[0]).Disconnect(50)
		}
		other.record(t, 3)
		other.drained(t)
		after := h.rows() // fails where something went to the quarantine
		if after[theirs.Kiosk] != before[theirs.Kiosk]+3 || after[mine.Kiosk] != 0 {
			t.Errorf("rows before %v, after %v", before, after)
		}
		h.store(func(s *store.Store) {
			all, err := s.Kiosks(context.Background())
			if err != nil || len(all) != 1 || all[0].State != string(wire.PresenceReady) {
				t.Errorf("the hub believes %+v (%v)", all, err)
			}
		})
	})
}

// TestForeignCertificates shows a broker certificates that do not do.
func TestForeignCertificates(t *testing.T) {
	brokers(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		h.runHub("1")
		id := kioskName(0)
		foreign, err := authority.Open(t.TempDir(), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		past, err := authority.Open(h.dir+"/authority", func() time.Time { return time.Now().Add(-2 * authority.KioskLife) })
		if err != nil {
			t.Fatal(err)
		}
		future, err := authority.Open(h.dir+"/authority", func() time.Time { return time.Now().Add(authority.KioskLife) })
		if err != nil {
			t.Fatal(err)
		}
		show := func(a enrol.Authority, name wire.Address) *tls.Config {
			c, err := enrol.ClientConfig(a, name)
			if err != nil {
				t.Fatal(err)
			}
			c.RootCAs = ids[0].RootCAs // it is the broker that shall refuse
			return c
		}
		none := ids[0].Clone()
		none.GetClientCertificate = nil
		old := ids[0].Clone()
		old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		if _, err := h.visit(id.ClientID(), ids[0]); err != nil {
			t.Fatalf("one that does: %v", err)
		}
		for name, c := range map[string]*tls.Config{
			"none": none, "another authority's": show(foreign, id), "expired": show(past, id), "not yet valid": show(future, id), "TLS 1.2": old,
		} {
			if _, err := h.visit(id.ClientID(), c); err == nil {
				t.Errorf("%s: came in", name)
			}
		}
		// One whose name is nobody's may come in at Mosquitto; it may do nothing there.
		stranger := show(h.authority, kioskName(7))
		if g, err := h.visit(kioskName(7).ClientID(), stranger); err == nil && h.kind == brokerfiles.NATS {
			t.Error("one that is not listed came in")
			g.Disconnect(0)
		}
	})
}

// TestRevocation takes a kiosk's rights while it is connected, and tells it why.
func TestRevocation(t *testing.T) {
	brokers(t, func(t *testing.T, h *house) {
		ids := h.identities(2)
		r := h.runHub("1")
		k := h.startKiosk(0, ids[0], t.TempDir())
		k.record(t, 5)
		k.drained(t)
		if err := r.Revoke(context.Background(), kioskName(0)); err != nil {
			t.Fatal(err)
		}
		until(t, "the connection ended and is refused", func() bool {
			_, err := h.visit(kioskName(0).ClientID(), ids[0])
			return err != nil
		})
		before := h.rows()
		k.record(t, 5)
		until(t, "the kiosk is told that it is not connected", func() bool { return !k.link.State().Connected })
		if after := h.rows(); after[k.name] != before[k.name] || k.Depth() != 5 {
			t.Errorf("%d rows before, %d after, %d in the outbox", before[k.name], after[k.name], k.Depth())
		}
		// Others go on.
		k1 := h.startKiosk(1, ids[1], t.TempDir())
		k1.record(t, 5)
		k1.drained(t)
	})
}

// TestEnrolment lets a kiosk in by its code, with enrolment where it is at each broker, renews its certificate, revokes
// it and lets the kiosk say why.
func TestEnrolment(t *testing.T) {
	brokers(t, func(t *testing.T, h *house) {
		r := h.runHub("1")
		o, err := outbox.Open(t.TempDir(), outbox.Options{Kiosk: "kiosk-0", MinFree: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		id, err := enrol.Open(enrol.Options{
			Dir: t.TempDir(), Hub: "tls://" + r.EnrolAddr(), Kiosk: kioskName(0),
			Poll: 20 * time.Millisecond, Check: 20 * time.Millisecond, Retry: 20 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		l, err := link.New(link.Options{
			Broker: "tls://" + h.address, Site: site, Kiosk: "kiosk-0", Outbox: o, Credentials: id, AckTimeout: time.Second, Random: func() float64 { return 0.05 },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { id.Run(ctx) })
		wg.Go(func() { l.Run(ctx) })
		defer wg.Wait()
		defer cancel()
		k := &kiosk{Outbox: o, name: "kiosk-0", link: l}
		k.record(t, 5)
		until(t, "a code is shown", func() bool { return id.State().Code != "" })
		if _, err := r.Authorise(context.Background(), id.State().Code, false); err != nil {
			t.Fatal(err)
		}
		k.drained(t)
		if err := r.Revoke(context.Background(), kioskName(0)); err != nil {
			t.Fatal(err)
		}
		k.record(t, 1)
		until(t, "the kiosk asks again", func() bool { return id.State().Code != "" }, func() string { return l.State().LastError })
		if s := id.State(); s.Reason != string(wire.RefusedRevoked) {
			t.Errorf("reason %q", s.Reason)
		}
		if _, err := r.Authorise(context.Background(), id.State().Code, false); err != nil {
			t.Fatal(err)
		}
		k.drained(t)
		if n := h.rows()["kiosk-0"]; n != 6 {
			t.Errorf("%d rows, want 6", n)
		}
	})
}

// TestOneIdentityTwice runs two machines with a copied certificate. The embedded broker refuses the second; the others
// let them take the connection from each other, and the hub says so.
func TestOneIdentityTwice(t *testing.T) {
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		r := h.runHub("1")
		a := h.startMachine(0, ids[0], t.TempDir(), "b1b2b3b4-1111-4222-8333-444455556666")
		b := h.startMachine(0, ids[0], t.TempDir(), "c1c2c3c4-1111-4222-8333-444455556666")
		until(t, "the hub sees two machines", func() bool {
			for _, trouble := range h.troubles(r) {
				if strings.HasPrefix(trouble, "two_kiosks") {
					return true
				}
			}
			return false
		})
		t.Logf("%d and %d connections when the hub saw it", a.link.State().Connects, b.link.State().Connects)
		// What each of them records is two streams, and both arrive.
		a.record(t, 20)
		b.record(t, 20)
		b.stop()
		a.drained(t)
	})
}

// TestAnothersClientID is what certificates do not prevent everywhere: at Mosquitto a client is called what its
// certificate says; NATS takes what it says, so one kiosk can end another's connection, though not read or write for it.
func TestAnothersClientID(t *testing.T) {
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(2)
		h.runHub("1")
		victim := h.startKiosk(1, ids[1], t.TempDir())
		victim.record(t, 5)
		victim.drained(t)
		connects := victim.link.State().Connects
		g := h.mustVisit(kioskName(1).ClientID(), ids[0])
		if g.subscribe(t, kioskName(1).Commands()) && h.kind == brokerfiles.NATS {
			t.Error("another's commands were granted")
		}
		victim.record(t, 5)
		victim.drained(t)
		if got := g.topics(); len(got) > 0 {
			t.Errorf("%v arrived", got)
		}
		if taken := victim.link.State().Connects != connects; taken != (h.kind == brokerfiles.NATS) {
			t.Errorf("connection taken: %v", taken)
		}
	})
}

// TestBrokerCertificateRenewed gives a running broker another certificate, which it shows after the reload.
func TestBrokerCertificateRenewed(t *testing.T) {
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		shown := func() string {
			conn, err := tls.Dial("tcp", h.address, ids[0])
			if err != nil {
				return "" // it may have read while there was none
			}
			defer conn.Close()
			return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
		}
		var before string
		until(t, "a certificate", func() bool { before = shown(); return before != "" })
		for _, name := range []string{"server.crt", "server.key"} {
			if err := os.Remove(filepath.Join(h.files.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		h.write(nil) // the list is another, too
		until(t, "another certificate", func() bool { now := shown(); return now != "" && now != before })
	})
}
