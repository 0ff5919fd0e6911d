package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"

	"docent/sync/wire"
)

// workerPrefix begins the names of hub processes. It has no underscore, so no kiosk is called so.
const workerPrefix = "docent-worker-"

// WorkerName is the common name of a hub process's certificate at a broker.
func WorkerName(worker string) string { return workerPrefix + worker }

// uri names one certificate of a client: brokers that know no revocation lists let in those that are listed by it.
func uri(name, serial string) *url.URL {
	return &url.URL{Scheme: "docent", Opaque: name + ":" + serial}
}

// KioskURI is the name by which a kiosk's certificate is listed at a broker. The serial number is in hexadecimal.
func KioskURI(kiosk wire.Address, serial string) string {
	return uri(kiosk.ClientID(), serial).String()
}

// workerURI has no number: processes make their certificates themselves, anew at each start.
func workerURI(worker string) *url.URL { return &url.URL{Scheme: "docent", Opaque: WorkerName(worker)} }

// WorkerURI is the name by which a hub process is listed at a broker.
func WorkerURI(worker string) string { return workerURI(worker).String() }

// Worker is what a process of the hub shows a broker, and what it knows it by. Its certificate is made anew when it does
// not hold for long any more.
func (a *Authority) Worker(worker string) (*tls.Config, error) {
	if err := wire.ValidName(worker); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: wire.HubName, RootCAs: a.pool, Time: a.now,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return a.worker(worker) },
	}, nil
}

func (a *Authority) worker(worker string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if w := a.workers[worker]; w != nil && now.After(w.Leaf.NotBefore) && w.Leaf.NotAfter.Sub(now) > ServerLife/3 {
		return w, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of %s: %w", worker, err)
	}
	leaf, err := a.sign(key.Public(), &x509.Certificate{
		Subject: pkix.Name{CommonName: WorkerName(worker)}, NotBefore: now.Add(-backdate), NotAfter: now.Add(ServerLife),
		URIs: []*url.URL{workerURI(worker)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	if a.workers == nil {
		a.workers = map[string]*tls.Certificate{}
	}
	a.workers[worker] = &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
	return a.workers[worker], nil
}

// Secret is a word that those who hold the authority's key have in common, and nobody else knows.
func (a *Authority) Secret(purpose string) (string, error) {
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return "", fmt.Errorf("encode the authority's key: %w", err)
	}
	mac := hmac.New(sha256.New, der)
	mac.Write([]byte(purpose))
	return hex.EncodeToString(mac.Sum(nil)[:16]), nil
}

// BrokerCertificate makes the certificate and the key of a broker that kiosks take for their hub, in PEM. With the name
// or address of its machine, servers of a cluster show it to each other too.
func (a *Authority) BrokerCertificate(host string) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make the broker's key: %w", err)
	}
	now := a.now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: wire.HubName}, DNSNames: []string{wire.HubName}, NotBefore: now.Add(-backdate), NotAfter: now.Add(ServerLife),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else if host != "" {
		template.DNSNames = append(template.DNSNames, host)
	}
	if host != "" {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	leaf, err := a.sign(private.Public(), template)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the broker's key: %w", err)
	}
	certificate = append(encode(leaf.Raw), encode(a.cert.Raw)...) // kiosks that do not know the authority yet see it
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// PEM is the authority's certificate in PEM.
func (a *Authority) PEM() []byte { return encode(a.cert.Raw) }

// Revoked is a certificate that holds no more.
type Revoked struct {
	Serial string // hexadecimal
	At     time.Time
}

// listLife is how long a revocation list holds. It is long, because brokers refuse everybody once it has run out: the
// list lies beside the broker, where nobody but the hub writes, so that an old one needs no guard.
const listLife = 10 * 365 * 24 * time.Hour

// RevocationList signs a list of revoked certificates, in PEM.
func (a *Authority) RevocationList(revoked []Revoked) ([]byte, error) {
	if a.cert.KeyUsage&x509.KeyUsageCRLSign == 0 {
		return nil, fmt.Errorf("sign revocation list: this authority was made for certificates only; an authority of this version can")
	}
	now := a.now()
	template := &x509.RevocationList{Number: big.NewInt(now.UnixMilli()), ThisUpdate: now.Add(-backdate), NextUpdate: now.Add(listLife)}
	for _, r := range revoked {
		serial, ok := new(big.Int).SetString(r.Serial, 16)
		if !ok {
			return nil, fmt.Errorf("sign revocation list: serial number %q", r.Serial)
		}
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: serial, RevocationTime: r.At})
	}
	der, err := x509.CreateRevocationList(rand.Reader, template, a.cert, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign revocation list: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}), nil
}
