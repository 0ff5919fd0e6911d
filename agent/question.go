package agent

import (
	"regexp"
	"slices"
	"strings"

	"docent/agent/internal/words"
)

// unit is one thing a question asks for: a word, a pair of Chinese characters, or a notion with its words in both
// languages. Evidence covers it where any of its forms stands.
type unit struct {
	text   string   // as asked
	asked  []string // a notion's words that were asked with
	stems  []string // any of these Latin stems
	han    []string // any of these Chinese strings
	weight float64  // how much it tells: idf over the gallery's texts
	topic  bool     // it is a word of a title or a maker's name
	notion *notion
}

// in reports whether the text has the unit.
func (u unit) in(t words.Terms) bool {
	for _, s := range u.stems {
		if t.Stems[s] > 0 {
			return true
		}
	}
	for _, h := range u.han {
		if strings.Contains(t.Han, h) {
			return true
		}
	}
	return false
}

// of reports whether the unit is a notion.
func (u unit) of(notion string) bool { return u.notion != nil && u.notion.id == notion }

// worded reports whether a sentence's passage or heading has one of the words that a notion was asked with, where that is
// known.
func (u unit) worded(c *candidate) bool {
	w := unit{stems: u.asked, han: u.asked}
	return len(u.asked) == 0 || w.in(c.passage.terms) || w.in(c.passage.title)
}

// makerLine and dateLine match the sentences of the catalogue facts that tell the maker and the date.
var (
	makerLine = regexp.MustCompile(`^(Maker: |作者：)`)
	dateLine  = regexp.MustCompile(`^(Date: |年代：)`)

	materialLine  = regexp.MustCompile(`^(Materials: |材质：)`)
	catalogueLine = regexp.MustCompile(`^(Maker|Date|Materials|Credit|Its accession number)|^(作者|年代|材质|来源|藏品编号)：`)
)

// question is a question taken apart.
type question struct {
	text     string
	language string
	kind     kind
	about    []string // the exhibits it names, or the one in hand where it may be about that
	named    bool     // about were named in words, not pointed at
	focus    []unit   // what it asks, without the names of the exhibits it is about
	house    bool     // it asks for something of the house: hours, tickets, toilets
	scopes   []scope
	pairs    []*regexp.Regexp // a word of a title and a number that is not its own, which must stand together: rule 31
}

// only reports whether the question asks for these notions and nothing else.
func (q question) only(ids ...string) bool {
	return len(q.focus) > 0 && !slices.ContainsFunc(q.focus, func(u unit) bool { return u.notion == nil || !slices.Contains(ids, u.notion.id) })
}

// asksHouse reports whether the question is what the house is, and nothing more.
func (q question) asksHouse() bool {
	return len(q.focus) == 0 && !q.named && (q.kind == kindWhat || q.kind == kindDefine) && slices.Equal(q.scopes, []scope{scopeHouse}) &&
		pointsAtHouse.MatchString(words.Fold(q.text))
}

// howMade reports whether the question is how an exhibit was made, and not by whom.
func (q question) howMade() bool { return q.kind == kindHow && q.only("make") }

// withWork reports whether the question is what visitors may do with an exhibit, which the house tells.
func (q question) withWork() bool {
	return q.notion("touch") || q.notion("photography") || q.notion("shop")
}

// names reports whether the question has a word of its own, beside notions that can be asked of anything.
func (q question) names() bool {
	return slices.ContainsFunc(q.focus, func(u unit) bool { return u.notion == nil })
}

// hasName reports whether a text has such a word of the question.
func (q question) hasName(t words.Terms) bool {
	return slices.ContainsFunc(q.focus, func(u unit) bool { return u.notion == nil && u.in(t) })
}

// sameSubject reports whether a passage may answer a question for a person, time, place or number: where the question has
// words of titles or makers' names, the passage, its headings or keywords have one of them at least. When Mandelbrot was
// born is not answered by when others were.
func (q question) sameSubject(p *passage) bool {
	if !q.kind.strict() {
		return true
	}
	asked := false
	for _, u := range q.focus {
		if !u.topic {
			continue
		}
		if u.in(p.terms) || u.in(p.title) || u.in(p.keywords) {
			return true
		}
		asked = true
	}
	return !asked
}

// asksPerson matches words for somebody: what else he did is not what the exhibit is.
var asksPerson = regexp.MustCompile(`\b(he|she)\b|[他她](还|是|做|们)`)

// overview reports whether the question asks for nothing but an exhibit itself.
func (q question) overview() bool {
	return len(q.focus) == 0 && len(q.about) > 0 && !asksPerson.MatchString(words.Fold(q.text)) && (q.kind == kindWhat || q.kind == kindHow || q.kind == kindDefine)
}

// vague reports whether it is no question and has nothing but single Chinese characters to go by, which stand in any
// text as parts of other words (爱 in 爱德华).
func (q question) vague() bool {
	return q.kind == kindWhat && len(q.focus) > 0 && !slices.ContainsFunc(q.focus, func(u unit) bool { return !u.single() })
}

// single reports whether the unit is a single Chinese character.
func (u unit) single() bool {
	return u.notion == nil && len(u.stems) == 0 && len(u.han) == 1 && len([]rune(u.han[0])) == 1
}

// weightIn is the weight of what is asked that a text has.
func (q question) weightIn(t words.Terms) float64 {
	sum := 0.0
	for _, u := range q.focus {
		if u.in(t) {
			sum += u.weight
		}
	}
	return sum
}

// asksFacts reports whether the question asks for what a catalogue tells: maker, date, place, materials, size.
func (q question) asksFacts() bool {
	switch q.kind {
	case kindWho, kindWhen, kindWhere:
		return true
	}
	return q.notion("make") || q.notion("material") || q.notion("size") || q.notion("hall")
}

// asksCatalogue reports whether a sentence is the catalogue's maker or date of the exhibit the question is about, and the
// question asks for nothing else: who made it, what year.
func (q question) asksCatalogue(c *candidate) bool {
	if !c.passage.facts() || !slices.Contains(q.about, c.passage.section.Exhibit) {
		return false
	}
	if q.notion("material") && q.only("make", "material") && q.kind != kindWhy && !q.kind.strict() {
		return materialLine.MatchString(c.text)
	}
	if len(q.focus) > 0 && !q.only("make") && !(q.kind == kindWhen && q.only("make", "discover")) {
		return false
	}
	switch q.kind {
	case kindWho:
		return makerLine.MatchString(c.text)
	case kindWhen:
		return dateLine.MatchString(c.text)
	}
	return false
}

// notion reports whether the question asks for a notion.
func (q question) notion(id string) bool {
	for _, u := range q.focus {
		if u.notion != nil && u.notion.id == id {
			return true
		}
	}
	return false
}

// weight is the sum of the weights of what is asked.
func (q question) weight() float64 {
	sum := 0.0
	for _, u := range q.focus {
		sum += u.weight
	}
	return sum
}
