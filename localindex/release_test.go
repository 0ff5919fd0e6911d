package localindex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
	"docent/localindex/ingest"
	"docent/localindex/release"
)

// writeGallery writes an authoring folder with n exhibits beside those that tests name.
func writeGallery(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"gallery.yaml": `
id: test
name: {en: Test House, zh: 试验馆}
languages: [en, zh]
time_zone: Asia/Shanghai
halls:
  - {id: bronze, name: {en: Bronze, zh: 青铜厅}, floor: 1}
venue:
  hours: [{day: tuesday, open: "10:00", close: "18:00", last_entry: "17:30"}]
  tickets: [{name: {en: Adult, zh: 成人}, price: {en: CNY 40, zh: 40元}}]
  services:
    - {id: toilets, name: {en: Toilets, zh: 洗手间}, where: {en: beside the lift, zh: 电梯旁}}
  events:
    - {id: tour, name: {en: Guided tour, zh: 导览}, when: {en: Sundays at 14:00, zh: 每周日14:00}}
`,
		"exhibits/ding.md": `---
label: 101
hall: bronze
title: Da Ke Ding
date: about 900 BC
materials: bronze
accession: SH-1951.3
pictures: [{file: pictures/ding.png, alt: A vessel on three legs}]
---
## What you see

A vessel on three legs. It weighs 201 kilograms.

## Inscription

Inside, 290 characters tell how a nobleman was given land.
`,
		"exhibits/ding.zh.md": `---
title: 大克鼎
date: 约公元前900年
materials: 青铜
pictures: [{alt: 三足器}]
---
## 铭文

腹内铸有290字，记载一位贵族受封土地。
`,
		"exhibits/bell.md": `---
label: 102
hall: bronze
title: Marquis bell
pictures: [{file: pictures/bell.png, alt: A bell}]
---
## What you see

A bell without a clapper, struck from outside. It weighs 5 kilograms.
`,
	}
	pictures := []string{"ding", "bell"}
	for i := range n {
		id := fmt.Sprintf("more-%d", i)
		files["exhibits/"+id+".md"] = fmt.Sprintf(`---
label: %d
hall: bronze
title: Vessel %s
pictures: [{file: pictures/%s.png, alt: A vessel}]
---
## What you see

%s
`, 1000+i, id, id, strings.Repeat(fmt.Sprintf("Vessel number %d stands on a shelf of wood and was cast long ago. ", i), 20))
		pictures = append(pictures, id)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	for i, name := range pictures {
		write(t, filepath.Join(dir, "pictures", name+".png"), drawn(t, i))
	}
	return dir
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func drawn(t testing.TB, n int) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 300, 300), color.Palette{color.White, color.Gray{uint8(n)}})
	for i := range 300 {
		m.SetColorIndex(i, i, 1)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packed builds a release of a gallery.
func packed(t testing.TB, galleryDir string) string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "release")
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	if _, problems, err := Build(t.Context(), galleryDir, dst, Options{Number: 3, Now: now}); err != nil {
		t.Fatalf("%v: %.1000v", err, problems)
	}
	return dst
}

