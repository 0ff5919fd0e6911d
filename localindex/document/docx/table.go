package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"docent/localindex/document"
)

// cell is one cell of a table.
type cell struct {
	text   string
	blocks []document.Block
	span   int
	merged bool // goes on from the cell above
}

// table reads a table. One of a single cell is a frame around text and read as that text.
func (r *reader) table(depth int) error {
	firstRow, declared := true, false
	var rows [][]cell
	if err := r.d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "tblPr":
			return r.d.each(func(e xml.StartElement) error {
				if word(e.Name) == "tblLook" {
					firstRow = firstRowLook(e)
				}
				return r.d.skip()
			}, nil)
		case "tr", "ins", "sdt", "sdtContent":
			if word(e.Name) != "tr" {
				return r.rows(&rows, &declared, depth)
			}
			return r.row(&rows, &declared, depth)
		}
		return r.d.skip()
	}, nil); err != nil {
		return err
	}
	if len(rows) == 1 && len(rows[0]) == 1 && depth == 0 {
		for _, b := range rows[0][0].blocks {
			r.add(b, look{})
		}
		return nil
	}
	r.add(document.NewTable(grid(rows), (firstRow || declared) && len(rows) > 1, 0), look{})
	return nil
}

// rows reads rows that stand within something else.
func (r *reader) rows(rows *[][]cell, declared *bool, depth int) error {
	return r.d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "tr":
			return r.row(rows, declared, depth)
		case "sdtContent":
			return r.rows(rows, declared, depth)
		}
		return r.d.skip()
	}, nil)
}

// firstRowLook reads whether a table's look has a first row that heads the columns.
func firstRowLook(e xml.StartElement) bool {
	if v := attr(e, "firstRow"); v != "" {
		return v == "1" || v == "true"
	}
	bits, err := strconv.ParseUint(attr(e, "val"), 16, 32)
	return err != nil || bits&0x20 != 0
}

func (r *reader) row(rows *[][]cell, declared *bool, depth int) error {
	var row []cell
	deleted := false
	var read func(e xml.StartElement) error
	read = func(e xml.StartElement) error {
		switch word(e.Name) {
		case "trPr":
			return r.d.each(func(e xml.StartElement) error {
				switch word(e.Name) {
				case "tblHeader":
					*declared = *declared || on(e) && len(*rows) == 0
				case "del":
					deleted = true
				}
				return r.d.skip()
			}, nil)
		case "tc":
			c, err := r.cell(depth)
			row = append(row, c)
			return err
		case "sdt", "sdtContent", "customXml":
			return r.d.each(read, nil)
		}
		return r.d.skip()
	}
	if err := r.d.each(read, nil); err != nil {
		return err
	}
	if !deleted {
		*rows = append(*rows, row)
	}
	return nil
}

func (r *reader) cell(depth int) (cell, error) {
	c := cell{span: 1}
	inner := &reader{ctx: r.ctx, d: r.d, styles: r.styles, lists: r.lists, notes: r.notes, said: r.said}
	err := r.d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "tcPr":
			return r.d.each(func(e xml.StartElement) error {
				switch word(e.Name) {
				case "gridSpan":
					c.span = gridSpan(e)
				case "vMerge":
					c.merged = attr(e, "val") != "restart"
				}
				return r.d.skip()
			}, nil)
		case "p":
			return inner.paragraph()
		case "tbl":
			return inner.table(depth + 1)
		case "sdt", "sdtContent", "ins", "customXml":
			return inner.blocks(depth + 1)
		}
		return r.d.skip()
	}, nil)
	c.blocks = inner.out
	var parts []string
	for _, b := range inner.out {
		parts = append(parts, b.Text)
	}
	c.text = strings.Join(parts, "\n")
	return c, err
}

// grid lays out the cells. What is merged downwards is repeated, so that each row can be read alone.
func grid(rows [][]cell) [][]string {
	var out [][]string
	for i, row := range rows {
		var line []string
		for _, c := range row {
			text := c.text
			if c.merged && i > 0 && len(line) < len(out[i-1]) {
				text = out[i-1][len(line)]
			}
			line = append(line, text)
			for range c.span - 1 {
				line = append(line, "")
			}
		}
		out = append(out, line)
	}
	return out
}
