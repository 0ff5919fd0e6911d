package layout

import (
	"strings"
	"unicode"

	"docent/localindex/document"
	"docent/localindex/document/internal/lines"
	"docent/localindex/internal/prose"
)

// minCovered is the share of a page's letters that its tags must hold to be followed.
const minCovered = 0.9

// maxDepth is how deep tags are followed.
const maxDepth = 200

// walker follows the tags of a page.
type walker struct {
	page    *Page
	content map[int32][]Glyph
	items   []item
	loose   []Glyph // text outside of blocks
	depth   int     // of lists
	quote   bool
	used    map[int32]bool
}

// tagged reads a page by its tags; ok is false where they are missing or leave much of the text out.
func tagged(p *Page) (items []item, ok bool) {
	if p.Tags == nil {
		return nil, false
	}
	w := &walker{page: p, content: map[int32][]Glyph{}, used: map[int32]bool{}}
	all := 0
	for _, g := range p.Glyphs {
		w.content[g.Tag] = append(w.content[g.Tag], g)
		if g.visible() {
			all++
		}
	}
	covered := 0
	for _, id := range contents(p.Tags, nil, 0) {
		if id < 0 || w.used[id] {
			continue
		}
		w.used[id] = true
		for _, g := range w.content[id] {
			if g.visible() {
				covered++
			}
		}
	}
	if float64(covered) < minCovered*float64(all) {
		return nil, false
	}
	w.walk(p.Tags, 0)
	w.flush()
	return w.items, true
}

// contents lists the marked content below an element.
func contents(e *Element, all []int32, depth int) []int32 {
	if depth > maxDepth {
		return all
	}
	for _, c := range e.Children {
		if c.Element == nil {
			all = append(all, c.Content)
		} else {
			all = contents(c.Element, all, depth+1)
		}
	}
	return all
}

func (w *walker) glyphs(e *Element) []Glyph {
	var all []Glyph
	for _, id := range contents(e, nil, 0) {
		all = append(all, w.content[id]...)
	}
	return all
}

// inlineTags are parts of a line of text.
func inlineTag(t string) bool {
	switch t {
	case "Span", "Link", "Quote", "Em", "Strong", "Sub", "Reference", "BibEntry", "Ruby", "RB", "Warichu", "WT", "WP", "Lbl", "Annot", "Form":
		return true
	}
	return false
}

