// Package enrol is a kiosk's identity: a key that never leaves it and the certificate that its hub has signed for it. It
// asks for one by a code that staff type at the hub, renews it, and says in words why a hub does not let the kiosk in.
package enrol

import (
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"time"

	"docent/sync/wire"
)

// Options say who this kiosk is and where its hub is. Dir, Hub and Kiosk are required.
type Options struct {
	Dir string // of the identity, mode 0700
	Hub string // "tls://hub.example:8883"
	// Kiosk is the name to ask a certificate for.
	Kiosk wire.Address
	// Fingerprint of the hub's authority. Without one, the first hub that answers is trusted, and shown to staff, who
	// compare it before they authorise the kiosk.
	Fingerprint string
	Logger      *slog.Logger     // nil discards
	Clock       func() time.Time // nil means time.Now

	Poll  time.Duration  // between looks whether staff have decided; 0 means 3 s
	Check time.Duration  // between looks whether to renew; 0 means 10 min
	Retry time.Duration  // after a failure, doubled up to ten times that, and jittered; 0 means 6 s
	Rand  func() float64 // in [0,1), for the jitter; nil means math/rand/v2
}

// Phase is how far a kiosk is with its identity.
type Phase string

// The phases.
const (
	PhaseNone     Phase = "none"     // no certificate, and the hub has not answered yet
	PhaseWaiting  Phase = "waiting"  // it shows a code
	PhaseEnrolled Phase = "enrolled" // it has a certificate that holds as far as it knows
	PhaseRefused  Phase = "refused"  // the hub, or this kiosk, refuses; see Reason
)

// State describes the identity for staff.
type State struct {
	Phase       Phase
	Code        string // to be typed at the hub, while waiting
	CodeUntil   time.Time
	Fingerprint string    // of the hub that is trusted; empty before the first answer
	Until       time.Time // of the certificate
	Reason      string    // a stable word: a wire.Refusal, or one of ours below; empty when all is well
	Detail      string    // the same for a person
}

// Reasons of the kiosk's own.
const (
	ReasonHub      = "hub_not_trusted" // the hub is another one than the kiosk was enrolled at
	ReasonIdentity = "identity"        // the certificate on the disk is of no use; only [Look] says so
	ReasonClock    = "clock"           // this kiosk's clock and the hub's differ too much for certificates
)

// Error is why hub and kiosk do not come together.
type Error struct {
	Reason string
	Detail string
}

func (e *Error) Error() string { return e.Reason + ": " + e.Detail }

// ErrNone says that there is no certificate yet.
var ErrNone = errors.New("not enrolled at the hub yet")

// Identity is safe for concurrent use. Run keeps it.
type Identity struct {
	opt  Options
	host string
	log  *slog.Logger

	changed chan struct{} // capacity 1: there is another certificate, or none
	wake    chan struct{} // capacity 1: Run has something to do

	mu      sync.Mutex
	held    *held    // nil: none
	pending *pending // nil: no code is shown
	trouble *Error   // nil: none
	seen    string   // fingerprint of the hub that answered last
}

// held is a certificate with its key and the authority that signed it.
type held struct {
	key  crypto.Signer
	leaf *x509.Certificate
	ca   *x509.Certificate
}

// pending is a request that staff have not decided on.
type pending struct {
	key   crypto.Signer
	ca    *x509.Certificate
	id    string
	code  string
	until time.Time // by this kiosk's clock
}

// Open reads the identity of a folder. One that cannot be read, or that is for another name or another hub than set, is
// set aside; the kiosk asks anew.
func Open(opt Options) (*Identity, error) {
	i, err := fresh(opt)
	if err != nil {
		return nil, err
	}
	if err := i.load(); err != nil {
		return nil, fmt.Errorf("open identity: %w", err)
	}
	return i, nil
}

// fresh is an identity that has read nothing yet.
func fresh(opt Options) (*Identity, error) {
	if err := opt.Kiosk.Validate(); err != nil {
		return nil, fmt.Errorf("open identity: %w", err)
	}
	u, err := url.Parse(opt.Hub)
	if err != nil || u.Scheme != "tls" || u.Hostname() == "" || u.Port() == "" {
		return nil, fmt.Errorf("open identity: hub %q is not of the form tls://HOST:PORT", opt.Hub)
	}
	if opt.Fingerprint != "" {
		if opt.Fingerprint, err = wire.ParseFingerprint(opt.Fingerprint); err != nil {
			return nil, fmt.Errorf("open identity: %w", err)
		}
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	if opt.Poll == 0 {
		opt.Poll = 3 * time.Second
	}
	if opt.Check == 0 {
		opt.Check = 10 * time.Minute
	}
	if opt.Retry == 0 {
		opt.Retry = 6 * time.Second
	}
	if opt.Rand == nil {
		opt.Rand = rand.Float64
	}
	return &Identity{opt: opt, host: u.Host, log: opt.Logger, changed: make(chan struct{}, 1), wake: make(chan struct{}, 1)}, nil
}

// State describes the identity now.
func (i *Identity) State() State {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := State{Phase: PhaseNone, Fingerprint: i.seen}
	if i.held != nil {
		s.Phase, s.Until, s.Fingerprint = PhaseEnrolled, i.held.leaf.NotAfter, wire.Fingerprint(i.held.ca)
	}
	if i.trouble != nil {
		s.Reason, s.Detail = i.trouble.Reason, i.trouble.Detail
		s.Phase = PhaseRefused
	}
	if p := i.pending; p != nil {
		s.Phase, s.Code, s.CodeUntil, s.Fingerprint = PhaseWaiting, p.code, p.until, wire.Fingerprint(p.ca)
	}
	return s
}

// Changed receives a value when the certificate is another: what is connected shall connect anew.
func (i *Identity) Changed() <-chan struct{} { return i.changed }

// TLS is the configuration for the next connection to the hub's broker, or an error that says why there is none.
func (i *Identity) TLS() (*tls.Config, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.held == nil {
		switch {
		case i.pending != nil:
			return nil, fmt.Errorf("%w: waits for staff, code %s", ErrNone, i.pending.code)
		case i.trouble != nil:
			return nil, i.trouble
		}
		return nil, ErrNone
	}
	h := i.held
	if now := i.opt.Clock(); now.After(h.leaf.NotAfter) && i.trouble == nil {
		i.trouble = &Error{string(wire.RefusedExpired), "the certificate held until " + stamp(h.leaf.NotAfter) + ", by this kiosk's clock it is " + stamp(now)}
		notify(i.wake)
	}
	return i.config(h.ca, h, wire.ProtocolMQTT, i.opt.Clock), nil
}

// config trusts one authority. at is the time for which certificates must hold; nil passes over their times.
func (i *Identity) config(ca *x509.Certificate, show *held, protocol string, at func() time.Time) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: wire.HubName, NextProtos: []string{protocol},
		InsecureSkipVerify: true, // in favour of VerifyConnection: an authority of the house, no names, no system roots
		VerifyConnection: func(s tls.ConnectionState) error {
			return verifyHub(s.PeerCertificates, ca, at)
		},
	}
	if show != nil {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // whatever authorities the hub names
			return &tls.Certificate{Certificate: [][]byte{show.leaf.Raw}, PrivateKey: show.key, Leaf: show.leaf}, nil
		}
	}
	return c
}

