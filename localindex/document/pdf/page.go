package pdf

import (
	"context"
	"fmt"
	"image"
	"math"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"docent/localindex/document"
	"docent/localindex/document/pdf/internal/layout"
)

// surface is what of a page is no text.
type surface struct {
	pictures float64 // share of the page
	paths    int     // drawn lines and areas
}

// maxObjects is how many objects of a page without text are looked at.
const maxObjects = 3000

// page reads one page; i counts from 0.
func (f *file) page(ctx context.Context, i int) (layout.Page, surface, error) {
	var p layout.Page
	var s surface
	err := f.within(ctx, fmt.Sprintf("read page %d of", i+1), func() error {
		size, err := f.instance.FPDF_GetPageSizeByIndexF(&requests.FPDF_GetPageSizeByIndexF{Document: f.document, Index: i})
		if err != nil {
			return err
		}
		loaded, err := f.instance.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: f.document, Index: i})
		if err != nil {
			return err
		}
		ref := requests.Page{ByReference: &loaded.Page}
		p = layout.Page{Number: i + 1, Width: size.Size.Width, Height: size.Size.Height}
		if rotation, err := f.instance.FPDFPage_GetRotation(&requests.FPDFPage_GetRotation{Page: ref}); err == nil && rotation.PageRotation%2 == 1 {
			p.Width, p.Height = p.Height, p.Width // as the text is placed
		}
		glyphs, err := f.glyphs(ref)
		if err != nil {
			return err
		}
		turned := upright(&p, glyphs)
		if readable, _ := p.Letters(); readable <= fewLetters {
			s = f.surface(ref, float64(p.Width)*float64(p.Height))
		} else if f.tagged {
			p.Tags = f.tags(ref)
		} else if !turned {
			p.Dots = f.dots(ref, p.Height)
		}
		_, err = f.instance.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
		return err
	})
	return p, s, err
}

// glyph is a character as PDFium places it: y upwards.
type glyph struct {
	layout.Glyph
	x, y       float64 // where it stands
	l, b, r, t float32 // its box
	angle      int     // in quarters of a turn, against the clock; -1 is none of them
	turned     bool    // it belongs to text written from top to bottom
}

// glyphs reads the characters of a page. What runs of characters have in common is asked for only at their first.
func (f *file) glyphs(page requests.Page) ([]glyph, error) {
	opened, err := f.instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return nil, err
	}
	text := opened.TextPage
	count, err := f.instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil {
		return nil, err
	}
	if count.Count > MaxPageGlyphs {
		return nil, &document.Error{Op: "read", Reason: fmt.Sprintf("a page has %d characters, more than the %d that are read", count.Count, MaxPageGlyphs), Err: document.ErrTooLarge}
	}
	var all []glyph
	run := glyph{Glyph: layout.Glyph{Tag: -1}}
	broken := true
	for i := range count.Count {
		code, err := f.instance.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: i})
		if err != nil {
			return nil, err
		}
		r := rune(code.Unicode)
		switch {
		case r == 2 || r == 0xFFFE:
			r = '-' // a hyphen at a line end
		case r == 0 || r == '\r' || r == '\n' || unicode.IsSpace(r):
			all = append(all, glyph{Glyph: layout.Glyph{Rune: f.space(text, i, r), Tag: run.Tag}})
			broken = true
			continue
		}
		box, err := f.instance.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: i})
		if err != nil {
			continue // characters without a place are not drawn
		}
		g := run
		g.Rune = r
		g.l, g.b, g.r, g.t = box.Rect.Left, box.Rect.Bottom, box.Rect.Right, box.Rect.Top
		if broken || !run.goesOn(g) {
			if !f.look(text, i, &g) {
				continue
			}
		}
		run, broken = g, false
		all = append(all, g)
	}
	_, err = f.instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text})
	return all, err
}

// blank reports whether there is nothing to see.
func (g glyph) blank() bool { return g.Rune == ' ' || g.Rune == layout.Gap || g.Rune == layout.LineEnd }

