package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"

	"docent/internal/han"
)

// How much a term of a question counts. Chosen by one half of XQuAD's articles, in Chinese and in English; the other
// half gains as much (DESIGN.md).
const (
	unigramWeight  = 0.5 // one Chinese character: it is in the bigrams beside it, too
	askingWeight   = 0.1 // of words that ask (什么, 多少): texts that answer do not have them
	askingEnglish  = 0.3 // the same in English, beyond the stop words: "how many", "what kind of"
	functionWeight = 0.5 // a bigram with a particle (的战, 了多) is an accident of two neighbours
	synonymWeight  = 0.5 // of a word the visitor did not say, but which means what they said
)

// askingChinese are phrases that make a question of a statement.
var askingChinese = []string{
	"什么", "哪", "谁", "多少", "怎么样", "怎么", "怎样", "如何", "为何", "何时", "何地", "何种", "何处", "何人",
	"多久", "多大", "多长", "多高", "多远", "多重", "请问", "是否", "有没有", "几",
}

// afterFew are the characters after 几 with which it does not ask.
const afterFew = "何乎"

// askingEnglishPhrases are the same in English; the words that stand alone (who, when) are stop words already.
var askingEnglishPhrases = []string{
	"how many", "how much", "how long", "how old", "what kind", "what type", "kind of", "type of", "name of",
	"what is the name", "what was the name", "what year", "which year",
}

// particles join Chinese words and belong to none.
const particles = "的了是在被与和吗呢地得于之而"

// weighted is a term of a question and how much it counts.
type weighted struct {
	term   string
	weight float64
	// alone says that the term is a single character, whose absence from a text says nothing.
	alone bool
}

// span is a stretch of bytes.
type span struct{ start, end int }

func (s span) touches(t *analysis.Token) bool { return t.Start < s.end && s.start < t.End }

// terms analyses a question. Every term comes once, in the order of the question.
func terms(question string, a analysis.Analyzer) []weighted {
	folded := han.Simplify(question)
	lower := strings.ToLower(folded)
	asking := phraseSpans(folded, askingChinese)
	var english []span
	if len(lower) == len(folded) { // it is, but for a few letters such as İ
		english = phraseSpans(lower, askingEnglishPhrases)
	}
	var out []weighted
	for _, t := range a.Analyze([]byte(folded)) {
		w := weighted{term: string(t.Term), weight: 1}
		if slices.ContainsFunc(asking, func(s span) bool { return s.touches(t) }) {
			w.weight = askingWeight
		} else if slices.ContainsFunc(english, func(s span) bool { return s.touches(t) }) {
			w.weight = askingEnglish
		}
		switch ideographs(w.term) {
		case 0:
		case 1:
			w.alone = true
			w.weight *= unigramWeight
		default:
			if strings.ContainsAny(w.term, particles) {
				w.weight *= functionWeight
			}
		}
		if i := slices.IndexFunc(out, func(o weighted) bool { return o.term == w.term }); i >= 0 {
			out[i].weight = max(out[i].weight, w.weight)
			continue
		}
		if len(out) < maxTerms {
			out = append(out, w)
		}
	}
	return out
}

// ideographs counts the characters of a term that begins with an ideograph; 0 for any other term.
func ideographs(term string) int {
	r, _ := utf8.DecodeRuneInString(term)
	if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return 0
	}
	return utf8.RuneCountInString(term)
}

// phraseSpans finds where phrases stand in a text. Phrases in letters must be whole words.
func phraseSpans(text string, phrases []string) []span {
	var spans []span
	for _, p := range phrases {
		for from := 0; from < len(text); {
			i := strings.Index(text[from:], p)
			if i < 0 {
				break
			}
			start, end := from+i, from+i+len(p)
			from = end
			if insideWord(text, start) || insideWord(text, end) {
				continue
			}
			if next, _ := utf8.DecodeRuneInString(text[end:]); p == "几" && strings.ContainsRune(afterFew, next) {
				continue
			}
			spans = append(spans, span{start, end})
		}
	}
	return spans
}

// insideWord reports whether position i of text is between two letters of a script with spaces.
func insideWord(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	return spaced(before) && spaced(after)
}

func spaced(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// withSynonyms adds the terms of every phrase that means the same as one in the question.
func withSynonyms(asked []weighted, question string, groups []synonymGroup, a analysis.Analyzer) []weighted {
	if len(groups) == 0 {
		return asked
	}
	folded := fold(question)
	for _, g := range groups {
		if !slices.ContainsFunc(g.folded, func(p string) bool { return len(phraseSpans(folded, []string{p})) > 0 }) {
			continue
		}
		for _, p := range g.phrases {
			for _, t := range terms(p, a) {
				if len(asked) < maxTerms && !slices.ContainsFunc(asked, func(o weighted) bool { return o.term == t.term }) {
					t.weight *= synonymWeight
					t.alone = true // a text need not have it
					asked = append(asked, t)
				}
			}
		}
	}
	return asked
}

// synonymGroup is a list of phrases that mean the same, as written and as they are looked for.
type synonymGroup struct{ phrases, folded []string }

func newSynonymGroups(groups [][]string) []synonymGroup {
	var out []synonymGroup
	for _, g := range groups {
		var s synonymGroup
		for _, p := range g {
			if f := fold(p); f != "" {
				s.phrases = append(s.phrases, p)
				s.folded = append(s.folded, f)
			}
		}
		if len(s.phrases) > 1 {
			out = append(out, s)
		}
	}
	return out
}

func fold(s string) string { return strings.TrimSpace(strings.ToLower(han.Simplify(s))) }
