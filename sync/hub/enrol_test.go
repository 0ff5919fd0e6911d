package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/enrol"
	"docent/sync/hub/authority"
	"docent/sync/hub/mochi"
	"docent/sync/hub/store"
	"docent/sync/outbox"
	"docent/sync/wire"
)

func TestEnrolment(t *testing.T) {
	dir, kioskDir := t.TempDir(), t.TempDir()
	h := runHub(t, Config{Dir: dir})
	k := startSecure(t, h.MQTTAddr(), "kiosk-1", kioskDir)
	code := k.code(t)
	if s := k.id.State(); s.Phase != enrol.PhaseWaiting || s.Fingerprint != h.Fingerprint() || !s.CodeUntil.After(time.Now()) {
		t.Errorf("waiting: %+v", s)
	}
	k.records(t)
	if k.link.State().Connected {
		t.Error("connected without a certificate")
	}
	k.enrolled(t, h, false)
	until(t, "empty outbox", func() bool { return k.Depth() == 0 })
	if s := k.id.State(); s.Phase != enrol.PhaseEnrolled || s.Reason != "" || s.Code != "" {
		t.Errorf("enrolled: %+v", s)
	}
	if _, err := h.Authorise(context.Background(), code, true); refusedAs(err) != store.ErrNotFound {
		t.Errorf("a code works twice: %v", err)
	}

	// Keys stay where they were made, and are readable by their owner only.
	for _, path := range []string{filepath.Join(dir, "authority", authority.File), filepath.Join(kioskDir, "identity", "identity.pem")} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if databaseOf(t, dir) == "" {
		db, err := os.ReadFile(filepath.Join(dir, "hub.db"))
		if err != nil || strings.Contains(string(db), "PRIVATE KEY") {
			t.Errorf("the hub's store holds a private key, or %v", err)
		}
	}

	// Hub and kiosk start again: nothing is asked anew.
	address := h.MQTTAddr()
	fingerprint := h.Fingerprint()
	k.stop()
	h.stop()
	h = runHub(t, Config{Dir: dir, MQTTListen: address})
	if h.Fingerprint() != fingerprint {
		t.Error("the authority is another after a restart")
	}
	k = startSecure(t, address, "kiosk-1", kioskDir)
	until(t, "connection", func() bool { return k.link.State().Connected })
	if w, err := h.store.Waiting(context.Background(), time.Now()); err != nil || len(w) != 0 {
		t.Errorf("waiting: %v, %v", w, err)
	}
}

func TestPendingRequestSurvivesRestartsOfBoth(t *testing.T) {
	dir, kioskDir := t.TempDir(), t.TempDir()
	h := runHub(t, Config{Dir: dir})
	k := startSecure(t, h.MQTTAddr(), "kiosk-1", kioskDir)
	code := k.code(t)
	k.stop()
	address := h.MQTTAddr()
	h.stop()
	h = runHub(t, Config{Dir: dir, MQTTListen: address})
	if _, err := h.Authorise(context.Background(), strings.ToLower(code[:3])+" - "+code[3:], false); err != nil {
		t.Fatal(err)
	}
	k = startSecure(t, address, "kiosk-1", kioskDir)
	until(t, "connection", func() bool { return k.link.State().Connected })
}

func TestCodesExpireAndAreLimited(t *testing.T) {
	hubClock := &clock{}
	h := runHub(t, Config{Dir: t.TempDir(), Clock: hubClock.now})
	k := startSecure(t, h.MQTTAddr(), "kiosk-1", t.TempDir())
	first := k.code(t)
	hubClock.set(codeLife + time.Second)
	if _, err := h.Authorise(context.Background(), first, false); refusedAs(err) != store.ErrNotFound {
		t.Errorf("an expired code: %v", err)
	}
	until(t, "another code", func() bool { c := k.id.State().Code; return c != "" && c != first })
	for range tryBurst {
		if _, err := h.Authorise(context.Background(), "AAAAAA", false); refusedAs(err) != store.ErrNotFound && refusedAs(err) != errTries {
			t.Fatalf("a wrong code: %v", err)
		}
	}
	if _, err := h.Authorise(context.Background(), k.id.State().Code, false); refusedAs(err) != errTries {
		t.Errorf("after many wrong codes: %v", err)
	}
	hubClock.set(codeLife + 2*time.Minute)
	k.enrolled(t, h, false)

	// Requests of one name, and of one address, are bounded.
	for i := range 5 {
		o := startSecure(t, h.MQTTAddr(), "kiosk-2", t.TempDir())
		if i < 3 {
			o.code(t)
			continue
		}
		o.reason(t, string(wire.RefusedTooMany))
	}
}

