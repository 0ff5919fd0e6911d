package ingest

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a time zone is checked on machines that have no zone files, too

	"golang.org/x/text/language"

	"docent/localindex/gallery"
)

// GalleryFile is the file that makes a folder an authoring folder.
const GalleryFile = "gallery.yaml"

// galleryYAML is what may stand in gallery.yaml.
type galleryYAML struct {
	ID          string              `json:"id"`
	Name        gallery.Localized   `json:"name"`
	Languages   []string            `json:"languages"`
	TimeZone    string              `json:"time_zone"`
	Halls       []gallery.Hall      `json:"halls"`
	Kiosks      []gallery.Place     `json:"kiosks"`
	Attract     []gallery.Localized `json:"attract"`
	Recognition gallery.Recognition `json:"recognition"`
	Venue       gallery.Venue       `json:"venue"`
	Search      searchYAML          `json:"search"`
	Documents   gallery.Division    `json:"documents"`
}

// ids of exhibits that would collide with those of the sections about the house.
var reservedIDs = []string{"gallery", "venue", "hall", "event", "service", "documents"}

var slug = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// readGalleryFile reads gallery.yaml. It returns nil where nothing of it is usable. What it leaves out of id, languages and
// time zone is taken from usual, which is nil where all must be said.
func readGalleryFile(root *os.Root, usual *gallery.Gallery, rep *report) *gallery.Gallery {
	data, ok := readText(root, GalleryFile, rep)
	if !ok {
		return nil
	}
	return parseGallery(root, data, usual, rep)
}

// parseGallery reads gallery.yaml. Files that it names are looked for in root, which may be nil.
func parseGallery(root *os.Root, data []byte, usual *gallery.Gallery, rep *report) *gallery.Gallery {
	const file = GalleryFile
	y, ok := parseYAML(file, 0, data, rep)
	if !ok {
		return nil
	}
	// The languages are needed to read everything else.
	y.languages = y.languageTags()
	if n, _ := child(y.root, "languages"); n == nil && usual != nil {
		y.languages = usual.Languages
	}
	if len(y.languages) == 0 {
		y.errorf([]any{"languages"}, "languages: name at least one, the default first, such as [en, zh]")
		y.languages = []string{"en"}
	}
	var in galleryYAML
	y.decode(&in)
	in.Languages = y.languages
	g := &gallery.Gallery{
		ID: in.ID, Name: in.Name, Languages: in.Languages, TimeZone: in.TimeZone, Halls: in.Halls, Kiosks: in.Kiosks,
		Venue: in.Venue, Attract: in.Attract, Recognition: in.Recognition, Search: in.Search.search(), Documents: in.Documents,
	}
	if usual != nil {
		g.ID, g.TimeZone = cmp.Or(g.ID, usual.ID), cmp.Or(g.TimeZone, usual.TimeZone)
	}
	y.checkGallery(g)
	if root != nil && g.Recognition.Neural != (gallery.Neural{}) {
		y.checkModel(root, g.Recognition.Neural)
	}
	return g
}

// languageTags reads the key languages alone, and reports tags that are none.
func (y *yamlFile) languageTags() []string {
	n, _ := child(y.root, "languages")
	if n == nil {
		return nil
	}
	var tags []string
	for i := 0; ; i++ {
		item, _ := child(n, i)
		if item == nil {
			return tags
		}
		tag := strings.TrimSpace(item.Value)
		switch _, err := language.Parse(tag); {
		case err != nil || len(tag) > 35:
			y.problem(item, "languages: %q is not a language tag, such as en, zh or zh-Hant", tag)
		case slices.Contains(tags, tag):
			y.problem(item, "languages: %q is listed twice", tag)
		default:
			tags = append(tags, tag)
		}
	}
}

