package agent

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	errMiscited    = errors.New("the model cited a source that does not have it")
	errWithheld    = errors.New("most of what the model wrote was withheld")
)

// correctable reports whether a sentence with that fault may be written again.
func correctable(err error) bool {
	return errors.Is(err, errUnsupported) || errors.Is(err, errMiscited) || errors.Is(err, errCitation)
}

// faultKind names a fault in the trace.
func faultKind(err error) string {
	switch {
	case errors.Is(err, errWithheld):
		return "mostly"
	case errors.Is(err, errUnsupported):
		return "unsupported"
	case errors.Is(err, errMiscited):
		return "miscited"
	case errors.Is(err, errCitation):
		return "citation"
	}
	return "uncited"
}

// checker holds a model's sentences against the evidence it was given.
type checker struct {
	sources []figures // of each piece of evidence
	all     figures
	text    string // of evidence and question, folded, without white space
	words   map[string]bool
}

// figures are the numbers, months and weekdays of a text.
type figures struct{ numbers, dates map[string]bool }

func figuresIn(text string) figures {
	return figures{numbers: words.NumbersIn(text), dates: words.Calendar(text)}
}

func newChecker(evidence []item, question string) checker {
	var b strings.Builder
	c := checker{words: make(map[string]bool)}
	for _, e := range evidence {
		text := fmt.Sprintf("%s\n%s\n%s\n", e.Title, e.Heading, e.Text)
		c.sources = append(c.sources, figuresIn(text))
		b.WriteString(text)
	}
	c.all = figuresIn(b.String())
	b.WriteString(question)
	c.text = squeeze(b.String())
	for _, w := range words.LatinWords(b.String()) {
		c.words[w] = true
	}
	return c
}

// check reports what is wrong with a sentence: a mark without a source, or a number, month or weekday that does not
// stand in the evidence, or not in the sources that the sentence cites; or a name or quotation from nowhere.
func (c checker) check(sentence string) error {
	if strings.Contains(sentence, noEvidence) {
		return errNoEvidence
	}
	cited := marks(sentence)
	for _, n := range cited {
		if n < 1 || n > len(c.sources) {
			return fmt.Errorf("%w: [%d]", errCitation, n)
		}
	}
	text := bracketed.ReplaceAllString(sentence, "")
	for _, n := range words.Numbers(text) {
		if err := c.stands(cited, "the number "+n, func(f figures) bool { return f.numbers[n] }); err != nil {
			return err
		}
	}
	for d := range words.Calendar(text) {
		if err := c.stands(cited, d, func(f figures) bool { return f.dates[d] }); err != nil {
			return err
		}
	}
	return c.checkWords(text)
}

// stands reports a figure that the evidence does not have, or the cited sources do not.
func (c checker) stands(cited []int, name string, has func(figures) bool) error {
	switch {
	case !has(c.all):
		return fmt.Errorf("%w: %s", errUnsupported, name)
	case len(cited) > 0 && !slices.ContainsFunc(cited, func(n int) bool { return has(c.sources[n-1]) }):
		return fmt.Errorf("%w: %s", errMiscited, name)
	}
	return nil
}

var (
	hanPerson  = regexp.MustCompile(`\p{Han}{1,2}·\p{Han}{1,2}`)
	quoted     = regexp.MustCompile(`[“「『《"]([^”」』》"]{3,})[”」』》"]`)
	accession  = regexp.MustCompile(`\b[A-Z]{1,6}[-./ ]?\d[\w./-]*`)
	currency   = regexp.MustCompile(`(?i)\b(yuan|cny|rmb|dollars?|usd|euros?|eur|pounds?|gbp|yen)\b|[$€£¥]|人民币|美元|欧元|英镑|日元`)
	properName = regexp.MustCompile(`\b\p{Lu}\p{Ll}{2,}`)
	// doing follows the name of somebody who did something, where a name opens the sentence.
	doing = regexp.MustCompile(`^(?:[’']s)? (?:was|is|had|has|first|later|also|found|made|drew|wrote|built|gave|saw|showed|proved|thought|taught|\p{Ll}{3,}ed)\b`)
)

// nobodys open sentences as names do, and are none.
var nobodys = wordSet("nobody everybody somebody someone everyone everything nothing something another mathematics today later")

// checkWords reports a name, a quotation, a currency or an accession number that does not stand in the evidence. A
// capitalised word that opens a sentence or a quotation is taken for a name only where a deed follows it.
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
		if opensSentence(sentence[:at[0]]) && (strings.HasSuffix(name, "s") || nobodys[strings.ToLower(name)] || !doing.MatchString(sentence[at[1]:])) {
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