// space tells a space of the file from one that PDFium found between characters.
func (f *file) space(text references.FPDF_TEXTPAGE, i int, r rune) rune {
	if r == 0 || r == '\r' || r == '\n' {
		return layout.LineEnd
	}
	if made, err := f.instance.FPDFText_IsGenerated(&requests.FPDFText_IsGenerated{TextPage: text, Index: i}); err == nil && made.IsGenerated {
		return layout.Gap
	}
	return ' '
}

// goesOn reports whether a character stands so next to this one that it is of the same run of text.
func (g glyph) goesOn(next glyph) bool {
	if g.angle != 0 || next.b != g.b || next.t != g.t {
		return false
	}
	gap := next.l - g.r
	return gap < 0.15*g.Size && gap > -0.15*g.Size
}

// look asks for what a run of characters has in common.
func (f *file) look(text references.FPDF_TEXTPAGE, i int, g *glyph) bool {
	origin, err := f.instance.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: text, Index: i})
	if err != nil {
		return false
	}
	g.x, g.y = origin.X, origin.Y
	size, err := f.instance.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: text, Index: i})
	if err != nil {
		return false
	}
	g.Size, g.angle = float32(size.FontSize), 0
	if m, err := f.instance.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: text, Index: i}); err == nil {
		g.Size *= float32(math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D)))
		g.angle = quarter(float64(m.Matrix.A), float64(m.Matrix.B))
	}
	if g.Size <= 0 || math.IsNaN(float64(g.Size)) || g.Size > 2000 {
		g.Size = max(1, g.t-g.b)
	}
	g.Size = float32(math.Round(float64(g.Size)*8) / 8)
	g.Bold = f.bold(text, i)
	g.Tag = -1
	if f.tagged {
		if object, err := f.instance.FPDFText_GetTextObject(&requests.FPDFText_GetTextObject{TextPage: text, Index: i}); err == nil {
			if id, err := f.instance.FPDFPageObj_GetMarkedContentID(&requests.FPDFPageObj_GetMarkedContentID{PageObject: object.TextObject}); err == nil {
				g.Tag = int32(id.MarkedContentID)
			}
		}
	}
	return true
}

// quarter rounds a direction of writing to quarters of a turn; -1 is askew, as stamps across a page are.
func quarter(a, b float64) int {
	turns := math.Atan2(b, a) / (math.Pi / 2)
	near := math.Round(turns)
	if math.Abs(turns-near) > 0.06 {
		return -1
	}
	return (int(near) + 4) % 4
}

// forceBold is the flag of a font that is drawn bold.
const forceBold = 1 << 18

// bold goes by the name of the font: the weight that PDFium gives is made of the width of stems, and 6,980 for some.
func (f *file) bold(text references.FPDF_TEXTPAGE, i int) bool {
	font, err := f.instance.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: text, Index: i})
	if err != nil {
		return false
	}
	name := strings.ToLower(font.FontName)
	for _, word := range []string{"bold", "black", "heavy", "simhei", "heiti", "黑体"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return font.Flags&forceBold != 0
}

// upright turns a page so that most of its text reads from left to right: pages that were turned, and Chinese written
// in columns from top to bottom. Text in other directions is left out if it is askew, else turned with the page.
func upright(p *layout.Page, glyphs []glyph) (turned bool) {
	columns(glyphs)
	var count [5]int // quarters of a turn, and columns
	for _, g := range glyphs {
		switch {
		case g.blank() || g.angle < 0:
		case g.turned:
			count[4]++
		default:
			count[g.angle]++
		}
	}
	most := 0
	for i, n := range count {
		if n > count[most] {
			most = i
		}
	}
	w, h := p.Width, p.Height
	for _, g := range glyphs {
		if g.blank() {
			p.Glyphs = append(p.Glyphs, g.Glyph)
			continue
		}
		if g.angle < 0 {
			continue
		}
		out := g.Glyph
		x, y := float32(g.x), float32(g.y)
		switch most {
		case 0:
			out.X0, out.X1, out.Base = g.l, g.r, h-y
		case 1:
			out.X0, out.X1, out.Base = g.b, g.t, x
		case 2:
			out.X0, out.X1, out.Base = w-g.r, w-g.l, y
		case 3:
			out.X0, out.X1, out.Base = h-g.t, h-g.b, w-x
		case 4: // columns go from right to left
			out.X0, out.X1, out.Base = h-g.t, h-g.b, w-(g.l+g.r)/2
		}
		p.Glyphs = append(p.Glyphs, out)
	}
	if most%2 == 1 || most == 4 {
		p.Width, p.Height = p.Height, p.Width
	}
	return most != 0
}