func (y *yamlFile) checkGallery(g *gallery.Gallery) {
	if !slug.MatchString(g.ID) {
		y.errorf([]any{"id"}, "id: %q must be lower case letters, digits and dashes", g.ID)
	}
	if g.Name.In(g.Languages[0]) == "" {
		y.errorf([]any{"name"}, "name: the gallery needs a name")
	}
	if _, err := time.LoadLocation(g.TimeZone); g.TimeZone == "" || g.TimeZone == "Local" || err != nil {
		y.errorf([]any{"time_zone"}, "time_zone: %q is not a time zone, such as Europe/Rome or Asia/Shanghai", g.TimeZone)
	}
	y.checkTranslated([]any{"name"}, "name", g.Name)
	y.checkHalls(g)
	for i, k := range g.Kiosks {
		path := []any{"kiosks", i}
		if !slug.MatchString(k.ID) {
			y.errorf(append(path, "id"), "kiosks[%d].id: %q must be lower case letters, digits and dashes", i+1, k.ID)
		}
		y.checkHall(append(path, "hall"), fmt.Sprintf("kiosks[%d].hall", i+1), k.Hall, g)
		if slices.ContainsFunc(g.Kiosks[:i], func(o gallery.Place) bool { return o.ID == k.ID }) {
			y.errorf(append(path, "id"), "kiosks[%d].id: %q is used twice", i+1, k.ID)
		}
	}
	for i, a := range g.Attract {
		y.checkTranslated([]any{"attract", i}, fmt.Sprintf("attract[%d]", i+1), a)
	}
	y.checkRecognition(g.Recognition)
	y.checkSearch(g.Search)
	y.checkChunk([]any{"documents"}, "documents", g.Documents)
	y.checkVenue(g)
}

func (y *yamlFile) checkHalls(g *gallery.Gallery) {
	for i, h := range g.Halls {
		path := []any{"halls", i}
		name := fmt.Sprintf("halls[%d]", i+1)
		if !slug.MatchString(h.ID) {
			y.errorf(append(path, "id"), "%s.id: %q must be lower case letters, digits and dashes", name, h.ID)
		}
		if slices.ContainsFunc(g.Halls[:i], func(o gallery.Hall) bool { return o.ID == h.ID }) {
			y.errorf(append(path, "id"), "%s.id: %q is used twice", name, h.ID)
		}
		if h.Name.In(g.Languages[0]) == "" {
			y.errorf(append(path, "name"), "%s.name: the hall needs a name", name)
		}
		y.checkTranslated(append(path, "name"), name+".name", h.Name)
		y.checkTranslated(append(path, "about"), name+".about", h.About)
		if n := len(h.Outline); n == 1 || n == 2 {
			y.errorf(append(path, "outline"), "%s.outline: an outline needs at least three corners", name)
		}
		for j, d := range h.Doors {
			y.checkHall(append(path, "doors", j, "to"), fmt.Sprintf("%s.doors[%d].to", name, j+1), d.To, g)
			if d.To == h.ID {
				y.errorf(append(path, "doors", j, "to"), "%s.doors[%d].to: the door leads back into its own hall", name, j+1)
			}
		}
	}
}

// checkHall reports a hall that does not exist.
func (y *yamlFile) checkHall(path []any, name, hall string, g *gallery.Gallery) {
	if findHall(g, hall) == nil {
		y.errorf(path, "%s: there is no hall %q%s", name, hall, suggestion(hall, hallIDs(g)))
	}
}

func findHall(g *gallery.Gallery, id string) *gallery.Hall {
	for i := range g.Halls {
		if g.Halls[i].ID == id {
			return &g.Halls[i]
		}
	}
	return nil
}

func hallIDs(g *gallery.Gallery) []string {
	var ids []string
	for _, h := range g.Halls {
		if h.ID != "" && !slices.Contains(ids, h.ID) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// checkTranslated warns of a text that some language lacks. A text that no language has is no matter of translation.
func (y *yamlFile) checkTranslated(path []any, name string, l gallery.Localized) {
	if len(l) == 0 {
		return
	}
	for _, tag := range y.languages {
		if l[tag] == "" {
			y.warnf(path, "%s: not translated into %s", name, tag)
		}
	}
}
