package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"docent/localindex/gallery"
)

// CatalogueFile is a table of exhibits, as other systems export it.
const CatalogueFile = "catalogue.csv"

// ReleasesFolder is where releases of a gallery are packed by default, below its own folder; its pictures are copies.
const ReleasesFolder = "releases"

// The columns of a catalogue. Those that hold words may stand once more for each language, as in title_zh.
var (
	plainColumns     = []string{"id", "room", "image", "accession", "label", "url", "keywords"}
	localizedColumns = []string{"title", "artist", "date", "materials", "credit", "text", "alt"}
	columnAliases    = map[string]string{
		"maker": "artist", "hall": "room", "picture": "image", "images": "image", "pictures": "image", "file": "image",
		"source_url": "url", "accession_number": "accession", "medium": "materials", "description": "text", "name": "title",
	}
)

// row is one line of a catalogue, by column; localized columns by "title" and "title_zh".
type row struct {
	line  int
	cells map[string]string
}

// readCatalogueFolder makes a gallery of a catalogue and the pictures beside it.
func readCatalogueFolder(ctx context.Context, root *os.Root, folder string, rep *report) (*gallery.Gallery, error) {
	rows := readCatalogue(root, rep)
	if rows == nil {
		return &gallery.Gallery{TimeZone: usualTimeZone}, nil
	}
	g := emptyGallery(folder, rows)
	if err := addRows(ctx, root, g, rows, rep); err != nil {
		return nil, err
	}
	if len(g.Exhibits) == 0 {
		rep.errorf(CatalogueFile, 0, "no row of it can be used")
	}
	g.Sections = append(g.Sections, houseFacts(g, CatalogueFile)...)
	warnWording(g, CatalogueFile, rep)
	return g, nil
}

const usualTimeZone = "UTC"

// emptyGallery is what a catalogue and the name of its folder say of a gallery before its exhibits are read.
func emptyGallery(folder string, rows []row) *gallery.Gallery {
	g := &gallery.Gallery{ID: cmp.Or(slugOf(folder), "gallery"), TimeZone: usualTimeZone, Languages: catalogueLanguages(rows)}
	g.Name = gallery.Localized{g.Languages[0]: folder}
	return g
}

// readCatalogueInto adds the rows of a catalogue that stands beside gallery.yaml.
func readCatalogueInto(ctx context.Context, root *os.Root, g *gallery.Gallery, rep *report) error {
	rows := readCatalogue(root, rep)
	return addRows(ctx, root, g, rows, rep)
}

// addRows makes exhibits of rows. A row that cannot be used is left out, and the others are not.
func addRows(ctx context.Context, root *os.Root, g *gallery.Gallery, rows []row, rep *report) error {
	pictures, err := findPictures(root, rep)
	if err != nil {
		return err
	}
	warnNotation(rows, rep)
	halls := len(g.Halls) > 0 // those of gallery.yaml; otherwise each room is one
	for _, r := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &catalogueRow{row: r, g: g, root: root, pictures: pictures, rep: rep}
		if problem := c.read(halls); problem != "" {
			rep.warnf(CatalogueFile, r.line, "this row is left out: %s", problem)
			continue
		}
		g.Exhibits = append(g.Exhibits, c.exhibit)
		g.Sections = append(g.Sections, c.sections...)
	}
	return nil
}

// notation is how programs write several languages into one cell: {'en': …}, {"zh-Hans": …}.
var notation = regexp.MustCompile(`^\{\s*['"]?[a-z]{2,3}(-[A-Za-z]+)?['"]?\s*:`)

// warnNotation names the columns whose cells are a program's notation, which would be shown to visitors as it is.
func warnNotation(rows []row, rep *report) {
	type found struct{ line, count int }
	columns := map[string]found{}
	for _, r := range rows {
		for column, cell := range r.cells {
			if notation.MatchString(cell) {
				f := columns[column]
				if f.count++; f.line == 0 {
					f.line = r.line
				}
				columns[column] = f
			}
		}
	}
	for column, f := range columns {
		base, _, _ := strings.Cut(column, "_")
		hint := "write the text alone"
		if slices.Contains(localizedColumns, base) {
			hint = fmt.Sprintf("write each language in a column of its own, %s_en and %s_zh", base, base)
		}
		rep.warnf(CatalogueFile, f.line, "column %q holds a program's notation, such as {'en': …}, in %d of %d rows, and visitors will see it so; %s", column, f.count, len(rows), hint)
	}
}

// readCatalogue reads the table. It returns nil where it cannot be read as one.
func readCatalogue(root *os.Root, rep *report) []row {
	data, ok := readText(root, CatalogueFile, rep)
	if !ok {
		return nil
	}
	return parseCatalogue(data, rep)
}

