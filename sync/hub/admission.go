package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"docent/sync/hub/authority"
	"docent/sync/hub/broker"
	"docent/sync/hub/store"
	"docent/sync/wire"
)

// tlsConfig is for the one port of kiosks. What a kiosk speaks (ALPN) decides: MQTT needs a certificate that holds,
// enrolment takes any or none and says what is wrong with it.
func (h *Hub) tlsConfig() *tls.Config {
	server := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return h.authority.Server() }
	line := &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{wire.ProtocolMQTT}, GetCertificate: server,
		ClientAuth: tls.RequestClientCert, SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			_, err := h.identify(context.Background(), s.PeerCertificates)
			return err
		},
	}
	enrol := h.enrolTLS()
	return &tls.Config{
		MinVersion: tls.VersionTLS13, GetCertificate: server,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if slices.Contains(hello.SupportedProtos, wire.ProtocolEnrol) && !slices.Contains(hello.SupportedProtos, wire.ProtocolMQTT) {
				return enrol, nil
			}
			return line, nil
		},
	}
}

// enrolTLS is for enrolment, which takes any certificate or none.
func (h *Hub) enrolTLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{wire.ProtocolEnrol}, ClientAuth: tls.RequestClientCert, SessionTicketsDisabled: true,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return h.authority.Server() },
	}
}

// identify says whose certificate a kiosk shows, or why it does not do, as an [*authority.RefusedError].
func (h *Hub) identify(ctx context.Context, shown []*x509.Certificate) (wire.Address, error) {
	kiosk, cert, err := h.authority.Check(shown)
	if err != nil {
		return wire.Address{}, err
	}
	if h.cfg.Site != "" && kiosk.Site != h.cfg.Site {
		return kiosk, &authority.RefusedError{Refusal: wire.RefusedSite}
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	row := store.Describe(kiosk, cert)
	held, since := h.holds.has(row.Serial, time.Now())
	if held {
		return kiosk, nil
	}
	refusal, known, err := h.store.Holds(ctx, row)
	if err != nil {
		return kiosk, err
	}
	if refusal == "" {
		h.holds.add(row.Serial, time.Now(), since)
	}
	if !known && refusal == "" {
		select {
		case h.unknown <- row: // what does not fit comes with the next connection
		default:
		}
		select {
		case h.strangers <- struct{}{}:
		default:
		}
	}
	if refusal != "" {
		return kiosk, &authority.RefusedError{Refusal: refusal}
	}
	return kiosk, nil
}

// remembered are certificates that held a moment ago: a connection asks three times while it comes in.
type remembered struct {
	mu      sync.Mutex
	serials map[string]time.Time
	revoked uint64 // how often something was
}

const (
	rememberFor   = 5 * time.Second
	maxRemembered = 20_000
)

// has tells whether a certificate held a moment ago; since is for add.
func (r *remembered) has(serial string, now time.Time) (held bool, since uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.serials[serial]
	return ok && now.Sub(at) < rememberFor, r.revoked
}

// add remembers what was read from the store, unless something was revoked meanwhile.
func (r *remembered) add(serial string, now time.Time, since uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.revoked != since {
		return
	}
	if r.serials == nil || len(r.serials) >= maxRemembered {
		r.serials = map[string]time.Time{}
	}
	r.serials[serial] = now
}

// forget is called when certificates were revoked.
func (r *remembered) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serials, r.revoked = nil, r.revoked+1
}

// refusalOf is the word for why a kiosk is refused; empty for an error that is the hub's own.
func refusalOf(err error) wire.Refusal {
	var refused *authority.RefusedError
	if errors.As(err, &refused) {
		return refused.Refusal
	}
	return ""
}

// Admit allows kiosks of the hub's site that show a certificate that holds, unless two machines use it.
func (r receiver) Admit(c broker.Connection) error {
	<-r.started
	if err := r.Allowed(c); err != nil {
		return err
	}
	if !r.h.guard.admit(c, r.h.cfg.Clock()) {
		return &authority.RefusedError{Refusal: wire.RefusedTwo}
	}
	return nil
}

// Allowed says why a connection may not go on: its certificate has run out or was revoked.
func (r receiver) Allowed(c broker.Connection) error {
	<-r.started
	if r.h.cfg.Clear {
		if r.h.cfg.Site != "" && c.Kiosk.Site != r.h.cfg.Site {
			return &authority.RefusedError{Refusal: wire.RefusedSite}
		}
		return nil
	}
	if c.Certificate == nil {
		return &authority.RefusedError{Refusal: wire.RefusedNoCertificate}
	}
	kiosk, err := r.h.identify(context.Background(), []*x509.Certificate{c.Certificate})
	if err == nil && kiosk != c.Kiosk {
		err = &authority.RefusedError{Refusal: wire.RefusedName}
	}
	return err
}

