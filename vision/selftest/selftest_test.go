package selftest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gocv.io/x/gocv"

	"docent/localindex/gallery"
	"docent/vision"
)

// rooms is a gallery with everything that is hard: a painting and its copy, the halves of a diptych, a series in one
// kind of frame, and a work without details.
func rooms(t testing.TB) (string, *gallery.Gallery) {
	return hang(t, map[string]gocv.Mat{
		"original": painting(1), "copy": copyOf(1), "left": half(2, 0), "right": half(2, 1),
		"first": framed(10), "second": framed(11), "third": framed(12), "plain": plain(), "other": painting(20),
	}, "original", "copy", "left", "right", "first", "second", "third", "plain", "other")
}

func TestFindings(t *testing.T) {
	dir, g := rooms(t)
	parts, r := indexed(t, dir, g)
	part := filepath.Join(parts, PartName)
	if err := os.Mkdir(part, 0o755); err != nil {
		t.Fatal(err)
	}
	built, err := Part{}.Build(t.Context(), g, dir, part)
	if err != nil {
		t.Fatal(err)
	}
	report := built.(Report)
	if report.Pictures != 9 || report.Tried != 9 || report.Views != 18 ||
		report.Recognised+report.Offered+report.Missed+report.Wrong != report.Views {
		t.Errorf("counts %+v", report)
	}
	if report.Wrong != 0 {
		t.Errorf("%d views were surely named wrongly", report.Wrong)
	}
	if report.Recognised < 10 || report.Share() < 0.5 {
		t.Errorf("%d of %d views were recognised", report.Recognised, report.Views)
	}
	at := slices.IndexFunc(report.Weak, func(w Weak) bool { return w.Exhibit == "plain" })
	if at < 0 {
		t.Fatalf("the work without details is not among the weak ones: %+v", report.Weak)
	}
	if w := report.Weak[at]; !w.Few || w.Views != 2 || len(w.Missed) != 2 {
		t.Errorf("the work without details: %+v", w)
	}
	for _, want := range [][2]string{{"copy", "original"}, {"first", "second"}, {"first", "third"}, {"second", "third"}} {
		i := slices.IndexFunc(report.Pairs, func(p Pair) bool { return p.A == want[0] && p.B == want[1] })
		if i < 0 {
			t.Errorf("%v are not among the pairs: %+v", want, report.Pairs)
			continue
		}
		if p := report.Pairs[i]; p.Inliers < 12 || p.PictureA != want[0]+".png" || p.PictureB != want[1]+".png" {
			t.Errorf("pair %+v", p)
		}
	}
	if p := report.Pairs[0]; p.A != "copy" || p.Unsure == 0 {
		t.Errorf("the copy is not the first pair: %+v", p)
	}
	if len(report.Pairs) != 4 || report.PairsCount != 4 {
		t.Errorf("%d pairs, want 4: %+v", report.PairsCount, report.Pairs)
	}

	if viewsOfLikeWorks > 1 {
		again, err := Part{}.Build(t.Context(), g, dir, part)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(report, again.(Report)); d != "" {
			t.Errorf("the same gallery is found otherwise (-first +second)\n%s", d)
		}
	}

	views, err := Views(part)
	if err != nil || len(views) == 0 || len(views) > maxKept {
		t.Fatalf("views for kiosks %v: %v", views, err)
	}
	path := func(file string) (string, bool) { return filepath.Join(dir, file), true }
	if missed, err := Try(t.Context(), r, views, path); err != nil || len(missed) != 0 {
		t.Errorf("a kiosk misses %v: %v", missed, err)
	}
	_, stranger := indexed(t, dir, &gallery.Gallery{Exhibits: g.Exhibits[8:]})
	if missed, err := Try(t.Context(), stranger, views, path); err != nil || len(missed) < len(views)-1 {
		t.Errorf("an index of another gallery misses only %v of %v: %v", missed, views, err)
	}
	if _, err := Try(t.Context(), r, views, func(string) (string, bool) { return "", false }); err == nil {
		t.Error("a picture that is not there is no error")
	}
}

// TestLikeWorks takes more views than the self-test does of works that are easily taken for each other.
func TestLikeWorks(t *testing.T) {
	dir, g := rooms(t)
	_, r := indexed(t, dir, g)
	for _, c := range []struct {
		name    string
		picture func() gocv.Mat
		sure    []string // what may be named surely
		cards   []string // what must be among the cards where it is not sure
	}{
		{"original", func() gocv.Mat { return painting(1) }, nil, []string{"original", "copy"}},
		{"copy", func() gocv.Mat { return copyOf(1) }, nil, []string{"copy", "original"}},
		{"left half", func() gocv.Mat { return half(2, 0) }, []string{"left"}, []string{"left"}},
		{"right half", func() gocv.Mat { return half(2, 1) }, []string{"right"}, []string{"right"}},
		{"both halves", func() gocv.Mat { return diptych(2) }, nil, []string{"left", "right"}},
		{"one of a series", func() gocv.Mat { return framed(11) }, []string{"second"}, []string{"second"}},
		{"a strange painting in the frame of the series", func() gocv.Mat { return framed(99) }, nil, nil},
		{"a work without details", plain, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			picture := c.picture()
			defer picture.Close()
			decisions := map[vision.Decision]int{}
			for n := range viewsOfLikeWorks {
				photo, err := View{Picture: c.name, Number: n}.Take(picture)
				if err != nil {
					t.Fatal(err)
				}
				seen, err := r.Recognise(t.Context(), photo)
				photo.Close()
				if err != nil {
					t.Fatal(err)
				}
				decisions[seen.Decision]++
				var ids []string
				for _, x := range seen.Candidates {
					ids = append(ids, x.ExhibitID)
				}
				switch seen.Decision {
				case vision.DecisionMatch:
					if !slices.Contains(c.sure, ids[0]) {
						t.Errorf("view %d is surely named %v", n, ids)
					}
				case vision.DecisionChoose:
					for _, want := range c.cards {
						if !slices.Contains(ids, want) {
							t.Errorf("view %d: the cards are %v, without %s", n, ids, want)
						}
					}
				}
				if len(ids) > 3 {
					t.Errorf("view %d: %d cards", n, len(ids))
				}
			}
			if c.cards != nil && decisions[vision.DecisionUnknown] > viewsOfLikeWorks/5 {
				t.Errorf("%v, want the work to be found on most views", decisions)
			}
			t.Log(decisions)
		})
	}
}

