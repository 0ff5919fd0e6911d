package layout

import (
	"encoding/binary"
	"math"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/document"
)

// FuzzBlocks places characters anywhere: nothing may stop it, and what comes out is text.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x40\x41\x10\x42\x00\x10\x00"), uint8(0))
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, tags uint8) {
		p := Page{Number: 1, Width: 595, Height: 842}
		for ; len(data) >= 8; data = data[8:] {
			x := float32(binary.LittleEndian.Uint16(data)) / 64
			g := Glyph{Rune: rune(binary.LittleEndian.Uint16(data[2:])), X0: x, X1: x + float32(data[4])/8, Base: float32(data[5]) * 4, Size: float32(data[6]) / 4, Tag: int32(data[7]) % 8, Bold: data[7] > 200}
			if data[7] == 255 {
				g.X1 = float32(math.NaN())
			}
			p.Glyphs = append(p.Glyphs, g)
		}
		if tags > 0 {
			types := []string{"P", "L", "LI", "Lbl", "Table", "TR", "TD", "H1", "Span", "NonStruct", "Note", "Figure"}
			root := &Element{Type: "Document"}
			at := root
			for i := range int32(8) {
				e := &Element{Type: types[(int(tags)+int(i)*7)%len(types)], Children: []Child{{Content: i}}}
				at.Children = append(at.Children, Child{Element: e})
				if int(i)%int(tags) == 0 {
					at = e
				}
			}
			p.Tags = root
		}
		for _, b := range Blocks([]Page{p, p}) {
			if !utf8.ValidString(b.Text) || b.Page < 1 || b.Page > 2 || b.Kind == document.Heading && (b.Level < 1 || b.Level > 6) {
				t.Errorf("block %+v", b)
			}
		}
	})
}

// line places a text as one line of 10 points, each character 5 wide.
func line(x, base float32, text string) []Glyph {
	var all []Glyph
	for _, r := range text {
		all = append(all, Glyph{Rune: r, X0: x, X1: x + 5, Base: base, Size: 10, Tag: -1})
		x += 5
	}
	return append(all, Glyph{Rune: LineEnd, Tag: -1})
}

// TestRunningHeads: what stands at the same height on several pages goes, but not what is only there once.
func TestRunningHeads(t *testing.T) {
	var pages []Page
	for i := range 4 {
		p := Page{Number: i + 1, Width: 400, Height: 600}
		p.Glyphs = append(p.Glyphs, line(50, 30, "Annals of the gallery "+string(rune('1'+i)))...)
		p.Glyphs = append(p.Glyphs, line(50, 300, "The text of page "+string(rune('1'+i))+" ends.")...)
		p.Glyphs = append(p.Glyphs, line(50, 560, "Only the note of page "+string(rune('a'+i))+".")...)
		p.Glyphs = append(p.Glyphs, line(200, 590, "- "+string(rune('1'+i))+" -")...)
		pages = append(pages, p)
	}
	blocks := Blocks(pages)
	if len(blocks) != 8 {
		t.Fatalf("%d blocks, want text and note of each page: %+v", len(blocks), blocks)
	}
	for i, b := range blocks {
		want := "The text of page " + string(rune('1'+i/2)) + " ends."
		if i%2 == 1 {
			want = "Only the note of page " + string(rune('a'+i/2)) + "."
		}
		if b.Text != want || b.Page != i/2+1 {
			t.Errorf("block %d: %+v, want %q", i, b, want)
		}
	}
}

// large makes glyphs half as large again.
func large(glyphs []Glyph) []Glyph {
	for i := range glyphs {
		glyphs[i].Size *= 1.5
	}
	return glyphs
}

// TestNumberedHeadings: "Plate 3" above each page is what a reader looks for; the head of a chapter that is on three of
// many pages is not.
func TestNumberedHeadings(t *testing.T) {
	var pages []Page
	for i := range 20 {
		n := strconv.Itoa(i + 1)
		p := Page{Number: i + 1, Width: 400, Height: 600}
		if i < 3 {
			p.Glyphs = append(p.Glyphs, line(50, 20, "Chapter 1: Bronzes "+n)...)
		}
		p.Glyphs = append(p.Glyphs, large(line(50, 55, "Plate "+n))...)
		p.Glyphs = append(p.Glyphs, line(50, 300, "What the plate with the number "+n+" shows.")...)
		pages = append(pages, p)
	}
	blocks := Blocks(pages)
	if len(blocks) != 40 {
		t.Fatalf("%d blocks, want a heading and a paragraph of each page: %+v", len(blocks), blocks[:min(6, len(blocks))])
	}
	for i, b := range blocks {
		want := document.Block{Kind: document.Heading, Level: 1, Text: "Plate " + strconv.Itoa(i/2+1), Page: i/2 + 1}
		if i%2 == 1 {
			want = document.Block{Kind: document.Paragraph, Text: "What the plate with the number " + strconv.Itoa(i/2+1) + " shows.", Page: i/2 + 1}
		}
		if diff := cmp.Diff(want, b); diff != "" {
			t.Errorf("block %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestTableAcrossPages: the rest of a table at the top of a page is a part of it, and headings repeated there are not.
func TestTableAcrossPages(t *testing.T) {
	first := Page{Number: 1, Width: 400, Height: 600}
	second := Page{Number: 2, Width: 400, Height: 600}
	put := func(p *Page, base float32, cells ...string) {
		for i, c := range cells {
			p.Glyphs = append(p.Glyphs, line(50+100*float32(i), base, c)...)
		}
	}
	put(&first, 480, "Name", "Hall", "Maker")
	put(&first, 495, "Ding", "1", "unknown")
	put(&first, 510, "Vase", "2", "unknown")
	put(&second, 100, "Name", "Hall", "Maker")
	put(&second, 115, "Scroll", "3", "Zhang")
	put(&second, 300, "A paragraph that comes after the table.")
	want := []document.Block{
		document.NewTable([][]string{{"Name", "Hall", "Maker"}, {"Ding", "1", "unknown"}, {"Vase", "2", "unknown"}, {"Scroll", "3", "Zhang"}}, true, 1),
		{Kind: document.Paragraph, Text: "A paragraph that comes after the table.", Page: 2},
	}
	want[0].RowPages = []int{1, 1, 1, 2}
	if diff := cmp.Diff(want, Blocks([]Page{first, second})); diff != "" {
		t.Error(diff)
	}
}
