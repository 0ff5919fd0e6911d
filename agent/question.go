package agent

import (
	"strings"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// kind is what a question wants to hear about.
type kind string

const (
	kindWhat    kind = "what"
	kindWho     kind = "who"
	kindWhen    kind = "when"
	kindWhere   kind = "where"
	kindHowMany kind = "how_many"
	kindWhy     kind = "why"
	kindHow     kind = "how"
)

// unit is one thing a question asks for: a word, a pair of Chinese characters, or a notion with its words in both
// languages. Evidence covers it where any of its forms stands.
type unit struct {
	text   string   // as asked, for the search and for traces
	stems  []string // any of these Latin stems
	han    []string // any of these Chinese strings
	weight float64  // how much it tells: idf over the gallery's texts
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

// question is a question taken apart.
type question struct {
	text     string
	language string
	kind     kind
	// about are the exhibits it is about, because it names them or points at the one in hand; evidence must come
	// from them. Empty: it is about anything in the gallery.
	about []string
	named bool   // about were named in words, not pointed at
	focus []unit // what it asks, without the names of the exhibits it is about
	// domains are the kinds of text that its notions belong to; empty means any.
	domains []gallery.Domain
}

// weight is the sum of the weights of what is asked.
func (q question) weight() float64 {
	sum := 0.0
	for _, u := range q.focus {
		sum += u.weight
	}
	return sum
}
