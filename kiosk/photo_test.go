package kiosk

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/vision"
	"docent/vision/camera"
)

// lens is a camera that shows one picture.
type lens struct {
	state camera.State
	err   error
	jpeg  []byte
	taken int
	n     int
}

func (l *lens) Health() camera.Health {
	h := camera.Health{State: l.state, Since: time.Unix(1e9, 0), Opened: 3}
	if l.state == camera.StateAlert {
		h.Trouble = "no frame came"
	}
	return h
}

func (l *lens) Quality(ctx context.Context) (<-chan camera.Quality, error) {
	if l.err != nil {
		return nil, l.err
	}
	seen := make(chan camera.Quality)
	go func() {
		defer close(seen)
		for i := range 4 {
			q := camera.Quality{Advice: vision.AdviceBlurred, Sharpness: 12.345, Steady: float64(i) / 3, Still: i == 3}
			select {
			case seen <- q:
			case <-ctx.Done():
				return
			}
		}
	}()
	return seen, nil
}

func (l *lens) Burst(_ context.Context, n int) (vision.Photo, error) {
	if l.err != nil {
		return vision.Photo{}, l.err
	}
	l.taken++
	l.n = n
	return vision.Decode(l.jpeg)
}

func (l *lens) Preview(ctx context.Context) (<-chan []byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	frames := make(chan []byte)
	go func() {
		defer close(frames)
		for {
			select {
			case frames <- l.jpeg:
			case <-ctx.Done():
				return
			}
		}
	}()
	return frames, nil
}

func (h *house) photoAnswer(r reply) photoAnswer {
	h.t.Helper()
	if r.status != http.StatusOK {
		h.t.Fatalf("photo: %d %s", r.status, r.body)
	}
	var a photoAnswer
	r.json(h.t, &a)
	return a
}

func TestPhotoOfAKnownExhibit(t *testing.T) {
	h := open(t)
	h.recogniser.set(match("red-fan"), nil)
	visit := h.startVisit("zh")
	file := board(color.RGBA{200, 0, 0, 255}, 2000, 1000)
	a := h.photoAnswer(h.photo(visit, file))
	if a.Decision != vision.DecisionMatch || a.Advice != "" || len(a.Candidates) != 1 || a.Candidates[0].Exhibit.Title != "红扇" ||
		a.Candidates[0].Inliers != 41 || len(a.Candidates[0].Outline) != 4 || a.Candidates[0].Outline[2] != [2]float64{.9, 1.1} {
		t.Errorf("answer %+v", a)
	}
	if a.Timings.Features != 20 || a.Timings.Total < 30 || a.Timings.Decode <= 0 || a.Timings.Capture != 0 {
		t.Errorf("timings %+v", a.Timings)
	}
	events := h.events.wantTypes(t, "exhibit.seen")
	seen := events[0].Data
	name := seen["visit"].(string)
	delete(seen, "visit")
	if d := cmp.Diff(map[string]any{"exhibit": "red-fan", "decision": "match", "confidence": .97, "by": "photo"}, seen); d != "" {
		t.Errorf("event (-want +got)\n%s", d)
	}
	if name == "" || strings.Contains(visit, name) {
		t.Errorf("the event names the visit %q, whose id is %q", name, visit)
	}

	r := h.get(a.Photo.URL)
	conf, _, err := image.DecodeConfig(bytes.NewReader(r.body))
	if err != nil || conf.Width != a.Photo.Width || conf.Height != a.Photo.Height || conf.Width != photoSide {
		t.Errorf("photo of %d × %d, answer says %+v: %v", conf.Width, conf.Height, a.Photo, err)
	}
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("photo headers %v", r.header)
	}
	other := h.startVisit("en")
	wantProblem(t, h.get(strings.Replace(a.Photo.URL, visit, other, 1)), 404, codeNotFound)

	for range photosPerVisit {
		h.photoAnswer(h.photo(visit, file))
	}
	wantProblem(t, h.get(a.Photo.URL), 404, codeNotFound)
	last := h.photoAnswer(h.photo(visit, file))
	h.post("/api/v1/visit/end", map[string]string{"visit": visit}, http.StatusNoContent)
	wantProblem(t, h.get(last.Photo.URL), 404, codeNoSuchVisit)
	if h.photos.bytes != 0 || len(h.photos.photos) != 0 {
		t.Errorf("%d bytes of %d photos are left of the visit", h.photos.bytes, len(h.photos.photos))
	}
}