func opened(t testing.TB, galleryDir string) *Release {
	t.Helper()
	r, err := Open(t.Context(), packed(t, galleryDir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestRelease(t *testing.T) {
	r := opened(t, writeGallery(t, 0))
	if m := r.Manifest(); m.Number != 3 || m.Gallery != "test" {
		t.Errorf("manifest is of release %d of %s", m.Number, m.Gallery)
	}
	if got := len(r.Gallery().Exhibits); got != 2 {
		t.Errorf("%d exhibits, want 2", got)
	}
	e, ok := r.Exhibit("ding")
	if !ok || e.Title.In("zh") != "大克鼎" || e.Pictures[0].Width != 300 {
		t.Errorf("exhibit ding is %+v, %v", e, ok)
	}
	if _, ok := r.Exhibit("absent"); ok {
		t.Error("found an exhibit that is not there")
	}
	var ids []string
	for _, s := range r.Sections("ding", "en") {
		ids = append(ids, s.ID)
	}
	if diff := cmp.Diff([]string{"ding/en/1", "ding/en/2", "ding/en/facts"}, ids); diff != "" {
		t.Errorf("sections differ (-want +got):\n%s", diff)
	}
	all := r.Sections("", "")
	for _, s := range all {
		if got, ok := r.Section(s.ID); !ok || got.Text != s.Text {
			t.Errorf("section %s is not found by its id", s.ID)
		}
		passages := r.SectionPassages(s.ID)
		if len(passages) == 0 {
			t.Errorf("section %s has no passages", s.ID)
		}
		for _, p := range passages {
			if got, ok := r.Passage(p.ID); !ok || got != p {
				t.Errorf("passage %s is not found by its id", p.ID)
			}
		}
	}
	if path, ok := r.PicturePath("pictures/ding.png"); !ok {
		t.Error("no path of a picture")
	} else if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	for _, file := range []string{"manifest.json", "../x", "/etc/passwd", "", "pictures/absent.png", "pictures/../catalogue.json"} {
		if path, ok := r.PicturePath(file); ok {
			t.Errorf("PicturePath(%q) = %s", file, path)
		}
	}
}

func passageIDs(hits []Hit) []string {
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.Passage.ID)
	}
	return ids
}

func TestSearch(t *testing.T) {
	r := opened(t, writeGallery(t, 0))
	for _, tt := range []struct {
		name  string
		query Query
		first string // passage
		exact bool
	}{
		{"Chinese character", Query{Text: "鼎", Language: "zh"}, "ding/zh/1#1", false},
		{"where is the toilet", Query{Text: "where is the toilet?", Language: "en"}, "service/en/toilets#1", false},
		{"another word for it", Query{Text: "where is the restroom?", Language: "en"}, "service/en/toilets#1", false},
		{"洗手间在哪里", Query{Text: "洗手间在哪里", Language: "zh"}, "service/zh/toilets#1", false},
		{"厕所在哪里", Query{Text: "厕所在哪里", Language: "zh"}, "service/zh/toilets#1", false},
		{"when are you open", Query{Text: "when are you open?", Language: "en"}, "venue/en/hours#1", false},
		{"几点关门", Query{Text: "你们几点关门？", Language: "zh"}, "venue/zh/hours#1", false},
		{"how much is it", Query{Text: "how much is a ticket", Language: "en"}, "venue/en/tickets#1", false},
		{"event", Query{Text: "有导览吗", Language: "zh"}, "event/zh/tour#1", false},
		{"title", Query{Text: "how heavy is the Da Ke Ding? what does it weigh", Language: "en"}, "ding/en/1#1", true},
		{"title in another language than the texts", Query{Text: "大克鼎 weighs", Language: "en"}, "ding/en/1#1", true},
		{"label", Query{Text: "102", Language: "en"}, "bell/en/1#1", true},
		{"accession number", Query{Text: "what is SH-1951.3", Language: "en"}, "ding/en/1#1", true},
		{"accession number and a question", Query{Text: "materials of SH-1951.3", Language: "en"}, "ding/en/facts#1", true},
		{"named exhibit without a translation", Query{Text: "102号展品有多重", Language: "zh"}, "bell/zh/facts#1", true},
		{"exhibit in hand", Query{Text: "how many kilograms does it weigh", Language: "en", Exhibit: "bell"}, "bell/en/1#1", false},
		{"other exhibit in hand", Query{Text: "how many kilograms does it weigh", Language: "en", Exhibit: "ding"}, "ding/en/1#1", false},
		{"exhibit in hand, question about the house", Query{Text: "where is the toilet", Language: "en", Exhibit: "ding"}, "service/en/toilets#1", false},
		{"domain", Query{Text: "bronze tour", Language: "en", Domains: []gallery.Domain{gallery.DomainEvent}}, "event/en/tour#1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, err := r.Search(t.Context(), tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if len(hits) == 0 || hits[0].Passage.ID != tt.first || hits[0].Exact != tt.exact {
				t.Fatalf("found %v (first exact: %v), want %s first (exact: %v)", passageIDs(hits), len(hits) > 0 && hits[0].Exact, tt.first, tt.exact)
			}
			seen := map[string]bool{}
			for _, h := range hits {
				if seen[h.Passage.ID] {
					t.Errorf("passage %s is found twice", h.Passage.ID)
				}
				seen[h.Passage.ID] = true
				if h.Passage.Section != h.Section.ID || h.Section.Text == "" || h.Score <= 0 {
					t.Errorf("hit %+v", h)
				}
			}
		})
	}
}

