package memory

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Visit names a visit and holds the key that its memory is sealed with. The key is never on a disk: when nobody
// holds it any more, what is left of the memory anywhere is noise.
type Visit struct {
	Name string   // what the visit is called in events
	Key  [32]byte // AES-256
}

var errSealed = errors.New("sealed memory cannot be read")

// maxBox bounds what is unsealed.
const maxBox = 256 << 10

// seal encodes v as JSON under the visit's key: a nonce (12 bytes), then AES-256-GCM with the place as additional
// data, so that a record can stand nowhere else.
func (v Visit) seal(place string, x any, random io.Reader) ([]byte, error) {
	plain, err := json.Marshal(x)
	if err != nil {
		return nil, fmt.Errorf("seal memory: %w", err)
	}
	aead, err := v.cipher()
	if err != nil {
		return nil, err
	}
	out := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := io.ReadFull(random, out); err != nil {
		return nil, fmt.Errorf("seal memory: %w", err)
	}
	return aead.Seal(out, out, plain, []byte(place)), nil
}

func (v Visit) unseal(place string, box []byte, x any) error {
	aead, err := v.cipher()
	if err != nil {
		return err
	}
	if len(box) < aead.NonceSize() || len(box) > maxBox {
		return errSealed
	}
	plain, err := aead.Open(nil, box[:aead.NonceSize()], box[aead.NonceSize():], []byte(place))
	if err != nil {
		return errSealed
	}
	if err := json.Unmarshal(plain, x); err != nil {
		return fmt.Errorf("%w: %w", errSealed, err)
	}
	return nil
}

func (v Visit) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(v.Key[:])
	if err != nil {
		return nil, fmt.Errorf("seal memory: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal memory: %w", err)
	}
	return aead, nil
}

// place is where the record of a slot is: the slot's name is hidden by a keyed hash.
func (v Visit) place(slot string) string {
	h := hmac.New(sha256.New, v.Key[:])
	h.Write([]byte(slot))
	return atFact + v.Name + "/" + hex.EncodeToString(h.Sum(nil)[:16])
}

// Envelope carries commands, or a whole memory, to where the key of the visit is known. Whoever carries it, the hub
// included, cannot read it.
type Envelope struct {
	Visit string `json:"visit"` // name
	Kind  string `json:"kind"`  // commands, snapshot
	Box   []byte `json:"box"`
}

// The kinds of envelopes.
const (
	EnvelopeCommands = "commands"
	EnvelopeSnapshot = "snapshot"
)

// Snapshot is the whole memory of a visit.
type Snapshot struct {
	Commands []Command `json:"commands"`
	Talk     Talk      `json:"talk"`
}

func (v Visit) envelope(kind string, x any, random io.Reader) (Envelope, error) {
	box, err := v.seal("envelope/"+kind+"/"+v.Name, x, random)
	return Envelope{Visit: v.Name, Kind: kind, Box: box}, err
}

// Open reads an envelope of the visit.
func (v Visit) Open(e Envelope) (Snapshot, error) {
	var s Snapshot
	place := "envelope/" + e.Kind + "/" + v.Name
	switch {
	case e.Visit != v.Name:
		return s, fmt.Errorf("%w: of another visit", errSealed)
	case e.Kind == EnvelopeCommands:
		return s, v.unseal(place, e.Box, &s.Commands)
	case e.Kind == EnvelopeSnapshot:
		return s, v.unseal(place, e.Box, &s)
	}
	return s, fmt.Errorf("%w: kind %q", errSealed, clip(e.Kind, 20))
}
