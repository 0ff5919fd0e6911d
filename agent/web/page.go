package web

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"docent/localindex/document"
	page "docent/localindex/document/html"
)

// Page is what a page says.
type Page struct {
	URL      string
	Title    string
	Language string // a hint; may be empty
	Sections []Section
}

// Section is a heading and the paragraphs below it.
type Section struct {
	Heading    string
	Paragraphs []string
}

// Bounds of what is taken from a page.
const (
	maxParagraphs = 400
	minParagraph  = 30 // characters: shorter ones are buttons and menus
	maxParagraph  = 2000
	maxAnchors    = 2000
)

// link is a link of a page, without its fragment.
type link struct {
	to   *url.URL
	text string
}

// read takes the text and the links from a page.
func read(ctx context.Context, at *url.URL, body []byte) (Page, []link, error) {
	address := *at
	address.Fragment, address.User = "", nil
	d, err := page.Parser{}.Parse(ctx, address.Path, body)
	if err != nil {
		return Page{}, nil, fmt.Errorf("%w: %w", ErrPage, err)
	}
	out := Page{URL: address.String(), Title: d.Title, Language: d.Language}
	if out.Title == "" {
		out.Title = at.Hostname()
	}
	section := Section{Heading: out.Title}
	n := 0
	for _, b := range d.Blocks {
		text := strings.Join(strings.Fields(b.Text), " ")
		rs := []rune(text)
		switch {
		case b.Kind == document.Heading:
			if len(section.Paragraphs) > 0 {
				out.Sections = append(out.Sections, section)
			}
			section = Section{Heading: text}
		case b.Kind == document.Table, len(rs) < minParagraph, n >= maxParagraphs:
		default:
			section.Paragraphs = append(section.Paragraphs, string(rs[:min(len(rs), maxParagraph)]))
			n++
		}
	}
	if len(section.Paragraphs) > 0 {
		out.Sections = append(out.Sections, section)
	}
	return out, anchors(&address, body), nil
}

// anchors lists the links of a page.
func anchors(base *url.URL, body []byte) []link {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	var out []link
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "a" {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" {
				continue
			}
			if to, err := base.Parse(a.Val); err == nil && len(out) < maxAnchors {
				to.Fragment = ""
				out = append(out, link{to, textOf(n)})
			}
		}
	}
	return out
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && b.Len() < maxParagraph {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
