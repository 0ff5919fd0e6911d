package memory

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

var enNumbers = map[string]float64{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
	"twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "forty five": 45, "fifty": 50, "sixty": 60,
	"ninety": 90, "half an": 0.5,
}

var hanDigits = map[rune]int{'一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}

// number reads a small number in digits, English or Chinese; 0 where it is none.
func number(s string) float64 {
	if n, err := strconv.Atoi(s); err == nil {
		return float64(n)
	}
	if n, ok := enNumbers[strings.ToLower(s)]; ok {
		return n
	}
	if s == "半" {
		return 0.5
	}
	total, digit := 0, 0
	for _, r := range s {
		if r == '十' {
			total += max(digit, 1) * 10
			digit = 0
		} else {
			digit = hanDigits[r]
		}
	}
	return float64(total + digit)
}

const (
	leastTime = 2 * time.Minute
	mostTime  = 12 * time.Hour
)

func until(left time.Duration, text string, s Said) []Draft {
	if left < leastTime || left > mostTime {
		return nil
	}
	return []Draft{fact(KindTime, "time_left", s.At.Add(left).Format(time.RFC3339), text, false)}
}

func timeLeft(m []string, _ bool, s Said) []Draft {
	n, unit := number(m[1]), time.Minute
	if strings.HasPrefix(strings.ToLower(m[2]), "h") {
		unit = time.Hour
	}
	if m[3] != "" {
		n += 0.5
	}
	return until(time.Duration(n*float64(unit)), m[0], s)
}

func timeLeftZH(m []string, _ bool, s Said) []Draft {
	n, unit := number(m[1]), time.Minute
	switch m[3] {
	case "小时", "钟头":
		unit = time.Hour
	case "刻钟":
		unit = 15 * time.Minute
	}
	if m[2] != "" {
		n += 0.5
	}
	return until(time.Duration(n*float64(unit)), m[0], s)
}

// clockEN and clockZH are the next time of the day that is meant; the zero time where none is left. Without "am" or
// "pm" the nearer of the two is meant.
func clockEN(hour, minute, half string, now time.Time) time.Time {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	half = strings.ToLower(strings.ReplaceAll(half, ".", ""))
	return clock(h, m, half == "am", half == "pm", now)
}

func clockZH(part, hour, digits, rest string, now time.Time) time.Time {
	m := 0
	switch {
	case digits != "":
		m, _ = strconv.Atoi(digits)
	case rest == "半":
		m = 30
	case rest == "一刻":
		m = 15
	case rest == "三刻":
		m = 45
	default:
		m = int(number(strings.TrimSuffix(rest, "分")))
	}
	morning := part == "上午" || part == "早上"
	return clock(int(number(hour)), m, morning, part != "" && !morning && part != "中午", now)
}

func clock(h, m int, morning, evening bool, now time.Time) time.Time {
	if h > 23 || m > 59 {
		return time.Time{}
	}
	day := func(h int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day(), h, m, 0, 0, now.Location())
	}
	var hours []int
	switch {
	case h >= 12:
		hours = []int{h}
	case evening:
		hours = []int{h + 12}
	case morning:
		hours = []int{h}
	default:
		hours = []int{h, h + 12}
	}
	for _, h := range hours {
		if t := day(h); t.After(now) {
			return t
		}
	}
	return time.Time{}
}

func leaveAt(m []string, _ bool, s Said) []Draft {
	if at := clockEN(m[1], m[2], m[3], s.At); !at.IsZero() {
		return until(at.Sub(s.At), m[0], s)
	}
	return nil
}

func leaveAtZH(m []string, _ bool, s Said) []Draft {
	if at := clockZH(m[1], m[2], m[3], m[4], s.At); !at.IsZero() {
		return until(at.Sub(s.At), m[0], s)
	}
	return nil
}

func booked(what string, at time.Time, text string, no bool) []Draft {
	if at.IsZero() {
		return nil
	}
	what = strings.TrimSuffix(strings.ToLower(what), "s")
	return []Draft{fact(KindBooking, "booking/"+what, at.Format(time.RFC3339), text, no)}
}

func booking(m []string, no bool, s Said) []Draft {
	return booked(m[1], clockEN(m[2], m[3], m[4], s.At), m[0], no)
}

func bookingBefore(m []string, no bool, s Said) []Draft {
	return booked(m[4], clockEN(m[1], m[2], m[3], s.At), m[0], no)
}

func bookingZH(m []string, no bool, s Said) []Draft {
	return booked(m[5], clockZH(m[1], m[2], m[3], m[4], s.At), m[0], no)
}

func need(what string) func([]string, bool, Said) []Draft {
	return func(m []string, no bool, _ Said) []Draft {
		return []Draft{fact(KindAccess, "access/"+what, what, m[0], no)}
	}
}

