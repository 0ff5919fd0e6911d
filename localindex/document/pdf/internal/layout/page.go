// Package layout finds the blocks of pages of placed characters: by the tags of the file where it has good ones, else
// by columns, gaps, sizes and alignment. It knows nothing of PDF files and is deterministic.
package layout

import (
	"math"
	"unicode"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// Glyph is one character on a page. Coordinates are in points, x to the right and y downwards from the upper left
// corner, of a page turned so that most of its text reads from left to right.
type Glyph struct {
	Rune   rune
	X0, X1 float32
	Base   float32 // y of the line it stands on
	Size   float32 // of its font
	Bold   bool
	Tag    int32 // marked content of the file it is in, -1 where it is in none
}

// Runes of glyphs that stand for what is between others and which the file does not write: a gap that may be one
// between words, and a line end, which comes wherever the text goes on elsewhere.
const (
	Gap     = '\x00'
	LineEnd = '\x01'
)

func (g Glyph) visible() bool { return g.Rune != Gap && g.Rune != LineEnd && !unicode.IsSpace(g.Rune) }

// Page is one page.
type Page struct {
	Number        int // 1-based
	Width, Height float32
	Glyphs        []Glyph  // in the order of the file; white space is among them
	Tags          *Element // nil where the page has none
	Dots          []Dot    // bullets that are drawn and not written
}

// Dot is a small drawn spot, as wide as it is high.
type Dot struct {
	X0, X1, Y float32 // Y is its middle
}

// withDots puts a written bullet for every dot that stands before a line.
func withDots(p *Page) []Glyph {
	if len(p.Dots) == 0 {
		return p.Glyphs
	}
	begins := map[int]Dot{} // by the first glyph of a line
	for _, d := range p.Dots {
		first := -1
		for i, g := range p.Glyphs {
			if g.visible() && g.Base-d.Y > 0.05*g.Size && g.Base-d.Y < 0.6*g.Size && (first < 0 || g.X0 < p.Glyphs[first].X0) {
				first = i
			}
		}
		if first >= 0 && p.Glyphs[first].X0 > d.X1 && p.Glyphs[first].X0-d.X1 < 2.5*p.Glyphs[first].Size && d.X1-d.X0 < 0.6*p.Glyphs[first].Size {
			begins[first] = d
		}
	}
	out := make([]Glyph, 0, len(p.Glyphs)+len(begins))
	for i, g := range p.Glyphs {
		if d, ok := begins[i]; ok {
			out = append(out, Glyph{Rune: '•', X0: d.X0, X1: d.X1, Base: g.Base, Size: g.Size, Tag: -1})
		}
		out = append(out, g)
	}
	return out
}

// Element is a node of the tree of tags of a page.
type Element struct {
	Type     string // as in the file: "P", "H1", "Table", …
	ID       string
	Children []Child
}

// Child is either marked content or a further element.
type Child struct {
	Content int32 // if Element is nil
	Element *Element
}

// item is a block with what it looks like.
type item struct {
	document.Block
	size     float32
	bold     bool
	lines    int
	tagged   bool
	id       string // of its element in the file
	region   int    // items of one column have the same
	x0       float32
	bottom   float32 // of its last line
	columns  int
	lastPage int      // it was joined up to
	grid     []column // of an untagged table
}

// Letters counts what can be read and what cannot on a page: characters of private use and such that the file gives no
// meaning.
func (p Page) Letters() (readable, unreadable int) {
	for _, g := range p.Glyphs {
		switch {
		case g.Rune == unicode.ReplacementChar, unicode.Is(unicode.Co, g.Rune):
			unreadable++
		case unicode.IsSpace(g.Rune), unicode.IsControl(g.Rune):
		default:
			readable++
		}
	}
	return readable, unreadable
}

// Blocks finds the blocks of a document's pages, in reading order.
func Blocks(pages []Page) []document.Block {
	body := bodySize(pages)
	pages = withoutRunningHeads(pages, body)
	var all []item
	for i := range pages {
		p := &pages[i]
		items, ok := tagged(p)
		if !ok {
			var before *item
			if len(all) > 0 {
				before = &all[len(all)-1]
			}
			items = untagged(p, body, before)
		}
		all = append(all, items...)
	}
	all = classify(all, body)
	all = joined(all)
	blocks := make([]document.Block, len(all))
	for i, it := range all {
		blocks[i] = it.Block
	}
	return blocks
}

// bodySize is the size most letters have.
func bodySize(pages []Page) float32 {
	counts := map[int]int{}
	for _, p := range pages {
		for _, g := range p.Glyphs {
			if g.visible() {
				counts[int(math.Round(float64(g.Size)*4))]++
			}
		}
	}
	best := 0
	for s, n := range counts {
		if n > counts[best] || n == counts[best] && s < best {
			best = s
		}
	}
	return float32(best) / 4
}

// Superscripts are kept between these two until it is known whether they are marks of footnotes.
const (
	supBegin = '\uF8F0'
	supEnd   = '\uF8F1'
)

// segment is a stretch of text on one line without a wide gap.
type segment struct {
	text   string
	x0, x1 float32
	base   float32
	size   float32
	bold   bool
}

// writesSpaces reports whether a page has its spaces written, as most have, so that a gap without one divides more than
// words.
func writesSpaces(glyphs []Glyph) bool {
	spaces, gaps := 0, 0
	for i, g := range glyphs {
		switch {
		case (g.Rune == Gap || g.Rune == LineEnd) && i > 0 && i+1 < len(glyphs) && glyphs[i-1].visible() && glyphs[i+1].visible() && math.Abs(float64(glyphs[i-1].Base-glyphs[i+1].Base)) < 1:
			gaps++
		case g.Rune == ' ':
			spaces++
		}
	}
	return gaps*3 < spaces || gaps*50 < len(glyphs)
}

func (s segment) width() float32 { return s.x1 - s.x0 }

// builder gathers the characters of a segment.
type builder struct {
	runes   []rune
	seg     segment
	letters int
	bold    int
	sizes   map[float32]int
	open    bool // a superscript
	last    Glyph
	space   bool // white space since the last letter
	gap     bool // a Gap or LineEnd since the last letter
	words   bool // a Gap since the last letter
	tight   bool // a Gap divides, however narrow it is
}

// segments cuts glyphs, in the order given, into stretches. Where tight, a gap that is no space in the file divides even
// if it is narrow.
func segments(glyphs []Glyph, tight bool) []segment {
	var all []segment
	b := builder{tight: tight}
	flush := func() {
		if b.letters > 0 {
			all = append(all, b.finish())
		}
		b = builder{tight: tight}
	}
	for _, g := range glyphs {
		if g.Rune == Gap || g.Rune == LineEnd {
			b.gap, b.words = true, b.words || g.Rune == Gap
			continue
		}
		if unicode.IsSpace(g.Rune) {
			b.space = true
			continue
		}
		if b.letters > 0 && !b.continues(g) {
			flush()
		}
		b.add(g)
	}
	flush()
	return all
}

// continues reports whether a glyph stands on the line and next to the last one.
func (b *builder) continues(g Glyph) bool {
	em := max(b.seg.size, g.Size, 1)
	rise := b.seg.base - g.Base
	if rise < -0.25*em || rise > 0.25*em && (g.Size > 0.85*b.seg.size || rise > 0.7*em) {
		return false
	}
	gap := g.X0 - b.last.X1
	widest := 0.7 * em
	switch {
	case b.space:
		widest = 1.6 * em
	case b.gap && b.tight:
		widest = 0.25 * em
	}
	return (gap > -0.6*em || g.X0 >= b.last.X0-0.1*em) && gap < widest // letters of a ligature have one place
}

func (b *builder) add(g Glyph) {
	if b.letters == 0 {
		b.seg = segment{x0: g.X0, x1: g.X1, base: g.Base, size: g.Size}
		b.sizes = map[float32]int{}
	}
	raised := b.letters > 0 && g.Size <= 0.85*b.seg.size && b.seg.base-g.Base > 0.15*b.seg.size && (unicode.IsDigit(g.Rune) || g.Rune == '*' || g.Rune == '†' || g.Rune == '[' || g.Rune == ']')
	if b.open && !raised {
		b.runes = append(b.runes, supEnd)
		b.open = false
	}
	if b.letters > 0 && (!raised || b.space) && b.spaced(g) {
		b.runes = append(b.runes, ' ')
	}
	if raised && !b.open {
		b.runes = append(b.runes, supBegin)
		b.open = true
	}
	b.runes = append(b.runes, g.Rune)
	b.letters++
	if g.Bold {
		b.bold++
	}
	if !raised {
		b.sizes[g.Size]++
		if g.Size > b.seg.size { // the first was a superscript or a small capital
			b.seg.size, b.seg.base = g.Size, g.Base
		}
	}
	b.seg.x1 = max(b.seg.x1, g.X1)
	b.last, b.space, b.gap, b.words = g, false, false, false
}

// spaced reports whether there is a space before a glyph: one in the file, or a gap as wide as one.
func (b *builder) spaced(g Glyph) bool {
	if prose.Unspaced(b.last.Rune) && prose.Unspaced(g.Rune) {
		return false
	}
	if b.space || b.words {
		return true
	}
	gap := g.X0 - b.last.X1
	return gap > 0.2*max(b.seg.size, g.Size)
}

func (b *builder) finish() segment {
	if b.open {
		b.runes = append(b.runes, supEnd)
	}
	best := float32(0)
	for s, n := range b.sizes {
		if n > b.sizes[best] || n == b.sizes[best] && s > best {
			best = s
		}
	}
	b.seg.size = best
	b.seg.bold = b.bold*10 >= b.letters*9
	b.seg.text = string(b.runes)
	return b.seg
}
