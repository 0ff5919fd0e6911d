package wire

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The types of events about visits that the hub acts on. All others it only keeps.
const (
	EventVisitCarried    = "visit.carried"    // VisitCarried
	EventVisitCode       = "visit.code"       // VisitCode
	EventMemoryCommand   = "memory.command"   // of which the hub keeps no more than the visit's name
	EventMemoryForgotten = "memory.forgotten" // VisitForgotten
)

// Limits of what is carried.
const (
	// MaxVisitBox is the most of a visit that one kiosk carries, in bytes: with its envelope it fits into an event.
	MaxVisitBox = 45 << 10
	// MaxVisitCode is the longest box of a short code, in bytes.
	MaxVisitCode = 256
	// MaxVisitKiosks is how many kiosks' states of one visit are kept.
	MaxVisitKiosks = 16
	// MaxNotices is how many visits one notice names.
	MaxNotices = 500
	// MaxPassLife is the longest that a pass may hold.
	MaxPassLife = 31 * 24 * time.Hour
	// MaxCodeLife is the longest that a short code may hold.
	MaxCodeLife = 15 * time.Minute
)

// VisitCarried is what a kiosk knows of a visit that has a pass, sealed. The hub keeps the newest of each kiosk and can
// read none.
type VisitCarried struct {
	Visit   string    `json:"visit"`  // its name, 32 hex digits
	Number  uint64    `json:"number"` // rises with each one of the same visit and kiosk
	Expires time.Time `json:"expires"`
	// Covers are the numbers up to which the states of other kiosks are in this one.
	Covers map[string]uint64 `json:"covers,omitempty"`
	Box    []byte            `json:"box"`
}

// VisitCode is a pass under a short code, sealed with what the code gives.
type VisitCode struct {
	Visit   string    `json:"visit"`
	Code    string    `json:"code"` // made from the code by a slow one-way function, 32 hex digits
	Expires time.Time `json:"expires"`
	Box     []byte    `json:"box"`
}

// VisitForgotten says that nothing of a visit is to be kept anywhere, nor taken in later.
type VisitForgotten struct {
	Visit string `json:"visit"`
}

// Validate says what is wrong with it, if anything.
func (v VisitCarried) Validate() error {
	if !ValidVisit(v.Visit) || v.Number == 0 || v.Number > MaxSeq || len(v.Covers) > 2*MaxVisitKiosks || !validTime(v.Expires) {
		return fmt.Errorf("carried visit: %w", ErrInvalid)
	}
	for kiosk, n := range v.Covers {
		if ValidName(kiosk) != nil || n > MaxSeq {
			return fmt.Errorf("carried visit covers: %w", ErrInvalid)
		}
	}
	if len(v.Box) == 0 || len(v.Box) > MaxVisitBox {
		return fmt.Errorf("carried visit of %d bytes: %w", len(v.Box), ErrTooLarge)
	}
	return nil
}

// Validate says what is wrong with it, if anything.
func (v VisitCode) Validate() error {
	if !ValidVisit(v.Visit) || !ValidVisit(v.Code) || !validTime(v.Expires) {
		return fmt.Errorf("visit code: %w", ErrInvalid)
	}
	if len(v.Box) == 0 || len(v.Box) > MaxVisitCode {
		return fmt.Errorf("visit code of %d bytes: %w", len(v.Box), ErrTooLarge)
	}
	return nil
}

func validTime(t time.Time) bool { return t.Year() >= 1970 && t.Year() <= 9999 }

// ValidVisit tells whether a name has the form of a visit's or a code's: 32 hex digits.
func ValidVisit(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == 16 && name == strings.ToLower(name)
}

// VisitQuery is what a kiosk may ask the hub about visits, as the Name of a Fetch.
type VisitQuery struct {
	Kind    VisitQueryKind
	Name    string    // of the visit or code; empty for the key
	Expires time.Time // of a signature, whole seconds
}

// VisitQueryKind is what is asked for.
type VisitQueryKind string

// The kinds of queries.
const (
	QueryPassKey VisitQueryKind = "passkey" // the public key of passes, Ed25519, 32 bytes
	QuerySign    VisitQueryKind = "sign"    // a signature of a pass, 64 bytes
	QueryVisit   VisitQueryKind = "visit"   // VisitBundle
	QueryCode    VisitQueryKind = "code"    // the box of a short code
)

