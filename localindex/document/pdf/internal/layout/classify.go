package layout

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/localindex/document"
	"docent/localindex/document/internal/lines"
	"docent/localindex/internal/prose"
)

// A heading is so much larger than the text.
const headingScale = 1.14

var (
	superscript = regexp.MustCompile("\uF8F0([^\uF8F1]*)\uF8F1?")
	noteMark    = regexp.MustCompile("^(?:\uF8F0)?[\\[(（〔]?(\\d{1,3}|[*†‡]|[①-⑳])[\\])）〕.、]?(?:\uF8F1)?[\\s\u3000]*")
)

func plainSup(s string) string { return superscript.ReplaceAllString(s, "$1") }

// footnotes marks small print at the foot of a page that begins with a number, and takes out that number and its
// counterpart in the text.
func footnotes(items []item, body, height float32) []item {
	noted := map[string]bool{}
	for i := len(items) - 1; i >= 0; i-- {
		it := &items[i]
		if it.bottom < 0.5*height || it.size > 0.92*body || it.Kind == document.Table {
			break
		}
		m := noteMark.FindStringSubmatch(it.Text)
		if m == nil || len(m[0]) == len(it.Text) {
			continue
		}
		noted[m[1]] = true
		it.Kind, it.Level, it.Text = document.Footnote, 0, it.Text[len(m[0]):]
	}
	if len(noted) == 0 {
		return items
	}
	for i := range items {
		items[i].Text = superscript.ReplaceAllStringFunc(items[i].Text, func(s string) string {
			if noted[strings.Trim(s, "\uF8F0\uF8F1[]")] {
				return ""
			}
			return s
		})
	}
	return items
}

// classify finds headings and captions by their look, where tags do not say, and finishes texts.
func classify(items []item, body float32) []item {
	tags := slices.ContainsFunc(items, func(it item) bool { return it.tagged && it.Kind == document.Heading })
	var sizes []int
	bodyBold := mostlyBold(items)
	for i := range items {
		it := &items[i]
		it.Text = prose.WithoutLigatures(plainSup(it.Text))
		for _, r := range it.Rows {
			for j := range r {
				r[j] = prose.WithoutLigatures(plainSup(r[j]))
			}
		}
		if it.Kind == document.Paragraph && lines.Caption(it.Text) && it.lines <= 3 {
			it.Kind = document.Caption
		}
		if it.tagged && tags || it.Kind != document.Paragraph && !(it.Kind == document.ListItem && !it.tagged && it.size >= headingScale*body) {
			continue
		}
		larger := it.size >= headingScale*body
		if !(larger || it.bold && !bodyBold) || it.lines > 3 || !lines.Title(it.Text) || !larger && it.lines > 2 {
			continue
		}
		it.Kind, it.Level = document.Heading, 0
		size := it.sizeClass(body)
		if !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	for i := range items {
		if it := &items[i]; it.Kind == document.Heading && it.Level == 0 {
			it.Level = min(6, slices.Index(sizes, it.sizeClass(body))+1)
		}
	}
	return items
}

// sizeClass is the size in half points; headings of the size of the text, or smaller, are of one class.
func (it item) sizeClass(body float32) int {
	if it.size < headingScale*body {
		return 0
	}
	return int(math.Round(float64(it.size) * 2))
}

// mostlyBold reports whether bold letters are common, and so say nothing.
func mostlyBold(items []item) bool {
	bold, all := 0, 0
	for _, it := range items {
		n := prose.Letters(it.Text)
		if it.bold {
			bold += n
		}
		all += n
	}
	return bold*3 > all
}

// joined puts together what the end of a page or column divided: paragraphs that do not end as a sentence does, and
// tables of equal columns.
func joined(items []item) []item {
	var out []item
	for _, it := range items {
		i := lastText(out)
		if i >= 0 && it.Kind != document.Footnote && goesOn(out[i], it, len(out)-1-i) {
			out[i].lastPage = it.Page
			if it.Kind == document.Table {
				out[i].join(it)
			} else {
				out[i].Text = prose.Join([]string{out[i].Text, it.Text})
				out[i].region, out[i].bottom, out[i].lines = it.region, it.bottom, out[i].lines+it.lines
			}
			continue
		}
		out = append(out, it)
	}
	return out
}

// lastText is the last item that is no footnote.
func lastText(items []item) int {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind != document.Footnote {
			return i
		}
	}
	return -1
}

// goesOn reports whether b, notes footnotes after a, is the rest of it.
func goesOn(a, b item, notes int) bool {
	newPage := a.endPage() < b.Page
	if !newPage && (a.region == b.region || notes > 0) {
		return false
	}
	if a.tagged && b.tagged && a.id != "" && b.id != "" && a.Kind == b.Kind {
		return a.id == b.id
	}
	if a.Kind == document.Table && b.Kind == document.Table {
		return a.columns == b.columns
	}
	if a.Kind == document.Heading && b.Kind == document.Heading || a.Kind == document.Table || a.Kind == document.Heading || a.Kind == document.Code || a.Kind == document.Caption {
		return false
	}
	if b.Kind != document.Paragraph && !(b.Kind == document.Quote && a.Kind == document.Quote) || strings.HasSuffix(a.Text, ":") || strings.HasSuffix(a.Text, "：") {
		return false
	}
	if d := a.size - b.size; d > 0.08*a.size || d < -0.08*a.size || a.bold != b.bold {
		return false
	}
	first, _ := utf8.DecodeRuneInString(b.Text)
	return !lines.EndsSentence(a.Text) && (prose.Wide(first) || !unicode.IsUpper(first) || a.lines > 1)
}

// endPage is the page an item ends on, as far as it was joined.
func (it item) endPage() int { return max(it.Page, it.lastPage) }

// join adds the rows of a table that goes on; headings that are repeated there are left out.
func (it *item) join(next item) {
	rows := next.Rows
	if len(it.Rows) > 0 && len(rows) > 0 && slices.Equal(it.Rows[0], rows[0]) {
		rows = rows[1:]
	}
	pages := make([]int, 0, len(it.Rows)+len(rows))
	for i := range it.Rows {
		pages = append(pages, it.RowPage(i))
	}
	for range rows {
		pages = append(pages, next.Page)
	}
	it.Block = document.NewTable(append(it.Rows, rows...), it.Header, it.Page)
	it.RowPages = pages // no row of either is empty
	it.bottom, it.region, it.grid = next.bottom, next.region, next.grid
}
