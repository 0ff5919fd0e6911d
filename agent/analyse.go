package agent

import (
	"slices"
	"strings"

	"docent/agent/internal/words"
)

// generic are English stems that ask without saying for what: they are left out of the focus.
var generic = stemSet("tell know show explain describe say give information info detail fact thing something anything exhibit exhibition " +
	"artwork work piece object picture image gallery museum interesting special important kind type sort look like see want " +
	"mean understand let learn hear story happen get go help need visit visitor here now today")

// genericHan are their Chinese counterparts.
var genericHan = strings.Fields("作品 展品 展览 图案馆 美术馆 博物馆 展馆 信息 内容 东西 事情 特点 特别 有趣 有意思 故事 解释 说明 详细 了解 看到 看看 " +
	"图片 画面 这件 今天 现在 帮忙 图画 怎么回事 情况 方面 意义 件事")

// pointing are words by which a question points at the exhibit in hand or the one last spoken of.
var pointing = wordSet("it its it's this that these those they them their he she his her him there")

var pointingHan = strings.Fields("它 这 那 他 她 此")

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
	latin := words.LatinWords(text)
	chunks := words.HanChunks(text)

	var stems []string
	for _, w := range latin {
		if !words.IsStop(w) {
			stems = append(stems, words.Stem(w))
		}
	}
	q.about, stems, chunks = s.takeNames(stems, chunks)
	q.named = len(q.about) > 0
	q.focus = s.latinUnits(stems, q)
	for _, c := range chunks {
		q.focus = append(q.focus, s.hanUnits(c, q)...)
	}
	q.focus = dropRepeats(q.focus)
	for _, u := range q.focus {
		if u.notion != nil {
			q.domains = append(q.domains, u.notion.domains...)
		}
	}
	if len(q.about) == 0 && inHand != "" && len(q.domains) == 0 && (len(q.focus) == 0 || points(text)) {
		q.about = []string{inHand}
	}
	return q
}

// takeNames finds the exhibits named in a question and removes their names from what is left of it.
func (s *shelf) takeNames(stems, chunks []string) (about, restStems, restChunks []string) {
	restStems, restChunks = stems, chunks
	named := s.named(stems, chunks)
	for _, n := range named {
		if !slices.Contains(about, n.exhibit) {
			about = append(about, n.exhibit)
		}
		restStems = slices.DeleteFunc(slices.Clone(restStems), func(w string) bool { return slices.Contains(n.stems, w) })
		if n.han != "" {
			var cut []string
			for _, c := range restChunks {
				for part := range strings.SplitSeq(c, n.han) {
					if part != "" {
						cut = append(cut, part)
					}
				}
			}
			restChunks = cut
		}
	}
	return about, restStems, restChunks
}

// named returns the titles that stand in the question whole. A title inside a longer one that stands there too
// (Dragon in Dragon Curve) is not named.
func (s *shelf) named(stems, chunks []string) []name {
	var out []name
	for _, n := range s.names {
		hanHit := n.han != "" && len([]rune(n.han)) >= 2 && slices.ContainsFunc(chunks, func(c string) bool { return strings.Contains(c, n.han) })
		latinHit := len(n.stems) > 0 && n.han == "" && containsAll(stems, n.stems)
		if hanHit || latinHit {
			out = append(out, n)
		}
	}
	return slices.DeleteFunc(slices.Clone(out), func(n name) bool {
		return slices.ContainsFunc(out, func(m name) bool {
			return m.exhibit != n.exhibit && (n.han != "" && m.han != n.han && strings.Contains(m.han, n.han) ||
				n.han == "" && len(m.stems) > len(n.stems) && containsAll(m.stems, n.stems))
		})
	})
}

func containsAll(all, part []string) bool {
	for _, p := range part {
		if !slices.Contains(all, p) {
			return false
		}
	}
	return true
}

func (s *shelf) latinUnits(stems []string, q question) []unit {
	var out []unit
	for _, stem := range stems {
		if generic[stem] || q.kind == kindWhere && stem == "find" {
			continue
		}
		u := unit{text: stem, stems: s.vocabulary.Variants(stem), notion: notionOfStem(stem)}
		if u.notion != nil {
			u.stems = append(u.stems, u.notion.stems...)
			u.han = u.notion.han
		}
		u.weight = s.weight(u, q.language)
		out = append(out, u)
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
	if part == "" {
		return nil
	}
	if n, word, at := notionIn(part); n != nil {
		u := unit{text: word, han: n.han, stems: n.stems, notion: n}
		u.weight = s.weight(u, q.language)
		out := append(s.hanPartUnits(part[:at], q), u)
		return append(out, s.hanPartUnits(part[at+len(word):], q)...)
	}
	var out []unit
	for _, b := range s.vocabulary.Segment(part) {
		u := unit{text: b, han: []string{b}}
		u.weight = s.weight(u, q.language)
		out = append(out, u)
	}
	return out
}

// weight is the idf of the unit's commonest form; a unit that no text has weighs most.
func (s *shelf) weight(u unit, language string) float64 {
	df := 0
	for _, stem := range u.stems {
		df = max(df, s.vocabulary.Stem(stem))
	}
	for _, h := range u.han {
		df = max(df, s.vocabulary.Bigram(h))
	}
	return s.vocabulary.IDF(language, df)
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
	folded := words.Fold(text)
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

// kindWords are looked for in this order: "how many" before "how", 为什么 before 什么.
var kindWords = []struct {
	kind    kind
	english []string
	chinese []string
}{
	{kindHowMany, []string{"how many", "how much", "how large", "how big", "how long", "how tall", "how far", "number of", "how high"},
		[]string{"多少", "几个", "几种", "几条", "几次", "几块", "几张", "几件", "几层", "几步", "多大", "多长", "多高", "多宽", "多久"}},
	{kindWhy, []string{"why", "how come", "reason"}, []string{"为什么", "为何", "为啥", "原因", "怎么会"}},
	{kindWhen, []string{"when", "what year", "which year", "what time", "how old", "what date", "what century", "which century"},
		[]string{"什么时候", "何时", "哪一年", "哪年", "几点", "几年", "什么年代", "哪个世纪", "几世纪", "年代", "多久以前"}},
	{kindWho, []string{"who", "whom", "whose", "by whom"}, []string{"谁", "哪位", "什么人", "何人", "哪个人", "作者"}},
	{kindWhere, []string{"where", "which hall", "which room", "which floor", "which country"},
		[]string{"哪里", "哪儿", "何处", "在哪", "哪个厅", "哪个展厅", "几楼", "哪个国家", "什么地方"}},
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
