package agent

import (
	"regexp"
	"slices"
	"strings"

	"docent/agent/internal/words"
)

// generic are English stems that ask without saying for what: they are left out of the focus.
var generic = stemSet("tell know show explain describe say give information info detail fact thing something anything exhibit exhibition " +
	"artwork work piece object picture image gallery museum interesting special important kind type sort look like see want " +
	"understand let learn hear story happen get go need here now today take bring put keep come try start " +
	"possible allow able different call whole main leave occur appear exist really first become people")

// asksDeed are those of them that, after who and when, are what is asked: who described it?
var asksDeed = stemSet("describe explain show work")

// genericWords are generic only in this form: a painting is a thing to ask about, to paint is what to ask.
var genericWords = wordSet("painting paintings use uses used using")

// genericHan are their Chinese counterparts.
var genericHan = strings.Fields("作品 展品 展览 图案馆 馆里 馆内 美术馆 博物馆 展馆 信息 内容 东西 事情 特点 特别 有趣 有意思 故事 解释 说明 详细 了解 看到 看看 " +
	"图片 画面 这件 今天 现在 帮忙 出现 存在 见到 看见 图画 最早 最先 最初 首先 第一个 怎么回事 情况 方面 意义 件事")

// lightVerbs are single Chinese characters that, standing alone between other words, say little: 推 in 推婴儿车.
var lightVerbs = wordSet("推 带 拿 坐 走 买 找 借 放 存 进 出 到 取 玩 见 问 换 拍")

// pointing are words by which a question points at the exhibit in hand or the one last spoken of.
var pointing = wordSet("it its it's this that these those they them their he she his her him such")

var pointingHan = strings.Fields("它 这 那 他 她 此")

// pointsAtWork matches words that can mean the exhibit in hand only, where "it" may mean the house too.
var pointsAtWork = regexp.MustCompile(`\b(this|that|these) (\w+ )?(painting|picture|work|artwork|piece|exhibit|object|drawing|print|image|pattern)s?\b|` +
	`[这那此](一)?(幅|件|张|个(作品|展品|图案|东西))|[这那]画`)

// pointsAtHouse matches words that can mean the house only.
var pointsAtHouse = regexp.MustCompile(`\b(this|the|your) (building|house|place|museum|gallery)\b|这[座栋个](大?楼|房子|建筑|馆|地方|博物馆|美术馆)|本馆|[你贵]们?馆`)

// pointsAtGuide matches questions about the guide itself.
var pointsAtGuide = regexp.MustCompile(`\b(who|what) are you\b|\byour name\b|\bare you (a|an|real|human|alive)\b|\bdo you (like|love|think|feel)\b|[你您](是谁|叫什么|是机器人|是人|喜欢|觉得)`)

// asksNow matches words that bind a question to the present day.
var asksNow = regexp.MustCompile(`\bwhat time is it\b|几点了|\b(today|tonight|tomorrow|yesterday|now|right now|currently|this (week|weekend|morning|afternoon|evening|month|year)|(next|last) (week|month|year)|latest)\b|` +
	`今天|今日|今晚|明天|昨天|现在|目前|本周|这周|周末|这个月|下周|下个月|今年|明年|去年|上周|上个月|最新`)

func stemSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[words.Stem(w)] = true
	}
	return m
}

func wordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// analyse takes a question apart. inHand is the exhibit in hand, "" for none.
func (s *shelf) analyse(text, language, inHand string) question {
	q := question{text: text, language: language, kind: kindOf(text)}
	plain, asked := takePhrases(words.Fold(text))
	var stems []string
	for _, w := range words.LatinWords(plain) {
		if !words.IsStop(w) && !genericWords[w] {
			stems = append(stems, words.Stem(w))
		}
	}
	about, stems, chunks := s.takeNames(stems, words.HanChunks(plain))
	for _, n := range asked {
		q.focus = append(q.focus, s.newUnit(unit{text: n.id, notion: n}, language))
	}
	q.focus = append(q.focus, s.latinUnits(stems, q)...)
	for _, c := range chunks {
		q.focus = append(q.focus, s.hanUnits(c, q)...)
	}
	q.focus = dropRepeats(q.focus)
	if q.kind == kindDefine && q.names() && asksMeaning.MatchString(words.Fold(text)) {
		q.focus = slices.DeleteFunc(q.focus, func(u unit) bool { return u.notion != nil && u.notion.id == "meaning" })
	}
	q.house = slices.ContainsFunc(q.focus, func(u unit) bool { return u.notion != nil && u.notion.house })
	q.about, q.named = about, len(about) > 0
	q.scopes = scopes(q, inHand, pointsAtWork.MatchString(words.Fold(text)), points(text) || s.mentions(inHand, q.focus), asksNow.MatchString(words.Fold(text)))
	if !q.named && inHand != "" && slices.Contains(q.scopes, scopeAbout) {
		q.about = []string{inHand}
	}
	return q
}

