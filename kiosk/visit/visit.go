// Package visit keeps the visits of a kiosk: who stands before it in which language, what they have seen, and what
// was said. A visit is found by its id alone, and on disk it is sealed with a key made from that id: when the
// visitor's page forgets the id, nobody can read what is left of the visit on the disk.
package visit

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
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
	// Carried is set once the visitor has a pass.
	Carried *Carried `json:"carried,omitempty"`
}

// Carried is how a visit that has a pass stands to what other kiosks know of it.
type Carried struct {
	Expires   time.Time         `json:"expires"` // of the pass
	Signature []byte            `json:"signature"`
	Stamp     Stamp             `json:"stamp"`
	Clock     uint64            `json:"clock"`            // logical time: above all that was seen
	Number    uint64            `json:"number"`           // of what this kiosk sent last, and above all it has seen
	Covers    map[string]uint64 `json:"covers,omitempty"` // by kiosk: what of others is in this visit
}

// Stamp orders states of a visit: by version, then by later logical time.
type Stamp struct {
	Version uint64 `json:"version"` // one more with each change
	Logical uint64 `json:"logical"` // Lamport time: above all that was seen
	Kiosk   string `json:"kiosk"`   // only makes the order total
}

// Compare is negative where s is before o.
func (s Stamp) Compare(o Stamp) int {
	return cmp.Or(cmp.Compare(s.Version, o.Version), cmp.Compare(s.Logical, o.Logical), cmp.Compare(s.Kiosk, o.Kiosk))
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
	if v.Carried != nil {
		c := *v.Carried
		c.Signature, c.Covers = slices.Clone(c.Signature), maps.Clone(c.Covers)
		v.Carried = &c
	}
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

// TraceKey is the key that seals the words in the traces of the visit's turns, another one than the others.
func (v Visit) TraceKey() [32]byte { return sha256.Sum256([]byte("docent trace key\x00" + v.ID)) }

// MemoryKey is the key that seals what the visitor said about themselves, another one than the visit's own.
func (v Visit) MemoryKey() [32]byte { return sha256.Sum256([]byte("docent memory key\x00" + v.ID)) }
