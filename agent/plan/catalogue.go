package plan

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"docent/agent/collection"
	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// Catalogue is what the gallery has, by name.
type Catalogue struct {
	Exhibits []Named
	Halls    []Named
}

// Named is one exhibit or hall.
type Named struct {
	ID       string
	Hall     string // an exhibit's
	Name     gallery.Localized
	Maker    gallery.Localized // an exhibit's
	Keywords []string
	Years    collection.Span // an exhibit's, zero where it has none
}

// NewCatalogue lists a gallery's exhibits and halls.
func NewCatalogue(g *gallery.Gallery) *Catalogue {
	c := &Catalogue{}
	for _, e := range g.Exhibits {
		years, _ := collection.Dated(e)
		c.Exhibits = append(c.Exhibits, Named{ID: e.ID, Hall: e.Hall, Name: e.Title, Maker: e.Maker, Keywords: e.Keywords, Years: years})
	}
	for _, h := range g.Halls {
		c.Halls = append(c.Halls, Named{ID: h.ID, Name: h.Name})
	}
	return c
}

// Exhibit returns the exhibit of an id.
func (c *Catalogue) Exhibit(id string) (Named, bool) { return find(c.Exhibits, id) }

// Hall returns the hall of an id.
func (c *Catalogue) Hall(id string) (Named, bool) { return find(c.Halls, id) }

func find(all []Named, id string) (Named, bool) {
	if i := slices.IndexFunc(all, func(n Named) bool { return n.ID == id }); i >= 0 {
		return all[i], true
	}
	return Named{}, false
}

// mention is a name that stands in a text.
type mention struct {
	id       string
	from, to int // bytes of the folded text
}

// mentions finds names in a folded text, in the order they stand. A name inside a longer one is not meant.
func mentions(all []Named, folded string) []mention {
	var out []mention
	for _, n := range all {
		for _, name := range n.Name {
			for _, form := range forms(words.Fold(name)) {
				out = append(out, occurrences(n.ID, folded, form)...)
			}
		}
	}
	out = slices.DeleteFunc(slices.Clone(out), func(m mention) bool {
		return slices.ContainsFunc(out, func(o mention) bool {
			return o.from <= m.from && m.to <= o.to && o.to-o.from > m.to-m.from
		})
	})
	slices.SortFunc(out, func(a, b mention) int { return a.from - b.from })
	return slices.CompactFunc(out, func(a, b mention) bool { return a.id == b.id && a.from == b.from })
}

// forms are a name and what it is called in passing: 曲线厅 is 曲线展厅 too, tilings may be one.
func forms(name string) []string {
	out := []string{name}
	switch {
	case strings.HasSuffix(name, "厅") && !strings.HasSuffix(name, "展厅"):
		out = append(out, strings.TrimSuffix(name, "厅")+"展厅")
	case isLatin(name) && !strings.HasSuffix(name, "s"):
		out = append(out, name+"s")
	}
	return out
}

func isLatin(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func occurrences(id, text, form string) []mention {
	var out []mention
	for at := 0; form != ""; {
		i := strings.Index(text[at:], form)
		if i < 0 {
			break
		}
		from, to := at+i, at+i+len(form)
		if !isLatin(form) || !letterBefore(text, from) && !letterAfter(text, to) {
			out = append(out, mention{id: id, from: from, to: to})
		}
		at = to
	}
	return out
}

func letterBefore(s string, at int) bool { return at > 0 && isASCIILetter(s[at-1]) }
func letterAfter(s string, at int) bool  { return at < len(s) && isASCIILetter(s[at]) }
func isASCIILetter(b byte) bool          { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// exhibitsIn returns the exhibits named in a text, each once.
func (c *Catalogue) exhibitsIn(text string) []string {
	return ids(mentions(c.Exhibits, words.Fold(text)))
}

// hallIn returns the hall named in a text, "" for none. "Curves" alone may mean lines; a hall is meant where the text
// speaks of halls, or the name stands after in the.
func (c *Catalogue) hallIn(text string) string {
	folded := words.Fold(text)
	for _, m := range mentions(c.Halls, folded) {
		name := folded[m.from:m.to]
		if !isLatin(name) || strings.Contains(name, " ") || speaksOfHalls.MatchString(folded) || highlightOf.MatchString(folded[:m.from]) || strings.HasSuffix(folded[:m.from], "in the ") || strings.HasSuffix(folded[:m.from], "in ") {
			return m.id
		}
	}
	return ""
}

// highlightOf matches what a hall's name stands after where its highlights are asked for.
var highlightOf = regexp.MustCompile(`\bhighlights? (of|in) (the )?$`)

func ids(ms []mention) []string {
	var out []string
	for _, m := range ms {
		if !slices.Contains(out, m.id) {
			out = append(out, m.id)
		}
	}
	return out
}
