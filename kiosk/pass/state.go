package pass

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"docent/agent/memory"
	"docent/kiosk/visit"
	"docent/localindex/gallery"
	"docent/sync/wire"
)

// State is what one kiosk knows of a visit. States of one visit are merged in whatever order and however often they come,
// and give the same: the talk and what is in hand are those of the later state, exhibits seen are those of all, and of the
// commands about one fact the latest holds.
type State struct {
	Stamp    visit.Stamp      `json:"stamp"`
	Language string           `json:"language"`
	Level    gallery.Level    `json:"level,omitempty"`
	Exhibit  string           `json:"exhibit,omitempty"`
	Seen     []string         `json:"seen,omitempty"` // oldest first
	Also     []string         `json:"also,omitempty"` // seen according to any state, sorted
	Talk     memory.Talk      `json:"talk"`
	Started  time.Time        `json:"started"`
	Commands []memory.Command `json:"commands,omitempty"` // sorted by slot
}

// Of is the state of a visit and what is remembered of it.
func Of(v visit.Visit, commands []memory.Command) State {
	s := State{Language: v.Language, Level: v.Level, Exhibit: v.Exhibit, Seen: slices.Clone(v.Seen), Talk: v.Talk, Started: v.Started, Commands: memory.Merge(commands, nil)}
	if v.Carried != nil {
		s.Stamp = v.Carried.Stamp
	}
	s.Also = union(s.Seen, nil)
	return s
}

// Merge is what two states of a visit give together.
func Merge(a, b State) State {
	if later(b, a) {
		a, b = b, a
	}
	a.Also = union(union(a.Also, a.Seen), union(b.Also, b.Seen))
	a.Commands = memory.Merge(a.Commands, b.Commands)
	if b.Started.Before(a.Started) {
		a.Started = b.Started
	}
	return a
}

// later says whether a wins over b. What stands behind the stamp only makes the order total.
func later(a, b State) bool {
	if c := a.Stamp.Compare(b.Stamp); c != 0 {
		return c > 0
	}
	return bytes.Compare(a.rest(), b.rest()) > 0
}

// rest is what the later state decides, as bytes.
func (s State) rest() []byte {
	s.Also, s.Commands, s.Started = nil, nil, time.Time{}
	out, _ := json.Marshal(s) // a state of plain values
	return out
}

// All are the exhibits seen, those of other states first, the newest last.
func (s State) All() []string {
	var before []string
	for _, e := range s.Also {
		if !slices.Contains(s.Seen, e) {
			before = append(before, e)
		}
	}
	return append(before, s.Seen...)
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// maxPlain bounds a state before it is compressed.
const maxPlain = 1 << 20

// Seal packs a state for the way, readable with the pass alone. Where a visit is too long for the way, older turns stay
// behind, and then the least important facts.
func Seal(p Pass, s State) ([]byte, error) {
	for {
		box, err := pack(p, s)
		if err == nil && len(box) <= wire.MaxVisitBox {
			return box, nil
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return nil, err
		}
		switch {
		case len(s.Talk.Turns) > 1:
			s.Talk.Turns = s.Talk.Turns[len(s.Talk.Turns)/2:]
		case len(s.Commands) > 1:
			c := slices.Clone(s.Commands)
			slices.SortStableFunc(c, func(a, b memory.Command) int {
				return cmp.Or(cmp.Compare(a.Kind.Order(), b.Kind.Order()), cmp.Compare(b.Logical, a.Logical))
			})
			s.Commands = memory.Merge(c[:len(c)*3/4], nil)
		case len(s.Also) > 0:
			s.Also, s.Seen = nil, nil
		default:
			return nil, errTooLong
		}
	}
}

var errTooLong = errors.New("the visit is too long to be carried")

func pack(p Pass, s State) ([]byte, error) {
	plain, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("carry visit: %w", err)
	}
	if len(plain) > maxPlain {
		return nil, errTooLong
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("carry visit: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("carry visit: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("carry visit: %w", err)
	}
	return seal(p.key(), "visit/"+p.Name(), b.Bytes())
}

// Open reads a sealed state.
func Open(p Pass, box []byte) (State, error) {
	if len(box) > wire.MaxVisitBox {
		return State{}, errSealed
	}
	packed, err := open(p.key(), "visit/"+p.Name(), box)
	if err != nil {
		return State{}, err
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxPlain+1))
	if err != nil || len(plain) > maxPlain {
		return State{}, errSealed
	}
	var s State
	if err := json.Unmarshal(plain, &s); err != nil {
		return State{}, fmt.Errorf("%w: %w", errSealed, err)
	}
	return s, nil
}

// key seals what is carried; it is another one than those of the visit and its memory on a kiosk's disk.
func (p Pass) key() [32]byte { return sha256.Sum256([]byte("docent pass key\x00" + p.Visit)) }

// seal puts a nonce (12 bytes) before AES-256-GCM, with the place as additional data.
func seal(key [32]byte, place string, plain []byte) ([]byte, error) {
	aead, err := cipherOf(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	_, _ = rand.Read(out) // crypto/rand.Read never fails
	return aead.Seal(out, out, plain, []byte(place)), nil
}

func open(key [32]byte, place string, box []byte) ([]byte, error) {
	aead, err := cipherOf(key)
	if err != nil {
		return nil, err
	}
	if len(box) < aead.NonceSize() {
		return nil, errSealed
	}
	plain, err := aead.Open(nil, box[:aead.NonceSize()], box[aead.NonceSize():], []byte(place))
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

func cipherOf(key [32]byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("seal visit: %w", err)
	}
	return cipher.NewGCM(block)
}
