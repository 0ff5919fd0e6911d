package docx

import (
	"context"
	"encoding/xml"
	"strings"

	"docent/localindex/document"
	"docent/localindex/internal/prose"
)

// Parser reads Word documents.
type Parser struct{}

var _ document.Parser = Parser{}

// Parse reads one document.
func (Parser) Parse(ctx context.Context, name string, data []byte) (document.Document, error) {
	if len(data) > MaxBytes {
		return document.Document{}, document.TooLarge(name, len(data), MaxBytes)
	}
	a, err := openArchive(data)
	if err != nil {
		return document.Document{}, err
	}
	main := a.target("", "officeDocument", "word/document.xml")
	body, err := a.part(main)
	if err != nil {
		return document.Document{}, err
	}
	if body == nil {
		return document.Document{}, document.Broken("open", "there is no text part in it")
	}
	r := &reader{ctx: ctx, d: newDecoder("the text", body), notes: map[string]string{}, said: map[string]bool{}}
	if err := r.readParts(a, main); err != nil {
		return document.Document{}, err
	}
	if err := r.document(); err != nil {
		return document.Document{}, err
	}
	title, language, err := properties(a)
	if err != nil {
		return document.Document{}, err
	}
	d := document.Document{Format: document.DOCX, Blocks: r.finished()}
	if r.title != "" {
		title = r.title // what readers see as the title; the property is often that of the template
	}
	d.Title = title
	return document.Finish(d, language)
}

// readParts reads the parts that the text refers to.
func (r *reader) readParts(a *archive, main string) error {
	styleData, err := a.part(a.target(main, "styles", "word/styles.xml"))
	if err != nil {
		return err
	}
	if r.styles, err = readStyles(styleData); err != nil {
		return err
	}
	numberData, err := a.part(a.target(main, "numbering", "word/numbering.xml"))
	if err != nil {
		return err
	}
	if r.lists, err = readNumbering(numberData); err != nil {
		return err
	}
	for _, kind := range []string{"footnotes", "endnotes"} {
		data, err := a.part(a.target(main, kind, "word/"+kind+".xml"))
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		if err := r.readNotes(kind, data); err != nil {
			return err
		}
	}
	return nil
}

// readNotes reads the texts of footnotes or endnotes.
func (r *reader) readNotes(kind string, data []byte) error {
	inner := &reader{ctx: r.ctx, d: newDecoder("the "+kind, data), styles: r.styles, lists: r.lists, notes: map[string]string{}, said: map[string]bool{}}
	if _, err := inner.d.root(); err != nil {
		return err
	}
	return inner.d.each(func(e xml.StartElement) error {
		if n := word(e.Name); n != "footnote" && n != "endnote" || attr(e, "type") != "" && attr(e, "type") != "normal" {
			return inner.d.skip()
		}
		inner.out = nil
		if err := inner.blocks(0); err != nil {
			return err
		}
		var parts []string
		for _, b := range inner.out {
			parts = append(parts, b.Text)
		}
		r.notes[kind+attr(e, "id")] = strings.Join(parts, "\n")
		return nil
	}, nil)
}

// properties reads the title and language of the file.
func properties(a *archive) (title, language string, err error) {
	data, err := a.part(a.target("", "core-properties", "docProps/core.xml"))
	if err != nil || data == nil {
		return "", "", err
	}
	d := newDecoder("the properties", data)
	if _, err := d.root(); err != nil {
		return "", "", err
	}
	err = d.each(func(e xml.StartElement) error {
		var text strings.Builder
		if err := d.each(func(xml.StartElement) error { return d.skip() }, func(s string) { text.WriteString(s) }); err != nil {
			return err
		}
		switch e.Name.Local {
		case "title":
			title = prose.Tidy(text.String())
		case "language":
			language = strings.TrimSpace(text.String())
		}
		return nil
	}, nil)
	return title, language, err
}

// document reads the text part.
func (r *reader) document() error {
	if _, err := r.d.root(); err != nil {
		return err
	}
	return r.d.each(func(e xml.StartElement) error {
		if word(e.Name) == "body" {
			return r.blocks(0)
		}
		return r.d.skip()
	}, nil)
}
