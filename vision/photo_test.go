package vision

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gocv.io/x/gocv"
)

// photoOf is a photo of size w×h with the grey value that at gives for each pixel.
func photoOf(t *testing.T, w, h int, at func(x, y int) uint8) Photo {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			v := at(x, y)
			img.SetRGBA(x, y, color.RGBA{v, v, v, 255})
		}
	}
	mat, err := gocv.ImageToMatRGB(img)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPhoto(mat, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func board(x, y int) uint8 { return uint8((x/40+y/40)%2) * 220 }

func TestJudge(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		name string
		at   func(x, y int) uint8
		blur float64 // px
		want AdviceCode
	}{
		{"a chequered board", board, 0, AdviceNone},
		{"the same out of focus", board, 8, AdviceBlurred},
		{"a lens cap", func(x, y int) uint8 { return uint8(noise.IntN(6)) }, 0, AdviceTooDark},
		{"facing a lamp", func(x, y int) uint8 { return 250 }, 0, AdviceTooBright},
		{"a wall with camera noise", func(x, y int) uint8 { return uint8(125 + noise.IntN(10)) }, 0, AdviceNothingThere},
		{"a dim room with a lit work", func(x, y int) uint8 {
			if x > 250 && x < 400 && y > 150 && y < 300 {
				return board(x*4, y*4)
			}
			return 3
		}, 0, AdviceNone},
		{"a line drawing on white paper", func(x, y int) uint8 {
			if (x+y)%23 == 0 || (x-y)%31 == 0 {
				return 20
			}
			return 252
		}, 0, AdviceNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := photoOf(t, 640, 480, tt.at)
			if tt.blur > 0 {
				gocv.GaussianBlur(p.Image, &p.Image, image.Point{}, tt.blur, tt.blur, gocv.BorderDefault)
				p.Sharpness, p.Brightness, p.Contrast = Measure(p.Image)
			}
			if got := Judge(p).Code; got != tt.want {
				t.Errorf("got %q, want %q (sharpness %.1f, brightness %.3f, contrast %.3f)", got, tt.want, p.Sharpness, p.Brightness, p.Contrast)
			}
		})
	}
}

func TestJudgeAcceptsRealPhotos(t *testing.T) {
	data := os.Getenv("DOCENT_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "shared", "data")
	}
	files, _ := filepath.Glob(filepath.Join(data, "estense", "photos", "framed", "*.jpg"))
	if len(files) == 0 {
		t.Skip("no real photos: set DOCENT_DATA to the folder that holds estense/")
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(raw)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if a := Judge(p); a.Code != AdviceNone {
			t.Errorf("%s: %q", filepath.Base(f), a.Code)
		}
		p.Close()
	}
}

func TestSharpnessIsMeasuredAtOneSize(t *testing.T) {
	small := photoOf(t, 640, 480, board)
	large := photoOf(t, 1920, 1440, func(x, y int) uint8 { return board(x/3, y/3) })
	if r := large.Sharpness / small.Sharpness; r < 0.9 || r > 1.1 {
		t.Errorf("the same scene at three times the size has %.2f times the sharpness", r)
	}
}

func TestPhotoJPEG(t *testing.T) {
	p := photoOf(t, 1000, 500, board)
	for _, tt := range []struct {
		name    string
		maxSide int
		want    image.Point
	}{{"as it is", 0, image.Pt(1000, 500)}, {"smaller", 320, image.Pt(320, 160)}, {"never larger", 4000, image.Pt(1000, 500)}} {
		data, err := p.JPEG(tt.maxSide, 80)
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if got := img.Bounds().Size(); got != tt.want {
			t.Errorf("%s: size %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, q := range []int{0, 101, -1} {
		if _, err := p.JPEG(0, q); err == nil {
			t.Errorf("quality %d was accepted", q)
		}
	}
}

func TestNewPhotoRefusesOtherPictures(t *testing.T) {
	for name, mat := range map[string]gocv.Mat{
		"empty": gocv.NewMat(),
		"grey":  gocv.NewMatWithSize(100, 100, gocv.MatTypeCV8UC1),
		"float": gocv.NewMatWithSize(100, 100, gocv.MatTypeCV32FC3),
	} {
		if p, err := NewPhoto(mat, time.Time{}); err == nil {
			p.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}
