package vision

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"docent/vision/feature"
	"docent/vision/internal/kernel"
	"docent/vision/synthetic"
)

// TestDrawPictures draws the pictures of docs/recognition.md into the folder DOCENT_PICTURES, from the public-domain
// works of DOCENT_DATA.
func TestDrawPictures(t *testing.T) {
	to := os.Getenv("DOCENT_PICTURES")
	dir := filepath.Join(cmp.Or(os.Getenv("DOCENT_DATA"), filepath.Join("..", "..", "shared", "data")), "cc0works", "images")
	if _, err := os.Stat(dir); err != nil || to == "" {
		t.Skip("needs a folder DOCENT_PICTURES and the pictures of DOCENT_DATA")
	}
	work := func(name string) gocv.Mat {
		m := gocv.IMRead(filepath.Join(dir, name+".jpg"), gocv.IMReadColor)
		if m.Empty() {
			t.Fatalf("no picture %s", name)
		}
		return m
	}
	save := func(name string, m gocv.Mat) {
		if !gocv.IMWriteWithParams(filepath.Join(to, name), m, []int{gocv.IMWriteJpegQuality, 82}) {
			t.Fatalf("cannot write %s", name)
		}
		m.Close()
	}
	var refs []Reference
	files, err := filepath.Glob(filepath.Join(dir, "*.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		id := filepath.Base(f[:len(f)-len(filepath.Ext(f))])
		refs = append(refs, Reference{ExhibitID: id, Picture: id, Path: f})
	}
	index := t.TempDir()
	if _, err := BuildIndex(t.Context(), refs, index, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(index, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wave, irises, portrait := work("met-39799"), work("met-436528"), work("met-436532")
	defer wave.Close()
	defer irises.Close()
	defer portrait.Close()

	typical := synthetic.Params{
		Seed: 4, Wall: color.RGBA{196, 190, 180, 255}, Texture: 0.02, Frame: 0.05, Mat: 0.08, FrameColor: color.RGBA{60, 44, 30, 255},
		MatColor: color.RGBA{236, 232, 222, 255}, Shadow: 0.5, Label: true, Fill: 0.85, Yaw: 32, Pitch: 6, Roll: 4, Light: 0.3, LightAngle: 40,
		Vignette: 0.2, Defocus: 0.8, Noise: 3, Glare: 0.5, GlareX: 0.7, GlareY: 0.3, GlareSize: 0.15,
	}
	shot := func(m gocv.Mat, change func(*synthetic.Params)) gocv.Mat {
		p := typical
		if change != nil {
			change(&p)
		}
		photo, _, err := synthetic.Render(m, p)
		if err != nil {
			t.Fatal(err)
		}
		return photo
	}
	name := func(photo gocv.Mat) Recognition {
		p, err := NewPhoto(photo.Clone(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		got, err := r.Recognise(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}

	// The features of the first look that agree.
	photo := shot(wave, nil)
	save("recognition-matches.jpg", matches(t, wave, photo))
	photo.Close()

	// Two works on a wall.
	board := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(180, 190, 196, 0), 900, 1500, gocv.MatTypeCV8UC3)
	for _, hung := range []struct {
		picture gocv.Mat
		at      image.Rectangle
	}{{wave, image.Rect(240, 150, 960, 640)}, {irises, image.Rect(1060, 330, 1420, 617)}} {
		gocv.Rectangle(&board, hung.at.Inset(-50), typical.FrameColor, -1)
		gocv.Rectangle(&board, hung.at.Inset(-36), typical.MatColor, -1)
		small := gocv.NewMat()
		gocv.Resize(hung.picture, &small, hung.at.Size(), 0, 0, gocv.InterpolationArea)
		place := board.Region(hung.at)
		small.CopyTo(&place)
		place.Close()
		small.Close()
	}
	wall := shot(board, func(p *synthetic.Params) {
		p.Yaw, p.Fill, p.Label, p.Glare, p.Frame, p.Mat, p.Shadow, p.Wall = -14, 1.2, false, 0, 0, 0, 0, color.RGBA{196, 190, 180, 255}
	})
	board.Close()
	got := name(wall)
	for i, c := range got.Candidates {
		outline(&wall, c, fmt.Sprintf("%d", i+1))
	}
	t.Logf("wall: %s %+v", got.Decision, got.Candidates)
	save("recognition-two-works.jpg", wall)

	// What works and what does not.
	const w, h = 384, 288
	sheet := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(255, 255, 255, 0), 2*(h+34), 3*w, gocv.MatTypeCV8UC3)
	for i, c := range []struct {
		caption string
		change  func(*synthetic.Params)
	}{
		{"50 degrees aside", func(p *synthetic.Params) { p.Yaw = 50 }},
		{"a fifth of the size", func(p *synthetic.Params) { p.Fill, p.Yaw = 0.2, 0 }},
		{"out of focus, 6 px", func(p *synthetic.Params) { p.Defocus = 6 }},
		{"three stops too dark", func(p *synthetic.Params) { p.Exposure = -3; p.Noise = 6 }},
		{"cut by the edge", func(p *synthetic.Params) { p.ShiftX, p.Fill = 0.55, 1.2 }},
		{"a tenth of the size", func(p *synthetic.Params) { p.Fill, p.Yaw = 0.1, 0 }},
	} {
		photo := shot(portrait, c.change)
		got := name(photo)
		said := "unknown"
		if len(got.Candidates) > 0 {
			said = fmt.Sprintf("%s, %d inliers", got.Decision, got.Candidates[0].Inliers)
			outline(&photo, got.Candidates[0], "")
			if got.Candidates[0].ExhibitID != "met-436532" {
				t.Errorf("%s: named %s", c.caption, got.Candidates[0].ExhibitID)
			}
		}
		t.Logf("%s: %s", c.caption, said)
		at := image.Pt(i%3*w, i/3*(h+34))
		gocv.Resize(photo, &photo, image.Pt(w, h), 0, 0, gocv.InterpolationArea)
		place := sheet.Region(image.Rectangle{Min: at, Max: at.Add(image.Pt(w, h))})
		photo.CopyTo(&place)
		place.Close()
		photo.Close()
		gocv.PutTextWithParams(&sheet, c.caption+": "+said, at.Add(image.Pt(8, h+23)), gocv.FontHersheySimplex, 0.5, color.RGBA{20, 20, 20, 255}, 1, gocv.LineAA, false)
	}
	save("recognition-limits.jpg", sheet)
}

// matches draws a reference beside a photo, the features that match and agree joined by lines, the others as dots, and
// the outline.
func matches(t *testing.T, reference, photo gocv.Mat) gocv.Mat {
	t.Helper()
	ref, err := Describe(reference)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := feature.Extract(photo, looks[0].features)
	if err != nil {
		t.Fatal(err)
	}
	const height = 480
	canvas := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(255, 255, 255, 0), height, 2*640+20, gocv.MatTypeCV8UC3)
	put := func(m gocv.Mat, left int) (scale float64) {
		scale = min(640/float64(m.Cols()), height/float64(m.Rows()))
		small := gocv.NewMat()
		defer small.Close()
		size := image.Pt(int(float64(m.Cols())*scale), int(float64(m.Rows())*scale))
		gocv.Resize(m, &small, size, 0, 0, gocv.InterpolationArea)
		place := canvas.Region(image.Rectangle{Min: image.Pt(left, 0), Max: image.Pt(left, 0).Add(size)})
		small.CopyTo(&place)
		place.Close()
		return scale
	}
	a := put(reference, 0) * float64(reference.Cols()) / float64(ref.Width)
	b := put(photo, 660) * float64(photo.Cols()) / float64(seen.Width)

	var src, dst []float32
	for i, j := range kernel.Match(seen.Descriptors, ref.Descriptors, matchRatio) {
		if j >= 0 {
			src, dst = append(src, ref.Points[j].X, ref.Points[j].Y), append(dst, seen.Points[i].X, seen.Points[i].Y)
		}
	}
	h, mask, inliers, err := kernel.Homography(src, dst, inlierDistance, ransacRounds)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d features of the photo, %d matches, %d inliers", seen.Len(), len(mask), inliers)
	left := func(x, y float32) image.Point { return image.Pt(int(float64(x)*a), int(float64(y)*a)) }
	right := func(x, y float32) image.Point { return image.Pt(660+int(float64(x)*b), int(float64(y)*b)) }
	for _, p := range seen.Points {
		gocv.Circle(&canvas, right(p.X, p.Y), 1, color.RGBA{255, 255, 255, 255}, -1)
	}
	for i, in := range mask {
		p, q := left(src[2*i], src[2*i+1]), right(dst[2*i], dst[2*i+1])
		if in {
			hue := float64(i) * 2.4
			c := color.RGBA{uint8(150 + 100*math.Cos(hue)), uint8(150 + 100*math.Cos(hue+2.1)), uint8(150 + 100*math.Cos(hue+4.2)), 255}
			gocv.Line(&canvas, p, q, c, 1)
			gocv.Circle(&canvas, p, 3, c, 1)
			gocv.Circle(&canvas, q, 3, c, 1)
		} else {
			gocv.Circle(&canvas, p, 3, color.RGBA{220, 30, 30, 255}, 1)
			gocv.Circle(&canvas, q, 3, color.RGBA{220, 30, 30, 255}, 1)
		}
	}
	corners, ok := project(homography(h), ref.Width, ref.Height)
	if !ok {
		t.Fatal("no outline")
	}
	for i := range corners {
		p, q := corners[i], corners[(i+1)%4]
		gocv.Line(&canvas, right(float32(p.X), float32(p.Y)), right(float32(q.X), float32(q.Y)), color.RGBA{30, 200, 60, 255}, 3)
	}
	return canvas
}

// outline draws where a candidate is on a photo.
func outline(m *gocv.Mat, c Candidate, label string) {
	at := func(p Point) image.Point {
		return image.Pt(int(p.X*float64(m.Cols())), int(p.Y*float64(m.Rows())))
	}
	for i := range c.Outline {
		gocv.Line(m, at(c.Outline[i]), at(c.Outline[(i+1)%4]), color.RGBA{30, 200, 60, 255}, 4)
	}
	if label != "" {
		gocv.PutText(m, label, at(middle(c.Outline)), gocv.FontHersheySimplex, 2.2, color.RGBA{30, 200, 60, 255}, 6)
	}
}
