package ingest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/text/unicode/norm"

	"docent/localindex/gallery"
)

// block is one headed text of a Markdown file.
type block struct {
	heading string
	path    []string // headings above, outermost first
	level   gallery.Level
	text    string
	sources []string // keys in the order they are first named
	line    int      // of the heading in the file
}

// markdown turns the body of a file into headed texts. Its problems are reported at their line.
type markdown struct {
	file    string
	before  int // lines of the file before the body
	source  []byte
	starts  []int  // offsets of the lines of the body
	title   string // heads what stands before the first heading
	known   map[string]bool
	report  *report
	starred bool // emphasis that CommonMark does not see beside Chinese characters was reported
	html    bool // HTML was reported
}

// parseMarkdown reads the body of a file. known are the keys of its sources. Nothing of the text is lost but HTML,
// pictures and the addresses of links.
func parseMarkdown(file string, before int, body []byte, title string, known map[string]bool, rep *report) []block {
	if line, problem := overNested(body); problem != "" {
		rep.errorf(file, before+line, "%s", problem)
		return nil
	}
	m := &markdown{file: file, before: before, source: body, title: title, known: known, report: rep}
	m.starts = append(m.starts, 0)
	for i, b := range body {
		if b == '\n' {
			m.starts = append(m.starts, i+1)
		}
	}
	doc := newMarkdown().Parser().Parse(text.NewReader(body))
	return m.blocks(doc)
}

func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(
			parser.WithHeadingAttribute(),
			// Before links (200), as goldmark's own footnotes: those need their text in the body, ours stands in
			// the front matter.
			parser.WithInlineParsers(util.Prioritized(markParser{}, 101)),
		),
	)
}

// blocks walks the top of a document: each heading begins a block.
func (m *markdown) blocks(doc ast.Node) []block {
	var done []block
	current := block{heading: m.title, line: m.before + 1}
	var paragraphs []string
	var open []ast.Node // headings the current one is below of, itself last
	finish := func() {
		current.text = strings.Join(paragraphs, "\n\n")
		done = append(done, current)
		paragraphs = nil
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			if s := m.blockText(n, &current); s != "" {
				paragraphs = append(paragraphs, s)
			}
			continue
		}
		finish()
		for len(open) > 0 && open[len(open)-1].(*ast.Heading).Level >= h.Level {
			open = open[:len(open)-1]
		}
		above := open
		open = append(slices.Clip(open), h)
		current = block{line: m.lineOf(h)}
		current.heading = m.inlineText(h, &current)
		for _, a := range above {
			if s := m.inlineText(a, &block{}); s != "" && s != m.title {
				current.path = append(current.path, s)
			}
		}
		current.level = m.level(h, above)
		if current.heading == "" {
			m.report.errorf(m.file, current.line, "this heading has no words")
			current.heading = m.title
		}
	}
	finish()
	return m.withoutEmpty(done)
}

// withoutEmpty drops blocks without text. A heading that only holds others, and nothing before the first heading,
// are as they should be; any other is reported.
func (m *markdown) withoutEmpty(blocks []block) []block {
	var kept []block
	for i, b := range blocks {
		if b.text != "" {
			kept = append(kept, b)
			continue
		}
		holds := i+1 < len(blocks) && (len(blocks[i+1].path) > len(b.path) || b.heading == m.title)
		if !holds && i > 0 {
			m.report.warnf(m.file, b.line, "section %q has no text; it is left out", b.heading)
		}
	}
	return kept
}

// level reads {level=child} of a heading; where it has none, that of the headings above holds.
func (m *markdown) level(h ast.Node, above []ast.Node) gallery.Level {
	for _, a := range h.Attributes() {
		name := string(a.Name)
		if name != "level" {
			m.report.errorf(m.file, m.lineOf(h), "unknown heading attribute %q%s", name, suggestion(name, []string{"level"}))
			continue
		}
		value := attributeText(a.Value)
		switch l := gallery.Level(value); l {
		case gallery.LevelChild, gallery.LevelGeneral, gallery.LevelExpert:
			return l
		}
		m.report.errorf(m.file, m.lineOf(h), "level %q is none of child, general, expert%s", value,
			strings.TrimPrefix(suggestion(value, []string{"child", "general", "expert"}), "; known are child, general, expert"))
	}
	for _, a := range slices.Backward(above) {
		if v, ok := a.AttributeString("level"); ok {
			return gallery.Level(attributeText(v))
		}
	}
	return ""
}

func attributeText(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// blockText renders a block as plain text.
func (m *markdown) blockText(n ast.Node, b *block) string {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading: // a heading here is inside a quotation or list
		return m.inlineText(n, b)
	case *ast.List:
		return m.listText(n, b)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return strings.TrimRight(string(n.Lines().Value(m.source)), "\n ")
	case *ast.HTMLBlock:
		m.reportHTML(m.lineOf(n))
		return ""
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition:
		return ""
	}
	if n.Kind() == tableKind {
		return m.tableText(n, b)
	}
	return m.childText(n, b, "\n\n") // quotations and whatever else holds blocks
}

func (m *markdown) childText(n ast.Node, b *block, between string) string {
	var parts []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if s := m.blockText(c, b); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, between)
}

