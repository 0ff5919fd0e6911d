package ingest

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// sourceMark is [^key] in a text: what stands before it rests on that source.
type sourceMark struct {
	ast.BaseInline
	key     string
	start   int  // offset in the body
	defines bool // "[^key]:" at the start of a paragraph, the way footnotes are written elsewhere
}

var sourceMarkKind = ast.NewNodeKind("SourceMark")

// Kind implements ast.Node.
func (n *sourceMark) Kind() ast.NodeKind { return sourceMarkKind }

// Dump implements ast.Node.
func (n *sourceMark) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"key": n.key}, nil)
}

// maxKeyBytes bounds the key of a source.
const maxKeyBytes = 64

// markParser reads source marks.
type markParser struct{}

var _ parser.InlineParser = markParser{}

// Trigger implements parser.InlineParser.
func (markParser) Trigger() []byte { return []byte{'['} }

// Parse implements parser.InlineParser.
func (markParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if !bytes.HasPrefix(line, []byte("[^")) {
		return nil
	}
	end := bytes.IndexByte(line[:min(len(line), maxKeyBytes+3)], ']')
	if end < 3 {
		return nil
	}
	key := strings.TrimSpace(string(line[2:end]))
	if key == "" || strings.ContainsAny(key, "[^\n") {
		return nil
	}
	defines := end+1 < len(line) && line[end+1] == ':' && parent.FirstChild() == nil
	block.Advance(end + 1)
	return &sourceMark{key: key, start: segment.Start, defines: defines}
}

var tableKind = extast.KindTable

// tableText renders a table with one row a line, each cell behind the heading of its column, so that a row can be
// read, found and cited alone.
func (m *markdown) tableText(table ast.Node, b *block) string {
	var head, lines []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, m.inlineText(cell, b))
		}
		if row.Kind() == extast.KindTableHeader {
			head = cells
			continue
		}
		var parts []string
		for i, cell := range cells {
			switch {
			case cell == "":
			case i < len(head) && head[i] != "":
				parts = append(parts, head[i]+": "+cell)
			default:
				parts = append(parts, cell)
			}
		}
		if len(parts) > 0 {
			lines = append(lines, strings.Join(parts, "; "))
		}
	}
	if len(lines) == 0 { // a table of headings only
		return strings.Join(head, "; ")
	}
	return strings.Join(lines, "\n")
}
