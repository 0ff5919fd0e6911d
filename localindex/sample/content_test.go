package sample_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// plan says what hangs where: the hall of each first digit, and the exhibits of a hall in the order of their labels.
var plan = []struct {
	hall     string
	exhibits []string
}{
	{"tilings", []string{"penrose-tiling", "girih-star", "ice-crack-lattice", "truchet-tiles", "voronoi-cells", "pinwheel-tiling"}},
	{"curves", []string{"hilbert-curve", "harmonograph", "dragon-curve", "spirograph", "maurer-rose", "apollonian-gasket"}},
	{"growth", []string{"phyllotaxis", "barnsley-fern", "rule-30", "diffusion-limited-aggregation", "turing-pattern", "pythagoras-tree"}},
	{"fields", []string{"chladni-figures", "flow-field", "moire-rings", "mandelbrot-set", "lorenz-attractor", "newton-basins"}},
}

type both struct {
	EN string `yaml:"en"`
	ZH string `yaml:"zh"`
}

type point [2]float64

type hall struct {
	ID      string  `yaml:"id"`
	Name    both    `yaml:"name"`
	About   both    `yaml:"about"`
	Floor   int     `yaml:"floor"`
	Outline []point `yaml:"outline"`
	Doors   []struct {
		To       string `yaml:"to"`
		At       point  `yaml:"at"`
		StepFree bool   `yaml:"step_free"`
	} `yaml:"doors"`
}

type house struct {
	ID        string   `yaml:"id"`
	Name      both     `yaml:"name"`
	Languages []string `yaml:"languages"`
	TimeZone  string   `yaml:"time_zone"`
	Halls     []hall   `yaml:"halls"`
	Kiosks    []struct {
		ID   string `yaml:"id"`
		Hall string `yaml:"hall"`
		At   point  `yaml:"at"`
	} `yaml:"kiosks"`
	Attract     []both            `yaml:"attract"`
	Recognition map[string]string `yaml:"recognition"`
	Venue       struct {
		Address both   `yaml:"address"`
		Phone   string `yaml:"phone"`
		Hours   []struct {
			Day       string `yaml:"day"`
			Open      string `yaml:"open"`
			Close     string `yaml:"close"`
			LastEntry string `yaml:"last_entry"`
		} `yaml:"hours"`
		Closures []struct {
			Date   string `yaml:"date"`
			Open   string `yaml:"open"`
			Close  string `yaml:"close"`
			Reason both   `yaml:"reason"`
		} `yaml:"closures"`
		Tickets []struct {
			Name  both `yaml:"name"`
			Price both `yaml:"price"`
		} `yaml:"tickets"`
		Services []struct {
			ID       string `yaml:"id"`
			Name     both   `yaml:"name"`
			Where    both   `yaml:"where"`
			Hall     string `yaml:"hall"`
			About    *both  `yaml:"about"`
			StepFree bool   `yaml:"step_free"`
		} `yaml:"services"`
		Events []struct {
			ID      string `yaml:"id"`
			Name    both   `yaml:"name"`
			When    both   `yaml:"when"`
			Day     string `yaml:"day"`
			Start   string `yaml:"start"`
			Minutes int    `yaml:"minutes"`
			Hall    string `yaml:"hall"`
			About   both   `yaml:"about"`
		} `yaml:"events"`
		Rules []both `yaml:"rules"`
	} `yaml:"venue"`
}

type picture struct {
	File string `yaml:"file"`
	Alt  string `yaml:"alt"`
}

// wording is what every language has in its front matter.
type wording struct {
	Title     string    `yaml:"title"`
	Maker     string    `yaml:"maker"`
	Date      string    `yaml:"date"`
	Materials string    `yaml:"materials"`
	Credit    string    `yaml:"credit"`
	Pictures  []picture `yaml:"pictures"`
}

type exhibit struct {
	wording   `yaml:",inline"`
	Label     string   `yaml:"label"`
	Hall      string   `yaml:"hall"`
	At        point    `yaml:"at"`
	Accession string   `yaml:"accession"`
	Keywords  []string `yaml:"keywords"`
	Related   []string `yaml:"related"`
	Minutes   float64  `yaml:"minutes"`
	Sources   []struct {
		Key   string `yaml:"key"`
		Title string `yaml:"title"`
		URL   string `yaml:"url"`
	} `yaml:"sources"`
}

