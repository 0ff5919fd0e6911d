package wire

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func csr(t testing.TB, key crypto.Signer, name string) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestParseCSR(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := csr(t, ec, "museum_kiosk-1")
	forged := bytes.Clone(good)
	forged[len(forged)-1] ^= 1
	for _, tt := range []struct {
		name string
		der  []byte
		ok   bool
	}{
		{"ECDSA", good, true},
		{"Ed25519", csr(t, ed, "museum_kiosk-1"), true},
		{"RSA", csr(t, weak, "museum_kiosk-1"), false},
		{"a signature that is not the key's", forged, false},
		{"no name", csr(t, ec, ""), false},
		{"a name of one part", csr(t, ec, "museum"), false},
		{"a name that is a topic", csr(t, ec, "museum_#"), false},
		{"nothing", nil, false},
		{"too long", append(good, make([]byte, MaxCSR)...), false},
	} {
		a, _, err := ParseCSR(tt.der)
		if (err == nil) != tt.ok || tt.ok && a != (Address{"museum", "kiosk-1"}) {
			t.Errorf("%s: %v, %v", tt.name, a, err)
		}
		if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestCodes(t *testing.T) {
	if strings.ContainsAny(EnrolCode, "01258BILOQSUVZ") {
		t.Error("a character of codes is taken for another")
	}
	seen := map[string]bool{}
	for range 1000 {
		c, err := NewCode(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseCode(" " + strings.ToLower(c[:3]) + "-" + c[3:]); err != nil || got != c {
			t.Fatalf("%s reads as %s, %v", c, got, err)
		}
		seen[c] = true
	}
	if len(seen) < 990 { // of 113 million, two alike are unlikely
		t.Errorf("%d different codes of 1000", len(seen))
	}
	for _, bad := range []string{"", "ACDEF", "ACDEFGH", "ACDEF0", "ÄCDEFG", strings.Repeat("A", 1000)} {
		if _, err := ParseCode(bad); err == nil {
			t.Errorf("%q is a code", bad)
		}
	}
	if _, err := NewCode(strings.NewReader("abc")); err == nil {
		t.Error("a code of too little randomness")
	}
}

func TestFingerprint(t *testing.T) {
	f := Fingerprint(&x509.Certificate{Raw: []byte("x")})
	for _, spelling := range []string{f, strings.ToUpper(f), strings.ReplaceAll(f, " ", ""), strings.ReplaceAll(f, " ", ":")} {
		if got, err := ParseFingerprint(spelling); err != nil || got != f {
			t.Errorf("%q reads as %q, %v", spelling, got, err)
		}
	}
	for _, bad := range []string{"", "abcd", f + " 00", strings.Replace(f, " ", "g", 1)} {
		if _, err := ParseFingerprint(bad); err == nil {
			t.Errorf("%q is a fingerprint", bad)
		}
	}
}

func FuzzDecodeEnrolRequest(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	b, err := json.Marshal(EnrolRequest{CSR: csr(f, key, "museum_kiosk-1")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"csr":""}`))
	f.Add([]byte(`{"csr":"AAAA","more":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, csr, err := DecodeEnrolRequest(b)
		if err == nil && (a.Validate() != nil || csr.CheckSignature() != nil) {
			t.Errorf("accepted %q", b)
		}
	})
}

func FuzzReadEnrolAnswer(f *testing.F) {
	b, err := json.Marshal(EnrolAnswer{Status: EnrolWaiting, ID: "ab12", Code: "ACDEFG", ExpiresAt: time.Unix(1e9, 0), Now: time.Unix(1e9, 0)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"status":"refused","refusal":"revoked","now":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := ReadEnrolAnswer(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := json.Marshal(a)
		if err != nil {
			t.Fatalf("accepted %q, which cannot be written: %v", b, err)
		}
		if _, err := ReadEnrolAnswer(bytes.NewReader(again)); err != nil && len(again) <= MaxEnrol {
			t.Errorf("accepted %q and not %q: %v", b, again, err)
		}
	})
}

func TestCommandsAndResults(t *testing.T) {
	id := "0192f0c1-2345-7abc-8def-0123456789ab"
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	good := Command{ID: id, Name: CommandVolume, Value: 40, IssuedAt: now, ExpiresAt: now.Add(time.Minute), SentAt: now.Add(20 * time.Second)}
	b, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeCommand(b); err != nil || got != good || got.Left() != 40*time.Second {
		t.Errorf("%+v, %v", got, err)
	}
	for name, change := range map[string]func(*Command){
		"no id":          func(c *Command) { c.ID = "" },
		"a name":         func(c *Command) { c.Name = "rm -rf" },
		"value":          func(c *Command) { c.Value = 101 },
		"over before":    func(c *Command) { c.ExpiresAt = c.IssuedAt },
		"for ever":       func(c *Command) { c.ExpiresAt = c.IssuedAt.Add(MaxCommandLife + 1) },
		"a year 10,000":  func(c *Command) { c.SentAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"negative value": func(c *Command) { c.Value = -1 },
	} {
		c := good
		change(&c)
		if _, err := c.Encode(); err == nil {
			t.Errorf("command with %s: accepted", name)
		}
	}
	r := Result{ID: id, Status: ResultDone, Detail: strings.Repeat("\x01", maxDetail), At: now, Type: "application/gzip", Data: bytes.Repeat([]byte{0, '\n'}, MaxResultData/2)}
	b, err = r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeResult(b)
	if err != nil || !bytes.Equal(got.Data, r.Data) || got.Detail != r.Detail || got.Type != r.Type {
		t.Errorf("result: %d bytes of data, %v", len(got.Data), err)
	}
	for name, change := range map[string]func(*Result){
		"no id": func(r *Result) { r.ID = "x" }, "status": func(r *Result) { r.Status = "perhaps" },
		"detail": func(r *Result) { r.Detail += "x" }, "data": func(r *Result) { r.Data = append(bytes.Clone(r.Data), 0) },
	} {
		c := r
		change(&c)
		if _, err := c.Encode(); err == nil {
			t.Errorf("result with %s: accepted", name)
		}
	}
}

func FuzzDecodeCommand(f *testing.F) {
	f.Add([]byte(`{"id":"0192f0c1-2345-7abc-8def-0123456789ab","name":"refresh","issued_at":"2026-11-01T12:00:00Z","expires_at":"2026-11-01T12:01:00Z","sent_at":"2026-11-01T12:00:00Z"}`))
	f.Add([]byte(`{"id":"0192f0c1-2345-7abc-8def-0123456789ab","name":"refresh","value":1e99}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeCommand(b)
		if err != nil {
			return
		}
		again, err := c.Encode()
		if err != nil {
			t.Fatalf("accepted %q, which cannot be written: %v", b, err)
		}
		if same, err := DecodeCommand(again); err != nil || !same.ExpiresAt.Equal(c.ExpiresAt) || same.Name != c.Name {
			t.Errorf("%q reads as %+v, %v", again, same, err)
		}
	})
}

func FuzzDecodeResult(f *testing.F) {
	f.Add([]byte(`{"id":"0192f0c1-2345-7abc-8def-0123456789ab","status":"done","at":"2026-11-01T12:00:00Z"}` + "\ndata"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeResult(b)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatalf("accepted %q, which cannot be written: %v", b, err)
		}
		if same, err := DecodeResult(again); err != nil || !bytes.Equal(same.Data, r.Data) {
			t.Errorf("%q: %v", again, err)
		}
	})
}
