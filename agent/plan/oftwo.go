package plan

import (
	"regexp"
	"strings"

	"docent/agent/collection"
	"docent/agent/internal/words"
)

// What picks one of two exhibits that the question before named: "Who made the older one?", 后者在哪里？
var (
	latinOfTwo = regexp.MustCompile(`(?i)\bthe (older|earlier|newer|younger|later|first|second|former|latter|other)(?: one| (?:picture|painting|pattern|work|exhibit)| of (?:them|the two))\b|\bthe (older|earlier|newer|younger|later|former|latter|other)\W*$`)
	hanOfTwo   = regexp.MustCompile(`(更早|更老|更古老|较早|早|老|更晚|较晚|更新|晚|新|前|后)的那?一?[个幅件]|(第一|第二|另一)[个幅件]|(前|后)者`)
)

// pickOfTwo puts the name of the exhibit that is picked into a question. It leaves the question as it is where the one before did
// not name two, or where it is not known which of them is meant.
func pickOfTwo(c *Catalogue, in Input) string {
	if len(in.History) == 0 {
		return in.Question
	}
	re := latinOfTwo
	if in.Language == words.Chinese {
		re = hanOfTwo
	}
	m := re.FindStringSubmatch(in.Question)
	if m == nil {
		return in.Question
	}
	last := in.History[len(in.History)-1:]
	two := lastSubjects(c, last, 2)
	if len(two) == 1 && in.Exhibit != "" && two[0] != in.Exhibit && compareWords.MatchString(words.Fold(last[0].Question)) {
		two = []string{in.Exhibit, two[0]}
	}
	if len(two) != 2 {
		return in.Question
	}
	picked := picks(c, two, strings.ToLower(strings.Join(m[1:], "")), in.Exhibit)
	e, ok := c.Exhibit(picked)
	if !ok {
		return in.Question
	}
	name := e.Name.In(in.Language)
	if in.Language != words.Chinese {
		name = "the " + name
	}
	return replaceFirst(re, in.Question, func(m string) string {
		return name + m[len(strings.TrimRight(m, "?!.… ")):]
	})
}

// picks is the one of two exhibits that a word picks, "" where it is not known.
func picks(c *Catalogue, two []string, word, inHand string) string {
	switch word {
	case "first", "former", "前", "第一":
		return two[0]
	case "second", "latter", "后", "第二":
		return two[1]
	case "other", "另一":
		for i, id := range two {
			if id == inHand {
				return two[1-i]
			}
		}
		return ""
	}
	a, okA := c.years(two[0])
	b, okB := c.years(two[1])
	if !okA || !okB || a == b || a.From < b.From && a.To > b.To || a.From > b.From && a.To < b.To {
		return ""
	}
	older := 0
	if b.From < a.From {
		older = 1
	}
	switch word {
	case "newer", "younger", "later", "更晚", "较晚", "更新", "晚", "新":
		return two[1-older]
	}
	return two[older]
}

// years are when an exhibit dates from.
func (c *Catalogue) years(id string) (collection.Span, bool) {
	e, ok := c.Exhibit(id)
	if !ok {
		return collection.Span{}, false
	}
	return e.Years, e.Years != collection.Span{}
}
