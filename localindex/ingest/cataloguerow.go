package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"docent/localindex/gallery"
)

// catalogueRow is one row becoming an exhibit.
type catalogueRow struct {
	row      row
	g        *gallery.Gallery
	root     *os.Root
	pictures pictureFinder
	rep      *report

	exhibit  gallery.Exhibit
	sections []gallery.Section
}

// catalogueSource is the key of the entry in another catalogue that a row's url leads to.
const catalogueSource = "catalogue"

// read fills in the exhibit. problem says why the row cannot be used.
func (c *catalogueRow) read(hallsKnown bool) (problem string) {
	cells := c.row.cells
	e := &c.exhibit
	e.ID = slugOf(cells["id"])
	e.Title = c.localized("title")
	switch {
	case cells["id"] == "":
		return "it has no id"
	case e.ID == "":
		return fmt.Sprintf("its id %q has no letter a–z or digit", cells["id"])
	case slices.Contains(reservedIDs, e.ID):
		return fmt.Sprintf("an exhibit cannot be named %q; that word is used for texts about the house", e.ID)
	case slices.ContainsFunc(c.g.Exhibits, func(o gallery.Exhibit) bool { return o.ID == e.ID }):
		return fmt.Sprintf("there is an exhibit %q already", e.ID)
	case len(e.Title) == 0:
		return "it has no title"
	}
	if e.ID != strings.ToLower(cells["id"]) {
		c.warnf("the id %q is written %q in the gallery", cells["id"], e.ID)
	}
	e.Maker, e.Date, e.Materials, e.Credit = c.localized("artist"), c.localized("date"), c.localized("materials"), c.localized("credit")
	e.Accession, e.Label = cells["accession"], cells["label"]
	if e.Label != "" && slices.ContainsFunc(c.g.Exhibits, func(o gallery.Exhibit) bool { return o.Label == e.Label }) {
		c.warnf("label %q is already that of another exhibit; it is left out", e.Label)
		e.Label = ""
	}
	e.Keywords = cellList(cells["keywords"])
	if problem := c.image(); problem != "" {
		return problem
	}
	if problem := c.hall(hallsKnown); problem != "" {
		return problem
	}
	if address := cells["url"]; host(address) != "" {
		e.Sources = []gallery.Source{{Key: catalogueSource, Title: host(address), URL: address}}
	} else if address != "" {
		c.warnf("url %q is no web address; it is left out", address)
	}
	c.texts()
	return ""
}

func (c *catalogueRow) warnf(format string, args ...any) {
	c.rep.warnf(CatalogueFile, c.row.line, format, args...)
}

// localized gathers the cells of a column that holds words.
func (c *catalogueRow) localized(column string) gallery.Localized {
	l := gallery.Localized{}
	for _, tag := range c.g.Languages {
		if s := c.row.cells[column+"_"+tag]; s != "" {
			l[tag] = s
		}
	}
	if s := c.row.cells[column]; s != "" && l[c.g.Languages[0]] == "" {
		l[c.g.Languages[0]] = s
	}
	if len(l) == 0 {
		return nil
	}
	return l
}

// hall finds the hall of a room, by its id or any of its names; where gallery.yaml has none, each room is one.
func (c *catalogueRow) hall(known bool) (problem string) {
	room := c.row.cells["room"]
	if room == "" && !known {
		return ""
	}
	for _, h := range c.g.Halls {
		if h.ID == room || h.ID == slugOf(room) && !known {
			c.exhibit.Hall = h.ID
			return ""
		}
		for _, name := range h.Name {
			if strings.EqualFold(name, room) {
				c.exhibit.Hall = h.ID
				return ""
			}
		}
	}
	if known {
		return fmt.Sprintf("there is no hall %q%s", room, suggestion(room, hallIDs(c.g)))
	}
	id := slugOf(room)
	if id == "" {
		id = fmt.Sprintf("hall-%d", len(c.g.Halls)+1)
	}
	name := gallery.Localized{c.g.Languages[0]: room}
	if strings.Trim(room, "0123456789") == "" {
		for _, tag := range c.g.Languages {
			w, _ := wordingFor(tag)
			name[tag] = w.room(room)
		}
	}
	c.g.Halls = append(c.g.Halls, gallery.Hall{ID: id, Name: name, Outline: []gallery.Point{}})
	c.exhibit.Hall = id
	return ""
}

