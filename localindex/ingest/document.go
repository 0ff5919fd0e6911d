package ingest

import (
	"context"
	"fmt"
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
}

var domains = []string{
	string(gallery.DomainExhibit), string(gallery.DomainVenue), string(gallery.DomainEvent), string(gallery.DomainService),
}

// readDocuments reads documents/*.md: texts that are not about one exhibit, or that are too long to stand with it.
func readDocuments(ctx context.Context, root *os.Root, g *gallery.Gallery, rep *report) ([]gallery.Section, error) {
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
		stem, ok := strings.CutSuffix(name, ".md")
		if !ok {
			rep.warnf(file, 0, "only Markdown (.md) is read from %s; this file is left out", documentsFolder)
			continue
		}
		data, ok := readText(root, file, rep)
		if !ok {
			continue
		}
		id, language, _ := strings.Cut(stem, ".")
		if !slug.MatchString(id) {
			rep.errorf(file, 0, "the name of the file is the document's id: %q must be lower case letters, digits and dashes", id)
			continue
		}
		read := parseDocument(file, id, language, data, g, rep)
		if len(read) == 0 {
			continue
		}
		key := id + "/" + read[0].Language
		if other := used[key]; other != "" {
			rep.errorf(file, 0, "this document is also %s", other)
			continue
		}
		used[key] = file
		sections = append(sections, read...)
	}
	return sections, nil
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
	if !slices.Contains(g.Languages, in.Language) {
		y.errorf([]any{"language"}, "language: %q is not one of the gallery's (%s)", in.Language, strings.Join(g.Languages, ", "))
	}
	if in.Exhibit != "" {
		i := slices.IndexFunc(g.Exhibits, func(e gallery.Exhibit) bool { return e.ID == in.Exhibit })
		if i < 0 {
			y.errorf([]any{"exhibit"}, "exhibit: there is no exhibit %q", in.Exhibit)
		} else if in.Hall == "" {
			in.Hall = g.Exhibits[i].Hall
		}
	}
	if in.Hall != "" {
		y.checkHall([]any{"hall"}, "hall", in.Hall, g)
	}
	if in.Domain == "" {
		in.Domain = gallery.DomainVenue
		if in.Exhibit != "" || in.Hall != "" {
			in.Domain = gallery.DomainExhibit
		}
	}
	if !slices.Contains(domains, string(in.Domain)) {
		y.errorf([]any{"domain"}, "domain: %q is none of %s%s", in.Domain, strings.Join(domains, ", "),
			strings.TrimPrefix(suggestion(string(in.Domain), domains), "; known are "+strings.Join(domains, ", ")))
	}

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
			Domain: in.Domain, Language: in.Language, Level: b.level, Heading: b.heading, Path: path, Text: b.text,
			Document: file,
		})
	}
	return sections
}