func children(m []string, no bool, _ Said) []Draft {
	age := ""
	if m[1] != "" {
		age = strconv.Itoa(int(number(m[1])))
	}
	return []Draft{fact(KindChildren, "children", age, m[0], no)}
}

func childrenZH(m []string, no bool, _ Said) []Draft {
	return []Draft{fact(KindChildren, "children", "", m[0], no)}
}

var (
	between  = regexp.MustCompile(`(?i)\s*(?:,|、|，|和|跟|以及|还有|\band\b|\bor\b|或)\s*`)
	trailing = regexp.MustCompile(`(?i)\s+(?:so|too|as well|though|because|please|any ?more|at all|is there|what|where|can|in|by|of|which|who)\b.*$`)
	article  = regexp.MustCompile(`(?i)^(?:all |any |some |the |an? |my |our |most )+`)
)

// things are the single things of a list.
func things(list string) []string {
	var out []string
	for _, t := range between.Split(trailing.ReplaceAllString(list, ""), -1) {
		t = strings.Trim(article.ReplaceAllString(strings.TrimSpace(t), ""), " -")
		if t != "" && utf8.RuneCountInString(t) <= 30 {
			out = append(out, t)
		}
	}
	return out
}

func allergies(m []string, no bool, _ Said) []Draft {
	var out []Draft
	for _, t := range things(m[1]) {
		key := strings.ToLower(t)
		if !strings.HasSuffix(key, "ss") {
			key = strings.TrimSuffix(key, "s")
		}
		if key == "anything" || key == "什么" || key == "food" {
			continue
		}
		out = append(out, fact(KindAllergy, "allergy/"+key, t, m[0], no))
	}
	return out
}

// notNames follow "call me" and "我叫" where no name does.
var notNames = regexp.MustCompile(`(?i)^(?:an?|the|when|if|back|later|at|on|by|what|crazy|old|not|什么|啥|的|不|车|了|他|她|你)`)

func named(m []string, no bool, _ Said) []Draft {
	if notNames.MatchString(m[1]) && !nameLike(m[1]) || no {
		return nil
	}
	return []Draft{fact(KindName, "name", m[1], m[1], false)}
}

// nameLike tells "Anna" from "an hour": what goes on after the word is no word of its own.
func nameLike(s string) bool {
	word := strings.Trim(notNames.FindString(s), " ")
	rest := strings.TrimPrefix(s, word)
	return word != "" && word[0] < utf8.RuneSelf && rest != "" && rest[0] != ' '
}

func todo(m []string, _ bool, _ Said) []Draft {
	what := strings.TrimRight(m[1], " 了吧的")
	if asking.MatchString(what) {
		return nil
	}
	return []Draft{fact(KindTodo, "todo/"+digest(what), what, m[0], false)}
}

func interest(what string, like bool, s Said) []Draft {
	what = strings.Trim(article.ReplaceAllString(trailing.ReplaceAllString(strings.TrimSpace(what), ""), ""), " 的了")
	low := strings.ToLower(what)
	switch {
	case strings.HasPrefix(low, "to "), strings.HasPrefix(low, "you"), strings.HasPrefix(low, "short"), strings.HasPrefix(low, "brief"),
		strings.HasPrefix(low, "detailed"), strings.HasPrefix(low, "simple"), strings.HasPrefix(low, "long"), strings.HasPrefix(low, "是"):
		return nil
	case low == "this", low == "it", low == "that", strings.HasPrefix(low, "this "), strings.HasPrefix(low, "这"):
		if s.Exhibit == "" {
			return nil
		}
		what, low = s.Exhibit, s.Exhibit
	}
	if what == "" {
		return nil
	}
	value := "likes"
	if !like {
		value = "dislikes"
	}
	return []Draft{preference(KindInterest, "interest/"+low, value, what)}
}

var hates = regexp.MustCompile(`(?i)hate|dislike|讨厌`)

func interestEN(m []string, _ bool, s Said) []Draft {
	return interest(m[2], m[1] == "" && !hates.MatchString(m[0]), s)
}

func interestZH(m []string, _ bool, s Said) []Draft {
	if strings.HasPrefix(m[2], "的") {
		return nil
	}
	return interest(m[2], m[1] == "" && !hates.MatchString(m[0]), s)
}

func interestInZH(m []string, _ bool, s Said) []Draft {
	return interest(m[1], m[2] == "", s)
}

func style(m []string, _ bool, _ Said) []Draft {
	switch strings.ToLower(m[1]) {
	case "short", "shorter", "brief", "简短", "短":
		return []Draft{preference(KindStyle, "style/length", "short", m[0])}
	case "detailed", "longer", "long", "详细":
		return []Draft{preference(KindStyle, "style/length", "long", m[0])}
	}
	return []Draft{preference(KindStyle, "style/words", "simple", m[0])}
}
