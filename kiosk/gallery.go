package kiosk

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"docent/localindex"
	"docent/localindex/gallery"
)

// exhibitCard is an exhibit in one language, as lists and cards show it.
type exhibitCard struct {
	ID         string        `json:"id"`
	Label      string        `json:"label"`
	Title      string        `json:"title"`
	Maker      string        `json:"maker,omitempty"`
	Date       string        `json:"date,omitempty"`
	Hall       string        `json:"hall"`
	Picture    string        `json:"picture,omitempty"` // address
	PictureAlt string        `json:"picture_alt,omitempty"`
	At         gallery.Point `json:"at"` // on the plan
}

// exhibitDetail is an exhibit with its label and texts.
type exhibitDetail struct {
	exhibitCard
	Materials string           `json:"materials"`
	Accession string           `json:"accession"`
	Credit    string           `json:"credit"`
	Pictures  []pictureView    `json:"pictures"`
	Sections  []sectionView    `json:"sections"`
	Sources   []gallery.Source `json:"sources"`
	Related   []exhibitCard    `json:"related"`
	Minutes   float64          `json:"minutes,omitempty"`
}

type pictureView struct {
	URL    string `json:"url"`
	Alt    string `json:"alt,omitempty"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

type sectionView struct {
	ID       string        `json:"id"`
	Heading  string        `json:"heading"`
	Level    gallery.Level `json:"level,omitempty"`
	Text     string        `json:"text"`
	Language string        `json:"language"`
}

// in returns a text in lang, else in the gallery's default language, else in any.
func (c *content) in(l gallery.Localized, lang string) string {
	return l.In(lang, c.release.Gallery().Languages...)
}

func (c *content) card(e gallery.Exhibit, lang string) exhibitCard {
	card := exhibitCard{
		ID: e.ID, Label: e.Label, Title: c.in(e.Title, lang), Maker: c.in(e.Maker, lang), Date: c.in(e.Date, lang), Hall: e.Hall, At: e.At,
	}
	if len(e.Pictures) > 0 {
		card.Picture, card.PictureAlt = c.pictureURL(e.Pictures[0].File), c.in(e.Pictures[0].Alt, lang)
	}
	return card
}

func (c *content) detail(e gallery.Exhibit, lang string) exhibitDetail {
	d := exhibitDetail{
		exhibitCard: c.card(e, lang),
		Materials:   c.in(e.Materials, lang), Accession: e.Accession, Credit: c.in(e.Credit, lang), Minutes: e.Minutes,
		Pictures: []pictureView{}, Sections: []sectionView{}, Sources: []gallery.Source{}, Related: []exhibitCard{},
	}
	for _, p := range e.Pictures {
		d.Pictures = append(d.Pictures, pictureView{URL: c.pictureURL(p.File), Alt: c.in(p.Alt, lang), Width: p.Width, Height: p.Height})
	}
	for _, s := range c.sections(e.ID, lang) {
		d.Sections = append(d.Sections, sectionView{ID: s.ID, Heading: s.Heading, Level: s.Level, Text: s.Text, Language: s.Language})
	}
	d.Sources = append(d.Sources, e.Sources...)
	for _, id := range e.Related {
		if r, ok := c.release.Exhibit(id); ok {
			d.Related = append(d.Related, c.card(r, lang))
		}
	}
	return d
}

// sections are those of an exhibit in lang, or, where it has none, in the first of the gallery's languages that has.
func (c *content) sections(exhibit, lang string) []gallery.Section {
	for _, l := range append([]string{lang}, c.release.Gallery().Languages...) {
		if s := c.release.Sections(exhibit, l); len(s) > 0 {
			return s
		}
	}
	return nil
}

// picturesFolder is where a release has its pictures; addresses leave it out.
const picturesFolder = "pictures/"

// pictureURL is the address of a picture. It names the release, so that it never shows another picture.
func (c *content) pictureURL(file string) string {
	parts := strings.Split(strings.TrimPrefix(file, picturesFolder), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return api + "/pictures/" + strings.Join(parts, "/") + "?v=" + url.QueryEscape(c.release.Manifest().ID)
}

// getGallery tells the page what it needs before the first touch.
func (k *Kiosk) getGallery(c *fiber.Ctx) error {
	return k.withContent(func(content *content) error {
		g, m := content.release.Gallery(), content.release.Manifest()
		here := gallery.Place{ID: k.config.Kiosk}
		for _, p := range g.Kiosks {
			if p.ID == k.config.Kiosk {
				here = p
			}
		}
		pictures := []string{}
		for _, e := range g.Exhibits {
			if len(e.Pictures) > 0 {
				pictures = append(pictures, content.pictureURL(e.Pictures[0].File))
			}
		}
		return c.JSON(fiber.Map{
			"id": g.ID, "name": g.Name, "languages": g.Languages, "default_language": content.language(),
			"release": fiber.Map{"id": m.ID, "number": m.Number},
			"halls":   list(g.Halls), "kiosk": here, "camera": k.cameraState(),
			"attract": list(g.Attract), "pictures": pictures,
			"idle_seconds": int(k.config.Visit.Idle.Seconds()), "features": k.features(content),
		})
	})
}

// list makes a missing list an empty one, which JSON tells apart.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

const (
	maxSearch  = 200 // characters
	maxResults = 50  // exhibits found by their texts
)

// getExhibits lists all exhibits in the gallery's order, or those that a search finds: by label number first, then by
// title, maker and keyword, then by their texts.
func (k *Kiosk) getExhibits(c *fiber.Ctx) error {
	lang, q := k.language(c), strings.TrimSpace(c.Query("q"))
	if len([]rune(q)) > maxSearch {
		return badRequest("the search is too long")
	}
	return k.withContent(func(content *content) error {
		found := content.release.Gallery().Exhibits
		if q != "" {
			var err error
			if found, err = content.find(c, q, lang); err != nil {
				return err
			}
		}
		cards := make([]exhibitCard, len(found))
		for i, e := range found {
			cards[i] = content.card(e, lang)
		}
		return c.JSON(fiber.Map{"exhibits": cards})
	})
}

func (c *content) find(ctx *fiber.Ctx, q, lang string) ([]gallery.Exhibit, error) {
	var labelled, named []gallery.Exhibit
	for _, e := range c.release.Gallery().Exhibits {
		switch {
		case strings.EqualFold(e.Label, q):
			labelled = append(labelled, e)
		case mentions(e, q):
			named = append(named, e)
		}
	}
	if len(labelled) > 0 { // a number on the wall means that exhibit and no other
		return labelled, nil
	}
	found := named
	hits, err := c.release.Search(ctx.UserContext(), localindex.Query{
		Text: q, Language: lang, Domains: []gallery.Domain{gallery.DomainExhibit}, Limit: maxResults,
	})
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		e, ok := c.release.Exhibit(h.Section.Exhibit)
		if ok && !slices.ContainsFunc(found, func(f gallery.Exhibit) bool { return f.ID == e.ID }) {
			found = append(found, e)
		}
	}
	return found, nil
}

// mentions says whether an exhibit's title, maker or a keyword holds q, in any language.
func mentions(e gallery.Exhibit, q string) bool {
	q = strings.ToLower(q)
	texts := slices.Clone(e.Keywords)
	for _, l := range []gallery.Localized{e.Title, e.Maker} {
		for _, t := range l {
			texts = append(texts, t)
		}
	}
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), q) })
}

func (k *Kiosk) getExhibit(c *fiber.Ctx) error {
	return k.withExhibit(c, func(content *content, e gallery.Exhibit) error {
		return c.JSON(content.detail(e, k.language(c)))
	})
}

// withExhibit calls f with the exhibit whose id is in the address, one part of it, encoded.
func (k *Kiosk) withExhibit(c *fiber.Ctx, f func(*content, gallery.Exhibit) error) error {
	id, err := url.PathUnescape(c.Params("id"))
	if err != nil {
		return badRequest("the id is not encoded as a part of an address")
	}
	return k.withContent(func(content *content) error {
		e, ok := content.release.Exhibit(id)
		if !ok {
			return noSuchExhibit()
		}
		return f(content, e)
	})
}

// getPassage shows a passage that an answer cites, within its section. Its id is one part of the address, encoded.
func (k *Kiosk) getPassage(c *fiber.Ctx) error {
	lang := k.language(c)
	id, err := url.PathUnescape(c.Params("*"))
	if err != nil {
		return badRequest("the id is not encoded as a part of an address")
	}
	return k.withContent(func(content *content) error {
		p, ok := content.release.Passage(id)
		if !ok {
			return notFound("no such passage")
		}
		s, ok := content.release.Section(p.Section)
		if !ok {
			return notFound("the passage has no section")
		}
		type published struct {
			Title string `json:"title"`
			URL   string `json:"url,omitempty"`
		}
		var card *exhibitCard
		works := []published{}
		if e, ok := content.release.Exhibit(s.Exhibit); ok {
			shown := content.card(e, lang)
			card = &shown
			for _, source := range e.Sources {
				if slices.Contains(s.Sources, source.Key) {
					works = append(works, published{source.Title, source.URL})
				}
			}
		}
		return c.JSON(fiber.Map{
			"id": p.ID, "text": p.Text, "page": cmp.Or(p.Page, s.Page), "last_page": p.LastPage, "exhibit": card, "published": works,
			"section": fiber.Map{
				"id": s.ID, "heading": s.Heading, "path": list(s.Path), "text": s.Text, "document": s.Document, "page": s.Page,
				"language": s.Language,
			},
		})
	})
}
