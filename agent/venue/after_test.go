package venue

import (
	"testing"
	"time"

	"docent/agent/plan"
)

func TestCountedDays(t *testing.T) {
	now := time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		day  plan.Day
		want string // empty: there is none
	}{
		{plan.Day{Name: "after", Days: 21}, "2026-12-20"},
		{plan.Day{Name: "after", Months: 2}, "2027-01-29"},
		{plan.Day{Name: "date", Date: "30"}, "2026-11-30"},
		{plan.Day{Name: "date", Date: "29"}, "2026-11-29"},
		{plan.Day{Name: "date", Date: "03"}, "2026-12-03"},
		{plan.Day{Name: "date", Date: "31"}, "2026-12-31"},
		{plan.Day{Name: "date", Date: "03", Next: true}, "2026-12-03"},
		{plan.Day{Name: "date", Date: "30", Next: true}, "2026-12-30"},
		{plan.Day{Name: "date", Date: "32"}, ""},
		{plan.Day{Name: "date", Date: "99", Next: true}, ""},
	} {
		got, err := Resolve(tt.day, now)
		if (err == nil) != (tt.want != "") || err == nil && got.Format(time.DateOnly) != tt.want {
			t.Errorf("%+v: %s, %v, want %s", tt.day, got.Format(time.DateOnly), err, tt.want)
		}
	}
	// On 31 January the next 30th is in March.
	if got, err := Resolve(plan.Day{Name: "date", Date: "30"}, time.Date(2027, 1, 31, 9, 0, 0, 0, time.UTC)); err != nil || got.Format(time.DateOnly) != "2027-03-30" {
		t.Errorf("%s, %v", got, err)
	}
}
