package document_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"docent/localindex/document"
	"docent/localindex/document/markdown"
)

var makeFlag = flag.Bool("make", false, "make the DOCX and PDF files under testdata again (needs chromium, qpdf and pdftoppm)")

// TestMake writes the test files that are made and not written.
func TestMake(t *testing.T) {
	if !*makeFlag {
		t.Skip("with -make only")
	}
	for name, data := range wordFiles(t) {
		write(t, filepath.Join("testdata/awkward", name), data)
	}
	makeSame(t)
	makePDFs(t)
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// makeSame writes the same text in every format.
func makeSame(t *testing.T) {
	source, err := os.ReadFile("testdata/same/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	page.WriteString(`<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>图案馆导览 Guide</title><style>@page{size:A5;margin:18mm} body{font:10.5pt/1.45 "Liberation Serif","Droid Sans Fallback"} td,th{padding:4px 14px;text-align:left}</style></head><body>`)
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(source, &page); err != nil {
		t.Fatal(err)
	}
	page.WriteString("</body></html>\n")
	write(t, "testdata/same/guide.html", page.Bytes())
	d, err := markdown.Parser{}.Parse(context.Background(), "guide.md", source)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "testdata/same/guide.docx", wordFile(wordBody(d.Blocks), nil))
	printPage(t, "testdata/same/guide.html", "testdata/same/guide.pdf", true)
	printPage(t, "testdata/same/guide.html", "testdata/same/guide-untagged.pdf", false)
}

func printPage(t *testing.T, from, to string, tagged bool) {
	t.Helper()
	absolute, err := filepath.Abs(from)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--print-to-pdf=" + to}
	if !tagged {
		args = append(args, "--disable-pdf-tagging")
	}
	run(t, "chromium", append(args, "file://"+absolute)...)
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// makePDFs prints the pages under testdata/sources and spoils some of what comes out.
func makePDFs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"columns", "vertical", "ligatures", "prices", "notes", "running"} {
		source, err := os.ReadFile("testdata/sources/" + name + ".html")
		if err != nil {
			t.Fatal(err)
		}
		page := filepath.Join(dir, name+".html")
		write(t, page, bytes.Replace(source, []byte("BODY"), []byte(runningText()), 1))
		printPage(t, page, "testdata/awkward/"+name+"-untagged.pdf", false)
		if name != "ligatures" && name != "notes" {
			printPage(t, page, "testdata/awkward/"+name+".pdf", true)
		}
	}
	prices := "testdata/awkward/prices-untagged.pdf"
	run(t, "qpdf", "--rotate=+90", prices, "testdata/awkward/rotated.pdf")
	run(t, "qpdf", "--encrypt", "secret", "owner", "256", "--", prices, "testdata/awkward/password.pdf")
	run(t, "qpdf", "--encrypt", "", "owner", "128", "--use-aes=y", "--print=none", "--", prices, "testdata/awkward/owner-password.pdf")
	whole, err := os.ReadFile(prices)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "testdata/awkward/cut-off.pdf", whole[:len(whole)*2/5])
	write(t, "testdata/awkward/without-end.pdf", whole[:len(whole)-200])
	// A page that is a picture of text, and one beside it that is not.
	run(t, "pdftoppm", "-r", "110", "-gray", "-jpeg", "-singlefile", prices, filepath.Join(dir, "scan"))
	page := filepath.Join(dir, "scan.html")
	const style = `<!doctype html><meta charset="utf-8"><style>@page{size:A4;margin:0} img{width:210mm;height:296mm;display:block}</style>`
	write(t, page, []byte(style+`<img src="scan.jpg">`))
	printPage(t, page, "testdata/awkward/scanned.pdf", false)
	write(t, page, []byte(style+`<div style="height:290mm;padding:20mm;box-sizing:border-box"><h1>Half scanned</h1><p>This page has text of its own, and the next one is a picture of a page.</p></div><img src="scan.jpg">`))
	printPage(t, page, "testdata/awkward/half-scanned.pdf", false)
	write(t, "testdata/awkward/blank.pdf", simplePDF(2, func(int) string { return "" }, ""))
	write(t, "testdata/awkward/outlines.pdf", simplePDF(1, func(int) string { return strings.Repeat("10 10 m 20 20 l 15 30 l f\n", 400) }, ""))
}

