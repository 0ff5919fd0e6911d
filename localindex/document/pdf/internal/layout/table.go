package layout

import (
	"slices"
	"strings"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// tableAt reads a table that begins with the first of rows, and says how many rows it takes; 0 is no table. A table is
// a run of rows of several stretches that fall into the same columns.
func tableAt(rows []row, page int) (int, item) {
	if len(rows[0]) < 2 {
		return 0, item{}
	}
	n, multi := tableExtent(rows)
	columns := columnsOf(rows[:n])
	if len(columns) < 2 || multi < 2 {
		return 0, item{}
	}
	if multi < 3 && len(columns) < 3 {
		return 0, item{}
	}
	cells, bold := tableCells(rows[:n], columns)
	// Headings of columns are bold, or at least no numbers.
	header := len(cells) > 1 && (bold || len(columns) > 2 && !strings.ContainsAny(strings.Join(cells[0], ""), "0123456789"))
	b := document.NewTable(cells, header, page)
	it := newItem(b, rows[:n])
	it.columns, it.grid = len(columns), columns
	return n, it
}

// rest reads the rows at the top of a page that go on a table of the page before.
func rest(rows []row, columns []column, page int) (int, item) {
	n := 0
	for n < len(rows) && len(rows[n]) > 1 && (n == 0 || rows[n].base()-rows[n-1].base() < 3.5*rows[n].size()) && fits(rows[n], columns) {
		n++
	}
	if n == 0 {
		return 0, item{}
	}
	cells, _ := tableCells(rows[:n], columns)
	it := newItem(document.NewTable(cells, false, page), rows[:n])
	it.columns, it.grid = len(columns), columns
	return n, it
}

// fits reports whether every stretch of a row stands in a column of its own.
func fits(r row, columns []column) bool {
	used := map[int]bool{}
	for _, s := range r {
		at := -1
		for i, c := range columns {
			if s.x0 < c.x1+s.size && s.x1 > c.x0-s.size && (at < 0 || s.x0 >= c.x0-0.5*s.size) {
				at = i
			}
		}
		if at < 0 || used[at] {
			return false
		}
		used[at] = true
	}
	return true
}

// tableExtent counts the rows that may belong to one table, and those of them with several cells.
func tableExtent(rows []row) (n, multi int) {
	for i, r := range rows {
		em := max(1, r.size())
		if i > 0 {
			gap := r.base() - rows[i-1].base()
			if gap > 3.5*em {
				break
			}
			if len(r) < 2 && (!within(r, rows[:i]) || gap > 1.6*em) {
				break
			}
			if len(columnsOf(rows[:i+1])) < 2 {
				break
			}
		}
		n = i + 1
		if len(r) > 1 {
			multi++
		}
	}
	for n > 0 && len(rows[n-1]) < 2 && !within(rows[n-1], rows[:n-1]) {
		n--
	}
	return n, multi
}

// within reports whether a single stretch goes on a cell of the rows above: it stands in one column and is not the
// beginning of a line that goes beyond it.
func within(r row, above []row) bool {
	for _, c := range columnsOf(above) {
		if r.x0() >= c.x0-r.size() && r.x1() <= c.x1+r.size() {
			return true
		}
	}
	return false
}

// column is the extent of a column.
type column struct{ x0, x1 float32 }

// columnsOf finds the columns of rows: stretches that overlap from row to row are in one.
func columnsOf(rows []row) []column {
	var all []column
	for _, r := range rows {
		for _, s := range r {
			all = append(all, column{s.x0, s.x1})
		}
	}
	slices.SortFunc(all, func(a, b column) int {
		switch {
		case a.x0 < b.x0:
			return -1
		case a.x0 > b.x0:
			return 1
		}
		return 0
	})
	var merged []column
	for _, c := range all {
		if n := len(merged); n > 0 && c.x0 < merged[n-1].x1 {
			merged[n-1].x1 = max(merged[n-1].x1, c.x1)
			continue
		}
		merged = append(merged, c)
	}
	return merged
}

// tableCells fills the grid. A row that has nothing in the first column and stands close goes on the row above. bold
// tells that the first row is, and not all others are.
func tableCells(rows []row, columns []column) (cells [][]string, bold bool) {
	var parts [][][]string
	lead := tightest(rows)
	for i, r := range rows {
		line := make([][]string, len(columns))
		for _, s := range r {
			for j, c := range columns {
				if s.x0 < c.x1+0.1 || j == len(columns)-1 {
					line[j] = append(line[j], s.text)
					break
				}
			}
		}
		gap := float32(0)
		if i > 0 {
			gap = r.base() - rows[i-1].base()
		}
		// Cells in the middle of their row stand between the lines of others.
		goesOn := i > 0 && ((len(line[0]) == 0 || len(r) == 1) && gap <= lead*1.15 || gap < 0.95*r.size())
		if !goesOn {
			parts = append(parts, line)
			continue
		}
		for j := range line {
			parts[len(parts)-1][j] = append(parts[len(parts)-1][j], line[j]...)
		}
	}
	for _, line := range parts {
		var texts []string
		for _, cell := range line {
			texts = append(texts, prose.Join(cell))
		}
		cells = append(cells, texts)
	}
	rest := true
	for _, r := range rows[1:] {
		rest = rest && r.bold()
	}
	return cells, rows[0].bold() && !rest
}

// tightest is the smallest distance of two rows.
func tightest(rows []row) float32 {
	least := float32(1e9)
	for i := 1; i < len(rows); i++ {
		if d := rows[i].base() - rows[i-1].base(); d > 0 {
			least = min(least, d)
		}
	}
	return least
}
