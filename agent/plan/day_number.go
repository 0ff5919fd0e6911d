package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"docent/agent/internal/words"
)

// Days that are counted from today, and dates in figures alone.
const (
	countPattern = `a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,3}`
	afterPattern = `\bin (?:` + countPattern + `) (?:day|week|month)s?(?:'?s? time)?\b|\b(?:` + countPattern + `) (?:day|week|month)s? (?:from (?:now|today)|today)\b|` +
		`(?:\d{1,3}|[一二两三四五六七八九十]{1,3})个?(?:天|周|星期|礼拜|月)(?:之|以)?后`
	numericPattern = `\b(?:on )?(?:\d{4}/\d{1,2}/\d{1,2}|\d{1,2}/\d{1,2}(?:/\d{4})?|\d{1,2}\.\d{1,2}\.\d{4})\b`
)

var (
	afterDays   = regexp.MustCompile(`(` + countPattern + `|[一二两三四五六七八九十]{1,3}) ?个?(day|week|month|天|周|星期|礼拜|月)`)
	numericDate = regexp.MustCompile(`^(?:on )?(\d{1,4})([/.])(\d{1,2})(?:[/.](\d{1,4}))?$`)
	isAfter     = regexp.MustCompile(`^(?:` + afterPattern + `)$`)
	dayOfMonth  = regexp.MustCompile(`\d{1,2}`)
)

// maxAhead is how far a counted day may lie ahead, in days: nobody knows the hours of later ones.
const maxAhead = 2 * 366

// afterIn reads "in three weeks" and 三周后.
func afterIn(m string) (Day, bool) {
	of := afterDays.FindStringSubmatch(m)
	n := 1 // a week
	for number := range words.NumbersIn(of[1]) {
		var err error
		if n, err = strconv.Atoi(number); err != nil {
			return Day{}, false
		}
	}
	d := Day{Name: "after", Days: n}
	switch of[2] {
	case "week", "周", "星期", "礼拜":
		d.Days = 7 * n
	case "month", "月":
		d.Days, d.Months = 0, n
	}
	if d.Days+31*d.Months > maxAhead {
		return Day{}, false
	}
	return d, true
}

// numericDates are the dates that figures alone can mean: 3/12 is two in English, the day before the month first; in Chinese
// the month is written first. None where no calendar has such a day.
func numericDates(m string, han bool) []string {
	of := numericDate.FindStringSubmatch(m)
	if of == nil {
		return nil
	}
	first, second, third := of[1], of[3], of[4]
	var all []string
	add := func(year, month, day string) {
		n, _ := strconv.Atoi(month)
		dd, _ := strconv.Atoi(day)
		date := fmt.Sprintf("%02d-%02d", n, dd)
		if year != "" {
			date = year + "-" + date
		}
		if isDate(date) && !slices.Contains(all, date) {
			all = append(all, date)
		}
	}
	if len(first) == 4 {
		add(first, second, third)
		return all
	}
	if !han {
		add(third, second, first)
	}
	if of[2] == "/" {
		add(third, first, second)
	}
	return all
}

func hasHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// eitherDay asks back where a date in figures can be two days, such as 3/12.
func eitherDay(in Input, r resolved) *Question {
	folded := words.Fold(r.full)
	m := dayPattern.FindString(folded)
	dates := numericDates(m, hasHan(folded))
	if len(dates) < 2 || !practicalResidue(folded) {
		return nil
	}
	q := &Question{Text: fmt.Sprintf(asksIn(in.Language).eitherDay, strings.TrimPrefix(m, "on "))}
	for _, date := range dates {
		label := spelled(date)
		q.Choices = append(q.Choices, Choice{label, strings.Replace(folded, m, "on "+label, 1)})
	}
	return q
}

// spelled is a date with its month in letters.
func spelled(date string) string {
	year, rest := "", date
	if len(date) > len("12-25") {
		year, rest = " "+date[:4], date[5:]
	}
	at, err := time.Parse(time.DateOnly, "2028-"+rest) // a leap year
	if err != nil {
		return date
	}
	return at.Format("2 January") + year
}
