// Package lines recognises what a line of text without mark-up is: an item of a list, a numbered heading, a caption.
package lines

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/localindex/internal/prose"
)

// MaxHeading is how wide a heading can be, in units of prose: 40 characters of Chinese or 70 of English.
const MaxHeading = 280

var (
	bullet   = regexp.MustCompile(`^[•◦▪▫■□●○◆◇►‣⁃∙·\x{F0B7}\x{F0A7}\x{F0D8}][\s\x{3000}]*`)
	dash     = regexp.MustCompile(`^[-*+–—][ \t\x{3000}]+`)
	number   = regexp.MustCompile(`^(?:(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)][ \t\x{3000}]+|[(（](?:\d{1,3}|[a-z]|[一二三四五六七八九十]{1,3})[)）][ \t\x{3000}]*|\d{1,3}[、．]\s*|[①-⑳]\s*)`)
	chapter  = regexp.MustCompile(`^(?:第[一二三四五六七八九十百零〇\d]{1,5}([编編篇部章节節])|(?i:(chapter|part|section|appendix)) (?:\d{1,3}|[IVXLC]{1,6}|[A-Z])\b)`)
	section  = regexp.MustCompile(`^(?:(\d{1,2}(?:\.\d{1,2}){0,3})\.?[ \t\x{3000}]+\S|([一二三四五六七八九十]{1,3})、\S)`)
	caption  = regexp.MustCompile(`^(?:[图圖表]\s*[\d一二三四五六七八九十]+|(?:Figure|Fig\.|Plate|Table)\s+\d+)[\s.:：、．\x{3000}\-–]`)
	closings = "\"')]”’」』）》】"
)

// Mark finds the mark of an item of a list. Bullets of every shape come back as "• "; numbers as they stand, with one
// space behind them.
func Mark(line string) (mark, rest string, ok bool) {
	if m := bullet.FindString(line); m != "" {
		return "• ", strings.TrimSpace(line[len(m):]), true
	}
	if m := dash.FindString(line); m != "" {
		return "• ", strings.TrimSpace(line[len(m):]), true
	}
	if m := number.FindString(line); m != "" && len(m) < len(line) {
		return strings.TrimSpace(m) + " ", strings.TrimSpace(line[len(m):]), true
	}
	return "", line, false
}

// Numbered reports whether a line is a heading by its number alone, such as "第二章 …", "Chapter 3" or "1.2 …", and
// how deep. What ends as a sentence does, or is too long, is none.
func Numbered(line string) (level int, ok bool) {
	if !Short(line) {
		return 0, false
	}
	if m := chapter.FindStringSubmatch(line); m != nil {
		switch m[1] {
		case "节", "節":
			return 2, true
		}
		if strings.EqualFold(m[2], "section") {
			return 2, true
		}
		return 1, true
	}
	if m := section.FindStringSubmatch(line); m != nil {
		if m[2] != "" {
			return 2, true
		}
		if dots := strings.Count(m[1], "."); dots > 0 {
			return dots + 1, true
		}
	}
	return 0, false
}

// Short reports whether a line may be a heading: it is not long and does not end as a sentence does.
func Short(line string) bool {
	return line != "" && prose.Units(line) <= MaxHeading && !EndsSentence(line) && !strings.HasSuffix(line, "，") && !strings.HasSuffix(line, ",") &&
		strings.IndexFunc(line, unicode.IsLetter) >= 0
}

// Title reports whether a line that looks like a heading may be one: it may also end as a question does.
func Title(line string) bool {
	return Short(line) || Short(strings.TrimRight(line, "?!？！")) && len(prose.Sentences(line)) == 1
}

// EndsSentence reports whether a line ends with the punctuation that ends a sentence.
func EndsSentence(line string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, closings+" "))
	return strings.ContainsRune("。！？；.!?;…", r)
}

// Caption reports whether a line begins as the caption of a picture or table does.
func Caption(line string) bool { return caption.MatchString(line) }
