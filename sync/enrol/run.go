package enrol

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"docent/sync/wire"
)

// Limits of a call.
const (
	callTimeout = 15 * time.Second
	maxBackoff  = 10 // times Retry
)

// Run asks for a certificate where there is none or the hub refuses the one there is, and renews it when a third of its
// time is left, until ctx ends. What goes wrong is in State and tried again; it ends with an error only where the
// identity cannot be kept on the disk.
func (i *Identity) Run(ctx context.Context) error {
	for failures := 0; ; {
		wait, err := i.step(ctx)
		var disk *diskError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &disk):
			return err
		case err != nil:
			i.log.Debug("enrolment not done", "err", err)
			failures = min(failures+1, 8)
			wait = time.Duration(float64(min(i.opt.Retry<<(failures-1), maxBackoff*i.opt.Retry)) * (0.5 + i.opt.Rand()/2))
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-i.wake:
		case <-time.After(wait):
		}
	}
}

// diskError is what Run cannot mend.
type diskError struct{ error }

func (e *diskError) Unwrap() error { return e.error }

func onDisk(err error) error {
	if err == nil {
		return nil
	}
	return &diskError{err}
}

// step does what is to be done next and says when to look again.
func (i *Identity) step(ctx context.Context) (time.Duration, error) {
	i.mu.Lock()
	h, p, trouble := i.held, i.pending, i.trouble
	i.mu.Unlock()
	now := i.opt.Clock()
	switch {
	case p != nil && now.After(p.until):
		return 0, onDisk(i.drop())
	case p != nil:
		return i.opt.Poll, i.look(ctx, p)
	case h == nil:
		return i.opt.Poll, i.ask(ctx, nil)
	case trouble != nil && mendable(trouble.Reason):
		return i.opt.Poll, i.askAgain(ctx, h)
	case h.leaf.NotAfter.Sub(now) < h.leaf.NotAfter.Sub(h.leaf.NotBefore)/3 && now.Before(h.leaf.NotAfter):
		return i.opt.Check, i.renew(ctx, h)
	}
	return i.opt.Check, nil
}

// ask asks for a certificate for a new key, and shows the code that the hub gives. known is the authority that the
// kiosk trusts already, nil where there is none.
func (i *Identity) ask(ctx context.Context, known *x509.Certificate) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	csr, err := newCSR(i.opt.Kiosk, key)
	if err != nil {
		return err
	}
	a, ca, err := i.callAny(ctx, request{method: http.MethodPost, path: wire.EnrolPath, csr: csr, ca: known})
	if err != nil {
		var why *Error
		if errors.As(err, &why) && known == nil {
			i.note(why)
		}
		return err
	}
	if a.Refusal != "" || a.Status != wire.EnrolWaiting || a.ID == "" || a.Code == "" {
		why := &Error{string(a.Refusal), refusals[a.Refusal]}
		i.note(why)
		return why
	}
	// The code's end by this kiosk's clock, whatever that says.
	life := max(time.Minute, min(a.ExpiresAt.Sub(a.Now), time.Hour))
	p := &pending{key: key, ca: ca, id: a.ID, code: a.Code, until: i.opt.Clock().Add(life)}
	if err := i.wait(p); err != nil {
		return onDisk(err)
	}
	i.mu.Lock()
	if known == nil {
		i.trouble = nil
	}
	i.mu.Unlock()
	i.log.Warn("this kiosk waits for staff to authorise it at the hub", "code", a.Code, "hub_fingerprint", wire.Fingerprint(ca))
	return nil
}

// askAgain asks for a new certificate in place of one that the hub refuses; it asks the hub first whether that is so
// still, for the reason may have been a clock.
func (i *Identity) askAgain(ctx context.Context, h *held) error {
	a, err := i.call(ctx, request{method: http.MethodGet, path: wire.StandingPath, ca: h.ca, show: h})
	if err != nil {
		return err
	}
	why := i.judge(a, nil)
	if why == nil && i.opt.Clock().After(h.leaf.NotAfter) {
		why = &Error{ReasonClock, fmt.Sprintf("the hub's clock says %s, this kiosk's %s", stamp(a.Now), stamp(i.opt.Clock()))}
	}
	i.note(why)
	if why == nil || !mendable(why.Reason) {
		return why.orNil()
	}
	return i.ask(ctx, h.ca)
}

func (e *Error) orNil() error {
	if e == nil {
		return nil
	}
	return e
}

// look asks whether staff have decided.
func (i *Identity) look(ctx context.Context, p *pending) error {
	a, err := i.call(ctx, request{method: http.MethodGet, path: wire.EnrolPath + "/" + p.id, ca: p.ca})
	if err != nil {
		return err
	}
	switch a.Status {
	case wire.EnrolWaiting:
		return nil
	case wire.EnrolGranted:
		return i.take(p.key, p.ca, a.Certificate)
	}
	notify(i.wake) // the code is over: ask anew
	return onDisk(i.drop())
}