// Limits of the guard.
const (
	guardBoots     = 8           // boot ids remembered of a kiosk
	guardTakeovers = 3           // connections in a minute that replace an open one
	guardWindow    = time.Minute // of these
	guardAlert     = time.Hour   // how long a conflict is told after it was last seen
	maxGuarded     = 20_000      // kiosks
)

// guard finds two machines that use one identity, such as from a copied memory card: without it they would take the
// connection from each other for ever.
type guard struct {
	mu     sync.Mutex
	kiosks map[wire.Address]*guarded
}

type guarded struct {
	boots     []string // of the machine, the newest last
	session   uint64   // newest number in the newest boot
	takeovers []time.Time
	conflict  time.Time // last seen

	// At a broker beyond this process.
	sessions map[string]uint64 // newest of each boot id
	returns  []time.Time       // of boot ids that came back
}

// of is what is known of a kiosk. The caller holds the lock.
func (g *guard) of(kiosk wire.Address) *guarded {
	if g.kiosks == nil || len(g.kiosks) >= maxGuarded {
		g.kiosks = map[wire.Address]*guarded{}
	}
	k := g.kiosks[kiosk]
	if k == nil {
		k = &guarded{}
		g.kiosks[kiosk] = k
	}
	return k
}

// admit tells whether a connection may replace the open one of its name, if there is one. A machine that starts anew
// has a boot id that was never seen; one that comes back with an id from before another's is a second machine. A kiosk
// numbers its connections; two programs of one machine that quarrel do not count together. For clients that say neither,
// the number of takeovers decides.
func (g *guard) admit(c broker.Connection, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.of(c.Kiosk)
	i := slices.Index(k.boots, c.BootID)
	newest := i >= 0 && i == len(k.boots)-1
	second := c.BootID != "" && (i >= 0 && !newest || newest && c.Session <= k.session)
	if c.Taken && c.BootID == "" {
		k.takeovers = append(slices.DeleteFunc(k.takeovers, func(t time.Time) bool { return now.Sub(t) > guardWindow }), now)
		if len(k.takeovers) > guardTakeovers {
			k.takeovers = k.takeovers[:guardTakeovers]
			second = true
		}
	}
	if second && c.Taken {
		k.conflict = now
		return false
	}
	if c.BootID != "" {
		k.session = c.Session
		if i >= 0 {
			k.boots = slices.Delete(k.boots, i, i+1)
		}
		k.boots = append(k.boots, c.BootID)
		if len(k.boots) > guardBoots {
			k.boots = k.boots[1:]
		}
	}
	return true
}

// conflict tells whether two machines were seen under a name lately.
func (g *guard) conflict(kiosk wire.Address, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.kiosks[kiosk]
	return k != nil && !k.conflict.IsZero() && now.Sub(k.conflict) < guardAlert
}

// forget begins anew for a kiosk, when it was given a new certificate.
func (g *guard) forget(kiosk wire.Address) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.kiosks, kiosk)
}

// Revoke ends the certificates of a kiosk, and its connection. ErrNotFound says that it has none.
func (h *Hub) Revoke(ctx context.Context, kiosk wire.Address) error {
	if err := h.adoptNow(ctx); err != nil {
		return err
	}
	n, err := h.store.Revoke(ctx, kiosk, h.cfg.Clock(), wire.RefusedRevoked)
	if err != nil {
		return err
	}
	h.holds.forget()
	h.broker.Recheck()
	if n == 0 {
		return fmt.Errorf("revoke certificates of %s: %w", kiosk.ClientID(), store.ErrNotFound)
	}
	h.log.Info("kiosk revoked", "site", kiosk.Site, "kiosk", kiosk.Kiosk)
	return nil
}

const (
	unknownLen = 1024 // certificates waiting to be stored
	adoptPause = time.Second
)

// adopt stores certificates that were not known, many at a time: a thousand kiosks may come at once.
func (h *Hub) adopt(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.strangers:
		}
		select {
		case <-ctx.Done():
		case <-time.After(adoptPause):
		}
		if err := h.adoptNow(context.WithoutCancel(ctx)); err != nil {
			h.log.Warn("certificates not stored, they come again with the next connections", "err", err)
		}
	}
}

// adoptNow stores what waits.
func (h *Hub) adoptNow(ctx context.Context) error {
	var all []store.Certificate
	for n := len(h.unknown); n > 0; n-- {
		select {
		case c := <-h.unknown:
			all = append(all, c)
		default:
		}
	}
	if len(all) == 0 {
		return nil
	}
	h.log.Info("certificates that the store did not know", "number", len(all))
	return h.store.Adopt(ctx, all)
}

// recheckEvery is how soon a connection ends whose certificate has run out meanwhile.
const recheckEvery = time.Minute

func (h *Hub) recheck(ctx context.Context) {
	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.broker.Recheck()
		}
	}
}