// runningText is long enough for several pages.
func runningText() string {
	var b strings.Builder
	for i := 1; i <= 24; i++ {
		if i%8 == 0 {
			fmt.Fprintf(&b, "<h2>第%d节</h2>\n", i/8)
		}
		fmt.Fprintf(&b, "<p>这是第%d段文字，每一段都写得比较长，为的是让段落跨过页的边界。馆刊每年出版四期，介绍馆里新来的作品和观众来信。Paragraph %d has some English in it, so that both are tried. 编号%d到此为止。</p>\n", i, i, i)
	}
	return b.String()
}

// simplePDF writes a PDF file of pages with a content stream each, in Helvetica. filter is the name of a filter that
// the streams are already encoded with.
func simplePDF(pages int, content func(i int) string, filter string) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	b.WriteString("%PDF-1.4\n")
	object("<</Type/Catalog/Pages 2 0 R>>")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<</Type/Pages/Count %d/Kids[%s]>>", pages, kids.String())
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	if filter != "" {
		filter = "/Filter/" + filter
	}
	for i := range pages {
		s := content(i)
		object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>", 5+2*i)
		object("<</Length %d%s>>stream\n%s\nendstream", len(s), filter, s)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, at)
	return b.Bytes()
}

// bomb is a PDF file of a few kilobytes whose content unpacks to size bytes.
func bomb(size int) []byte {
	var once, twice bytes.Buffer
	deflate := func(to *bytes.Buffer, from func(w *flate.Writer)) {
		to.Write([]byte{0x78, 0x9c})
		w, _ := flate.NewWriter(to, flate.BestCompression)
		from(w)
		w.Close()
		to.Write([]byte{0, 0, 0, 0})
	}
	deflate(&once, func(w *flate.Writer) {
		chunk := bytes.Repeat([]byte(" "), 1<<20)
		for range size >> 20 {
			w.Write(chunk)
		}
	})
	deflate(&twice, func(w *flate.Writer) { w.Write(once.Bytes()) })
	b := simplePDF(1, func(int) string { return twice.String() }, "X")
	return bytes.Replace(b, []byte("/Filter/X"), []byte("/Filter[/FlateDecode/FlateDecode]"), 1)
}

// part is a part of a Word file besides those that every one has.
type part struct{ name, text string }

const wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`

const wordStyles = `<?xml version="1.0" encoding="UTF-8"?><w:styles ` + wordSpace + `>
<w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="21"/></w:rPr></w:rPrDefault></w:docDefaults>
<w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:basedOn w:val="a"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="2"><w:name w:val="heading 2"/><w:basedOn w:val="1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="3"><w:name w:val="heading 3"/><w:basedOn w:val="a"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="own"><w:name w:val="章标题"/><w:basedOn w:val="2"/></w:style>
<w:style w:type="paragraph" w:styleId="cap"><w:name w:val="caption"/><w:basedOn w:val="a"/></w:style>
<w:style w:type="paragraph" w:styleId="toc"><w:name w:val="toc 1"/><w:basedOn w:val="a"/></w:style>
<w:style w:type="paragraph" w:styleId="q"><w:name w:val="Quote"/><w:basedOn w:val="a"/></w:style>
<w:style w:type="paragraph" w:styleId="li"><w:name w:val="List Bullet"/><w:basedOn w:val="a"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
</w:styles>`

const wordNumbering = `<?xml version="1.0" encoding="UTF-8"?><w:numbering ` + wordSpace + `>
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="%1、"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
</w:numbering>`

// wordFile writes a Word file around a body.
func wordFile(body string, more []part) []byte {
	parts := []part{
		{"[Content_Types].xml", `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`},
		{"_rels/.rels", `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/styles.xml", wordStyles}, {"word/numbering.xml", wordNumbering},
		{"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document ` + wordSpace + `><w:body>` + body + `</w:body></w:document>`},
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range append(parts, more...) {
		w, err := z.Create(p.name)
		if err != nil {
			panic(err)
		}
		if _, err := w.Write([]byte(p.text)); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err)
	}
	return b.String()
}

