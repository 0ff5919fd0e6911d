package kiosk

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"docent/kiosk/qr"
)

type taken struct{ QR, Text, Kind string }

func TestTakeAlong(t *testing.T) {
	h := open(t)
	var got taken
	h.get("/api/v1/take/red-fan?lang=en").json(t, &got)
	want := "The Red Fan\nAda Painter, 1888\nTiny Gallery · 101\n\nThe Red Fan was painted on silk by Ada Painter in 1888. It shows three cranes over a river."
	if got.Text != want || got.Kind != "text" || !strings.HasPrefix(got.QR, "<svg") {
		t.Errorf("%s: %q", got.Kind, got.Text)
	}
	h.get("/api/v1/take/red-fan?lang=zh").json(t, &got)
	if !strings.HasPrefix(got.Text, "红扇\n艾达, 1888年\n小展馆 · 101\n\n红扇由") {
		t.Errorf("%q", got.Text)
	}
	wantProblem(t, h.get("/api/v1/take/none"), http.StatusNotFound, codeNoSuchExhibit)
}

func TestTakeAlongAddress(t *testing.T) {
	h := open(t, func(o *Options) { o.Config.TakeAlong = "https://museum.example/{language}/objects/{exhibit}" })
	var got taken
	h.get("/api/v1/take/red-fan?lang=zh").json(t, &got)
	if got.Text != "https://museum.example/zh/objects/red-fan" || got.Kind != "address" {
		t.Errorf("%+v", got)
	}
}

func TestTakeTheVisitAlong(t *testing.T) {
	h := open(t)
	id := h.startVisit("en")
	for _, e := range []string{"blue-bowl", "red-fan"} {
		h.post("/api/v1/visit/exhibit", map[string]string{"visit": id, "exhibit": e}, http.StatusOK)
	}
	var got taken
	h.get("/api/v1/take?lang=en&visit="+id).json(t, &got)
	if want := "Tiny Gallery\n102 The Blue Bowl, Unknown potter\n101 The Red Fan, Ada Painter"; got.Text != want || got.Kind != "text" || !strings.HasPrefix(got.QR, "<svg") {
		t.Errorf("%s: %q", got.Kind, got.Text)
	}
	wantProblem(t, h.get("/api/v1/take?visit=gone"), http.StatusNotFound, codeNoSuchVisit)
	wantProblem(t, h.get("/api/v1/take"), http.StatusNotFound, codeNoSuchVisit)
}

func TestVisitTextFits(t *testing.T) {
	c := newContent(openTiny(t), &scripted{})
	var seen []string
	for range 100 {
		seen = append(seen, "red-fan", "gone", "blue-bowl")
	}
	for n := 0; n < len(seen); n += 7 {
		for _, lang := range []string{"en", "zh"} {
			text := c.visitText(seen[:n], lang)
			if _, err := qr.SVG(text); err != nil {
				t.Fatalf("%d in %s: %v", n, lang, err)
			}
		}
	}
	if text := c.visitText(seen, "en"); !strings.HasSuffix(text, "\n+ 191") {
		t.Errorf("%q", text)
	}
}

func TestFirstSentences(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"One. Two. Three.", 100, "One. Two. Three."},
		{"One. Two. Three.", 10, "One. Two."},
		{"At 137.5 degrees. And so on.", 20, "At 137.5 degrees."},
		{"一。二。三。", 13, "一。二。"},
		{"A single sentence that is too long", 10, ""},
		{"x", 0, ""},
	} {
		if got := firstSentences(tt.text, tt.n); got != tt.want {
			t.Errorf("%q in %d bytes: %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("黄金角", 4)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 0 || n > qr.MaxText || !utf8.ValidString(text) {
			return
		}
		if got := cut(text, n); len(got) > n || !utf8.ValidString(got) || !strings.HasPrefix(text, got) {
			t.Errorf("cut(%q, %d) = %q", text, n, got)
		}
		if got := firstSentences(text, n); len(got) > n || !strings.HasPrefix(text, got) {
			t.Errorf("firstSentences(%q, %d) = %q", text, n, got)
		}
	})
}
