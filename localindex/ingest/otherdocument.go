package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"docent/localindex/chunk"
	"docent/localindex/document"
	"docent/localindex/gallery"
	"docent/localindex/pipeline"
)

// DocumentReader reads documents of formats that people did not write for this program, and divides them.
type DocumentReader interface {
	// Read returns the parts of a document. Its error says in plain words what is wrong with that document.
	Read(ctx context.Context, file string, data []byte, w pipeline.Wish) (pipeline.Output, error)
}

var _ DocumentReader = (*pipeline.Pipeline)(nil)

// sidecar ends the name of a file with the facts of a document that has no front matter: catalogue.pdf.yaml.
const sidecar = ".yaml"

// checkChunk looks at how a document is to be divided.
func (y *yamlFile) checkChunk(path []any, name string, c gallery.Division) {
	for i, k := range c.Chunkers {
		if !slices.Contains(chunk.Kinds(), chunk.Kind(k)) {
			var known []string
			for _, kind := range chunk.Kinds() {
				known = append(known, string(kind))
			}
			y.errorf(append(path, "chunkers", i), "%s.chunkers: %q is no way to divide a text%s", name, k, suggestion(k, known))
		}
	}
	if _, err := chunk.New(chunk.Options{Sizes: chunk.Sizes{Section: c.Section, Passage: c.Passage}}); err != nil {
		y.errorf(path, "%s: %s", name, strings.TrimPrefix(err.Error(), "make a chunk pipeline: "))
	}
}

// documentFile is a document of another format than ours.
type documentFile struct {
	file     string
	id       string
	name     string // without language and format, for people
	language string // of the name, may be empty
}

// newDocumentFile reads id and language from a name such as catalogue.zh.pdf. Names that are no ids become one.
func newDocumentFile(name string, g *gallery.Gallery) documentFile {
	d := documentFile{file: path.Join(documentsFolder, name)}
	stem := strings.TrimSuffix(name, path.Ext(name))
	if i := strings.LastIndexByte(stem, '.'); i > 0 && slices.Contains(g.Languages, stem[i+1:]) {
		stem, d.language = stem[:i], stem[i+1:]
	}
	d.id, d.name = idOf(stem), strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return strings.ContainsRune("_- ", r) }), " ")
	return d
}

// idOf makes an id of a name: its letters and digits of ASCII, with dashes between. A name without any is named by its hash.
func idOf(name string) string {
	id := strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "-")
	if strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 || id == "" {
		sum := sha256.Sum256([]byte(name))
		id = strings.TrimPrefix(id+"-"+hex.EncodeToString(sum[:4]), "-")
	}
	if len(id) > 64 {
		sum := sha256.Sum256([]byte(id))
		id = strings.Trim(id[:50], "-") + "-" + hex.EncodeToString(sum[:4])
	}
	return id
}

// readOther reads a document of another format. A document that cannot be read is left out with a warning: the others are
// not the worse for it.
func (c *Content) readOther(ctx context.Context, root *os.Root, d documentFile, data []byte, reader DocumentReader, rep *report) ([]gallery.Section, map[string][]gallery.Passage, error) {
	g := c.Gallery
	front, y := readSidecar(root, d.file, g, rep)
	if front.Language == "" {
		front.Language = d.language
	}
	division := front.Chunk
	if len(division.Chunkers) == 0 {
		division.Chunkers = g.Documents.Chunkers
	}
	wish := pipeline.Wish{Language: front.Language, Sizes: chunk.Sizes{
		Section: cmp.Or(division.Section, g.Documents.Section), Passage: cmp.Or(division.Passage, g.Documents.Passage),
	}}
	for _, k := range division.Chunkers {
		wish.Chunkers = append(wish.Chunkers, chunk.Kind(k))
	}
	out, err := reader.Read(ctx, d.file, data, wish)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		rep.warnf(d.file, 0, "this document is left out: %s", withoutName(err, d.file))
		return nil, nil, nil
	}
	for _, n := range out.Notes {
		rep.warnf(d.file, 0, "%s", n)
	}
	if front.Title == "" {
		front.Title = out.Title
	}
	if front.Title == "" {
		front.Title = d.name
	}
	told := front.Language != ""
	if !told {
		front.Language = out.Language
	}
	if front.Language == "" || !slices.Contains(g.Languages, front.Language) && d.language == "" && y == nil {
		front.Language = g.Languages[0]
	}
	front.settle(y, g)
	sections, passages := c.sectionsOf(d, front, out, told)
	return sections, passages, nil
}

// withoutName is an error of a document whose name stands beside it.
func withoutName(err error, file string) string {
	return strings.TrimPrefix(strings.Replace(err.Error(), " "+file, "", 1), "read: ")
}

// readSidecar reads the facts beside a document, if there are any.
func readSidecar(root *os.Root, file string, g *gallery.Gallery, rep *report) (documentFront, *yamlFile) {
	name := file + sidecar
	if !exists(root, name) {
		return documentFront{}, nil
	}
	data, ok := readText(root, name, rep)
	if !ok {
		return documentFront{}, nil
	}
	y, ok := parseYAML(name, 0, data, rep)
	if !ok {
		return documentFront{}, nil
	}
	var front documentFront
	y.decode(&front)
	y.checkFront(front, g)
	return front, y
}

// sectionsOf makes sections and passages of the parts of a document. Unless the document's language was told, a part in
// another of the gallery's languages has that one: many catalogues hold both texts.
func (c *Content) sectionsOf(d documentFile, front documentFront, out pipeline.Output, told bool) ([]gallery.Section, map[string][]gallery.Passage) {
	var sections []gallery.Section
	passages := map[string][]gallery.Passage{}
	for i, part := range out.Sections {
		language := front.Language
		if !told {
			language = document.PartLanguage(part.Text, front.Language, c.Gallery.Languages)
		}
		s := gallery.Section{
			ID: fmt.Sprintf("%s/%s/%s/%d", documentsFolder, d.id, front.Language, i+1), Exhibit: front.Exhibit, Hall: front.Hall,
			Domain: front.Domain, Language: language, Level: front.Level, Heading: part.Heading, Path: part.Path, Text: part.Text,
			Document: d.file, Page: part.Page,
		}
		if s.Heading == "" {
			s.Heading = front.Title
		}
		if s.Heading != front.Title && !slices.Contains(s.Path, front.Title) {
			s.Path = append([]string{front.Title}, s.Path...)
		}
		sections = append(sections, s)
		for j, p := range part.Passages {
			passage := gallery.Passage{ID: fmt.Sprintf("%s#%d", s.ID, j+1), Section: s.ID, Text: p.Text}
			if p.Page != part.Page {
				passage.Page = p.Page
			}
			if p.LastPage != p.Page {
				passage.LastPage = p.LastPage
			}
			passages[s.ID] = append(passages[s.ID], passage)
		}
	}
	return sections, passages
}

// readRaw reads a document as it is, with the limit of its kind.
func readRaw(root *os.Root, name string, rep *report) ([]byte, bool) {
	data, err := readLimited(root, name, document.MaxBytes)
	if err != nil {
		rep.warnf(name, 0, "this document is left out: %s", fileProblem(err, "document", document.MaxBytes))
		return nil, false
	}
	return data, true
}
