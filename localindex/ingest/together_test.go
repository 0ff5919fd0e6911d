package ingest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
)

// readFiles reads files as a folder named my-house and returns its gallery and what is said of it.
func readFiles(t *testing.T, files map[string]string) (*gallery.Gallery, []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my-house")
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), []byte(text))
	}
	g, problems, err := Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, p := range problems {
		said = append(said, p.String())
	}
	return g, said
}

func TestRelatedToWhatIsNotUsable(t *testing.T) {
	const house = "id: x\nname: X\nlanguages: [en]\ntime_zone: UTC\nhalls: [{id: a, name: A, floor: 1}]\n"
	_, said := readFiles(t, map[string]string{
		"gallery.yaml":        house,
		"catalogue.csv":       "id,title,room\nrow,A row,a\n",
		"exhibits/one.md":     "---\ntitle: One\nhall: a\nrelated: [broken, row, zzzzzz]\n---\n## A\n\nText.\n",
		"exhibits/broken.md":  "---\ntitle: [\n---\n## A\n\nText.\n",
		"exhibits/another.md": "no front matter",
	})
	said = slices.DeleteFunc(said, func(s string) bool { return !strings.Contains(s, "related") })
	want := []string{`exhibits/one.md:4: error: related: there is no exhibit "zzzzzz"; known are one, row`}
	if d := cmp.Diff(want, said); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestNameOfACatalogue(t *testing.T) {
	const table = "id,title,title_zh,room\n1,Vase,花瓶,3\n"
	for _, c := range []struct {
		name, yaml string
		want       gallery.Localized
		id, zone   string
		errors     string
	}{
		{"none", "", gallery.Localized{"en": "my-house"}, "my-house", "UTC", ""},
		{"one name", "name: The House\n", gallery.Localized{"en": "The House"}, "my-house", "UTC", ""},
		{"two names and a zone", "name: {en: The House, zh: 大馆}\ntime_zone: Asia/Shanghai\nid: big\n", gallery.Localized{"en": "The House", "zh": "大馆"}, "big", "Asia/Shanghai", ""},
		{"no name", "id: big\n", nil, "big", "UTC", "the gallery needs a name"},
		{"a wrong zone", "name: X\ntime_zone: Mars\n", gallery.Localized{"en": "X"}, "my-house", "Mars", "is not a time zone"},
		{"an empty list of languages", "name: X\nlanguages: []\n", gallery.Localized{"en": "X"}, "my-house", "UTC", "name at least one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"catalogue.csv": table}
			if c.yaml != "" {
				files["gallery.yaml"] = c.yaml
			}
			g, said := readFiles(t, files)
			if d := cmp.Diff(c.want, g.Name); d != "" || g.ID != c.id || g.TimeZone != c.zone {
				t.Errorf("%s %s %v", g.ID, g.TimeZone, g.Name)
			}
			all := strings.Join(said, "\n")
			if (c.errors == "") != !strings.Contains(all, ": error: ") || !strings.Contains(all, c.errors) {
				t.Errorf("problems:\n%s", all)
			}
			if c.errors == "" && (len(g.Exhibits) != 1 || len(g.Halls) != 1 || !slices.Equal(g.Languages, []string{"en", "zh"})) {
				t.Errorf("%d exhibits, %d halls, %v", len(g.Exhibits), len(g.Halls), g.Languages)
			}
		})
	}
}

func TestNotationInCells(t *testing.T) {
	_, said := readFiles(t, map[string]string{"catalogue.csv": "id,title,artist,keywords\n" +
		"1,Plain {title},A,x\n" +
		"2,\"{'en': 'Vase', 'zh': '花瓶'}\",\"{\"\"en\"\": \"\"B\"\"}\",y\n" +
		"3,\"{'en': 'Bowl'}\",\"{curly: braces are no language}\",\"{en: z}\"\n"})
	said = slices.DeleteFunc(said, func(s string) bool { return !strings.Contains(s, "notation") })
	want := []string{
		"catalogue.csv:3: warning: column \"artist\" holds a program's notation, such as {'en': …}, in 1 of 3 rows, and visitors will see it so; write each language in a column of its own, artist_en and artist_zh",
		"catalogue.csv:3: warning: column \"title\" holds a program's notation, such as {'en': …}, in 2 of 3 rows, and visitors will see it so; write each language in a column of its own, title_en and title_zh",
		"catalogue.csv:4: warning: column \"keywords\" holds a program's notation, such as {'en': …}, in 1 of 3 rows, and visitors will see it so; write the text alone",
	}
	slices.Sort(said)
	if d := cmp.Diff(want, said); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
