package agent

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/agent/internal/words"
	"docent/agent/plan"
)

// asksMeaning matches questions for what a word means, where the meaning is the kind of the question and not what it is
// about.
var asksMeaning = regexp.MustCompile(`\bmean\b|什么意思|指什么|指的是`)

// thisPattern points at an exhibit, where 图案 is nothing to look for.
var thisPattern = regexp.MustCompile(`[这那此](一)?[个幅]图案`)

// analyse takes a question apart. inHand is the exhibit in hand, "" for none.
func (s *shelf) analyse(text, language, inHand string) question {
	q := question{text: text, language: language, kind: kindOf(text)}
	plain, asked := takePhrases(plan.WithoutAudience(thisPattern.ReplaceAllString(words.Fold(text), "它")))
	var stems []string
	for _, w := range words.LatinWords(plain) {
		if !words.IsStop(w) && !genericWords[w] {
			stems = append(stems, words.Stem(w))
		}
	}
	about, stems, chunks := s.takeNames(stems, words.HanChunks(plain))
	q.pairs = s.pairs(stems, plain, len(about) > 0)
	if pointsAtHouse.MatchString(plain) {
		for i, c := range chunks {
			chunks[i] = houseShows.ReplaceAllString(c, " ")
		}
	}
	for _, n := range asked {
		q.focus = append(q.focus, s.newUnit(unit{text: n.id, notion: n}, language))
	}
	q.focus = append(q.focus, s.latinUnits(stems, q)...)
	for _, c := range chunks {
		q.focus = append(q.focus, s.hanUnits(c, q)...)
	}
	q.focus = dropRepeats(q.focus)
	if slices.ContainsFunc(q.focus, func(u unit) bool { return u.notion != nil && u.notion.house }) && q.kind == kindWhere {
		q.focus = slices.DeleteFunc(q.focus, func(u unit) bool { return u.notion != nil && u.notion.id == "hall" }) // 几楼 asks where
	}
	if q.howMade() {
		q.focus[0].stems, q.focus[0].han = slices.Concat(q.focus[0].stems, process.stems), slices.Concat(q.focus[0].han, process.han)
	}
	if q.kind == kindDefine && q.names() && asksMeaning.MatchString(words.Fold(text)) {
		q.focus = slices.DeleteFunc(q.focus, func(u unit) bool { return u.notion != nil && u.notion.id == "meaning" })
	}
	q.house = slices.ContainsFunc(q.focus, func(u unit) bool { return u.notion != nil && u.notion.house })
	q.about, q.named = about, len(about) > 0
	folded := words.Fold(text)
	q.scopes = scopes(q, inHand, pointsAtOne(folded) && (inHand != "" || !worksAll.MatchString(folded)) || inHand != "" && theWork.MatchString(folded), points(text) || s.mentions(inHand, q.focus), asksNow.MatchString(words.Fold(text)))
	if !q.named && inHand != "" && slices.Contains(q.scopes, scopeAbout) {
		q.about = []string{inHand}
	}
	return q
}

// houseShows are the words by which a house is asked what it shows: nothing more is asked.
var houseShows = regexp.MustCompile(`展出|展示|收藏|陈列`)

// process are words for how things are made.
var process = newNotion("process", false, "join fire cut carve cast weave fold print paint mould throw build glaze engrave etch", "接成 拼成 烧成 烧制 刻 铸 织 折 印 涂 雕 拼 捏")

var hanPair = regexp.MustCompile(`(\p{Han}{2}) ?(\d+)`)

