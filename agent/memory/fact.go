package memory

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is what a fact is about.
type Kind string

// The kinds of facts.
const (
	KindTime     Kind = "time"     // until when the visitor has time
	KindAccess   Kind = "access"   // a wheelchair, a pram, no stairs, …
	KindChildren Kind = "children" // there are children in the party
	KindAllergy  Kind = "allergy"
	KindBooking  Kind = "booking" // a tour, a table, a slot at a time
	KindName     Kind = "name"
	KindTodo     Kind = "todo"
	KindInterest Kind = "interest" // what the visitor likes, or does not
	KindStyle    Kind = "style"    // how the visitor wants to be answered
	KindNote     Kind = "note"     // what they asked to be remembered, in their words
)

// order is the priority of kinds: those before are told first.
var order = map[Kind]int{
	KindAllergy: 0, KindAccess: 1, KindBooking: 2, KindTime: 3, KindChildren: 4, KindName: 5, KindStyle: 6, KindTodo: 7, KindInterest: 8, KindNote: 9,
}

// Critical says that getting the fact wrong could hurt, or cost the visitor their slot: it is stored before the
// visitor is answered.
func (k Kind) Critical() bool { return k == KindAllergy || k == KindAccess || k == KindBooking }

// Order is the priority of a kind: those with less are told first.
func (k Kind) Order() int { return order[k] }

// Op is what a command does.
type Op string

// The operations.
const (
	OpUpsertFact       Op = "upsert_fact"
	OpRetractFact      Op = "retract_fact"
	OpAppendText       Op = "append_text"
	OpUpsertPreference Op = "upsert_preference"
)

// Draft is a change to the memory as it was understood, not yet placed in time.
type Draft struct {
	Op    Op     `json:"op"`
	Key   string `json:"key"` // one fact; "allergy/peanut"
	Kind  Kind   `json:"kind"`
	Value string `json:"value,omitempty"` // for programs: an RFC 3339 time, a word of the kind's own
	Text  string `json:"text,omitempty"`  // the visitor's words
}

// Source says where a fact comes from.
type Source string

// The sources.
const (
	SourceSaid   Source = "said"   // understood from what the visitor said
	SourceEdited Source = "edited" // set by the visitor in the list of what is remembered
)

// Command is a change to what is remembered of a visit. The memory of a visit is what its commands make of it, in
// whatever order and however often they come: of those with one key the latest counts, and texts are kept by id.
type Command struct {
	Draft
	ID        string    `json:"id"`
	Visit     string    `json:"visit"`   // its name in events
	Version   uint64    `json:"version"` // of the fact, from 1; one more than the version it replaces
	Logical   uint64    `json:"logical"` // Lamport time within the visit, from 1
	Kiosk     string    `json:"kiosk"`
	Source    Source    `json:"source"`
	Confirmed bool      `json:"confirmed,omitempty"`
	At        time.Time `json:"at"`
}

// later says whether c wins over d, a command with the same key: by version, then by logical time. Kiosk and id only
// make the order total, so that all kiosks choose alike.
func (c Command) later(d Command) bool {
	return cmp.Or(cmp.Compare(c.Version, d.Version), cmp.Compare(c.Logical, d.Logical), cmp.Compare(c.Kiosk, d.Kiosk), cmp.Compare(c.ID, d.ID)) > 0
}

// Merge is what two sets of commands of one visit give together, whatever their order and however often each is in them:
// the latest of each slot, sorted by slot.
func Merge(a, b []Command) []Command {
	latest := map[string]Command{}
	for _, c := range slices.Concat(a, b) {
		if before, known := latest[c.slot()]; !known || c.later(before) {
			latest[c.slot()] = c
		}
	}
	out := make([]Command, 0, len(latest))
	for _, slot := range slices.Sorted(maps.Keys(latest)) {
		out = append(out, latest[slot])
	}
	return out
}

// Limits of a command and of a visit's memory.
const (
	maxKey      = 80  // characters
	maxText     = 200 // characters
	maxFacts    = 500 // of one visit, retracted ones and notes included; more are not taken
	maxNotes    = 20  // told to readers, the newest
	maxCommands = 500 // taken at once from outside
)

// ErrInvalid says that a command from outside is not one.
var ErrInvalid = errors.New("invalid memory command")

// validate checks a command from outside.
func (c Command) validate(visit string) error {
	switch _, known := order[c.Kind]; {
	case c.Visit != visit:
		return fmt.Errorf("%w: of another visit", ErrInvalid)
	case !known:
		return fmt.Errorf("%w: kind %q", ErrInvalid, clip(string(c.Kind), 20))
	case c.ID == "" || len(c.ID) > maxKey || len(c.Kiosk) > maxKey || len(c.Source) > maxKey:
		return fmt.Errorf("%w: id, kiosk or source", ErrInvalid)
	case c.Key == "" || !short(c.Key, maxKey) || !short(c.Text, maxText) || !short(c.Value, maxText):
		return fmt.Errorf("%w: key, text or value", ErrInvalid)
	case c.Version == 0 || c.Version > maxClock || c.Logical == 0 || c.Logical > maxClock:
		return fmt.Errorf("%w: version or time", ErrInvalid)
	}
	switch c.Op {
	case OpUpsertFact, OpRetractFact, OpAppendText, OpUpsertPreference:
		return nil
	}
	return fmt.Errorf("%w: operation %q", ErrInvalid, clip(string(c.Op), 20))
}

// maxClock keeps versions and times far from where they would wrap.
const maxClock = 1 << 53

func short(s string, n int) bool { return utf8.ValidString(s) && utf8.RuneCountInString(s) <= n }

// slot names what a command changes: commands with the same slot replace each other.
func (c Command) slot() string {
	if c.Op == OpAppendText {
		return "note/" + c.ID
	}
	return c.Key
}

// Fact is one thing that is remembered.
type Fact struct {
	Key       string
	Kind      Kind
	Value     string
	Text      string
	Version   uint64
	Source    Source
	Confirmed bool
	At        time.Time
	// Pending says that the fact is on its way into the store of facts.
	Pending bool
}

func (c Command) fact(pending bool) Fact {
	return Fact{Key: c.slot(), Kind: c.Kind, Value: c.Value, Text: c.Text, Version: c.Version, Source: c.Source, Confirmed: c.Confirmed, At: c.At, Pending: pending}
}

// compareFacts orders facts by kind, then by time, then by key.
func compareFacts(a, b Fact) int {
	return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), a.At.Compare(b.At), strings.Compare(a.Key, b.Key))
}
