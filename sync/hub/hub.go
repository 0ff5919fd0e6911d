// Package hub is the cloud side on one machine: an embedded broker that kiosks connect to, a store of their memory
// events, and a page that shows what has come in.
package hub

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"docent/sync/hub/authority"
	"docent/sync/hub/brokerfiles"
	"docent/sync/hub/content"
	"docent/sync/hub/hold"
	"docent/sync/hub/ingest"
	"docent/sync/hub/jetstream"
	"docent/sync/hub/mochi"
	"docent/sync/hub/mosquitto"
	"docent/sync/hub/rollout"
	"docent/sync/hub/store"
	"docent/sync/hub/visits"
	"docent/sync/wire"
)

// Config says where the hub keeps its data and where it listens. Dir, MQTTListen and HTTPListen are required.
type Config struct {
	Dir        string // holds hub.db, and keys
	MQTTListen string // host:port; port 0 picks one
	HTTPListen string // host:port; port 0 picks one
	// Database is a PostgreSQL database, postgres://…, that several hubs may share; empty: SQLite and files, in Dir.
	Database string
	// Site is the one site whose kiosks may connect; empty admits every site.
	Site string
	// Beyond is a broker outside of this process; nil: the embedded one, at MQTTListen.
	Beyond *Beyond
	// Clear is without TLS and certificates, on an address of this machine only: for the demo. Otherwise the hub is a
	// certificate authority of its own, in the folder "authority", and lets in what that has signed.
	Clear bool
	// Settle is how long after its start the hub lets no kiosk count as timed out in a rollout; 0 means 5 minutes.
	Settle time.Duration
	Logger *slog.Logger     // nil discards
	Clock  func() time.Time // nil means time.Now
}

// Broker carries messages between kiosks and the hub.
type Broker interface {
	// Publish sends a message to whoever listens for it. It does not wait for delivery.
	Publish(topic string, payload []byte, retain bool) error
	// Recheck ends the connections that are not allowed any more.
	Recheck()
	// Close ends all connections and waits for their goroutines.
	Close() error
}

var (
	_ Broker = (*mochi.Broker)(nil)
	_ Broker = (*mosquitto.Broker)(nil)
	_ Broker = (*jetstream.Broker)(nil)
)

// Hub is a hub that runs, or will.
type Hub struct {
	cfg   Config
	log   *slog.Logger
	ready chan struct{}
	alone bool // no other process may work with its folder, where that has the database

	guard     guard
	holds     remembered
	unknown   chan store.Certificate // capacity unknownLen
	strangers chan struct{}          // capacity 1: there are unknown ones

	// Set before ready is closed, unchanged afterwards.
	db        *sql.DB    // nil: SQLite and files
	lock      *hold.Lock // nil: a database that hubs share
	store     *store.Store
	authority *authority.Authority // nil in clear
	enrolment *enrolment
	content   *content.Store
	rollouts  *rollout.Rollouts
	alarm     *alarm
	visits    *visits.Visits
	ingest    *ingest.Ingest
	broker    Broker
	address   string // of the broker, for kiosks
	http      net.Listener
}

// New checks the configuration. Run opens everything.
func New(cfg Config) (*Hub, error) {
	if cfg.Dir == "" {
		return nil, errors.New("hub: no folder for its data")
	}
	if cfg.Site != "" {
		if err := wire.ValidName(cfg.Site); err != nil {
			return nil, fmt.Errorf("hub: site: %w", err)
		}
	}
	if cfg.Beyond != nil {
		if cfg.Clear {
			return nil, errBeyondClear
		}
		if err := cfg.Beyond.validate(); err != nil {
			return nil, fmt.Errorf("hub: %w", err)
		}
	}
	if cfg.Clear {
		if err := loopback(cfg.MQTTListen); err != nil {
			return nil, fmt.Errorf("hub: listen for kiosks without TLS: %w", err)
		}
	}
	// The page has no sign-in yet and shows what visitors asked.
	if err := loopback(cfg.HTTPListen); err != nil {
		return nil, fmt.Errorf("hub: listen for the page: %w", err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Hub{cfg: cfg, log: cfg.Logger, alone: true, ready: make(chan struct{}), unknown: make(chan store.Certificate, unknownLen), strangers: make(chan struct{}, 1)}, nil
}

// loopback refuses an address that other machines can reach.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	if host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return fmt.Errorf("address %q can be reached from other machines; only 127.0.0.1, ::1 or localhost", addr)
	}
	return nil
}

