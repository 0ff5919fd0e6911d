package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDaysThatAreCountedOrInFigures(t *testing.T) {
	for question, want := range map[string]Day{
		"Are you open in three weeks?":           {Name: "after", Days: 21},
		"Are you open in 10 days?":               {Name: "after", Days: 10},
		"Are you open in 100 days?":              {Name: "after", Days: 100},
		"Are you open a week from today?":        {Name: "after", Days: 7},
		"Is there a tour in a month's time?":     {Name: "after", Months: 1},
		"Are you open the Wednesday after next?": {Name: "weekday", Weekday: "wednesday", Next: true, Weeks: 1},
		"Are you open next Friday?":              {Name: "weekday", Weekday: "friday", Next: true},
		"Is it open the weekend after next?":     {Name: "weekend", Next: true, Weeks: 1},
		"下下周三开门吗":                                {Name: "weekday", Weekday: "wednesday", Next: true, Weeks: 1},
		"下下个周末几点关门？":                             {Name: "weekend", Next: true, Weeks: 1},
		"下周三开门吗":                                 {Name: "weekday", Weekday: "wednesday", Next: true},
		"三周后开门吗？":                                {Name: "after", Days: 21},
		"十二天以后几点关门？":                             {Name: "after", Days: 12},
		"两个月后开门吗":                                {Name: "after", Months: 2},
		"三十天后有活动吗":                               {Name: "after", Days: 30},
		"When do you open on the 3rd?":           {Name: "date", Date: "03"},
		"下个月3号开门吗？":                              {Name: "date", Date: "03", Next: true},
		"本月15日几点关门？":                             {Name: "date", Date: "15"},
		"Are you open on the 3rd of January?":    {Name: "date", Date: "01-03"},
		"Are you open on 25/12?":                 {Name: "date", Date: "12-25", Holiday: true},
		"Are you open on 12/25?":                 {Name: "date", Date: "12-25", Holiday: true},
		"What time do you close on 3/12/2026?":   {Name: "date", Date: "2026-12-03"},
		"What time do you close on 2027/1/3?":    {Name: "date", Date: "2027-01-03"},
		"What time do you close on 3.12.2026?":   {Name: "date", Date: "2026-12-03"},
		"12/3开门吗？":                               {Name: "date", Date: "12-03"},
		"Are you open 31/31?":                    {},
		"Are you open in 999 weeks?":             {},
		"How many pictures are there in hall 3":  {},
	} {
		got, ok := dayIn(question)
		if d := cmp.Diff(want, got); d != "" || ok != (want.Name != "") {
			t.Errorf("%s (-want +got)\n%s", question, d)
		}
	}
}

func TestADateThatCanBeTwoDaysIsAskedBack(t *testing.T) {
	p := Make(testCatalogue(), Input{Question: "What time do you close on 3/12?", Language: "en"})
	if p.Mode != Clarify || p.Clarify == nil || p.Courtesy != "" {
		t.Fatalf("%+v", p)
	}
	var asks []string
	for _, c := range p.Clarify.Choices {
		asks = append(asks, c.Label+": "+c.Ask)
	}
	want := "3 December: what time do you close on 3 December?\n12 March: what time do you close on 12 March?"
	if got := strings.Join(asks, "\n"); got != want || !strings.Contains(p.Clarify.Text, "3/12") {
		t.Errorf("%s\n%s", p.Clarify.Text, got)
	}
	for question, want := range map[string]Mode{
		"Are you open on 3/3?": Agent, "Are you open on 25/12?": Agent, "3/12开门吗？": Agent, "Are you open on 31/2?": Clarify, "3/12": Chat, "What is 3/12?": Chat,
	} {
		if p := Make(testCatalogue(), Input{Question: question, Language: "en"}); p.Mode != want || (want == Agent) != (p.Template == Practical) {
			t.Errorf("%s: %s %s", question, p.Mode, p.Template)
		}
	}
}

func FuzzDayIn(f *testing.F) {
	for _, s := range []string{"in three weeks", "3/12/2026", "下个月31号", "十十天后", "in 0 days", "on the 99th"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, question string) {
		if d, ok := dayIn(question); ok && (d.Name == "" || d.Days < 0 || d.Months < 0 || d.Days+31*d.Months > maxAhead) {
			t.Errorf("%q is %+v", question, d)
		}
	})
}
