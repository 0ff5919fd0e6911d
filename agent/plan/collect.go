package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"docent/agent/collection"
	"docent/agent/internal/words"
)

// What is asked of the exhibits together. A question is one for the catalogue only where nothing else stands in it:
// "What is the oldest known tiling?" is looked up.
const (
	latinThings = `(?:exhibits?|pictures?|paintings?|images?|prints?|drawings?|works?|art ?works?|pieces?|objects?|items?|things?|artefacts?|artifacts?|ones?)`
	hanThings   = `(?:展品|作品|藏品|画作|图案|画|东西|物件)`
	latinCount  = `(?:two|three|four|five|\d)`
	hanCount    = `(?:[一二两三四五]|\d)`
)

var (
	latinEnd = regexp.MustCompile(`\b(?:the )?(?:(` + latinCount + `) )?(oldest|earliest|most ancient|newest|youngest|latest|most recent)(?: (` + latinCount + `))?(?: (` + latinThings + `))?\b`)
	hanEnd   = regexp.MustCompile(`(?:哪一?(?:件|幅|张|个|些)` + hanThings + `?)?(?:年代|时间)?最(古老|久远|老|早|新|晚|近)(?:的|是哪)?一?(?:(` + hanCount + `)?(?:件|幅|张|个|些))?(` + hanThings + `)?`)
	hanWhich = regexp.MustCompile(`哪|什么|介绍|讲讲|说说|看看?|列出`)

	latinMany = regexp.MustCompile(`\b(?:how many|what is the number of|the number of|number of)(?: different| other)? ` + latinThings)
	hanMany   = regexp.MustCompile(`(?:多少|几)(?:件|幅|张|个)?` + hanThings + `|` + hanThings + `(?:一共|总共|共)?有?(?:多少|几)(?:件|幅|张|个)?|(?:展出|展示|陈列)了?(?:多少|几)(?:件|幅|张|个)`)

	latinList = regexp.MustCompile(`\b(?:which|what|list|show me|all|any(?:thing)?|other|see|have|is)\b`)
	hanList   = regexp.MustCompile(`哪些|有什么|有没有|有.{0,12}吗|哪几|列出|看看?`)
	latinBy   = regexp.MustCompile(`\b(?:by|from|any(?:thing)?|s)\b|'s\b`)

	topicWords = regexp.MustCompile(`\b(?:is|are|was|were|anything|something|works?|pictures?|exhibits?|paintings?|pieces?|ones?) (?:here |on show )?(?:about|on|related to|connected with|to do with)\b|(?:和|与|跟|关于).{1,12}(?:有关|相关)|有关|相关|关于`)

	topicLeft = regexp.MustCompile(`\b(?:about|on|related to|connected with|to do with)\b|和|与|跟|关于|有关|相关`)

	latinSpan = regexp.MustCompile(`\b(?:(before|after|since|until)|from(?: the)?|of the|in the|in|made in|dating from)\s+(?:about |around |the year |the )?(\d{1,2}(?:st|nd|rd|th)[- ]century|(?:[a-z-]+) century|\d{3}0'?s|\d{4})\b`)
	hanSpan   = regexp.MustCompile(`((?:公元前)?\d{1,2}世纪\d0年代|(?:[一二]?十[一二三四五六七八九]?|二十一?|\d{1,2})世纪(?:[二三四五六七八九]十年代)?|\d{3}0年代|\d{4}年|[唐宋元明清]代)(以前|之前|以后|之后)?`)
)

// queryOf reads a question for the catalogue. between says that the way between what it finds is asked for too.
func queryOf(c *Catalogue, r resolved, folded string) (q collection.Query, between, ok bool) {
	if len(r.named) > 0 {
		return q, false, false
	}
	left := folded
	if m := walkBetween.FindString(left); m != "" {
		between, left = true, strings.Replace(left, m, " ", 1)
	}
	named := false // a thing is named: an exhibit, or one of them
	if m := latinEnd.FindStringSubmatch(left); m != nil {
		q.Order, q.N = orderOf(m[2]), count(m[1]+m[3], m[4])
		named = true
		left = strings.Replace(left, m[0], " ", 1)
	} else if m := hanEnd.FindStringSubmatch(left); m != nil && (m[3] != "" || m[2] != "" || strings.Contains(m[0], "哪") || strings.ContainsAny(m[0], "件幅张")) {
		q.Order, q.N = orderOf(m[1]), count(m[2], "")
		named = hanWhich.MatchString(folded) || m[3] != ""
		if q.N == 1 && strings.Contains(folded, "哪些") {
			q.N = fewOf
		}
		left = strings.Replace(left, m[0], " ", 1)
	}
	if m := latinMany.FindString(left); m != "" {
		q.Count, named, left = true, true, strings.Replace(left, m, " ", 1)
	} else if m := hanMany.FindString(left); m != "" {
		q.Count, named, left = true, true, strings.Replace(left, m, " ", 1)
	}
	lists := latinList.MatchString(left) || hanList.MatchString(left)
	left, q.Maker = c.takeMaker(left)
	if q.Maker == "" && topicWords.MatchString(left) {
		if of := interests(c, left); len(of) > 0 {
			q.Topic = slices.MaxFunc(of, func(a, b string) int { return len(a) - len(b) })
			left = topicLeft.ReplaceAllString(strings.Replace(left, q.Topic, " ", 1), " ")
			things := latinThing.MatchString(left) || hanThing.MatchString(left)
			named = named || things
		}
	}
	left = takeSpan(&q, left)
	if r.hall != "" {
		for _, m := range mentions(c.Halls, left) {
			if m.id == r.hall {
				q.Hall, left = r.hall, left[:m.from]+" "+left[m.to:]
				break
			}
		}
	}
	things := latinThing.MatchString(left) || hanThing.MatchString(left)
	if q.Order == "" && !q.Count {
		if q.Maker == "" && q.Topic == "" && q.From == 0 && q.To == 0 || !lists || !things && !((q.Maker != "" || q.Topic != "") && latinBy.MatchString(folded)) {
			return q, false, false
		}
	} else if !named && !things {
		return q, false, false
	}
	return q, between, nothingLeft(left)
}