// pairs finds a word of a title with a number beside it that no title has: Rule 31, 规则110. A text that has them apart
// from each other tells of something else.
func (s *shelf) pairs(stems []string, plain string, named bool) []*regexp.Regexp {
	var out []*regexp.Regexp
	for i := 1; i < len(stems); i++ {
		if isNumber(stems[i]) && s.topics.stems[stems[i-1]] && !isNumber(stems[i-1]) {
			out = append(out, regexp.MustCompile(`\b`+regexp.QuoteMeta(stems[i-1])+`\w* `+stems[i]+`\b`))
		}
	}
	for _, m := range hanPair.FindAllStringSubmatch(plain, -1) {
		if !named && strings.Contains(s.topics.han.String(), m[1]) {
			out = append(out, regexp.MustCompile(m[1]+` ?`+m[2]+`(\D|$)`))
		}
	}
	return out
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (s *shelf) latinUnits(stems []string, q question) []unit {
	var out []unit
	for _, stem := range stems {
		if generic[stem] && !(asksDeed[stem] && q.kind.strict()) || lightDeed[stem] && q.kind.strict() || q.kind == kindWhere && stem == "find" {
			continue
		}
		out = append(out, s.newUnit(unit{text: stem, stems: append(s.vocabulary.Variants(stem), stem), notion: notionOfStem(stem)}, q.language))
	}
	return out
}

func (s *shelf) hanUnits(chunk string, q question) []unit {
	for _, g := range genericHan {
		chunk = strings.ReplaceAll(chunk, g, " ")
	}
	var out []unit
	for part := range strings.FieldsSeq(chunk) {
		out = append(out, s.hanPartUnits(part, q)...)
	}
	return out
}

func (s *shelf) hanPartUnits(part string, q question) []unit {
	if part == "" || lightVerbs[part] {
		return nil
	}
	if n, word, at := notionIn(part); n != nil {
		u := s.newUnit(unit{text: word, notion: n}, q.language)
		out := append(s.hanPartUnits(part[:at], q), u)
		return append(out, s.hanPartUnits(part[at+len(word):], q)...)
	}
	var out []unit
	for _, b := range s.vocabulary.Segment(part) {
		out = append(out, s.newUnit(unit{text: b, han: []string{b}}, q.language))
	}
	shareLongWords(out)
	return out
}

// furtherPair is what each further pair of a word of more than two characters adds to its weight.
const furtherPair = 0.3

// shareLongWords lowers the weights of pairs that overlap, as those of one long word do (伊斯, 斯坦, 坦布, 布尔): a word
// counts by what it tells, not by how long it is.
func shareLongWords(units []unit) {
	for i := 0; i < len(units); {
		j := i + 1
		for j < len(units) && overlaps(units[j-1].text, units[j].text) {
			j++
		}
		n := float64(j - i)
		for ; i < j; i++ {
			units[i].weight *= (1 + furtherPair*(n-1)) / n
		}
	}
}

func overlaps(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	return last == first
}

// topicShare is what is left of the weight of a word that names a topic (in a title, a maker's name): what is asked
// about the topic has to be found, not the topic alone.
const topicShare = 0.35

// singleShare is what is left of the weight of a single Chinese character: half a word mostly.
const singleShare = 0.5

// newUnit completes a unit by the forms of its notion and its weight: the idf of its commonest form, so that what no
// text has weighs most.
func (s *shelf) newUnit(u unit, language string) unit {
	u.asked = []string{u.text}
	if u.notion != nil {
		u.stems = append(u.stems, u.notion.stems...)
		u.han = append(u.han, u.notion.han...)
	}
	df := 0
	for _, stem := range u.stems {
		df = max(df, s.vocabulary.Stem(stem))
	}
	for _, h := range u.han {
		df = max(df, s.vocabulary.Han(h))
	}
	u.weight = s.vocabulary.IDF(language, df)
	if u.single() && df > 0 {
		u.weight *= singleShare
	}
	if u.notion == nil && s.topics.has(u) {
		u.topic = true
		u.weight *= topicShare
	}
	return u
}

func dropRepeats(units []unit) []unit {
	var out []unit
	for _, u := range units {
		at := slices.IndexFunc(out, func(o unit) bool { return o.text == u.text || o.notion != nil && o.notion == u.notion })
		if at < 0 {
			out = append(out, u)
			continue
		}
		out[at].asked = append(out[at].asked, u.text)
	}
	return out
}
