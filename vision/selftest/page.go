package selftest

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"docent/localindex/gallery"
)

// How much a page shows: its pictures have some 15 KB each.
const (
	maxShown     = 40 // entries of each list
	pictureSide  = 300
	pictureGrade = 75 // JPEG quality
)

//go:embed page.html
var pageSource string

// pageData is what the page's template shows.
type pageData struct {
	Language string
	Words    words
	Title    string
	Intro    []string
	Pairs    []shownPair
	More     string // of pairs
	Weak     []shownWeak
	MoreWeak string
}

type shownPair struct {
	A, B shownPicture
	What []string
	Bad  bool // something was named wrongly
}

type shownWeak struct {
	Picture shownPicture
	View    *shownPicture // that was not recognised
	What    []string
}

type shownPicture struct {
	Data    template.URL
	Caption string
	Where   string
}

// WritePage writes the findings for a gallery's staff as one HTML file that needs nothing else, in English, or in Chinese
// where the language is one of its tags. It reads the pictures at path.
func WritePage(w io.Writer, g *gallery.Gallery, r Report, path func(file string) string, language string) error {
	page := pageWriter{gallery: g, path: path, language: language, words: wordsIn(language)}
	data, err := page.data(r)
	if err != nil {
		return fmt.Errorf("write page of findings: %w", err)
	}
	t, err := template.New("page").Parse(pageSource)
	if err != nil {
		return fmt.Errorf("write page of findings: %w", err)
	}
	if err := t.Execute(w, data); err != nil {
		return fmt.Errorf("write page of findings: %w", err)
	}
	return nil
}

type pageWriter struct {
	gallery  *gallery.Gallery
	path     func(string) string
	language string
	words    words
}

func (p pageWriter) data(r Report) (pageData, error) {
	d := pageData{
		Language: p.language, Words: p.words, Title: p.gallery.Name.In(p.language, p.gallery.Languages...),
		Intro: p.words.intro(r),
	}
	for _, pair := range r.Pairs[:min(len(r.Pairs), maxShown)] {
		a, err := p.picture(pair.A, pair.PictureA)
		if err != nil {
			return d, err
		}
		b, err := p.picture(pair.B, pair.PictureB)
		if err != nil {
			return d, err
		}
		d.Pairs = append(d.Pairs, shownPair{A: a, B: b, What: p.words.pair(pair), Bad: len(pair.Wrong) > 0})
	}
	if n := r.PairsCount - len(d.Pairs); n > 0 {
		d.More = fmt.Sprintf(p.words.More, n)
	}
	for _, weak := range r.Weak[:min(len(r.Weak), maxShown)] {
		picture, err := p.picture(weak.Exhibit, weak.Picture)
		if err != nil {
			return d, err
		}
		s := shownWeak{Picture: picture, What: p.words.weak(weak)}
		if len(weak.Missed) > 0 {
			if s.View, err = p.view(weak.Missed[0]); err != nil {
				return d, err
			}
		}
		d.Weak = append(d.Weak, s)
	}
	if n := r.WeakCount - len(d.Weak); n > 0 {
		d.MoreWeak = fmt.Sprintf(p.words.More, n)
	}
	return d, nil
}

// picture shows a picture of an exhibit, with the words by which staff know it.
func (p pageWriter) picture(exhibit, file string) (shownPicture, error) {
	s := shownPicture{Caption: exhibit, Where: file}
	for _, e := range p.gallery.Exhibits {
		if e.ID != exhibit {
			continue
		}
		parts := []string{e.Title.In(p.language, p.gallery.Languages...)}
		if maker := e.Maker.In(p.language, p.gallery.Languages...); maker != "" {
			parts = append(parts, maker)
		}
		s.Caption = strings.Join(parts, p.words.Between)
		if e.Label != "" {
			s.Where = fmt.Sprintf(p.words.Number, e.Label) + " · " + file
		}
	}
	src, err := load(p.path(file))
	if err != nil {
		return s, fmt.Errorf("picture %s of exhibit %s: %w", file, exhibit, err)
	}
	defer src.Close()
	s.Data, err = dataURL(src)
	return s, err
}

// view shows a visitor's photo as it was rendered.
func (p pageWriter) view(v View) (*shownPicture, error) {
	src, err := load(p.path(v.Picture))
	if err != nil {
		return nil, fmt.Errorf("picture %s of exhibit %s: %w", v.Picture, v.Exhibit, err)
	}
	defer src.Close()
	photo, err := v.Take(src.Image)
	if err != nil {
		return nil, err
	}
	defer photo.Close()
	data, err := dataURL(photo)
	return &shownPicture{Data: data, Caption: p.words.View}, err
}

func dataURL(photo interface {
	JPEG(side, quality int) ([]byte, error)
}) (template.URL, error) {
	data, err := photo.JPEG(pictureSide, pictureGrade)
	if err != nil {
		return "", err
	}
	return template.URL("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(data)), nil
}