// renew asks for the next certificate, for a new key.
func (i *Identity) renew(ctx context.Context, h *held) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	csr, err := newCSR(i.opt.Kiosk, key)
	if err != nil {
		return err
	}
	a, err := i.call(ctx, request{method: http.MethodPost, path: wire.RenewPath, csr: csr, ca: h.ca, show: h})
	if err != nil {
		return err
	}
	if a.Status != wire.EnrolGranted {
		why := i.judge(a, nil)
		i.note(why)
		return why.orNil()
	}
	return i.take(key, h.ca, a.Certificate)
}

// take checks what the hub has signed and uses it.
func (i *Identity) take(key crypto.Signer, ca *x509.Certificate, der []byte) error {
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return fmt.Errorf("certificate from the hub: %w", err)
	}
	own, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !own.Equal(leaf.PublicKey) || leaf.Subject.CommonName != i.opt.Kiosk.ClientID() {
		return errors.New("certificate from the hub: it is for another kiosk")
	}
	if err := leaf.CheckSignatureFrom(ca); err != nil {
		return fmt.Errorf("certificate from the hub: %w", err)
	}
	if err := i.keep(&held{key: key, leaf: leaf, ca: ca}); err != nil {
		return onDisk(err)
	}
	i.log.Info("this kiosk has a certificate", "until", leaf.NotAfter)
	return nil
}

// newCSR is a request for a kiosk's name; it proves that the kiosk has the key.
func newCSR(kiosk wire.Address, key crypto.Signer) ([]byte, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: kiosk.ClientID()}}, key)
	if err != nil {
		return nil, fmt.Errorf("make certificate request: %w", err)
	}
	return der, nil
}

// request is one call of the hub.
type request struct {
	method string // GET where empty
	path   string
	csr    []byte
	ca     *x509.Certificate // nil: see callAny
	show   *held
}

// call asks the hub that is trusted.
func (i *Identity) call(ctx context.Context, r request) (wire.EnrolAnswer, error) {
	// Not by the kiosk's clock, which may be what is wrong: the answer tells the hub's.
	return i.send(ctx, r, i.config(r.ca, r.show, wire.ProtocolEnrol, nil))
}

// callAny asks a hub that need not be known yet: it is trusted if its fingerprint is the one that is set, or if none is
// set. It returns the authority that the hub showed.
func (i *Identity) callAny(ctx context.Context, r request) (wire.EnrolAnswer, *x509.Certificate, error) {
	if r.ca != nil {
		a, err := i.call(ctx, r)
		return a, r.ca, err
	}
	var ca *x509.Certificate
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: wire.HubName, NextProtos: []string{wire.ProtocolEnrol},
		InsecureSkipVerify: true, // in favour of VerifyConnection
		VerifyConnection: func(s tls.ConnectionState) error {
			shown := s.PeerCertificates
			if len(shown) < 2 {
				return &Error{ReasonHub, "what answers is no hub: it shows no authority"}
			}
			root := shown[len(shown)-1]
			if fingerprint := wire.Fingerprint(root); i.opt.Fingerprint != "" && fingerprint != i.opt.Fingerprint {
				return &Error{ReasonHub, "the hub's fingerprint is " + fingerprint + ", and not the one that is set"}
			}
			if err := verifyHub(shown, root, nil); err != nil {
				return err
			}
			ca = root
			return nil
		},
	}
	a, err := i.send(ctx, r, config)
	if ca != nil {
		i.mu.Lock()
		i.seen = wire.Fingerprint(ca)
		i.mu.Unlock()
	}
	return a, ca, err
}

func (i *Identity) send(ctx context.Context, r request, config *tls.Config) (wire.EnrolAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var body []byte
	if r.csr != nil {
		var err error
		if body, err = json.Marshal(wire.EnrolRequest{CSR: r.csr}); err != nil {
			return wire.EnrolAnswer{}, fmt.Errorf("ask the hub: %w", err)
		}
	}
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://"+i.host+r.path, bytes.NewReader(body))
	if err != nil {
		return wire.EnrolAnswer{}, fmt.Errorf("ask the hub: %w", err)
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, TLSHandshakeTimeout: callTimeout, MaxResponseHeaderBytes: 8 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return wire.EnrolAnswer{}, fmt.Errorf("ask the hub: %w", err)
	}
	defer res.Body.Close()
	a, err := wire.ReadEnrolAnswer(res.Body)
	if err != nil {
		return wire.EnrolAnswer{}, fmt.Errorf("ask the hub: %s: %w", res.Status, err)
	}
	return a, nil
}

// Accepted is told when the hub has let the kiosk in: what was wrong is no more.
func (i *Identity) Accepted() { i.note(nil) }
