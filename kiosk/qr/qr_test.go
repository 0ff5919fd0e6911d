package qr

import (
	"errors"
	"image"
	"image/color"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gocv.io/x/gocv"
)

var runs = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-\d+z`)

// drawn paints the SVG, 6 pixels for a module, as a browser would.
func drawn(t *testing.T, svg string) gocv.Mat {
	t.Helper()
	side, err := strconv.Atoi(regexp.MustCompile(`viewBox="0 0 (\d+) `).FindStringSubmatch(svg)[1])
	if err != nil {
		t.Fatal(err)
	}
	const scale = 6
	img := image.NewGray(image.Rect(0, 0, side*scale, side*scale))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for _, m := range runs.FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		for py := y * scale; py < (y+1)*scale; py++ {
			for px := x * scale; px < (x+n)*scale; px++ {
				img.SetGray(px, py, color.Gray{})
			}
		}
	}
	mat, err := gocv.ImageGrayToMatGray(img)
	if err != nil {
		t.Fatal(err)
	}
	return mat
}

func TestSVGCanBeRead(t *testing.T) {
	detector := gocv.NewQRCodeDetector()
	defer detector.Close()
	for _, text := range []string{
		"http://192.168.1.20:8080/phone.html#l3Vd0_zk2fW-NqX8rJ1t4g",
		"https://museum.example/objects/phyllotaxis?lang=zh",
		"叶序\n依赫尔穆特·福格尔的模型, 1979 年\n图案馆 · 301",
	} {
		svg, err := SVG(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		img := drawn(t, svg)
		defer img.Close()
		corners := gocv.NewMat()
		defer corners.Close()
		if !detector.Detect(img, &corners) {
			t.Errorf("%s: no code is seen", text)
		}
		// Debian's OpenCV sees codes, but does not read them.
		reader, err := exec.LookPath("zbarimg")
		if err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), "code.png")
		if !gocv.IMWrite(file, img) {
			t.Fatal("write picture")
		}
		if got, err := exec.Command(reader, "--quiet", "--raw", "--nodbus", file).Output(); err != nil || strings.TrimSuffix(string(got), "\n") != text {
			t.Errorf("read %q, want %q (%v)", got, text, err)
		}
	}
}

func TestSVGOfTooMuch(t *testing.T) {
	if _, err := SVG(strings.Repeat("x", MaxText)); err != nil {
		t.Error(err)
	}
	if _, err := SVG(strings.Repeat("x", MaxText+1)); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}
