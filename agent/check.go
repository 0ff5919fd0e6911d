package agent

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"docent/agent/internal/words"
)

// Why a model's words are not used.
var (
	errNoEvidence  = errors.New("the model finds no answer in the evidence")
	errEmpty       = errors.New("the model wrote nothing")
	errLong        = errors.New("the model wrote too much")
	errUncited     = errors.New("the model cited nothing")
	errCitation    = errors.New("the model cited a source that does not exist")
	errUnsupported = errors.New("the model wrote what the evidence does not have")
)

// checker holds a model's sentences against the evidence it was given.
type checker struct {
	evidence int // passages
	numbers  map[string]bool
	dates    map[string]bool
	text     string // of evidence and question, folded, without white space
	words    map[string]bool
}

func newChecker(evidence []item, question string) checker {
	var b strings.Builder
	for _, e := range evidence {
		fmt.Fprintf(&b, "%s\n%s\n%s\n", e.Title, e.Heading, e.Text)
	}
	c := checker{evidence: len(evidence), numbers: words.NumbersIn(b.String()), dates: words.Calendar(b.String()), words: make(map[string]bool)}
	b.WriteString(question)
	c.text = squeeze(b.String())
	for _, w := range words.LatinWords(b.String()) {
		c.words[w] = true
	}
	return c
}

// check reports what is wrong with a sentence: a mark without a source, or a number, month or weekday that does not
// stand in the evidence.
func (c checker) check(sentence string) error {
	if strings.Contains(sentence, noEvidence) {
		return errNoEvidence
	}
	for _, n := range marks(sentence) {
		if n < 1 || n > c.evidence {
			return fmt.Errorf("%w: [%d]", errCitation, n)
		}
	}
	text := bracketed.ReplaceAllString(sentence, "")
	for _, n := range words.Numbers(text) {
		if !c.numbers[n] {
			return fmt.Errorf("%w: the number %s", errUnsupported, n)
		}
	}
	for d := range words.Calendar(text) {
		if !c.dates[d] {
			return fmt.Errorf("%w: %s", errUnsupported, d)
		}
	}
	return c.checkWords(text)
}

var (
	hanPerson  = regexp.MustCompile(`\p{Han}{1,2}·\p{Han}{1,2}`)
	quoted     = regexp.MustCompile(`[“「『《"]([^”」』》"]{3,})[”」』》"]`)
	accession  = regexp.MustCompile(`\b[A-Z]{1,6}[-./ ]?\d[\w./-]*`)
	currency   = regexp.MustCompile(`(?i)\b(yuan|cny|rmb|dollars?|usd|euros?|eur|pounds?|gbp|yen)\b|[$€£¥]|人民币|美元|欧元|英镑|日元`)
	properName = regexp.MustCompile(`\b\p{Lu}\p{Ll}{2,}`)
)

// checkWords reports a name, a quotation, a currency or an accession number that does not stand in the evidence. A
// capitalised word that opens a sentence or a quotation is not taken for a name.
func (c checker) checkWords(sentence string) error {
	for _, re := range []*regexp.Regexp{hanPerson, accession, currency} {
		for _, m := range re.FindAllString(sentence, -1) {
			if !strings.Contains(c.text, squeeze(m)) {
				return fmt.Errorf("%w: %s", errUnsupported, m)
			}
		}
	}
	for _, m := range quoted.FindAllStringSubmatch(sentence, -1) {
		if !strings.Contains(c.text, squeeze(m[1])) {
			return fmt.Errorf("%w: the quotation %s", errUnsupported, m[1])
		}
	}
	for _, at := range properName.FindAllStringIndex(sentence, -1) {
		name := sentence[at[0]:at[1]]
		if opensSentence(sentence[:at[0]]) {
			continue
		}
		for _, w := range words.LatinWords(name) {
			if !c.words[w] && !c.words[strings.TrimSuffix(w, "s")] && !words.IsStop(w) {
				return fmt.Errorf("%w: the name %s", errUnsupported, name)
			}
		}
	}
	return nil
}

// opensSentence reports whether nothing but the end of another sentence or an opening mark stands before.
func opensSentence(before string) bool {
	before = strings.TrimRight(before, " \n\"“‘(")
	return before == "" || strings.ContainsAny(before[len(before)-1:], ".!?:")
}

// squeeze brings spellings into one form, without white space and quotation marks.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("\"“”‘’'", r) {
			return -1
		}
		return r
	}, words.Fold(s))
}

// marks returns the numbers cited in a sentence, in order.
func marks(sentence string) []int {
	var out []int
	for _, m := range bracketed.FindAllStringSubmatch(sentence, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}

var (
	wideMark  = regexp.MustCompile(`【\s*(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\s*】`)
	markList  = regexp.MustCompile(`\[\s*(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\s*\]`)
	separator = regexp.MustCompile(`\s*[,，、]\s*`)
	markup    = regexp.MustCompile("\\*\\*|__|`|(?m)^#{1,6} |^[-*•] ")
)

// tidy brings a model's sentence into the guide's form: marks as [1][2], no markup.
func tidy(sentence string) string {
	sentence = wideMark.ReplaceAllString(sentence, "[$1]")
	sentence = markList.ReplaceAllStringFunc(sentence, func(m string) string {
		inner := strings.TrimSpace(m[1 : len(m)-1])
		return "[" + separator.ReplaceAllString(inner, "][") + "]"
	})
	return strings.TrimSpace(markup.ReplaceAllString(sentence, ""))
}
