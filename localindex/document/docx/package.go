// Package docx reads Word documents: headings, lists with their numbers, tables, captions and footnotes.
package docx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"docent/localindex/document"
)

// Limits.
const (
	MaxBytes     = 64 << 20  // a file
	maxEntries   = 10_000    // of the archive
	maxPart      = 64 << 20  // decompressed bytes of one part that is read
	maxParts     = 128 << 20 // of all of them
	maxDepth     = 256       // elements within elements
	maxGridSpan  = 100       // columns a cell may span
	maxRelations = 10_000
)

// Namespaces of the transitional and the strict form of the format.
const (
	nsWord       = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	nsWordStrict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
)

// archive is the opened file. It counts what it gives out.
type archive struct {
	files map[string]*zip.File
	left  int64
}

func openArchive(data []byte) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, document.Broken("open", fmt.Sprintf("its ZIP archive cannot be read, it may be cut off: %v", err))
	}
	if len(z.File) > maxEntries {
		return nil, &document.Error{Op: "open", Reason: fmt.Sprintf("it has more than %d parts", maxEntries), Err: document.ErrUnsafe}
	}
	a := &archive{files: map[string]*zip.File{}, left: maxParts}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return nil, &document.Error{Op: "open", Reason: "it is encrypted", Hint: "save it without a password", Err: document.ErrEncrypted}
		}
		a.files[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	return a, nil
}

// part gives a part's bytes, or nil where there is none of that name.
func (a *archive) part(name string) ([]byte, error) {
	f := a.files[strings.ToLower(strings.TrimPrefix(name, "/"))]
	if f == nil {
		return nil, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, document.Broken("open part "+name+" of", err.Error())
	}
	defer r.Close()
	limit := min(a.left, maxPart)
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return nil, &document.Error{Op: "open part " + name + " of", Reason: fmt.Sprintf("it unpacks to more than %d MiB", maxPart>>20),
			Hint: "take out embedded files, or divide it", Err: document.ErrUnsafe}
	}
	if err != nil {
		return nil, document.Broken("open part "+name+" of", fmt.Sprintf("this part of it is damaged: %v", err))
	}
	a.left -= int64(len(data))
	return data, nil
}

// target finds the part that a relation of a part names, by the last word of the relation's type.
func (a *archive) target(of, kind, otherwise string) string {
	data, err := a.part(path.Join(path.Dir(of), "_rels", path.Base(of)+".rels"))
	if err != nil || data == nil {
		return otherwise
	}
	d := newDecoder("", data)
	for range maxRelations {
		start, err := d.nextStart()
		if err != nil {
			return otherwise
		}
		if start.Name.Local == "Relationship" && path.Base(plainAttr(start, "Type")) == kind && plainAttr(start, "TargetMode") != "External" {
			t := plainAttr(start, "Target")
			if strings.HasPrefix(t, "/") {
				return path.Clean(t[1:])
			}
			return path.Join(path.Dir(of), t)
		}
	}
	return otherwise
}

// decoder reads the elements of a part. It refuses document types and what is nested without end.
type decoder struct {
	x     *xml.Decoder
	part  string
	depth int
}

func newDecoder(part string, data []byte) *decoder {
	x := xml.NewDecoder(bytes.NewReader(data))
	x.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("encoding %s", charset) // the format allows UTF-8 and UTF-16; Word writes UTF-8
	}
	return &decoder{x: x, part: part}
}

// next is the next token that matters: a start, an end or text. io.EOF ends a part.
func (d *decoder) next() (xml.Token, error) {
	for {
		t, err := d.x.Token()
		if err != nil {
			if errors.Is(err, io.EOF) && d.depth == 0 {
				return nil, io.EOF
			}
			return nil, document.Broken("read "+d.part+" of", fmt.Sprintf("its XML is damaged: %v", err))
		}
		switch t := t.(type) {
		case xml.StartElement:
			if d.depth++; d.depth > maxDepth {
				return nil, &document.Error{Op: "read " + d.part + " of", Reason: fmt.Sprintf("its elements are more than %d deep", maxDepth), Err: document.ErrUnsafe}
			}
			return t, nil
		case xml.EndElement:
			d.depth--
			return t, nil
		case xml.CharData:
			return t, nil
		case xml.Directive:
			return nil, &document.Error{Op: "read " + d.part + " of", Reason: "it has a document type, which no Word document has",
				Hint: "do not trust this file", Err: document.ErrUnsafe}
		}
	}
}

func (d *decoder) nextStart() (xml.StartElement, error) {
	for {
		t, err := d.next()
		if err != nil {
			return xml.StartElement{}, err
		}
		if s, ok := t.(xml.StartElement); ok {
			return s, nil
		}
	}
}

// each calls read for every child element of the element that was just begun, until its end. read must read up to the
// end of the child, for which skip is there. Text between children goes to text, which may be nil.
func (d *decoder) each(read func(xml.StartElement) error, text func(string)) error {
	for {
		t, err := d.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return document.Broken("read "+d.part+" of", "it ends too early")
			}
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := read(t); err != nil {
				return err
			}
		case xml.CharData:
			if text != nil {
				text(string(t))
			}
		case xml.EndElement:
			return nil
		}
	}
}

func (d *decoder) skip() error {
	return d.each(func(xml.StartElement) error { return d.skip() }, nil)
}

// root begins a part: it reads up to its outermost element.
func (d *decoder) root() (xml.StartElement, error) {
	s, err := d.nextStart()
	if errors.Is(err, io.EOF) {
		return s, document.Broken("read "+d.part+" of", "it is empty")
	}
	return s, err
}

func word(n xml.Name) string {
	if n.Space == nsWord || n.Space == nsWordStrict {
		return n.Local
	}
	return ""
}

// attr is an attribute in Word's own namespace.
func attr(s xml.StartElement, name string) string {
	for _, a := range s.Attr {
		if a.Name.Local == name && (a.Name.Space == nsWord || a.Name.Space == nsWordStrict || a.Name.Space == "") {
			return a.Value
		}
	}
	return ""
}

func plainAttr(s xml.StartElement, name string) string {
	for _, a := range s.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// on reads a property that is on unless it says that it is not.
func on(s xml.StartElement) bool {
	switch attr(s, "val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}
