package trust

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

// FuzzReadPublic reads a public key that a person was sent: it is one, or there is an error.
func FuzzReadPublic(f *testing.F) {
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		f.Fatal(err)
	}
	var good bytes.Buffer
	if err := WritePublic(&good, public); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := ReadPublic(data)
		if (err == nil) != (len(key) == ed25519.PublicKeySize) {
			t.Fatalf("%d bytes, %v", len(key), err)
		}
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := WritePublic(&again, key); err != nil {
			t.Fatal(err)
		}
		if same, err := ReadPublic(again.Bytes()); err != nil || !same.Equal(key) {
			t.Errorf("reads back as %v, %v", same, err)
		}
	})
}