// String is the query as the Name of a Fetch: "passkey", "sign.VISIT.UNIX", "visit.VISIT", "code.CODE".
func (q VisitQuery) String() string {
	switch q.Kind {
	case QueryPassKey:
		return string(q.Kind)
	case QuerySign:
		return string(q.Kind) + "." + q.Name + "." + strconv.FormatInt(q.Expires.Unix(), 10)
	}
	return string(q.Kind) + "." + q.Name
}

// ParseVisitQuery reads a query back; false where the name is none.
func ParseVisitQuery(name string) (VisitQuery, bool) {
	if name == string(QueryPassKey) {
		return VisitQuery{Kind: QueryPassKey}, true
	}
	kind, rest, _ := strings.Cut(name, ".")
	q := VisitQuery{Kind: VisitQueryKind(kind), Name: rest}
	switch q.Kind {
	case QueryVisit, QueryCode:
	case QuerySign:
		visit, unix, _ := strings.Cut(rest, ".")
		n, err := strconv.ParseUint(unix, 10, 32)
		if err != nil {
			return VisitQuery{}, false
		}
		q.Name, q.Expires = visit, time.Unix(int64(n), 0).UTC()
	default:
		return VisitQuery{}, false
	}
	return q, ValidVisit(q.Name) && q.String() == name
}

// VisitBundle is all that the hub has of a visit.
type VisitBundle struct {
	Expires time.Time    `json:"expires"`
	States  []VisitState `json:"states"`
}

// VisitState is what one kiosk knew. Box is empty where another kiosk's state covers it.
type VisitState struct {
	Kiosk  string `json:"kiosk"`
	Number uint64 `json:"number"`
	Box    []byte `json:"box,omitempty"`
}

// maxBundle bounds an encoded bundle: each box in base64 and what is around it.
const maxBundle = MaxVisitKiosks*(MaxVisitBox/3*4+256) + 1024

// DecodeVisitBundle reads a bundle and refuses what does not hold to its limits.
func DecodeVisitBundle(b []byte) (VisitBundle, error) {
	if len(b) > maxBundle {
		return VisitBundle{}, fmt.Errorf("visit of %d bytes: %w", len(b), ErrTooLarge)
	}
	var v VisitBundle
	if err := decodeStrict(b, &v); err != nil {
		return VisitBundle{}, fmt.Errorf("visit: %w", err)
	}
	if len(v.States) > MaxVisitKiosks {
		return VisitBundle{}, fmt.Errorf("visit of %d kiosks: %w", len(v.States), ErrTooLarge)
	}
	for _, s := range v.States {
		if ValidName(s.Kiosk) != nil || s.Number > MaxSeq || len(s.Box) > MaxVisitBox {
			return VisitBundle{}, fmt.Errorf("visit state: %w", ErrInvalid)
		}
	}
	return v, nil
}

// VisitNotice tells a kiosk what has happened elsewhere to visits that it has or had.
type VisitNotice struct {
	Changed   []string `json:"changed,omitempty"`
	Forgotten []string `json:"forgotten,omitempty"`
}

const maxNotice = 64 << 10

// Encode returns the notice's bytes, or what is wrong with it.
func (n VisitNotice) Encode() ([]byte, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(n)
}

// DecodeVisitNotice reads a notice. Unknown fields are passed over: a newer hub may say more.
func DecodeVisitNotice(b []byte) (VisitNotice, error) {
	var n VisitNotice
	if len(b) > maxNotice {
		return n, fmt.Errorf("visit notice of %d bytes: %w", len(b), ErrTooLarge)
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return n, fmt.Errorf("visit notice: %w: %w", ErrInvalid, err)
	}
	return n, n.Validate()
}

// Validate says what is wrong with the notice, if anything.
func (n VisitNotice) Validate() error {
	if len(n.Changed)+len(n.Forgotten) > MaxNotices {
		return fmt.Errorf("visit notice: %w", ErrTooLarge)
	}
	for _, names := range [][]string{n.Changed, n.Forgotten} {
		for _, name := range names {
			if !ValidVisit(name) {
				return fmt.Errorf("visit notice: %w", ErrInvalid)
			}
		}
	}
	return nil
}

// PassText is what the hub signs of a pass: whose visit it is and until when it holds, in whole seconds.
func PassText(site, visit string, expires time.Time) []byte {
	return []byte("docent visit pass 1\x00" + site + "\x00" + visit + "\x00" + strconv.FormatInt(expires.Unix(), 10))
}