func TestSearchLimitsAndFilters(t *testing.T) {
	r := opened(t, writeGallery(t, 0))
	hits, err := r.Search(t.Context(), Query{Text: "Da Ke Ding vessel bell bronze", Language: "en", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	exact := 0
	for _, h := range hits {
		if h.Exact {
			exact++
		}
	}
	if len(hits) != 3 || exact != 2 {
		t.Errorf("found %v, %d of them exact; want 3 and 2", passageIDs(hits), exact)
	}
	hits, err = r.Search(t.Context(), Query{Text: "Da Ke Ding kilograms", Language: "en", Exhibit: "bell", OnlyExhibit: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) == 0 || slices.ContainsFunc(hits, func(h Hit) bool { return h.Section.Exhibit != "bell" }) {
		t.Errorf("found %v, want passages of the bell only", passageIDs(hits))
	}
	for _, text := range []string{"", "   ", "？？", "xylophone"} {
		if hits, err := r.Search(t.Context(), Query{Text: text}); err != nil || len(hits) > 0 {
			t.Errorf("Search(%q) = %v, %v; want nothing", text, passageIDs(hits), err)
		}
	}
}

func TestSearchConcurrentlyWhileAnotherIsClosed(t *testing.T) {
	dst := packed(t, writeGallery(t, 0))
	r, err := Open(t.Context(), dst)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	second, err := Open(t.Context(), dst)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				hits, err := r.Search(t.Context(), Query{Text: "Da Ke Ding 铭文", Exhibit: "bell"})
				if err != nil || len(hits) == 0 || hits[0].Section.Exhibit != "ding" {
					t.Errorf("found %v, %v", passageIDs(hits), err)
					return
				}
			}
		})
	}
	wg.Wait()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Search(cancelled, Query{Text: "vessel"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
	if _, err := release.Verify(t.Context(), dst); err != nil {
		t.Errorf("reading changed the release: %v", err)
	}
}

// TestOpenRefusesDamage flips a bit in every file, those of the text index included.
func TestOpenRefusesDamage(t *testing.T) {
	dst := packed(t, writeGallery(t, 0))
	m, err := release.Verify(t.Context(), dst)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{release.ManifestFile}
	for _, f := range m.Files {
		files = append(files, f.Path)
	}
	if !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, ".zap") }) {
		t.Fatalf("no text index among %v", files)
	}
	for _, file := range files {
		path := filepath.Join(dst, file)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Clone(whole)
		changed[len(changed)/2] ^= 1
		write(t, path, changed)
		r, err := Open(t.Context(), dst)
		if err == nil {
			r.Close()
			t.Errorf("opened a release with a changed %s", file)
		} else if !strings.Contains(err.Error(), file) {
			t.Errorf("%s was changed, and the error does not name it: %v", file, err)
		}
		write(t, path, whole)
	}
	r, err := Open(t.Context(), dst)
	if err != nil {
		t.Fatalf("restored release: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenThroughALink(t *testing.T) {
	gallery := writeGallery(t, 0)
	dst := packed(t, gallery)
	current := filepath.Join(t.TempDir(), "current")
	if err := os.Symlink(dst, current); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), current)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := errors.Join(os.Remove(current), os.Symlink(packed(t, gallery), current)); err != nil {
		t.Fatal(err)
	}
	path, ok := r.PicturePath("pictures/ding.png")
	if !ok || !strings.HasPrefix(path, dst) {
		t.Errorf("picture is at %s, want it below %s still", path, dst)
	}

	if err := os.WriteFile(filepath.Join(dst, "extra"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(current), os.Symlink(dst, current)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), current); err == nil {
		t.Error("a damaged release was opened through a link")
	}
}

func TestBuildRefusesErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(dir string)
		file  string
	}{
		{"unknown hall", func(dir string) {
			write(t, filepath.Join(dir, "exhibits", "new.md"), []byte("---\ntitle: New\nhall: nowhere\n---\nText."))
		}, "exhibits/new.md"},
		{"picture cut short", func(dir string) {
			path := filepath.Join(dir, "pictures", "ding.png")
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, whole[:len(whole)-30])
		}, "pictures/ding.png"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeGallery(t, 0)
			tt.spoil(dir)
			dst := filepath.Join(t.TempDir(), "release")
			_, problems, err := Build(t.Context(), dir, dst, Options{})
			if !errors.Is(err, ErrProblems) {
				t.Errorf("error is %v, want ErrProblems", err)
			}
			if !slices.ContainsFunc(problems, func(p ingest.Problem) bool { return p.File == tt.file && p.Severity == ingest.Error }) {
				t.Errorf("problems are %v, want an error of %s", problems, tt.file)
			}
			if _, err := os.Stat(dst); !os.IsNotExist(err) {
				t.Errorf("a release was written all the same: %v", err)
			}
		})
	}
}

func BenchmarkOpen1000(b *testing.B) {
	dst := packed(b, writeGallery(b, 1000))
	b.ResetTimer()
	for b.Loop() {
		r, err := Open(b.Context(), dst)
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

func BenchmarkSearch1000(b *testing.B) {
	r := opened(b, writeGallery(b, 1000))
	b.ResetTimer()
	for b.Loop() {
		if _, err := r.Search(b.Context(), Query{Text: "which vessel was cast long ago and stands on wood", Language: "en", Exhibit: "more-7"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuild1000(b *testing.B) {
	dir := writeGallery(b, 1000)
	b.ResetTimer()
	for b.Loop() {
		packed(b, dir)
	}
}
