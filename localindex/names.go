package localindex

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"docent/internal/han"
	"docent/localindex/gallery"
)

// names knows what the exhibits are called: titles in every language, label and accession numbers.
type names struct {
	phrases []phrase          // titles and accession numbers, longest first
	labels  map[string]string // folded label to exhibit id
}

// phrase is a name that counts wherever it stands in a question.
type phrase struct {
	words    string // as squeeze leaves it
	exhibits []string
}

// named is what a question names.
type named struct {
	exhibits []string // in the order they are named
	alone    bool     // nothing else is asked: a name, or "tell me about" it
}

const (
	// maxSameTitle is how many exhibits may share a title that still pins them: "Untitled" names nothing.
	maxSameTitle = 3
	// maxNamed bounds how many exhibits one question pins.
	maxNamed = 6
)

func newNames(g *gallery.Gallery) *names {
	n := &names{labels: map[string]string{}}
	exhibits := map[string][]string{}
	add := func(name, id string) {
		if words := squeeze(fold(name)); usable(words) && !slices.Contains(exhibits[words], id) {
			exhibits[words] = append(exhibits[words], id)
		}
	}
	for _, e := range g.Exhibits {
		for _, title := range e.Title {
			add(title, e.ID)
			add(withoutArticle(title), e.ID)
		}
		if strings.ContainsFunc(e.Accession, unicode.IsDigit) && utf8.RuneCountInString(e.Accession) >= 4 {
			add(e.Accession, e.ID)
			add(strings.ReplaceAll(squeeze(fold(e.Accession)), " ", ""), e.ID)
		}
		if e.Label != "" {
			n.labels[strings.ReplaceAll(squeeze(fold(e.Label)), " ", "")] = e.ID
		}
		if squeezed := squeeze(fold(e.Label)); strings.Contains(squeezed, " ") { // such as A-7
			exhibits[squeezed] = append(exhibits[squeezed], e.ID)
		}
	}
	for words, ids := range exhibits {
		if len(ids) <= maxSameTitle {
			n.phrases = append(n.phrases, phrase{words, ids})
		}
	}
	slices.SortFunc(n.phrases, func(a, b phrase) int {
		return cmp.Or(cmp.Compare(len(b.words), len(a.words)), strings.Compare(a.words, b.words))
	})
	return n
}

// usable reports whether a name says enough to pin an exhibit: two ideographs, or three letters.
func usable(words string) bool {
	letters := 0
	for _, r := range words {
		switch {
		case unicode.Is(unicode.Han, r):
			letters += 2
		case unicode.IsLetter(r), unicode.IsDigit(r):
			letters++
		}
	}
	return letters >= 3
}

func withoutArticle(title string) string {
	for _, article := range []string{"the ", "a ", "an "} {
		if len(title) > len(article) && strings.EqualFold(title[:len(article)], article) {
			return title[len(article):]
		}
	}
	return title
}

// in returns the exhibits a question names.
func (n *names) in(question string) named {
	folded := fold(question)
	rest := squeeze(folded)
	at := map[string]int{} // exhibit to where it is first named
	note := func(id string, pos int) {
		if old, ok := at[id]; !ok || pos < old {
			at[id] = pos
		}
	}
	for _, p := range n.phrases {
		for {
			pos, end := find(rest, p.words)
			if pos < 0 {
				break
			}
			for _, id := range p.exhibits {
				note(id, pos)
			}
			// Blank it out, so that "fern" is not found again in "Barnsley fern".
			rest = rest[:pos] + strings.Repeat(" ", end-pos) + rest[end:]
		}
	}
	words := strings.Fields(rest)
	for _, l := range n.labelsIn(folded) {
		if i := slices.Index(words, l.text); i >= 0 { // not a part of a title, as in "Rule 30"
			note(n.labels[l.text], l.pos)
			words = slices.Delete(words, i, i+1)
		} else if i := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, l.text) }); i >= 0 {
			note(n.labels[l.text], l.pos) // 第205号
			words[i] = strings.Replace(words[i], l.text, "", 1)
		}
	}

	found := named{alone: len(at) > 0 && onlyFillers(words)}
	for id := range at {
		found.exhibits = append(found.exhibits, id)
	}
	slices.SortFunc(found.exhibits, func(a, b string) int {
		return cmp.Or(cmp.Compare(at[a], at[b]), strings.Compare(a, b))
	})
	found.exhibits = found.exhibits[:min(len(found.exhibits), maxNamed)]
	return found
}

// find returns where words stand whole in text: not as a part of a longer word, but "fern" is in "ferns", too.
func find(text, words string) (start, end int) {
	for from := 0; ; {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return -1, -1
		}
		start, end = from+i, from+i+len(words)
		if !joined(text, start) {
			if strings.HasPrefix(text[end:], "s") && joined(text, end) && !joined(text, end+1) {
				end++
			}
			if !joined(text, end) {
				return start, end
			}
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

// joined reports whether position i of text is inside a word. Scripts without spaces have no such thing.
func joined(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	return spaced(before) && spaced(after)
}

// spaced reports whether a character belongs to a word that spaces set off.
func spaced(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// fold makes texts comparable that differ in width, case, form or script of Chinese only.
func fold(s string) string {
	return han.Simplify(strings.ToLower(norm.NFKC.String(s)))
}

// squeeze leaves letters and digits, with one space where anything else stood between them.
func squeeze(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}