func TestPhotoToChooseFrom(t *testing.T) {
	h := open(t)
	two := match("red-fan")
	two.Decision = vision.DecisionChoose
	two.Candidates = append(two.Candidates, vision.Candidate{ExhibitID: "blue-bowl", Confidence: .4}, vision.Candidate{ExhibitID: "gone"})
	h.recogniser.set(two, nil)
	visit := h.startVisit("en")
	a := h.photoAnswer(h.photo(visit, board(color.RGBA{0, 0, 0, 255}, 300, 300)))
	if a.Decision != vision.DecisionChoose || len(a.Candidates) != 2 || a.Candidates[1].Outline != nil {
		t.Errorf("answer %+v", a)
	}
	h.events.wantTypes(t)
	var e exhibitDetail
	h.post("/api/v1/visit/exhibit", map[string]string{"visit": visit, "exhibit": "blue-bowl"}, http.StatusOK).json(t, &e)
	if e.Title != "The Blue Bowl" {
		t.Errorf("exhibit %+v", e)
	}
	seen := h.events.wantTypes(t, "exhibit.seen")[0].Data
	if seen["by"] != "choice" || seen["decision"] != "choose" || seen["confidence"] != .4 {
		t.Errorf("event %v", seen)
	}
	// Without a card of it, the same pick is browsing.
	other := h.startVisit("en")
	h.post("/api/v1/visit/exhibit", map[string]string{"visit": other, "exhibit": "blue-bowl"}, http.StatusOK)
	if seen := h.events.wantTypes(t, "exhibit.seen")[0].Data; seen["by"] != "browse" || seen["decision"] != nil {
		t.Errorf("event %v", seen)
	}
}

func TestPhotoOfSomethingUnknown(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	for name, r := range map[string]vision.Recognition{
		"unknown":                   {Decision: vision.DecisionUnknown},
		"only of an older release":  match("gone"),
		"unknown with a weak guess": {Decision: vision.DecisionUnknown, Candidates: match("red-fan").Candidates},
	} {
		h.recogniser.set(r, nil)
		a := h.photoAnswer(h.photo(visit, board(color.RGBA{250, 250, 250, 255}, 300, 300)))
		if a.Decision != vision.DecisionUnknown || a.Candidates == nil || a.Advice == vision.AdviceNone {
			t.Errorf("%s: %+v", name, a)
		}
		h.events.wantTypes(t, "photo.unknown")
	}
}

func TestPhotoThatCannotBeRecognised(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	file := board(color.RGBA{0, 0, 0, 255}, 300, 300)
	h.recogniser.set(vision.Recognition{}, errors.New("index broken at /var/lib/docent"))
	p := wantProblem(t, h.photo(visit, file), 500, codeInternal)
	if strings.Contains(p.Detail+p.Reason+p.Title, "/var/lib") {
		t.Errorf("a visitor reads %+v", p)
	}
	h.recogniser.set(match("red-fan"), nil)
	h.photoAnswer(h.photo(visit, file))
}

func TestPhotosAtOnceAreBounded(t *testing.T) {
	h := open(t, func(o *Options) { o.Config.Limits.Recognitions = 1 })
	visit := h.startVisit("en")
	h.recognitions <- struct{}{} // somebody else's photo, which takes long
	began := time.Now()
	r := h.photo(visit, board(color.RGBA{0, 0, 0, 255}, 300, 300))
	wantProblem(t, r, 503, codeBusy)
	if r.header.Get("Retry-After") == "" || time.Since(began) < slotWait {
		t.Errorf("refused after %v with Retry-After %q", time.Since(began), r.header.Get("Retry-After"))
	}
	<-h.recognitions
	h.recogniser.set(match("red-fan"), nil)
	h.photoAnswer(h.photo(visit, board(color.RGBA{0, 0, 0, 255}, 300, 300)))
}

