package agent

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

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
}

func newChecker(evidence []item) checker {
	var b strings.Builder
	for _, e := range evidence {
		fmt.Fprintf(&b, "%s\n%s\n%s\n", e.Title, e.Heading, e.Text)
	}
	return checker{evidence: len(evidence), numbers: words.NumbersIn(b.String()), dates: words.Calendar(b.String())}
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
	return nil
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
