package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"docent/sync/hub/broker"
	"docent/sync/hub/brokerfiles"
	"docent/sync/hub/jetstream"
	"docent/sync/hub/mochi"
	"docent/sync/hub/mosquitto"
	"docent/sync/hub/store"
	"docent/sync/wire"
)

// Beyond describes a broker that is not within the hub's process. Kiosks connect to it with the certificates that the hub
// has signed; the hub is a client of it, in one process or in several.
type Beyond struct {
	URL string // "mqtts://HOST:PORT" of Mosquitto, "nats://HOST:PORT" of NATS, the latter several, separated by commas
	// EnrolListen is where kiosks ask for certificates and why they are refused.
	EnrolListen string // host:port; port 0 picks one
	Worker      string // name of this process at the broker; empty means "1"
	Replicas    int    // of what NATS keeps; 0 means 1
	// Files are kept up to date for the broker; nil leaves that to another process. The authority is the hub's.
	Files *brokerfiles.Options
}

func (b *Beyond) validate() error {
	u, err := url.Parse(strings.Split(b.URL, ",")[0])
	if err != nil || u.Scheme != "mqtts" && u.Scheme != "nats" {
		return fmt.Errorf("broker %q: neither mqtts:// nor nats://", b.URL)
	}
	if _, _, err := net.SplitHostPort(b.EnrolListen); err != nil {
		return fmt.Errorf("listen for enrolment: %w", err)
	}
	if b.Worker == "" {
		b.Worker = "1"
	}
	if err := wire.ValidName(b.Worker); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	return nil
}

// startBroker starts or joins the broker. It returns where kiosks find it.
func (h *Hub) startBroker(started <-chan struct{}) (b Broker, address string, err error) {
	if h.cfg.Beyond == nil {
		options := mochi.Options{Listen: h.cfg.MQTTListen, Receiver: receiver{h, started}, Logger: h.log}
		if !h.cfg.Clear {
			options.TLS = h.tlsConfig()
			options.Next = map[string]func(*tls.Conn){wire.ProtocolEnrol: h.enrolment.conns.serve}
		}
		m, err := mochi.Start(options)
		if err != nil {
			return nil, "", err
		}
		return m, m.Addr().String(), nil
	}
	o := h.cfg.Beyond
	u, err := url.Parse(strings.Split(o.URL, ",")[0])
	if err != nil {
		return nil, "", err
	}
	identity := func() (*tls.Config, error) { return h.authority.Worker(o.Worker) }
	to := fromBeyond{receiver{h, started}}
	if u.Scheme == "nats" {
		b, err = jetstream.Start(jetstream.Options{URL: o.URL, Worker: o.Worker, TLS: identity, Receiver: to, Replicas: o.Replicas, Logger: h.log})
		return b, u.Host, err
	}
	group, err := h.authority.Secret("group of the hub's processes at a broker")
	if err != nil {
		return nil, "", err
	}
	// The client id is the certificate's name: Mosquitto makes it so.
	b, err = mosquitto.Start(mosquitto.Options{URL: o.URL, Worker: "docent-worker-" + o.Worker, Group: group, TLS: identity, Receiver: to, Logger: h.log})
	return b, u.Host, err
}

// acknowledgeStored tells a kiosk how far its events have come. Where several processes share what it sends, these come out of
// order, and a gap is mostly what another one is storing: it is not named, or the kiosk would send all again at once. It
// does so when nothing gets further for a while, which a gap that stays brings about.
func (h *Hub) acknowledgeStored(a store.Ack) {
	if h.cfg.Beyond != nil {
		a.Ack.Missing = nil
	}
	h.acknowledge(a)
}

// fromBeyond takes what comes from a broker that has let kiosks in by itself.
type fromBeyond struct{ receiver }

var errOtherSite = fmt.Errorf("%w: of another site", broker.ErrMessage)

// Events stores events.
func (r fromBeyond) Events(ctx context.Context, from wire.Address, payload []byte) error {
	<-r.started
	if r.other(from) {
		return errOtherSite
	}
	return r.receiver.Events(ctx, from, payload)
}

func (r fromBeyond) other(from wire.Address) bool {
	return r.h.cfg.Site != "" && from.Site != r.h.cfg.Site
}