// asksMeaning matches questions for what a word means, where the meaning is the kind of the question and not what it is
// about.
var asksMeaning = regexp.MustCompile(`\bmean\b|什么意思|指什么|指的是`)

// mentions reports whether the question has a word of the exhibit's title.
func (s *shelf) mentions(exhibit string, focus []unit) bool {
	for _, n := range s.names {
		if n.exhibit != exhibit {
			continue
		}
		for _, u := range focus {
			if u.notion == nil && u.in(n.terms) {
				return true
			}
		}
	}
	return false
}

// scopes decides where an answer may come from, in the order to try. A question that names or points at an exhibit is
// never answered from another one: a right sentence about the wrong thing is a wrong answer. What is asked of today
// (the weather, the news) is never answered from what is told of the exhibits.
func scopes(q question, inHand string, atWork, points, now bool) []scope {
	switch {
	case pointsAtGuide.MatchString(words.Fold(q.text)), now && len(q.focus) == 0:
		return nil
	case !q.named && pointsAtHouse.MatchString(words.Fold(q.text)):
		return []scope{scopeHouse}
	case q.named, atWork && inHand != "":
		return []scope{scopeAbout}
	case atWork, inHand == "" && points && !q.house && !q.names(): // this painting, it: which?
		return nil
	case q.house && inHand != "" && points:
		return []scope{scopeHouse, scopeAbout}
	case q.house && now:
		return []scope{scopeHouse}
	case q.house && inHand != "":
		return []scope{scopeHouse, scopeAbout, scopeAll}
	case q.house:
		return []scope{scopeHouse, scopeAll}
	case inHand != "" && (points || len(q.focus) == 0):
		return []scope{scopeAbout}
	case now && inHand != "":
		return []scope{scopeAbout, scopeHouse}
	case now:
		return []scope{scopeHouse}
	case inHand != "":
		return []scope{scopeAbout, scopeAll}
	}
	return []scope{scopeAll}
}

// takeNames finds the exhibits named in a question and removes their names from what is left of it.
func (s *shelf) takeNames(stems, chunks []string) (about, restStems, restChunks []string) {
	restStems, restChunks = stems, chunks
	for _, n := range s.named(stems, chunks) {
		if !slices.Contains(about, n.exhibit) {
			about = append(about, n.exhibit)
		}
		if at := indexRun(restStems, n.stems); n.han == "" && at >= 0 {
			restStems = slices.Concat(restStems[:at], restStems[at+len(n.stems):])
		}
		if n.han != "" {
			restChunks = cutOut(restChunks, n.han)
		}
	}
	return about, restStems, restChunks
}

