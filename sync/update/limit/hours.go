package limit

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxSpans bounds how many spans Hours has.
const maxSpans = 8

// Hours are the times of the day at which content may travel. The zero value is any time.
type Hours struct{ spans []span }

// span is a part of the day in minutes since midnight. One whose end is not after its begin goes over midnight.
type span struct{ from, to int }

// ParseHours reads "22:00-06:00", or several such spans with commas between them. Nothing is any time.
func ParseHours(s string) (Hours, error) {
	var h Hours
	if strings.TrimSpace(s) == "" {
		return h, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(strings.TrimSpace(part), "-")
		if !ok {
			return Hours{}, fmt.Errorf("%q is not of the form 22:00-06:00", strings.TrimSpace(part))
		}
		var sp span
		var err1, err2 error
		sp.from, err1 = minutes(from)
		sp.to, err2 = minutes(to)
		if err := errors.Join(err1, err2); err != nil {
			return Hours{}, err
		}
		if sp.from == sp.to {
			return Hours{}, fmt.Errorf("%q begins when it ends", strings.TrimSpace(part))
		}
		if h.spans = append(h.spans, sp); len(h.spans) > maxSpans {
			return Hours{}, fmt.Errorf("more than %d spans", maxSpans)
		}
	}
	return h, nil
}

// minutes reads a time of the day; 24:00 is midnight.
func minutes(s string) (int, error) {
	s = strings.TrimSpace(s)
	if s == "24:00" {
		return 0, nil
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, fmt.Errorf("%q is not a time such as 06:30", s)
	}
	return t.Hour()*60 + t.Minute(), nil
}

// Open tells whether content may travel, by the clock on the wall: t is in the kiosk's time zone.
func (h Hours) Open(t time.Time) bool {
	if len(h.spans) == 0 {
		return true
	}
	now := t.Hour()*60 + t.Minute()
	for _, s := range h.spans {
		if s.from < s.to && s.from <= now && now < s.to || s.from >= s.to && (now >= s.from || now < s.to) {
			return true
		}
	}
	return false
}

// Next is when content may travel next: t itself where it may now.
func (h Hours) Next(t time.Time) time.Time {
	if h.Open(t) {
		return t
	}
	var next time.Time
	for _, s := range h.spans {
		for day := range 3 { // the second where today's is over, the third where a clock change has swallowed it
			at := time.Date(t.Year(), t.Month(), t.Day()+day, s.from/60, s.from%60, 0, 0, t.Location())
			if at.After(t) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// String is what ParseHours reads.
func (h Hours) String() string {
	parts := make([]string, len(h.spans))
	for i, s := range h.spans {
		parts[i] = fmt.Sprintf("%02d:%02d-%02d:%02d", s.from/60, s.from%60, s.to/60, s.to%60)
	}
	return strings.Join(parts, ", ")
}