func TestBigGalleriesAreSampled(t *testing.T) {
	var pictures []picture
	for range 3 * MaxViews {
		pictures = append(pictures, picture{"x", "x.png"})
	}
	dir, g := hang(t, map[string]gocv.Mat{"x": painting(3)}, "x")
	_, r := indexed(t, dir, g)
	tried := 0
	_, err := takeViews(t.Context(), r, pictures, func(string) string { tried++; return filepath.Join(dir, "missing.png") }, vision.Options{Threads: 1})
	if err == nil || !strings.Contains(err.Error(), "missing.png") {
		t.Errorf("a missing picture: %v", err)
	}
	if tried == 0 || tried > MaxViews {
		t.Errorf("%d pictures would be tried", tried)
	}
}

func TestSummariseCutsItsLists(t *testing.T) {
	var few []vision.WeakReference
	var alike []vision.Alike
	for i := range 3 * maxListed {
		id := strings.Repeat("x", i+1)
		few = append(few, vision.WeakReference{ExhibitID: id, Picture: id, Features: i})
		alike = append(alike, vision.Alike{A: vision.IndexedPicture{ExhibitID: id}, B: vision.IndexedPicture{ExhibitID: id + "y"}, Inliers: 12 + i})
	}
	r := summarise(900, nil, few, alike)
	if len(r.Weak) != maxListed || r.WeakCount != 3*maxListed || len(r.Pairs) != maxListed || r.PairsCount != 3*maxListed {
		t.Errorf("%d of %d weak ones, %d of %d pairs", len(r.Weak), r.WeakCount, len(r.Pairs), r.PairsCount)
	}
	if r.Weak[0].Features != 0 || r.Pairs[0].Inliers != 12+3*maxListed-1 {
		t.Errorf("not the worst first: %+v, %+v", r.Weak[0], r.Pairs[0])
	}
	if r.Share() != 0 {
		t.Errorf("share %v of no views", r.Share())
	}
}

func TestViewsThatCannotBeUsed(t *testing.T) {
	if views, err := Views(t.TempDir()); err != nil || views != nil {
		t.Errorf("none: %v, %v", views, err)
	}
	for name, content := range map[string]string{
		"no JSON": "x", "too many": "[" + strings.Repeat(`{"exhibit":"a","picture":"b"},`, maxKept) + `{"exhibit":"a","picture":"b"}]`,
		"no exhibit": `[{"picture":"b"}]`, "no picture": `[{"exhibit":"a"}]`, "a number below 0": `[{"exhibit":"a","picture":"b","view":-1}]`,
		"too long": `["` + strings.Repeat("x", maxViewsFile) + `"]`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, viewsFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if views, err := Views(dir); err == nil {
			t.Errorf("%s: %v", name, views)
		}
	}
}

func FuzzViews(f *testing.F) {
	f.Add([]byte(`[{"exhibit":"a","picture":"b.png","view":1}]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		views, err := decodeViews(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(views)
		if err != nil {
			t.Fatal(err)
		}
		same, err := decodeViews(again)
		if err != nil || !cmp.Equal(views, same) {
			t.Errorf("%s is read as %v: %v", again, same, err)
		}
		for _, v := range views {
			if err := v.params().Check(); err != nil {
				t.Errorf("%+v: %v", v, err)
			}
		}
	})
}

func TestPage(t *testing.T) {
	dir, g := rooms(t)
	path := func(f string) string { return filepath.Join(dir, f) }
	report := Report{
		Pictures: 900, Tried: 400, Views: 400, Recognised: 380, Offered: 10, Missed: 8, Wrong: 2, WeakCount: 120, PairsCount: 1,
		Weak: []Weak{
			{Exhibit: "plain", Picture: "plain.png", Few: true, Features: 3, Views: 2, Missed: []View{{Exhibit: "plain", Picture: "plain.png", Number: 1}}},
			{Exhibit: "other", Picture: "other.png", Few: true, Views: 2},
		},
		Pairs: []Pair{{A: "copy", PictureA: "copy.png", B: "original", PictureB: "original.png", Inliers: 99, Unsure: 3, Wrong: []View{{Exhibit: "copy", Picture: "copy.png"}}}},
	}
	for _, language := range []string{"en", "zh"} {
		var b bytes.Buffer
		if err := WritePage(&b, g, report, path, language); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		more := map[string]string{"en": "and 118 more", "zh": "另有 118 项"}[language]
		for _, want := range []string{`<html lang="` + language + `"`, g.Exhibits[1].Title[language], more, "95 %", "900", `class="bad"`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", language, want)
			}
		}
		if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "http:") || strings.Contains(page, "https:") || strings.Contains(page, "<script") {
			t.Errorf("%s: the page is not self-contained", language)
		}
		if n := strings.Count(page, "data:image/jpeg;base64,"); n != 5 {
			t.Errorf("%s: %d pictures, want 2 that are hard to recognise, a view of one, and 2 that are alike", language, n)
		}
		if len(page) > 2<<20 {
			t.Errorf("%s: the page has %d bytes", language, len(page))
		}
	}
}
