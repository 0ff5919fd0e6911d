package kiosk

import (
	"bytes"
	"image"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/localindex"
)

func TestGalleryRoutes(t *testing.T) {
	h := open(t)
	var g map[string]any
	h.get("/api/v1/gallery").json(t, &g)
	release := g["release"].(map[string]any)["id"].(string)
	delete(g, "release")
	delete(g, "features") // of the machine
	bowl, fan := "/api/v1/pictures/blue-bowl.png?v="+release, "/api/v1/pictures/red%20fan.png?v="+release
	want := map[string]any{
		"id": "tiny", "name": map[string]any{"en": "Tiny Gallery", "zh": "小展馆"}, "languages": []any{"en", "zh"}, "default_language": "en",
		"halls": []any{map[string]any{
			"id": "one", "name": map[string]any{"en": "Hall One", "zh": "一号厅"}, "floor": 1.0,
			"outline": []any{[]any{0.0, 0.0}, []any{9.0, 0.0}, []any{9.0, 9.0}, []any{0.0, 9.0}},
		}},
		"kiosk": map[string]any{"id": "door", "hall": "one", "at": []any{1.0, 2.0}}, "camera": "none",
		"attract": []any{map[string]any{"en": "Touch me", "zh": "请触摸"}}, "pictures": []any{fan, bowl}, "idle_seconds": 60.0,
	}
	if d := cmp.Diff(want, g); d != "" {
		// Exhibits come in the order of the release.
		want["pictures"] = []any{bowl, fan}
		if cmp.Diff(want, g) != "" {
			t.Errorf("gallery (-want +got)\n%s", d)
		}
	}

	var list struct{ Exhibits []exhibitCard }
	for _, tt := range []struct{ query, want string }{
		{"?lang=en", "The Blue Bowl, The Red Fan"},
		{"?lang=zh", "蓝碗, 红扇"},
		{"?lang=fr", "The Blue Bowl, The Red Fan"},
		{"?lang=en&q=101", "The Red Fan"},
		{"?lang=zh&q=PAINTER", "红扇"},
		{"?lang=en&q=cobalt", "The Blue Bowl"},
		{"?lang=en&q=silk", "The Red Fan"},
		{"?lang=zh&q=%E9%B9%A4", "红扇"},
		{"?lang=en&q=zzzz", ""},
	} {
		h.get("/api/v1/exhibits"+tt.query).json(t, &list)
		titles := map[string]bool{}
		for _, e := range list.Exhibits {
			titles[e.Title] = true
		}
		wanted := map[string]bool{}
		for _, s := range strings.Split(tt.want, ", ") {
			if s != "" {
				wanted[s] = true
			}
		}
		if !maps.Equal(titles, wanted) {
			t.Errorf("exhibits%s: %v, want %v", tt.query, titles, wanted)
		}
	}
	h.get("/api/v1/exhibits", "Accept-Language", "zh-CN,zh;q=0.9,en;q=0.8").json(t, &list)
	if list.Exhibits[0].Title == "The Blue Bowl" || list.Exhibits[0].Title == "The Red Fan" {
		t.Errorf("a Chinese browser gets %q", list.Exhibits[0].Title)
	}

	var e exhibitDetail
	h.get("/api/v1/exhibits/red-fan?lang=zh").json(t, &e)
	if e.Title != "红扇" || e.Label != "101" || e.PictureAlt != "绢上的红扇" || len(e.Sections) == 0 || e.Sections[0].Language != "zh" ||
		len(e.Sources) != 1 || len(e.Related) != 1 || e.Related[0].Title != "蓝碗" || len(e.Pictures) != 1 || e.Pictures[0].Width != 800 {
		t.Errorf("exhibit %+v", e)
	}
	wantProblem(t, h.get("/api/v1/exhibits/nothing"), http.StatusNotFound, codeNoSuchExhibit)
	wantProblem(t, h.get("/api/v1/exhibits?q="+strings.Repeat("x", maxSearch+1)), http.StatusBadRequest, codeBadRequest)

	section := e.Sections[0].ID
	passage := h.release(t).SectionPassages(section)[0]
	var p struct {
		ID, Text  string
		Section   struct{ ID, Heading, Language string }
		Exhibit   *exhibitCard
		Published []struct{ Title, URL string }
	}
	escaped := strings.NewReplacer("/", "%2F", "#", "%23").Replace(passage.ID)
	h.get("/api/v1/passages/"+escaped+"?lang=zh").json(t, &p)
	if p.ID != passage.ID || p.Text != passage.Text || p.Section.ID != section || p.Exhibit == nil || p.Exhibit.Title != "红扇" ||
		len(p.Published) != 1 || p.Published[0].URL != "https://example.org/c" {
		t.Errorf("passage %+v", p)
	}
	wantProblem(t, h.get("/api/v1/passages/none"), http.StatusNotFound, codeNotFound)

	var v venueView
	h.get("/api/v1/venue?lang=zh").json(t, &v)
	if v.Address != "主街1号" || len(v.Hours) != 1 || len(v.Rules) != 1 || v.Rules[0] != "请勿使用闪光灯" || v.Tickets == nil {
		t.Errorf("venue %+v", v)
	}
}

