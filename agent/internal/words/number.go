package words

import (
	"regexp"
	"strconv"
	"strings"
)

// Numbers returns the numbers of a text in one spelling ("1,000" and 一千 both "1000"), in order, repeats kept:
// digits, English number words from two on, and Chinese numerals of two or more characters. A single 一 or 三 is too
// often part of another word to be called a number.
func Numbers(text string) []string {
	return numbers(text, 2)
}

// NumbersIn returns the set of every number that a text can be said to hold: as Numbers, and single Chinese numerals
// and "one" too.
func NumbersIn(text string) map[string]bool {
	out := make(map[string]bool)
	for _, n := range numbers(text, 1) {
		out[n] = true
	}
	for _, w := range latinWords(Fold(text)) {
		if w == "one" {
			out["1"] = true
		}
	}
	return out
}

var numerals = regexp.MustCompile(`\d+(?:[.,]\d+)*|[零〇一二两三四五六七八九十百千万亿]+|[a-z]+`)

func numbers(text string, minHan int) []string {
	var out []string
	for _, m := range numerals.FindAllString(Fold(text), -1) {
		switch c := m[0]; {
		case c >= '0' && c <= '9':
			out = append(out, plainNumber(m))
		case c >= 'a' && c <= 'z':
			if v, ok := numberWords[m]; ok {
				out = append(out, v)
			}
		default:
			if runeCount(m) >= minHan {
				if v, ok := hanNumber(m); ok {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

var thousands = regexp.MustCompile(`^\d{1,3}(,\d{3})+`)

// plainNumber drops thousands commas, leading zeros and zeros after the decimal point.
func plainNumber(s string) string {
	if m := thousands.FindString(s); m != "" {
		s = strings.ReplaceAll(m, ",", "") + s[len(m):]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

var numberWords = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17",
	"eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60",
	"seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000",
}

var hanDigits = map[rune]int64{'零': 0, '〇': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}

// hanNumber reads a Chinese numeral: by places (三百二十) or digit by digit (一九七四).
func hanNumber(s string) (string, bool) {
	rs := []rune(s)
	if !strings.ContainsAny(s, "十百千万亿") {
		var b strings.Builder
		for _, r := range rs {
			b.WriteString(strconv.FormatInt(hanDigits[r], 10))
		}
		return plainNumber(b.String()), true
	}
	if len(rs) > 15 {
		return "", false
	}
	var high, total, section int64 // hundred millions; ten thousands; below
	digit := int64(-1)
	for _, r := range rs {
		switch r {
		case '十', '百', '千':
			unit := map[rune]int64{'十': 10, '百': 100, '千': 1000}[r]
			if digit < 0 {
				digit = 1
			}
			section += digit * unit
			digit = -1
		case '万':
			total += (section + max(digit, 0)) * 10_000
			section, digit = 0, -1
		case '亿':
			high += (total + section + max(digit, 0)) * 100_000_000
			total, section, digit = 0, 0, -1
		default:
			digit = hanDigits[r]
		}
	}
	if digit > 0 {
		section += digit
	}
	n := high + total + section
	return strconv.FormatInt(n, 10), n > 0
}