func TestPhotoFromTheCamera(t *testing.T) {
	l := &lens{state: camera.StateReady, jpeg: board(color.RGBA{200, 0, 0, 255}, 640, 480)}
	h := open(t, func(o *Options) { o.Camera, o.Config.Camera.Burst = l, 4 })
	h.recogniser.set(match("red-fan"), nil)
	visit := h.startVisit("en")
	a := h.photoAnswer(h.do(http.MethodPost, "/api/v1/photo?visit="+visit, "", nil))
	if a.Decision != vision.DecisionMatch || a.Photo.Width != 640 || a.Timings.Decode != 0 || a.Timings.Capture <= 0 || l.taken != 1 || l.n != 4 {
		t.Errorf("answer %+v after %d bursts of %d", a, l.taken, l.n)
	}
	h.events.take()
	for _, err := range []error{camera.ErrNotReady, camera.ErrClosed, context.DeadlineExceeded} {
		l.err = err
		wantProblem(t, h.do(http.MethodPost, "/api/v1/photo?visit="+visit, "", nil), 503, codeNoCamera)
	}
	l.err = camera.ErrBusy
	wantProblem(t, h.get("/api/v1/preview"), 503, codeBusy)
	var g struct{ Camera string }
	l.state = camera.StateAlert
	h.get("/api/v1/gallery").json(t, &g)
	if g.Camera != "alert" {
		t.Errorf("gallery says the camera is %q", g.Camera)
	}
	var ready map[string]any
	h.get("/readyz").json(t, &ready)
	if ready["camera"] != "alert" || ready["camera_trouble"] != "no frame came" || ready["camera_opened"] != 3.0 || ready["camera_since"] != "2001-09-09T01:46:40Z" {
		t.Errorf("readyz says %v", ready)
	}
	if m := string(h.get("/metrics").body); !strings.Contains(m, "docent_camera_opened_total 3") || !strings.Contains(m, "docent_camera_ready 0") {
		t.Error("metrics do not tell of the camera")
	}
	h.events.wantTypes(t)
}

func TestLiveQuality(t *testing.T) {
	l := &lens{state: camera.StateReady}
	h := open(t, func(o *Options) { o.Camera = l })
	r := h.get("/api/v1/preview/quality")
	if r.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("type %s", r.header.Get("Content-Type"))
	}
	var got []string
	for line := range strings.SplitSeq(string(r.body), "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			got = append(got, data)
		}
	}
	want := []string{
		`{"advice":"blurred","still":false,"steady":0,"sharpness":12.3}`, `{"advice":"blurred","still":false,"steady":0.33,"sharpness":12.3}`,
		`{"advice":"blurred","still":false,"steady":0.67,"sharpness":12.3}`, `{"advice":"blurred","still":true,"steady":1,"sharpness":12.3}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events (-want +got)\n%s", d)
	}
	l.err = camera.ErrNotReady
	wantProblem(t, h.get("/api/v1/preview/quality"), 503, codeNoCamera)
	wantProblem(t, open(t).get("/api/v1/preview/quality"), 503, codeNoCamera)
}

func TestPhotoShelfIsBounded(t *testing.T) {
	s := newPhotoShelf(1000)
	first := s.put("a", make([]byte, 400))
	s.put("b", make([]byte, 400))
	s.put("c", make([]byte, 400)) // over 1,000 bytes: the oldest goes
	if _, ok := s.get("a", first); ok || s.bytes != 800 {
		t.Errorf("%d bytes kept", s.bytes)
	}
	if id := s.put("d", make([]byte, 2000)); len(s.photos) != 0 || s.bytes != 0 {
		t.Errorf("a photo larger than the shelf: %d photos, %s", len(s.photos), id)
	}
	for range photosAtOnce + 5 {
		s.put(t.Name()+string(rune(len(s.photos))), []byte{1})
	}
	if len(s.photos) > photosAtOnce || s.bytes != len(s.photos) {
		t.Errorf("%d photos, %d bytes", len(s.photos), s.bytes)
	}
}

func FuzzPhotoField(f *testing.F) {
	typ, body := upload([]byte("a photo"))
	f.Add(typ, body)
	f.Add("multipart/form-data; boundary=b", []byte("--b\r\nContent-Disposition: form-data; name=\"photo\"\r\n\r\nx\r\n--b--"))
	f.Add("multipart/form-data; boundary=\"\"", []byte("--\r\n\r\n"))
	f.Fuzz(func(t *testing.T, typ string, body []byte) {
		data, err := photoField(typ, body)
		var p *problem
		if err != nil && (!errors.As(err, &p) || p.status < 400 || p.status >= 500) {
			t.Errorf("not a refusal: %v", err)
		}
		if len(data) > len(body) {
			t.Errorf("%d bytes out of %d", len(data), len(body))
		}
	})
}
