package ingest

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"docent/localindex/gallery"
)

const (
	exhibitsFolder  = "exhibits"
	documentsFolder = "documents"
)

// exhibitFront is the front matter of an exhibit in the gallery's default language.
type exhibitFront struct {
	Label     string        `json:"label"`
	Hall      string        `json:"hall"`
	At        gallery.Point `json:"at"`
	Title     string        `json:"title"`
	Maker     string        `json:"maker"`
	Date      string        `json:"date"`
	Materials string        `json:"materials"`
	Accession string        `json:"accession"`
	Credit    string        `json:"credit"`
	Pictures  []struct {
		File string `json:"file"`
		Alt  string `json:"alt"`
	} `json:"pictures"`
	Keywords []string         `json:"keywords"`
	Related  []string         `json:"related"`
	Minutes  float64          `json:"minutes"`
	Sources  []gallery.Source `json:"sources"`
}

// exhibitFile is what was read of one exhibit, kept until it can be compared with the others.
type exhibitFile struct {
	exhibit  gallery.Exhibit
	front    *yamlFile // of the file in the default language
	file     string
	sections []gallery.Section
	cited    map[string]bool // keys of sources
	// translated are the other languages there is a file for.
	translated []string
}

// Two kinds of file name: penrose-tiling.md and penrose-tiling.zh.md.
var exhibitName = regexp.MustCompile(`^([^.]+)(?:\.([^.]+))?\.md$`)

// readExhibits reads exhibits/*.md into g, ordered by label. The ids of those that are not usable are returned apart.
func readExhibits(ctx context.Context, root *os.Root, g *gallery.Gallery, rep *report) (files []*exhibitFile, unusable []string, err error) {
	entries, err := readDir(root, exhibitsFolder, rep)
	if err != nil {
		return nil, nil, err
	}
	byID := map[string]*exhibitFile{}
	translations := map[string]map[string]string{} // exhibit, language: file
	for _, name := range entries {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		file := path.Join(exhibitsFolder, name)
		m := exhibitName.FindStringSubmatch(name)
		switch {
		case m == nil:
			rep.warnf(file, 0, "this is no exhibit (those are named my-exhibit.md or my-exhibit.zh.md); it is not read")
		case !slug.MatchString(m[1]):
			rep.errorf(file, 0, "the name of the file is the exhibit's id: %q must be lower case letters, digits and dashes", m[1])
		case slices.Contains(reservedIDs, m[1]):
			rep.errorf(file, 0, "an exhibit cannot be named %q; that word is used for texts about the house", m[1])
		case m[2] == "" || m[2] == g.Languages[0]:
			if byID[m[1]] != nil {
				rep.errorf(file, 0, "exhibit %q has two files in its default language; the other is %s", m[1], byID[m[1]].file)
				continue
			}
			if x := readExhibit(root, file, m[1], g, rep); x != nil {
				files = append(files, x)
				byID[m[1]] = x
			} else {
				byID[m[1]] = &exhibitFile{file: file} // its translations are no orphans
				unusable = append(unusable, m[1])
			}
		case !slices.Contains(g.Languages, m[2]):
			rep.errorf(file, 0, "language %q is not one of the gallery's (%s)", m[2], strings.Join(g.Languages, ", "))
		default:
			if translations[m[1]] == nil {
				translations[m[1]] = map[string]string{}
			}
			translations[m[1]][m[2]] = file
		}
	}
	for id, byLanguage := range translations {
		x := byID[id]
		for _, language := range g.Languages { // in their order, so that sections have one, too
			file := byLanguage[language]
			switch {
			case file == "":
			case x == nil:
				rep.errorf(file, 0, "this is a translation of an exhibit that has no file %s.md", id)
			case x.front != nil:
				x.translate(root, file, language, rep)
			}
		}
	}
	slices.SortFunc(files, func(a, b *exhibitFile) int { return compareExhibits(a.exhibit, b.exhibit) })
	return files, unusable, nil
}

// compareExhibits orders by label, numbers by their value, then by id; exhibits without a label come last.
func compareExhibits(a, b gallery.Exhibit) int {
	if (a.Label == "") != (b.Label == "") {
		return cmp.Compare(b.Label, a.Label)
	}
	na, errA := strconv.Atoi(a.Label)
	nb, errB := strconv.Atoi(b.Label)
	if errA == nil && errB == nil && na != nb {
		return cmp.Compare(na, nb)
	}
	return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.ID, b.ID))
}