func cutOut(chunks []string, name string) []string {
	var out []string
	for _, c := range chunks {
		for part := range strings.SplitSeq(c, name) {
			if part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// indexRun returns where part stands in all as an unbroken run, else -1.
func indexRun(all, part []string) int {
	if len(part) == 0 {
		return -1
	}
	for i := 0; i+len(part) <= len(all); i++ {
		if slices.Equal(all[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// named returns the titles that stand whole in the question. A title inside a longer one that stands there too
// (Dragon in Dragon Curve) is not named.
func (s *shelf) named(stems, chunks []string) []name {
	var out []name
	for _, n := range s.names {
		if n.han == "" && indexRun(stems, n.stems) >= 0 ||
			len([]rune(n.han)) >= 2 && slices.ContainsFunc(chunks, func(c string) bool { return strings.Contains(c, n.han) }) {
			out = append(out, n)
		}
	}
	return slices.DeleteFunc(slices.Clone(out), func(n name) bool {
		return slices.ContainsFunc(out, func(m name) bool {
			return m.exhibit != n.exhibit && (n.han != "" && m.han != n.han && strings.Contains(m.han, n.han) ||
				n.han == "" && len(m.stems) > len(n.stems) && indexRun(m.stems, n.stems) >= 0)
		})
	})
}

func (s *shelf) latinUnits(stems []string, q question) []unit {
	var out []unit
	for _, stem := range stems {
		if generic[stem] && !(asksDeed[stem] && q.kind.strict()) || q.kind == kindWhere && stem == "find" {
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
	return out
}

// topicShare is what is left of the weight of a word that names a topic (in a title, a maker's name): what is asked
// about the topic has to be found, not the topic alone.
const topicShare = 0.35

// singleShare is what is left of the weight of a single Chinese character: half a word mostly.
const singleShare = 0.5

// newUnit completes a unit by the forms of its notion and its weight: the idf of its commonest form, so that what no
// text has weighs most.
func (s *shelf) newUnit(u unit, language string) unit {
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
	if u.single() {
		u.weight *= singleShare
	}
	if u.notion == nil && s.topics.has(u) {
		u.weight *= topicShare
	}
	return u
}

func dropRepeats(units []unit) []unit {
	var out []unit
	for _, u := range units {
		if !slices.ContainsFunc(out, func(o unit) bool { return o.text == u.text || o.notion != nil && o.notion == u.notion }) {
			out = append(out, u)
		}
	}
	return out
}

// points reports whether the question points at something (it, this, 它, 这) rather than naming it.
func points(text string) bool {
	for _, w := range words.LatinWords(text) {
		if pointing[w] {
			return true
		}
	}
	for _, p := range pointingHan {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// kindOf reads the kind of a question from its question words.
func kindOf(text string) kind {
	folded := whichOne.ReplaceAllString(words.Fold(text), "什么$1")
	padded := " " + strings.Join(words.LatinWords(text), " ") + " "
	for _, k := range kindWords {
		for _, w := range k.english {
			if strings.Contains(padded, " "+w+" ") {
				return k.kind
			}
		}
		for _, w := range k.chinese {
			if strings.Contains(folded, w) {
				return k.kind
			}
		}
	}
	return kindWhat
}

// whichOne matches 哪 with a measure word, which asks for a thing even after 在 (在哪本书里).
var whichOne = regexp.MustCompile(`哪一?([本部座所棵只场项首句条块张件幅层步家间类样段片支枝])`)

// kindWords are looked for in this order: "how many" before "how", 为什么 before 什么.
var kindWords = []struct {
	kind    kind
	english []string
	chinese []string
}{
	{kindHowLong, []string{"how long"}, []string{"多久", "多长"}},
	{kindHowMany, []string{"how many", "how much", "how large", "how big", "how tall", "how far", "number of", "how high"},
		[]string{"多少", "几个", "几种", "几条", "几次", "几块", "几张", "几件", "几层", "几步", "多大", "多高", "多宽"}},
	{kindWhy, []string{"why", "how come", "reason"}, []string{"为什么", "为何", "为啥", "原因", "怎么会"}},
	{kindWhen, []string{"when", "what year", "which year", "what time", "how old", "what date", "what century", "which century"},
		[]string{"什么时候", "何时", "哪一年", "哪年", "几点", "几年", "什么年代", "哪个世纪", "几世纪", "年代"}},
	{kindWho, []string{"who", "whom", "whose", "by whom"}, []string{"谁", "哪位", "什么人", "何人", "哪个人", "作者"}},
	{kindWhere, []string{"where", "which hall", "which room", "which floor", "which country"},
		[]string{"哪里", "哪儿", "何处", "在哪", "哪个厅", "哪个展厅", "几楼", "哪个国家", "什么地方"}},
	{kindDefine, []string{"what is a", "what is an", "what is the", "what are", "what s a", "what s the", "what does", "define", "definition"},
		[]string{"什么是", "是什么", "什么叫", "是啥", "什么意思", "指什么"}},
	{kindHow, []string{"how"}, []string{"怎么", "怎样", "如何"}},
}

// titleOf returns an exhibit's title in the script of a text.
func (s *shelf) titleOf(exhibit, text string) string {
	chinese := words.Detect(text, words.English) == words.Chinese
	title := ""
	for _, n := range s.names {
		if n.exhibit == exhibit && (title == "" || (n.han != "") == chinese) {
			title = n.title
		}
	}
	return title
}
