package agent

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// answer is the words of one turn, ready to be streamed: sentences with their marks, and the sources they cite.
type answer struct {
	sentences []string
	said      []string // the gallery's sentences in it, without marks
	sources   []Source
	language  string // of the guide's own words in it
	answered  bool
	passages  []*passage // cited, in order of first use
}

// compose puts picked sentences together: a mark on each, the sources numbered in the order they are first used.
func compose(lib Library, language string, picked []*candidate) answer {
	a := answer{language: language, answered: true}
	a.add(lib, language, picked)
	return a
}

// add puts further sentences to the end.
func (a *answer) add(lib Library, language string, picked []*candidate) {
	for _, c := range picked {
		n := a.cite(lib, c.passage, language)
		a.said = append(a.said, c.text)
		a.sentences = append(a.sentences, marked(plain(c.text), n))
	}
}

// cite returns the number of a passage, giving it one at its first use.
func (a *answer) cite(lib Library, p *passage, language string) int {
	if i := slices.IndexFunc(a.sources, func(s Source) bool { return s.Passage == p.ID }); i >= 0 {
		return a.sources[i].N
	}
	n := len(a.sources) + 1
	a.sources = append(a.sources, newSource(lib, n, p, language))
	a.passages = append(a.passages, p)
	return n
}

func newSource(lib Library, n int, p *passage, language string) Source {
	sec := p.section
	s := Source{
		N: n, Passage: p.ID, Section: sec.ID, Exhibit: sec.Exhibit, Title: documentTitle(sec), Heading: sec.Heading,
		Quote: p.Text, Document: sec.Document, Page: cmp.Or(p.Page, sec.Page), LastPage: p.LastPage,
	}
	if strings.HasPrefix(sec.ID, webPrefix) {
		s.URL = sec.Document
	}
	e, ok := lib.Exhibit(sec.Exhibit)
	if !ok {
		return s
	}
	s.Title = e.Title.In(language, sec.Language)
	for _, key := range sec.Sources {
		if i := slices.IndexFunc(e.Sources, func(src gallery.Source) bool { return src.Key == key }); i >= 0 {
			s.Published = append(s.Published, Published{Title: e.Sources[i].Title, URL: e.Sources[i].URL})
		}
	}
	return s
}

// documentTitle names a text that belongs to no exhibit: its outermost heading.
func documentTitle(s gallery.Section) string {
	if len(s.Path) > 0 {
		return s.Path[0]
	}
	return s.Heading
}

var bracketed = regexp.MustCompile(`\[(\d{1,3})\]`)

// spacedMark is a mark with the space before it.
var spacedMark = regexp.MustCompile(` ?\[\d{1,3}\]`)

// plain takes from a quoted sentence what could be read as a mark of the guide's own.
func plain(sentence string) string { return bracketed.ReplaceAllString(sentence, "($1)") }

// marked puts the mark of source n before the sentence's end: "… tiles [1]." and 「……瓷砖[1]。」
func marked(sentence string, n int) string {
	body := strings.TrimRightFunc(sentence, func(r rune) bool { return strings.ContainsRune(".!?。！？…", r) })
	if body == "" {
		body = sentence
	}
	space := " "
	if last, _ := utf8.DecodeLastRuneInString(body); unicode.Is(unicode.Han, last) || strings.ContainsRune("”’」』》）", last) && words.Detect(sentence, "") == words.Chinese {
		space = ""
	}
	return fmt.Sprintf("%s%s[%d]%s", body, space, n, sentence[len(body):])
}

// piecesFrom cuts the answer, from its i-th sentence on, into the pieces it is streamed in, each a clause or a few
// words, so that the page can show and the voice can start before the whole is there. All pieces joined are the answer.
func (a answer) piecesFrom(i int) []string {
	var out []string
	for ; i < len(a.sentences); i++ {
		s := a.sentences[i]
		if i > 0 && !endsWide(a.sentences[i-1]) {
			s = " " + s
		}
		out = append(out, clauses(s)...)
	}
	return out
}

func endsWide(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.Is(unicode.Han, r) || strings.ContainsRune("。！？…：；”’」』）》", r)
}

// pieceLength is the least number of characters of a piece that ends at a space or comma.
const pieceLength = 16

func clauses(sentence string) []string {
	var out []string
	start, n := 0, 0
	for i, r := range sentence {
		n++
		end := i + utf8.RuneLen(r)
		if n >= pieceLength && end < len(sentence) && strings.ContainsRune(" ，、；：", r) {
			out = append(out, sentence[start:end])
			start, n = end, 0
		}
	}
	return append(out, sentence[start:])
}