// listText renders a list with one item a line, lists within it indented.
func (m *markdown) listText(l *ast.List, b *block) string {
	var lines []string
	number := l.Start
	for c := l.FirstChild(); c != nil; c = c.NextSibling() {
		mark := "• "
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		if s := m.childText(c, b, "\n"); s != "" {
			lines = append(lines, mark+strings.ReplaceAll(s, "\n", "\n  "))
		}
	}
	return strings.Join(lines, "\n")
}

// inlineText renders the inside of a paragraph or heading as one line of text, hard line breaks kept.
func (m *markdown) inlineText(n ast.Node, b *block) string {
	var out strings.Builder
	m.inline(n, b, &out)
	return m.withoutStars(norm.NFC.String(tidy(out.String())), n)
}

func (m *markdown) inline(n ast.Node, b *block, out *strings.Builder) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out.Write(resolve(c.Value(m.source)))
			switch {
			case c.HardLineBreak():
				out.WriteByte('\n')
			case c.SoftLineBreak():
				out.WriteByte(softBreak)
			}
		case *ast.String:
			out.Write(c.Value)
		case *ast.CodeSpan:
			for t := c.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					out.Write(bytes.ReplaceAll(t.Value(m.source), []byte("\n"), []byte(" ")))
				}
			}
		case *ast.AutoLink:
			out.Write(c.Label(m.source))
		case *ast.RawHTML:
			m.reportHTML(m.lineAt(segmentStart(c.Segments)))
		case *ast.Image:
			m.report.warnf(m.file, m.lineOf(n), "pictures in the text are not shown; list them under pictures in the front matter")
		case *sourceMark:
			m.cite(c, b)
			out.WriteByte(markPlace)
		default:
			m.inline(c, b, out)
		}
	}
}

// What stands in a text until tidy knows what is on both sides of it.
const (
	softBreak = '\x02' // a line end that is no end of a line of text
	markPlace = '\x01' // where a source mark was
)

// resolve undoes backslash escapes and character references.
func resolve(s []byte) []byte {
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(s)))
}

// tidy joins the lines of a paragraph: by a space, and by nothing between characters of a script without spaces.
// The space before a source mark goes with it where punctuation follows: "word [^key]." is "word.".
func tidy(s string) string {
	var out strings.Builder
	var last, space rune // space is white space not yet written
	marked := false
	for _, r := range s {
		switch {
		case r == markPlace:
			marked = true
			continue
		case r == '\n':
			space = '\n'
			continue
		case r == softBreak:
			if space == 0 {
				space = softBreak
			}
			continue
		case unicode.IsSpace(r):
			if space != '\n' {
				space = ' '
			}
			continue
		case unicode.IsControl(r), r == utf8.RuneError:
			continue
		}
		switch {
		case last == 0 || space == 0:
		case space == '\n':
			out.WriteByte('\n')
		case marked && strings.ContainsRune(".,;:!?)。，；：！？）", r):
		case unspaced(last) && unspaced(r) && (marked || space == softBreak):
		default:
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		last, space, marked = r, 0, false
	}
	return out.String()
}

// unspaced reports whether a character is written without spaces around it.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60 || strings.ContainsRune("“”‘’…—·", r)
}

// withoutStars takes out ** that CommonMark left standing: beside Chinese punctuation it does not see emphasis.
func (m *markdown) withoutStars(s string, n ast.Node) string {
	if !strings.Contains(s, "**") {
		return s
	}
	if !m.starred {
		m.report.warnf(m.file, m.lineOf(n), "** is not read as emphasis here and is left out; put a space outside of it")
		m.starred = true
	}
	return strings.ReplaceAll(s, "**", "")
}

func (m *markdown) reportHTML(line int) {
	if !m.html {
		m.report.warnf(m.file, line, "HTML is left out; write Markdown")
		m.html = true
	}
}

// cite notes a source mark of the text.
func (m *markdown) cite(c *sourceMark, b *block) {
	if c.defines {
		m.report.errorf(m.file, m.lineAt(c.start), "[^%s]: sources are not described in the text; list them under sources in the front matter", c.key)
		return
	}
	if !m.known[c.key] {
		m.report.errorf(m.file, m.lineAt(c.start), "[^%s]: there is no source %q in the front matter%s", c.key, c.key, knownKeys(c.key, m.known))
		return
	}
	if !slices.Contains(b.sources, c.key) {
		b.sources = append(b.sources, c.key)
	}
}

func knownKeys(key string, known map[string]bool) string {
	if len(known) == 0 {
		return ""
	}
	var keys []string
	for k := range known {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return suggestion(key, keys)
}

// lineOf is the line in the file where a block begins.
func (m *markdown) lineOf(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			return m.lineAt(n.Lines().At(0).Start)
		}
	}
	return m.before + 1
}

// lineAt is the line in the file of an offset in the body.
func (m *markdown) lineAt(offset int) int {
	i, found := slices.BinarySearch(m.starts, offset)
	if found {
		i++
	}
	return m.before + max(1, i)
}

func segmentStart(s *text.Segments) int {
	if s.Len() == 0 {
		return 0
	}
	return s.At(0).Start
}
