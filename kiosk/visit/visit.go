// Package visit keeps the visits of a kiosk: who stands before it in which language, what they have seen, and what
// was said. A visit is found by its id alone, and on disk it is sealed with a key made from that id: when the
// visitor's page forgets the id, nobody can read what is left of the visit on the disk.
package visit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"time"

	"docent/agent/memory"
	"docent/localindex/gallery"
)

// MaxSeen bounds the exhibits kept of one visit, the newest.
const MaxSeen = 500

// Visit is one visitor's session.
type Visit struct {
	// ID is 128 random bits, unpadded base64url. Whoever knows it can read and end the visit, so it is given to the
	// visitor's page and to nobody else.
	ID       string        `json:"-"`
	Language string        `json:"language"`
	Level    gallery.Level `json:"level,omitempty"`
	// Exhibit is the exhibit in hand; empty before the first.
	Exhibit string   `json:"exhibit,omitempty"`
	Seen    []string `json:"seen,omitempty"` // exhibit ids, oldest first, each once
	// Offered are the cards of the last photo, so that a pick can be told from browsing.
	Offered []Offer     `json:"offered,omitempty"`
	Talk    memory.Talk `json:"talk"`
	Started time.Time   `json:"started"`
	Expires time.Time   `json:"-"` // set by the store
}

// Offer is an exhibit that the visitor may pick.
type Offer struct {
	Exhibit    string  `json:"exhibit"`
	Decision   string  `json:"decision"` // of the photo it was offered for
	Confidence float64 `json:"confidence"`
}

// Name is what the visit is called in memory events: always the same, and of no use to find the visit.
func (v Visit) Name() string { return nameOf(v.ID) }

// Hold puts an exhibit in the visitor's hand and says whether it was not there already.
func (v *Visit) Hold(exhibit string) (changed bool) {
	changed = v.Exhibit != exhibit
	v.Exhibit = exhibit
	v.Seen = slices.DeleteFunc(v.Seen, func(s string) bool { return s == exhibit })
	v.Seen = newest(append(v.Seen, exhibit), MaxSeen)
	return changed
}

// newest cuts s to its last n, without keeping what was cut alive.
func newest[T any](s []T, n int) []T {
	if len(s) <= n {
		return s
	}
	return slices.Clone(s[len(s)-n:])
}

// clone is a copy that shares nothing with v.
func (v Visit) clone() Visit {
	v.Seen, v.Offered, v.Talk.Turns = slices.Clone(v.Seen), slices.Clone(v.Offered), slices.Clone(v.Talk.Turns)
	return v
}

const idBytes = 16

// validID says whether id has the form of an id.
func validID(id string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id)
	return err == nil && len(raw) == idBytes
}

// nameOf is the first 128 bits of a hash of the id, in hex.
func nameOf(id string) string {
	sum := sha256.Sum256([]byte("docent visit name\x00" + id))
	return hex.EncodeToString(sum[:16])
}

// keyOf is the key that seals the visit. The id has 128 random bits, so one hash is enough.
func keyOf(id string) [32]byte { return sha256.Sum256([]byte("docent visit key\x00" + id)) }

// MemoryKey is the key that seals what the visitor said about themselves, another one than the visit's own.
func (v Visit) MemoryKey() [32]byte { return sha256.Sum256([]byte("docent memory key\x00" + v.ID)) }
