package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"docent/vision/label"
)

// TestPhotoOfALabel sends a kiosk the photo of a label alone, right way up and lying on its side, and asks for the exhibit.
func TestPhotoOfALabel(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the sample release; not part of -short")
	}
	if r, err := label.Find(t.Context(), 0); err != nil || len(r.Missing([]string{"en"})) > 0 {
		t.Skip("needs Debian's tesseract-ocr and tesseract-ocr-chi-sim")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "kiosk.yaml")
	address := freeAddress(t)
	text := fmt.Appendf(nil, "listen: %s\ndata_dir: %s\nrelease: %s\nlabels: {timeout: 15s}\n", address, filepath.Join(dir, "data"), sampleRelease(t))
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, "kiosk", "--config", config)
	eventually(t, "the kiosk is open", func() bool {
		res, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	var visit struct{ Visit string }
	if code := request(t, http.MethodPost, "http://"+address+"/api/v1/visit/start", map[string]string{"language": "en"}, &visit); code != http.StatusCreated {
		t.Fatalf("start visit: %d", code)
	}
	for _, c := range []struct {
		name   string
		lines  []string
		onSide bool
		want   string
	}{
		{"a label", []string{"201", "Hilbert curve", "after David Hilbert, 1891"}, false, "hilbert-curve"},
		{"a label on its side", []string{"101", "Penrose tiling", "after Roger Penrose, 1974"}, true, "penrose-tiling"},
		{"a notice", []string{"Please do not touch", "Thank you for your help"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "label.png")
			writePNG(t, file, labelPhoto(t, c.onSide, c.lines...))
			got := upload(t, "http://"+address, visit.Visit, file)
			if want := map[bool]string{true: "match", false: "unknown"}[c.want != ""]; got.Decision != want || got.first() != c.want {
				t.Errorf("%s %q, want %s %q", got.Decision, got.first(), want, c.want)
			}
		})
	}
}

// labelPhoto draws a card on a wall, 1,280 × 960 px.
func labelPhoto(t *testing.T, onSide bool, lines ...string) image.Image {
	t.Helper()
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewRGBA(image.Rect(0, 0, 1280, 960))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{150, 120, 110, 255}), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(260, 250, 1020, 640), image.NewUniform(color.RGBA{238, 236, 230, 255}), image.Point{}, draw.Src)
	for i, line := range lines {
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 44, DPI: 72})
		if err != nil {
			t.Fatal(err)
		}
		d := font.Drawer{Dst: img, Src: image.NewUniform(color.RGBA{35, 32, 30, 255}), Face: face, Dot: fixed.P(310, 350+i*95)}
		d.DrawString(line)
	}
	if !onSide {
		return img
	}
	turned := image.NewRGBA(image.Rect(0, 0, 960, 1280))
	for y := range 960 {
		for x := range 1280 {
			turned.Set(959-y, x, img.At(x, y))
		}
	}
	return turned
}

func writePNG(t *testing.T, file string, img image.Image) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
