package layout

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"docent/localindex/document"
	"docent/localindex/document/internal/lines"
	"docent/localindex/internal/prose"
)

// row is the segments of one line, from left to right.
type row []segment

func (r row) x0() float32 { return r[0].x0 }
func (r row) x1() float32 { return r[len(r)-1].x1 }
func (r row) base() float32 {
	return r[0].base
}

func (r row) size() float32 {
	s := float32(0)
	for _, seg := range r {
		s = max(s, seg.size)
	}
	return s
}

func (r row) bold() bool {
	for _, seg := range r {
		if !seg.bold {
			return false
		}
	}
	return true
}

func (r row) text() string {
	var b strings.Builder
	for i, s := range r {
		switch {
		case i == 0:
		case s.x0-r[i-1].x1 < 0.7*s.size:
			b.WriteRune(prose.SoftBreak) // no space between Chinese characters
		default:
			b.WriteByte(' ')
		}
		b.WriteString(s.text)
	}
	return b.String()
}

// inOrder makes rows of segments that are in reading order already.
func inOrder(segs []segment) []row {
	var rows []row
	for _, s := range segs {
		if n := len(rows); n > 0 {
			last := rows[n-1][len(rows[n-1])-1]
			if sameLine(last, s) && s.x0 >= last.x1-0.6*s.size {
				rows[n-1] = append(rows[n-1], s)
				continue
			}
		}
		rows = append(rows, row{s})
	}
	return rows
}

func sameLine(a, b segment) bool {
	d := a.base - b.base
	return d < 0.4*max(a.size, b.size) && d > -0.4*max(a.size, b.size)
}

// byPlace makes rows of segments by where they stand.
func byPlace(segs []segment) []row {
	segs = slices.Clone(segs)
	sort.SliceStable(segs, func(i, j int) bool { return segs[i].base < segs[j].base })
	var rows []row
	for _, s := range segs {
		if n := len(rows); n > 0 && sameLine(rows[n-1][0], s) && !overlaps(rows[n-1], s) {
			rows[n-1] = append(rows[n-1], s)
		} else {
			rows = append(rows, row{s})
		}
	}
	for _, r := range rows {
		sort.SliceStable(r, func(i, j int) bool { return r[i].x0 < r[j].x0 })
	}
	return rows
}

func overlaps(r row, s segment) bool {
	for _, o := range r {
		if s.x0 < o.x1-0.5*s.size && o.x0 < s.x1-0.5*s.size {
			return true
		}
	}
	return false
}

// leader is the line of a table of contents.
var leader = regexp.MustCompile(`(?:[.·•…‥]\s?){4,}\s*[\divxlc]+\s*$`)

// untagged reads a page by how it looks. before is the last item of the page before it, if there is one: a table there
// may go on here.
func untagged(p *Page, body float32, before *item) []item {
	glyphs := withDots(p)
	segs := segments(glyphs, writesSpaces(glyphs))
	var items []item
	for i, region := range regions(segs, 0) {
		rows := withMarks(byPlace(region))
		rows = slices.DeleteFunc(rows, func(r row) bool { return leader.MatchString(r.text()) })
		if i == 0 && before != nil && before.Kind == document.Table {
			if n, table := rest(rows, before.grid, p.Number); n > 0 {
				table.region = 1
				items = append(items, table)
				rows = rows[n:]
			}
		}
		for _, it := range regionItems(rows, p.Number) {
			it.region = i + 1
			items = append(items, it)
		}
	}
	return footnotes(items, body, p.Height)
}

// Columns of text need so many lines, and their lines must fill so much of the width that a table's cells are none.
const (
	minColumnLines = 4
	minFill        = 0.55
)

// regions divides a page into columns, in reading order. What goes across columns divides them into those above and
// those below it.
func regions(segs []segment, depth int) [][]segment {
	if len(segs) == 0 {
		return nil
	}
	x, ok := gutter(segs)
	if !ok || depth > 4 {
		return [][]segment{segs}
	}
	sorted := slices.Clone(segs)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].base < sorted[j].base })
	var out [][]segment
	var left, right, across []segment
	flush := func() {
		out = append(out, regions(left, depth+1)...)
		out = append(out, regions(right, depth+1)...)
		left, right = nil, nil
	}
	flushAcross := func() {
		if len(across) > 0 {
			out = append(out, across)
			across = nil
		}
	}
	for _, s := range sorted {
		switch {
		case s.x0 < x && s.x1 > x:
			flush()
			across = append(across, s)
		case s.x1 <= x:
			flushAcross()
			left = append(left, s)
		default:
			flushAcross()
			right = append(right, s)
		}
	}
	flushAcross()
	flush()
	return out
}