// wordParagraph is a paragraph of a style; properties are added to it.
func wordParagraph(style, properties, text string) string {
	if style != "" {
		properties = `<w:pStyle w:val="` + style + `"/>` + properties
	}
	return `<w:p><w:pPr>` + properties + `</w:pPr><w:r><w:t xml:space="preserve">` + escaped(text) + `</w:t></w:r></w:p>`
}

func wordList(num, level int, text string) string {
	return wordParagraph("", fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, num), text)
}

func wordTable(rows [][]string) string {
	var b strings.Builder
	b.WriteString(`<w:tbl><w:tblPr><w:tblLook w:val="04A0" w:firstRow="1"/></w:tblPr>`)
	for _, row := range rows {
		b.WriteString("<w:tr>")
		for _, cell := range row {
			b.WriteString("<w:tc><w:tcPr/>" + wordParagraph("", "", cell) + "</w:tc>")
		}
		b.WriteString("</w:tr>")
	}
	return b.String() + "</w:tbl>"
}

// wordBody writes blocks as Word would.
func wordBody(blocks []document.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block.Kind {
		case document.Heading:
			b.WriteString(wordParagraph(fmt.Sprint(block.Level), "", block.Text))
		case document.ListItem:
			num, text := 1, strings.TrimPrefix(block.Text, document.Bullet)
			if text == block.Text {
				num = 2
				_, text, _ = strings.Cut(text, " ")
			}
			b.WriteString(wordList(num, block.Level-1, text))
		case document.Table:
			b.WriteString(wordTable(block.Rows))
		default:
			b.WriteString(wordParagraph("", "", block.Text))
		}
	}
	return b.String()
}

