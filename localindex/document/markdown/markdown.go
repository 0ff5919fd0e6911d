// Package markdown reads Markdown with tables and footnotes, by goldmark.
package markdown

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"gopkg.in/yaml.v3"

	"docent/localindex/document"
	"docent/localindex/document/internal/charset"
	"docent/localindex/internal/prose"
)

// Limits.
const (
	MaxBytes = 8 << 20 // a file
	maxDepth = 100     // blocks within blocks
	maxFront = 64 << 10
	// maxLinkWork bounds the links of a paragraph times its bytes: that is what looking for their ends costs.
	maxLinkWork = 500_000_000
)

// Parser reads Markdown.
type Parser struct{}

var _ document.Parser = Parser{}

// Parse reads one text. Of the front matter, if there is any, it takes the title and the language.
func (Parser) Parse(ctx context.Context, name string, data []byte) (document.Document, error) {
	if len(data) > MaxBytes {
		return document.Document{}, document.TooLarge(name, len(data), MaxBytes)
	}
	decoded, _, err := charset.Decode(data)
	if err != nil {
		return document.Document{}, err
	}
	front, body := splitFront(decoded)
	if err := checkShape(body); err != nil {
		return document.Document{}, err
	}
	source := []byte(body)
	tree := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Footnote),
		goldmark.WithParserOptions(parser.WithHeadingAttribute()),
	).Parser().Parse(text.NewReader(source))
	if err := ctx.Err(); err != nil {
		return document.Document{}, err
	}
	r := &reader{source: source, notes: map[int]string{}, inNotes: map[int]bool{}}
	r.readNotes(tree)
	if err := r.blocks(tree, place{}); err != nil {
		return document.Document{}, err
	}
	d := document.Document{Format: document.Markdown, Title: front.Title, Blocks: r.out}
	if r.html {
		d.Notes = append(d.Notes, "HTML within the Markdown is left out")
	}
	return document.Finish(d, front.Language)
}

type frontMatter struct {
	Title    string `yaml:"title"`
	Language string `yaml:"language"`
}

// splitFront takes off front matter. What is no front matter, or does not parse, stays in the text.
func splitFront(s string) (frontMatter, string) {
	var front frontMatter
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return front, s
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok || len(head) > maxFront {
		return front, s
	}
	if err := yaml.Unmarshal([]byte(head), &front); err != nil {
		return frontMatter{}, s
	}
	return front, body
}

// checkShape refuses what would keep the parser busy without end: a line that opens very many blocks, and a paragraph
// whose links it would look for again and again.
func checkShape(s string) error {
	for line := range strings.SplitSeq(s, "\n") {
		depth := 0
		for len(line) > 0 && strings.ContainsRune("> \t-*+", rune(line[0])) {
			if line[0] == '>' || line[0] != ' ' && line[0] != '\t' && len(line) > 1 && line[1] == ' ' {
				depth++
			}
			line = line[1:]
		}
		if depth > maxDepth {
			return errTooDeep
		}
	}
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		if links := strings.Count(paragraph, "]("); links*len(paragraph) > maxLinkWork {
			return &document.Error{Op: "read", Reason: fmt.Sprintf("one paragraph has %d links", links), Hint: "divide it by empty lines", Err: document.ErrUnsafe}
		}
	}
	return nil
}

var errTooDeep = &document.Error{Op: "read", Reason: fmt.Sprintf("its lists or quotations are more than %d deep", maxDepth), Err: document.ErrTooLarge}

// place is where a block stands.
type place struct {
	depth int // of lists
	quote bool
	nest  int    // of blocks within blocks
	mark  string // of the item that begins here
}

type reader struct {
	source  []byte
	out     []document.Block
	notes   map[int]string // texts of footnotes by their number
	inNotes map[int]bool   // already put out
	cited   []int          // in the block that is read
	html    bool           // there was HTML
}

// readNotes collects the footnotes, which goldmark puts at the end of the tree.
func (r *reader) readNotes(tree ast.Node) {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		list, ok := n.(*extast.FootnoteList)
		if !ok {
			continue
		}
		for c := list.FirstChild(); c != nil; c = c.NextSibling() {
			note, ok := c.(*extast.Footnote)
			if !ok {
				continue
			}
			var parts []string
			for p := note.FirstChild(); p != nil; p = p.NextSibling() {
				parts = append(parts, r.plain(p, 0))
			}
			r.notes[note.Index] = strings.TrimSpace(strings.Join(parts, "\n"))
		}
	}
}

