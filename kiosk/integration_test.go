package kiosk

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	jpegs "image/jpeg"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"docent/agent"
	"docent/localindex"
	"docent/localindex/release"
	"docent/localindex/sample"
	"docent/vision"
	"docent/vision/camera"
	"docent/vision/label"
	"docent/vision/synthetic"
)

// sampleGallery is a folder with the sample's authoring folder and its release, drawn and packed once for all tests.
var sampleGallery = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(workshop, "sample")
	source := filepath.Join(dir, "gallery")
	if err := sample.Write(context.Background(), source); err != nil {
		return dir, err
	}
	_, problems, err := localindex.Build(context.Background(), source, filepath.Join(dir, "release"),
		localindex.Options{Number: 1, Parts: []release.Part{vision.IndexPart{}}})
	if err != nil {
		return dir, fmt.Errorf("%w: %v", err, problems)
	}
	return dir, nil
})

// openSample opens a kiosk with the sample gallery, its recogniser and its guide; nothing is scripted.
func openSample(t *testing.T, change func(*Options)) (h *house, source string) {
	t.Helper()
	if testing.Short() {
		t.Skip("draws and packs the sample gallery, which takes a minute")
	}
	dir, err := sampleGallery()
	if err != nil {
		t.Fatal(err)
	}
	r, err := localindex.Open(t.Context(), filepath.Join(dir, "release"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	recogniser, err := vision.Open(r.PartDir(vision.IndexPart{}.Name()), vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recogniser.Close() })
	return open(t, func(o *Options) {
		o.Release, o.Recogniser, o.Guide = r, recogniser, agent.New(agent.Options{})
		change(o)
	}), filepath.Join(dir, "gallery")
}

// TestVisitToTheSampleGallery goes the whole way with nothing scripted: the sample gallery, its recognition index, a
// camera that shows a rendered visitor's photo, the guide, and HTTP.
func TestVisitToTheSampleGallery(t *testing.T) {
	const exhibit = "penrose-tiling"
	photos := filepath.Join(t.TempDir(), "photos")
	var shot string
	var cam *camera.Camera
	h, _ := openSample(t, func(o *Options) {
		path, _ := o.Release.PicturePath("pictures/" + exhibit + ".png")
		shot = renderPhoto(t, path, photos)
		cam = camera.Start(camera.Options{Open: func() (camera.Source, error) { return camera.Open(photos, camera.Settings{}) }})
		t.Cleanup(func() { cam.Close() })
		o.Camera = cam
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

// TestPhotosFromEverySide sends one visitor's photo as phones do: turned by quarters, as pixels and as a note in the
// file, and as JPEG, PNG and WebP.
func TestPhotosFromEverySide(t *testing.T) {
	const exhibit = "hilbert-curve"
	h, source := openSample(t, func(*Options) {})
	shot := gocv.IMRead(renderPhoto(t, filepath.Join(source, "pictures", exhibit+".png"), filepath.Join(t.TempDir(), "photos")), gocv.IMReadColor)
	defer shot.Close()
	visit := h.startVisit("en")
	check := func(name string, file []byte, width, height int) {
		t.Helper()
		a := h.photoAnswer(h.photo(visit, file))
		if a.Decision != vision.DecisionMatch || a.Candidates[0].Exhibit.ID != exhibit {
			t.Errorf("%s: %+v", name, a)
			return
		}
		if a.Photo.Width != width || a.Photo.Height != height {
			t.Errorf("%s: the photo is kept as %d × %d, want %d × %d", name, a.Photo.Width, a.Photo.Height, width, height)
		}
		if corners := a.Candidates[0].Outline; len(corners) != 4 || !around(corners, [2]float64{.5, .5}) {
			t.Errorf("%s: outline %v", name, corners)
		}
	}
	w, hgt := shot.Cols(), shot.Rows()
	for quarters, flag := range []gocv.RotateFlag{-1, gocv.Rotate90Clockwise, gocv.Rotate180Clockwise, gocv.Rotate90CounterClockwise} {
		turned := gocv.NewMat()
		if flag < 0 {
			shot.CopyTo(&turned)
		} else {
			gocv.Rotate(shot, &turned, flag)
		}
		tw, th := turned.Cols(), turned.Rows()
		jpeg := encoded(t, gocv.JPEGFileExt, turned)
		check(fmt.Sprintf("turned by %d quarters", quarters), jpeg, tw, th)
		// The camera was held so that it has to be turned back; the pixels are as the sensor saw them.
		check(fmt.Sprintf("turned by %d quarters, and the file says so", quarters), withOrientation(jpeg, [...]byte{1, 8, 3, 6}[quarters]), w, hgt)
		check(fmt.Sprintf("PNG turned by %d quarters", quarters), encoded(t, gocv.PNGFileExt, turned), tw, th)
		check(fmt.Sprintf("WebP turned by %d quarters", quarters), encoded(t, ".webp", turned), tw, th)
		turned.Close()
	}
	wantProblem(t, h.photo(visit, []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")), 415, codeNotAPicture)
}

// TestPhotoOfALabel draws the label of an exhibit and photographs that instead of the exhibit.
func TestPhotoOfALabel(t *testing.T) {
	reader, err := label.Find(t.Context(), 2*time.Minute)
	if err != nil {
		t.Skipf("needs Debian's tesseract-ocr: %v", err)
	}
	h, _ := openSample(t, func(o *Options) { o.Labels = reader })
	for _, id := range []string{"hilbert-curve", "barnsley-fern"} {
		visit := h.startVisit("en")
		var e exhibitDetail
		h.get("/api/v1/exhibits/"+id+"?lang=en").json(t, &e)
		a := h.photoAnswer(h.photo(visit, drawLabel(t, e.Label, e.Title, e.Maker, e.Date, e.Accession)))
		if a.Decision != vision.DecisionMatch || a.Candidates[0].Exhibit.ID != id || a.By != "label" || a.Timings.Label <= 0 || a.Timings.Total < a.Timings.Label {
			t.Errorf("the label of %s: %+v", id, a)
		}
		if seen := h.events.wantTypes(t, "exhibit.seen")[0].Data; seen["by"] != "label" {
			t.Errorf("event %v", seen)
		}
	}
	visit := h.startVisit("en")
	if a := h.photoAnswer(h.photo(visit, drawLabel(t, "Fire exit", "Please keep this door clear", "Notausgang"))); a.Decision != vision.DecisionUnknown {
		t.Errorf("a sign: %+v", a)
	}
}

// drawLabel is a photo of a card with these lines.
func drawLabel(t *testing.T, lines ...string) []byte {
	t.Helper()
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewRGBA(image.Rect(0, 0, 1280, 960))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{140, 120, 110, 255}), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(200, 200, 1100, 760), image.NewUniform(color.RGBA{240, 238, 230, 255}), image.Point{}, draw.Src)
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 36, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		d := font.Drawer{Dst: img, Src: image.NewUniform(color.RGBA{30, 30, 30, 255}), Face: face, Dot: fixed.P(260, 290+80*i)}
		d.DrawString(line)
	}
	var b bytes.Buffer
	if err := jpegs.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encoded(t *testing.T, ext gocv.FileExt, img gocv.Mat) []byte {
	t.Helper()
	b, err := gocv.IMEncode(ext, img)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	return bytes.Clone(b.GetBytes())
}

// withOrientation puts an EXIF block with an orientation into a JPEG.
func withOrientation(jpeg []byte, orientation byte) []byte {
	exif := []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	exif[len(exif)-7] = orientation
	return slices.Concat(jpeg[:2], exif, jpeg[2:])
}

// around says whether a point lies within a convex outline.
func around(corners [][2]float64, p [2]float64) bool {
	sides := 0
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		if (b[0]-a[0])*(p[1]-a[1])-(b[1]-a[1])*(p[0]-a[0]) > 0 {
			sides++
		}
	}
	return sides == len(corners) || sides == 0
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