// holdsBlocks reports whether an element has blocks in it.
func holdsBlocks(e *Element, depth int) bool {
	for _, c := range e.Children {
		if c.Element == nil || depth > maxDepth {
			continue
		}
		switch t := c.Element.Type; {
		case inlineTag(t), t == "NonStruct", t == "Div", t == "Private":
			if holdsBlocks(c.Element, depth+1) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

func (w *walker) walk(e *Element, depth int) {
	if depth > maxDepth {
		return
	}
	for _, c := range e.Children {
		if c.Element == nil {
			w.loose = append(w.loose, w.content[c.Content]...)
			continue
		}
		w.element(c.Element, depth)
	}
}

func (w *walker) element(e *Element, depth int) {
	switch t := e.Type; t {
	case "Artifact", "TOC", "TOCI", "Index", "RT", "RP":
		return
	case "H1", "H2", "H3", "H4", "H5", "H6":
		w.put(e, document.Block{Kind: document.Heading, Level: int(t[1] - '0')})
	case "Title":
		w.put(e, document.Block{Kind: document.Heading, Level: 1})
	case "H":
		w.put(e, document.Block{Kind: document.Heading, Level: 2})
	case "P":
		if holdsBlocks(e, 0) {
			w.container(e, depth)
			return
		}
		b := document.Block{Kind: document.Paragraph}
		switch {
		case w.depth > 0:
			b.Kind, b.Level = document.ListItem, w.depth
		case w.quote:
			b.Kind = document.Quote
		}
		w.put(e, b)
	case "Caption":
		w.put(e, document.Block{Kind: document.Caption})
	case "Note", "FENote":
		w.put(e, document.Block{Kind: document.Footnote})
	case "L":
		w.flush()
		w.depth++
		w.walk(e, depth+1)
		w.flush()
		w.depth--
	case "LI":
		w.listItem(e, depth)
	case "Table":
		w.table(e, depth)
	case "BlockQuote":
		w.flush()
		before := w.quote
		w.quote = true
		w.walk(e, depth+1)
		w.flush()
		w.quote = before
	default:
		if inlineTag(t) || t == "NonStruct" && !holdsBlocks(e, 0) {
			w.loose = append(w.loose, w.glyphs(e)...)
			return
		}
		w.container(e, depth)
	}
}

func (w *walker) container(e *Element, depth int) {
	w.flush()
	w.walk(e, depth+1)
	w.flush()
}

// flush reads text outside of blocks as an untagged page would be.
func (w *walker) flush() {
	if len(w.loose) == 0 {
		return
	}
	rows := inOrder(segments(w.loose, false))
	w.loose = nil
	for _, it := range paragraphs(rows, w.page.Number) {
		it.tagged = true
		switch {
		case w.depth > 0 && it.Kind == document.Paragraph:
			it.Kind, it.Level = document.ListItem, w.depth
		case w.quote && it.Kind == document.Paragraph:
			it.Kind = document.Quote
		}
		w.items = append(w.items, it)
	}
}

// put adds the block of an element.
func (w *walker) put(e *Element, b document.Block) {
	w.flush()
	w.add(e, b, w.glyphs(e), "")
}

func (w *walker) add(e *Element, b document.Block, glyphs []Glyph, mark string) {
	rows := inOrder(segments(glyphs, false))
	if len(rows) == 0 {
		return
	}
	b.Page = w.page.Number
	b.Text = mark + textOf(rows)
	it := newItem(b, rows)
	it.tagged, it.id = true, e.ID
	w.items = append(w.items, it)
}

// listItem reads one item: its mark, its own text, and lists and paragraphs within it.
func (w *walker) listItem(e *Element, depth int) {
	w.flush()
	mark := ""
	var own []Glyph
	done := false
	put := func() {
		if len(own) == 0 {
			return
		}
		if mark == "" && !done {
			mark = document.Bullet // many are drawn and not written
		}
		w.add(e, document.Block{Kind: document.ListItem, Level: max(1, w.depth)}, own, mark)
		own, mark, done = nil, "", true
	}
	var read func(e *Element, depth int)
	read = func(e *Element, depth int) {
		if depth > maxDepth {
			return
		}
		for _, c := range e.Children {
			switch {
			case c.Element == nil:
				own = append(own, w.content[c.Content]...)
			case c.Element.Type == "Lbl" && mark == "" && len(own) == 0 && !done:
				mark = markOf(w.glyphs(c.Element))
			case c.Element.Type == "P" && !holdsBlocks(c.Element, 0):
				put()
				own = w.glyphs(c.Element)
				put()
			case inlineTag(c.Element.Type), c.Element.Type == "NonStruct" && !holdsBlocks(c.Element, 0):
				own = append(own, w.glyphs(c.Element)...)
			case c.Element.Type == "LBody", c.Element.Type == "Div", c.Element.Type == "NonStruct", c.Element.Type == "Sect":
				read(c.Element, depth+1)
			default:
				put()
				w.element(c.Element, depth+1)
			}
		}
	}
	read(e, depth)
	put()
}

// markOf normalises the mark of an item.
func markOf(glyphs []Glyph) string {
	var b strings.Builder
	for _, s := range segments(glyphs, false) {
		b.WriteString(s.text)
	}
	s := prose.Tidy(plainSup(b.String()))
	if s == "" {
		return ""
	}
	if mark, _, ok := lines.Mark(s + " x"); ok {
		return mark
	}
	if strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return document.Bullet
	}
	return s + " "
}

// table reads the rows of a tagged table.
func (w *walker) table(e *Element, depth int) {
	w.flush()
	var rows [][]string
	header := false
	var size float32
	bottom := float32(0)
	var read func(e *Element, depth int, head bool)
	read = func(e *Element, depth int, head bool) {
		if depth > maxDepth {
			return
		}
		for _, c := range e.Children {
			if c.Element == nil {
				continue
			}
			switch c.Element.Type {
			case "TR":
				var row []string
				heads := true
				for _, cell := range c.Element.Children {
					if cell.Element == nil {
						continue
					}
					segs := inOrder(segments(w.glyphs(cell.Element), false))
					text := textOf(segs)
					heads = heads && (cell.Element.Type == "TH" || head || text == "")
					for _, s := range segs {
						size = max(size, s.size())
						bottom = max(bottom, s.base())
					}
					row = append(row, text)
				}
				if len(row) > 0 {
					if len(rows) == 0 {
						header = heads
					}
					rows = append(rows, row)
				}
			case "Caption":
				w.put(c.Element, document.Block{Kind: document.Caption})
			default:
				read(c.Element, depth+1, head || c.Element.Type == "THead")
			}
		}
	}
	read(e, depth, false)
	b := document.NewTable(rows, header, w.page.Number)
	if b.Text == "" {
		return
	}
	if len(b.Rows[0]) == 1 { // a frame around text
		for _, row := range b.Rows {
			w.items = append(w.items, item{Block: document.Block{Kind: document.Paragraph, Text: row[0], Page: w.page.Number}, tagged: true, size: size, lines: 1})
		}
		return
	}
	w.items = append(w.items, item{Block: b, tagged: true, id: e.ID, size: size, lines: len(rows), bottom: bottom, columns: len(b.Rows[0])})
}
