package words

import (
	"strings"
	"unicode"
)

// maxSentence is the longest sentence in characters; a run without an end is cut there, so that one broken document
// cannot make a sentence of a whole page.
const maxSentence = 600

// Sentences splits plain text at sentence ends, Chinese and English, and at blank lines and list items. Together the
// sentences hold all of the text but the white space between them, in order. Abbreviations ("Dr.", "c. 1500"), initials
// ("R. Penrose"), decimals and closing quotation marks and brackets do not split.
func Sentences(text string) []string {
	var out []string
	for _, p := range paragraphs(text) {
		rs := []rune(p)
		start := 0
		for i := 0; i < len(rs); i++ {
			end := sentenceEnd(rs, start, i)
			if end == 0 && i+1-start >= maxSentence {
				end = cut(rs, start, i+1)
			}
			if end > 0 {
				out = appendTrimmed(out, rs[start:end])
				start, i = end, end-1
			}
		}
		out = appendTrimmed(out, rs[start:])
	}
	return out
}

func appendTrimmed(out []string, rs []rune) []string {
	if s := strings.TrimSpace(string(rs)); s != "" {
		return append(out, s)
	}
	return out
}

// paragraphs cuts at blank lines and before list items, and joins the lines of a paragraph: with a space, or with
// nothing between two Chinese characters.
func paragraphs(text string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	last := rune(0)
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = strings.TrimSpace(line)
		if line == "" {
			flush()
			continue
		}
		if isListItem(line) {
			flush()
		}
		first := []rune(line)[0]
		if b.Len() > 0 && !(wide(last) && wide(first)) {
			b.WriteByte(' ')
		}
		b.WriteString(line)
		rs := []rune(line)
		last = rs[len(rs)-1]
	}
	flush()
	return out
}

func isListItem(line string) bool {
	for _, mark := range []string{"- ", "* ", "• ", "· "} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	rest := line[digits:]
	return digits > 0 && digits <= 2 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// wide reports a Chinese character or Chinese punctuation.
func wide(r rune) bool {
	return isHan(r) || strings.ContainsRune("。，、；：？！「」『』《》（）“”…", r)
}

// sentenceEnd returns where the sentence ends if one ends at rs[i], else 0.
func sentenceEnd(rs []rune, start, i int) int {
	switch rs[i] {
	case '。', '！', '？':
		return closers(rs, i+1)
	case '.', '!', '?':
		if i > start && strings.ContainsRune(".!?", rs[i-1]) {
			return 0 // the first mark of a run has decided
		}
	default:
		return 0
	}
	end := closers(rs, i+1)
	if end == len(rs) {
		return end
	}
	if isHan(rs[end]) && i > start && (isHan(rs[i-1]) || rs[i] != '.') {
		return end
	}
	if !unicode.IsSpace(rs[end]) {
		return 0
	}
	if rs[i] == '.' && (abbreviated(rs, start, i) || numbering(rs[start:i])) {
		return 0
	}
	next := end
	for next < len(rs) && unicode.IsSpace(rs[next]) {
		next++
	}
	if next < len(rs) && unicode.IsLower(rs[next]) {
		return 0
	}
	return end
}

// closers skips further end marks, closing quotation marks and brackets, and citation marks such as [3].
func closers(rs []rune, i int) int {
	for i < len(rs) {
		if strings.ContainsRune("。！？.!?…”’\"')）]】」』》", rs[i]) {
			i++
			continue
		}
		if n := citationMark(rs[i:]); n > 0 {
			i += n
			continue
		}
		break
	}
	return i
}

// citationMark returns the length of a mark such as "[12]" at the start of rs, else 0.
func citationMark(rs []rune) int {
	if len(rs) < 3 || rs[0] != '[' {
		return 0
	}
	n := 1
	for n < len(rs) && n <= 3 && rs[n] >= '0' && rs[n] <= '9' {
		n++
	}
	if n == 1 || n >= len(rs) || rs[n] != ']' {
		return 0
	}
	return n + 1
}

var abbreviations = set("mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "fig", "figs", "no", "nos", "vol", "vols",
	"pp", "p", "ed", "eds", "c", "ca", "cf", "vs", "etc", "approx", "e.g", "i.e", "fl", "b", "d", "dept", "est", "al", "inv",
	"acc", "cat", "ch", "sec", "eq", "op", "cit", "a.d", "b.c", "u.s", "u.k", "a.m", "p.m", "mt", "ft", "in", "cm", "mm", "rev", "gen", "hon")

// unlessCapital are abbreviations that also end sentences: they hold a sentence together only where a number, a
// lower case letter or an opening bracket follows.
var unlessCapital = set("etc", "in", "no", "a.m", "p.m", "a.d", "b.c", "ft", "cm", "mm", "d", "b", "al", "ed", "u.s", "u.k", "est", "rev", "gen", "acc", "cat", "op", "ch", "sec")

// abbreviated reports whether the full stop at rs[i] belongs to an abbreviation or an initial.
func abbreviated(rs []rune, start, i int) bool {
	w := i
	for w > start && (unicode.IsLetter(rs[w-1]) && !isHan(rs[w-1]) || rs[w-1] == '.' || unicode.IsDigit(rs[w-1])) {
		w--
	}
	word := string(rs[w:i])
	if word == "" {
		return false
	}
	next := i + 1
	for next < len(rs) && unicode.IsSpace(rs[next]) {
		next++
	}
	if len([]rune(word)) == 1 && unicode.IsUpper(rs[w]) {
		// An initial is followed by a name; "vitamin C. The" is rarer in a gallery than "R. Penrose".
		return next < len(rs) && unicode.IsUpper(rs[next]) && !startsWithFunctionWord(rs[next:])
	}
	lower := strings.ToLower(word)
	if !abbreviations[lower] {
		return false
	}
	if unlessCapital[lower] {
		return next < len(rs) && (unicode.IsDigit(rs[next]) || unicode.IsLower(rs[next]))
	}
	return true
}

// numbering reports the number of a list item before its full stop.
func numbering(rs []rune) bool {
	for _, r := range rs {
		if r < '0' || r > '9' {
			return false
		}
	}
	return len(rs) > 0 && len(rs) <= 2
}

func startsWithFunctionWord(rs []rune) bool {
	n := 0
	for n < len(rs) && unicode.IsLetter(rs[n]) {
		n++
	}
	return englishStop[strings.ToLower(string(rs[:n]))]
}

// cut finds a place at or before end to cut an overlong sentence: after the last clause mark or space in its second
// half, else at end.
func cut(rs []rune, start, end int) int {
	for i := end; i > start+(end-start)/2; i-- {
		if strings.ContainsRune("，；、,; ", rs[i-1]) {
			return i
		}
	}
	return end
}
