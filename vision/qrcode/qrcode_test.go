package qrcode

import (
	"image"
	"image/color"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"
	"rsc.io/qr"

	"docent/vision"
)

var text = "DOCENT:" + strings.Repeat("AEBAGBAFAYDQQCIK", 8) + "MZXW6YTB"

// shown is a photo of a code on a phone's screen: bright on a dark room, turned, seen from the side, blurred and noisy.
func shown(t testing.TB, text string, side int, turn, slant float64, blur int) vision.Photo {
	t.Helper()
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	n := code.Size + 8
	flat := image.NewRGBA(image.Rect(0, 0, n*8, n*8))
	for y := range n * 8 {
		for x := range n * 8 {
			c := color.RGBA{250, 250, 245, 255}
			if mx, my := x/8-4, y/8-4; mx >= 0 && my >= 0 && mx < code.Size && my < code.Size && code.Black(mx, my) {
				c = color.RGBA{20, 20, 25, 255}
			}
			flat.SetRGBA(x, y, c)
		}
	}
	mat, err := gocv.ImageToMatRGB(flat)
	if err != nil {
		t.Fatal(err)
	}
	defer mat.Close()
	const w, h = 1280, 720
	from := gocv.NewPointVectorFromPoints([]image.Point{{0, 0}, {n * 8, 0}, {n * 8, n * 8}, {0, n * 8}})
	defer from.Close()
	s, cx, cy := float64(side)/2, w/2.0, h/2.0
	corner := func(x, y float64) image.Point {
		x, y = x*s, y*s*(1-slant*x/2)
		return image.Pt(int(cx+x-turn*y), int(cy+y+turn*x))
	}
	to := gocv.NewPointVectorFromPoints([]image.Point{corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)})
	defer to.Close()
	m := gocv.GetPerspectiveTransform(from, to)
	defer m.Close()
	frame := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(60, 50, 45, 0), h, w, gocv.MatTypeCV8UC3)
	gocv.WarpPerspectiveWithParams(mat, &frame, m, image.Pt(w, h), gocv.InterpolationLinear, gocv.BorderConstant, color.RGBA{45, 50, 60, 255})
	if blur > 0 {
		gocv.GaussianBlur(frame, &frame, image.Pt(2*blur+1, 2*blur+1), 0, 0, gocv.BorderDefault)
	}
	data, err := frame.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = uint8(max(0, min(255, int(data[i])+random.IntN(21)-10)))
	}
	p, err := vision.NewPhoto(frame, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name        string
		side        int
		turn, slant float64
		blur        int
	}{
		{"straight", 500, 0, 0, 0}, {"small", 260, 0, 0, 0}, {"turned", 420, 0.25, 0, 0}, {"from the side", 460, 0.08, 0.2, 0}, {"a little blurred", 480, 0.05, 0.05, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := shown(t, text, tt.side, tt.turn, tt.slant, tt.blur)
			defer p.Close()
			got, ok, err := Reader{}.Read(p)
			if err != nil || !ok || got != text {
				t.Errorf("read %q, %v, %v", got, ok, err)
			}
		})
	}
}

func TestNothingToRead(t *testing.T) {
	frame := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(60, 50, 45, 0), 480, 640, gocv.MatTypeCV8UC3)
	p, err := vision.NewPhoto(frame, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, ok, err := (Reader{}).Read(p); ok || err != nil {
		t.Errorf("read %q, %v, %v on a bare wall", got, ok, err)
	}
	if _, _, err := (Reader{}).Read(vision.Photo{Image: gocv.NewMat()}); err == nil {
		t.Error("an empty photo is read")
	}
}

func BenchmarkRead(b *testing.B) {
	p := shown(b, text, 420, 0.1, 0.1, 0)
	defer p.Close()
	for b.Loop() {
		if _, ok, _ := (Reader{}).Read(p); !ok {
			b.Fatal("not read")
		}
	}
}
