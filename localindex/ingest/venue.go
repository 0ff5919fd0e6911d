package ingest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/localindex/gallery"
)

// weekdays in the order of the week, as they are written in gallery.yaml.
var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

func (y *yamlFile) checkVenue(g *gallery.Gallery) {
	v := &g.Venue
	y.checkTranslated([]any{"venue", "address"}, "venue.address", v.Address)
	y.checkHours(v)
	for i, c := range v.Closures {
		path, name := []any{"venue", "closures", i}, fmt.Sprintf("venue.closures[%d]", i+1)
		y.checkDate(append(path, "date"), name+".date", c.Date)
		y.checkSpan(path, name, c.Open, c.Close, c.Open != "" || c.Close != "")
		y.checkTranslated(append(path, "reason"), name+".reason", c.Reason)
	}
	for i, t := range v.Tickets {
		path, name := []any{"venue", "tickets", i}, fmt.Sprintf("venue.tickets[%d]", i+1)
		y.checkNeeded(append(path, "name"), name+".name", t.Name)
		y.checkNeeded(append(path, "price"), name+".price", t.Price)
	}
	for i, s := range v.Services {
		path, name := []any{"venue", "services", i}, fmt.Sprintf("venue.services[%d]", i+1)
		y.checkID(append(path, "id"), name+".id", s.ID, slices.ContainsFunc(v.Services[:i], func(o gallery.Service) bool { return o.ID == s.ID }))
		y.checkNeeded(append(path, "name"), name+".name", s.Name)
		y.checkTranslated(append(path, "where"), name+".where", s.Where)
		y.checkTranslated(append(path, "about"), name+".about", s.About)
		if s.Hall != "" {
			y.checkHall(append(path, "hall"), name+".hall", s.Hall, g)
		}
	}
	for i, e := range v.Events {
		y.checkEvent(i, e, g)
	}
	for i, r := range v.Rules {
		y.checkNeeded([]any{"venue", "rules", i}, fmt.Sprintf("venue.rules[%d]", i+1), r)
	}
}

func (y *yamlFile) checkEvent(i int, e gallery.Event, g *gallery.Gallery) {
	path, name := []any{"venue", "events", i}, fmt.Sprintf("venue.events[%d]", i+1)
	earlier := g.Venue.Events[:i]
	y.checkID(append(path, "id"), name+".id", e.ID, slices.ContainsFunc(earlier, func(o gallery.Event) bool { return o.ID == e.ID }))
	y.checkNeeded(append(path, "name"), name+".name", e.Name)
	y.checkNeeded(append(path, "when"), name+".when", e.When)
	y.checkTranslated(append(path, "about"), name+".about", e.About)
	if e.Day != "" {
		y.checkWeekday(append(path, "day"), name+".day", e.Day)
	}
	if e.Date != "" {
		y.checkDate(append(path, "date"), name+".date", e.Date)
	}
	if e.Day != "" && e.Date != "" {
		y.errorf(append(path, "date"), "%s: give a weekday it repeats on or a date, not both", name)
	}
	if _, ok := clock(e.Start); e.Start != "" && !ok {
		y.errorf(append(path, "start"), "%s.start: %q is not a time of day, such as 14:30", name, e.Start)
	}
	if e.Minutes < 0 {
		y.errorf(append(path, "minutes"), "%s.minutes: %d is less than nothing", name, e.Minutes)
	}
	if e.Hall != "" {
		y.checkHall(append(path, "hall"), name+".hall", e.Hall, g)
	}
}

// checkHours looks at each span and at spans of one day that overlap: a day with a lunch break has two.
func (y *yamlFile) checkHours(v *gallery.Venue) {
	for i := range v.Hours {
		h := &v.Hours[i]
		h.Day = strings.ToLower(h.Day)
		path, name := []any{"venue", "hours", i}, fmt.Sprintf("venue.hours[%d]", i+1)
		y.checkWeekday(append(path, "day"), name+".day", h.Day)
		if !y.checkSpan(path, name, h.Open, h.Close, true) {
			continue
		}
		if h.LastEntry != "" {
			last, ok := clock(h.LastEntry)
			opens, _ := clock(h.Open)
			closes, _ := clock(h.Close)
			switch {
			case !ok:
				y.errorf(append(path, "last_entry"), "%s.last_entry: %q is not a time of day, such as 17:30", name, h.LastEntry)
			case last < opens || last > closes:
				y.errorf(append(path, "last_entry"), "%s.last_entry: %s is not between %s and %s", name, h.LastEntry, h.Open, h.Close)
			}
		}
		for j, o := range v.Hours[:i] {
			if o.Day == h.Day && o.Open < h.Close && h.Open < o.Close {
				y.errorf(path, "%s: these hours overlap with those in venue.hours[%d]", name, j+1)
			}
		}
	}
}

// checkSpan looks at an opening and a closing time, and reports whether both are right.
func (y *yamlFile) checkSpan(path []any, name, open, closing string, needed bool) bool {
	if !needed {
		return false
	}
	opens, okOpen := clock(open)
	if !okOpen {
		y.errorf(append(path, "open"), "%s.open: %q is not a time of day, such as 10:00", name, open)
	}
	closes, okClose := clock(closing)
	if !okClose {
		y.errorf(append(path, "close"), "%s.close: %q is not a time of day, such as 18:00", name, closing)
	}
	if okOpen && okClose && closes <= opens {
		y.errorf(append(path, "close"), "%s: it closes (%s) before it opens (%s)", name, closing, open)
		return false
	}
	return okOpen && okClose
}

// clock reads a time of day in minutes after midnight; 24:00 is the end of a day.
func clock(s string) (minutes int, ok bool) {
	if s == "24:00" {
		return 24 * 60, true
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return t.Hour()*60 + t.Minute(), true
}

func (y *yamlFile) checkWeekday(path []any, name, day string) {
	if !slices.Contains(weekdays, day) {
		y.errorf(path, "%s: %q is not a weekday%s", name, day, suggestion(day, weekdays))
	}
}

func (y *yamlFile) checkDate(path []any, name, date string) {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		y.errorf(path, "%s: %q is not a date, such as 2026-12-25", name, date)
	}
}

// checkNeeded reports a text that is missing, or missing in a language.
func (y *yamlFile) checkNeeded(path []any, name string, l gallery.Localized) {
	if len(l) == 0 {
		y.errorf(path, "%s: it is missing", name)
		return
	}
	y.checkTranslated(path, name, l)
}

func (y *yamlFile) checkID(path []any, name, id string, twice bool) {
	if !slug.MatchString(id) {
		y.errorf(path, "%s: %q must be lower case letters, digits and dashes", name, id)
	}
	if twice {
		y.errorf(path, "%s: %q is used twice", name, id)
	}
}
