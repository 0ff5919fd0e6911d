package vision

import (
	"image"
	"image/color"
	"testing"
	"time"

	"gocv.io/x/gocv"
)

// scene draws a chequered work of so many tones on a wall, and a lamp's reflection on it.
func scene(t *testing.T, work image.Rectangle, tones int, lamp image.Point, radius int, fade float64) Photo {
	t.Helper()
	img := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(110, 120, 125, 0), 720, 960, gocv.MatTypeCV8UC3)
	for y := work.Min.Y; y < work.Max.Y; y += 12 {
		for x := work.Min.X; x < work.Max.X; x += 12 {
			v := uint8(50 + (x*37+y*53)%tones)
			gocv.Rectangle(&img, image.Rect(x, y, min(x+12, work.Max.X), min(y+12, work.Max.Y)), color.RGBA{v, v, 255 - v/2, 0}, -1)
		}
	}
	if radius > 0 {
		light := gocv.NewMatWithSize(720, 960, gocv.MatTypeCV8UC3)
		defer light.Close()
		light.SetTo(gocv.NewScalar(0, 0, 0, 0))
		gocv.Circle(&light, lamp, radius, color.RGBA{255, 255, 255, 0}, -1)
		if fade > 0 {
			gocv.GaussianBlur(light, &light, image.Point{}, fade, fade, gocv.BorderDefault)
			light.ConvertToWithParams(&light, gocv.MatTypeCV8UC3, 3, 0) // more than the camera can tell apart
		}
		gocv.Add(img, light, &img)
	}
	p, err := NewPhoto(img, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestJudgeScenes(t *testing.T) {
	large, small := image.Rect(150, 100, 810, 620), image.Rect(420, 310, 550, 410)
	for name, c := range map[string]struct {
		photo Photo
		want  AdviceCode
	}{
		"a work that fills the photo": {scene(t, large, 60, image.Point{}, 0, 0), AdviceNone},
		"a small work on a wall":      {scene(t, small, 180, image.Point{}, 0, 0), AdviceCloser},
		"a lamp in the glass":         {scene(t, large, 60, image.Pt(500, 300), 90, 90), AdviceGlare},
		"a white thing in it":         {scene(t, large, 60, image.Pt(500, 300), 70, 0), AdviceNone},
		"a lamp at the edge":          {scene(t, large, 60, image.Pt(500, 20), 90, 90), AdviceNone},
		"a white wall beside it":      {scene(t, large, 60, image.Pt(500, 300), 400, 0), AdviceNone},
	} {
		if got := Judge(c.photo).Code; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestDetailSpread(t *testing.T) {
	everywhere := scene(t, image.Rect(0, 0, 960, 720), 180, image.Point{}, 0, 0)
	if s := detailSpread(everywhere.Image); s < 0.6 {
		t.Errorf("detail everywhere spreads over %.2f", s)
	}
	nothing := scene(t, image.Rectangle{}, 1, image.Point{}, 0, 0)
	if s := detailSpread(nothing.Image); s != 1 {
		t.Errorf("no detail spreads over %.2f", s)
	}
}
