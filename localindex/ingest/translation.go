package ingest

import (
	"fmt"
	"os"

	"docent/localindex/gallery"
)

// translationFront is the front matter of an exhibit in another language.
type translationFront struct {
	Title     string `json:"title"`
	Maker     string `json:"maker"`
	Date      string `json:"date"`
	Materials string `json:"materials"`
	Credit    string `json:"credit"`
	Pictures  []struct {
		Alt string `json:"alt"`
	} `json:"pictures"`
}

// translate adds what a file in another language says.
func (x *exhibitFile) translate(root *os.Root, file, language string, rep *report) {
	data, ok := readText(root, file, rep)
	if !ok {
		return
	}
	x.parseTranslation(file, language, data, rep)
}

func (x *exhibitFile) parseTranslation(file, language string, data []byte, rep *report) {
	front, body, before, problem := splitFront(data)
	if problem != "" {
		rep.errorf(file, 1, "%s", problem)
		return
	}
	y, ok := parseYAML(file, 1, front, rep)
	if !ok {
		return
	}
	var in translationFront
	y.decode(&in)

	e := &x.exhibit
	for _, t := range []struct {
		key  string
		text string
		into *gallery.Localized
	}{
		{"title", in.Title, &e.Title}, {"maker", in.Maker, &e.Maker}, {"date", in.Date, &e.Date},
		{"materials", in.Materials, &e.Materials}, {"credit", in.Credit, &e.Credit},
	} {
		x.translateFact(y, t.key, language, t.text, t.into)
	}
	if len(in.Pictures) > len(e.Pictures) {
		y.errorf([]any{"pictures", len(e.Pictures)}, "pictures: there are %d here, and %d in %s", len(in.Pictures), len(e.Pictures), x.file)
	}
	for i := range e.Pictures {
		alt := ""
		if i < len(in.Pictures) {
			alt = in.Pictures[i].Alt
		}
		x.translateFact(y, fmt.Sprintf("pictures[%d].alt", i+1), language, alt, &e.Pictures[i].Alt)
	}
	title := in.Title
	if title == "" {
		title = e.Title.In(language)
	}
	x.addText(file, before, body, language, title, rep)
	x.translated = append(x.translated, language)
}

// translateFact adds one fact in another language, and warns where only the default language has it.
func (x *exhibitFile) translateFact(y *yamlFile, key, language, text string, into *gallery.Localized) {
	switch {
	case text != "":
		if *into == nil {
			*into = gallery.Localized{}
		}
		(*into)[language] = text
	case len(*into) > 0:
		y.warnf([]any{key}, "%s: not translated; the kiosk shows it as in %s", key, x.file)
	}
}

// addText reads the body of a file into sections.
func (x *exhibitFile) addText(file string, before int, body []byte, language, title string, rep *report) {
	known := map[string]bool{}
	for _, s := range x.exhibit.Sources {
		known[s.Key] = true
	}
	blocks := parseMarkdown(file, before, body, title, known, rep)
	if len(blocks) == 0 {
		rep.warnf(file, before+1, "there is no text below the facts; the kiosk can only tell those")
	}
	for i, b := range blocks {
		x.sections = append(x.sections, gallery.Section{
			ID: fmt.Sprintf("%s/%s/%d", x.exhibit.ID, language, i+1), Exhibit: x.exhibit.ID, Hall: x.exhibit.Hall,
			Domain: gallery.DomainExhibit, Language: language, Level: b.level, Heading: b.heading, Path: b.path,
			Text: b.text, Sources: b.sources, Document: file,
		})
		for _, key := range b.sources {
			x.cited[key] = true
		}
	}
}
