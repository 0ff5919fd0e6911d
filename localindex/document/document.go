// Package document is one parsed shape for documents of every format: a title and a list of blocks in reading order,
// with pages where the format has them.
//
// The formats are read by the packages below this one, each named after what it adapts. [Parse] chooses among the
// parsers it is handed; nothing registers itself, so that a program links only the formats it names.
package document

import (
	"slices"
	"strings"

	"docent/localindex/internal/prose"
)

// Format names what a document was read from.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	PDF      Format = "pdf"
	DOCX     Format = "docx"
	HTML     Format = "html"
	Plain    Format = "plain"
)

// Kind says what a block is.
type Kind string

// The kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	ListItem  Kind = "list_item"
	Table     Kind = "table"
	Quote     Kind = "quote"
	Code      Kind = "code"
	Caption   Kind = "caption"
	Footnote  Kind = "footnote"
)

// Document is what a file says.
type Document struct {
	Title    string  `json:"title,omitempty"` // as the file states it, else the heading above all others, else empty
	Format   Format  `json:"format"`
	Pages    int     `json:"pages,omitempty"`    // 0 where the format has none
	Language string  `json:"language,omitempty"` // a hint: "zh", "en", … or empty
	Blocks   []Block `json:"blocks"`             // in reading order

	// NeedsOCR are the pages (1-based, ascending) that are pictures of text and could not be read.
	NeedsOCR []int `json:"needs_ocr,omitempty"`
	// Recognised are the pages whose text was read from a picture of it.
	Recognised []Recognised `json:"recognised,omitempty"`
	// Partial tells that something beside the file did not do its part, and may do it another time.
	Partial bool `json:"partial,omitempty"`
	// Notes say in plain words what was left out of the file.
	Notes []string `json:"notes,omitempty"`
}

// Recognised is a page read by character recognition.
type Recognised struct {
	Page       int     `json:"page"`
	Confidence float64 `json:"confidence"` // mean of its words, 0 to 1
}

// Block is one piece of a document.
type Block struct {
	Kind Kind `json:"kind"`
	// Level is 1 to 6 for a heading, and the depth of a list item, 1 being the outermost. Else 0.
	Level int `json:"level,omitempty"`
	// Text is what a reader reads: one line, but for hard line breaks, code and tables. A list item begins with its
	// mark, "• " or the number it has. A footnote has no mark.
	Text string `json:"text"`
	Page int    `json:"page,omitempty"` // 1-based, where the block begins; 0 where the format has none
	// Rows are the cells of a table, every row as long as the longest.
	Rows [][]string `json:"rows,omitempty"`
	// RowPages are the pages of the rows where a table goes over several, else nil.
	RowPages []int `json:"row_pages,omitempty"`
	// Header tells that the first row of a table holds the headings of its columns.
	Header bool `json:"header,omitempty"`
}

// Bullet begins the text of an item of a list that is not numbered.
const Bullet = "• "

// NewTable makes a block of the cells of a table; they may be ragged. Its text has one row a line, each cell behind the
// heading of its column, so that a row can be read, found and cited alone. A table without a word has no text.
func NewTable(rows [][]string, header bool, page int) Block {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	var kept [][]string
	for i, row := range rows {
		if strings.TrimSpace(strings.Join(row, "")) == "" {
			header = header && i > 0
			continue
		}
		kept = append(kept, append(row[:len(row):len(row)], make([]string, width-len(row))...))
	}
	header = header && len(kept) > 0
	b := Block{Kind: Table, Page: page, Rows: kept, Header: header}
	var text []string
	for _, line := range b.Lines() {
		text = append(text, line.Text)
	}
	b.Text = strings.Join(text, "\n")
	return b
}

// Line is a row of a table as it is read.
type Line struct {
	Text string
	Page int // 1-based; 0 where the format has none
}

// RowPage is the page of a row of a table.
func (b Block) RowPage(row int) int {
	if row < len(b.RowPages) {
		return b.RowPages[row]
	}
	return b.Page
}

// Lines are the rows of a table as read one by one.
func (b Block) Lines() []Line {
	first := 0
	var head []string
	if b.Header && len(b.Rows) > 1 {
		head, first = b.Rows[0], 1
	}
	var lines []Line
	for n, row := range b.Rows[first:] {
		var parts []string
		for i, cell := range row {
			cell = strings.ReplaceAll(cell, "\n", " ")
			switch {
			case cell == "":
			case i < len(head) && head[i] != "":
				parts = append(parts, strings.ReplaceAll(head[i], "\n", " ")+": "+cell)
			default:
				parts = append(parts, cell)
			}
		}
		if len(parts) > 0 {
			lines = append(lines, Line{strings.Join(parts, "; "), b.RowPage(first + n)})
		}
	}
	return lines
}

// titleOf is the first heading, if it stands above everything: it comes first, or it alone is of the highest rank. One
// further down heads only what is below it.
func titleOf(blocks []Block) string {
	first := slices.IndexFunc(blocks, func(b Block) bool { return b.Kind == Heading })
	if first < 0 {
		return ""
	}
	highest := func(b Block) bool { return b.Kind == Heading && b.Level == 1 }
	if first > 0 && (!highest(blocks[first]) || slices.ContainsFunc(blocks[first+1:], highest)) {
		return ""
	}
	return blocks[first].Text
}

// Finish takes out blocks without text, fills in the title and the language where the parser found none, and counts
// what the limits count. Every parser ends with it.
func Finish(d Document, declaredLanguage string) (Document, error) {
	kept := d.Blocks[:0]
	size := 0
	for _, b := range d.Blocks {
		if strings.TrimSpace(b.Text) == "" {
			continue
		}
		size += len(b.Text)
		kept = append(kept, b)
	}
	d.Blocks = kept
	if len(kept) > MaxBlocks {
		return Document{}, &Error{Op: "read", Reason: "it has too many paragraphs", Hint: "divide it into several files", Err: ErrTooLarge}
	}
	if size > MaxText {
		return Document{}, &Error{Op: "read", Reason: "it holds too much text", Hint: "divide it into several files", Err: ErrTooLarge}
	}
	d.Title = prose.Tidy(d.Title)
	if d.Title == "" {
		d.Title = titleOf(kept)
	}
	d.Language = language(kept, declaredLanguage)
	return d, nil
}