func parseCatalogue(data []byte, rep *report) []row {
	before := 0
	if first, rest, _ := bytes.Cut(data, []byte("\n")); len(first) == len("sep=;") && bytes.HasPrefix(bytes.ToLower(first), []byte("sep=")) {
		data, before = rest, 1 // a hint that spreadsheets write
	}
	in := csv.NewReader(bytes.NewReader(data))
	in.Comma = separator(data)
	in.FieldsPerRecord = -1
	in.ReuseRecord = true

	head, err := in.Read()
	if err != nil {
		rep.errorf(CatalogueFile, before+1, "the first row must name the columns: id, title, artist, room, image")
		return nil
	}
	columns, ok := readColumns(head, before+1, rep)
	if !ok {
		return nil
	}
	rows := []row{}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			rep.warnf(CatalogueFile, before+parse.StartLine, "this row is left out: %s", quoteProblem(parse))
			continue
		}
		if err != nil {
			rep.errorf(CatalogueFile, 0, "the table cannot be read: %v", err)
			return nil
		}
		line, _ := in.FieldPos(0)
		r := row{line: before + line, cells: map[string]string{}}
		for i, cell := range record {
			if i < len(columns) && columns[i] != "" {
				r.cells[columns[i]] = cleanCell(cell)
			}
		}
		if len(record) > len(columns) {
			rep.warnf(CatalogueFile, r.line, "this row has %d cells and the first row %d; the rest is not read", len(record), len(columns))
		}
		rows = append(rows, r)
	}
}

func quoteProblem(e *csv.ParseError) string {
	if errors.Is(e.Err, csv.ErrQuote) && e.Line > e.StartLine {
		return fmt.Sprintf("a quotation mark opened in it is closed in line %d, and something follows, or never; rows in between are lost", e.Line)
	}
	return fmt.Sprintf("there is a stray quotation mark (\") in column %d; write two of them, and quotes around the cell", e.Column)
}

// separator tells what parts the cells: the one of , ; and tab that the first row has most of outside of quotes.
func separator(data []byte) rune {
	counts := map[byte]int{}
	quoted := false
	for _, b := range data {
		if b == '"' {
			quoted = !quoted
		}
		if b == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[b]++
		}
	}
	best := byte(',')
	for _, b := range []byte{';', '\t'} {
		if counts[b] > counts[best] {
			best = b
		}
	}
	return rune(best)
}

// readColumns tells which column is which. Columns it does not know are "" and not read.
func readColumns(head []string, line int, rep *report) ([]string, bool) {
	columns := make([]string, len(head))
	known := slices.Concat(plainColumns, localizedColumns)
	for i, name := range head {
		name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
		if alias, ok := columnAliases[name]; ok {
			name = alias
		}
		base, tag, localized := strings.Cut(name, "_")
		switch {
		case name == "":
			continue
		case slices.Contains(known, name):
		case localized && slices.Contains(localizedColumns, base) && slices.Contains([]string{"zh", "en"}, tag):
		default:
			rep.warnf(CatalogueFile, line, "unknown column %q%s; it is not read", name, suggestion(name, known))
			continue
		}
		if slices.Contains(columns, name) {
			rep.warnf(CatalogueFile, line, "there are two columns %q; the second is not read", name)
			continue
		}
		columns[i] = name
	}
	if !slices.Contains(columns, "id") || !slices.ContainsFunc(columns, func(c string) bool { return strings.HasPrefix(c, "title") }) {
		rep.errorf(CatalogueFile, line, "the first row must name the columns, and at least id and title; it has %s", strings.Join(head, ", "))
		return nil, false
	}
	return columns, true
}

func cleanCell(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s))
}

// catalogueLanguages tells the languages of a catalogue: that of the columns without one, by their script, and those
// that columns name.
func catalogueLanguages(rows []row) []string {
	han, letters := 0, 0
	others := map[string]bool{}
	plain := false
	for _, r := range rows {
		for column, cell := range r.cells {
			base, tag, localized := strings.Cut(column, "_")
			if !slices.Contains(localizedColumns, base) || cell == "" {
				continue
			}
			if localized {
				others[tag] = true
				continue
			}
			plain = true
			for _, c := range cell {
				if unicode.IsLetter(c) {
					letters++
				}
				if unicode.Is(unicode.Han, c) {
					han++
				}
			}
		}
	}
	var languages []string
	if plain {
		languages = []string{"en"}
		if han*3 > letters {
			languages = []string{"zh"}
		}
	}
	for _, tag := range []string{"en", "zh"} {
		if others[tag] && !slices.Contains(languages, tag) {
			languages = append(languages, tag)
		}
	}
	if len(languages) == 0 {
		return []string{"en"}
	}
	return languages
}

// slugOf makes an id of a text: "Room 3 (West)" is "room-3-west". It is "" where no letter or digit is left.
func slugOf(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 64 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// host is what a reader sees of an address.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Host
}
