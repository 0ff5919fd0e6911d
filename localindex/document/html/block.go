package html

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// at is where an element stands.
type at struct {
	kind  document.Kind // of loose text here; empty is a paragraph
	level int
	depth int // of lists
}

// reader turns elements into blocks.
type reader struct {
	dropped map[*html.Node]bool
	out     []document.Block
	line    strings.Builder       // loose text not yet put out
	mark    string                // of the item that the loose text begins
	notes   map[string]*html.Node // footnotes by id
	said    map[string]bool       // footnotes put out
	cited   []string              // by the loose text
}

// findNotes collects footnotes: elements that say so, and the items of a list that does.
func (r *reader) findNotes(body *html.Node) {
	for n := range body.Descendants() {
		if n.Type != html.ElementNode || r.dropped[n] {
			continue
		}
		role, class := attr(n, "role"), " "+strings.ToLower(attr(n, "class"))+" "
		switch {
		case role == "doc-footnote" || role == "doc-endnote":
			if id := attr(n, "id"); id != "" {
				r.notes[id] = n
			}
		case role == "doc-endnotes" || strings.Contains(class, " footnotes ") || strings.Contains(class, " endnotes "):
			for item := range n.Descendants() {
				if id := attr(item, "id"); item.DataAtom == atom.Li && id != "" {
					r.notes[id] = item
				}
			}
		}
	}
}

// flush puts out the loose text, and behind it the footnotes it names.
func (r *reader) flush(a at) {
	text := prose.Tidy(prose.WithoutLigatures(r.line.String()))
	r.line.Reset()
	if text != "" {
		b := document.Block{Kind: document.Paragraph, Text: r.mark + text}
		switch {
		case a.kind != "":
			b.Kind, b.Level = a.kind, a.level
		case a.depth > 0:
			b.Kind, b.Level = document.ListItem, a.depth
		case captionLike(text):
			b.Kind = document.Caption
		}
		r.out = append(r.out, b)
		r.mark = ""
	}
	cited := r.cited
	r.cited = nil
	for _, id := range cited {
		if note := r.notes[id]; note != nil && !r.said[id] {
			r.said[id] = true
			r.out = append(r.out, document.Block{Kind: document.Footnote, Text: r.textOf(note)})
		}
	}
}

