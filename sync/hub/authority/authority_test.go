package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"docent/sync/wire"
)

var kiosk = wire.Address{Site: "museum", Kiosk: "kiosk-1"}

func request(t *testing.T) *x509.CertificateRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		// What a request asks for beside its key means nothing.
		Subject: pkix.Name{CommonName: "museum_kiosk-9", Organization: []string{"x"}}, DNSNames: []string{wire.HubName},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil {
		t.Fatal(err)
	}
	return csr
}

func TestAuthorityStaysTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "authority")
	a, err := Open(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.Issue(kiosk, request(t))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, time.Now)
	if err != nil || again.Fingerprint() != a.Fingerprint() {
		t.Fatalf("opened again it is another, %v", err)
	}
	if got, _, err := again.Check([]*x509.Certificate{cert}); err != nil || got != kiosk {
		t.Errorf("%v, %v", got, err)
	}
	if len(cert.DNSNames) != 0 || len(cert.Subject.Organization) != 0 || cert.IsCA {
		t.Errorf("taken over from the request: %+v", cert.Subject)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
}

func TestCheck(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	clock := now
	a, err := Open(t.TempDir(), func() time.Time { return clock })
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := Open(t.TempDir(), func() time.Time { return clock })
	if err != nil {
		t.Fatal(err)
	}
	issue := func(a *Authority, kiosk wire.Address) *x509.Certificate {
		c, err := a.Issue(kiosk, request(t))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	server, err := a.Server()
	if err != nil {
		t.Fatal(err)
	}
	good := issue(a, kiosk)
	for _, tt := range []struct {
		name  string
		shown []*x509.Certificate
		at    time.Time
		want  wire.Refusal
	}{
		{"good", []*x509.Certificate{good}, now, ""},
		{"a clock that is a little behind", []*x509.Certificate{good}, now.Add(-50 * time.Minute), ""},
		{"none", nil, now, wire.RefusedNoCertificate},
		{"another authority's", []*x509.Certificate{issue(foreign, kiosk)}, now, wire.RefusedAuthority},
		{"another authority's that has run out", []*x509.Certificate{issue(foreign, kiosk)}, now.Add(2 * KioskLife), wire.RefusedAuthority},
		{"the hub's own", []*x509.Certificate{server.Leaf}, now, wire.RefusedAuthority},
		{"the authority's own", []*x509.Certificate{a.Certificate()}, now, wire.RefusedName},
		{"run out", []*x509.Certificate{good}, now.Add(KioskLife + time.Minute), wire.RefusedExpired},
		{"of the future", []*x509.Certificate{good}, now.Add(-2 * time.Hour), wire.RefusedNotYetValid},
		{"ten years behind", []*x509.Certificate{good}, now.AddDate(-10, 0, 0), wire.RefusedNotYetValid},
		{"no name of a kiosk", []*x509.Certificate{issue(a, wire.Address{Site: "A", Kiosk: "#"})}, now, wire.RefusedName},
	} {
		clock = tt.at
		_, _, err := a.Check(tt.shown)
		var refused *RefusedError
		if got := wire.Refusal(""); errors.As(err, &refused) {
			got = refused.Refusal
			if got != tt.want {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
			}
		} else if tt.want != "" || err != nil {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestServerCertificateIsRenewed(t *testing.T) {
	clock := time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC) // no battery
	a, err := Open(t.TempDir(), func() time.Time { return clock })
	if err != nil {
		t.Fatal(err)
	}
	var before *x509.Certificate
	for _, at := range []time.Time{clock, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)} {
		clock = at
		s, err := a.Server()
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && s.Leaf.Equal(before) || at.Before(s.Leaf.NotBefore) || s.Leaf.NotAfter.Sub(at) < ServerLife/3 {
			t.Errorf("at %s it holds from %s to %s", at, s.Leaf.NotBefore, s.Leaf.NotAfter)
		}
		if same, err := a.Server(); err != nil || !same.Leaf.Equal(s.Leaf) {
			t.Errorf("made anew for each connection, %v", err)
		}
		before = s.Leaf
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"readable by others": func(path string) error { return os.Chmod(path, 0o644) },
		"cut off":            func(path string) error { return os.Truncate(path, 200) },
		"empty":              func(path string) error { return os.Truncate(path, 0) },
	} {
		dir := t.TempDir()
		if _, err := Open(dir, time.Now); err != nil {
			t.Fatal(err)
		}
		if err := spoil(filepath.Join(dir, File)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, time.Now); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}
