package docx

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"

	"docent/localindex/document"
	"docent/localindex/document/internal/lines"
	"docent/localindex/internal/prose"
)

// reader turns the text part into blocks.
type reader struct {
	ctx    context.Context
	d      *decoder
	styles *styles
	lists  *numbering
	notes  map[string]string // footnotes by kind and id
	said   map[string]bool
	out    []document.Block
	looks  []look // beside out
	title  string
	cited  []string
	boxes  []document.Block // texts of boxes anchored in the paragraph that is read
}

// look is how a paragraph looks, for files whose headings are only painted.
type look struct {
	bold bool
	size int // half points; 0 for what is no paragraph
}

// blocks reads paragraphs and tables up to the end of the element that was begun. depth counts tables within tables.
func (r *reader) blocks(depth int) error {
	return r.d.each(func(e xml.StartElement) error {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		switch word(e.Name) {
		case "p":
			return r.paragraph()
		case "tbl":
			return r.table(depth)
		case "sdt":
			return r.control(depth)
		case "ins", "moveTo", "customXml", "smartTag", "sdtContent":
			return r.blocks(depth)
		}
		if e.Name.Local == "AlternateContent" {
			return r.alternate(func() error { return r.blocks(depth) })
		}
		return r.d.skip()
	}, nil)
}

// control reads a content control; tables of contents are left out.
func (r *reader) control(depth int) error {
	contents := false
	return r.d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "sdtPr":
			return r.d.each(func(e xml.StartElement) error {
				if word(e.Name) == "docPartObj" {
					return r.d.each(func(e xml.StartElement) error {
						contents = contents || word(e.Name) == "docPartGallery" && strings.EqualFold(attr(e, "val"), "Table of Contents")
						return r.d.skip()
					}, nil)
				}
				return r.d.skip()
			}, nil)
		case "sdtContent":
			if !contents {
				return r.blocks(depth)
			}
		}
		return r.d.skip()
	}, nil)
}

// alternate reads the first of the forms that a text is given in.
func (r *reader) alternate(read func() error) error {
	done := false
	return r.d.each(func(e xml.StartElement) error {
		if done || e.Name.Local != "Choice" && e.Name.Local != "Fallback" {
			return r.d.skip()
		}
		done = true
		return read()
	}, nil)
}

// text is what is gathered of a paragraph.
type text struct {
	strings.Builder
	bold, plain int // letters
	size        int // of the first run
}

func (r *reader) paragraph() error {
	var p paragraphProperties
	t := &text{}
	if err := r.inline(t, func(e xml.StartElement) (bool, error) {
		if word(e.Name) != "pPr" {
			return false, nil
		}
		var err error
		p, err = readParagraphProperties(r.d)
		return true, err
	}); err != nil {
		return err
	}
	r.put(p, t)
	return nil
}

// put makes a block of a paragraph.
func (r *reader) put(p paragraphProperties, t *text) {
	st := r.styles.resolved(p.style)
	if p.outline == 0 {
		p.outline = st.outline
	}
	if !p.hasList && st.hasList {
		p.list, p.hasList = st.list, true
	}
	cited, boxes := r.cited, r.boxes
	r.cited, r.boxes = nil, nil
	s := prose.Tidy(prose.WithoutLigatures(t.String()))
	if s != "" && !strings.HasPrefix(st.name, "toc ") && !strings.HasPrefix(st.name, "目录") {
		b := document.Block{Kind: document.Paragraph, Text: s}
		mark, listed := "", false
		if p.hasList {
			mark, listed = r.lists.mark(p.list)
		}
		switch {
		case p.outline > 0:
			b.Kind, b.Level = document.Heading, min(p.outline, 6)
			if mark != document.Bullet {
				b.Text = mark + s
			}
			if r.title == "" && (st.name == "title" || st.name == "标题") {
				r.title = s
			}
		case listed:
			b.Kind, b.Level, b.Text = document.ListItem, p.list.level+1, mark+s
		case st.name == "caption" || st.name == "题注":
			b.Kind = document.Caption
		case strings.Contains(st.name, "quote") || strings.Contains(st.name, "引用"):
			b.Kind = document.Quote
		case strings.Contains(st.name, "code") || strings.Contains(st.name, "preformatted"):
			b.Kind, b.Text = document.Code, strings.Trim(t.String(), "\n")
		}
		size := t.size
		if size == 0 {
			size = st.size
		}
		r.add(b, look{bold: st.bold || t.bold > 0 && t.plain == 0, size: size})
	}
	for _, b := range boxes {
		r.add(b, look{})
	}
	for _, id := range cited {
		if !r.said[id] && r.notes[id] != "" {
			r.said[id] = true
			r.add(document.Block{Kind: document.Footnote, Text: r.notes[id]}, look{})
		}
	}
}

