// Package authority is the hub's own certificate authority: it signs the hub's certificate and those of kiosks, and
// says what is wrong with one that is shown.
package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"docent/internal/durable"
	"docent/sync/wire"
)

// How long certificates hold. They are renewed when a third of the time is left.
const (
	ServerLife = 365 * 24 * time.Hour
	KioskLife  = 365 * 24 * time.Hour
	backdate   = time.Hour // for clocks that are a little behind
)

// The authority's own certificate does not expire: kiosks know it by its fingerprint, and a hub whose clock was wrong on
// its first day must not make one that is useless for ever.
var (
	begin = time.Unix(0, 0).UTC()
	end   = time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC)
)

// File holds the key and the certificate. It is the one thing of a hub that cannot be made again.
const File = "authority.pem"

// Authority signs certificates. It is safe for concurrent use.
type Authority struct {
	key  crypto.Signer
	cert *x509.Certificate
	pool *x509.CertPool
	now  func() time.Time

	mu     sync.Mutex
	server *tls.Certificate // the hub's own, made anew at each start; nil at first

	workers map[string]*tls.Certificate // those of hub processes at a broker

	// signed are the SHA-256 of certificates whose signature was found good: a connection asks three times, and a kiosk comes
	// back with the same. At most maxSigned.
	signed map[[sha256.Size]byte]struct{}
}

// maxSigned is how many certificates' signatures are remembered.
const maxSigned = 20_000

// Open reads the authority of a folder, or makes one where there is none. Its key is readable by its owner only.
func Open(dir string, now func() time.Time) (*Authority, error) {
	a := &Authority{now: now}
	err := a.read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = a.create(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open authority: %w", err)
	}
	a.pool = x509.NewCertPool()
	a.pool.AddCert(a.cert)
	return a, nil
}

func (a *Authority) read(dir string) error {
	path := filepath.Join(dir, File)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s can be read by others (mode %o): chmod 600", path, mode)
	}
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return fmt.Errorf("%s is not an authority's", path)
	}
	a.key, a.cert = key, pair.Leaf
	return nil
}

func (a *Authority) create(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := newSerial()
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "docent hub authority"}, NotBefore: begin, NotAfter: end,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	a.key = key
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	data := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	return durable.WriteFile(filepath.Join(dir, File), append(data, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...), 0o600)
}

// Fingerprint is what kiosks know the hub by.
func (a *Authority) Fingerprint() string { return wire.Fingerprint(a.cert) }

// Certificate is the authority's own.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Issue signs a kiosk's certificate for the key of a request. Nothing else of the request is taken over.
func (a *Authority) Issue(kiosk wire.Address, csr *x509.CertificateRequest) (*x509.Certificate, error) {
	now := a.now()
	return a.sign(csr.PublicKey, &x509.Certificate{
		Subject: pkix.Name{CommonName: kiosk.ClientID()}, NotBefore: now.Add(-backdate), NotAfter: now.Add(KioskLife),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// sign signs a certificate under a new serial number. One for a client says its name and number as a URI too.
func (a *Authority) sign(public any, template *x509.Certificate) (*x509.Certificate, error) {
	var err error
	if template.SerialNumber, err = newSerial(); err != nil {
		return nil, err
	}
	if template.URIs == nil && slices.Contains(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth) {
		template.URIs = []*url.URL{uri(template.Subject.CommonName, template.SerialNumber.Text(16))}
	}
	template.KeyUsage, template.BasicConstraintsValid = x509.KeyUsageDigitalSignature, true
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// newSerial makes a serial number of 127 random bits.
func newSerial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	return n.Add(n, big.NewInt(1)), nil
}

// Server is the hub's own certificate, its key in memory only, with the authority's behind it: kiosks that do not know
// the authority yet see whom they are to trust. It is made anew when it does not hold for long any more, or not yet.
func (a *Authority) Server() (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if s := a.server; s != nil && now.After(s.Leaf.NotBefore) && s.Leaf.NotAfter.Sub(now) > ServerLife/3 {
		return s, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the hub's key: %w", err)
	}
	leaf, err := a.sign(key.Public(), &x509.Certificate{
		Subject: pkix.Name{CommonName: wire.HubName}, DNSNames: []string{wire.HubName}, NotBefore: now.Add(-backdate),
		NotAfter: now.Add(ServerLife), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return nil, err
	}
	a.server = &tls.Certificate{Certificate: [][]byte{leaf.Raw, a.cert.Raw}, PrivateKey: key, Leaf: leaf}
	return a.server, nil
}

// RefusedError is why a certificate does not do.
type RefusedError struct {
	Refusal wire.Refusal
	Err     error // nil where the word says it all
}

func (e *RefusedError) Error() string {
	if e.Err == nil {
		return "certificate refused: " + string(e.Refusal)
	}
	return "certificate refused: " + string(e.Refusal) + ": " + e.Err.Error()
}

func (e *RefusedError) Unwrap() error { return e.Err }

// Check says whose certificate it is that a kiosk shows (the first of a TLS connection's), or why it does not do, as a
// [*RefusedError]. Whether it was revoked, it does not know.
func (a *Authority) Check(shown []*x509.Certificate) (wire.Address, *x509.Certificate, error) {
	refuse := func(r wire.Refusal, err error) (wire.Address, *x509.Certificate, error) {
		return wire.Address{}, nil, &RefusedError{r, err}
	}
	if len(shown) == 0 {
		return refuse(wire.RefusedNoCertificate, nil)
	}
	cert, now := shown[0], a.now()
	// First whether it is ours at all: what another authority says about time and name means nothing.
	if err := a.verify(cert); err != nil {
		return refuse(wire.RefusedAuthority, err)
	}
	switch {
	case now.Before(cert.NotBefore):
		return refuse(wire.RefusedNotYetValid, fmt.Errorf("it holds from %s, it is %s", stamp(cert.NotBefore), stamp(now)))
	case now.After(cert.NotAfter):
		return refuse(wire.RefusedExpired, fmt.Errorf("it held until %s, it is %s", stamp(cert.NotAfter), stamp(now)))
	}
	kiosk, err := wire.ParseClientID(cert.Subject.CommonName)
	if err != nil {
		return refuse(wire.RefusedName, err)
	}
	return kiosk, cert, nil
}

// verify checks that the authority has signed a certificate, and for a client. Both are a matter of its bytes and of no time.
func (a *Authority) verify(cert *x509.Certificate) error {
	id := sha256.Sum256(cert.Raw)
	a.mu.Lock()
	_, ok := a.signed[id]
	a.mu.Unlock()
	if ok {
		return nil
	}
	at := cert.NotBefore
	if at.Before(a.cert.NotBefore) {
		at = a.cert.NotBefore
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: a.pool, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.signed == nil || len(a.signed) >= maxSigned {
		a.signed = map[[sha256.Size]byte]struct{}{}
	}
	a.signed[id] = struct{}{}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
