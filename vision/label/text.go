package label

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Text is what was read on a photo, in the order of reading.
type Text struct {
	Lines []Line
}

// Line is one line of text, its words from left to right.
type Line struct {
	Words []Word
}

// Word is one word, or one or more characters of a script without spaces.
type Word struct {
	Text       string
	Confidence float64 // of the reading, 0 to 1
}

// Limits of a text: a label has some ten lines and 600 letters.
const (
	maxLines = 60
	maxWords = 60   // of a line
	maxWord  = 120  // bytes
	maxText  = 6000 // bytes of all words
)

// String is the text with its lines. Characters of a script without spaces, which tesseract sets apart, are joined.
func (t Text) String() string {
	var b strings.Builder
	for i, l := range t.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		last := ' '
		for _, w := range l.Words {
			first, _ := utf8.DecodeRuneInString(w.Text)
			if last != ' ' && spaced(last) && spaced(first) {
				b.WriteByte(' ')
			}
			b.WriteString(w.Text)
			last, _ = utf8.DecodeLastRuneInString(w.Text)
		}
	}
	return b.String()
}

// Readings the wrong way round give letters, too, but the reader is not sure of them: .24 to .60 on 16 drawn labels that
// were read upside down, .91 to .96 on the same the right way round.
const (
	certainMean    = 0.72
	certainLetters = 3
)

// certain says whether this is a reading the right way round.
func (t Text) certain() bool {
	letters, sure := t.measure()
	return letters >= certainLetters && sure >= certainMean*float64(letters)
}

// weight compares two readings of one photo: what was read, and far more how surely.
func (t Text) weight() float64 {
	letters, sure := t.measure()
	if letters == 0 {
		return 0
	}
	return sure * math.Pow(sure/float64(letters), 3)
}

// measure counts letters and digits, and sums the confidences in them.
func (t Text) measure() (letters int, sure float64) {
	for _, l := range t.Lines {
		for _, w := range l.Words {
			n := len(characters(w.Text))
			letters += n
			sure += float64(n) * w.Confidence
		}
	}
	return letters, sure
}
