package hub

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

// Limits of enrolment.
const (
	codeLife    = 15 * time.Minute
	askBurst    = 30               // requests at once of one address
	askEvery    = 10 * time.Second // and then one
	tryBurst    = 10               // wrong codes of staff at once
	tryEvery    = 6 * time.Second  // and then one
	enrolClient = 15 * time.Second // for a request and its answer
)

// enrolment answers kiosks that want a certificate, want to renew theirs, or want to know what is wrong with it.
type enrolment struct {
	h      *Hub
	server *http.Server
	conns  *handed
	// listener is of enrolment alone; nil where connections are handed over by the broker.
	listener net.Listener
	asks     bucket
	tries    bucket
}

func newEnrolment(h *Hub) *enrolment {
	e := &enrolment{h: h, conns: newHanded(), asks: bucket{burst: askBurst, every: askEvery}, tries: bucket{burst: tryBurst, every: tryEvery}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+wire.EnrolPath, e.ask)
	mux.HandleFunc("GET "+wire.EnrolPath+"/{id}", e.look)
	mux.HandleFunc("POST "+wire.RenewPath, e.renew)
	mux.HandleFunc("GET "+wire.StandingPath, e.standing)
	e.server = &http.Server{
		Handler: mux, ReadTimeout: enrolClient, WriteTimeout: enrolClient, IdleTimeout: enrolClient, MaxHeaderBytes: 8 << 10,
		ConnState: e.conns.state, ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	return e
}

// run serves the connections that are handed over until close.
func (e *enrolment) run() {
	var from net.Listener = e.conns
	if e.listener != nil {
		from = e.listener
	}
	if err := e.server.Serve(from); err != nil && !errors.Is(err, http.ErrServerClosed) {
		e.h.log.Error("enrolment ended", "err", err)
	}
}

// close ends run. Connections end with the broker that handed them over.
func (e *enrolment) close() {
	e.conns.Close()
	e.server.Close()
}

// ask answers POST EnrolPath: a kiosk wants a certificate for its key, and gets a code to show to staff.
func (e *enrolment) ask(w http.ResponseWriter, r *http.Request) {
	now := e.h.cfg.Clock()
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	if !e.asks.allow(host, now) {
		e.refuse(w, http.StatusTooManyRequests, wire.RefusedTooMany)
		return
	}
	kiosk, csr, ok := e.read(w, r)
	if !ok {
		return
	}
	if e.h.cfg.Site != "" && kiosk.Site != e.h.cfg.Site {
		e.refuse(w, http.StatusForbidden, wire.RefusedSite)
		return
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		e.fail(w, err)
		return
	}
	code, err := wire.NewCode(rand.Reader)
	if err != nil {
		e.fail(w, err)
		return
	}
	id := hex.EncodeToString(secret)
	row := store.Enrolment{
		IDHash: hash(id), Code: code, Kiosk: kiosk, CSR: csr.Raw, Remote: host, AskedAt: now, ExpiresAt: now.Add(codeLife),
	}
	err = e.h.store.AddEnrolment(r.Context(), row)
	if errors.Is(err, store.ErrTooMany) {
		e.refuse(w, http.StatusTooManyRequests, wire.RefusedTooMany)
		return
	}
	if err != nil {
		e.fail(w, err)
		return
	}
	e.h.log.Info("a kiosk asks for a certificate", "site", kiosk.Site, "kiosk", kiosk.Kiosk, "remote", host)
	e.answer(w, http.StatusCreated, wire.EnrolAnswer{Status: wire.EnrolWaiting, ID: id, Code: code, ExpiresAt: row.ExpiresAt})
}

// look answers GET EnrolPath/ID: how far the request is.
func (e *enrolment) look(w http.ResponseWriter, r *http.Request) {
	row, err := e.h.store.Enrolment(r.Context(), hash(r.PathValue("id")))
	if errors.Is(err, store.ErrNotFound) {
		e.refuse(w, http.StatusNotFound, "")
		return
	}
	if err != nil {
		e.fail(w, err)
		return
	}
	if row.Status == wire.EnrolWaiting && e.h.cfg.Clock().After(row.ExpiresAt) {
		e.refuse(w, http.StatusNotFound, "")
		return
	}
	e.answer(w, http.StatusOK, wire.EnrolAnswer{Status: row.Status, Code: row.Code, ExpiresAt: row.ExpiresAt, Certificate: row.Certificate})
}

// renew answers POST RenewPath: a kiosk whose certificate holds gets the next one, for a new key.
func (e *enrolment) renew(w http.ResponseWriter, r *http.Request) {
	kiosk, err := e.h.identify(r.Context(), r.TLS.PeerCertificates)
	if err != nil {
		e.refused(w, kiosk, err)
		return
	}
	named, csr, ok := e.read(w, r)
	if !ok {
		return
	}
	if named != kiosk {
		e.refuse(w, http.StatusForbidden, wire.RefusedName)
		return
	}
	cert, err := e.h.authority.Issue(kiosk, csr)
	if err == nil {
		err = e.h.store.AddCertificate(r.Context(), store.Describe(kiosk, cert))
	}
	if err != nil {
		e.fail(w, err)
		return
	}
	e.h.log.Info("certificate renewed", "site", kiosk.Site, "kiosk", kiosk.Kiosk, "until", cert.NotAfter)
	e.answer(w, http.StatusOK, wire.EnrolAnswer{Status: wire.EnrolGranted, Certificate: cert.Raw})
}

// standing answers GET StandingPath: whether the certificate that is shown would be let in, and why not.
func (e *enrolment) standing(w http.ResponseWriter, r *http.Request) {
	kiosk, err := e.h.identify(r.Context(), r.TLS.PeerCertificates)
	if err != nil {
		e.refused(w, kiosk, err)
		return
	}
	if e.h.guard.conflict(kiosk, e.h.cfg.Clock()) {
		e.refuse(w, http.StatusForbidden, wire.RefusedTwo)
		return
	}
	e.answer(w, http.StatusOK, wire.EnrolAnswer{Status: wire.EnrolGranted})
}

// read reads the certificate request of a body.
func (e *enrolment) read(w http.ResponseWriter, r *http.Request) (wire.Address, *x509.CertificateRequest, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.MaxEnrol))
	if err == nil {
		var kiosk wire.Address
		var csr *x509.CertificateRequest
		if kiosk, csr, err = wire.DecodeEnrolRequest(body); err == nil {
			return kiosk, csr, true
		}
	}
	e.h.log.Warn("enrolment refused", "remote", r.RemoteAddr, "reason", err)
	e.refuse(w, http.StatusBadRequest, wire.RefusedRequest)
	return wire.Address{}, nil, false
}