// image finds the pictures of the row; where it names none, one that is named as its id is.
func (c *catalogueRow) image() (problem string) {
	names := cellList(c.row.cells["image"])
	if len(names) == 0 {
		file, _ := c.pictures.find(c.row.cells["id"])
		if file == "" {
			c.warnf("it names no picture, so the exhibit cannot be recognised from a photo")
			return ""
		}
		names = []string{file}
	}
	for _, name := range names {
		file, others := c.pictures.find(name)
		if file == "" {
			return fmt.Sprintf("there is no picture %q in the folder or below it", name)
		}
		if len(others) > 0 {
			c.warnf("there are several pictures %q; %s is used, not %s", name, file, strings.Join(others, ", "))
		}
		if problem := picturePath(file); problem != "" {
			return fmt.Sprintf("picture %q %s", file, problem)
		}
		width, height, err := readPictureSize(c.root, file)
		if err != nil {
			return fmt.Sprintf("%s: %s", file, pictureProblem(err))
		}
		if min(width, height) < minPictureSide {
			c.warnf("%s has only %d×%d pixels; below %d on a side it may not be recognised", file, width, height, minPictureSide)
		}
		c.exhibit.Pictures = append(c.exhibit.Pictures, gallery.Picture{File: file, Alt: c.localized("alt"), Width: width, Height: height})
	}
	return ""
}

// texts makes sections of the text cells and of the facts.
func (c *catalogueRow) texts() {
	e := c.exhibit
	text := c.localized("text")
	for _, tag := range c.g.Languages {
		if text[tag] == "" {
			continue
		}
		s := gallery.Section{
			ID: e.ID + "/" + tag + "/1", Exhibit: e.ID, Hall: e.Hall, Domain: gallery.DomainExhibit, Language: tag,
			Heading: e.Title.In(tag, c.g.Languages...), Text: plainParagraphs(text[tag]), Document: CatalogueFile,
		}
		if len(e.Sources) > 0 {
			s.Sources = []string{catalogueSource}
		}
		c.sections = append(c.sections, s)
	}
	documents := map[string]string{}
	for _, tag := range c.g.Languages {
		documents[tag] = CatalogueFile
	}
	c.sections = append(c.sections, exhibitFacts(c.g, e, documents)...)
}

// plainParagraphs brings a plain text to paragraphs with a blank line between them.
func plainParagraphs(s string) string {
	var paragraphs []string
	for _, p := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' }) {
		if p = strings.Join(strings.FieldsFunc(p, unicode.IsSpace), " "); p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// cellList parts a cell that holds several values.
func cellList(cell string) []string {
	var values []string
	for _, v := range strings.FieldsFunc(cell, func(r rune) bool { return r == '|' || r == ';' || r == '\n' }) {
		if v = strings.TrimSpace(v); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// pictureFinder finds pictures by their file name, with or without its suffix, in any case of letters.
type pictureFinder map[string][]string

// pictureSuffixes are tried in this order.
var pictureSuffixes = []string{".jpg", ".jpeg", ".png", ".webp"}

// findPictures lists the pictures in a folder and below it.
func findPictures(root *os.Root, rep *report) (pictureFinder, error) {
	found := pictureFinder{}
	n := 0
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n++; n > MaxFolderFiles {
			rep.warnf(".", 0, "there are more than %d files; pictures among the rest are not found", MaxFolderFiles)
			return fs.SkipAll
		}
		if name != "." && (skipped(d.Name()) || name == ReleasesFolder) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		lower := strings.ToLower(path.Base(name))
		if d.IsDir() || !slices.Contains(pictureSuffixes, path.Ext(lower)) {
			return nil
		}
		found[lower] = append(found[lower], name)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for pictures: %w", err)
	}
	return found, nil
}

// find returns the picture of that name: the one at that very path, else the one that is least deep, else the first.
func (f pictureFinder) find(name string) (file string, others []string) {
	name = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(name), "\\", "/"), "./")
	if name == "" {
		return "", nil
	}
	lower := strings.ToLower(path.Base(name))
	candidates := f[lower]
	for _, suffix := range pictureSuffixes {
		if len(candidates) == 0 {
			candidates = f[lower+suffix]
		}
	}
	if len(candidates) == 0 {
		return "", nil
	}
	if slices.Contains(candidates, name) {
		return name, nil
	}
	best := slices.MinFunc(candidates, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, c := range candidates {
		if c != best && strings.Count(c, "/") == strings.Count(best, "/") {
			others = append(others, c)
		}
	}
	return best, others
}
