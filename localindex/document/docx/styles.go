package docx

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// style is what matters of a paragraph style.
type style struct {
	name    string
	basedOn string
	outline int // 1 to 9, 0 where it says nothing, -1 where it says body text
	list    listRef
	hasList bool
	bold    bool
	size    int // half points, 0 where it says nothing
	hidden  bool
}

// listRef is a level of a numbered list.
type listRef struct {
	num   string
	level int
}

// styles are paragraph styles by id.
type styles struct {
	byID        map[string]*style
	defaultID   string
	defaultSize int
}

// maxBased is how far styles are followed that are based on each other.
const maxBased = 20

func readStyles(data []byte) (*styles, error) {
	s := &styles{byID: map[string]*style{}, defaultSize: 20}
	if data == nil {
		return s, nil
	}
	d := newDecoder("the styles", data)
	if _, err := d.root(); err != nil {
		return nil, err
	}
	return s, d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "docDefaults":
			return s.readDefaults(d)
		case "style":
			return s.readStyle(d, e)
		}
		return d.skip()
	}, nil)
}

func (s *styles) readDefaults(d *decoder) error {
	return d.each(func(e xml.StartElement) error {
		if word(e.Name) == "sz" {
			if n, err := strconv.Atoi(attr(e, "val")); err == nil {
				s.defaultSize = n
			}
			return d.skip()
		}
		return s.readDefaults(d)
	}, nil)
}

func (s *styles) readStyle(d *decoder, e xml.StartElement) error {
	st := &style{}
	id := attr(e, "styleId")
	if attr(e, "type") == "paragraph" || attr(e, "type") == "" {
		s.byID[id] = st
		if attr(e, "default") == "1" || attr(e, "default") == "true" {
			s.defaultID = id
		}
	}
	return d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "name":
			st.name = strings.ToLower(attr(e, "val"))
		case "basedOn":
			st.basedOn = attr(e, "val")
		case "pPr":
			p, err := readParagraphProperties(d)
			st.outline, st.list, st.hasList = p.outline, p.list, p.hasList
			return err
		case "rPr":
			r, err := readRunProperties(d)
			st.bold, st.size, st.hidden = r.bold, r.size, r.hidden
			return err
		}
		return d.skip()
	}, nil)
}

// resolved is a style with what it inherits.
func (s *styles) resolved(id string) style {
	if id == "" {
		id = s.defaultID
	}
	var out style
	for range maxBased {
		st := s.byID[id]
		if st == nil {
			break
		}
		if out.name == "" {
			out.name = st.name
		}
		if out.outline == 0 {
			out.outline = st.outline
		}
		if !out.hasList && st.hasList {
			out.list, out.hasList = st.list, true
		}
		out.bold = out.bold || st.bold
		if out.size == 0 {
			out.size = st.size
		}
		out.hidden = out.hidden || st.hidden
		if id = st.basedOn; id == "" {
			break
		}
	}
	if out.outline == 0 {
		out.outline = outlineByName(out.name)
	}
	if out.size == 0 {
		out.size = s.defaultSize
	}
	return out
}

// outlineByName is for files whose styles lost their outline levels, as converters leave them.
func outlineByName(name string) int {
	if name == "title" || name == "标题" || name == "文档标题" {
		return 1
	}
	for _, prefix := range []string{"heading ", "标题 ", "heading", "标题"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n >= 1 && n <= 9 {
				return n
			}
		}
	}
	return 0
}

// paragraphProperties are those of one paragraph.
type paragraphProperties struct {
	style    string
	outline  int
	list     listRef
	hasList  bool
	centered bool
}

func readParagraphProperties(d *decoder) (paragraphProperties, error) {
	var p paragraphProperties
	err := d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "pStyle":
			p.style = attr(e, "val")
		case "jc":
			p.centered = attr(e, "val") == "center"
		case "outlineLvl":
			if n, err := strconv.Atoi(attr(e, "val")); err == nil {
				p.outline = n + 1
				if n >= 9 || n < 0 {
					p.outline = -1
				}
			}
		case "numPr":
			p.hasList = true
			return d.each(func(e xml.StartElement) error {
				switch word(e.Name) {
				case "ilvl":
					if n, err := strconv.Atoi(attr(e, "val")); err == nil && n >= 0 && n < maxLevels {
						p.list.level = n
					}
				case "numId":
					p.list.num = attr(e, "val")
				}
				return d.skip()
			}, nil)
		}
		return d.skip()
	}, nil)
	return p, err
}

// runProperties are those of one run of text.
type runProperties struct {
	bold   bool
	size   int
	hidden bool
}

func readRunProperties(d *decoder) (runProperties, error) {
	var r runProperties
	err := d.each(func(e xml.StartElement) error {
		switch word(e.Name) {
		case "b":
			r.bold = on(e)
		case "sz":
			r.size, _ = strconv.Atoi(attr(e, "val"))
		case "vanish", "webHidden":
			r.hidden = word(e.Name) == "vanish" && on(e)
		}
		return d.skip()
	}, nil)
	return r, err
}