// verifyHub checks that a hub's certificate is signed by the authority.
func verifyHub(shown []*x509.Certificate, ca *x509.Certificate, at func() time.Time) error {
	if len(shown) == 0 {
		return &Error{ReasonHub, "the hub shows no certificate"}
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	leaf := shown[0]
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, DNSName: wire.HubName, CurrentTime: leaf.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		shown := shown[len(shown)-1]
		return &Error{ReasonHub, "this is not the hub that the kiosk was enrolled at; its fingerprint is " + wire.Fingerprint(shown)}
	}
	if at == nil {
		return nil
	}
	if now := at(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return &Error{ReasonClock, fmt.Sprintf("the hub's certificate holds from %s to %s, by this kiosk's clock it is %s",
			stamp(leaf.NotBefore), stamp(leaf.NotAfter), stamp(now))}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Explain says why a connection with this identity failed: it asks the hub, if that can be reached.
func (i *Identity) Explain(ctx context.Context, failed error) error {
	var own *Error
	var network *net.OpError
	switch {
	case errors.As(failed, &own) && own.Reason == ReasonHub:
		i.note(own)
		return own
	case errors.As(failed, &network) && network.Op == "dial":
		return failed
	}
	i.mu.Lock()
	h := i.held
	i.mu.Unlock()
	if h == nil {
		return failed
	}
	a, err := i.call(ctx, request{path: wire.StandingPath, ca: h.ca, show: h})
	if err != nil {
		var why *Error
		if errors.As(err, &why) {
			i.note(why)
			return why
		}
		return failed
	}
	trouble := i.judge(a, own)
	i.note(trouble)
	if trouble == nil {
		return failed
	}
	return trouble
}

// clockTolerance is how far clocks may be apart before that is named as the reason.
const clockTolerance = 30 * time.Minute

// judge turns the hub's answer, and what the kiosk itself found, into the reason; nil when the hub sees none.
func (i *Identity) judge(a wire.EnrolAnswer, own *Error) *Error {
	now := i.opt.Clock()
	apart := now.Sub(a.Now).Round(time.Minute)
	far := apart > clockTolerance || apart < -clockTolerance
	clocks := fmt.Sprintf("the hub's clock says %s, this kiosk's %s", stamp(a.Now), stamp(now))
	switch {
	case a.Refusal == "" && own != nil:
		if far {
			return &Error{ReasonClock, clocks}
		}
		return own
	case a.Refusal == "":
		return nil
	case far && (a.Refusal == wire.RefusedNotYetValid || a.Refusal == wire.RefusedExpired):
		return &Error{ReasonClock, clocks + "; for the hub the certificate is " + string(a.Refusal)}
	}
	return &Error{string(a.Refusal), refusals[a.Refusal]}
}

// refusals are for staff that stand before the kiosk.
var refusals = map[wire.Refusal]string{
	wire.RefusedNoCertificate: "the hub saw no certificate",
	wire.RefusedAuthority:     "the certificate is another hub's",
	wire.RefusedExpired:       "the certificate has run out",
	wire.RefusedNotYetValid:   "for the hub the certificate does not hold yet",
	wire.RefusedRevoked:       "staff have revoked this kiosk's certificate",
	wire.RefusedReplaced:      "another machine was given this kiosk's name",
	wire.RefusedName:          "the certificate is for another name",
	wire.RefusedSite:          "the hub is another site's",
	wire.RefusedTwo:           "another machine uses this kiosk's identity, such as from a copied disk",
	wire.RefusedTooMany:       "too many kiosks ask the hub at once",
	wire.RefusedRequest:       "the hub does not understand the request",
}

// note keeps what is wrong, and wakes Run if that is for it to mend.
func (i *Identity) note(e *Error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.trouble = e
	if e != nil && mendable(e.Reason) {
		notify(i.wake)
	}
}

// mendable tells whether a new certificate would help: staff decide then.
func mendable(reason string) bool {
	switch wire.Refusal(reason) {
	case wire.RefusedExpired, wire.RefusedRevoked, wire.RefusedReplaced, wire.RefusedAuthority:
		return true
	}
	return false
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