func (e *enrolment) refused(w http.ResponseWriter, kiosk wire.Address, err error) {
	refusal := refusalOf(err)
	if refusal == "" {
		e.fail(w, err)
		return
	}
	e.h.log.Warn("certificate refused", "kiosk", kiosk.Kiosk, "reason", err)
	e.refuse(w, http.StatusForbidden, refusal)
}

func (e *enrolment) refuse(w http.ResponseWriter, status int, why wire.Refusal) {
	e.answer(w, status, wire.EnrolAnswer{Status: wire.EnrolRefused, Refusal: why})
}

func (e *enrolment) fail(w http.ResponseWriter, err error) {
	e.h.log.Error("enrolment not answered", "err", err)
	http.Error(w, "the hub could not do this", http.StatusInternalServerError)
}

func (e *enrolment) answer(w http.ResponseWriter, status int, a wire.EnrolAnswer) {
	a.Now = e.h.cfg.Clock().UTC()
	b, err := json.Marshal(a)
	if err != nil {
		e.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a kiosk that has gone asks again
}

func hash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// errTries is the error for too many wrong codes.
var errTries = errors.New("too many wrong codes; wait a minute")

// Authorise gives the kiosk that shows a code its certificate. A kiosk of the same name that has one loses it, if
// replace says so; otherwise that is a store.ErrReplaces.
func (h *Hub) Authorise(ctx context.Context, code string, replace bool) (wire.Address, error) {
	now := h.cfg.Clock()
	if !h.enrolment.tries.peek("staff", now) {
		return wire.Address{}, errTries
	}
	code, err := wire.ParseCode(code)
	if err != nil {
		return wire.Address{}, err
	}
	e, err := h.store.Grant(ctx, code, now, replace, func(e store.Enrolment) (*x509.Certificate, error) {
		kiosk, csr, err := wire.ParseCSR(e.CSR)
		if err != nil {
			return nil, err
		}
		return h.authority.Issue(kiosk, csr)
	})
	if errors.Is(err, store.ErrNotFound) {
		h.enrolment.tries.allow("staff", now) // counts
	}
	if err != nil {
		return e.Kiosk, err
	}
	h.guard.forget(e.Kiosk)
	h.holds.forget()
	h.broker.Recheck()
	h.log.Info("kiosk authorised", "site", e.Kiosk.Site, "kiosk", e.Kiosk.Kiosk, "remote", e.Remote)
	return e.Kiosk, nil
}

// bucket lets a burst through for each name, and then one each time.
type bucket struct {
	burst int
	every time.Duration

	mu    sync.Mutex
	names map[string]level
}

type level struct {
	used float64
	at   time.Time
}

const maxBuckets = 10_000 // names; beyond, all begin anew

// allow takes one, and tells whether there was one.
func (b *bucket) allow(name string, now time.Time) bool { return b.take(name, now, 1) }

// peek tells whether there is one.
func (b *bucket) peek(name string, now time.Time) bool { return b.take(name, now, 0) }

func (b *bucket) take(name string, now time.Time, n float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.names == nil || len(b.names) >= maxBuckets {
		b.names = map[string]level{}
	}
	l := b.names[name]
	if passed := now.Sub(l.at); passed > 0 && !l.at.IsZero() {
		l.used = max(0, l.used-float64(passed)/float64(b.every))
	}
	if l.used+1 > float64(b.burst) {
		return false
	}
	l.used, l.at = l.used+n, now
	b.names[name] = l
	return true
}

// handed is a listener of connections that others have accepted.
type handed struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	ends map[net.Conn]chan struct{}
}

func newHanded() *handed {
	return &handed{conns: make(chan net.Conn), done: make(chan struct{}), ends: map[net.Conn]chan struct{}{}}
}

// serve hands a connection over and returns when it has ended.
func (h *handed) serve(c *tls.Conn) {
	end := make(chan struct{})
	h.mu.Lock()
	h.ends[c] = end
	h.mu.Unlock()
	select {
	case h.conns <- c:
		<-end
	case <-h.done:
		h.state(c, http.StateClosed)
	}
}

// state is told by the server how a connection is.
func (h *handed) state(c net.Conn, s http.ConnState) {
	if s != http.StateClosed {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if end := h.ends[c]; end != nil {
		delete(h.ends, c)
		close(end)
	}
}

func (h *handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handed) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

func (h *handed) Addr() net.Addr { return &net.TCPAddr{} }
