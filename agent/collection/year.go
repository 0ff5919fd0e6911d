// Package collection answers what a catalogue knows of its exhibits together: how many there are, which are the oldest,
// which are by one maker or from one time. It reads catalogue entries only and guesses nothing.
package collection

import (
	"regexp"
	"strconv"
	"strings"

	"docent/agent/internal/words"
)

// Span is a time in years, both ends included; years before the common era are negative.
type Span struct{ From, To int }

// Within reports whether the span lies in another one.
func (s Span) Within(o Span) bool { return o.From <= s.From && s.To <= o.To }

// dynasties are the Chinese ones that catalogues date by. Years are the usual ones of handbooks (Wilkinson, Chinese
// History: A New Manual).
var dynasties = []struct {
	name *regexp.Regexp
	span Span
}{
	{regexp.MustCompile(`\bshang\b|商代|商朝`), Span{-1600, -1046}},
	{regexp.MustCompile(`\bzhou\b|西周|东周|周代`), Span{-1046, -256}},
	{regexp.MustCompile(`\bhan\b|西汉|东汉|汉代`), Span{-202, 220}},
	{regexp.MustCompile(`\btang\b|唐代|唐朝|^唐`), Span{618, 907}},
	{regexp.MustCompile(`\b(northern |southern )?song\b|北宋|南宋|宋代|^宋`), Span{960, 1279}},
	{regexp.MustCompile(`\byuan\b|元代|元朝|^元`), Span{1271, 1368}},
	{regexp.MustCompile(`\bming and qing\b|明清`), Span{1368, 1912}},
	{regexp.MustCompile(`\bming\b|明代|明朝|^明`), Span{1368, 1644}},
	{regexp.MustCompile(`\bqing\b|清代|清朝|^清`), Span{1644, 1912}},
}

var (
	century   = regexp.MustCompile(`(\d{1,2})(?:st|nd|rd|th)[- ]century|(\d{1,2})世纪`)
	decade    = regexp.MustCompile(`\b(\d{3})0'?s\b|(\d{1,2})世纪(\d)0年代|(\d{3})0年代`)
	oneYear   = regexp.MustCompile(`\b(\d{3,4})(?:\s*[-/]\s*(\d{1,4}))?\b|(\d{3,4})年|(\d{3,4})`)
	before    = regexp.MustCompile(`\bb\.? ?c\.?(?: ?e\.?)?\b|公元前`)
	bcYear    = regexp.MustCompile(`\b(\d{1,4})\s*b\.? ?c|公元前(\d{1,4})年?`)
	ordinals  = strings.NewReplacer("first century", "1st century", "twelfth", "12th", "thirteenth", "13th", "fourteenth", "14th", "fifteenth", "15th", "sixteenth", "16th", "seventeenth", "17th", "eighteenth", "18th", "nineteenth", "19th", "twentieth", "20th", "twenty-first", "21st")
	hanDigits = strings.NewReplacer("二十一世纪", "21世纪", "二十世纪", "20世纪", "十九世纪", "19世纪", "十八世纪", "18世纪", "十七世纪", "17世纪", "十六世纪", "16世纪", "十五世纪", "15世纪", "十四世纪", "14世纪", "十三世纪", "13世纪", "十二世纪", "12世纪",
		"二十年代", "20年代", "三十年代", "30年代", "四十年代", "40年代", "五十年代", "50年代", "六十年代", "60年代", "七十年代", "70年代", "八十年代", "80年代", "九十年代", "90年代")
)

// Years reads the time that a catalogue's date or a question names. Of several, the first counts: "1704; arcs 1987" is
// of 1704. ok is false where no time is told.
func Years(date string) (span Span, ok bool) {
	date = hanDigits.Replace(ordinals.Replace(words.Fold(date)))
	date, _, _ = strings.Cut(date, ";")
	if m := bcYear.FindStringSubmatch(date); m != nil && before.MatchString(date) {
		n := number(m[1] + m[2])
		return Span{-n, -n}, n > 0
	}
	if m := decade.FindStringSubmatch(date); m != nil {
		from := number(m[1]+m[4]) * 10
		if m[2] != "" {
			from = (number(m[2])-1)*100 + number(m[3])*10
		}
		return Span{from, from + 9}, true
	}
	if m := century.FindStringSubmatch(date); m != nil {
		n := number(m[1] + m[2])
		if before.MatchString(date) {
			return Span{-n * 100, -(n-1)*100 - 1}, true
		}
		return Span{(n-1)*100 + 1, n * 100}, true
	}
	if m := oneYear.FindStringSubmatch(date); m != nil {
		from := number(m[1] + m[3] + m[4])
		return Span{from, max(from, rangeEnd(from, m[2]))}, true
	}
	for _, d := range dynasties {
		if d.name.MatchString(date) {
			return d.span, true
		}
	}
	return Span{}, false
}

// rangeEnd completes the end of a range: 88 in 1787-88 is 1788.
func rangeEnd(from int, end string) int {
	if end == "" {
		return from
	}
	n, base := number(end), 1
	for range end {
		base *= 10
	}
	if n < from && base <= from {
		return from/base*base + n
	}
	return n
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
