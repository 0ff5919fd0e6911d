package venue

import (
	"slices"
	"testing"
	"time"

	"docent/agent/plan"
	"docent/localindex/gallery"
)

func house() *gallery.Gallery {
	g := &gallery.Gallery{TimeZone: "Asia/Shanghai"}
	for _, d := range weekdays[2:] {
		g.Venue.Hours = append(g.Venue.Hours, gallery.Hours{Day: d, Open: "10:00", Close: "18:00", LastEntry: "17:30"})
	}
	g.Venue.Closures = []gallery.Closure{{Date: "2026-12-31", Open: "10:00", Close: "16:00"}, {Date: "2027-02-05", Reason: gallery.Localized{"en": "New Year"}}}
	g.Venue.Events = []gallery.Event{
		{ID: "late", Start: "15:00"}, {ID: "tour", Start: "11:00"}, {ID: "workshop", Day: "saturday", Start: "10:30"}, {ID: "once", Date: "2026-11-30", Start: "09:00"},
	}
	return g
}

func at(s string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", s, Location(house()))
	if err != nil {
		panic(err)
	}
	return t
}

func TestAt(t *testing.T) {
	for when, want := range map[string]State{
		"2026-12-01 09:59": NotYet, "2026-12-01 10:00": Open, "2026-12-01 17:30": Open, "2026-12-01 17:31": LastEntry, "2026-12-01 18:00": Over,
		"2026-11-30 12:00": ClosedDay, "2026-12-31 15:59": Open, "2026-12-31 16:00": Over, "2027-02-05 12:00": ClosedDay,
	} {
		if got, _ := At(house(), at(when)); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	if got, _ := At(&gallery.Gallery{}, at("2026-12-01 12:00")); got != NotKnown {
		t.Errorf("without hours: %s", got)
	}
	// 2026-12-01 01:00 UTC is 09:00 in Shanghai.
	if got, _ := At(house(), time.Date(2026, 12, 1, 1, 0, 0, 0, time.UTC).In(Location(house()))); got != NotYet {
		t.Errorf("in the gallery's time zone: %s", got)
	}
}

func TestResolve(t *testing.T) {
	now := at("2026-11-29 15:00") // a Sunday
	for _, tt := range []struct {
		day  plan.Day
		want string
	}{
		{plan.Day{Name: "now"}, "2026-11-29"}, {plan.Day{Name: "tomorrow"}, "2026-11-30"}, {plan.Day{Name: "day_after_tomorrow"}, "2026-12-01"},
		{plan.Day{Name: "weekday", Weekday: "sunday"}, "2026-11-29"}, {plan.Day{Name: "weekday", Weekday: "friday"}, "2026-12-04"},
		{plan.Day{Name: "weekday", Weekday: "friday", Next: true}, "2026-12-04"}, {plan.Day{Name: "weekday", Weekday: "sunday", Next: true}, "2026-12-06"},
		{plan.Day{Name: "date", Date: "12-31"}, "2026-12-31"}, {plan.Day{Name: "date", Date: "01-01"}, "2027-01-01"}, {plan.Day{Name: "date", Date: "02-29"}, "2028-02-29"},
		{plan.Day{Name: "date", Date: "2027-02-05"}, "2027-02-05"}, {plan.Day{Name: "date", Date: "02-31"}, ""}, {plan.Day{Name: "weekday", Weekday: "x"}, ""},
	} {
		got, err := Resolve(tt.day, now)
		if s := got.Format(time.DateOnly); err == nil && s != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%+v: %s, %v, want %q", tt.day, s, err, tt.want)
		}
	}
	tuesday := at("2026-12-01 12:00")
	if got, _ := Resolve(plan.Day{Name: "weekday", Weekday: "wednesday", Next: true}, tuesday); got.Format(time.DateOnly) != "2026-12-09" {
		t.Errorf("Wednesday of the week after: %s", got)
	}
}

func TestEvents(t *testing.T) {
	for when, want := range map[string][]string{
		"2026-12-05 12:00": {"workshop", "tour", "late"}, "2026-12-01 12:00": {"tour", "late"}, "2026-11-30 12:00": {"once"}, "2027-02-05 12:00": nil,
	} {
		var got []string
		for _, e := range Events(house(), at(when)) {
			got = append(got, e.ID)
		}
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
}

func TestNextOpen(t *testing.T) {
	if d, ok := NextOpen(house(), at("2026-11-29 12:00")); !ok || d.Date.Format(time.DateOnly) != "2026-12-01" {
		t.Errorf("%v %v", d, ok)
	}
	if _, ok := NextOpen(&gallery.Gallery{}, at("2026-11-29 12:00")); ok {
		t.Error("open without hours")
	}
}

func TestEventsOfAMonth(t *testing.T) {
	for when, want := range map[string][]int{
		"First Friday of every month at 18:30": {4}, "每月第二个星期五": {11}, "Last Friday of the month": {25}, "Fridays at 18:30": {4, 11, 18, 25},
	} {
		g := &gallery.Gallery{Venue: gallery.Venue{
			Hours:  []gallery.Hours{{Day: "friday", Open: "10:00", Close: "21:00"}},
			Events: []gallery.Event{{ID: "talk", Day: "friday", When: gallery.Localized{"en": when}}},
		}}
		var got []int
		for day := 1; day <= 31; day++ {
			if len(Events(g, time.Date(2026, 12, day, 0, 0, 0, 0, time.UTC))) > 0 {
				got = append(got, day)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
}

func TestDatesOfAWeekend(t *testing.T) {
	for today, want := range map[int][]int{2: {5, 6}, 5: {5, 6}, 6: {6}} {
		dates, err := Dates(plan.Day{Name: "weekend"}, time.Date(2026, 12, today, 15, 0, 0, 0, time.UTC))
		var got []int
		for _, d := range dates {
			got = append(got, d.Day())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("on the %d: %v %v, want %v", today, got, err, want)
		}
	}
	if _, err := Resolve(plan.Day{Name: "date", Date: "02-30"}, time.Now()); err == nil {
		t.Error("30 February is a date")
	}
}
