package collection

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
)

func TestYears(t *testing.T) {
	for date, want := range map[string]Span{
		"1974": {1974, 1974}, "1974年": {1974, 1974}, "c. 200 BC; packing described 1943": {-200, -200}, "约公元前200年；1943年描述": {-200, -200},
		"by about 1200; analysed 2007": {1200, 1200}, "19th century": {1801, 1900}, "19世纪": {1801, 1900}, "十九世纪": {1801, 1900},
		"1704; arcs 1987; several sizes 2018": {1704, 1704}, "1787–88": {1787, 1788}, "ca. 1880–1910  (a later impression)": {1880, 1910},
		"1830s": {1830, 1839}, "20世纪60年代": {1960, 1969}, "probably 1519": {1519, 1519}, "c. 1617–43": {1617, 1643}, "1450 ca.": {1450, 1450},
		"Ming and Qing dynasties; described 1631": {1368, 1912}, "明清": {1368, 1912}, "the 1960s": {1960, 1969}, "nineteenth century": {1801, 1900},
		"5th century BC": {-500, -401}, "约1590年": {1590, 1590}, "Northern Song dynasty": {960, 1279}, "1960年代": {1960, 1969},
	} {
		if got, ok := Years(date); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", date, got, ok, want)
		}
	}
	for _, date := range []string{"", "date not stated", "undated", "年代不详", "no. 12"} {
		if got, ok := Years(date); ok {
			t.Errorf("%q: %v, want none", date, got)
		}
	}
}

func FuzzYears(f *testing.F) {
	for _, s := range []string{"1787–88", "公元前200年", "19th century BC", "1830s", "明清", "99999", "\xff1900"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, date string) {
		if s, ok := Years(date); ok && s.From > s.To {
			t.Errorf("%q: %v", date, s)
		}
	})
}

func TestSelect(t *testing.T) {
	make := func(id, hall, maker, date string) gallery.Exhibit {
		return gallery.Exhibit{ID: id, Hall: hall, Maker: gallery.Localized{"en": maker}, Date: gallery.Localized{"en": date}}
	}
	all := []gallery.Exhibit{make("a", "x", "after Ada Lovelace", "1843"), make("b", "x", "Hokusai", "1830s"), make("c", "y", "Hokusai", ""), make("d", "y", "Dürer", "1521"), make("e", "y", "Cranach", "1521")}
	for _, tt := range []struct {
		name    string
		query   Query
		want    []string
		undated int
	}{
		{"all", Query{Count: true}, []string{"a", "b", "c", "d", "e"}, 0},
		{"the oldest, and its equal", Query{Order: Oldest}, []string{"d", "e"}, 1},
		{"the two newest", Query{Order: Newest, N: 2}, []string{"a", "b"}, 1},
		{"by a maker", Query{Maker: "hokusai"}, []string{"b", "c"}, 0},
		{"by a maker with an accent", Query{Maker: "durer"}, []string{"d"}, 0},
		{"of a hall", Query{Hall: "y"}, []string{"c", "d", "e"}, 0},
		{"of a time", Query{From: 1801, To: 1900}, []string{"a", "b"}, 1},
		{"more than there are", Query{Order: Newest, N: 9}, []string{"a", "b", "d", "e"}, 1},
		{"nobody", Query{Maker: "picasso"}, nil, 0},
	} {
		f := Select(all, tt.query)
		var got []string
		for _, e := range f.Exhibits {
			got = append(got, e.ID)
		}
		if d := cmp.Diff(tt.want, got); d != "" || f.Undated != tt.undated {
			t.Errorf("%s: %d undated (-want +got):\n%s", tt.name, f.Undated, d)
		}
	}
}
