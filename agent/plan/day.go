package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"docent/agent/internal/words"
)

// Day is a day as a visitor names it; what date that is depends on the clock.
type Day struct {
	Name    string `json:"name"`              // now, today, tomorrow, day_after_tomorrow, weekday, weekend, after, date
	Weekday string `json:"weekday,omitempty"` // "monday"
	Next    bool   `json:"next,omitempty"`    // of the week after this one; of the next month, for a day of a month alone
	Weeks   int    `json:"weeks,omitempty"`   // further weeks after that, of a weekday or weekend
	Days    int    `json:"days,omitempty"`    // from today, after
	Months  int    `json:"months,omitempty"`  // the same
	Holiday bool   `json:"holiday,omitempty"` // named as one: the hours of its weekday may not hold
	Date    string `json:"date,omitempty"`    // "2026-12-25", or "12-25" or "25" for the next one
	Rest    bool   `json:"rest,omitempty"`    // how long it lasts from now on is asked
}

const monthPattern = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`

// dayPattern matches what names a day in a folded text.
var dayPattern = regexp.MustCompile(`\b(?:right now|now|currently|at the moment)\b|现在|目前|此刻|` +
	`\b(?:the )?day after tomorrow\b|后天|\b(?:today|tonight|this (?:morning|afternoon|evening))\b|今天|今日|今晚|\btomorrow\b|明天|明日|` +
	`\b(?:on |this |next |coming )*(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?: after next)?\b|(?:[这本]|下{1,3})?个?星期[一二三四五六日天]|` +
	`\b(?:at |on |over )?(?:the |this |next |coming )*weekends?(?: after next)?\b|(?:[这本]|下{1,3})?个?周末|` +
	afterPattern + `|` + numericPattern + `|` +
	`\b\d{4}-\d{2}-\d{2}\b|\b(?:on )?(?:` + monthPattern + `) \d{1,2}(?:st|nd|rd|th)?\b(?:,? \d{4}\b)?|\b(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:` + monthPattern + `)(?: \d{4})?\b|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|` +
	`\bon the \d{1,2}(?:st|nd|rd|th)\b|(?:这个?|本|下个?)月\d{1,2}[日号]|` +
	`\b(?:on |at )?(?:christmas(?: day| eve)?|new year'?s (?:eve|day))\b|圣诞节|平安夜|元旦|跨年夜`)

var weekdayNames = map[string]string{"一": "monday", "二": "tuesday", "三": "wednesday", "四": "thursday", "五": "friday", "六": "saturday", "日": "sunday", "天": "sunday"}

var (
	latinWeekday = regexp.MustCompile(`monday|tuesday|wednesday|thursday|friday|saturday|sunday`)
	monthFirst   = regexp.MustCompile(`(` + monthPattern + `) (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4}))?`)
	dayFirst     = regexp.MustCompile(`(\d{1,2})(?:st|nd|rd|th)?(?: of)? (` + monthPattern + `)(?: (\d{4}))?`)
	hanDate      = regexp.MustCompile(`(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]`)
)

var holiday = regexp.MustCompile(`christmas|new year|圣诞节|平安夜|元旦|跨年夜`)

const monthOrder = "jan feb mar apr may jun jul aug sep oct nov dec"

// dayIn reads the day a question names.
func dayIn(question string) (Day, bool) {
	m := dayPattern.FindString(words.Fold(question))
	switch {
	case m == "":
		return Day{}, false
	case strings.Contains(m, "now") || m == "currently" || m == "at the moment" || m == "现在" || m == "目前" || m == "此刻":
		return Day{Name: "now"}, true
	case strings.Contains(m, "after tomorrow") || m == "后天":
		return Day{Name: "day_after_tomorrow"}, true
	case m == "tomorrow" || m == "明天" || m == "明日":
		return Day{Name: "tomorrow"}, true
	case strings.Contains(m, "星期") && !isAfter.MatchString(m):
		rs := []rune(m)
		next, weeks := nextIn(m)
		return Day{Name: "weekday", Weekday: weekdayNames[string(rs[len(rs)-1])], Next: next, Weeks: weeks}, true
	case latinWeekday.MatchString(m):
		next, weeks := nextIn(m)
		return Day{Name: "weekday", Weekday: latinWeekday.FindString(m), Next: next, Weeks: weeks}, true
	case isAfter.MatchString(m):
		return afterIn(m)
	case numericDate.MatchString(m):
		dates := numericDates(m, hasHan(question))
		if len(dates) == 0 {
			return Day{}, false
		}
		return dated(dates[0], m), true
	case strings.Contains(m, "weekend") || strings.Contains(m, "周末"):
		next, weeks := nextIn(m)
		return Day{Name: "weekend", Next: next, Weeks: weeks}, true
	}
	if d := dayOfMonth.FindString(m); d != "" && dateIn(m) == "" {
		day := dated(fmt.Sprintf("%02s", d), m)
		day.Next = strings.HasPrefix(m, "下")
		return day, true
	}
	if d := dateIn(m); d != "" {
		return dated(d, m), true
	}
	return Day{Name: "today"}, true
}

// nextIn reads "next", 下, "after next" and 下下: of the week after this one, and how many weeks later still.
func nextIn(m string) (next bool, weeks int) {
	if strings.HasSuffix(m, " after next") {
		return true, 1
	}
	n := strings.Count(m, "下")
	return n > 0 || strings.Contains(m, "next "), max(n-1, 0)
}

// dated is a date as a visitor wrote it.
func dated(date, written string) Day {
	return Day{Name: "date", Date: date, Holiday: holiday.MatchString(written) || strings.HasSuffix(date, "12-25") || strings.HasSuffix(date, "01-01")}
}

// ofThatDay matches questions for what may hold on that day only, which no general text answers.
var ofThatDay = regexp.MustCompile(`\b(free|cheap(er)?|discounts?|reduced|special|different|extra|crowded|busy|late|early)\b|免费|优惠|打折|便宜|特别|特价|不同|人多|拥挤`)

// WithoutDay takes the day out of a question. ok is false where it has none, asks of the moment, or for what may hold
// on that day only.
func WithoutDay(question string) (rest string, day Day, ok bool) {
	day, ok = dayIn(question)
	if !ok || day.Name == "now" || ofThatDay.MatchString(words.Fold(question)) {
		return "", Day{}, false
	}
	return strings.TrimSpace(dayPattern.ReplaceAllString(words.Fold(question), " ")), day, true
}

func dateIn(m string) string {
	switch {
	case strings.Contains(m, "christmas eve") || m == "平安夜":
		return "12-24"
	case strings.Contains(m, "christmas") || m == "圣诞节":
		return "12-25"
	case strings.Contains(m, "eve") && strings.Contains(m, "year") || m == "跨年夜":
		return "12-31"
	case strings.Contains(m, "year") || m == "元旦":
		return "01-01"
	case len(m) == len("2026-12-25") && m[4] == '-':
		return m
	}
	year, month, day := "", "", ""
	if d := hanDate.FindStringSubmatch(m); d != nil {
		year, month, day = d[1], d[2], d[3]
	} else if d := monthFirst.FindStringSubmatch(m); d != nil {
		month, day, year = d[1], d[2], d[3]
	} else if d := dayFirst.FindStringSubmatch(m); d != nil {
		day, month, year = d[1], d[2], d[3]
	} else {
		return ""
	}
	n, err := strconv.Atoi(month)
	if err != nil {
		n = strings.Index(monthOrder, month[:3])/4 + 1
	}
	dd, err := strconv.Atoi(day)
	if err != nil {
		return ""
	}
	if year != "" {
		return fmt.Sprintf("%s-%02d-%02d", year, n, dd)
	}
	return fmt.Sprintf("%02d-%02d", n, dd)
}

// noSuchDay asks back where a question names a day that no calendar has, such as 31 February.
func noSuchDay(in Input, r resolved) *Question {
	folded := words.Fold(r.full)
	m := dayPattern.FindString(folded)
	d := dateIn(m)
	wrong := d != "" && !isDate(d) || numericDate.MatchString(m) && len(numericDates(m, hasHan(folded))) == 0
	if m == "" || !wrong || !practicalWords.MatchString(folded) {
		return nil
	}
	a := asksIn(in.Language)
	q := &Question{Text: fmt.Sprintf(a.noDay, strings.TrimPrefix(m, "on "))}
	for _, day := range a.days {
		q.Choices = append(q.Choices, Choice{day, fmt.Sprintf(a.openOn, day)})
	}
	return q
}

// isDate reports whether a date is one of some year, or of the year it names.
func isDate(d string) bool {
	if len(d) == len("12-25") {
		d = "2028-" + d // a leap year
	}
	_, err := time.Parse(time.DateOnly, d)
	return err == nil
}
