// Package venue tells opening hours and events of a day from the gallery's structured facts, in its time zone. It never
// guesses: a day outside what the facts cover is said to be one.
package venue

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"docent/agent/plan"
	"docent/localindex/gallery"
)

// Day is what holds on one date.
type Day struct {
	Date   time.Time // midnight in the gallery's time zone
	Spans  []Span    // none: closed
	Reason gallery.Localized
	// Special is set where a closure and not the weekday's hours decides.
	Special bool
	// Known is false where the gallery tells no hours at all.
	Known bool
}

// Span is one time the house is open.
type Span struct{ Open, Close, LastEntry string }

// Location is the gallery's time zone; UTC where it names none that is known.
func Location(g *gallery.Gallery) *time.Location {
	l, err := time.LoadLocation(g.TimeZone)
	if err != nil {
		return time.UTC
	}
	return l
}

// Resolve finds the date that a visitor names.
func Resolve(d plan.Day, now time.Time) (time.Time, error) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch d.Name {
	case "now", "today", "":
		return today, nil
	case "tomorrow":
		return today.AddDate(0, 0, 1), nil
	case "day_after_tomorrow":
		return today.AddDate(0, 0, 2), nil
	case "weekday":
		at := slices.Index(weekdays, d.Weekday)
		if at < 0 {
			return time.Time{}, fmt.Errorf("no weekday %q", d.Weekday)
		}
		ahead := (at - int(today.Weekday()) + 7) % 7
		if d.Next {
			monday := today.AddDate(0, 0, 7-(int(today.Weekday())+6)%7)
			return monday.AddDate(0, 0, (at+6)%7+7*d.Weeks), nil
		}
		return today.AddDate(0, 0, ahead), nil
	case "after":
		return today.AddDate(0, d.Months, d.Days), nil
	case "date":
		if len(d.Date) == len("25") {
			return dayOfMonth(d, today)
		}
		if len(d.Date) == len("12-25") {
			if _, err := time.Parse(time.DateOnly, "2028-"+d.Date); err != nil { // a leap year
				return time.Time{}, fmt.Errorf("no date %q", d.Date)
			}
			for year := today.Year(); year <= today.Year()+8; year++ { // 02-29 comes within eight years
				if at, err := time.ParseInLocation(time.DateOnly, fmt.Sprintf("%d-%s", year, d.Date), now.Location()); err == nil && !at.Before(today) {
					return at, nil
				}
			}
		}
		at, err := time.ParseInLocation(time.DateOnly, d.Date, now.Location())
		if err != nil {
			return time.Time{}, fmt.Errorf("no date %q", d.Date)
		}
		return at, nil
	}
	return time.Time{}, fmt.Errorf("no day %q", d.Name)
}

// dayOfMonth is the next day of this number that a month has; of the month after this one where the visitor said so.
func dayOfMonth(d plan.Day, today time.Time) (time.Time, error) {
	first := today.AddDate(0, 0, 1-today.Day())
	if d.Next {
		first = first.AddDate(0, 1, 0)
	}
	for range 3 { // every day is in one of two months
		at, err := time.ParseInLocation(time.DateOnly, first.Format("2006-01-")+d.Date, today.Location())
		if err == nil && !at.Before(today) {
			return at, nil
		}
		if d.Next {
			break
		}
		first = first.AddDate(0, 1, 0)
	}
	return time.Time{}, fmt.Errorf("no day %q of a month", d.Date)
}