// Ready is closed when the hub listens. If Run fails before that, it never is.
func (h *Hub) Ready() <-chan struct{} { return h.ready }

// MQTTAddr is where kiosks connect, "127.0.0.1:1883". It is known when Ready is closed.
func (h *Hub) MQTTAddr() string { return h.address }

// Fingerprint is what kiosks know the hub by, empty for one in clear. It is known when Ready is closed.
func (h *Hub) Fingerprint() string {
	if h.authority == nil {
		return ""
	}
	return h.authority.Fingerprint()
}

// HTTPAddr is where the page is. It is known when Ready is closed.
func (h *Hub) HTTPAddr() string { return h.http.Addr().String() }

// Run opens the store, listens, and serves until ctx ends; then it closes everything and returns nil.
func (h *Hub) Run(ctx context.Context) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer func() { err = errors.Join(err, h.close()) }()
	if err := h.open(ctx); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	if err := h.followRollouts(ctx); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	if h.cfg.Beyond == nil { // else kiosks are connected whether this process runs or not
		if err := h.store.AllLost(ctx, h.cfg.Clock()); err != nil {
			return fmt.Errorf("hub: %w", err)
		}
	}
	// The page's address first: kiosks should not connect to a hub that then fails to start.
	if h.http, err = net.Listen("tcp", h.cfg.HTTPListen); err != nil {
		return fmt.Errorf("hub: listen for the page: %w", err)
	}
	h.ingest = ingest.New(ingest.Options{Store: h.visits.Before(h.store), Send: h.acknowledgeStored, Clock: h.cfg.Clock, Logger: h.log})
	defer h.ingest.Close()

	started := make(chan struct{})
	h.enrolment = newEnrolment(h)
	if h.cfg.Beyond != nil {
		if err := h.listenForEnrolment(); err != nil {
			return errors.Join(fmt.Errorf("hub: %w", err), h.http.Close())
		}
	}
	var own sync.WaitGroup
	own.Go(h.enrolment.run)
	defer own.Wait()
	defer h.enrolment.close()
	if h.broker, h.address, err = h.startBroker(started); err != nil {
		return errors.Join(fmt.Errorf("hub: %w", err), h.http.Close())
	}
	messenger := h.broker
	defer func() { err = errors.Join(err, messenger.Close()) }()
	var files *brokerfiles.Files
	wake := make(chan struct{}, 1)
	if h.cfg.Beyond != nil {
		h.broker = beyond{messenger, wake}
		if o := h.cfg.Beyond.Files; o != nil {
			with := *o
			with.Authority, with.Site = h.authority, h.cfg.Site
			if files, err = brokerfiles.New(with); err != nil {
				return errors.Join(fmt.Errorf("hub: %w", err), h.http.Close())
			}
		}
	}
	close(started)

	var renewing sync.WaitGroup
	if files != nil {
		renewing.Go(func() { h.keepFiles(ctx, files, wake) })
	}
	renewing.Go(func() { h.content.Run(ctx) })
	renewing.Go(func() { h.rollouts.Run(ctx) })
	renewing.Go(func() { h.visits.Run(ctx) })
	renewing.Go(func() { h.recheck(ctx) })
	renewing.Go(func() { h.adopt(ctx) })
	defer renewing.Wait()

	web := h.app(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- web.Listener(h.http) }()
	close(h.ready)
	h.log.Info("hub ready", "mqtt", h.MQTTAddr(), "http", h.HTTPAddr(), "fingerprint", h.Fingerprint())

	select {
	case err := <-served:
		stop()
		return fmt.Errorf("hub: serve the page: %w", err)
	case <-ctx.Done():
	}
	if err := web.ShutdownWithTimeout(shutdown); err != nil {
		h.log.Debug("page connections cut", "err", err)
	}
	_ = h.http.Close() // where the server had not begun to serve yet, shutting it down did not
	<-served
	return nil
}

