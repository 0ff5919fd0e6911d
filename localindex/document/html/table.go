package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"docent/localindex/document"
)

// table reads a table of data. One that only arranges a page is read as the blocks it holds.
func (r *reader) table(t *html.Node, a at) {
	rows := tableRows(t)
	if layout(t, rows) {
		for _, row := range rows {
			for _, cell := range cells(row) {
				r.inside(cell, a, a)
			}
		}
		return
	}
	for c := t.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Caption {
			r.inside(c, a, at{kind: document.Caption})
		}
	}
	var out [][]string
	header := false
	count := 0
	spans := map[int]*span{} // cells of rows above that reach down, by column
	for i, row := range rows {
		var line []string
		heads := true
		for _, cell := range cells(row) {
			if len(line) < maxSpan*10 {
				line = fill(line, spans)
			}
			text := r.textOf(cell)
			heads = heads && (cell.DataAtom == atom.Th || text == "")
			down, across := number(attr(cell, "rowspan")), number(attr(cell, "colspan"))
			for i := range across {
				if i > 0 {
					text = ""
				}
				if down > 1 {
					spans[len(line)] = &span{text: text, rows: down}
				}
				line = append(line, text)
			}
		}
		line = fill(line, spans)
		for col, s := range spans {
			if s.rows--; s.rows <= 0 {
				delete(spans, col)
			}
		}
		if count += len(line); count > maxCells {
			break
		}
		if i == 0 {
			header = heads && len(rows) > 1
		}
		out = append(out, line)
	}
	r.out = append(r.out, document.NewTable(out, header, 0))
}

type span struct {
	text string
	rows int // still to come, this one counted
}

// fill repeats the cells that reach down into this row, so that the row can be read alone.
func fill(line []string, spans map[int]*span) []string {
	for s := spans[len(line)]; s != nil; s = spans[len(line)] {
		line = append(line, s.text)
	}
	return line
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, maxSpan)
}

func tableRows(t *html.Node) []*html.Node {
	var rows []*html.Node
	for c := t.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tr:
			rows = append(rows, c)
		case atom.Tbody, atom.Thead, atom.Tfoot:
			rows = append(rows, tableRows(c)...)
		}
	}
	return rows
}

func cells(row *html.Node) []*html.Node {
	var all []*html.Node
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
			all = append(all, c)
		}
	}
	return all
}

// layout reports whether a table only arranges a page: it says so, holds tables or headings, or has one column.
func layout(t *html.Node, rows []*html.Node) bool {
	if role := attr(t, "role"); role == "presentation" || role == "none" {
		return true
	}
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(cells(row)))
	}
	if widest <= 1 {
		return true
	}
	for d := range t.Descendants() {
		switch d.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.Form, atom.Article:
			return true
		}
	}
	return false
}