// Status takes a kiosk's presence. The first of a session says that the kiosk listens.
func (r fromBeyond) Status(ctx context.Context, from wire.Address, st wire.Status) error {
	<-r.started
	if r.other(from) {
		return errOtherSite
	}
	if err := r.receiver.Status(ctx, from, st); err != nil {
		return err
	}
	if st.State == wire.PresenceLost || st.State == wire.PresenceDisconnected {
		return nil
	}
	if r.h.guard.heard(from, st.BootID, st.SessionSeq, r.h.cfg.Clock()) {
		r.Subscribed(ctx, from)
	}
	return nil
}

// heard notes a status and tells whether it is the first that this process sees of a session. A broker beyond cannot
// refuse one of two machines that use an identity, but they can be told: a boot id that comes back, in a new session,
// after another's, and more than once, as messages may come late.
func (g *guard) heard(kiosk wire.Address, boot string, session uint64, now time.Time) (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.of(kiosk)
	if k.sessions == nil {
		k.sessions = map[string]uint64{}
	}
	last, known := k.sessions[boot]
	if known && session <= last {
		return false
	}
	if i := slices.Index(k.boots, boot); i >= 0 && i < len(k.boots)-1 {
		k.returns = append(slices.DeleteFunc(k.returns, func(t time.Time) bool { return now.Sub(t) > guardReturns }), now)
		if len(k.returns) > 1 {
			k.conflict, k.returns = now, k.returns[1:]
		}
		k.boots = slices.Delete(k.boots, i, i+1)
		k.boots = append(k.boots, boot)
	} else if i < 0 {
		k.boots = append(k.boots, boot)
	}
	if len(k.boots) > guardBoots {
		delete(k.sessions, k.boots[0])
		k.boots = k.boots[1:]
	}
	k.sessions[boot] = session
	return true
}

// guardReturns is within which time boot ids that come back mean two machines.
const guardReturns = 30 * time.Minute

// maxEnrolling bounds the connections of enrolment where it has a listener of its own.
const maxEnrolling = 1024

// listenForEnrolment opens the address for kiosks that have no other way to the hub itself.
func (h *Hub) listenForEnrolment() error {
	l, err := net.Listen("tcp", h.cfg.Beyond.EnrolListen)
	if err != nil {
		return fmt.Errorf("listen for enrolment: %w", err)
	}
	h.enrolment.listener = tls.NewListener(netutil.LimitListener(l, maxEnrolling), h.enrolTLS())
	return nil
}

// beyond is a broker whose rights are files.
type beyond struct {
	Broker
	wake chan struct{} // capacity 1
}

// Recheck makes the files say who may come in now.
func (b beyond) Recheck() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// filesEvery is how soon this process writes what another one has changed.
const filesEvery = 5 * time.Second

// keepFiles writes the broker's files, now and whenever a kiosk is let in or shut out.
func (h *Hub) keepFiles(ctx context.Context, files *brokerfiles.Files, wake <-chan struct{}) {
	tick := time.NewTicker(filesEvery)
	defer tick.Stop()
	for {
		if changed, err := h.writeFiles(ctx, files); err != nil && ctx.Err() == nil {
			h.log.Error("broker not told who may come in", "err", err)
		} else if changed {
			h.log.Info("broker's files written")
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-tick.C:
		}
	}
}

func (h *Hub) writeFiles(ctx context.Context, files *brokerfiles.Files) (changed bool, err error) {
	now := h.cfg.Clock()
	certificates, err := h.store.AllCertificates(ctx, now)
	if err != nil {
		return false, err
	}
	return files.Write(certificates, now)
}

// EnrolAddr is where kiosks ask for certificates. It is known when Ready is closed.
func (h *Hub) EnrolAddr() string {
	if h.enrolment.listener == nil {
		return h.address
	}
	return h.enrolment.listener.Addr().String()
}

var errBeyondClear = errors.New("hub: a broker beyond this process needs certificates")

// WriteBrokerFiles writes a broker's files once, for a hub that need not run. Of the configuration, Dir, Database, Site
// and Clock hold.
func WriteBrokerFiles(ctx context.Context, cfg Config, files brokerfiles.Options) (err error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	h := &Hub{cfg: cfg}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := h.openStore(ctx); err != nil {
		return err
	}
	if err := h.openAuthority(ctx); err != nil {
		return err
	}
	files.Authority, files.Site = h.authority, cfg.Site
	f, err := brokerfiles.New(files)
	if err != nil {
		return err
	}
	_, err = h.writeFiles(ctx, f)
	return err
}
