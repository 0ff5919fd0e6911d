// Package prose joins and cuts running text in Chinese and English: lines into paragraphs, paragraphs at ends of
// sentences into pieces of a bounded size.
package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// SoftBreak stands in a text for a line end that ends no line of prose, until [Tidy] knows what is on both sides.
const SoftBreak = '\x02'

// Wide reports whether a character takes the width of two, as those of Chinese, Japanese and Korean do.
func Wide(r rune) bool {
	return r >= 0x2E80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60)
}

// Unspaced reports whether a character is written without spaces around it.
func Unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60 || strings.ContainsRune("“”‘’…—·", r)
}

// Tidy brings a text to NFC, takes out control characters and makes one space of white space within lines. A
// [SoftBreak] becomes a space, and nothing between characters of a script without spaces. Line ends are kept, with
// no white space beside them and no empty lines between.
func Tidy(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	var last, space rune // space is white space not yet written
	for _, r := range s {
		switch {
		case r == '\n', r == '\u2028', r == '\u2029':
			space = '\n'
			continue
		case r == SoftBreak:
			if space == 0 {
				space = SoftBreak
			}
			continue
		case unicode.IsSpace(r):
			if space != '\n' {
				space = ' '
			}
			continue
		case ignored(r):
			continue
		}
		switch {
		case last == 0 || space == 0:
		case space == '\n':
			out.WriteByte('\n')
		case space == SoftBreak && Unspaced(last) && Unspaced(r):
		default:
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		last, space = r, 0
	}
	return norm.NFC.String(out.String())
}

// ignored reports whether a character is no part of a text: control characters, what could not be decoded, marks
// of byte order and width, and soft hyphens.
func ignored(r rune) bool {
	switch r {
	case utf8.RuneError, '\u00AD', '\u200B', '\u200E', '\u200F', '\u2060', '\uFEFF', '\uFFFE', '\uFFFF':
		return true
	}
	return unicode.IsControl(r)
}

// Join makes one line of the lines of a paragraph. A word that was divided at a line end is put together again.
func Join(lines []string) string {
	var out strings.Builder
	pending := "" // the last line, whose end the next one decides
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if pending != "" {
			if kept, ok := divided(pending, line); ok {
				out.WriteString(kept)
			} else {
				out.WriteString(pending)
				out.WriteRune(SoftBreak)
			}
		}
		pending = line
	}
	out.WriteString(pending)
	return Tidy(out.String())
}

// divided reports whether a word goes on from one line to the next, and returns the first without the hyphen if it
// is there only for the line end. A hyphen after a small letter and before another is; one beside a capital or a
// digit, or of a word that has another hyphen, is a part of the word.
func divided(before, after string) (kept string, ok bool) {
	hyphen, size := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	rest := before[:len(before)-size]
	last, _ := utf8.DecodeLastRuneInString(rest)
	switch hyphen {
	case '\u00AD':
		return rest, unicode.IsLetter(next)
	case '-', '\u2010':
		if !unicode.IsLetter(last) || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			return "", false
		}
		word := rest[strings.LastIndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == SoftBreak })+1:]
		if unicode.IsLower(last) && unicode.IsLower(next) && !strings.ContainsAny(word, "-\u2010") {
			return rest, true
		}
		return before, true
	}
	return "", false
}

// ligatures are characters that stand for several letters.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"Ĳ", "IJ", "ĳ", "ij", "ǆ", "dž", "ǉ", "lj", "ǌ", "nj")

// WithoutLigatures writes out letters that were drawn together.
func WithoutLigatures(s string) string { return ligatures.Replace(s) }

// Letters counts the characters of a text that are neither white space nor marks.
func Letters(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsSpace(r) && !unicode.IsMark(r) {
			n++
		}
	}
	return n
}

// SameWords reports whether two texts are the same but for white space.
func SameWords(a, b string) bool {
	for {
		a, b = strings.TrimLeftFunc(a, unicode.IsSpace), strings.TrimLeftFunc(b, unicode.IsSpace)
		if a == "" || b == "" {
			return a == b
		}
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb || na != nb {
			return false
		}
		a, b = a[na:], b[nb:]
	}
}
