package wire

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// HubName is the name in every hub's certificate. Kiosks trust an authority, not a host name: a hub may move.
const HubName = "docent-hub"

// Protocols that are told apart in the TLS handshake (ALPN), so that a hub needs one port: the registered ids of MQTT
// and HTTP.
const (
	ProtocolMQTT  = "mqtt"
	ProtocolEnrol = "http/1.1"
)

// Addresses of the enrolment protocol, HTTP/1.1 over TLS. Bodies are JSON.
const (
	EnrolPath    = "/enrol/v1/requests" // POST EnrolRequest; GET EnrolPath/ID
	RenewPath    = "/enrol/v1/renew"    // POST EnrolRequest, with the present certificate
	StandingPath = "/enrol/v1/standing" // GET, with the present certificate
)

// Limits of enrolment.
const (
	MaxEnrol = 16 << 10 // bytes of a message
	MaxCSR   = 4 << 10  // bytes of a certificate request
	MaxCert  = 8 << 10  // bytes of a certificate
)

// EnrolCode are the characters of a code: those that are not taken for one another when they are read from a screen,
// written down and typed (no 0 O Q, 1 I L, 2 Z, 5 S, 8 B, U V).
const EnrolCode = "ACDEFGHJKMNPRTWXY34679"

// EnrolCodeLen is how many characters a code has: 113 million codes.
const EnrolCodeLen = 6

// EnrolRequest asks for a certificate.
type EnrolRequest struct {
	CSR []byte `json:"csr"` // PKCS #10, DER; its common name is SITE_KIOSK
}

// EnrolStatus is how far a request is.
type EnrolStatus string

// The words of EnrolStatus.
const (
	EnrolWaiting EnrolStatus = "waiting" // for staff
	EnrolGranted EnrolStatus = "granted" // the certificate is there
	EnrolRefused EnrolStatus = "refused" // by staff, or with a Refusal
)

// EnrolAnswer answers every request of the protocol.
type EnrolAnswer struct {
	Status EnrolStatus `json:"status"`
	ID     string      `json:"id,omitempty"` // of the request; a secret of this kiosk
	Code   string      `json:"code,omitempty"`
	// ExpiresAt is the end of the code.
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	Certificate []byte    `json:"certificate,omitempty"` // DER
	Refusal     Refusal   `json:"refusal,omitempty"`
	Now         time.Time `json:"now"` // by the hub's clock
}

// Refusal is why a hub does not let a kiosk in, a stable word.
type Refusal string

// The words of Refusal.
const (
	RefusedNoCertificate Refusal = "no_certificate"
	RefusedAuthority     Refusal = "foreign_authority" // signed by another hub
	RefusedExpired       Refusal = "expired"
	RefusedNotYetValid   Refusal = "not_yet_valid"
	RefusedRevoked       Refusal = "revoked"  // by staff
	RefusedReplaced      Refusal = "replaced" // another machine was given the name
	RefusedName          Refusal = "wrong_name"
	RefusedSite          Refusal = "other_site"
	RefusedTwo           Refusal = "two_kiosks" // two machines use one identity
	RefusedTooMany       Refusal = "too_many"   // requests
	RefusedRequest       Refusal = "bad_request"
)

// DecodeEnrolRequest reads a request and refuses what does not hold to its limits.
func DecodeEnrolRequest(b []byte) (Address, *x509.CertificateRequest, error) {
	if len(b) > MaxEnrol {
		return Address{}, nil, fmt.Errorf("enrolment of %d bytes, at most %d: %w", len(b), MaxEnrol, ErrTooLarge)
	}
	var r EnrolRequest
	if err := decodeStrict(b, &r); err != nil {
		return Address{}, nil, fmt.Errorf("enrolment: %w", err)
	}
	return ParseCSR(r.CSR)
}

// ParseCSR reads a certificate request, verifies that whoever made it has the key, and returns whose name it has.
func ParseCSR(der []byte) (Address, *x509.CertificateRequest, error) {
	if len(der) > MaxCSR {
		return Address{}, nil, fmt.Errorf("certificate request of %d bytes, at most %d: %w", len(der), MaxCSR, ErrTooLarge)
	}
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return Address{}, nil, fmt.Errorf("certificate request: %w: %w", ErrInvalid, err)
	}
	switch csr.PublicKeyAlgorithm {
	case x509.ECDSA, x509.Ed25519:
	default:
		return Address{}, nil, fmt.Errorf("certificate request: key is neither ECDSA nor Ed25519: %w", ErrInvalid)
	}
	if err := csr.CheckSignature(); err != nil {
		return Address{}, nil, fmt.Errorf("certificate request: %w: %w", ErrInvalid, err)
	}
	a, err := ParseClientID(csr.Subject.CommonName)
	if err != nil {
		return Address{}, nil, fmt.Errorf("certificate request: %w", err)
	}
	return a, csr, nil
}

