package collection

import (
	"cmp"
	"slices"
	"strings"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// Order is which end of the years is asked for.
type Order string

// The orders. The empty one is that of the catalogue.
const (
	Oldest Order = "oldest"
	Newest Order = "newest"
)

// Query says which exhibits are meant.
type Query struct {
	Order Order  `json:"order,omitempty"`
	N     int    `json:"n,omitempty"`     // how many of the oldest or newest
	Maker string `json:"maker,omitempty"` // words of a maker's name, as the catalogue writes it
	Topic string `json:"topic,omitempty"` // a keyword, or a word of a title
	Hall  string `json:"hall,omitempty"`  // id
	From  int    `json:"from,omitempty"`  // first year
	To    int    `json:"to,omitempty"`    // last year; both 0 means any time
	Count bool   `json:"count,omitempty"` // only how many there are
}

// Zero reports whether the query asks for nothing.
func (q Query) Zero() bool { return q == Query{} }

// Found are the exhibits that a query means.
type Found struct {
	Exhibits []gallery.Exhibit
	// Undated is how many more there are without a date that can be read, where the query asks for a time.
	Undated int
}

// Select finds the exhibits. Those of the same year as the last of the oldest or newest are found too.
func Select(all []gallery.Exhibit, q Query) Found {
	var out Found
	type dated struct {
		gallery.Exhibit
		Span
	}
	var of []dated
	for _, e := range all {
		if q.Hall != "" && e.Hall != q.Hall || q.Maker != "" && !By(e, q.Maker) || q.Topic != "" && !About(e, q.Topic) {
			continue
		}
		span, ok := Dated(e)
		switch {
		case q.Order == "" && q.From == 0 && q.To == 0:
			out.Exhibits = append(out.Exhibits, e)
		case !ok:
			out.Undated++
		case q.From == 0 && q.To == 0 || span.Within(Span{q.From, q.To}):
			of = append(of, dated{e, span})
		}
	}
	if q.Order != "" {
		slices.SortStableFunc(of, func(a, b dated) int {
			if q.Order == Newest {
				return cmp.Compare(b.From, a.From)
			}
			return cmp.Compare(a.From, b.From)
		})
		n := max(q.N, 1)
		for n < len(of) && of[n].From == of[n-1].From {
			n++
		}
		of = of[:min(n, len(of))]
	}
	for _, d := range of {
		out.Exhibits = append(out.Exhibits, d.Exhibit)
	}
	return out
}

// Dated is the time of an exhibit, read from its date in the first language that tells one.
func Dated(e gallery.Exhibit) (Span, bool) {
	for _, language := range languages(e.Date) {
		if s, ok := Years(e.Date[language]); ok {
			return s, true
		}
	}
	return Span{}, false
}

// languages are the tags of a text, English first, the others by the alphabet, so that the choice is stable.
func languages(l gallery.Localized) []string {
	var out []string
	for tag := range l {
		out = append(out, tag)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(-cmp.Compare(b2i(a == words.English), b2i(b == words.English)), cmp.Compare(a, b))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// By reports whether an exhibit's maker has the name, in any language.
func By(e gallery.Exhibit, name string) bool {
	name = words.Fold(name)
	for _, m := range e.Maker {
		if strings.Contains(words.Fold(m), name) {
			return true
		}
	}
	return false
}

// About reports whether an exhibit's keywords or title have the topic, in any language.
func About(e gallery.Exhibit, topic string) bool {
	topic = words.Fold(topic)
	for _, t := range e.Title {
		if strings.Contains(words.Fold(t), topic) {
			return true
		}
	}
	return slices.ContainsFunc(e.Keywords, func(k string) bool { return strings.Contains(words.Fold(k), topic) })
}
