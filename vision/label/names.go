package label

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Names are what an exhibit's label may call it.
type Names struct {
	Number    string // on the wall, such as 101
	Accession string
	Titles    []string // in all languages
}

// Match says how a text names an exhibit. The zero value is not at all.
type Match struct {
	// Exact says that a title, the number on the wall or the accession number was surely read letter by letter, and
	// stands where a label has it.
	Exact bool
	// Kinds is how many of the three were read so.
	Kinds int
	// Confidence in the reading, 0 to 1; for a title that was read with mistakes, how much of it is right.
	Confidence float64
	// Title is the title that was read, in the letters compared.
	Title string
}

// Likeness of a title read with mistakes to the real one from which it is worth offering, and the least letters of such
// a title: two of ten letters may be wrong.
const (
	likeEnough  = 0.8
	likeLetters = 6
)

// longTitle is how many letters make a title one that no other sentence holds by chance; an ideograph counts for three.
// A shorter one must have its line to itself. That all of so many letters are right says more than how sure the reader was
// of each.
const longTitle = 12

const (
	// sureReading is the least confidence with which a name counts as read: below it a digit may be another one.
	sureReading = 0.8
	// minReading is the least confidence in a name that is worth offering.
	minReading = 0.5
)

// Match compares the text with the names of one exhibit.
func (t Text) Match(n Names) Match {
	lines := make([]letters, 0, len(t.Lines))
	for _, l := range t.Lines {
		lines = append(lines, lettersOf(l))
	}
	var m Match
	take := func(sure float64, ok bool) {
		if ok {
			m.Confidence = max(m.Confidence, sure)
		}
		if ok && (sure >= sureReading || m.Exact && sure >= minReading) { // two names that agree need less each
			m.Exact, m.Kinds = true, m.Kinds+1
		}
	}
	number := characters(n.Number)
	for _, title := range n.Titles {
		wanted := characters(title)
		if sure, ok := findTitle(lines, wanted, number); ok && len(string(wanted)) > len(m.Title) {
			m.Title = string(wanted)
			take(sure, true)
			m.Kinds = min(m.Kinds, 1) // titles in two languages are one kind
		}
	}
	take(findNumber(lines, number, []rune(m.Title)))
	take(findAccession(t, n.Accession))
	if m.Exact {
		return m
	}
	var all []rune
	for _, l := range lines {
		all = append(all, l.runes...)
	}
	for _, title := range n.Titles {
		wanted := characters(title)
		if like := likeness(wanted, all); len(wanted) >= likeLetters && like >= likeEnough && like > m.Confidence {
			m.Confidence, m.Title = like, string(wanted)
		}
	}
	return m
}

// letters are the letters and digits of a line, each with the confidence of its word.
type letters struct {
	runes  []rune
	sure   []float64
	begins []bool // whether a word begins here
}

func lettersOf(lines ...Line) letters {
	var out letters
	for _, line := range lines {
		for _, w := range line.Words {
			for _, part := range strings.FieldsFunc(w.Text, func(r rune) bool { return !isCharacter(r) && !unicode.IsMark(r) }) {
				before := rune(0)
				for _, r := range characters(part) {
					out.runes, out.sure = append(out.runes, r), append(out.sure, w.Confidence)
					out.begins = append(out.begins, before == 0 || !spaced(r) || !spaced(before))
					before = r
				}
			}
		}
	}
	return out
}

func (l letters) join(next letters) letters {
	return letters{
		runes: slices.Concat(l.runes, next.runes), sure: slices.Concat(l.sure, next.sure), begins: slices.Concat(l.begins, next.begins),
	}
}

// cut returns l without the first from and after the first to letters.
func (l letters) cut(from, to int) letters {
	return letters{runes: l.runes[from:to], sure: l.sure[from:to], begins: l.begins[from:to]}
}

// whole says whether the letters from one place to another are whole words.
func (l letters) whole(from, to int) bool {
	return l.begins[from] && (to == len(l.runes) || l.begins[to])
}

// trim takes a word off both ends, where it stands there.
func (l letters) trim(word []rune) letters {
	n := len(word)
	if n == 0 {
		return l
	}
	if len(l.runes) > n && slices.Equal(l.runes[:n], word) && l.whole(0, n) {
		l = l.cut(n, len(l.runes))
	}
	if end := len(l.runes); end > n && slices.Equal(l.runes[end-n:], word) && l.whole(end-n, end) {
		l = l.cut(0, end-n)
	}
	return l
}

