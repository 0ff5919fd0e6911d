package kiosk

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/kiosk/speech"
)

func (h *house) refused(path string, body map[string]any, status int, code code) {
	h.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	wantProblem(h.t, h.do(http.MethodPost, path, "application/json", data), status, code)
}

func TestLanguageOfAVisitUnderWay(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	h.post("/api/v1/visit/exhibit", map[string]string{"visit": visit, "exhibit": "red-fan"}, http.StatusOK)
	h.post("/api/v1/visit/language", map[string]string{"visit": visit, "language": "zh"}, http.StatusNoContent)
	v, err := h.visits.Get(visit)
	if err != nil || v.Language != "zh" || v.Exhibit != "red-fan" || len(v.Seen) != 1 {
		t.Errorf("visit %+v, %v", v, err)
	}
	var e exhibitDetail
	h.post("/api/v1/visit/exhibit", map[string]string{"visit": visit, "exhibit": "blue-bowl"}, http.StatusOK).json(t, &e)
	if e.Title != "蓝碗" || e.At != [2]float64{4, 2} {
		t.Errorf("%q at %v", e.Title, e.At)
	}
	h.refused("/api/v1/visit/language", map[string]any{"visit": visit, "language": "fr"}, http.StatusBadRequest, codeBadRequest)
	h.refused("/api/v1/visit/language", map[string]any{"visit": "nobody", "language": "en"}, http.StatusNotFound, codeNoSuchVisit)
}

func TestLevelOfAVisit(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	h.post("/api/v1/visit/level", map[string]string{"visit": visit, "level": "child"}, http.StatusNoContent)
	if v, err := h.visits.Get(visit); err != nil || v.Level != "child" {
		t.Errorf("level %q, %v", v.Level, err)
	}
	h.refused("/api/v1/visit/level", map[string]any{"visit": visit, "level": "king"}, http.StatusBadRequest, codeBadRequest)
	h.refused("/api/v1/visit/level", map[string]any{"visit": "nobody", "level": "child"}, http.StatusNotFound, codeNoSuchVisit)
}

func TestFeedback(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	v, err := h.visits.Get(visit)
	if err != nil {
		t.Fatal(err)
	}
	passage := h.shelf.current.release.SectionPassages("red-fan/en/1")[0].ID
	h.post("/api/v1/feedback", map[string]any{"kind": "answer", "visit": visit, "exhibit": "red-fan", "sources": []string{passage}, "helpful": true}, http.StatusNoContent)
	h.post("/api/v1/feedback", map[string]any{"kind": "survey", "language": "zh", "found": "partly"}, http.StatusNoContent)
	want := []recorded{
		{"feedback.given", map[string]any{"visit": v.Name(), "exhibit": "red-fan", "sources": []any{passage}, "helpful": true}},
		{"survey.answered", map[string]any{"language": "zh", "found": "partly"}},
	}
	if d := cmp.Diff(want, h.events.take()); d != "" {
		t.Errorf("memory events (-want +got)\n%s", d)
	}
	many := make([]string, maxFeedbackSources+1)
	for name, body := range map[string]map[string]any{
		"no kind":          {"visit": visit},
		"too many sources": {"kind": "answer", "visit": visit, "sources": many},
		"no such passage":  {"kind": "answer", "visit": visit, "sources": []string{"x"}},
		"no opinion":       {"kind": "survey", "language": "en"},
		"another opinion":  {"kind": "survey", "language": "en", "found": "perhaps"},
		"another language": {"kind": "survey", "language": "fr", "easy": "yes"},
	} {
		t.Run(name, func(t *testing.T) { h.refused("/api/v1/feedback", body, http.StatusBadRequest, codeBadRequest) })
	}
	h.refused("/api/v1/feedback", map[string]any{"kind": "answer", "visit": "nobody"}, http.StatusNotFound, codeNoSuchVisit)
	if events := h.events.take(); len(events) != 0 {
		t.Errorf("refused, and remembered: %v", events)
	}
}

func TestBucket(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	b := newBucket(2, time.Second)
	got := []bool{b.allow(now), b.allow(now), b.allow(now), b.allow(now.Add(time.Second)), b.allow(now.Add(time.Second)), b.allow(now.Add(-time.Hour))}
	if d := cmp.Diff([]bool{true, true, false, true, false, false}, got); d != "" {
		t.Error(d)
	}
}

func TestSpeech(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	say := func(visit, lang, text string) reply {
		return h.get("/api/v1/speech?" + url.Values{"visit": {visit}, "lang": {lang}, "text": {text}}.Encode())
	}
	wantProblem(t, say("nobody", "en", "Hello"), http.StatusNotFound, codeNoSuchVisit)
	var g struct{ Features struct{ Speech []string } }
	h.get("/api/v1/gallery").json(t, &g)
	if h.voice == nil {
		if len(g.Features.Speech) != 0 {
			t.Errorf("no voice, and it speaks %v", g.Features.Speech)
		}
		wantProblem(t, say(visit, "en", "Hello"), http.StatusNotFound, codeNotFound)
		t.Skip("espeak-ng is not installed")
	}
	if d := cmp.Diff([]string{"en", "zh"}, g.Features.Speech); d != "" {
		t.Error(d)
	}
	r := say(visit, "zh", "黄金角")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "audio/wav" || r.header.Get("Cache-Control") != "no-store" || len(r.body) < 1000 {
		t.Errorf("status %d, %v, %d bytes", r.status, r.header, len(r.body))
	}
	wantProblem(t, say(visit, "en", ""), http.StatusBadRequest, codeBadRequest)
	wantProblem(t, say(visit, "en", strings.Repeat("a", speech.MaxText+1)), http.StatusBadRequest, codeBadRequest)
}