// columns marks text that is written from top to bottom: each character below the one before.
func columns(glyphs []glyph) {
	previous := -1
	for i := range glyphs {
		g := &glyphs[i]
		if g.blank() {
			continue
		}
		if previous >= 0 {
			p := &glyphs[previous]
			em := max(g.Size, p.Size)
			dx := (g.l+g.r)/2 - (p.l+p.r)/2
			dy := p.t - g.t
			if dx < 0.3*em && dx > -0.3*em && dy > 0.5*em && dy < 2*em && unicode.In(g.Rune, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.P) {
				g.turned, p.turned = true, true
			}
		}
		previous = i
	}
}

// tags reads the tree of tags of a page; nil where there is none.
func (f *file) tags(page requests.Page) *layout.Element {
	tree, err := f.instance.FPDF_StructTree_GetForPage(&requests.FPDF_StructTree_GetForPage{Page: page})
	if err != nil {
		return nil
	}
	defer func() {
		_, _ = f.instance.FPDF_StructTree_Close(&requests.FPDF_StructTree_Close{StructTree: tree.StructTree})
	}()
	count, err := f.instance.FPDF_StructTree_CountChildren(&requests.FPDF_StructTree_CountChildren{StructTree: tree.StructTree})
	if err != nil {
		return nil
	}
	root := &layout.Element{Type: "Document"}
	left := maxTags
	for i := range count.Count {
		child, err := f.instance.FPDF_StructTree_GetChildAtIndex(&requests.FPDF_StructTree_GetChildAtIndex{StructTree: tree.StructTree, Index: i})
		if err != nil {
			continue
		}
		root.Children = append(root.Children, layout.Child{Element: f.element(child.StructElement, &left, 0)})
		if left < 0 {
			return nil // too large to be followed
		}
	}
	return root
}

// element reads an element and those below it.
func (f *file) element(ref references.FPDF_STRUCTELEMENT, left *int, depth int) *layout.Element {
	e := &layout.Element{}
	if *left--; *left < 0 || depth > maxTagDepth {
		*left = -1
		return e
	}
	if t, err := f.instance.FPDF_StructElement_GetType(&requests.FPDF_StructElement_GetType{StructElement: ref}); err == nil {
		e.Type = t.Type
	}
	if id, err := f.instance.FPDF_StructElement_GetID(&requests.FPDF_StructElement_GetID{StructElement: ref}); err == nil {
		e.ID = id.ID
	}
	count, err := f.instance.FPDF_StructElement_CountChildren(&requests.FPDF_StructElement_CountChildren{StructElement: ref})
	if err != nil {
		return e
	}
	for i := range count.Count {
		if child, err := f.instance.FPDF_StructElement_GetChildAtIndex(&requests.FPDF_StructElement_GetChildAtIndex{StructElement: ref, Index: i}); err == nil && child.StructElement != "" {
			e.Children = append(e.Children, layout.Child{Element: f.element(child.StructElement, left, depth+1)})
			continue
		}
		if content, err := f.instance.FPDF_StructElement_GetChildMarkedContentID(&requests.FPDF_StructElement_GetChildMarkedContentID{StructElement: ref, Index: i}); err == nil && content.ChildMarkedContentID >= 0 {
			e.Children = append(e.Children, layout.Child{Content: int32(content.ChildMarkedContentID)})
		}
	}
	return e
}