func TestSecondKioskOfANameNeedsAWord(t *testing.T) {
	h := runHub(t, Config{Dir: t.TempDir()})
	first := startSecure(t, h.MQTTAddr(), "kiosk-1", t.TempDir())
	first.enrolled(t, h, false)
	second := startSecure(t, h.MQTTAddr(), "kiosk-1", t.TempDir())
	if _, err := h.Authorise(context.Background(), second.code(t), false); refusedAs(err) != store.ErrReplaces {
		t.Errorf("a second kiosk of a name: %v", err)
	}
	if !first.link.State().Connected {
		t.Error("the first was cut off")
	}
	second.enrolled(t, h, true)
	// The first is told what happened, asks anew, and goes on meanwhile.
	until(t, "a new code of the first", func() bool { return first.id.State().Code != "" })
	if s := first.id.State(); s.Reason != string(wire.RefusedReplaced) || first.link.State().Connected {
		t.Errorf("the first: %+v, %+v", s, first.link.State())
	}
	first.records(t)
}

func TestRevocationEndsALiveConnection(t *testing.T) {
	h := runHub(t, Config{Dir: t.TempDir()})
	k, other := startSecure(t, h.MQTTAddr(), "kiosk-1", t.TempDir()), startSecure(t, h.MQTTAddr(), "kiosk-2", t.TempDir())
	k.enrolled(t, h, false)
	other.enrolled(t, h, false)
	connects := other.link.State().Connects
	if err := h.Revoke(context.Background(), wire.Address{Site: site, Kiosk: "kiosk-1"}); err != nil {
		t.Fatal(err)
	}
	s := k.reason(t, string(wire.RefusedRevoked))
	if k.link.State().Connected || !strings.Contains(k.link.State().LastError, "revoked") {
		t.Errorf("revoked: %+v, %+v", s, k.link.State())
	}
	k.records(t)
	until(t, "one event that waits", func() bool { return k.Depth() == 1 })
	if st := other.link.State(); !st.Connected || st.Connects != connects {
		t.Errorf("the other kiosk: %+v", st)
	}
	if err := h.Revoke(context.Background(), wire.Address{Site: site, Kiosk: "kiosk-9"}); refusedAs(err) != store.ErrNotFound {
		t.Errorf("revoke a kiosk that is not there: %v", err)
	}
	// Staff may take it back.
	k.enrolled(t, h, false)
	until(t, "empty outbox", func() bool { return k.Depth() == 0 })
	if s := k.id.State(); s.Phase != enrol.PhaseEnrolled || s.Reason != "" {
		t.Errorf("taken back: %+v", s)
	}
}

func TestRenewal(t *testing.T) {
	hubClock := &clock{}
	h := runHub(t, Config{Dir: t.TempDir(), Clock: hubClock.now})
	k := startSecure(t, h.MQTTAddr(), "kiosk-1", t.TempDir())
	k.enrolled(t, h, false)
	before := k.id.State().Until
	sessions := k.link.State().Connects
	both := func(d time.Duration) {
		hubClock.set(d)
		k.clock.set(d)
	}
	both(authority.KioskLife * 3 / 4)
	until(t, "new certificate", func() bool { return k.id.State().Until.After(before.Add(24 * time.Hour)) })
	until(t, "new connection", func() bool { s := k.link.State(); return s.Connected && s.Connects > sessions })
	k.records(t)
	until(t, "empty outbox", func() bool { return k.Depth() == 0 })
	// The line ends when a certificate has run out on it, and then staff are needed.
	k.stop()
	both(authority.KioskLife * 3)
	c, err := h.store.Certificates(context.Background())
	if err != nil || len(c) != 1 || !c[0].NotAfter.After(before) {
		t.Errorf("certificates %+v, %v", c, err)
	}
}