// findTitle looks for a title that has a line, or up to three lines, to itself but for the number, or that is long.
func findTitle(lines []letters, title, number []rune) (sure float64, ok bool) {
	if len(title) == 0 || weightOf(title) < minTitle {
		return 0, false
	}
	for i := range lines {
		l := lines[i]
		for j := i; j < min(i+3, len(lines)); j++ {
			if j > i {
				l = l.join(lines[j])
			}
			if weightOf(title) < longTitle {
				if own := l.trim(number); slices.Equal(own.runes, title) {
					return mean(own.sure), true
				}
				continue
			}
			for from := 0; from+len(title) <= len(l.runes); from++ {
				if slices.Equal(l.runes[from:from+len(title)], title) && l.whole(from, from+len(title)) {
					return (1 + mean(l.sure[from:from+len(title)])) / 2, true
				}
			}
		}
	}
	return 0, false
}

// minTitle is the least weight of a title: two ideographs, or three letters.
const minTitle = 3

func weightOf(title []rune) int {
	n := 0
	for _, r := range title {
		if spaced(r) {
			n++
		} else {
			n += 3
		}
	}
	return n
}

// numberWords stand beside a number on a label, as compared.
var numberWords = [][]rune{
	[]rune("no"), []rune("nr"), []rune("number"), []rune("exhibit"), []rune("label"), []rune("编号"), []rune("展品"), []rune("作品"),
	[]rune("第"), []rune("号"), []rune("件"),
}

// findNumber looks for a line that holds the number and nothing else but the title and words such as "No.".
func findNumber(lines []letters, number, title []rune) (sure float64, ok bool) {
	if len(number) == 0 {
		return 0, false
	}
	for _, l := range lines {
		if len(title) > 0 {
			l = l.trim(title)
		}
		for range 3 { // 展品编号101号
			for _, w := range numberWords {
				if slices.Equal(l.runes, number) {
					return slices.Min(l.sure), true
				}
				l = l.trim(w)
			}
		}
	}
	return 0, false
}

// findAccession looks for an accession number with its points and dashes, as a word of its own. One without a digit, or
// of fewer than four characters, may be anything.
func findAccession(t Text, accession string) (sure float64, ok bool) {
	wanted := squeezed(accession)
	if len(wanted) < 4 || !strings.ContainsFunc(wanted, unicode.IsDigit) {
		return 0, false
	}
	for _, l := range t.Lines {
		for i := range l.Words {
			text, least := "", 1.0
			for _, w := range l.Words[i:] {
				text += squeezed(w.Text)
				least = min(least, w.Confidence)
				if strings.TrimFunc(text, func(r rune) bool { return !isCharacter(r) }) == wanted {
					return least, true
				}
				if len(text) > len(wanted)+4 {
					break
				}
			}
		}
	}
	return 0, false
}

// squeezed is a text without spaces, alike in width and case.
func squeezed(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(norm.NFKC.String(s)), ""))
}

// likeness is how much of wanted stands somewhere in text: 1 for all of it, less by its share of letters that have to be
// changed, left out or added (Sellers, "The theory and computation of evolutionary distances", 1980).
func likeness(wanted, text []rune) float64 {
	if len(wanted) == 0 {
		return 0
	}
	above := make([]int, len(text)+1) // a match may begin anywhere at no cost
	row := make([]int, len(text)+1)
	for i, w := range wanted {
		row[0] = i + 1
		for j, r := range text {
			cost := above[j]
			if w != r {
				cost++
			}
			row[j+1] = min(cost, above[j+1]+1, row[j]+1)
		}
		above, row = row, above
	}
	return max(0, 1-float64(slices.Min(above))/float64(len(wanted)))
}

// characters are the letters and digits of a text, alike in width and case and without accents, which readers of another
// language leave out.
func characters(s string) []rune {
	var out []rune
	for _, r := range strings.ToLower(norm.NFKD.String(s)) {
		if isCharacter(r) {
			out = append(out, r)
		}
	}
	return out
}

func isCharacter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// spaced says whether a letter belongs to a script that sets its words off by spaces.
func spaced(r rune) bool {
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