type section struct{ heading, level, text string }

var (
	headingLine = regexp.MustCompile(`^## (.+?)(?: \{level=(child|expert)\})?$`)
	citation    = regexp.MustCompile(`\[\^([^\]]*)\]`)
)

func strictYAML(t *testing.T, text []byte, into any) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("content", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// document decodes the front matter of a file into front and returns its sections.
func document(t *testing.T, path string, front any) []section {
	t.Helper()
	parts := strings.SplitN(string(read(t, path)), "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatalf("%s does not start with front matter between lines of ---", path)
	}
	strictYAML(t, []byte(parts[1]), front)
	var out []section
	for line := range strings.Lines(parts[2]) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			m := headingLine.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%s: malformed heading %q", path, line)
			}
			out = append(out, section{heading: m[1], level: m[2]})
			continue
		}
		if strings.TrimSpace(line) != "" && len(out) == 0 {
			t.Fatalf("%s: text before the first heading: %q", path, line)
		}
		if len(out) > 0 {
			out[len(out)-1].text += line + "\n"
		}
	}
	for _, s := range out {
		if strings.TrimSpace(s.text) == "" {
			t.Errorf("%s: section %q is empty", path, s.heading)
		}
	}
	return out
}

func levels(sections []section) []string {
	var out []string
	for _, s := range sections {
		out = append(out, s.level)
	}
	return out
}

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func loadHouse(t *testing.T) house {
	t.Helper()
	var h house
	strictYAML(t, read(t, "gallery.yaml"), &h)
	return h
}

func (h house) outline(id string) []point {
	for _, room := range h.Halls {
		if room.ID == id {
			return room.Outline
		}
	}
	return nil
}

// inside reports whether p lies in the polygon (even-odd rule).
func inside(p point, ring []point) bool {
	in := false
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		if (a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0]+(p[1]-a[1])/(b[1]-a[1])*(b[0]-a[0]) {
			in = !in
		}
	}
	return in
}

// toBorder is the distance of p from the border of the polygon.
func toBorder(p point, ring []point) float64 {
	nearest := math.Inf(1)
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		dx, dy := b[0]-a[0], b[1]-a[1]
		f := min(1, max(0, ((p[0]-a[0])*dx+(p[1]-a[1])*dy)/(dx*dx+dy*dy)))
		nearest = min(nearest, math.Hypot(p[0]-a[0]-f*dx, p[1]-a[1]-f*dy))
	}
	return nearest
}