// gutter finds where a page divides into a left and a right column.
func gutter(segs []segment) (float32, bool) {
	edges := make([]float32, 0, len(segs))
	for _, s := range segs {
		edges = append(edges, s.x0)
	}
	slices.Sort(edges)
	best, bestScore, found := float32(0), 0, false
	last := float32(-1e9)
	for _, e := range edges {
		if e-last < 1 {
			continue
		}
		last = e
		if score := columnsAt(segs, e-0.5); score > bestScore {
			best, bestScore, found = e-0.5, score, true
		}
	}
	return best, found
}

// columnsAt scores a place as the left edge of a right column; 0 is none.
func columnsAt(segs []segment, x float32) int {
	var left, right []segment
	across := 0
	nearest := float32(-1e9)
	for _, s := range segs {
		switch {
		case s.x0 < x && s.x1 > x:
			across++
		case s.x1 <= x:
			left = append(left, s)
			nearest = max(nearest, s.x1)
		default:
			right = append(right, s)
		}
	}
	if len(left) < minColumnLines || len(right) < minColumnLines || across*2 > len(left)+len(right) {
		return 0
	}
	size := left[len(left)/2].size
	if x-nearest < 0.7*size || !filled(left) || !filled(right) || !beside(left, right) {
		return 0
	}
	return len(left) + len(right) - 2*across
}

// filled reports whether segments are the lines of a column of text.
func filled(segs []segment) bool {
	x0, x1 := segs[0].x0, segs[0].x1
	for _, s := range segs {
		x0, x1 = min(x0, s.x0), max(x1, s.x1)
	}
	full, long := 0, 0
	for _, s := range segs {
		if s.width() >= 0.75*(x1-x0) {
			full++
		}
		if prose.Units(s.text) >= 56 { // 8 characters of Chinese, 14 of English
			long++
		}
	}
	return float64(full) >= minFill*float64(len(segs)) && long*2 >= len(segs)
}

// beside reports whether two columns stand beside each other for most of the shorter.
func beside(left, right []segment) bool {
	top := func(segs []segment) (a, b float32) {
		a, b = segs[0].base, segs[0].base
		for _, s := range segs {
			a, b = min(a, s.base-s.size), max(b, s.base)
		}
		return a, b
	}
	l0, l1 := top(left)
	r0, r1 := top(right)
	return min(l1, r1)-max(l0, r0) >= 0.5*min(l1-l0, r1-r0)
}

// withMarks joins the mark of an item, drawn apart, with its text.
func withMarks(rows []row) []row {
	for i, r := range rows {
		if len(r) < 2 || r[1].x0-r[0].x1 > 4*r[0].size {
			continue
		}
		if mark, _, ok := lines.Mark(plainSup(r[0].text) + " x"); ok && prose.Letters(r[0].text) <= prose.Letters(mark) {
			joined := r[1]
			joined.text = r[0].text + " " + r[1].text
			joined.x0 = r[0].x0
			rows[i] = append(row{joined}, r[2:]...)
		}
	}
	return rows
}

// regionItems divides the rows of a column into tables and paragraphs.
func regionItems(rows []row, page int) []item {
	var items []item
	start := 0
	for i := 0; i < len(rows); {
		n, table := tableAt(rows[i:], page)
		if n == 0 {
			i++
			continue
		}
		items = append(items, paragraphs(rows[start:i], page)...)
		items = append(items, table)
		i += n
		start = i
	}
	return append(items, paragraphs(rows[start:], page)...)
}

// paragraphs divides rows of one column into paragraphs and items.
func paragraphs(rows []row, page int) []item {
	if len(rows) == 0 {
		return nil
	}
	right := float32(0)
	left := rows[0].x0()
	for _, r := range rows {
		right = max(right, r.x1())
		left = min(left, r.x0())
	}
	lead := leading(rows)
	var items []item
	var current []row
	flush := func() {
		if len(current) > 0 {
			items = append(items, paragraph(current, page))
			current = nil
		}
	}
	for i, r := range rows {
		if i > 0 && begins(current, r, left, right, lead) {
			flush()
		}
		current = append(current, r)
	}
	flush()
	levels(items)
	return items
}