// textOf is the text of an element as one line.
func (r *reader) textOf(n *html.Node) string {
	inner := &reader{dropped: r.dropped, notes: r.notes, said: r.said}
	inner.children(n, at{})
	inner.flush(at{})
	var parts []string
	for _, b := range inner.out {
		if b.Kind != document.Footnote {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func (r *reader) children(n *html.Node, a at) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.block(c, a)
	}
}

// block reads a node. Text and inline elements are gathered until a block begins or ends.
func (r *reader) block(n *html.Node, a at) {
	switch n.Type {
	case html.TextNode:
		r.text(n.Data)
		return
	case html.ElementNode:
	default:
		r.children(n, a)
		return
	}
	if r.dropped[n] || r.isNote(n) {
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.flush(a)
		in := at{kind: document.Heading, level: int(n.Data[1] - '0')}
		if a.depth > 0 || a.kind != "" {
			in = a
		}
		r.children(n, in)
		r.flush(in)
	case atom.Br:
		r.line.WriteByte('\n')
	case atom.Wbr, atom.Img, atom.Picture:
	case atom.Q:
		r.line.WriteString("“")
		r.children(n, a)
		r.line.WriteString("”")
	case atom.Hr:
		r.flush(a)
	case atom.Ul, atom.Ol, atom.Dir:
		r.flush(a)
		r.list(n, a)
	case atom.Dl:
		r.flush(a)
		r.terms(n, a, "")
	case atom.Blockquote:
		r.inside(n, a, at{kind: document.Quote})
	case atom.Figcaption, atom.Caption:
		r.inside(n, a, at{kind: document.Caption})
	case atom.Pre, atom.Listing, atom.Xmp:
		r.flush(a)
		r.out = append(r.out, document.Block{Kind: document.Code, Text: strings.Trim(rawText(n), "\n")})
	case atom.Table:
		r.flush(a)
		r.table(n, a)
	case atom.A:
		if id, ok := r.noteReference(n); ok {
			r.cited = append(r.cited, id)
			return
		}
		r.children(n, a)
	case atom.Sup:
		if c := onlyElement(n); c != nil && c.DataAtom == atom.A {
			if id, ok := r.noteReference(c); ok {
				r.cited = append(r.cited, id)
				return
			}
		}
		r.children(n, a)
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Aside, atom.Figure, atom.Address, atom.Dt, atom.Dd,
		atom.Li, atom.Details, atom.Summary, atom.Form, atom.Fieldset, atom.Legend, atom.Center, atom.Hgroup, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Body:
		r.inside(n, a, a)
	default:
		r.children(n, a)
	}
}

// inside reads an element that stands apart from the text around it.
func (r *reader) inside(n *html.Node, outer, inner at) {
	r.flush(outer)
	r.children(n, inner)
	r.flush(inner)
}

// text gathers loose text. A line end in the source is no space between Chinese characters.
func (r *reader) text(s string) {
	space := rune(0)
	for _, c := range s {
		switch {
		case c == '\n' || c == '\r':
			space = prose.SoftBreak
		case c != '\u00A0' && unicode.IsSpace(c):
			if space == 0 {
				space = ' '
			}
		default:
			if space != 0 {
				r.line.WriteRune(space)
				space = 0
			}
			r.line.WriteRune(c)
		}
	}
	if space != 0 {
		r.line.WriteRune(space)
	}
}

// noteReference reports whether a link is the mark of a footnote.
func (r *reader) noteReference(n *html.Node) (string, bool) {
	id, ok := strings.CutPrefix(attr(n, "href"), "#")
	if !ok || r.notes[id] == nil {
		return "", false
	}
	return id, true
}

// isNote reports whether an element is a footnote, a list of them, or the way back from one.
func (r *reader) isNote(n *html.Node) bool {
	if attr(n, "role") == "doc-backlink" || strings.Contains(attr(n, "class"), "footnote-back") {
		return true
	}
	if id := attr(n, "id"); id != "" && r.notes[id] == n {
		return true
	}
	if n.DataAtom == atom.Section || n.DataAtom == atom.Div || n.DataAtom == atom.Ol {
		for d := range n.Descendants() {
			if id := attr(d, "id"); d.DataAtom == atom.Li && id != "" && r.notes[id] == d {
				role, class := attr(n, "role"), strings.ToLower(attr(n, "class"))
				return role == "doc-endnotes" || strings.Contains(class, "footnotes") || strings.Contains(class, "endnotes")
			}
			if d.Type == html.ElementNode && d.DataAtom == atom.P {
				return false // running text comes first: no list of notes
			}
		}
	}
	return false
}

func onlyElement(n *html.Node) *html.Node {
	var only *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && strings.TrimSpace(c.Data) == "":
		case c.Type == html.ElementNode && only == nil:
			only = c
		default:
			return nil
		}
	}
	return only
}

func rawText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (r *reader) list(l *html.Node, a at) {
	number, step := 1, 1
	if v, err := strconv.Atoi(attr(l, "start")); err == nil && abs(v) < 1_000_000 {
		number = v
	}
	if has(l, "reversed") {
		step = -1
	}
	in := at{depth: min(a.depth+1, 20)}
	for c := l.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Li {
			r.block(c, in) // a list within a list without an item is common
			continue
		}
		if r.dropped[c] || r.isNote(c) {
			continue
		}
		r.flush(in)
		r.mark = document.Bullet
		if l.DataAtom == atom.Ol {
			if v, err := strconv.Atoi(attr(c, "value")); err == nil && abs(v) < 1_000_000 {
				number = v
			}
			r.mark = fmt.Sprintf("%d. ", number)
			number += step
		}
		r.children(c, in)
		r.flush(in)
		r.mark = ""
	}
	r.flush(in)
}

// terms reads a list of terms and what they mean: each pair is one paragraph. It returns the term that is still open.
func (r *reader) terms(l *html.Node, a at, term string) string {
	for c := l.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case r.dropped[c]:
		case c.DataAtom == atom.Dt:
			if term != "" {
				term += ", "
			}
			term += r.textOf(c)
		case c.DataAtom == atom.Dd:
			text := r.textOf(c)
			if term != "" && text != "" {
				text = strings.TrimRight(term, ":： ") + ": " + text
			}
			r.line.WriteString(text)
			r.flush(a)
			term = ""
		case c.DataAtom == atom.Div:
			term = r.terms(c, a, term)
		default:
			r.block(c, a)
		}
	}
	r.line.WriteString(term)
	r.flush(a)
	return ""
}

func abs(n int) int { return max(n, -n) }