func TestExhibits(t *testing.T) {
	h := loadHouse(t)
	var ids []string
	for _, room := range plan {
		ids = append(ids, room.exhibits...)
	}
	places := map[point]string{}
	for digit, room := range plan {
		for i, id := range room.exhibits {
			t.Run(id, func(t *testing.T) {
				var x exhibit
				english := document(t, "exhibits/"+id+".md", &x)
				var zh wording
				chinese := document(t, "exhibits/"+id+".zh.md", &zh)

				label := fmt.Sprintf("%d%02d", digit+1, i+1)
				if x.Label != label || x.Hall != room.hall || x.Accession != "GP-"+label {
					t.Errorf("label %q, hall %q, accession %q; want %s, %s, GP-%s", x.Label, x.Hall, x.Accession, label, room.hall, label)
				}
				if ring := h.outline(x.Hall); !inside(x.At, ring) || toBorder(x.At, ring) < 0.3 {
					t.Errorf("at %v is not inside hall %s, 0.3 m or more from its walls", x.At, x.Hall)
				}
				if other, taken := places[x.At]; taken {
					t.Errorf("hangs at %v, as %s does", x.At, other)
				}
				places[x.At] = id
				if x.Minutes <= 0 {
					t.Error("no viewing time")
				}
				checkWording(t, x.wording, zh)
				if diff := cmp.Diff([]picture{{File: "pictures/" + id + ".png", Alt: x.Pictures[0].Alt}}, x.Pictures); diff != "" {
					t.Errorf("pictures (-want +got):\n%s", diff)
				}
				checkKeywords(t, x.Keywords)
				for _, r := range x.Related {
					if !slices.Contains(ids, r) || r == id {
						t.Errorf("related %q is no other exhibit", r)
					}
				}
				if len(x.Related) == 0 {
					t.Error("no related exhibits")
				}

				if len(english) < 4 {
					t.Errorf("%d sections, want at least 4", len(english))
				}
				if diff := cmp.Diff(levels(english), levels(chinese)); diff != "" {
					t.Errorf("the languages have different sections (levels, -en +zh):\n%s", diff)
				}
				for _, level := range []string{"child", "expert"} {
					if n := len(slices.DeleteFunc(levels(english), func(s string) bool { return s != level })); n != 1 {
						t.Errorf("%d sections of level %s, want 1", n, level)
					}
				}
				checkCitations(t, x, english, chinese)
				checkLength(t, english, chinese)
			})
		}
	}

	var want, got []string
	for _, id := range ids {
		want = append(want, id+".md", id+".zh.md")
	}
	entries, err := os.ReadDir(filepath.Join("content", "exhibits"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in exhibits (-want +got):\n%s", diff)
	}
}

func checkWording(t *testing.T, en, zh wording) {
	t.Helper()
	for lang, w := range map[string]wording{"en": en, "zh": zh} {
		for name, s := range map[string]string{"title": w.Title, "maker": w.Maker, "date": w.Date, "materials": w.Materials, "credit": w.Credit} {
			if s == "" {
				t.Errorf("%s: no %s", lang, name)
			}
		}
		if len(w.Pictures) != 1 || w.Pictures[0].Alt == "" {
			t.Fatalf("%s: want one picture with an alt text, have %v", lang, w.Pictures)
		}
		if got := hasHan(w.Title + w.Materials + w.Credit + w.Pictures[0].Alt); got != (lang == "zh") {
			t.Errorf("%s: front matter in the wrong language", lang)
		}
	}
	if zh.Pictures[0].File != "" {
		t.Error("zh: the translation names a picture file")
	}
}

func checkKeywords(t *testing.T, words []string) {
	t.Helper()
	chinese := 0
	for _, w := range words {
		if hasHan(w) {
			chinese++
		}
	}
	if chinese < 3 || len(words)-chinese < 3 {
		t.Errorf("keywords %v: want at least three in each language", words)
	}
}

func checkCitations(t *testing.T, x exhibit, languages ...[]section) {
	t.Helper()
	defined := map[string]bool{}
	for _, s := range x.Sources {
		if defined[s.Key] || s.Title == "" {
			t.Errorf("source %q is defined twice or has no title", s.Key)
		}
		if s.URL != "" && !strings.HasPrefix(s.URL, "https://") {
			t.Errorf("source %q: unexpected URL %q", s.Key, s.URL)
		}
		defined[s.Key] = true
	}
	if len(defined) == 0 {
		t.Error("no sources")
	}
	var bySection [][][]string
	for _, sections := range languages {
		used := map[string]bool{}
		var keys [][]string
		for _, s := range sections {
			var here []string
			for _, m := range citation.FindAllStringSubmatch(s.text, -1) {
				used[m[1]] = true
				here = append(here, m[1])
			}
			slices.Sort(here)
			keys = append(keys, slices.Compact(here))
		}
		bySection = append(bySection, keys)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(defined)), slices.Sorted(maps.Keys(used))); diff != "" {
			t.Errorf("sources (-defined +used):\n%s", diff)
		}
	}
	if diff := cmp.Diff(bySection[0], bySection[1]); diff != "" {
		t.Errorf("sources named in each section (-en +zh):\n%s", diff)
	}
}

func checkLength(t *testing.T, english, chinese []section) {
	t.Helper()
	words, characters := 0, 0
	for i := range english {
		words += len(strings.Fields(english[i].text))
		for _, r := range chinese[i].text {
			if unicode.Is(unicode.Han, r) {
				characters++
			}
		}
		if hasHan(english[i].heading) || !hasHan(chinese[i].heading) {
			t.Errorf("headings %q and %q are not in English and Chinese", english[i].heading, chinese[i].heading)
		}
	}
	if words < 350 || words > 550 {
		t.Errorf("%d English words, want 350 to 550", words)
	}
	if characters < 500 {
		t.Errorf("%d Chinese characters, want at least 500", characters)
	}
}