func (r *reader) add(b document.Block, l look) {
	if n := len(r.out); b.Kind == document.Code && n > 0 && r.out[n-1].Kind == document.Code {
		r.out[n-1].Text += "\n" + b.Text
		return
	}
	r.out = append(r.out, b)
	r.looks = append(r.looks, l)
}

// inline reads the inside of a paragraph or of something in it. own may take elements for itself.
func (r *reader) inline(t *text, own func(xml.StartElement) (bool, error)) error {
	return r.d.each(func(e xml.StartElement) error {
		if own != nil {
			if taken, err := own(e); taken || err != nil {
				return err
			}
		}
		switch word(e.Name) {
		case "r":
			return r.run(t)
		case "hyperlink", "ins", "moveTo", "smartTag", "sdt", "sdtContent", "fldSimple", "customXml", "bdo", "dir", "ruby", "rubyBase":
			return r.inline(t, nil)
		}
		switch e.Name.Local {
		case "AlternateContent":
			return r.alternate(func() error { return r.inline(t, nil) })
		case "oMath", "oMathPara":
			return r.math(t)
		}
		return r.d.skip()
	}, nil)
}

// run reads a run of text of one look.
func (r *reader) run(t *text) error {
	var p runProperties
	write := func(s string) {
		if p.hidden {
			return
		}
		if n := prose.Letters(s); p.bold {
			t.bold += n
		} else {
			t.plain += n
		}
		if t.size == 0 {
			t.size = p.size
		}
		t.WriteString(s)
	}
	var read func(e xml.StartElement) error
	read = func(e xml.StartElement) error {
		switch word(e.Name) {
		case "rPr":
			var err error
			p, err = readRunProperties(r.d)
			return err
		case "t":
			return r.d.each(func(xml.StartElement) error { return r.d.skip() }, write)
		case "tab", "ptab":
			write(" ")
		case "br", "cr":
			if attr(e, "type") == "" || attr(e, "type") == "textWrapping" {
				write("\n")
			}
		case "noBreakHyphen":
			write("-")
		case "footnoteReference":
			r.cited = append(r.cited, "footnotes"+attr(e, "id"))
		case "endnoteReference":
			r.cited = append(r.cited, "endnotes"+attr(e, "id"))
		case "ruby":
			return r.inline(t, nil)
		case "drawing", "pict", "object":
			return r.drawing()
		}
		if e.Name.Local == "AlternateContent" {
			return r.alternate(func() error { return r.d.each(read, nil) })
		}
		return r.d.skip()
	}
	return r.d.each(read, nil)
}

// drawing looks for boxes with text in a drawing.
func (r *reader) drawing() error {
	return r.d.each(func(e xml.StartElement) error {
		if word(e.Name) != "txbxContent" {
			return r.drawing()
		}
		inner := &reader{ctx: r.ctx, d: r.d, styles: r.styles, lists: r.lists, notes: r.notes, said: r.said}
		err := inner.blocks(1)
		r.boxes = append(r.boxes, inner.out...)
		return err
	}, nil)
}

// math takes the letters of a formula.
func (r *reader) math(t *text) error {
	return r.d.each(func(e xml.StartElement) error {
		if e.Name.Local == "t" {
			return r.d.each(func(xml.StartElement) error { return r.d.skip() }, func(s string) { t.WriteString(s) })
		}
		return r.math(t)
	}, nil)
}

// finished gives the blocks. Where a document has no heading by its styles, short paragraphs that are bold or larger
// than the text are taken for headings: that is how many are written.
func (r *reader) finished() []document.Block {
	body := map[int]int{}
	for i, b := range r.out {
		if b.Kind == document.Heading {
			return r.out
		}
		if b.Kind == document.Paragraph {
			body[r.looks[i].size] += prose.Letters(b.Text)
		}
	}
	size := 0
	for s, n := range body {
		if n > body[size] || n == body[size] && s < size {
			size = s
		}
	}
	for i, b := range r.out {
		l := r.looks[i]
		if b.Kind != document.Paragraph || l.size == 0 || !lines.Title(b.Text) || strings.Contains(b.Text, "\n") || i+1 == len(r.out) {
			continue
		}
		switch {
		case l.size*10 >= size*14:
			r.out[i].Kind, r.out[i].Level = document.Heading, 1
		case l.size*10 >= size*12, l.bold:
			r.out[i].Kind, r.out[i].Level = document.Heading, 2
		}
	}
	return r.out
}

// gridSpan reads a number of columns.
func gridSpan(e xml.StartElement) int {
	n, err := strconv.Atoi(attr(e, "val"))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, maxGridSpan)
}
