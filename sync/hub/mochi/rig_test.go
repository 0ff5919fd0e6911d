package mochi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/wire"
)

var (
	mine   = wire.Address{Site: "museum", Kiosk: "kiosk-1"}
	theirs = wire.Address{Site: "museum", Kiosk: "kiosk-2"}
)

const bootID = "b1b2b3b4-1111-4222-8333-444455556666"

// receiver notes what the broker hands over.
type receiver struct {
	mu         sync.Mutex
	events     []string
	statuses   []wire.Status
	subscribed []wire.Address
	results    []string
	banned     wire.Address
	fail       error
}

func (r *receiver) Admit(c Connection) error { return r.Allowed(c) }

func (r *receiver) Allowed(c Connection) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Kiosk.Site != "museum" || r.banned == c.Kiosk {
		return errors.New("not of this museum")
	}
	return nil
}

func (r *receiver) Result(_ context.Context, from wire.Address, res wire.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, from.Kiosk+" "+string(res.Status))
	return nil
}

func (r *receiver) Events(_ context.Context, from wire.Address, payload []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	r.events = append(r.events, from.Kiosk+" "+string(payload))
	return nil
}

func (r *receiver) Status(_ context.Context, _ wire.Address, st wire.Status) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statuses = append(r.statuses, st)
	return nil
}

func (r *receiver) Fetch(context.Context, wire.Address, wire.Fetch) {}

func (r *receiver) Deploy(context.Context, wire.Address, wire.Deploy) error { return nil }

func (r *receiver) Subscribed(_ context.Context, a wire.Address) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribed = append(r.subscribed, a)
}

func (r *receiver) count(f func() int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return f()
}

func start(t *testing.T, change ...func(*Options)) (*Broker, *receiver) {
	t.Helper()
	r := &receiver{}
	opt := Options{Listen: "127.0.0.1:0", Receiver: r}
	for _, c := range change {
		c(&opt)
	}
	b, err := Start(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, r
}

// options are those of a well-behaved kiosk.
func options(b *Broker) *paho.ClientOptions {
	return paho.NewClientOptions().AddBroker("tcp://" + b.Addr().String()).SetClientID(mine.ClientID()).
		SetProtocolVersion(4).SetCleanSession(true).SetAutoReconnect(false).SetConnectTimeout(5 * time.Second).
		SetWriteTimeout(5 * time.Second)
}

// connect connects and returns the client and a channel that is closed when the connection is lost.
func connect(t *testing.T, opts *paho.ClientOptions) (paho.Client, <-chan struct{}, error) {
	t.Helper()
	lost := make(chan struct{})
	opts.SetConnectionLostHandler(func(paho.Client, error) { close(lost) })
	c := paho.NewClient(opts)
	token := c.Connect()
	if !token.WaitTimeout(10 * time.Second) {
		t.Fatal("connect: no answer")
	}
	t.Cleanup(func() { c.Disconnect(100) })
	return c, lost, token.Error()
}

func mustConnect(t *testing.T, opts *paho.ClientOptions) (paho.Client, <-chan struct{}) {
	t.Helper()
	c, lost, err := connect(t, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c, lost
}

// late bans whoever it has just admitted.
type late struct{ *receiver }

func (l *late) Admit(c Connection) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.banned = c.Kiosk
	return nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// authority is a certificate authority of a test.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-24 * time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{key, cert}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func (a *authority) issue(t *testing.T, name string, valid time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"hub"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