// surface looks at the pictures and drawings of a page of that area.
func (f *file) surface(page requests.Page, area float64) surface {
	var s surface
	count, err := f.instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil || area <= 0 {
		return s
	}
	for i := range min(count.Count, maxObjects) {
		object, err := f.instance.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			continue
		}
		kind, err := f.instance.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil {
			continue
		}
		switch kind.Type {
		case enums.FPDF_PAGEOBJ_PATH:
			s.paths++
		case enums.FPDF_PAGEOBJ_IMAGE, enums.FPDF_PAGEOBJ_FORM:
			if b, err := f.instance.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: object.PageObject}); err == nil {
				s.pictures += math.Abs(float64(b.Right-b.Left)*float64(b.Top-b.Bottom)) / area
			}
		}
	}
	return s
}

// Bullets that are drawn are between these wide, in points, and as high but for this share.
const (
	minDot, maxDot = 1.5, 9
	dotSkew        = 0.2
)

// dots looks for bullets that are drawn, as browsers do when they print, on a page of that height.
func (f *file) dots(page requests.Page, height float32) []layout.Dot {
	count, err := f.instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return nil
	}
	var all []layout.Dot
	for i := range min(count.Count, maxObjects) {
		object, err := f.instance.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			continue
		}
		kind, err := f.instance.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil || kind.Type != enums.FPDF_PAGEOBJ_PATH {
			continue
		}
		b, err := f.instance.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: object.PageObject})
		if err != nil {
			continue
		}
		w, h := b.Right-b.Left, b.Top-b.Bottom
		if w >= minDot && w <= maxDot && w-h < dotSkew*w && h-w < dotSkew*w {
			all = append(all, layout.Dot{X0: b.Left, X1: b.Right, Y: height - (b.Top+b.Bottom)/2})
		}
	}
	return all
}

// draw draws a page in grey; i counts from 0.
func (f *file) draw(ctx context.Context, i int) (*image.Gray, error) {
	var out *image.Gray
	err := f.within(ctx, fmt.Sprintf("draw page %d of", i+1), func() error {
		size, err := f.instance.FPDF_GetPageSizeByIndexF(&requests.FPDF_GetPageSizeByIndexF{Document: f.document, Index: i})
		if err != nil {
			return err
		}
		dpi := float64(ocrDPI)
		if pixels := float64(size.Size.Width) * float64(size.Size.Height) * dpi * dpi / (72 * 72); pixels > maxOCRPixels {
			dpi *= math.Sqrt(maxOCRPixels / pixels)
		}
		drawn, err := f.instance.RenderPageInDPI(&requests.RenderPageInDPI{
			Page:        requests.Page{ByIndex: &requests.PageByIndex{Document: f.document, Index: i}},
			DPI:         max(1, int(dpi)),
			ImageFormat: requests.RenderImageFormatGrayscale,
		})
		if err != nil {
			return err
		}
		// The picture lies in PDFium's memory, which moves when it grows.
		grey, ok := drawn.Result.RenderedImage.(*image.Gray)
		if !ok {
			drawn.Cleanup()
			return fmt.Errorf("no grey picture but %T", drawn.Result.RenderedImage)
		}
		out = &image.Gray{Pix: append([]byte(nil), grey.Pix...), Stride: grey.Stride, Rect: grey.Rect}
		drawn.Cleanup()
		return nil
	})
	return out, err
}

// meaningful reports whether a title is one that a person gave, and not what a program made of the file's name.
func meaningful(title string) bool {
	t := strings.ToLower(strings.TrimSpace(title))
	for _, ext := range []string{".doc", ".docx", ".pdf", ".indd", ".html", ".htm", ".qxd", ".ppt", ".pptx", ".wps", ".dvi", ".tex"} {
		if strings.HasSuffix(t, ext) {
			return false
		}
	}
	return t != "" && t != "untitled" && !strings.HasPrefix(t, "microsoft word") && !strings.HasPrefix(t, "about:") && !strings.HasPrefix(t, "file:") && !strings.HasPrefix(t, "http")
}
