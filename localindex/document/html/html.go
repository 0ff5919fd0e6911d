// Package html reads web pages: of a page it takes the main content, without navigation, scripts and what is hidden.
package html

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	xcharset "golang.org/x/net/html/charset"

	"docent/localindex/document"
	"docent/localindex/document/internal/charset"
)

// Limits.
const (
	MaxBytes = 8 << 20 // a file
	maxNodes = 500_000 // elements and texts
	maxSpan  = 100     // columns or rows that a cell may span
	maxCells = 200_000 // of one table, spanned ones counted
)

// Parser reads web pages.
type Parser struct{}

var _ document.Parser = Parser{}

// Parse reads one page.
func (Parser) Parse(ctx context.Context, name string, data []byte) (document.Document, error) {
	if len(data) > MaxBytes {
		return document.Document{}, document.TooLarge(name, len(data), MaxBytes)
	}
	text, err := decode(data)
	if err != nil {
		return document.Document{}, err
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return document.Document{}, &document.Error{Op: "read", Reason: fmt.Sprintf("its elements cannot be read: %v", err), Err: document.ErrBroken}
	}
	if err := ctx.Err(); err != nil {
		return document.Document{}, err
	}
	nodes := 0
	for range root.Descendants() {
		if nodes++; nodes > maxNodes {
			return document.Document{}, &document.Error{Op: "read", Reason: fmt.Sprintf("it has more than %d elements", maxNodes),
				Hint: "divide it into several files", Err: document.ErrTooLarge}
		}
	}
	return read(root)
}

// decode brings a page to UTF-8: what is UTF-8 stays, then a byte order mark or the page's own word counts, and then
// the look of its bytes.
func decode(data []byte) (string, error) {
	if enc, name, _ := xcharset.DetermineEncoding(data[:min(len(data), 1024)], ""); name != "windows-1252" && name != "utf-8" {
		if decoded, err := enc.NewDecoder().Bytes(data); err == nil && bytes.Count(decoded, []byte("\uFFFD"))*1000 < len(decoded) {
			text, _, err := charset.Decode(decoded)
			return text, err
		}
	}
	text, _, err := charset.Decode(data)
	return text, err
}

func read(root *html.Node) (document.Document, error) {
	body := find(root, atom.Body)
	if body == nil {
		return document.Document{}, document.Broken("read", "it has no body")
	}
	d := document.Document{Format: document.HTML}
	if t := find(root, atom.Title); t != nil && t.FirstChild != nil {
		d.Title = t.FirstChild.Data
	}
	language := ""
	if h := find(root, atom.Html); h != nil {
		language = attr(h, "lang")
	}
	c := &cleaner{text: map[*html.Node]int{}, links: map[*html.Node]int{}, dropped: map[*html.Node]bool{}}
	c.measure(body, false)
	main := c.main(body)
	r := &reader{dropped: c.dropped, notes: map[string]*html.Node{}, said: map[string]bool{}}
	r.findNotes(body)
	if h := c.headingOutside(body, main); h != nil {
		r.block(h, at{})
	}
	r.block(main, at{})
	r.flush(at{})
	d.Blocks = r.out
	if len(r.out) > 0 && r.out[0].Kind == document.Heading && r.out[0].Level == 1 {
		d.Title = r.out[0].Text // a page's title has the name of the site in it
	}
	return document.Finish(d, language)
}

func find(n *html.Node, a atom.Atom) *html.Node {
	for d := range n.Descendants() {
		if d.DataAtom == a && d.Type == html.ElementNode {
			return d
		}
	}
	return nil
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}
