package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A character of Chinese or Japanese counts 7 units, any other 4: 2,800 units are 400 characters of Chinese or 700
// of English. A text in both is measured as what it is.
const (
	WideUnits   = 7
	NarrowUnits = 4
)

// maxMarkUnits is by how much marks that belong to the last character may make a piece longer.
const maxMarkUnits = 100

// Piece is a stretch of text that is not cut further, with what stood before it.
type Piece struct {
	Text   string
	Before string // white space between it and the piece before; never asks for more than "\n\n"
}

// Units measures a text.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n += units(r)
	}
	return n
}

func units(r rune) int {
	if Wide(r) {
		return WideUnits
	}
	return NarrowUnits
}

// Paragraphs are the texts between blank lines.
func Paragraphs(text string) []string {
	var paragraphs []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	return paragraphs
}

// Split cuts a text at ends of paragraphs, and those that are longer than max units at ends of lines, then of
// sentences, at commas, at spaces, and at any character at last. No piece is longer than max but for marks that
// belong to its last character. The pieces with what was before them are the text.
func Split(text string, max int) []Piece {
	var all []Piece
	for i, paragraph := range Paragraphs(text) {
		cut := []Piece{{Text: paragraph}}
		for _, ends := range []func(string) []int{LineEnds, SentenceEnds, ClauseEnds, WordEnds, func(s string) []int { return runeEnds(s, max) }} {
			var finer []Piece
			for _, p := range cut {
				if Units(p.Text) <= max {
					finer = append(finer, p)
				} else {
					finer = append(finer, CutAt(p, ends(p.Text))...)
				}
			}
			cut = finer
		}
		if i > 0 && len(cut) > 0 {
			cut[0].Before = "\n\n"
		}
		all = append(all, cut...)
	}
	return all
}

// Pack puts pieces together as long as the text has at most max units.
func Pack(pieces []Piece, max int) []string {
	var packed []string
	var b strings.Builder
	size := 0
	for _, p := range pieces {
		n := Units(p.Before) + Units(p.Text)
		if size > 0 && size+n > max {
			packed = append(packed, b.String())
			b.Reset()
			size = 0
		}
		if size > 0 {
			b.WriteString(p.Before)
		}
		b.WriteString(p.Text)
		size += n
	}
	if size > 0 {
		packed = append(packed, b.String())
	}
	return packed
}

// Sentences cuts a text at ends of paragraphs, lines and sentences, whatever their length.
func Sentences(text string) []Piece {
	var all []Piece
	for i, paragraph := range Paragraphs(text) {
		for j, p := range CutAt(Piece{Text: paragraph}, SentenceEnds(paragraph)) {
			if i > 0 && j == 0 {
				p.Before = "\n\n"
			}
			all = append(all, p)
		}
	}
	return all
}

// CutAt cuts a piece at ascending offsets; white space there goes between the pieces.
func CutAt(p Piece, offsets []int) []Piece {
	var cut []Piece
	before, start := p.Before, 0
	for _, end := range append(offsets, len(p.Text)) {
		raw := p.Text[start:end]
		text := strings.TrimSpace(raw)
		if text == "" {
			continue // its white space begins the next
		}
		lead := strings.Index(raw, text)
		cut = append(cut, Piece{text, before + raw[:lead]})
		before, start = raw[lead+len(text):], end
	}
	return cut
}

// LineEnds are the offsets after line ends.
func LineEnds(s string) []int {
	return endsAfter(s, func(r rune, _, _ string) bool { return r == '\n' })
}

// abbreviations whose full stop ends no sentence.
var abbreviations = map[string]bool{
	"c": true, "ca": true, "e.g": true, "i.e": true, "etc": true, "dr": true, "mr": true, "mrs": true, "ms": true,
	"st": true, "no": true, "nos": true, "vs": true, "fig": true, "figs": true, "approx": true, "vol": true, "pp": true, "prof": true, "jr": true,
}

// SentenceEnds are the offsets after sentences, closing quotation marks and brackets included.
func SentenceEnds(s string) []int {
	return endsAfter(s, func(r rune, before, after string) bool {
		switch r {
		case '。', '！', '？', '；', '\n':
			return true
		case '!', '?':
			return after == "" || unicode.IsSpace(firstRune(after)) || Wide(firstRune(after))
		case '.':
			return endsSentence(before, after)
		}
		return false
	})
}

// endsSentence reports whether a full stop ends a sentence: white space follows and then no small letter, and what
// stands before it is neither an abbreviation nor an initial.
func endsSentence(before, after string) bool {
	if after == "" {
		return true
	}
	if !unicode.IsSpace(firstRune(after)) || unicode.IsLower(firstRune(strings.TrimLeftFunc(after, unicode.IsSpace))) {
		return false
	}
	word := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	word = strings.TrimLeft(word, "(\"'“‘[")
	return utf8.RuneCountInString(word) != 1 && !abbreviations[strings.ToLower(word)]
}

// ClauseEnds are the offsets after commas, colons and semicolons.
func ClauseEnds(s string) []int {
	return endsAfter(s, func(r rune, _, after string) bool {
		return strings.ContainsRune("，、：", r) || strings.ContainsRune(",;:", r) && unicode.IsSpace(firstRune(after))
	})
}

// WordEnds are the offsets after white space.
func WordEnds(s string) []int {
	return endsAfter(s, func(r rune, _, _ string) bool { return unicode.IsSpace(r) })
}

// runeEnds cuts every so many characters, whatever they are, but never before a mark that belongs to the one before.
func runeEnds(s string, max int) []int {
	var ends []int
	size := 0
	for i, r := range s {
		n := units(r)
		if over := size + n - max; size > 0 && (over > 0 && !unicode.IsMark(r) || over > maxMarkUnits) {
			ends = append(ends, i)
			size = 0
		}
		size += n
	}
	return ends
}

// endsAfter collects the offsets after the characters that end something. Closing marks that follow belong to it.
func endsAfter(s string, ends func(r rune, before, after string) bool) []int {
	var offsets []int
	for i, r := range s {
		if r == utf8.RuneError {
			continue
		}
		end := i + utf8.RuneLen(r)
		rest := strings.TrimLeft(s[end:], "\"')]”’」』）》")
		if ends(r, s[:i], rest) && len(rest) > 0 && (len(offsets) == 0 || offsets[len(offsets)-1] < len(s)-len(rest)) {
			offsets = append(offsets, len(s)-len(rest))
		}
	}
	return offsets
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
