// Package rollout decides which kiosk shows which release, and when: group after group, stopping by itself where a
// release does not do. It computes and stores nothing itself; clock, randomness and store are given.
package rollout

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"docent/sync/wire"
)

// Bounds of a plan.
const (
	MaxPlan         = 1 << 20 // bytes
	maxGroups       = 20
	maxListed       = 10_000 // kiosks named in one group
	maxTimeoutHours = 24 * 90
	maxText         = 300 // bytes of a name of a person or a reason
)

// Defaults of a group.
const (
	DefaultSuccess      = 100    // percent
	DefaultTimeoutHours = 24 * 7 // a kiosk may be off for a weekend and a holiday
)

// ErrPlan is the error of a plan that cannot be carried out.
var ErrPlan = errors.New("plan of the rollout")

// Plan is the order in which kiosks get a release.
type Plan struct {
	Groups []Group `json:"groups"`
	// StartAt is when the first group may begin at the earliest; zero is at once.
	StartAt time.Time `json:"start_at,omitzero"`
}

// Group is a part of the kiosks that get the release together. Exactly one of Kiosks, Percent and Rest says which.
type Group struct {
	Name    string  `json:"name"`              // lower-case letters, digits and inner dashes
	Kiosks  []Kiosk `json:"kiosks,omitempty"`  // named ones
	Percent int     `json:"percent,omitempty"` // 1 … 100 of those that are in no group before, rounded up
	Rest    bool    `json:"rest,omitempty"`    // all that are in no group before, and those that come later; the last group only
	// Success is the percentage of the group that must show the release before the next group begins; nil is
	// DefaultSuccess. Kiosks that were switched off all the time do not count.
	Success *int `json:"success_threshold,omitempty"`
	// Errors is how many of the group may fail: one more pauses the whole rollout.
	Errors Limit `json:"error_threshold,omitzero"`
	// TimeoutHours is after how long a kiosk that has not said how it went counts as timed out; 0 is DefaultTimeoutHours.
	TimeoutHours float64 `json:"timeout_hours,omitempty"`
	// Approval keeps the group waiting until somebody has approved it.
	Approval bool `json:"approval,omitempty"`
}

// Kiosk is a kiosk in a plan, written SITE/KIOSK.
type Kiosk wire.Address

// MarshalText writes SITE/KIOSK.
func (k Kiosk) MarshalText() ([]byte, error) { return []byte(k.Site + "/" + k.Kiosk), nil }

// UnmarshalText reads SITE/KIOSK.
func (k *Kiosk) UnmarshalText(b []byte) error {
	site, name, ok := strings.Cut(string(b), "/")
	if !ok {
		return fmt.Errorf("%w: %.140q is no kiosk: SITE/KIOSK", ErrPlan, b)
	}
	k.Site, k.Kiosk = site, name
	return wire.Address(*k).Validate()
}

// Limit is a number of kiosks, or a share of a group: 2, "2" or "5%".
type Limit struct {
	N       int
	Percent bool
}

// exceeded tells whether n of total kiosks are more than the limit.
func (l Limit) exceeded(n, total int) bool {
	if l.Percent {
		return n*100 > l.N*total
	}
	return n > l.N
}

func (l Limit) String() string {
	if l.Percent {
		return strconv.Itoa(l.N) + "%"
	}
	return strconv.Itoa(l.N)
}

// MarshalText writes 2 or 5%.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// ParseLimit reads 2 or 5%.
func ParseLimit(s string) (Limit, error) {
	digits, percent := strings.CutSuffix(s, "%")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || percent && n > 100 {
		return Limit{}, fmt.Errorf("%w: %.20q is neither a number of kiosks nor a percentage such as 5%%", ErrPlan, s)
	}
	return Limit{int(n), percent}, nil
}

// UnmarshalJSON reads 2, "2" or "5%".
func (l *Limit) UnmarshalJSON(b []byte) (err error) {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	}
	*l, err = ParseLimit(s)
	return err
}

// Everybody is the plan of one group that begins at once and that nothing pauses.
func Everybody() Plan {
	return Plan{Groups: []Group{{Name: "all", Rest: true, Errors: Limit{100, true}}}}
}

