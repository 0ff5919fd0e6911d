package words

import (
	"regexp"
	"strings"
)

// Calendar returns the months and weekdays named in a text, by their English names, whichever language it is in.
func Calendar(text string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range latinWords(Fold(text)) {
		w = strings.TrimSuffix(w, "s")
		if months[w] || weekdays[w] {
			out[w] = true
		}
	}
	for _, m := range hanMonth.FindAllStringSubmatch(text, -1) {
		if n := monthNumber(m[1]); n >= 1 && n <= 12 {
			out[monthNames[n-1]] = true
		}
	}
	for _, m := range hanWeekday.FindAllStringSubmatch(text, -1) {
		out[hanWeekdays[m[1]]] = true
	}
	return out
}

var monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// months leaves out "may" and "march", which are more often verbs than months.
var months = set("january", "february", "april", "june", "july", "august", "september", "october", "november", "december")

var weekdays = set("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

var (
	hanMonth   = regexp.MustCompile(`(1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月`)
	hanWeekday = regexp.MustCompile(`(?:周|星期|礼拜)([一二三四五六日天])`)
)

var hanWeekdays = map[string]string{
	"一": "monday", "二": "tuesday", "三": "wednesday", "四": "thursday", "五": "friday", "六": "saturday", "日": "sunday", "天": "sunday",
}

func monthNumber(s string) int {
	v, ok := hanNumber(s)
	if s[0] >= '1' && s[0] <= '9' {
		v, ok = s, true
	}
	n := 0
	for _, d := range v {
		n = n*10 + int(d-'0')
	}
	if !ok {
		return 0
	}
	return n
}
