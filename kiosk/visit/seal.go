package visit

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A stored visit is its expiry (8 bytes, big endian, milliseconds since 1970, the highest bit for a visit with a pass), a nonce (12 bytes), and the JSON of the
// visit under AES-256-GCM with the expiry and the visit's name as additional data. The expiry is readable without
// the id, so that a visit can run out after a restart.
const (
	expirySize = 8
	nonceSize  = 12
	carriedBit = 1 << 63
)

var errSealed = errors.New("stored visit cannot be read")

func seal(v Visit, random io.Reader) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode visit: %w", err)
	}
	aead, err := cipherOf(v.ID)
	if err != nil {
		return nil, err
	}
	head := uint64(v.Expires.UnixMilli())
	if v.Carried != nil {
		head |= carriedBit
	}
	out := binary.BigEndian.AppendUint64(nil, head)
	out = append(out, make([]byte, nonceSize)...)
	if _, err := io.ReadFull(random, out[expirySize:]); err != nil {
		return nil, fmt.Errorf("seal visit: %w", err)
	}
	return aead.Seal(out, out[expirySize:], plain, additional(out, v.Name())), nil
}

func unseal(stored []byte, id string) (Visit, error) {
	if len(stored) < expirySize+nonceSize {
		return Visit{}, errSealed
	}
	aead, err := cipherOf(id)
	if err != nil {
		return Visit{}, err
	}
	nonce, sealed := stored[expirySize:expirySize+nonceSize], stored[expirySize+nonceSize:]
	plain, err := aead.Open(nil, nonce, sealed, additional(stored, nameOf(id)))
	if err != nil {
		return Visit{}, errSealed
	}
	v := Visit{ID: id, Expires: expiry(stored)}
	if err := json.Unmarshal(plain, &v); err != nil {
		return Visit{}, fmt.Errorf("%w: %w", errSealed, err)
	}
	return v, nil
}

// expiry reads when a stored visit runs out; the zero time where it is too short to say.
func expiry(stored []byte) time.Time {
	if len(stored) < expirySize {
		return time.Time{}
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(stored) &^ carriedBit))
}

// carried reads whether a stored visit has a pass.
func carried(stored []byte) bool {
	return len(stored) >= expirySize && binary.BigEndian.Uint64(stored)&carriedBit != 0
}

func additional(stored []byte, name string) []byte {
	return append(append([]byte{}, stored[:expirySize]...), name...)
}

func cipherOf(id string) (cipher.AEAD, error) {
	key := keyOf(id)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("seal visit: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal visit: %w", err)
	}
	return aead, nil
}
