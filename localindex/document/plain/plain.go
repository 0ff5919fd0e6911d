// Package plain reads text without mark-up, as old catalogues and notes are written: the encoding is detected, lines
// that were broken at a margin are joined, and lists and obvious headings are recognised.
package plain

import (
	"context"
	"regexp"
	"strings"
	"unicode"

	"docent/localindex/document"
	"docent/localindex/document/internal/charset"
	"docent/localindex/document/internal/lines"
	"docent/localindex/internal/prose"
)

// MaxBytes is the largest file that is read.
const MaxBytes = 8 << 20

// maxColumn is the widest line, in units of prose, that may have been broken at a margin: 120 columns.
const maxColumn = 480

// Parser reads plain text.
type Parser struct{}

var _ document.Parser = Parser{}

// Parse reads one text.
func (Parser) Parse(ctx context.Context, name string, data []byte) (document.Document, error) {
	if len(data) > MaxBytes {
		return document.Document{}, document.TooLarge(name, len(data), MaxBytes)
	}
	text, _, err := charset.Decode(data)
	if err != nil {
		return document.Document{}, err
	}
	if err := ctx.Err(); err != nil {
		return document.Document{}, err
	}
	return document.Finish(document.Document{Format: document.Plain, Blocks: Blocks(text, 0)}, "")
}

var (
	underline = regexp.MustCompile(`^\s*(=+|-+|~+|\*+)\s*$`)
	rule      = regexp.MustCompile(`^[\s=\-_*~#·—─]+$`)
)

// Blocks finds the blocks of a text; page is the page they are on.
func Blocks(text string, page int) []document.Block {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\v", "\n").Replace(text)
	var blocks []document.Block
	var group []string
	flush := func() {
		blocks = append(blocks, groupBlocks(group, page)...)
		group = group[:0]
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			flush()
			continue
		}
		group = append(group, line)
	}
	flush()
	return blocks
}

// groupBlocks reads lines that no blank line divides.
func groupBlocks(group []string, page int) []document.Block {
	if len(group) == 0 {
		return nil
	}
	if len(group) >= 2 && underline.MatchString(group[1]) && lines.Short(strings.TrimSpace(group[0])) && len(strings.TrimSpace(group[1])) >= 3 {
		level := 2
		if strings.Contains(group[1], "=") {
			level = 1
		}
		head := document.Block{Kind: document.Heading, Level: level, Text: prose.Tidy(group[0]), Page: page}
		return append([]document.Block{head}, groupBlocks(group[2:], page)...)
	}
	if len(group) == 1 {
		line := prose.Tidy(group[0])
		if rule.MatchString(line) {
			return nil
		}
		if level, ok := headingLine(line); ok {
			return []document.Block{{Kind: document.Heading, Level: level, Text: line, Page: page}}
		}
	}
	var blocks []document.Block
	for _, part := range paragraphs(group) {
		blocks = append(blocks, paragraph(part, page))
	}
	return blocks
}

// headingLine reports whether a line that stands alone is a heading: by its number, or all in capitals.
func headingLine(line string) (level int, ok bool) {
	if level, ok := lines.Numbered(line); ok {
		return level, true
	}
	if !lines.Short(line) {
		return 0, false
	}
	upper := 0
	for _, r := range line {
		if unicode.IsLower(r) || unicode.IsLetter(r) && !unicode.IsUpper(r) {
			return 0, false
		}
		if unicode.IsUpper(r) {
			upper++
		}
	}
	return 2, upper >= 4
}

// paragraphs divides lines where one begins an item of a list, is indented deeper than the line before, or where the
// lines were not broken at a margin and end as sentences do.
func paragraphs(group []string) [][]string {
	wrapped := brokenAtMargin(group)
	var all [][]string
	for i, line := range group {
		begins := i == 0
		if !begins {
			_, _, item := lines.Mark(strings.TrimSpace(line))
			begins = item || paragraphIndent(line) && !paragraphIndent(group[i-1]) || paragraphIndent(line) && lines.EndsSentence(strings.TrimSpace(group[i-1])) ||
				!wrapped && (lines.EndsSentence(strings.TrimSpace(group[i-1])) || prose.Units(group[i-1]) > maxColumn)
		}
		if begins {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], line)
	}
	return all
}

// paragraphIndent reports whether a line is indented as the first of a Chinese paragraph is.
func paragraphIndent(line string) bool {
	return strings.HasPrefix(line, "\u3000") || strings.HasPrefix(line, "    ") && prose.Wide([]rune(strings.TrimSpace(line) + " ")[0])
}

// brokenAtMargin reports whether all lines but the last of a paragraph reach about equally far.
func brokenAtMargin(group []string) bool {
	if len(group) < 2 {
		return false
	}
	widest := 0
	for _, line := range group {
		widest = max(widest, prose.Units(line))
	}
	if widest > maxColumn {
		return false
	}
	short := 0
	for _, line := range group[:len(group)-1] {
		if prose.Units(line)*4 < widest*3 {
			short++
		}
	}
	return widest >= 120 && short*4 <= len(group)-1 // 30 columns
}

// paragraph makes a block of the lines of a paragraph or of an item.
func paragraph(part []string, page int) document.Block {
	first := strings.TrimSpace(part[0])
	if mark, rest, ok := lines.Mark(first); ok && rest != "" {
		return document.Block{Kind: document.ListItem, Level: 1 + indent(part[0])/2, Text: mark + prose.Join(append([]string{rest}, part[1:]...)), Page: page}
	}
	b := document.Block{Kind: document.Paragraph, Page: page}
	if len(part) == 1 || brokenAtMargin(part) {
		b.Text = prose.Join(part)
	} else {
		b.Text = prose.Tidy(strings.Join(part, "\n")) // verses, addresses
	}
	return b
}

// indent counts the columns before a line, up to 10.
func indent(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4
		case '\u3000':
			n += 2
		default:
			return min(n, 10)
		}
	}
	return 0
}
