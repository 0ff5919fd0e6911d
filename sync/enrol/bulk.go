package enrol

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"docent/sync/wire"
)

// Authority signs certificates of kiosks.
type Authority interface {
	Issue(kiosk wire.Address, csr *x509.CertificateRequest) (*x509.Certificate, error)
	Certificate() *x509.Certificate
}

// IssueFor makes a key and lets an authority that is at hand sign it, without a code: for kiosks that are simulated, and
// for a house that prepares many at once.
func IssueFor(a Authority, kiosk wire.Address) (tls.Certificate, error) {
	key, err := newKey()
	if err != nil {
		return tls.Certificate{}, err
	}
	der, err := newCSR(kiosk, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	_, csr, err := wire.ParseCSR(der)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := a.Issue(kiosk, csr)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate for %s: %w", kiosk.ClientID(), err)
	}
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

// ClientConfig is for the connections of such a kiosk to the authority's hub.
func ClientConfig(a Authority, kiosk wire.Address) (*tls.Config, error) {
	cert, err := IssueFor(a, kiosk)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate())
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: wire.HubName, NextProtos: []string{wire.ProtocolMQTT}, RootCAs: roots,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil },
	}, nil
}