// Dates are the dates that a visitor names: two for a weekend, of which today is one where it is on, else one.
func Dates(d plan.Day, now time.Time) ([]time.Time, error) {
	if d.Name != "weekend" {
		at, err := Resolve(d, now)
		if err != nil {
			return nil, err
		}
		return []time.Time{at}, nil
	}
	sunday, err := Resolve(plan.Day{Name: "weekday", Weekday: "sunday", Next: d.Next, Weeks: d.Weeks}, now)
	if err != nil {
		return nil, err
	}
	today, err := Resolve(plan.Day{Name: "today"}, now)
	if err != nil {
		return nil, err
	}
	if sunday.Equal(today) {
		return []time.Time{sunday}, nil
	}
	return []time.Time{sunday.AddDate(0, 0, -1), sunday}, nil
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// On tells the hours of a date.
func On(g *gallery.Gallery, date time.Time) Day {
	d := Day{Date: date, Known: len(g.Venue.Hours) > 0}
	for _, c := range g.Venue.Closures {
		if c.Date != date.Format(time.DateOnly) {
			continue
		}
		d.Special, d.Reason, d.Known = true, c.Reason, true
		if c.Open != "" {
			d.Spans = []Span{{Open: c.Open, Close: c.Close}}
		}
		return d
	}
	for _, h := range g.Venue.Hours {
		if h.Day == weekdays[date.Weekday()] {
			d.Spans = append(d.Spans, Span{h.Open, h.Close, h.LastEntry})
		}
	}
	slices.SortFunc(d.Spans, func(a, b Span) int { return strings.Compare(a.Open, b.Open) })
	return d
}

// State is how the house stands at a moment.
type State string

// The states.
const (
	Open      State = "open"
	NotYet    State = "not_yet"    // opens later that day
	LastEntry State = "last_entry" // open, but nobody is let in any more
	Over      State = "over"       // closed for the day
	ClosedDay State = "closed_day" // not open that day at all
	NotKnown  State = "not_known"  // the gallery tells no hours
)

// At tells the state at a moment and the span it is about, which is the one open or the next to open.
func At(g *gallery.Gallery, now time.Time) (State, Span) {
	d := On(g, now)
	clock := now.Format("15:04")
	switch {
	case !d.Known:
		return NotKnown, Span{}
	case len(d.Spans) == 0:
		return ClosedDay, Span{}
	}
	for _, s := range d.Spans {
		switch {
		case clock < s.Open:
			return NotYet, s
		case clock < s.Close && s.LastEntry != "" && clock > s.LastEntry:
			return LastEntry, s
		case clock < s.Close:
			return Open, s
		}
	}
	return Over, d.Spans[len(d.Spans)-1]
}

// NextOpen is the first day after a date on which the house is open, within two weeks.
func NextOpen(g *gallery.Gallery, after time.Time) (Day, bool) {
	for i := range 14 {
		if d := On(g, after.AddDate(0, 0, i+1)); len(d.Spans) > 0 {
			return d, true
		}
	}
	return Day{}, false
}

// Events are those of a date: on that date, or repeated on its weekday, or on every open day where an event names
// neither. On a day the house is closed there are only those that name the date.
func Events(g *gallery.Gallery, date time.Time) []gallery.Event {
	open := len(On(g, date).Spans) > 0
	var out []gallery.Event
	for _, e := range g.Venue.Events {
		switch {
		case e.Date != "":
			if e.Date != date.Format(time.DateOnly) {
				continue
			}
		case !open, e.Day != "" && e.Day != weekdays[date.Weekday()], e.Day != "" && !inMonth(e, date):
			continue
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b gallery.Event) int { return strings.Compare(a.Start, b.Start) })
	return out
}

// ofMonth matches on which of a month's weekdays an event is: the first Friday, 第二个星期六, the last Sunday.
var ofMonth = regexp.MustCompile(`(?i)\b(first|second|third|fourth|last) (?:mon|tues|wednes|thurs|fri|satur|sun)day|(第[一二三四]|最后一)个(?:星期|周)`)

var ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "第一": 1, "第二": 2, "第三": 3, "第四": 4}

// inMonth reports whether a date is the one of its month that an event's words name; true where they name none. An event
// has no other place for it.
func inMonth(e gallery.Event, date time.Time) bool {
	for _, when := range e.When {
		m := ofMonth.FindStringSubmatch(when)
		if m == nil {
			continue
		}
		n, ok := ordinals[strings.ToLower(m[1]+m[2])]
		if !ok { // the last one
			return date.AddDate(0, 0, 7).Month() != date.Month()
		}
		return (date.Day()-1)/7+1 == n
	}
	return true
}