// release is the current one.
func (h *house) release(t *testing.T) *localindex.Release {
	t.Helper()
	content, giveBack, ok := h.shelf.take()
	if !ok {
		t.Fatal("no content")
	}
	defer giveBack()
	return content.release
}

func TestPictures(t *testing.T) {
	h := open(t)
	id := h.release(t).Manifest().ID
	for _, tt := range []struct {
		path, typ, cache string
		size             image.Point
	}{
		{"/api/v1/pictures/red%20fan.png", "image/png", "no-cache", image.Pt(800, 600)},
		{"/api/v1/pictures/pictures/red%20fan.png?v=" + id, "image/png", "public, max-age=31536000, immutable", image.Pt(800, 600)},
		{"/api/v1/pictures/blue-bowl.png?w=320&v=" + id, "image/jpeg", "public, max-age=31536000, immutable", image.Pt(320, 240)},
		{"/api/v1/pictures/blue-bowl.png?w=1280&v=older", "image/jpeg", "no-cache", image.Pt(800, 600)},
	} {
		r := h.get(tt.path)
		conf, _, err := image.DecodeConfig(bytes.NewReader(r.body))
		if err != nil || r.status != http.StatusOK {
			t.Errorf("%s: %d, %v", tt.path, r.status, err)
			continue
		}
		got := []any{r.header.Get("Content-Type"), r.header.Get("Cache-Control"), conf.Width, conf.Height}
		if d := cmp.Diff([]any{tt.typ, tt.cache, tt.size.X, tt.size.Y}, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", tt.path, d)
		}
		if again := h.get(tt.path, "If-None-Match", r.header.Get("ETag")); again.status != http.StatusNotModified || len(again.body) != 0 {
			t.Errorf("%s, asked again: %d with %d bytes", tt.path, again.status, len(again.body))
		}
	}
	for _, path := range []string{"none.png", "..%2Fmanifest.json", "../manifest.json", "manifest.json", "%2e%2e/%2e%2e/etc/passwd", ""} {
		wantProblem(t, h.get("/api/v1/pictures/"+path), http.StatusNotFound, codeNotFound)
	}
	for _, w := range []string{"0", "321", "-320", "x", "99999999999999999999"} {
		wantProblem(t, h.get("/api/v1/pictures/blue-bowl.png?w="+w), http.StatusBadRequest, codeBadRequest)
	}
	if r := h.do(http.MethodHead, "/api/v1/pictures/blue-bowl.png", "", nil); r.status != http.StatusOK || len(r.body) != 0 {
		t.Errorf("HEAD: %d with %d bytes", r.status, len(r.body))
	}
}
