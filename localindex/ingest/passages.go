package ingest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/localindex/gallery"
)

// The size of a passage in units: a character of Chinese or Japanese is 7, any other 4. A passage of Chinese thus has
// up to 400 characters and one of English up to 700; a text in both is measured as what it is.
const (
	maxPassageUnits = 2800
	wideUnits       = 7
	narrowUnits     = 4
)

// maxMarkUnits is by how much marks that belong to the last character may make a passage longer.
const maxMarkUnits = 100

// Passages cuts a section at ends of paragraphs, where one is too long at ends of sentences, where one is too long
// still at commas and spaces, and at any character at last. Short neighbours are kept together. Put together again
// with white space between them, the passages are the section's text.
func Passages(s gallery.Section) []gallery.Passage {
	var passages []gallery.Passage
	for _, text := range pack(pieces(s.Text)) {
		passages = append(passages, gallery.Passage{
			ID: fmt.Sprintf("%s#%d", s.ID, len(passages)+1), Section: s.ID, Text: text,
		})
	}
	return passages
}

// piece is a stretch of text that is not cut further, with what stood before it.
type piece struct {
	text   string
	before string // white space between it and the piece before
}

// pieces cuts a text into pieces that each fit into a passage.
func pieces(text string) []piece {
	var all []piece
	for i, paragraph := range splitParagraphs(text) {
		cut := []piece{{text: paragraph}}
		for _, ends := range []func(string) []int{lineEnds, sentenceEnds, clauseEnds, wordEnds, runeEnds} {
			var finer []piece
			for _, p := range cut {
				if units(p.text) <= maxPassageUnits {
					finer = append(finer, p)
				} else {
					finer = append(finer, cutAt(p, ends(p.text))...)
				}
			}
			cut = finer
		}
		if i > 0 && len(cut) > 0 {
			cut[0].before = "\n\n"
		}
		all = append(all, cut...)
	}
	return all
}

// pack puts pieces together as long as they fit.
func pack(pieces []piece) []string {
	var packed []string
	var b strings.Builder
	size := 0
	for _, p := range pieces {
		n := units(p.before) + units(p.text)
		if size > 0 && size+n > maxPassageUnits {
			packed = append(packed, b.String())
			b.Reset()
			size = 0
		}
		if size > 0 {
			b.WriteString(p.before)
		}
		b.WriteString(p.text)
		size += n
	}
	if size > 0 {
		packed = append(packed, b.String())
	}
	return packed
}

func splitParagraphs(text string) []string {
	var paragraphs []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	return paragraphs
}

// cutAt cuts a piece at offsets; white space there goes between the pieces.
func cutAt(p piece, offsets []int) []piece {
	var cut []piece
	before, start := p.before, 0
	for _, end := range append(offsets, len(p.text)) {
		raw := p.text[start:end]
		text := strings.TrimSpace(raw)
		if text == "" {
			continue // its white space begins the next
		}
		lead := strings.Index(raw, text)
		cut = append(cut, piece{text, before + raw[:lead]})
		before, start = raw[lead+len(text):], end
	}
	return cut
}

func units(s string) int {
	n := 0
	for _, r := range s {
		if wide(r) {
			n += wideUnits
		} else {
			n += narrowUnits
		}
	}
	return n
}

func wide(r rune) bool {
	return r >= 0x2E80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60)
}

func lineEnds(s string) []int {
	return endsAfter(s, func(r rune, _, _ string) bool { return r == '\n' })
}

// abbreviations whose full stop ends no sentence.
var abbreviations = map[string]bool{
	"c": true, "ca": true, "e.g": true, "i.e": true, "etc": true, "dr": true, "mr": true, "mrs": true, "ms": true,
	"st": true, "no": true, "nos": true, "vs": true, "fig": true, "approx": true, "vol": true, "pp": true, "prof": true, "jr": true,
}

// sentenceEnds finds where sentences end, closing quotation marks and brackets included.
func sentenceEnds(s string) []int {
	return endsAfter(s, func(r rune, before, after string) bool {
		switch r {
		case '。', '！', '？', '；', '\n':
			return true
		case '!', '?':
			return after == "" || unicode.IsSpace(firstRune(after))
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

func clauseEnds(s string) []int {
	return endsAfter(s, func(r rune, _, after string) bool {
		return strings.ContainsRune("，、：", r) || strings.ContainsRune(",;:", r) && unicode.IsSpace(firstRune(after))
	})
}

func wordEnds(s string) []int {
	return endsAfter(s, func(r rune, _, _ string) bool { return unicode.IsSpace(r) })
}

// runeEnds cuts every so many characters, whatever they are, but never before a mark that belongs to the one before.
func runeEnds(s string) []int {
	var ends []int
	size := 0
	for i, r := range s {
		n := narrowUnits
		if wide(r) {
			n = wideUnits
		}
		if over := size + n - maxPassageUnits; over > 0 && !unicode.IsMark(r) || over > maxMarkUnits {
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
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			continue
		}
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
