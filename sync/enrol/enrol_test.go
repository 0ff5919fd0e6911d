package enrol

import (
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/sync/hub/authority"
	"docent/sync/wire"
)

var mine = wire.Address{Site: "museum", Kiosk: "kiosk-1"}

// identity writes the file of a kiosk that is enrolled at an authority.
func identity(t testing.TB, dir string, name wire.Address) *authority.Authority {
	t.Helper()
	a, err := authority.Open(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := IssueFor(a, name)
	if err != nil {
		t.Fatal(err)
	}
	i := &Identity{opt: Options{Dir: dir}, changed: make(chan struct{}, 1)}
	if err := i.keep(&held{key: cert.PrivateKey.(crypto.Signer), leaf: cert.Leaf, ca: a.Certificate()}); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOpen(t *testing.T) {
	other := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		name   string
		of     wire.Address
		spoil  func(path string) error
		option func(*Options)
		phase  Phase
	}{
		{"whole", mine, nil, nil, PhaseEnrolled},
		{"of another name", wire.Address{Site: "museum", Kiosk: "kiosk-2"}, nil, nil, PhaseNone},
		{"of another hub than set", mine, nil, func(o *Options) { o.Fingerprint = other }, PhaseNone},
		{"cut off", mine, func(path string) error { return os.Truncate(path, 300) }, nil, PhaseNone},
		{"empty", mine, func(path string) error { return os.Truncate(path, 0) }, nil, PhaseNone},
		{"too long", mine, func(path string) error { return os.Truncate(path, maxFile+1) }, nil, PhaseNone},
		{"a bit flipped", mine, func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b[len(b)/2] ^= 2
			return os.WriteFile(path, b, 0o600)
		}, nil, PhaseNone},
		{"gone", mine, os.Remove, nil, PhaseNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			a := identity(t, dir, tt.of)
			path := filepath.Join(dir, heldFile)
			if tt.spoil != nil {
				if err := tt.spoil(path); err != nil {
					t.Fatal(err)
				}
			}
			opt := Options{Dir: dir, Hub: "tls://127.0.0.1:1", Kiosk: mine}
			if tt.option != nil {
				tt.option(&opt)
			}
			i, err := Open(opt)
			if err != nil {
				t.Fatal(err)
			}
			s := i.State()
			if s.Phase != tt.phase || (tt.phase == PhaseEnrolled) != (s.Fingerprint == a.Fingerprint()) {
				t.Errorf("%+v", s)
			}
			if _, err := i.TLS(); (err == nil) != (tt.phase == PhaseEnrolled) || err != nil && !errors.Is(err, ErrNone) {
				t.Errorf("for connections: %v", err)
			}
			if _, err := os.Stat(path); (err == nil) != (tt.phase == PhaseEnrolled) {
				t.Errorf("an identity that is of no use lies where it was: %v", err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	good := Options{Dir: t.TempDir(), Hub: "tls://127.0.0.1:8883", Kiosk: mine}
	for name, change := range map[string]func(*Options){
		"in clear":       func(o *Options) { o.Hub = "tcp://127.0.0.1:1883" },
		"no port":        func(o *Options) { o.Hub = "tls://hub" },
		"no name":        func(o *Options) { o.Kiosk = wire.Address{} },
		"no fingerprint": func(o *Options) { o.Fingerprint = "abc" },
	} {
		opt := good
		change(&opt)
		if _, err := Open(opt); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// TestKilledBetweenItsSteps takes what is on the disk after each durable step of an enrolment.
func TestKilledBetweenItsSteps(t *testing.T) {
	dir := t.TempDir()
	a := identity(t, t.TempDir(), mine)
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	open := func() *Identity {
		t.Helper()
		i, err := Open(Options{Dir: dir, Hub: "tls://127.0.0.1:1", Kiosk: mine, Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	// Asked, and ended before staff decided: the code is the same, its key too.
	if err := open().wait(&pending{key: key, ca: a.Certificate(), id: "ab12", code: "ACDEFG", until: now.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	i := open()
	if s := i.State(); s.Phase != PhaseWaiting || s.Code != "ACDEFG" {
		t.Errorf("after the first step: %+v", s)
	}
	// The certificate is on the disk, and the request still: both do no harm.
	der, err := newCSR(mine, i.pending.key)
	if err != nil {
		t.Fatal(err)
	}
	_, csr, err := wire.ParseCSR(der)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := a.Issue(mine, csr)
	if err != nil {
		t.Fatal(err)
	}
	request, err := os.ReadFile(filepath.Join(dir, pendingFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := i.take(i.pending.key, i.pending.ca, leaf.Raw); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, pendingFile), request, 0o600); err != nil {
		t.Fatal(err)
	}
	i = open()
	if _, err := i.TLS(); err != nil || i.pending == nil {
		t.Errorf("after the second step: %+v, %v", i.State(), err)
	}
	if err := i.take(i.pending.key, i.pending.ca, leaf.Raw); err != nil { // the hub gives it out again
		t.Fatal(err)
	}
	if s := open().State(); s.Phase != PhaseEnrolled {
		t.Errorf("at the end: %+v", s)
	}
	now = now.Add(time.Hour)
	if s := open().State(); s.Phase != PhaseEnrolled {
		t.Errorf("an hour later: %+v", s)
	}
}

func TestCertificatesThatAreNotTaken(t *testing.T) {
	a, foreign := identity(t, t.TempDir(), mine), identity(t, t.TempDir(), mine)
	i, err := Open(Options{Dir: t.TempDir(), Hub: "tls://127.0.0.1:1", Kiosk: mine})
	if err != nil {
		t.Fatal(err)
	}
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	issue := func(a *authority.Authority, name wire.Address, own bool) []byte {
		k := key
		if !own {
			if k, err = newKey(); err != nil {
				t.Fatal(err)
			}
		}
		der, err := newCSR(name, k)
		if err != nil {
			t.Fatal(err)
		}
		_, csr, err := wire.ParseCSR(der)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Issue(name, csr)
		if err != nil {
			t.Fatal(err)
		}
		return c.Raw
	}
	for name, der := range map[string][]byte{
		"none":                nil,
		"nonsense":            []byte("certificate"),
		"for another key":     issue(a, mine, false),
		"for another name":    issue(a, wire.Address{Site: "museum", Kiosk: "kiosk-2"}, true),
		"another authority's": issue(foreign, mine, true),
	} {
		if err := i.take(key, a.Certificate(), der); err == nil || i.State().Phase != PhaseNone {
			t.Errorf("%s: taken", name)
		}
	}
	if err := i.take(key, a.Certificate(), issue(a, mine, true)); err != nil {
		t.Error(err)
	}
}

func FuzzParseHeld(f *testing.F) {
	dir := f.TempDir()
	identity(f, dir, mine)
	b, err := os.ReadFile(filepath.Join(dir, heldFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := parseHeld(b); err == nil && h.leaf.CheckSignatureFrom(h.ca) != nil {
			t.Errorf("accepted %q", b)
		}
	})
}

func FuzzParsePending(f *testing.F) {
	key, err := newKey()
	if err != nil {
		f.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.Fatal(err)
	}
	a := identity(f, f.TempDir(), mine)
	b, err := json.Marshal(pendingJSON{Key: der, Authority: a.Certificate().Raw, ID: "ab12", Code: "ACDEFG", Until: time.Now()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePending(b)
		if err == nil && (p.key == nil || p.ca == nil || len(p.code) != wire.EnrolCodeLen || strings.Contains(p.id, "/")) {
			t.Errorf("accepted %q", b)
		}
	})
}
