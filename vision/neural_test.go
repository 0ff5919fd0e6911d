package vision_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"docent/localindex/gallery"
	"docent/vision"
	"docent/vision/internal/tinyonnx"
	"docent/vision/neural"
	"docent/vision/synthetic"
)

// glow is a work without details: soft clouds of its own colours.
func glow(seed uint64) gocv.Mat {
	rng := rand.New(rand.NewPCG(seed, 99))
	shade := func() color.RGBA {
		return color.RGBA{R: uint8(rng.IntN(256)), G: uint8(rng.IntN(256)), B: uint8(rng.IntN(256)), A: 255}
	}
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(128, 128, 128, 0), 360, 480, gocv.MatTypeCV8UC3)
	for y := range 2 {
		for x := range 2 {
			gocv.Rectangle(&m, image.Rect(x*240, y*180, x*240+240, y*180+180), shade(), -1)
		}
	}
	gocv.GaussianBlur(m, &m, image.Point{}, 60, 0, gocv.BorderReplicate)
	return m
}

// house is a gallery of two paintings and five works without details, with a network that sees colours.
func house(t *testing.T) (string, *gallery.Gallery) {
	t.Helper()
	dir := t.TempDir()
	g := &gallery.Gallery{}
	hang := func(id string, m gocv.Mat) {
		defer m.Close()
		if !gocv.IMWrite(filepath.Join(dir, id+".png"), m) {
			t.Fatalf("cannot write %s", id)
		}
		g.Exhibits = append(g.Exhibits, gallery.Exhibit{ID: id, Pictures: []gallery.Picture{{File: id + ".png"}}})
	}
	for i := range 2 {
		hang(fmt.Sprintf("painting-%d", i), painting(uint64(i)))
	}
	for i := range 5 {
		hang(fmt.Sprintf("glow-%d", i), glow(uint64(i)))
	}
	model := tinyonnx.Colours().Encode()
	if err := os.WriteFile(filepath.Join(dir, "net.onnx"), model, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(model)
	g.Recognition.Neural = gallery.Neural{
		Model: "net.onnx", SHA256: hex.EncodeToString(sum[:]), Input: [2]int{32, 32},
		Mean: [3]float64{0.5, 0.5, 0.5}, Std: [3]float64{0.25, 0.25, 0.25},
	}
	return dir, g
}

func built(t *testing.T, dir string, g *gallery.Gallery) (string, vision.Report) {
	t.Helper()
	at := t.TempDir()
	report, err := vision.IndexPart{}.Build(t.Context(), g, dir, at)
	if err != nil {
		t.Fatal(err)
	}
	return at, report.(vision.Report)
}

func reopened(t *testing.T, at string) *vision.Recogniser {
	t.Helper()
	r, err := vision.Open(at, vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// seenAs renders an easy photo of a picture, which it takes over.
func seenAs(t *testing.T, m gocv.Mat, seed uint64) vision.Photo {
	t.Helper()
	defer m.Close()
	p := synthetic.Random(rand.New(rand.NewPCG(seed, 6)), synthetic.Easy)
	p.Width, p.Height, p.Fill = 800, 600, 0.95
	img, _, err := synthetic.Render(m, p)
	if err != nil {
		t.Fatal(err)
	}
	return take(t, img)
}

func TestNeuralNetworkOffersWorksWithoutDetails(t *testing.T) {
	dir, g := house(t)
	at, report := built(t, dir, g)
	n := report.Neural
	if n == nil || n.Dimensions != 48 || n.SHA256 != g.Recognition.Neural.SHA256 || n.Floor <= 0 || n.Floor >= 1 || n.Views != 7 || n.MS <= 0 {
		t.Fatalf("report %+v", n)
	}
	with := reopened(t, at)
	if has, trouble := with.Neural(); !has || trouble != nil {
		t.Errorf("network %v: %v", has, trouble)
	}
	g.Recognition.Neural = gallery.Neural{}
	plain, report := built(t, dir, g)
	if report.Neural != nil {
		t.Errorf("report of an index without a network: %+v", report.Neural)
	}
	without := reopened(t, plain)
	if has, trouble := without.Neural(); has || trouble != nil {
		t.Errorf("network %v: %v", has, trouble)
	}
	offered := 0
	for i := range 5 {
		p := seenAs(t, glow(uint64(i)), uint64(i))
		if got := recognise(t, without, p); got.Decision != vision.DecisionUnknown {
			t.Errorf("glow-%d without a network: %s %+v", i, got.Decision, got.Candidates)
		}
		got := recognise(t, with, p)
		if got.Decision == vision.DecisionMatch {
			t.Errorf("glow-%d is surely named %+v", i, got.Candidates)
		}
		if len(got.Candidates) > 3 {
			t.Errorf("%d cards", len(got.Candidates))
		}
		for k, c := range got.Candidates {
			if c.Confidence < 0 || c.Confidence > 0.5 || c.Outline != nil || c.Picture != c.ExhibitID+".png" {
				t.Errorf("card %+v", c)
			}
			if k == 0 && c.ExhibitID == fmt.Sprintf("glow-%d", i) {
				offered++
			}
		}
	}
	if offered < 3 {
		t.Errorf("%d of 5 works without details are the first card", offered)
	}
	t.Logf("floor %.3f; %d of %d calibration views found; %d of 5 first", n.Floor, n.Found, n.Views, offered)

	p, _ := photo(t, 1, nil)
	if got := recognise(t, with, p); got.Decision != vision.DecisionMatch || got.Candidates[0].ExhibitID != "painting-1" {
		t.Errorf("a painting: %s %+v", got.Decision, got.Candidates)
	}
	for kind := synthetic.Painting; kind <= synthetic.Blank; kind++ {
		m, err := synthetic.DistractorOf(kind, rand.New(rand.NewPCG(8, uint64(kind))))
		if err != nil {
			t.Fatal(err)
		}
		if got := recognise(t, with, take(t, m)); got.Decision == vision.DecisionMatch {
			t.Errorf("a thing of kind %d is surely named %+v", kind, got.Candidates)
		}
	}
}

func TestSeveralPicturesOfAnExhibitAreOneCard(t *testing.T) {
	dir, g := house(t)
	side := glow(50) // the same thing from another side
	defer side.Close()
	if !gocv.IMWrite(filepath.Join(dir, "side.png"), side) {
		t.Fatal("cannot write")
	}
	g.Exhibits[2].Pictures = append(g.Exhibits[2].Pictures, gallery.Picture{File: "side.png"})
	at, _ := built(t, dir, g)
	r := reopened(t, at)
	for _, seed := range []uint64{0, 50} {
		got := recognise(t, r, seenAs(t, glow(seed), seed))
		var ids []string
		for _, c := range got.Candidates {
			ids = append(ids, c.ExhibitID)
		}
		if got.Decision != vision.DecisionChoose || ids[0] != "glow-0" || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(ids) {
			t.Errorf("picture %d: %s %v", seed, got.Decision, ids)
		}
	}
}

func TestNeuralNetworkThatCannotBeBuilt(t *testing.T) {
	dir, g := house(t)
	broken := tinyonnx.Colours()
	broken.Nodes[0].Op = "Teleport"
	if err := os.WriteFile(filepath.Join(dir, "broken.onnx"), broken.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(broken.Encode())
	for _, c := range []struct {
		name   string
		change func(*gallery.Neural)
	}{
		{"a model that OpenCV cannot read", func(n *gallery.Neural) { n.Model, n.SHA256 = "broken.onnx", hex.EncodeToString(sum[:]) }},
		{"another file", func(n *gallery.Neural) { n.SHA256 = strings.Repeat("0", 64) }},
		{"no file", func(n *gallery.Neural) { n.Model = "none.onnx" }},
		{"no layer", func(n *gallery.Neural) { n.Layer = "x" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := *g
			c.change(&bad.Recognition.Neural)
			_, err := vision.IndexPart{}.Build(t.Context(), &bad, dir, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), "gallery.yaml: recognition.neural.model: "+bad.Recognition.Neural.Model) ||
				!strings.Contains(err.Error(), "or take recognition.neural out") {
				t.Errorf("%v, want one that says what to do", err)
			}
		})
	}
	bad := *g
	bad.Recognition.Neural.Model = "../net.onnx"
	if _, err := (vision.IndexPart{}).Build(t.Context(), &bad, dir, t.TempDir()); err == nil {
		t.Error("a model outside the gallery is read")
	}
}

func TestOpenGoesOnWithoutABrokenNetwork(t *testing.T) {
	dir, g := house(t)
	at, _ := built(t, dir, g)
	model := filepath.Join(at, "neural.onnx")
	good, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	for name, breaks := range map[string]func() error{
		"changed": func() error { return os.WriteFile(model, append([]byte{1}, good[1:]...), 0o600) },
		"missing": func() error { return os.Remove(model) },
	} {
		if err := breaks(); err != nil {
			t.Fatal(err)
		}
		r, err := vision.Open(at, vision.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if has, trouble := r.Neural(); !has || trouble == nil {
			t.Errorf("%s: network %v, trouble %v", name, has, trouble)
		} else if name == "changed" && !errors.Is(trouble, neural.ErrModel) {
			t.Errorf("%s: %v", name, trouble)
		}
		p, _ := photo(t, 0, nil)
		if got := recognise(t, r, p); got.Decision != vision.DecisionMatch {
			t.Errorf("%s: a painting is %s", name, got.Decision)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	vectors := filepath.Join(at, "neural.bin")
	data, err := os.ReadFile(vectors)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(vectors, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := vision.Open(at, vision.Options{}); !errors.Is(err, vision.ErrDamaged) {
		t.Errorf("changed vectors: %v", err)
	}
}

func TestNeuralVectorsOfAnotherBuild(t *testing.T) {
	dir, g := house(t)
	one, _ := built(t, dir, g)
	g.Exhibits = g.Exhibits[1:]
	two, _ := built(t, dir, g)
	data, err := os.ReadFile(filepath.Join(two, "neural.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(one, "neural.bin"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := vision.Open(one, vision.Options{}); !errors.Is(err, vision.ErrDamaged) {
		t.Errorf("%v", err)
	}
}