// shutdown is how long a page request may take to finish when the hub ends.
const shutdown = 2 * time.Second

// acknowledge sends an acknowledgement to its kiosk. One that does not arrive is made up for by the next.
func (h *Hub) acknowledge(a store.Ack) {
	b, err := a.Ack.Encode()
	if err == nil {
		err = h.broker.Publish(a.To.Topic(wire.KindAck), b, false)
	}
	if err != nil {
		h.log.Warn("acknowledgement not sent", "kiosk", a.To.Kiosk, "err", err)
	}
}

// receiver is what the broker hands messages to. Connections may come before Run has noted its broker, so the methods
// wait for that.
type receiver struct {
	h       *Hub
	started <-chan struct{}
}

// Events makes a message of events durable.
func (r receiver) Events(ctx context.Context, from wire.Address, payload []byte) error {
	return r.h.ingest.Payload(ctx, from, payload)
}

// Status stores a kiosk's presence.
func (r receiver) Status(ctx context.Context, from wire.Address, st wire.Status) error {
	<-r.started
	if err := r.h.store.SetPresence(ctx, from, st, r.h.cfg.Clock()); err != nil {
		return err
	}
	// Said again with each sign of life, because the broker drops what a slow connection cannot take.
	if st.State != wire.PresenceLost && st.State != wire.PresenceDisconnected {
		r.h.raise(from)
		r.h.askOpen(ctx, from, commandAgain)
		r.h.desireAgain(ctx, from)
		r.h.rollouts.Wake() // it may be new
	}
	return nil
}

// Subscribed tells a kiosk that has just come where its streams stand.
func (r receiver) Subscribed(ctx context.Context, kiosk wire.Address) {
	r.h.raise(kiosk)
	acks, err := r.h.store.Acks(ctx, kiosk)
	if err != nil {
		r.h.log.Warn("acknowledgement not sent", "kiosk", kiosk.Kiosk, "err", err)
		return
	}
	for _, a := range acks {
		r.h.acknowledge(store.Ack{To: kiosk, Ack: a})
	}
	r.h.desire(ctx, kiosk)
	r.h.askOpen(ctx, kiosk, 0)
	if err := r.h.visits.Welcome(ctx, kiosk); err != nil {
		r.h.log.Warn("kiosk not told of forgotten visits", "kiosk", kiosk.Kiosk, "err", err)
	}
}

// Fetch answers a kiosk's request for content.
func (r receiver) Fetch(ctx context.Context, from wire.Address, req wire.Fetch) {
	<-r.started
	c, ok := r.h.visits.Answer(ctx, from, req)
	switch {
	case ok:
	case req.Name == wire.DesiredName:
		c = r.h.answerDesired(ctx, from, req)
	default:
		c = r.h.content.Read(req)
	}
	b, err := c.Encode()
	if err == nil {
		err = r.h.broker.Publish(from.Topic(wire.KindChunk), b, false)
	}
	if err != nil {
		r.h.log.Warn("content not sent", "kiosk", from.Kiosk, "err", err)
	}
}

// noticeVisits tells a kiosk what has happened to visits elsewhere.
func (h *Hub) noticeVisits(kiosk wire.Address, n wire.VisitNotice) {
	b, err := n.Encode()
	if err == nil {
		err = h.broker.Publish(kiosk.Topic(wire.KindVisit), b, false)
	}
	if err != nil {
		h.log.Warn("kiosk not told of a visit", "kiosk", kiosk.Kiosk, "err", err)
	}
}

// Result stores the answer to a command.
func (r receiver) Result(ctx context.Context, from wire.Address, res wire.Result) error {
	return r.h.store.SetResult(ctx, from, res, r.h.cfg.Clock())
}

// Deploy stores what a kiosk says about its content.
func (r receiver) Deploy(ctx context.Context, from wire.Address, d wire.Deploy) error {
	<-r.started
	return r.h.deployed(ctx, from, d)
}

var _ mochi.Receiver = receiver{}
