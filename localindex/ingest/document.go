package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"docent/localindex/gallery"
)

// documentFront is the front matter of a document.
type documentFront struct {
	Title    string         `json:"title"`
	Domain   gallery.Domain `json:"domain"`
	Hall     string         `json:"hall"`
	Exhibit  string         `json:"exhibit"`
	Language string         `json:"language"`
	Level    gallery.Level  `json:"level"`
	// Chunk says how the document is divided, where its author knows better than its looks.
	Chunk gallery.Division `json:"chunk"`
}

var domains = []string{
	string(gallery.DomainExhibit), string(gallery.DomainVenue), string(gallery.DomainEvent), string(gallery.DomainService),
}

// readDocuments reads documents/: texts that are not about one exhibit, or that are too long to stand with it.
func (c *Content) readDocuments(ctx context.Context, root *os.Root, reader DocumentReader, rep *report) ([]gallery.Section, error) {
	names, err := readDir(root, documentsFolder, rep)
	if err != nil {
		return nil, err
	}
	var sections []gallery.Section
	used := map[string]string{} // id and language: file
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file := path.Join(documentsFolder, name)
		read, passages, err := c.readDocument(ctx, root, name, reader, rep)
		if err != nil {
			return nil, err
		}
		if len(read) == 0 {
			continue
		}
		key := path.Dir(read[0].ID) // without the number of the section
		switch other := used[key]; {
		case other != "" && passages == nil:
			rep.errorf(file, 0, "this document is also %s", other)
			continue
		case other != "": // a text and its copy in another format
			rep.warnf(file, 0, "this document is left out: %s has the same name and language; if it is another text, rename it", other)
			continue
		}
		used[key] = file
		maps.Copy(c.passages, passages)
		sections = append(sections, read...)
	}
	return sections, nil
}

// readDocument reads one file of documents/. Markdown that begins with its facts is ours; everything else is taken as it
// is, and comes with its passages.
func (c *Content) readDocument(ctx context.Context, root *os.Root, name string, reader DocumentReader, rep *report) ([]gallery.Section, map[string][]gallery.Passage, error) {
	file := path.Join(documentsFolder, name)
	if main, ok := strings.CutSuffix(name, sidecar); ok {
		if !exists(root, path.Join(documentsFolder, main)) {
			rep.warnf(file, 0, "there is no document %s that these facts are about", main)
		}
		return nil, nil, nil
	}
	stem, markdown := strings.CutSuffix(name, ".md")
	if markdown {
		if ours, err := beginsWithFacts(root, file); err == nil && (ours || reader == nil) {
			data, ok := readText(root, file, rep)
			if !ok {
				return nil, nil, nil
			}
			id, language, _ := strings.Cut(stem, ".")
			if !slug.MatchString(id) {
				rep.errorf(file, 0, "the name of the file is the document's id: %q must be lower case letters, digits and dashes", id)
				return nil, nil, nil
			}
			return parseDocument(file, id, language, data, c.Gallery, rep), nil, nil
		}
	}
	if reader == nil {
		rep.warnf(file, 0, "only Markdown (.md) is read from %s; this file is left out", documentsFolder)
		return nil, nil, nil
	}
	data, ok := readRaw(root, file, rep)
	if !ok {
		return nil, nil, nil
	}
	return c.readOther(ctx, root, newDocumentFile(name, c.Gallery), data, reader, rep)
}

// beginsWithFacts reports whether a file begins with front matter.
func beginsWithFacts(root *os.Root, file string) (bool, error) {
	f, err := openPlain(root, file)
	if err != nil {
		return true, nil // to be told by whoever reads it
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return true, nil
	}
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head[:n], utf8BOM), []byte("\n"))
	return string(bytes.TrimRight(line, " \t\r")) == "---", nil
}

// checkFront looks at what the facts of a document say.
func (y *yamlFile) checkFront(in documentFront, g *gallery.Gallery) {
	if in.Language != "" && !slices.Contains(g.Languages, in.Language) {
		y.errorf([]any{"language"}, "language: %q is not one of the gallery's (%s)", in.Language, strings.Join(g.Languages, ", "))
	}
	if in.Exhibit != "" && !slices.ContainsFunc(g.Exhibits, func(e gallery.Exhibit) bool { return e.ID == in.Exhibit }) {
		y.errorf([]any{"exhibit"}, "exhibit: there is no exhibit %q", in.Exhibit)
	}
	if in.Domain != "" && !slices.Contains(domains, string(in.Domain)) {
		y.errorf([]any{"domain"}, "domain: %q is none of %s%s", in.Domain, strings.Join(domains, ", "),
			strings.TrimPrefix(suggestion(string(in.Domain), domains), "; known are "+strings.Join(domains, ", ")))
	}
	if levels := []gallery.Level{"", gallery.LevelChild, gallery.LevelGeneral, gallery.LevelExpert}; !slices.Contains(levels, in.Level) {
		y.errorf([]any{"level"}, "level: %q is none of child, general, expert", in.Level)
	}
	y.checkChunk([]any{"chunk"}, "chunk", in.Chunk)
}

// settle fills in what follows from the rest. y may be nil.
func (in *documentFront) settle(y *yamlFile, g *gallery.Gallery) {
	if i := slices.IndexFunc(g.Exhibits, func(e gallery.Exhibit) bool { return e.ID == in.Exhibit }); in.Exhibit != "" && i >= 0 && in.Hall == "" {
		in.Hall = g.Exhibits[i].Hall
	}
	if in.Hall != "" && y != nil {
		y.checkHall([]any{"hall"}, "hall", in.Hall, g)
	}
	if in.Domain == "" {
		in.Domain = gallery.DomainVenue
		if in.Exhibit != "" || in.Hall != "" {
			in.Domain = gallery.DomainExhibit
		}
	}
}

// parseDocument reads one document; language is that of the file's name, if it has one.
func parseDocument(file, id, language string, data []byte, g *gallery.Gallery, rep *report) []gallery.Section {
	front, body, before, problem := splitFront(data)
	if problem != "" {
		rep.errorf(file, 1, "%s", problem)
		return nil
	}
	y, ok := parseYAML(file, 1, front, rep)
	if !ok {
		return nil
	}
	var in documentFront
	y.decode(&in)
	if in.Title == "" {
		y.errorf([]any{"title"}, "title: the document needs a title")
	}
	if in.Language == "" {
		in.Language = language
	}
	if in.Language == "" {
		in.Language = g.Languages[0]
	}
	y.checkFront(in, g)
	in.settle(y, g)

	blocks := parseMarkdown(file, before, body, in.Title, nil, rep)
	if len(blocks) == 0 {
		rep.warnf(file, before+1, "there is no text below the facts")
	}
	var sections []gallery.Section
	for i, b := range blocks {
		path := b.path
		if b.heading != in.Title {
			path = append([]string{in.Title}, path...)
		}
		sections = append(sections, gallery.Section{
			ID: fmt.Sprintf("%s/%s/%s/%d", documentsFolder, id, in.Language, i+1), Exhibit: in.Exhibit, Hall: in.Hall,
			Domain: in.Domain, Language: in.Language, Level: cmp.Or(b.level, in.Level), Heading: b.heading, Path: path, Text: b.text,
			Document: file,
		})
	}
	return sections
}