// readDir lists the files of a folder that are worth reading, sorted by name. A folder that does not exist is empty.
func readDir(root *os.Root, folder string, rep *report) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), folder)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	if len(entries) > MaxFolderFiles {
		rep.errorf(folder, 0, "there are %d files; at most %d are read", len(entries), MaxFolderFiles)
		entries = entries[:MaxFolderFiles]
	}
	var names []string
	for _, e := range entries {
		switch {
		case skipped(e.Name()):
		case e.IsDir():
			rep.warnf(path.Join(folder, e.Name()), 0, "folders in %s are not read", folder)
		default:
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// readExhibit reads an exhibit's file in the default language. It returns nil where nothing of it is usable.
func readExhibit(root *os.Root, file, id string, g *gallery.Gallery, rep *report) *exhibitFile {
	data, ok := readText(root, file, rep)
	if !ok {
		return nil
	}
	return parseExhibit(file, id, data, g, rep)
}

func parseExhibit(file, id string, data []byte, g *gallery.Gallery, rep *report) *exhibitFile {
	front, body, before, problem := splitFront(data)
	if problem != "" {
		rep.errorf(file, 1, "%s", problem)
		return nil
	}
	y, ok := parseYAML(file, 1, front, rep)
	if !ok {
		return nil
	}
	var in exhibitFront
	y.decode(&in)

	language := g.Languages[0]
	e := gallery.Exhibit{
		ID: id, Label: in.Label, Hall: in.Hall, At: in.At, Accession: in.Accession,
		Title: one(language, in.Title), Maker: one(language, in.Maker), Date: one(language, in.Date),
		Materials: one(language, in.Materials), Credit: one(language, in.Credit),
		Keywords: in.Keywords, Related: in.Related, Sources: in.Sources, Minutes: in.Minutes,
	}
	for _, p := range in.Pictures {
		e.Pictures = append(e.Pictures, gallery.Picture{File: p.File, Alt: one(language, p.Alt)})
	}
	x := &exhibitFile{exhibit: e, front: y, file: file, cited: map[string]bool{}}
	x.checkFacts(g)
	x.addText(file, before, body, language, in.Title, rep)
	return x
}

// one is a text in one language; nil where there is none.
func one(language, text string) gallery.Localized {
	if text == "" {
		return nil
	}
	return gallery.Localized{language: text}
}

// documents are the files that tell the exhibit's facts, by language.
func (x *exhibitFile) documents(g *gallery.Gallery) map[string]string {
	files := map[string]string{}
	for _, tag := range g.Languages {
		files[tag] = x.file
		if slices.Contains(x.translated, tag) {
			files[tag] = fmt.Sprintf("%s/%s.%s.md", exhibitsFolder, x.exhibit.ID, tag)
		}
	}
	return files
}

// validKey reports whether a source can be named by a key.
func validKey(key string) bool {
	return key != "" && len(key) <= maxKeyBytes && !strings.ContainsAny(key, "[]^ \t\n")
}

func (x *exhibitFile) checkFacts(g *gallery.Gallery) {
	e, y := &x.exhibit, x.front
	if len(e.Title) == 0 {
		y.errorf([]any{"title"}, "title: the exhibit needs a title")
	}
	if e.Hall == "" {
		y.errorf([]any{"hall"}, "hall: say which hall the exhibit is in")
	} else {
		y.checkHall([]any{"hall"}, "hall", e.Hall, g)
	}
	if h := findHall(g, e.Hall); h != nil && len(h.Outline) >= 3 && e.At != (gallery.Point{}) && !inside(e.At, h.Outline) {
		y.warnf([]any{"at"}, "at: [%g, %g] is outside of hall %q on the plan", e.At[0], e.At[1], e.Hall)
	}
	if e.Minutes < 0 || e.Minutes > 240 {
		y.errorf([]any{"minutes"}, "minutes: %g is not a time one looks at an exhibit", e.Minutes)
	}
	keys := map[string]bool{}
	for i, s := range e.Sources {
		at := []any{"sources", i}
		switch {
		case !validKey(s.Key):
			y.errorf(append(at, "key"), "sources[%d].key: %q must be a short word, used in the text as [^word]", i+1, s.Key)
		case keys[s.Key]:
			y.errorf(append(at, "key"), "sources[%d].key: %q is used twice", i+1, s.Key)
		}
		keys[s.Key] = true
		if s.Title == "" {
			y.errorf(append(at, "title"), "sources[%d].title: name the work the text rests on", i+1)
		}
		if s.URL != "" && !strings.HasPrefix(s.URL, "https://") && !strings.HasPrefix(s.URL, "http://") {
			y.errorf(append(at, "url"), "sources[%d].url: %q must begin with https://", i+1, s.URL)
		}
	}
}
