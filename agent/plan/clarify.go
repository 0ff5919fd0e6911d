package plan

import (
	"fmt"
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// maxChoices is how many choices a question back has: as many as fit in one row of chips.
const maxChoices = 4

// asks are the questions asked back in one language.
type asks struct {
	which, whichToo, howLong, hall, minutes, route, compareWith, more, moreAbout string
	noDay, openOn, eitherDay                                                     string
	days                                                                         []string
}

var (
	englishAsks = asks{
		which: "Which picture do you mean?", whichToo: "Compare with which picture?", howLong: "How much time do you have?", hall: "Which hall do you mean?",
		minutes: "%d minutes", route: "Plan a route of %d minutes", compareWith: "Compare %s with %s", more: "What would you like to hear about?", moreAbout: "Tell me about %s",
		noDay: "There is no such day as “%s”. Which day do you mean?", openOn: "Are you open %s?", eitherDay: "Which day do you mean by “%s”?", days: []string{"today", "tomorrow", "at the weekend"},
	}
	chineseAsks = asks{
		which: "您指的是哪一幅？", whichToo: "要和哪一幅比较？", howLong: "您有多少时间？", hall: "您指的是哪个展厅？",
		minutes: "%d分钟", route: "请推荐一条%d分钟的参观路线", compareWith: "比较%s和%s", more: "您想听哪一幅的介绍？", moreAbout: "讲讲%s",
		noDay: "没有“%s”这一天。您指的是哪一天？", openOn: "%s开门吗？", eitherDay: "“%s”是哪一天？", days: []string{"今天", "明天", "周末"},
	}
)

func asksIn(language string) asks {
	if language == words.Chinese {
		return chineseAsks
	}
	return englishAsks
}

// missing asks for what a task cannot do without.
func missing(c *Catalogue, in Input, t Template, args Arguments) *Question {
	a := asksIn(in.Language)
	switch {
	case t == Compare && len(args.Exhibits) == 1 && args.Query.Zero():
		q := &Question{Text: a.whichToo}
		one, _ := c.Exhibit(args.Exhibits[0])
		for _, e := range c.near(one.Hall) {
			if e.ID != one.ID && len(q.Choices) < maxChoices {
				title := e.Name.In(in.Language)
				q.Choices = append(q.Choices, Choice{title, fmt.Sprintf(a.compareWith, one.Name.In(in.Language), title)})
			}
		}
		return q
	case t == Route && args.Minutes == 0:
		q := &Question{Text: a.howLong}
		for _, n := range []int{20, 40, 60} {
			q.Choices = append(q.Choices, Choice{fmt.Sprintf(a.minutes, n), withMinutes(in.Question, fmt.Sprintf(a.minutes, n))})
		}
		return q
	}
	return nil
}

// withMinutes puts the time into a question for a route, which may have further wishes.
func withMinutes(question, minutes string) string {
	if words.Detect(question, words.English) == words.Chinese {
		return trimEnd(question) + "，我有" + minutes
	}
	return trimEnd(question) + ", I have " + minutes
}

// near lists exhibits, those of a hall first.
func (c *Catalogue) near(hall string) []Named {
	var here, there []Named
	for _, e := range c.Exhibits {
		if e.Hall == hall {
			here = append(here, e)
		} else {
			there = append(there, e)
		}
	}
	return append(here, there...)
}

var (
	tellMore  = regexp.MustCompile(`^(please )?(tell me( something)?( more)?|more|go on|continue|explain|describe)( please)?[.!]?$|^(再|继续|多)?(讲讲|介绍一下|说说|讲一讲|继续|继续讲|讲解一下|多讲一点|再讲讲)[吧。!]*$`)
	asksOfOne = regexp.MustCompile(`\b(who|when|why|how|what|where|tell|explain|describe|name|made|old)\b|谁|什么|哪|怎么|为什么|多|几|讲|介绍|解释`)
	hanThe    = regexp.MustCompile(`[这那]一?[条幅个棵种]`)
)

// ambiguity asks back where a question points at an exhibit and nobody knows at which.
func ambiguity(c *Catalogue, in Input, r resolved) *Question {
	folded := words.Fold(r.text)
	if len(r.named) > 0 || r.subject != "" || courtesyOf(in.Question) == Outside || len(c.Exhibits) == 0 {
		return nil
	}
	a := asksIn(in.Language)
	if tellMore.MatchString(strings.TrimSpace(folded)) {
		return c.choose(a.more, c.near(in.Hall), in.Language, func(title string) string { return fmt.Sprintf(a.moreAbout, title) })
	}
	if kin := c.kin(folded, in.Language); len(kin) > 1 {
		return c.choose(a.which, kin, in.Language, func(title string) string { return withTitle(r.text, title, in.Language) })
	}
	clean := elsewhere.ReplaceAllString(folded, "")
	work := latinPointer.MatchString(clean) || hanPointer.MatchString(clean)
	if work && asksOfOne.MatchString(folded) && len(DomainsOf(withoutPrice(folded))) == 0 && !practicalWords.MatchString(folded) {
		return c.choose(a.which, c.near(in.Hall), in.Language, func(title string) string { return put(r.text, title, in.Language) })
	}
	return nil
}

// withoutPrice takes out words for prices, which are asked of pictures too.
func withoutPrice(folded string) string { return strings.ReplaceAll(folded, "多少钱", "") }

func (c *Catalogue) choose(text string, of []Named, language string, ask func(title string) string) *Question {
	q := &Question{Text: text}
	for _, e := range of[:min(len(of), maxChoices)] {
		title := e.Name.In(language)
		q.Choices = append(q.Choices, Choice{Label: title, Ask: ask(title)})
	}
	return q
}

// kin are the exhibits of one sort that a question means with "the tiling" or 那条曲线: their titles end alike.
func (c *Catalogue) kin(folded, language string) []Named {
	sorts := make(map[string][]Named)
	for _, e := range c.Exhibits {
		if s := sortOf(words.Fold(e.Name[language])); s != "" {
			sorts[s] = append(sorts[s], e)
		}
	}
	for s, of := range sorts {
		if len(of) < 2 {
			continue
		}
		if isLatin(s) && regexp.MustCompile(`\bthe `+regexp.QuoteMeta(s)+`\b`).MatchString(folded) ||
			!isLatin(s) && hanThe.MatchString(folded) && strings.Contains(hanThe.ReplaceAllString(folded, "\x00"), "\x00"+s) {
			return of
		}
	}
	return nil
}

func sortOf(name string) string {
	if name == "" {
		return ""
	}
	if isLatin(name) {
		at := strings.LastIndex(name, " ")
		if at < 0 {
			return ""
		}
		return name[at+1:]
	}
	rs := []rune(name)
	return string(rs[max(0, len(rs)-2):])
}

// withTitle puts a title where a question has only the sort.
func withTitle(text, title, language string) string {
	s := sortOf(words.Fold(title))
	if language == words.Chinese {
		return replaceFirst(regexp.MustCompile(`[这那]一?[条幅个棵种]`+regexp.QuoteMeta(s)), text, func(string) string { return title })
	}
	return replaceFirst(regexp.MustCompile(`(?i)\bthe `+regexp.QuoteMeta(s)+`\b`), text, func(string) string { return "the " + title })
}
