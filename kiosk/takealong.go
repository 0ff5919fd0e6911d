package kiosk

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/qr"
	"docent/localindex/gallery"
)

// getTakeAlong draws a code that a visitor takes an exhibit along with. Where the house has a page for each exhibit on
// the web, it holds that address; else it holds the label itself as plain text, which a phone shows without any network
// and keeps when it is saved. The kiosk's own address would be worth nothing outside the house.
func (k *Kiosk) getTakeAlong(c *fiber.Ctx) error {
	lang := k.language(c)
	return k.withExhibit(c, func(content *content, e gallery.Exhibit) error {
		text, kind := content.labelText(e, lang), "text"
		if k.config.TakeAlong != "" {
			text, kind = takeAlongAddress(k.config.TakeAlong, e.ID, lang), "address"
		}
		code, err := qr.SVG(text)
		if err != nil {
			return err
		}
		return c.JSON(fiber.Map{"qr": code, "text": text, "kind": kind})
	})
}

// getTakeVisit draws a code that a visitor takes along what they have seen, as plain text. Its last line says how many
// more there were where not all have room.
func (k *Kiosk) getTakeVisit(c *fiber.Ctx) error {
	v, err := k.visits.Get(c.Query("visit"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return k.withContent(func(content *content) error {
		text := content.visitText(v.Seen, k.language(c))
		code, err := qr.SVG(text)
		if err != nil {
			return err
		}
		return c.JSON(fiber.Map{"qr": code, "text": text, "kind": "text"})
	})
}

// visitText is the house's name and a line for each exhibit, the first seen first, as many as there is room for.
func (c *content) visitText(seen []string, lang string) string {
	text := cut(c.in(c.release.Gallery().Name, lang), qr.MaxText/2)
	var lines []string
	for _, id := range seen {
		if e, ok := c.release.Exhibit(id); ok {
			lines = append(lines, "\n"+join(" ", e.Label, join(", ", c.in(e.Title, lang), c.in(e.Maker, lang))))
		}
	}
	for i, l := range lines {
		more := ""
		if left := len(lines) - i - 1; left > 0 {
			more = fmt.Sprintf("\n+ %d", left)
		}
		if len(text)+len(l)+len(more) > qr.MaxText {
			return text + fmt.Sprintf("\n+ %d", len(lines)-i)
		}
		text += l
	}
	return text
}

func takeAlongAddress(template, exhibit, lang string) string {
	return strings.NewReplacer("{exhibit}", url.PathEscape(exhibit), "{language}", url.PathEscape(lang)).Replace(template)
}

// labelText is an exhibit's label, and as many sentences of its first text for everyone as there is room for.
func (c *content) labelText(e gallery.Exhibit, lang string) string {
	g := c.release.Gallery()
	lines := []string{c.in(e.Title, lang)}
	for _, l := range []string{join(", ", c.in(e.Maker, lang), c.in(e.Date, lang)), c.in(e.Materials, lang), join(" · ", c.in(g.Name, lang), e.Label)} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	text := cut(strings.Join(lines, "\n"), qr.MaxText)
	for _, s := range c.sections(e.ID, lang) {
		if s.Level != "" && s.Level != gallery.LevelGeneral {
			continue
		}
		room := qr.MaxText - len(text) - len("\n\n")
		if begin := firstSentences(strings.Join(strings.Fields(s.Text), " "), room); begin != "" {
			text += "\n\n" + begin
		}
		break
	}
	return text
}

func join(sep string, parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, sep)
}

// cut is the beginning of a text of at most n bytes, in whole characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// firstSentences are the whole sentences of a text that n bytes hold.
func firstSentences(text string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(text) <= n {
		return text
	}
	begin, end := cut(text, n), 0
	for i, r := range begin {
		after := i + utf8.RuneLen(r)
		if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && after < len(text) && text[after] == ' ' {
			end = after
		}
	}
	return begin[:end]
}

// validTakeAlong says what is wrong with the template of addresses.
func validTakeAlong(template string) error {
	u, err := url.Parse(takeAlongAddress(template, "exhibit", "en"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("is not an http or https address")
	}
	if !strings.Contains(template, "{exhibit}") {
		return fmt.Errorf("must have {exhibit} where the exhibit's id goes")
	}
	if len(template) > 200 {
		return fmt.Errorf("is longer than 200 bytes")
	}
	return nil
}