// plain is the text of a block and those in it.
func (r *reader) plain(n ast.Node, nest int) string {
	if nest > maxDepth {
		return ""
	}
	switch n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *extast.TableCell:
		return r.inline(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return strings.TrimRight(string(n.Lines().Value(r.source)), "\n ")
	}
	var parts []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() != ast.TypeBlock {
			continue
		}
		if s := r.plain(c, nest+1); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

// add puts out a block and behind it the footnotes it names.
func (r *reader) add(b document.Block) {
	if strings.TrimSpace(b.Text) != "" {
		r.out = append(r.out, b)
	}
	for _, i := range r.cited {
		if !r.inNotes[i] && r.notes[i] != "" {
			r.inNotes[i] = true
			r.out = append(r.out, document.Block{Kind: document.Footnote, Text: r.notes[i]})
		}
	}
	r.cited = r.cited[:0]
}

// blocks reads the blocks below a node.
func (r *reader) blocks(parent ast.Node, at place) error {
	if at.nest > maxDepth {
		return errTooDeep
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			kind, level := document.Heading, n.Level
			if at.depth > 0 || at.quote { // heads nothing of the document
				kind, level = r.kind(at)
			}
			r.add(document.Block{Kind: kind, Level: level, Text: at.mark + r.inline(n)})
		case *ast.Paragraph, *ast.TextBlock:
			kind, level := r.kind(at)
			if s := r.inline(n); s != "" {
				r.add(document.Block{Kind: kind, Level: level, Text: at.mark + s})
			}
		case *ast.List:
			if err := r.list(n, at); err != nil {
				return err
			}
			continue
		case *ast.Blockquote:
			if err := r.blocks(n, place{depth: at.depth, quote: true, nest: at.nest + 1, mark: at.mark}); err != nil {
				return err
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			r.add(document.Block{Kind: document.Code, Text: strings.TrimRight(string(n.Lines().Value(r.source)), "\n ")})
		case *extast.Table:
			r.add(r.table(n))
		case *ast.HTMLBlock:
			r.html = r.html || !bytes.HasPrefix(bytes.TrimSpace(n.Lines().Value(r.source)), []byte("<!--"))
			continue
		case *ast.ThematicBreak, *ast.LinkReferenceDefinition, *extast.FootnoteList:
			continue
		default:
			if err := r.blocks(n, place{depth: at.depth, quote: at.quote, nest: at.nest + 1}); err != nil {
				return err
			}
		}
		at.mark = ""
	}
	return nil
}

// kind is what a paragraph is at a place. Further paragraphs of an item belong to it.
func (r *reader) kind(at place) (document.Kind, int) {
	switch {
	case at.depth > 0:
		return document.ListItem, at.depth
	case at.quote:
		return document.Quote, 0
	}
	return document.Paragraph, 0
}

func (r *reader) list(l *ast.List, at place) error {
	number := l.Start
	for c := l.FirstChild(); c != nil; c = c.NextSibling() {
		mark := document.Bullet
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, l.Marker)
			number++
		}
		if err := r.blocks(c, place{depth: at.depth + 1, quote: at.quote, nest: at.nest + 2, mark: mark}); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) table(t *extast.Table) document.Block {
	var rows [][]string
	header := false
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		header = header || row.Kind() == extast.KindTableHeader
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.inline(c))
		}
		rows = append(rows, cells)
	}
	return document.NewTable(rows, header, 0)
}

// inline is the text of a paragraph as one line, hard line breaks kept.
func (r *reader) inline(n ast.Node) string {
	var out strings.Builder
	r.write(n, &out, 0)
	return prose.Tidy(strings.ReplaceAll(out.String(), "**", "")) // beside Chinese punctuation ** is not seen as emphasis
}

func (r *reader) write(n ast.Node, out *strings.Builder, nest int) {
	if nest > maxDepth {
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out.Write(resolve(c.Value(r.source)))
			switch {
			case c.HardLineBreak():
				out.WriteByte('\n')
			case c.SoftLineBreak():
				out.WriteRune(prose.SoftBreak)
			}
		case *ast.String:
			out.Write(c.Value)
		case *ast.CodeSpan:
			for t := c.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					out.Write(bytes.ReplaceAll(t.Value(r.source), []byte("\n"), []byte(" ")))
				}
			}
		case *ast.AutoLink:
			out.Write(c.Label(r.source))
		case *ast.RawHTML:
			if s := strings.ToLower(string(c.Segments.Value(r.source))); strings.HasPrefix(s, "<br") {
				out.WriteByte('\n')
			}
		case *ast.Image: // pictures have no text of their own; what is under them is a caption
		case *extast.FootnoteLink:
			r.cited = append(r.cited, c.Index)
		case *extast.FootnoteBacklink:
		default:
			r.write(c, out, nest+1)
		}
	}
}

// resolve undoes backslash escapes and character references.
func resolve(s []byte) []byte {
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(s)))
}
