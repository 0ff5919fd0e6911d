package localindex

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/localindex/gallery"
)

// sampleGallery is the sample gallery's text with small pictures in place of those that are drawn.
func sampleGallery(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("sample", "content"))); err != nil {
		t.Fatal(err)
	}
	exhibits, err := fs.Glob(os.DirFS(dir), "exhibits/*.zh.md")
	if err != nil || len(exhibits) == 0 {
		t.Fatalf("no exhibits: %v", err)
	}
	for i, e := range exhibits {
		id := strings.TrimSuffix(filepath.Base(e), ".zh.md")
		write(t, filepath.Join(dir, "pictures", id+".png"), drawn(t, i))
	}
	return dir
}

// TestSampleQuestions asks the sample gallery what visitors ask. The first passage must be of one of the sections or
// exhibits named.
func TestSampleQuestions(t *testing.T) {
	r := opened(t, sampleGallery(t))
	for _, tt := range []struct {
		question string
		inHand   string
		want     string // beginnings of section ids, parted by spaces
	}{
		{"When are you open?", "", "venue/en/hours"},
		{"what are the opening hours", "", "venue/en/hours"},
		{"What time do you close on Sunday?", "", "venue/en/hours"},
		{"is the gallery open on monday", "", "venue/en/hours"},
		{"are you open on new year's eve", "", "venue/en/closures"},
		{"how much is a ticket", "", "venue/en/tickets"},
		{"is there a discount for students", "", "venue/en/tickets"},
		{"where is the toilet", "", "service/en/toilets"},
		{"where is the restroom?", "", "service/en/toilets"},
		{"Is there a café?", "", "service/en/cafe"},
		{"where can I get a coffee", "", "service/en/cafe"},
		{"do you have wifi", "", "service/en/wifi"},
		{"where can I leave my bag", "", "service/en/cloakroom venue/en/rules"},
		{"can I borrow a wheelchair", "", "service/en/wheelchairs"},
		{"can I take photos", "", "venue/en/rules"},
		{"can I bring my dog", "", "venue/en/rules"},
		{"is there a guided tour", "", "event/en/"},
		{"how many exhibits are there", "", "gallery/en"},
		{"what is in the curves hall", "", "hall/en/curves"},
		{"你们几点开门？", "", "venue/zh/hours"},
		{"星期一开吗", "", "venue/zh/hours"},
		{"周末几点关门", "", "venue/zh/hours"},
		{"春节开放吗", "", "venue/zh/closures"},
		{"门票多少钱", "", "venue/zh/tickets"},
		{"洗手间在哪里", "", "service/zh/toilets"},
		{"厕所在哪儿", "", "service/zh/toilets service/zh/accessible-toilet"},
		{"有没有无线网", "", "service/zh/wifi"},
		{"哪里可以存包", "", "service/zh/cloakroom venue/zh/rules"},
		{"可以拍照吗", "", "venue/zh/rules"},
		{"有导览吗", "", "event/zh/ documents/"},
		{"有几个展厅", "", "gallery/zh documents/about-the-gallery/zh"},

		{"Who found the Penrose tiling?", "", "penrose-tiling/en"},
		{"tell me about the Hilbert curve", "", "hilbert-curve/en/1"},
		{"205", "", "maurer-rose/en/1"},
		{"what is GP-301", "", "phyllotaxis/en/1"},
		{"who made number 403", "", "moire-rings/en/facts"},
		{"golden angle in plants", "", "phyllotaxis/en"},
		{"butterfly and weather", "", "lorenz-attractor/en"},
		{"彭罗斯镶嵌是谁发现的", "", "penrose-tiling/zh"},
		{"请介绍一下冰裂纹窗格", "", "ice-crack-lattice/zh/1"},
		{"蝴蝶效应", "", "lorenz-attractor/zh"},
		{"向日葵的种子怎么排列", "", "phyllotaxis/zh"},

		{"what is it made of", "rule-30", "rule-30/en/facts"},
		{"which year is it from", "spirograph", "spirograph/en/facts"},
		{"作者是谁", "dragon-curve", "dragon-curve/zh/facts"},
		{"这是用什么材料做的", "truchet-tiles", "truchet-tiles/zh/facts"},
		{"where is the toilet", "rule-30", "service/en/toilets"},
		{"几点关门", "rule-30", "venue/zh/hours"},
		{"and the Barnsley fern, who found that?", "rule-30", "barnsley-fern/en"},
	} {
		t.Run(tt.question, func(t *testing.T) {
			language := "en"
			if strings.ContainsFunc(tt.question, func(r rune) bool { return r >= 0x2E80 }) {
				language = "zh"
			}
			hits, err := r.Search(t.Context(), Query{Text: tt.question, Language: language, Exhibit: tt.inHand, Limit: 6})
			if err != nil {
				t.Fatal(err)
			}
			if len(hits) == 0 || !slices.ContainsFunc(strings.Fields(tt.want), func(w string) bool { return strings.HasPrefix(hits[0].Section.ID, w) }) {
				t.Errorf("found %v, want %s first", passageIDs(hits), tt.want)
			}
		})
	}
	for _, lang := range []string{"en", "zh"} {
		for _, e := range r.Gallery().Exhibits {
			if !slices.ContainsFunc(r.Sections(e.ID, lang), func(s gallery.Section) bool { return len(s.Sources) > 0 }) {
				t.Errorf("no text of exhibit %s in %s names a source", e.ID, lang)
			}
		}
	}
}
