// Package pass is what a visitor takes from one kiosk to the next: a pass, a short code that stands for it, and the
// state of the visit, sealed so that only who has the pass can read it.
package pass

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"docent/kiosk/visit"
	"docent/sync/wire"
)

// Errors of passes and codes.
var (
	ErrNone    = errors.New("that is no pass")
	ErrForged  = errors.New("the pass was not given out by this house")
	ErrExpired = errors.New("the pass has run out")
	errSealed  = errors.New("what was carried cannot be read")
)

// Prefix begins the text of a pass.
const Prefix = "DOCENT:"

// A pass is a version (1 byte), the visit's id (16 bytes), when it ends (unix seconds, 4 bytes, big endian) and an Ed25519
// signature of the hub (64 bytes); as text in base32, because capitals and digits make the smaller QR code.
const (
	version  = 1
	idBytes  = 16
	rawBytes = 1 + idBytes + 4 + ed25519.SignatureSize
)

var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// TextLength is how many characters a pass has.
var TextLength = len(Prefix) + encoding.EncodedLen(rawBytes)

// Pass lets a visit go on at another kiosk until it ends.
type Pass struct {
	Visit     string    // the visit's id: who has it has the visit
	Expires   time.Time // whole seconds, UTC
	Signature []byte    // by the hub, of [wire.PassText]
}

// Name is the visit's name.
func (p Pass) Name() string { return visit.Visit{ID: p.Visit}.Name() }

// String is the pass as it stands in a QR code.
func (p Pass) String() string { return Prefix + encoding.EncodeToString(p.raw()) }

func (p Pass) raw() []byte {
	id, _ := base64.RawURLEncoding.Strict().DecodeString(p.Visit)
	out := append(make([]byte, 0, rawBytes), version)
	out = append(out, id...)
	out = binary.BigEndian.AppendUint32(out, uint32(p.Expires.Unix()))
	return append(out, p.Signature...)
}

// Parse reads the text of a pass; it says nothing of whether the pass is genuine. The error is [ErrNone].
func Parse(text string) (Pass, error) {
	text = strings.TrimSpace(text)
	if len(text) != TextLength || !strings.HasPrefix(text, Prefix) {
		return Pass{}, ErrNone
	}
	raw, err := encoding.DecodeString(text[len(Prefix):])
	if err != nil {
		return Pass{}, ErrNone
	}
	p, err := read(raw)
	if err == nil && p.String() != text { // bits of the last character that say nothing
		return Pass{}, ErrNone
	}
	return p, err
}

func read(raw []byte) (Pass, error) {
	if len(raw) != rawBytes || raw[0] != version {
		return Pass{}, ErrNone
	}
	raw = raw[1:]
	return Pass{
		Visit:     base64.RawURLEncoding.EncodeToString(raw[:idBytes]),
		Expires:   time.Unix(int64(binary.BigEndian.Uint32(raw[idBytes:])), 0).UTC(),
		Signature: append([]byte{}, raw[idBytes+4:]...),
	}, nil
}

// Verify checks that the hub with that public key has signed the pass for a site, and that it has not ended. The error is
// [ErrForged] or [ErrExpired].
func (p Pass) Verify(key ed25519.PublicKey, site string, now time.Time) error {
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, wire.PassText(site, p.Name(), p.Expires), p.Signature) {
		return ErrForged
	}
	if !p.Expires.After(now) {
		return ErrExpired
	}
	return nil
}

// alphabet are the characters of a short code, without those that are taken for others: 0 O, 1 I L, U V.
const alphabet = "23456789ABCDEFGHJKMNPQRSTWXYZ"

// CodeLength is how many characters a short code has: 29⁸ = 5·10¹¹ codes.
const CodeLength = 8

// CodeLife is how long a short code can be looked up.
const CodeLife = 10 * time.Minute

// NewCode makes a short code.
func NewCode() string {
	var out [CodeLength]byte
	for i := range out {
		for {
			var b [1]byte
			_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
			if n := int(b[0]) % 32; n < len(alphabet) {
				out[i] = alphabet[n]
				break
			}
		}
	}
	return string(out[:])
}

// CleanCode is a code as it was meant: capitals, without spaces and dashes. It is false where that is none.
func CleanCode(typed string) (code string, ok bool) {
	if len(typed) > 4*CodeLength {
		return "", false
	}
	var b strings.Builder
	for _, r := range strings.ToUpper(typed) {
		switch {
		case r == ' ' || r == '-':
		case strings.ContainsRune(alphabet, r):
			b.WriteRune(r)
		default:
			return "", false
		}
	}
	return b.String(), b.Len() == CodeLength
}

// What a code is worth to somebody who guesses: Argon2id (RFC 9106) with 32 MiB and two passes, about a tenth of a second
// a guess on a kiosk, for the hub itself too.
const (
	slowTime   = 2
	slowMemory = 32 << 10 // KiB
)

// Code is what a short code gives.
type Code struct {
	Name string // what it is looked up by at the hub; it does not lead back to the code
	key  [32]byte
}

// Derive makes a code's name and key, slowly and with 32 MiB of memory.
func Derive(site, code string) Code {
	out := argon2.IDKey([]byte(code), []byte("docent pass code 1\x00"+site), slowTime, slowMemory, 1, 48)
	return Code{Name: fmt.Sprintf("%x", out[:16]), key: [32]byte(out[16:])}
}

// Seal hides a pass behind the code.
func (c Code) Seal(p Pass) ([]byte, error) { return seal(c.key, "code/"+c.Name, p.raw()) }

// Open finds the pass behind the code.
func (c Code) Open(box []byte) (Pass, error) {
	if len(box) > wire.MaxVisitCode {
		return Pass{}, errSealed
	}
	raw, err := open(c.key, "code/"+c.Name, box)
	if err != nil {
		return Pass{}, err
	}
	return read(raw)
}