// wordFiles are the awkward Word files.
func wordFiles(t *testing.T) map[string][]byte {
	run := func(properties, text string) string {
		return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + escaped(text) + `</w:t></w:r>`
	}
	files := map[string][]byte{}
	files["lists-and-notes.docx"] = wordFile(
		wordParagraph("toc", "", "图案馆 ........ 1")+
			`<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent>`+wordParagraph("", "", "目录不要")+`</w:sdtContent></w:sdt>`+
			wordParagraph("1", "", "图案馆")+
			`<w:p><w:r><w:t>青花以钴料绘</w:t></w:r><w:r><w:t>于胎上</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>。</w:t></w:r><w:r><w:t xml:space="preserve"> End</w:t></w:r><w:r><w:endnoteReference w:id="3"/></w:r><w:r><w:t>.</w:t></w:r></w:p>`+
			wordParagraph("own", "", "自定样式的标题")+
			wordList(2, 0, "first")+wordList(2, 1, "first of first")+wordList(2, 1, "second of first")+wordList(2, 0, "second")+
			wordList(3, 0, "中文编号")+wordList(3, 0, "第二条")+wordList(4, 0, "again from one")+
			wordParagraph("li", "", "a bullet by its style")+wordList(1, 1, "deeper")+wordList(99, 0, "a list that is lost")+
			wordParagraph("cap", "", "图 1 青花瓶")+wordParagraph("q", "", "A quotation")+
			`<w:p><w:hyperlink><w:r><w:t>a link</w:t></w:r></w:hyperlink><w:r><w:br/></w:r><w:r><w:t>after</w:t><w:tab/><w:t>a tab</w:t><w:noBreakHyphen/><w:t>x</w:t></w:r>`+run(`<w:vanish/>`, "hidden")+`</w:p>`,
		[]part{
			{"word/footnotes.xml", `<w:footnotes ` + wordSpace + `><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>见《中国陶瓷史》。</w:t></w:r></w:p></w:footnote></w:footnotes>`},
			{"word/endnotes.xml", `<w:endnotes ` + wordSpace + `><w:endnote w:id="3"><w:p><w:r><w:t>An endnote.</w:t></w:r></w:p></w:endnote></w:endnotes>`},
			{"docProps/core.xml", `<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>图案馆手册</dc:title><dc:language>zh-CN</dc:language></cp:coreProperties>`},
		})
	files["painted-headings.docx"] = wordFile(
		`<w:p><w:pPr><w:jc w:val="center"/></w:pPr>`+run(`<w:b/><w:sz w:val="36"/>`, "馆藏目录")+`</w:p>`+
			wordParagraph("", "", "这份目录没有用任何标题样式，只是把字加粗放大，很多文件都是这样写的。")+
			`<w:p>`+run(`<w:b/>`, "青铜器")+`</w:p>`+wordParagraph("", "", "大克鼎是西周的青铜器，重201.5公斤。")+
			`<w:p>`+run(`<w:b/>`, "这一句加粗的话是句子，不是标题。")+`</w:p>`+wordParagraph("", "", "最后一段。"), nil)
	files["merged-cells.docx"] = wordFile(wordParagraph("1", "", "Hours")+
		`<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc>`+wordParagraph("", "", "Hall")+`</w:tc><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>`+wordParagraph("", "", "Hours")+`</w:tc></w:tr>`+
		`<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>`+wordParagraph("", "", "一号厅")+`</w:tc><w:tc>`+wordParagraph("", "", "Monday")+`</w:tc><w:tc>`+wordParagraph("", "", "closed")+`</w:tc></w:tr>`+
		`<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc>`+wordParagraph("", "", "Tuesday")+`</w:tc><w:tc>`+wordTable([][]string{{"10:00", "18:00"}})+`</w:tc></w:tr></w:tbl>`+
		`<w:tbl><w:tr><w:tc>`+wordParagraph("", "", "A frame around one paragraph.")+`</w:tc></w:tr></w:tbl>`, nil)
	files["tracked-and-boxes.docx"] = wordFile(`<w:p><w:r><w:t xml:space="preserve">Kept </w:t></w:r><w:del><w:r><w:delText>deleted </w:delText></w:r></w:del><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins>`+
		`<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps"><w:drawing><wps:txbx xmlns:wps="x"><w:txbxContent>`+wordParagraph("", "", "In a box.")+`</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>`+wordParagraph("", "", "In a box.")+`</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`+
		`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>Result of a field.</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`, nil)
	whole := files["lists-and-notes.docx"]
	files["cut-off.docx"] = whole[:len(whole)/2]
	damaged := bytes.Clone(whole)
	at := bytes.Index(damaged, []byte("word/document.xml")) + 100
	copy(damaged[at:], "XXXXXXXXXXXXXXXXXXXX")
	files["damaged.docx"] = damaged
	files["doctype.docx"] = wordDocument(`<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><w:document ` + wordSpace + `><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>`)
	files["deep.docx"] = wordDocument(`<w:document ` + wordSpace + `><w:body>` + strings.Repeat("<w:sdt><w:sdtContent>", 5000) + strings.Repeat("</w:sdtContent></w:sdt>", 5000) + `</w:body></w:document>`)
	files["without-text.docx"] = wordDocument(`<w:document ` + wordSpace + `><w:body><w:p/></w:body></w:document>`)
	files["zip-bomb.docx"] = wordDocument(`<w:document ` + wordSpace + `><w:body><w:p><w:r><w:t>` + strings.Repeat(" ", 70<<20) + `</w:t></w:r></w:p></w:body></w:document>`)
	return files
}

// wordDocument is a Word file of nothing but a text part.
func wordDocument(text string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("word/document.xml")
	if err != nil {
		panic(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}