// leading is the usual distance of lines, or 0 where there is one line.
func leading(rows []row) float32 {
	var all []float32
	for i := 1; i < len(rows); i++ {
		if d := rows[i].base() - rows[i-1].base(); d > 0 && rows[i].size() == rows[i-1].size() {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/3] // gaps of paragraphs are the larger ones
}

// begins reports whether a row begins a new paragraph.
func begins(current []row, r row, left, right, lead float32) bool {
	first, prev := current[0], current[len(current)-1]
	em := max(prev.size(), r.size(), 1)
	gap := r.base() - prev.base()
	if d := r.size() - prev.size(); d > 0.08*em || d < -0.08*em {
		return true
	}
	if len(current) > 1 {
		lead = prev.base() - current[len(current)-2].base() // its own
	} else {
		lead = max(lead, 1.1*em)
	}
	if gap > 1.3*lead+0.05*em || gap > 2.2*em || gap < -0.5*em || r.bold() != prev.bold() && (r.bold() || first.bold()) {
		return true
	}
	if _, _, ok := lines.Mark(plainSup(r.text())); ok && !continuesNumber(prev, r) {
		return true
	}
	_, _, listed := lines.Mark(plainSup(first.text()))
	indent := r.x0() - prev.x0()
	switch {
	case listed && len(current) == 1 && indent > -0.3*em && indent < 4*em:
	case len(current) == 1 && indent < -0.3*em && indent > -4*em && first.x0()-left > 0.3*em: // the first line is indented
	case indent > 0.8*em && !listed:
		return true
	case indent > 0.8*em, indent < -0.8*em && listed:
		return true
	}
	// The line before ended early: what begins this one would have fitted.
	return prev.x1()+firstWord(r)+0.4*em < right && lines.EndsSentence(plainSup(prev.text())) || prev.x1()+firstWord(r)+4*em < right && centred(prev, left, right) == centred(r, left, right)
}

// continuesNumber reports whether what looks like the mark of an item is a number that a sentence was broken before.
func continuesNumber(prev, r row) bool {
	c := []rune(strings.TrimSpace(r.text()))
	t := plainSup(prev.text())
	return len(c) > 0 && unicode.IsDigit(c[0]) && !lines.EndsSentence(t) && prose.Units(t) > 160 && !strings.HasSuffix(t, ":") && !strings.HasSuffix(t, "：")
}

func centred(r row, left, right float32) bool {
	l, rr := r.x0()-left, right-r.x1()
	return l > 2*r.size() && l-rr < r.size() && rr-l < r.size()
}

// firstWord is the width of what may not be parted from the beginning of a row.
func firstWord(r row) float32 {
	s := r[0]
	t := []rune(s.text)
	n := 0
	for n < len(t) && !unicode.IsSpace(t[n]) && !prose.Unspaced(t[n]) {
		n++
	}
	if n == 0 {
		n = min(2, len(t))
	}
	return s.width() * float32(n) / float32(max(1, len(t)))
}

// paragraph makes an item of rows.
func paragraph(rows []row, page int) item {
	b := document.Block{Kind: document.Paragraph, Text: textOf(rows), Page: page}
	if mark, rest, ok := lines.Mark(b.Text); ok && rest != "" {
		b.Kind, b.Level, b.Text = document.ListItem, 1, mark+rest
	}
	return newItem(b, rows)
}

func newItem(b document.Block, rows []row) item {
	it := item{Block: b, lines: len(rows), bold: true, x0: rows[0].x0(), bottom: rows[len(rows)-1].base()}
	for _, r := range rows {
		it.size = max(it.size, r.size())
		it.bold = it.bold && r.bold()
	}
	return it
}

// levels sets the depth of items of lists by their indent.
func levels(items []item) {
	var open []float32
	for i := range items {
		it := &items[i]
		if it.Kind != document.ListItem {
			if it.Kind == document.Paragraph {
				open = open[:0]
			}
			continue
		}
		for len(open) > 0 && it.x0 < open[len(open)-1]-0.5*it.size {
			open = open[:len(open)-1]
		}
		if len(open) == 0 || it.x0 > open[len(open)-1]+0.5*it.size {
			open = append(open, it.x0)
		}
		it.Level = len(open)
	}
}

func textOf(rows []row) string {
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = r.text()
	}
	return prose.Join(parts)
}
