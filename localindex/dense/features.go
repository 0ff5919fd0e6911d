package dense

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"docent/internal/han"
)

// How much a feature counts beside a whole word. Parts of words bring together what no stemmer does (crystal,
// crystalline) and what is misspelt.
const (
	wordWeight    = 1
	partWeight    = 0.5 // three or four letters of a word, its ends marked
	bigramWeight  = 1   // two Chinese characters
	unigramWeight = 0.5 // one
)

// MaxRunes is how much of a text is looked at.
const MaxRunes = 20_000

// features counts the features of a text, each by its hash.
func features(text string) map[uint64]float32 {
	found := make(map[uint64]float32)
	text = han.Simplify(strings.ToLower(norm.NFKC.String(clip(text, MaxRunes))))
	var word []rune
	var last rune // the ideograph before, if it is a neighbour
	flush := func() {
		if len(word) > 0 {
			addWord(found, word)
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			found[hash('u', r)] += unigramWeight
			if last != 0 {
				found[hash('b', last, r)] += bigramWeight
			}
			last = r
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			word = append(word, r)
		default:
			flush()
		}
		last = 0
	}
	flush()
	return found
}

// maxWord is the longest word whose parts are looked at; what is longer is no word.
const maxWord = 40

func addWord(found map[uint64]float32, word []rune) {
	found[hash('w', word...)] += wordWeight
	if len(word) > maxWord {
		return
	}
	marked := make([]rune, 0, len(word)+2)
	marked = append(append(append(marked, '^'), word...), '$')
	for _, n := range []int{3, 4} {
		for i := 0; i+n <= len(marked); i++ {
			found[hash('p', marked[i:i+n]...)] += partWeight
		}
	}
}

// hash is FNV-1a over a kind of feature and its characters, four bytes each.
func hash(kind byte, runes ...rune) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := (uint64(offset) ^ uint64(kind)) * prime
	for _, r := range runes {
		for shift := 0; shift < 32; shift += 8 {
			h = (h ^ uint64(byte(r>>shift))) * prime
		}
	}
	return h
}

// clip cuts a text after n runes.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
