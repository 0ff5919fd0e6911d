package ingest

import (
	"bytes"
	"fmt"
)

// Limits of what a Markdown parser takes time for that grows with the square: measured on 1 MiB, "> > >…" and
// "[a]([a](…" run for minutes. No text that people write comes near them.
const (
	maxNesting  = 50    // quotations and lists that begin in one line
	maxIndent   = 400   // columns before the text of a line
	maxBrackets = 5_000 // [ in one paragraph
)

// overNested finds what would take the parser too long: line is 1-based in the body, and problem is "" where there is
// nothing.
func overNested(body []byte) (line int, problem string) {
	brackets := 0
	for text := range bytes.Lines(body) {
		line++
		indent, nesting := margin(text)
		brackets += bytes.Count(text, []byte("["))
		if len(bytes.TrimSpace(text)) == 0 {
			brackets = 0
		}
		switch {
		case nesting > maxNesting:
			return line, fmt.Sprintf("more than %d quotations or lists begin in this line", maxNesting)
		case indent > maxIndent:
			return line, fmt.Sprintf("this line is indented by more than %d columns", maxIndent)
		case brackets > maxBrackets:
			return line, fmt.Sprintf("there are more than %d opening brackets in this paragraph", maxBrackets)
		}
	}
	return 0, ""
}

// margin measures what stands before the text of a line: columns of white space, and marks of quotations and lists.
func margin(line []byte) (indent, nesting int) {
	for i, c := range line {
		next := byte('\n')
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case c == ' ':
			indent++
		case c == '\t':
			indent += 4
		case c == '>', bytes.IndexByte([]byte("-*+.)"), c) >= 0 && (next == ' ' || next == '\t'):
			nesting++
		case c >= '0' && c <= '9':
		default:
			return indent, nesting
		}
	}
	return indent, nesting
}
