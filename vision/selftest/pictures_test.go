package selftest

import (
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gocv.io/x/gocv"

	"docent/localindex/gallery"
	"docent/vision"
)

const width, height = 600, 450

// painting draws overlapping shapes in colours of its own; the caller closes it.
func painting(seed uint64) gocv.Mat {
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(150, 140, 130, 0), height, width, gocv.MatTypeCV8UC3)
	shapes(&m, image.Rect(0, 0, width, height), 160, seed)
	return m
}

// shapes draws n shapes into a part of a picture.
func shapes(m *gocv.Mat, in image.Rectangle, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 77))
	part := m.Region(in)
	defer part.Close()
	for range n {
		c := color.RGBA{R: uint8(rng.IntN(256)), G: uint8(rng.IntN(256)), B: uint8(rng.IntN(256)), A: 255}
		at, s := image.Pt(rng.IntN(in.Dx()), rng.IntN(in.Dy())), 6+rng.IntN(60)
		switch rng.IntN(3) {
		case 0:
			gocv.Circle(&part, at, s/2, c, -1)
		case 1:
			gocv.Rectangle(&part, image.Rect(at.X, at.Y, at.X+s, at.Y+s*2/3), c, -1)
		default:
			gocv.Line(&part, at, at.Add(image.Pt(rng.IntN(2*s)-s, rng.IntN(2*s)-s)), c, 1+rng.IntN(6))
		}
	}
}

// copyOf is a near-duplicate: the same painting by another hand, with a corner painted over and other colours.
func copyOf(seed uint64) gocv.Mat {
	m := painting(seed)
	shapes(&m, image.Rect(0, 0, 150, 120), 30, seed+5000)
	m.ConvertToWithParams(&m, gocv.MatTypeCV8UC3, 0.9, 14)
	return m
}

// half is the left (0) or right (1) half of a painting of twice the width.
func half(seed uint64, which int) gocv.Mat {
	whole := diptych(seed)
	defer whole.Close()
	part := whole.Region(image.Rect(which*width/2, 0, (which+1)*width/2, height))
	defer part.Close()
	return part.Clone()
}

func diptych(seed uint64) gocv.Mat { return painting(seed) }

// framed is a painting in an ornate frame that all of a series have.
func framed(seed uint64) gocv.Mat {
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(60, 110, 150, 0), height+160, width+160, gocv.MatTypeCV8UC3)
	shapes(&m, image.Rect(0, 0, width+160, height+160), 260, 4711) // carving
	inner := painting(seed)
	defer inner.Close()
	part := m.Region(image.Rect(80, 80, 80+width, 80+height))
	defer part.Close()
	inner.CopyTo(&part)
	return m
}

// plain has next to no features.
func plain() gocv.Mat {
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(90, 120, 160, 0), height, width, gocv.MatTypeCV8UC3)
	gocv.Circle(&m, image.Pt(width/2, height/2), 90, color.RGBA{R: 150, G: 120, B: 100, A: 255}, -1)
	gocv.GaussianBlur(m, &m, image.Point{}, 25, 0, gocv.BorderReplicate)
	return m
}

// hang writes pictures into a new folder and makes a gallery of them, one exhibit each.
func hang(t testing.TB, pictures map[string]gocv.Mat, order ...string) (dir string, g *gallery.Gallery) {
	t.Helper()
	dir = t.TempDir()
	g = &gallery.Gallery{ID: "test", Languages: []string{"en", "zh"}}
	for _, id := range order {
		m := pictures[id]
		file := id + ".png"
		if !gocv.IMWrite(filepath.Join(dir, file), m) {
			t.Fatalf("cannot write %s", file)
		}
		m.Close()
		g.Exhibits = append(g.Exhibits, gallery.Exhibit{
			ID: id, Title: gallery.Localized{"en": "Title of " + id, "zh": "作品" + id}, Pictures: []gallery.Picture{{File: file}},
		})
	}
	return dir, g
}

// indexed builds the recognition index of a gallery in parts/recognition and opens it.
func indexed(t testing.TB, dir string, g *gallery.Gallery) (parts string, r *vision.Recogniser) {
	t.Helper()
	parts = t.TempDir()
	at := filepath.Join(parts, vision.IndexPart{}.Name())
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (vision.IndexPart{}).Build(t.Context(), g, dir, at); err != nil {
		t.Fatal(err)
	}
	r, err := vision.Open(at, vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return parts, r
}
