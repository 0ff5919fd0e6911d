package html

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"docent/localindex/document/internal/lines"
	"docent/localindex/internal/prose"
)

// The main content is looked for in three steps: an element that says it is main; else, from the body down, the one
// child that has nearly all of the running text; and the body where no child has. Text in links counts against an
// element, as in Readability.
const (
	dominant  = 0.85 // share of the running text a child must have to be gone into
	mainShare = 0.25 // share that an element that says it is main must have to be believed
)

// cleaner measures running text and links.
type cleaner struct {
	text    map[*html.Node]int
	links   map[*html.Node]int
	dropped map[*html.Node]bool
}

// measure counts the letters below a node, in links and not.
func (c *cleaner) measure(n *html.Node, inLink bool) (text, links int) {
	switch n.Type {
	case html.TextNode:
		if inLink {
			return 0, prose.Letters(n.Data)
		}
		return prose.Letters(n.Data), 0
	case html.ElementNode:
		if n.DataAtom != atom.Body && (unwanted(n) || hidden(n)) {
			c.dropped[n] = true
			return 0, 0
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		t, l := c.measure(child, inLink || n.DataAtom == atom.A && has(n, "href"))
		text, links = text+t, links+l
	}
	if n.Type == html.ElementNode {
		if boilerplate(n) && (links > text || text < 400) || n.DataAtom == atom.Ul && links > 60 && links > 9*text {
			c.dropped[n] = true
			return 0, 0
		}
		c.text[n], c.links[n] = text, links
	}
	return text, links
}

// score is the running text of an element, less what is in links.
func (c *cleaner) score(n *html.Node) float64 {
	return float64(c.text[n]) - 0.5*float64(c.links[n])
}

func (c *cleaner) main(body *html.Node) *html.Node {
	total := c.score(body)
	var best *html.Node
	articles := 0
	for n := range body.Descendants() {
		if n.Type != html.ElementNode || c.dropped[n] {
			continue
		}
		if n.DataAtom == atom.Article {
			articles++
		}
		if n.DataAtom == atom.Main || attr(n, "role") == "main" || n.DataAtom == atom.Article || attr(n, "itemprop") == "articleBody" {
			if c.score(n) >= mainShare*total && (best == nil || n.DataAtom == atom.Main) {
				best = n
			}
		}
	}
	if best != nil && total > 0 && (best.DataAtom != atom.Article || articles == 1) {
		return best
	}
	at := body
	for {
		var next *html.Node
		for child := at.FirstChild; child != nil; child = child.NextSibling {
			if container(child) && !c.dropped[child] && c.score(child) >= dominant*total && total > 0 {
				next = child
			}
		}
		if next == nil {
			return at
		}
		at = next
	}
}

func container(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Main, atom.Article, atom.Form, atom.Center:
		return n.Type == html.ElementNode
	}
	return false
}

// headingOutside is the one heading of the first level of a page whose main content has none.
func (c *cleaner) headingOutside(body, main *html.Node) *html.Node {
	var found *html.Node
	for n := range body.Descendants() {
		if n.DataAtom != atom.H1 || n.Type != html.ElementNode {
			continue
		}
		outside := true
		for p := n.Parent; p != nil; p = p.Parent {
			if p == main {
				outside = false
			}
			if hidden(p) || p.DataAtom == atom.Nav {
				return nil
			}
		}
		if !outside || found != nil || hidden(n) {
			return nil
		}
		found = n
	}
	return found
}

// unwanted are elements without text for a reader.
func unwanted(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Nav, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Canvas,
		atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Datalist, atom.Audio, atom.Video, atom.Head, atom.Title, atom.Link, atom.Meta,
		atom.Rt, atom.Rp, atom.Dialog, atom.Menu:
		return true
	case atom.Header, atom.Footer:
		for p := n.Parent; p != nil; p = p.Parent {
			switch p.DataAtom {
			case atom.Article, atom.Main, atom.Section, atom.Blockquote, atom.Figure:
				return false
			}
		}
		return n.DataAtom == atom.Footer || find(n, atom.P) == nil
	}
	switch attr(n, "role") {
	case "navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar":
		return true
	}
	return false
}

func hidden(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	if has(n, "hidden") || attr(n, "aria-hidden") == "true" {
		return true
	}
	style := strings.ToLower(strings.Join(strings.Fields(attr(n, "style")), ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

var boilerplateName = regexp.MustCompile(`(?i)(^|[-_ ])(nav|navbar|navigation|menu|sidebar|breadcrumbs?|cookies?|consent|share|sharing|social|comments?|advert(isement)?s?|ads?|promo|related|pagination|pager|skip|newsletter|subscribe|footer|copyright|toolbar|popup|modal)([-_ ]|$)`)

// boilerplate reports whether an element is named as what stands around the content is.
func boilerplate(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Ul, atom.Ol, atom.Aside, atom.Span, atom.P, atom.Form:
		if strings.HasPrefix(attr(n, "role"), "doc-") {
			return false
		}
		return boilerplateName.MatchString(attr(n, "class")) || boilerplateName.MatchString(attr(n, "id"))
	}
	return false
}

// captionLike reports whether a text stands as a caption though its element does not say so.
func captionLike(s string) bool { return lines.Caption(s) && prose.Units(s) <= 2*lines.MaxHeading }