func TestExpiredCertificate(t *testing.T) {
	hubClock := &clock{}
	h := runHub(t, Config{Dir: t.TempDir(), Clock: hubClock.now})
	dir := t.TempDir()
	k := startSecure(t, h.MQTTAddr(), "kiosk-1", dir)
	k.enrolled(t, h, false)
	k.stop() // a year on a shelf
	hubClock.set(authority.KioskLife + 24*time.Hour)
	k = startSecure(t, h.MQTTAddr(), "kiosk-1", dir, func(o *enrol.Options, _ *outbox.Options) {
		o.Clock = hubClock.now
	})
	until(t, "code", func() bool { return k.id.State().Code != "" })
	if s := k.id.State(); s.Reason != string(wire.RefusedExpired) {
		t.Errorf("%+v", s)
	}
	k.records(t)
	k.enrolled(t, h, false)

	// On a live connection: the hub looks again.
	hubClock.set(2*authority.KioskLife + 72*time.Hour)
	h.broker.Recheck()
	until(t, "end of the connection", func() bool { return !k.link.State().Connected })
}

func TestWrongClocks(t *testing.T) {
	const years = 10 * 365 * 24 * time.Hour
	for name, offset := range map[string]struct{ hub, kiosk time.Duration }{
		"kiosk ten years behind": {0, -years},
		"kiosk ten years ahead":  {0, years},
		"hub ten years behind":   {-years, 0},
		"hub ten years ahead":    {years, 0},
	} {
		t.Run(name, func(t *testing.T) {
			hubClock := &clock{}
			hubDir := t.TempDir()
			h := runHub(t, Config{Dir: hubDir, Clock: hubClock.now})
			address := h.MQTTAddr()
			dir := t.TempDir()
			k := startSecure(t, address, "kiosk-1", dir)
			k.enrolled(t, h, false)
			k.stop()
			h.stop()
			hubClock.set(offset.hub)
			h = runHub(t, Config{Dir: hubDir, MQTTListen: address, Clock: hubClock.now})
			kioskClock := &clock{offset: offset.kiosk}
			k = startSecure(t, address, "kiosk-1", dir, func(o *enrol.Options, _ *outbox.Options) { o.Clock = kioskClock.now })
			s := k.reason(t, enrol.ReasonClock)
			if !strings.Contains(s.Detail, "clock") || s.Code != "" {
				t.Errorf("%+v", s)
			}
			k.records(t)
			// Set right, all is well again without anybody's help.
			kioskClock.set(0)
			h.stop()
			hubClock.set(0)
			runHub(t, Config{Dir: hubDir, MQTTListen: address, Clock: hubClock.now})
			until(t, "connection", func() bool { return k.link.State().Connected })
			if s := k.id.State(); s.Reason != "" || s.Phase != enrol.PhaseEnrolled {
				t.Errorf("afterwards %+v", s)
			}
		})
	}
}

func TestAnotherHubIsNotTrusted(t *testing.T) {
	h := runHub(t, Config{Dir: t.TempDir()})
	address := h.MQTTAddr()
	dir := t.TempDir()
	k := startSecure(t, address, "kiosk-1", dir)
	k.enrolled(t, h, false)
	h.stop()
	k.records(t)
	other := runHub(t, Config{Dir: t.TempDir(), MQTTListen: address})
	s := k.reason(t, enrol.ReasonHub)
	if k.Depth() != 1 || s.Code != "" || !strings.Contains(s.Detail, other.Fingerprint()) {
		t.Errorf("%d events wait, %+v", k.Depth(), s)
	}
	if w, err := other.store.Waiting(context.Background(), time.Now()); err != nil || len(w) != 0 {
		t.Errorf("the kiosk asked the other hub: %v, %v", w, err)
	}
	k.stop()
	// Told of the new hub, it asks there. Told of a third, it does not ask at all.
	k = startSecure(t, address, "kiosk-1", dir, func(o *enrol.Options, _ *outbox.Options) {
		o.Fingerprint = strings.ToUpper(strings.ReplaceAll(other.Fingerprint(), " ", ":"))
	})
	k.enrolled(t, other, false)
	third := startSecure(t, address, "kiosk-3", t.TempDir(), func(o *enrol.Options, _ *outbox.Options) {
		o.Fingerprint = strings.Repeat("ab", 32)
	})
	third.reason(t, enrol.ReasonHub)
}