// ReadEnrolAnswer reads an answer, at most MaxEnrol bytes. Unknown fields are passed over: a newer hub may say more.
func ReadEnrolAnswer(r io.Reader) (EnrolAnswer, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxEnrol+1))
	if err != nil {
		return EnrolAnswer{}, fmt.Errorf("read answer: %w", err)
	}
	if len(b) > MaxEnrol {
		return EnrolAnswer{}, fmt.Errorf("answer of more than %d bytes: %w", MaxEnrol, ErrTooLarge)
	}
	var a EnrolAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		return EnrolAnswer{}, fmt.Errorf("answer: %w: %w", ErrInvalid, err)
	}
	return a, a.Validate()
}

// Validate says what is wrong with the answer, if anything.
func (a EnrolAnswer) Validate() error {
	switch a.Status {
	case EnrolWaiting, EnrolGranted, EnrolRefused:
	default:
		return fmt.Errorf("answer status: %w", ErrInvalid)
	}
	if a.Code != "" {
		if code, err := ParseCode(a.Code); err != nil || code != a.Code {
			return fmt.Errorf("answer code: %w", ErrInvalid)
		}
	}
	if len(a.ID) > 64 || strings.Trim(a.ID, "0123456789abcdef") != "" {
		return fmt.Errorf("answer id: %w", ErrInvalid)
	}
	if len(a.Certificate) > MaxCert || len(a.Refusal) > 64 {
		return fmt.Errorf("answer: %w", ErrTooLarge)
	}
	for _, t := range []time.Time{a.Now, a.ExpiresAt} {
		if y := t.Year(); y < 1 || y > 9999 {
			return fmt.Errorf("answer time in year %d: %w", y, ErrInvalid)
		}
	}
	return nil
}

// NewCode makes a code. Bytes that would make some characters likelier are passed over.
func NewCode(random io.Reader) (string, error) {
	const fair = 256 / len(EnrolCode) * len(EnrolCode)
	code := make([]byte, 0, EnrolCodeLen)
	var b [1]byte
	for len(code) < EnrolCodeLen {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return "", fmt.Errorf("read randomness: %w", err)
		}
		if int(b[0]) < fair {
			code = append(code, EnrolCode[int(b[0])%len(EnrolCode)])
		}
	}
	return string(code), nil
}

// ErrCode is the error for what is no code.
var ErrCode = errors.New("a code has six letters and digits")

// ParseCode reads a code as people type it: in any case, with spaces and dashes.
func ParseCode(s string) (string, error) {
	if len(s) > 64 {
		return "", ErrCode
	}
	s = strings.NewReplacer(" ", "", "-", "").Replace(strings.ToUpper(s))
	if len(s) != EnrolCodeLen || strings.Trim(s, EnrolCode) != "" {
		return "", ErrCode
	}
	return s, nil
}

// Fingerprint names an authority: the SHA-256 of its certificate in hex, in groups of four.
func Fingerprint(authority *x509.Certificate) string {
	sum := sha256.Sum256(authority.Raw)
	h := hex.EncodeToString(sum[:])
	var b strings.Builder
	for i := 0; i < len(h); i += 4 {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(h[i : i+4])
	}
	return b.String()
}

// ParseFingerprint reads a fingerprint as people copy it, and returns it as Fingerprint writes it.
func ParseFingerprint(s string) (string, error) {
	s = strings.NewReplacer(" ", "", ":", "", "-", "", "\n", "").Replace(strings.ToLower(s))
	sum, err := hex.DecodeString(s)
	if err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("a fingerprint has 64 digits 0-9 a-f: %w", ErrInvalid)
	}
	var groups [][]byte
	for b := []byte(s); len(b) > 0; b = b[4:] {
		groups = append(groups, b[:4])
	}
	return string(bytes.Join(groups, []byte(" "))), nil
}
