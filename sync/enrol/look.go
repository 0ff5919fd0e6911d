package enrol

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"docent/sync/wire"
)

// Standing is how a kiosk stands with its hub, for a person who looks after it.
type Standing struct {
	State
	Name        string        // in the certificate; empty without one
	HubNow      time.Time     // the hub's clock; zero where the hub has not said it
	Apart       time.Duration // how far this machine's clock is ahead of it, to a second or so
	TLS         *tls.Config   // to connect as this kiosk; nil without a certificate
	Unreachable error         // why the hub has not answered; nil: it has, or what answers is not this kiosk's hub
}

// Look finds out how a kiosk stands with its hub: through TLS, whether it is the hub that the kiosk knows, what that says of
// the certificate, and its clock. Unlike an [Identity] it changes nothing, on either side, and may run beside one. Its error
// says that the folder of the identity cannot be read.
func Look(ctx context.Context, opt Options) (Standing, error) {
	i, err := fresh(opt)
	if err != nil {
		return Standing{}, err
	}
	h, err := readHeld(i.path(heldFile))
	var s Standing
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, fs.ErrPermission):
		return s, fmt.Errorf("look at identity: %w", err)
	case err != nil:
		i.trouble = &Error{ReasonIdentity, "the kiosk's certificate cannot be read, it will ask for a new one: " + err.Error()}
	default:
		s.Name = h.leaf.Subject.CommonName
		switch {
		case s.Name != i.opt.Kiosk.ClientID():
			i.trouble = &Error{ReasonIdentity, "the certificate is for " + s.Name + ", the settings say " + i.opt.Kiosk.ClientID() + "; the kiosk will ask for a new one"}
		case i.opt.Fingerprint != "" && wire.Fingerprint(h.ca) != i.opt.Fingerprint:
			i.trouble = &Error{ReasonIdentity, "the certificate is from the hub " + wire.Fingerprint(h.ca) + ", the settings name another; the kiosk will ask for a new one"}
		default:
			i.held = h
			s.TLS = i.config(h.ca, h, wire.ProtocolMQTT, i.opt.Clock)
		}
	}
	if p, err := readPending(i.path(pendingFile)); err == nil && i.opt.Clock().Before(p.until) {
		i.pending = p
	}
	a, err := i.standing(ctx, &s)
	var why *Error
	switch {
	case errors.As(err, &why):
		i.trouble = why
	case err != nil:
		s.Unreachable = err
	case i.held != nil:
		i.trouble = i.judge(a, nil)
		if now := i.opt.Clock(); i.trouble == nil && now.After(i.held.leaf.NotAfter) {
			i.trouble = &Error{ReasonClock, fmt.Sprintf("the hub's clock says %s, this kiosk's %s", stamp(a.Now), stamp(now))}
		}
	}
	s.State = i.State()
	return s, nil
}

// standing asks the hub, and compares the clocks.
func (i *Identity) standing(ctx context.Context, s *Standing) (wire.EnrolAnswer, error) {
	var ca *x509.Certificate
	if i.held != nil {
		ca = i.held.ca
	}
	asked := i.opt.Clock()
	a, shown, err := i.callAny(ctx, request{method: http.MethodGet, path: wire.StandingPath, ca: ca, show: i.held})
	if err != nil {
		return a, err
	}
	if i.held == nil {
		i.seen = wire.Fingerprint(shown)
	}
	if got := i.opt.Clock(); !a.Now.IsZero() {
		s.HubNow, s.Apart = a.Now, asked.Add(got.Sub(asked)/2).Sub(a.Now).Round(time.Second)
	}
	return a, nil
}