func TestTwoKiosksWithOneIdentity(t *testing.T) {
	h := runHub(t, Config{Dir: t.TempDir()})
	dir, copied := t.TempDir(), t.TempDir()
	boot := func(id string) func(*enrol.Options, *outbox.Options) {
		return func(_ *enrol.Options, o *outbox.Options) { o.BootID = id }
	}
	const one, two = "b1b2b3b4-1111-4222-8333-444455556666", "c1c2c3c4-1111-4222-8333-444455556666"
	k := startSecure(t, h.MQTTAddr(), "kiosk-1", dir, boot(one))
	k.enrolled(t, h, false)
	k.stop()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	k = startSecure(t, h.MQTTAddr(), "kiosk-1", dir, boot(one))
	until(t, "connection", func() bool { return k.link.State().Connected })
	twin := startSecure(t, h.MQTTAddr(), "kiosk-1", copied, boot(two))
	// The twin takes the line as a machine that has started anew would; the first that comes back is found out, and
	// from then on one of them stays out.
	k.reason(t, string(wire.RefusedTwo))
	k.records(t)
	connects := k.link.State().Connects + twin.link.State().Connects
	for range 20 {
		twin.record(t, 1)
		until(t, "empty outbox of the twin", func() bool { return twin.Depth() == 0 })
	}
	changes := k.link.State().Connects + twin.link.State().Connects - connects
	if changes > 1 {
		t.Errorf("%d connections while both were there", changes)
	}
	t.Logf("two kiosks with one identity: one stays out, %d changes of the line while the other sent 20 events", changes)
	if !h.guard.conflict(wire.Address{Site: site, Kiosk: "kiosk-1"}, time.Now()) {
		t.Error("the hub does not know")
	}
	// Without the twin the first is let in again.
	twin.stop()
	until(t, "connection", func() bool { return k.link.State().Connected })
}

