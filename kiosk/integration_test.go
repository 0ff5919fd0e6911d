package kiosk

import (
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"docent/agent"
	"docent/localindex"
	"docent/localindex/release"
	"docent/localindex/sample"
	"docent/vision"
	"docent/vision/camera"
	"docent/vision/synthetic"
)

// TestVisitToTheSampleGallery goes the whole way with nothing scripted: the sample gallery, its recognition index, a
// camera that shows a rendered visitor's photo, the guide, and HTTP.
func TestVisitToTheSampleGallery(t *testing.T) {
	if testing.Short() {
		t.Skip("draws and packs the sample gallery, which takes a minute")
	}
	const exhibit = "penrose-tiling"
	dir := t.TempDir()
	source, packed := filepath.Join(dir, "gallery"), filepath.Join(dir, "release")
	if err := sample.Write(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	_, problems, err := localindex.Build(t.Context(), source, packed, localindex.Options{Number: 1, Parts: []release.Part{vision.IndexPart{}}})
	if err != nil {
		t.Fatalf("%v: %v", err, problems)
	}
	r, err := localindex.Open(t.Context(), packed)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	recogniser, err := vision.Open(r.PartDir(vision.IndexPart{}.Name()), vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer recogniser.Close()
	photos := filepath.Join(dir, "photos")
	shot := renderPhoto(t, filepath.Join(source, "pictures", exhibit+".png"), photos)
	cam := camera.Start(camera.Options{Open: func() (camera.Source, error) { return camera.Open(photos, camera.Settings{}) }})
	defer cam.Close()

	h := open(t, func(o *Options) {
		o.Release, o.Recogniser, o.Camera, o.Guide = r, recogniser, cam, agent.New(agent.Options{})
	})
	for deadline := time.Now().Add(time.Minute); cam.State() != camera.StateReady; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the camera is in %s", cam.State())
		}
	}

	for lang, want := range map[string]struct{ title, question, word string }{
		"en": {"Penrose tiling", "Who was Roger Penrose?", "Penrose"},
		"zh": {"彭罗斯", "这是谁发现的？", "彭罗斯"},
	} {
		visit := h.startVisit(lang)
		a := h.photoAnswer(h.do(http.MethodPost, "/api/v1/photo?visit="+visit, "", nil))
		if a.Decision != vision.DecisionMatch || a.Candidates[0].Exhibit.ID != exhibit || !strings.Contains(a.Candidates[0].Exhibit.Title, want.title) {
			t.Fatalf("photo: %+v", a)
		}
		if len(a.Candidates[0].Outline) != 4 || a.Timings.Total <= 0 || a.Advice != "" {
			t.Errorf("photo: %+v", a)
		}
		h.events.wantTypes(t, "exhibit.seen")

		_, stream := h.ask(t.Context(), map[string]any{"visit": visit, "explain": true})
		explained, sources := answer(t, allEvents(t, stream))
		if len([]rune(explained)) < 80 || len(sources) == 0 || !strings.Contains(explained, "[1]") {
			t.Errorf("%s: explained with %d sources: %s", lang, len(sources), explained)
		}
		_, stream = h.ask(t.Context(), map[string]any{"visit": visit, "question": want.question})
		answered, sources := answer(t, allEvents(t, stream))
		if !strings.Contains(answered, want.word) || len(sources) == 0 {
			t.Errorf("%s: answered with %d sources: %s", lang, len(sources), answered)
		}
		for _, s := range sources {
			escaped := strings.NewReplacer("/", "%2F", "#", "%23").Replace(s.Passage)
			var p struct{ Text string }
			h.get("/api/v1/passages/"+escaped).json(t, &p)
			if p.Text == "" || p.Text != s.Quote {
				t.Errorf("%s: passage %s reads %q, was quoted as %q", lang, s.Passage, p.Text, s.Quote)
			}
		}
		h.events.wantTypes(t, "question.answered")
		h.post("/api/v1/visit/end", map[string]string{"visit": visit}, http.StatusNoContent)
		h.events.wantTypes(t, "visit.ended")
	}

	// The same by upload from a phone, and something that is not in the gallery.
	visit := h.startVisit("en")
	file, err := os.ReadFile(shot)
	if err != nil {
		t.Fatal(err)
	}
	if a := h.photoAnswer(h.photo(visit, file)); a.Decision != vision.DecisionMatch || a.Candidates[0].Exhibit.ID != exhibit {
		t.Errorf("upload: %+v", a)
	}
	strange, err := synthetic.Distractor(rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := vision.NewPhoto(strange, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	defer unknown.Close()
	jpeg, err := unknown.JPEG(0, 90)
	if err != nil {
		t.Fatal(err)
	}
	if a := h.photoAnswer(h.photo(visit, jpeg)); a.Decision == vision.DecisionMatch {
		t.Errorf("a picture of nothing known: %+v", a)
	}
}

// renderPhoto writes a visitor's photo of a picture into dir.
func renderPhoto(t *testing.T, picture, dir string) string {
	t.Helper()
	src := gocv.IMRead(picture, gocv.IMReadColor)
	defer src.Close()
	if src.Empty() {
		t.Fatalf("no picture %s", picture)
	}
	img, _, err := synthetic.Render(src, synthetic.Random(rand.New(rand.NewPCG(1, 2)), synthetic.Easy))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "visitor.jpg")
	if !gocv.IMWrite(path, img) {
		t.Fatal("write photo")
	}
	return path
}

// answer is the text and sources of a turn that ended well.
func answer(t *testing.T, events []agent.Event) (string, []agent.Source) {
	t.Helper()
	text, done := "", false
	var sources []agent.Source
	for _, e := range events {
		text += e.Text
		sources = append(sources, e.Sources...)
		done = done || e.Type == agent.EventDone && e.Done.Answered
	}
	if !done {
		t.Errorf("not answered: %+v", events)
	}
	return text, sources
}