// DecodePlan reads a plan and says what is wrong with it. An empty one is Everybody.
func DecodePlan(b []byte) (Plan, error) {
	if len(b) > MaxPlan {
		return Plan{}, fmt.Errorf("%w: %d bytes, at most %d", ErrPlan, len(b), MaxPlan)
	}
	if b = bytes.TrimSpace(b); len(b) == 0 || string(b) == "null" {
		return Everybody(), nil
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	if d.More() {
		return Plan{}, fmt.Errorf("%w: something follows it", ErrPlan)
	}
	return p, p.Validate()
}

// Validate says what is wrong with the plan, if anything.
func (p Plan) Validate() error {
	if len(p.Groups) == 0 || len(p.Groups) > maxGroups {
		return fmt.Errorf("%w: %d groups, 1 to %d are possible", ErrPlan, len(p.Groups), maxGroups)
	}
	if y := p.StartAt.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("%w: it begins in the year %d", ErrPlan, y)
	}
	names, listed := map[string]bool{}, map[Kiosk]string{}
	for i, g := range p.Groups {
		if err := g.validate(i == len(p.Groups)-1); err != nil {
			return fmt.Errorf("%w: group %d: %w", ErrPlan, i+1, err)
		}
		if names[g.Name] {
			return fmt.Errorf("%w: two groups are called %s", ErrPlan, g.Name)
		}
		names[g.Name] = true
		for _, k := range g.Kiosks {
			if before, twice := listed[k]; twice {
				return fmt.Errorf("%w: %s/%s is in %s and in %s", ErrPlan, k.Site, k.Kiosk, before, g.Name)
			}
			listed[k] = g.Name
		}
	}
	return nil
}

func (g Group) validate(last bool) error {
	if err := wire.ValidName(g.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	kinds := 0
	for _, is := range []bool{len(g.Kiosks) > 0, g.Percent != 0, g.Rest} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("one of kiosks, percent and rest says which kiosks it has")
	case g.Rest && !last:
		return errors.New("rest is for the last group")
	case g.Percent < 0 || g.Percent > 100:
		return fmt.Errorf("percent is %d, 1 to 100 are possible", g.Percent)
	case g.Success != nil && (*g.Success < 0 || *g.Success > 100):
		return fmt.Errorf("success_threshold is %d, 0 to 100 are possible", *g.Success)
	case !(g.TimeoutHours >= 0 && g.TimeoutHours <= maxTimeoutHours):
		return fmt.Errorf("timeout_hours is %g, up to %d are possible", g.TimeoutHours, maxTimeoutHours)
	case len(g.Kiosks) > maxListed:
		return fmt.Errorf("%d kiosks, at most %d", len(g.Kiosks), maxListed)
	}
	for _, k := range g.Kiosks {
		if err := wire.Address(k).Validate(); err != nil {
			return fmt.Errorf("kiosk: %w", err)
		}
	}
	return nil
}

// Whole tells whether every kiosk is in the plan, those that come later too.
func (p Plan) Whole() bool { return p.Groups[len(p.Groups)-1].Rest }

func (g Group) success() int {
	if g.Success == nil {
		return DefaultSuccess
	}
	return *g.Success
}

// Timeout is after how long a kiosk of the group counts as timed out.
func (g Group) Timeout() time.Duration {
	hours := g.TimeoutHours
	if hours == 0 {
		hours = DefaultTimeoutHours
	}
	return time.Duration(hours * float64(time.Hour))
}

// Candidate is a kiosk that may be put into a group.
type Candidate struct {
	Kiosk wire.Address
	Here  bool // it is connected
}

// Assign puts kiosks into the plan's groups, by index. A share of them is chosen by a hash of their names, the connected
// ones first, so that the same kiosks try new releases each time. Named kiosks are in their group even if nothing is known
// of them.
func (p Plan) Assign(known []Candidate) map[wire.Address]int {
	in := map[wire.Address]int{}
	for i, g := range p.Groups {
		for _, k := range g.Kiosks {
			in[wire.Address(k)] = i
		}
	}
	var left []Candidate
	for _, c := range known {
		if _, named := in[c.Kiosk]; !named {
			left = append(left, c)
		}
	}
	slices.SortFunc(left, func(a, b Candidate) int {
		if a.Here != b.Here {
			if a.Here {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(order(a.Kiosk), order(b.Kiosk)), cmp.Compare(a.Kiosk.Site, b.Kiosk.Site), cmp.Compare(a.Kiosk.Kiosk, b.Kiosk.Kiosk))
	})
	for i, g := range p.Groups {
		n := 0
		if g.Rest {
			n = len(left)
		} else if g.Percent > 0 {
			n = (len(left)*g.Percent + 99) / 100
		}
		for _, c := range left[:n] {
			in[c.Kiosk] = i
		}
		left = left[n:]
	}
	return in
}

// order is a kiosk's place among all.
func order(k wire.Address) string {
	sum := sha256.Sum256([]byte(k.Site + "/" + k.Kiosk))
	return string(sum[:8])
}

// ValidText refuses a name of a person or a reason that is too long or cannot be shown on one line.
func ValidText(s string) error {
	if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("at most %d bytes on one line: %w", maxText, wire.ErrInvalid)
	}
	return nil
}