// TestCertificatesThatAreRefused shows certificates to the broker by hand.
func TestCertificatesThatAreRefused(t *testing.T) {
	hubClock := &clock{}
	h := runHub(t, Config{Dir: t.TempDir(), Clock: hubClock.now})
	foreign, err := authority.Open(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	mine := wire.Address{Site: site, Kiosk: "kiosk-1"}
	issue := func(a *authority.Authority, name wire.Address) *tls.Certificate {
		c, err := enrol.IssueFor(a, name)
		if err != nil {
			t.Fatal(err)
		}
		return &c
	}
	connect := func(cert *tls.Certificate, id string) error {
		roots := x509.NewCertPool()
		roots.AddCert(h.authority.Certificate())
		config := &tls.Config{RootCAs: roots, ServerName: wire.HubName, NextProtos: []string{wire.ProtocolMQTT}}
		if cert != nil {
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
		}
		c := paho.NewClient(paho.NewClientOptions().AddBroker("tls://" + h.MQTTAddr()).SetTLSConfig(config).SetClientID(id).
			SetProtocolVersion(4).SetAutoReconnect(false).SetConnectTimeout(5 * time.Second))
		token := c.Connect()
		token.WaitTimeout(10 * time.Second)
		defer c.Disconnect(50)
		return token.Error()
	}
	good := issue(h.authority, mine)
	if err := connect(good, mine.ClientID()); err != nil {
		t.Fatalf("a good certificate: %v", err)
	}
	revoked := issue(h.authority, wire.Address{Site: site, Kiosk: "kiosk-7"})
	if err := connect(revoked, site+"_kiosk-7"); err != nil {
		t.Fatal(err)
	}
	if err := h.Revoke(context.Background(), wire.Address{Site: site, Kiosk: "kiosk-7"}); err != nil {
		t.Fatal(err)
	}
	refused := 2 // expired and not yet valid, below
	for name, tt := range map[string]struct {
		cert *tls.Certificate
		id   string
		want wire.Refusal
	}{
		"none":                                {nil, mine.ClientID(), wire.RefusedNoCertificate},
		"another authority's":                 {issue(foreign, mine), mine.ClientID(), wire.RefusedAuthority},
		"another site's":                      {issue(h.authority, wire.Address{Site: "other", Kiosk: "kiosk-1"}), "other_kiosk-1", wire.RefusedSite},
		"another kiosk's name":                {good, site + "_kiosk-2", ""},
		"the hub's own":                       {serverCert(t, h), mine.ClientID(), wire.RefusedAuthority},
		"revoked":                             {revoked, site + "_kiosk-7", wire.RefusedRevoked},
		"signed before, and not in the store": {issue(h.authority, wire.Address{Site: site, Kiosk: "kiosk-8"}), site + "_kiosk-8", "holds"},
	} {
		if tt.want != "holds" {
			refused++
		}
		err := connect(tt.cert, tt.id)
		if (err == nil) != (tt.want == "holds") {
			t.Errorf("%s: %v", name, err)
		}
		if tt.want == "" || tt.want == "holds" {
			continue
		}
		var shown []*x509.Certificate
		if tt.cert != nil {
			shown = append(shown, tt.cert.Leaf)
		}
		if _, err := h.identify(context.Background(), shown); refusalOf(err) != tt.want {
			t.Errorf("%s: reason %v, want %s", name, err, tt.want)
		}
	}
	for offset, want := range map[time.Duration]wire.Refusal{2 * authority.KioskLife: wire.RefusedExpired, -48 * time.Hour: wire.RefusedNotYetValid} {
		hubClock.set(offset)
		if err := connect(good, mine.ClientID()); err == nil {
			t.Errorf("%s: admitted", want)
		}
		if _, err := h.identify(context.Background(), []*x509.Certificate{good.Leaf}); refusalOf(err) != want {
			t.Errorf("reason %v, want %s", err, want)
		}
	}
	t.Logf("%d kinds of wrong certificates refused, each with its reason", refused)
}

func TestOldTLSIsRefused(t *testing.T) {
	h := runHub(t, Config{Dir: t.TempDir()})
	for _, protocol := range []string{wire.ProtocolMQTT, wire.ProtocolEnrol} {
		_, err := tls.Dial("tcp", h.MQTTAddr(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, NextProtos: []string{protocol}})
		if err == nil {
			t.Errorf("%s over TLS 1.2: accepted", protocol)
		}
	}
}

func TestRememberedCertificatesAreForgottenWhenOneIsRevoked(t *testing.T) {
	var r remembered
	now := time.Now()
	_, since := r.has("a", now)
	r.add("a", now, since)
	if held, _ := r.has("a", now.Add(rememberFor-1)); !held {
		t.Error("not remembered")
	}
	if held, _ := r.has("a", now.Add(rememberFor)); held {
		t.Error("remembered for too long")
	}
	_, before := r.has("b", now) // read from the store before, noted after a revocation
	r.forget()
	r.add("b", now, before)
	for _, serial := range []string{"a", "b"} {
		if held, _ := r.has(serial, now); held {
			t.Errorf("%s is remembered after a revocation", serial)
		}
	}
}

func TestGuard(t *testing.T) {
	const a, b = "a1b2b3b4-1111-4222-8333-444455556666", "b1b2b3b4-1111-4222-8333-444455556666"
	type step struct {
		boot    string
		session uint64
		taken   bool
		want    bool
	}
	for name, steps := range map[string][]step{
		"a line that comes and goes":           {{a, 1, false, true}, {a, 2, true, true}, {a, 3, true, true}, {a, 4, true, true}, {a, 5, true, true}, {a, 6, true, true}},
		"a machine that starts anew":           {{a, 1, false, true}, {b, 2, true, true}, {b, 3, true, true}},
		"a copy":                               {{a, 1, false, true}, {b, 1, true, true}, {a, 2, true, false}, {a, 3, true, false}, {b, 2, true, true}},
		"a copy, and the other has gone":       {{a, 1, false, true}, {b, 1, true, true}, {a, 2, true, false}, {a, 3, false, true}, {b, 2, true, false}},
		"two programs of one machine":          {{a, 10, false, true}, {a, 11, true, true}, {a, 11, true, false}, {a, 12, true, true}, {a, 12, true, false}},
		"a store that was lost":                {{a, 10, false, true}, {a, 1, true, false}, {a, 2, false, true}, {a, 3, true, true}},
		"a client that says nothing of itself": {{"", 0, false, true}, {"", 0, true, true}, {"", 0, true, true}, {"", 0, true, true}, {"", 0, true, false}},
	} {
		var g guard
		now := time.Now()
		conflict := false
		for i, s := range steps {
			c := mochi.Connection{Kiosk: wire.Address{Site: site, Kiosk: "kiosk-1"}, BootID: s.boot, Session: s.session, Taken: s.taken}
			if got := g.admit(c, now); got != s.want {
				t.Errorf("%s: step %d: %v, want %v", name, i+1, got, s.want)
			}
			conflict = conflict || !s.want
			now = now.Add(time.Second)
		}
		if got := g.conflict(wire.Address{Site: site, Kiosk: "kiosk-1"}, now); got != conflict {
			t.Errorf("%s: told as two machines: %v", name, got)
		}
	}
}