var (
	latinThing = regexp.MustCompile(`\b` + latinThings + `\b`)
	hanThing   = regexp.MustCompile(hanThings)
)

func orderOf(word string) collection.Order {
	switch word {
	case "newest", "youngest", "latest", "most recent", "新", "晚", "近":
		return collection.Newest
	}
	return collection.Oldest
}

// fewOf is how many of the oldest are told where the plural leaves it open.
const fewOf = 3

func count(digits, things string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	if n := numberWords[digits]; n > 0 {
		return n
	}
	if strings.HasSuffix(things, "s") {
		return fewOf
	}
	return 1
}

// takeSpan takes the time that a question is for out of its text.
func takeSpan(q *collection.Query, text string) string {
	word, time, whole := "", "", ""
	if m := latinSpan.FindStringSubmatch(text); m != nil {
		whole, word, time = m[0], m[1], m[2]
	} else if m := hanSpan.FindStringSubmatch(text); m != nil {
		whole, time, word = m[0], m[1], m[2]
	}
	span, ok := collection.Years(time)
	if !ok {
		return text
	}
	q.From, q.To = span.From, span.To
	switch word {
	case "before", "until", "以前", "之前":
		q.From, q.To = earliest, span.From-1
	case "after", "since", "以后", "之后":
		q.From, q.To = span.To+1, latest
	}
	return strings.Replace(text, whole, " ", 1)
}

// Years that no exhibit is outside of.
const earliest, latest = -1_000_000, 9999

// takeMaker takes a maker's name out of the text. It returns the words of it that stand there; where several makers
// share them, all are meant.
func (c *Catalogue) takeMaker(folded string) (left, name string) {
	for _, e := range c.Exhibits {
		for _, maker := range e.Maker {
			for _, part := range makerNames(words.Fold(maker)) {
				if len(part) > len(name) && len(occurrences(e.ID, folded, part)) > 0 {
					name = part
				}
			}
		}
	}
	if name == "" {
		return folded, ""
	}
	return strings.Replace(folded, name, " ", 1), name
}

var (
	makerAside = regexp.MustCompile(`[(（].*$|^(after|attributed to|workshop of|circle of|follower of|school of|据|传|仿)\s*|\battr\b\.?`)
	makerParts = regexp.MustCompile(`\s*(?:,|;|、|，|与|和| and | detto | o |·)\s*`)
)

// notNames are words of makers' entries that name nobody.
var notNames = wordSet("builders designers medieval islamic world makers instrument chinese lattice century nineteenth unknown anonymous workshop artist school italian french potters kilns royal lord master follower circle")

// makerNames are what a maker is called: the name as it is written, and its words of four letters or more; of a Chinese
// name the parts between its dots.
func makerNames(maker string) []string {
	maker = strings.TrimSpace(makerAside.ReplaceAllString(strings.TrimSpace(maker), ""))
	if maker == "" || notNames[maker] {
		return nil
	}
	out := []string{maker}
	for _, part := range makerParts.Split(maker, -1) {
		if isLatin(part) {
			out = append(out, part)
			ws := words.LatinWords(part)
			for i, w := range ws {
				if len(w) >= 4 && !notNames[w] && !words.IsStop(w) {
					out = append(out, w)
				}
				out = append(out, strings.Join(ws[i:], " ")) // van gogh
			}
		} else if len([]rune(part)) >= 2 {
			out = append(out, part)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return isLatin(s) && (len(s) < 4 || s[0] <= '9') })
}

// What a question for the catalogue may have beside what was taken out.
var (
	collectionLeft = wordSet("tell me about show list gallery museum house collection display see hang hangs hanging made painted created drawn done works work exhibit exhibits picture pictures painting paintings print prints drawing drawings piece pieces object objects item items thing things total altogether here now hall halls room rooms date dates dating come comes go number currently whole place s anything describe explain introduce")
	collectionHan  = regexp.MustCompile(hanThings + `|介绍一下|介绍|讲讲|说说|看看|列出|请问|一下|馆里|馆内|本馆|你们|这里|这儿|展厅|展出|展示|陈列|收藏|一共|总共|哪些|哪几|哪一?|些|什么|多少|几|是|的|有|没有|吗|呢|啊|都|里|中|内|在|件|幅|张|个|最|和|及|以|那|这|馆|厅|共|年代|创作|画|做|制作|由|来自|了|出自`)
)

func nothingLeft(left string) bool {
	for _, w := range words.LatinWords(left) {
		if !collectionLeft[w] && !words.IsStop(w) {
			return false
		}
	}
	left = collectionHan.ReplaceAllString(left, "")
	return !strings.ContainsFunc(left, func(r rune) bool { return r >= 0x2E80 && !strings.ContainsRune("。、，？！", r) })
}
