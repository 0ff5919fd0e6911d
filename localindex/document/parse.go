package document

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits that hold for every format; each parser has further ones.
const (
	MaxBytes  = 64 << 20 // a file
	MaxText   = 16 << 20 // bytes of text of one document
	MaxBlocks = 200_000
)

// Parser reads one format. It must be safe for concurrent use, and its errors should be of type [*Error].
type Parser interface {
	Parse(ctx context.Context, name string, data []byte) (Document, error)
}

// Dependent is a parser for whose result not the file alone counts.
type Dependent interface {
	// DependsOn names what else does, such as a program that is installed. Where it says something else than before, files
	// are worth reading again.
	DependsOn() string
}

// Parsers are the formats a program reads.
type Parsers map[Format]Parser

// Options say how a document is read.
type Options struct {
	// Parsers are the formats that are read; a document of another is refused with [ErrUnsupported].
	Parsers Parsers
	// Language, if not empty, is the language of the document; else it is guessed.
	Language string
}

// Parse reads a document. Its format is that of the content, and where that leaves it open, that of the name. Every
// error but the context's own is an [*Error]: a broken file is a matter of that file alone. A parser's panic is one too.
func Parse(ctx context.Context, name string, data []byte, o Options) (d Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = Document{}, &Error{Op: "read", Name: name, Reason: fmt.Sprintf("its parser stopped: %v", p), Err: ErrBroken}
		}
	}()
	if err := ctx.Err(); err != nil {
		return Document{}, err
	}
	if len(data) > MaxBytes {
		return Document{}, TooLarge(name, len(data), MaxBytes)
	}
	format, err := Sniff(name, data)
	if err != nil {
		return Document{}, named(err, name)
	}
	parser := o.Parsers[format]
	if parser == nil {
		return Document{}, &Error{Op: "open", Name: name, Reason: string(format) + " files are not read here", Err: ErrUnsupported}
	}
	d, err = parser.Parse(ctx, name, data)
	if err != nil {
		if cause := ctx.Err(); cause != nil {
			return Document{}, cause
		}
		return Document{}, named(err, name)
	}
	if len(d.Blocks) == 0 {
		if len(d.NeedsOCR) > 0 {
			return d, &Error{Op: "read", Name: name, Reason: fmt.Sprintf("all %d pages are pictures of text", len(d.NeedsOCR)),
				Hint: "install tesseract with its Chinese and English data, or give a file with text in it", Err: ErrNeedsOCR}
		}
		return Document{}, &Error{Op: "read", Name: name, Reason: "there is no text in it", Err: ErrEmpty}
	}
	if o.Language != "" {
		d.Language = o.Language
	}
	return d, nil
}

// TooLarge is the error of a file of more than limit bytes.
func TooLarge(name string, size, limit int) *Error {
	return &Error{Op: "open", Name: name, Reason: fmt.Sprintf("it has %.1f MiB, more than the %d MiB that are read", float64(size)/(1<<20), limit>>20),
		Hint: "divide it into several files", Err: ErrTooLarge}
}

// named makes every error one that says which file it is about.
func named(err error, name string) error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Op: "read", Name: name, Reason: err.Error(), Err: err}
	}
	if e.Name == "" {
		with := *e
		with.Name = name
		return &with
	}
	return e
}

// extensions of names whose content does not tell what it is.
var extensions = map[string]Format{
	".md": Markdown, ".markdown": Markdown, ".html": HTML, ".htm": HTML, ".xhtml": HTML, ".txt": Plain, ".text": Plain,
	".pdf": PDF, ".docx": DOCX,
}

// others are formats that are recognised only to say so.
var others = map[string]string{
	".doc": "an old Word file", ".wps": "a WPS file", ".rtf": "an RTF file", ".odt": "an OpenDocument text", ".epub": "an EPUB book",
	".xls": "an Excel file", ".xlsx": "an Excel file", ".ppt": "a PowerPoint file", ".pptx": "a PowerPoint file",
	".jpg": "a picture", ".jpeg": "a picture", ".png": "a picture", ".tif": "a picture", ".tiff": "a picture", ".zip": "a ZIP archive",
}

// Sniff finds the format of a document.
func Sniff(name string, data []byte) (Format, error) {
	ext := strings.ToLower(path.Ext(name))
	head := data[:min(len(data), 1024)]
	unsupported := func(what string) error {
		return &Error{Op: "open", Name: name, Reason: "this is " + what, Hint: "save it as DOCX, PDF, HTML, Markdown or text", Err: ErrUnsupported}
	}
	switch {
	case len(bytes.TrimSpace(head)) == 0 && len(bytes.TrimSpace(data)) == 0:
		return "", &Error{Op: "open", Name: name, Reason: "it is empty", Err: ErrEmpty}
	case bytes.Contains(head, []byte("%PDF-")) && (ext == ".pdf" || bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \r\n\t\x00"), []byte("%PDF-"))):
		return PDF, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return sniffZip(name, ext, data, unsupported)
	case bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")):
		if ext == ".docx" { // how Office writes files that are opened with a password
			return "", &Error{Op: "open", Name: name, Reason: "it is encrypted", Hint: "save it without a password", Err: ErrEncrypted}
		}
		return "", unsupported("an old Office file")
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		return "", unsupported("an RTF file")
	case bytes.HasPrefix(head, []byte("\x89PNG")), bytes.HasPrefix(head, []byte("\xFF\xD8\xFF")), bytes.HasPrefix(head, []byte("GIF8")):
		return "", unsupported("a picture")
	}
	switch f := extensions[ext]; f {
	case PDF:
		return "", &Error{Op: "open", Name: name, Reason: "this is not a PDF file, whatever its name says", Hint: "fetch or export it again", Err: ErrBroken}
	case DOCX:
		return "", &Error{Op: "open", Name: name, Reason: "this is not a DOCX file, whatever its name says", Hint: "save it again as DOCX", Err: ErrBroken}
	case "":
	default:
		return f, nil
	}
	if what := others[ext]; what != "" {
		return "", unsupported(what)
	}
	if looksLikeHTML(head) {
		return HTML, nil
	}
	if utf8.Valid(trimPartial(head)) && !slices.Contains(head, 0) || ext == "" {
		return Plain, nil
	}
	return "", unsupported("not a text")
}

func sniffZip(name, ext string, data []byte, unsupported func(string) error) (Format, error) {
	if what := others[ext]; what != "" {
		return "", unsupported(what)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if ext == ".docx" {
			return DOCX, nil // whose parser says what is wrong with it
		}
		return "", unsupported("a broken ZIP archive")
	}
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "word/") {
			return DOCX, nil
		}
	}
	if ext == ".docx" {
		return DOCX, nil
	}
	return "", unsupported("a ZIP archive")
}

func looksLikeHTML(head []byte) bool {
	s := strings.ToLower(strings.TrimLeft(string(head), "\ufeff \r\n\t"))
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if strings.HasPrefix(s, tag) {
			return true
		}
	}
	return strings.HasPrefix(s, "<") && (strings.Contains(s, "<html") || strings.Contains(s, "<body"))
}

// trimPartial takes off a character that the end of a window cut.
func trimPartial(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
