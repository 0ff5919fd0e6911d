package synthetic

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gocv.io/x/gocv"
)

var (
	out  = flag.String("out", "", "folder to write sample photos to, for looking at them")
	from = flag.String("from", "", "folder with the pictures (*.png) to take sample photos of")
)

// TestWriteSamples writes photos where -out says, for the eye.
func TestWriteSamples(t *testing.T) {
	if *out == "" {
		t.Skip("no -out folder given")
	}
	write := func(name string, photo gocv.Mat) {
		if !gocv.IMWrite(filepath.Join(*out, name), photo) {
			t.Errorf("cannot write %s", name)
		}
	}
	pictures, err := filepath.Glob(filepath.Join(*from, "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i, file := range pictures {
		src := gocv.IMRead(file, gocv.IMReadColor)
		for d := Easy; d <= Hard; d++ {
			photo, outline, err := Render(src, Random(rng, d))
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range outline {
				q := outline[(k+1)%4]
				at := func(p Point) image.Point {
					return image.Pt(int(p.X*float64(photo.Cols())), int(p.Y*float64(photo.Rows())))
				}
				gocv.Line(&photo, at(p), at(q), color.RGBA{255, 0, 255, 255}, 1)
			}
			write(fmt.Sprintf("p%02d-%d.jpg", i, d), photo)
			photo.Close()
		}
		src.Close()
	}
	for k := range kinds {
		for i := range 3 {
			photo, err := DistractorOf(k, rng)
			if err != nil {
				t.Fatal(err)
			}
			write(fmt.Sprintf("d%d-%d.jpg", k, i), photo)
			photo.Close()
		}
	}
}

// quarters is a picture with a colour of its own in each quarter, clockwise from the upper left.
func quarters(t *testing.T, w, h int) gocv.Mat {
	t.Helper()
	img := gocv.NewMatWithSize(h, w, gocv.MatTypeCV8UC3)
	for i, r := range []image.Rectangle{image.Rect(0, 0, w/2, h/2), image.Rect(w/2, 0, w, h/2), image.Rect(w/2, h/2, w, h), image.Rect(0, h/2, w/2, h)} {
		gocv.Rectangle(&img, r, quarterColors[i], -1)
	}
	return img
}

var quarterColors = [4]color.RGBA{{200, 40, 40, 255}, {40, 180, 60, 255}, {50, 70, 200, 255}, {210, 200, 60, 255}}

func TestOutlineIsWhereThePictureLies(t *testing.T) {
	plain := Params{Width: 800, Height: 600, Fill: 0.8, Wall: color.RGBA{128, 128, 128, 255}}
	change := func(f func(*Params)) Params { p := plain; f(&p); return p }
	for _, test := range []struct {
		name string
		p    Params
	}{
		{"straight on", plain},
		{"upright photo", change(func(p *Params) { p.Width, p.Height = 600, 800 })},
		{"from the left", change(func(p *Params) { p.Yaw = 40 })},
		{"from the right and below", change(func(p *Params) { p.Yaw, p.Pitch = -35, 18 })},
		{"lying on its side", change(func(p *Params) { p.Roll = 90 })},
		{"upside down, shifted", change(func(p *Params) { p.Roll, p.ShiftX, p.ShiftY = 180, 0.1, -0.1 })},
		{"framed, small, tilted", change(func(p *Params) { p.Frame, p.Mat, p.Fill, p.Roll, p.Label = 0.1, 0.1, 0.5, -12, true })},
		{"blurred and noisy", change(func(p *Params) { p.Defocus, p.Motion, p.Noise, p.Quality = 1.5, 6, 4, 60 })},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := quarters(t, 900, 700)
			defer src.Close()
			photo, outline, err := Render(src, test.p)
			if err != nil {
				t.Fatal(err)
			}
			defer photo.Close()
			if photo.Cols() != test.p.Width || photo.Rows() != test.p.Height {
				t.Fatalf("photo of %d × %d", photo.Cols(), photo.Rows())
			}
			var middle Point
			for _, c := range outline {
				middle.X, middle.Y = middle.X+c.X/4, middle.Y+c.Y/4
			}
			for i, c := range outline {
				// A tenth inwards from each corner is the colour of its quarter; a tenth outwards, across the frame
				// if there is one, is not.
				for _, way := range []struct {
					f    float64
					want bool
				}{{0.9, true}, {1.08 + 2*(test.p.Frame+test.p.Mat), false}} {
					x := int((middle.X + (c.X-middle.X)*way.f) * float64(photo.Cols()))
					y := int((middle.Y + (c.Y-middle.Y)*way.f) * float64(photo.Rows()))
					if x < 0 || y < 0 || x >= photo.Cols() || y >= photo.Rows() {
						continue
					}
					v := photo.GetVecbAt(y, x)
					d := math.Abs(float64(v[2])-float64(quarterColors[i].R)) + math.Abs(float64(v[1])-float64(quarterColors[i].G)) + math.Abs(float64(v[0])-float64(quarterColors[i].B))
					if (d < 60) != way.want {
						t.Errorf("corner %d at %v of the way: colour %v is off by %v", i, way.f, v, d)
					}
				}
			}
		})
	}
}

func TestEffectsDoWhatTheySay(t *testing.T) {
	mean := func(p Params) float64 {
		src := quarters(t, 300, 240)
		defer src.Close()
		photo, _, err := Render(src, p)
		if err != nil {
			t.Fatal(err)
		}
		defer photo.Close()
		m := photo.Mean()
		return (m.Val1 + m.Val2 + m.Val3) / 3
	}
	plain := Params{Width: 320, Height: 240, Fill: 0.7, Wall: color.RGBA{150, 150, 150, 255}}
	base := mean(plain)
	for _, test := range []struct {
		name     string
		change   func(*Params)
		low, top float64 // of the mean, in units of the plain photo's
	}{
		{"a stop darker", func(p *Params) { p.Exposure = -1 }, 0.71, 0.75},
		{"a stop brighter clips a little", func(p *Params) { p.Exposure = 1 }, 1.2, 1.37},
		{"gradient to half", func(p *Params) { p.Light = 0.5 }, 0.72, 0.78},
		{"glare", func(p *Params) { p.Glare, p.GlareX, p.GlareY, p.GlareSize = 1, 0.5, 0.5, 0.3 }, 1.05, 1.6},
		{"blur keeps the light", func(p *Params) { p.Defocus, p.Motion = 3, 12 }, 0.98, 1.02},
		{"noise keeps the light", func(p *Params) { p.Noise = 8 }, 0.98, 1.02},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := plain
			test.change(&p)
			if got := mean(p) / base; got < test.low || got > test.top {
				t.Errorf("mean is %.3f of the plain photo's, want %v to %v", got, test.low, test.top)
			}
		})
	}
}

func TestSameParametersSamePhoto(t *testing.T) {
	src := quarters(t, 400, 300)
	defer src.Close()
	shoot := func(seed uint64) []byte {
		p := Random(rand.New(rand.NewPCG(seed, 9)), Hard)
		photo, _, err := Render(src, p)
		if err != nil {
			t.Fatal(err)
		}
		defer photo.Close()
		return photo.ToBytes()
	}
	if !bytes.Equal(shoot(4), shoot(4)) {
		t.Error("two photos of the same parameters differ")
	}
	if bytes.Equal(shoot(4), shoot(5)) {
		t.Error("photos of other parameters are the same")
	}
}

func TestRandomIsAlwaysAccepted(t *testing.T) {
	shapes := []image.Point{{1400, 1200}, {1200, 1600}, {1500, 500}, {500, 1500}}
	for d := Easy; d <= Hard; d++ {
		rng := rand.New(rand.NewPCG(uint64(d), 3))
		for i := range 3000 {
			p := Random(rng, d)
			if err := p.Check(); err != nil {
				t.Fatalf("difficulty %d, draw %d: %v", d, i, err)
			}
			shape := shapes[i%len(shapes)]
			if _, err := pinhole(p.withDefaults(), arrange(shape.X, shape.Y, p)); err != nil {
				t.Fatalf("difficulty %d, draw %d, picture %v: %v (%+v)", d, i, shape, err, p)
			}
		}
	}
}

func TestConditionsOfDistractorsAreAlwaysAccepted(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for k := range kinds {
		for i := range 2000 {
			p := conditions(k, rng)
			if err := p.Check(); err != nil {
				t.Fatalf("kind %d, draw %d: %v", k, i, err)
			}
			if _, err := pinhole(p.withDefaults(), arrange(1300, 1300, p)); err != nil {
				t.Fatalf("kind %d, draw %d: %v (%+v)", k, i, err, p)
			}
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	src := quarters(t, 200, 200)
	defer src.Close()
	grey := gocv.NewMatWithSize(20, 20, gocv.MatTypeCV8UC1)
	defer grey.Close()
	for _, test := range []struct {
		name string
		src  gocv.Mat
		p    Params
		want string
	}{
		{"no size of the picture", src, Params{}, "fill is 0"},
		{"not a number", src, Params{Fill: math.NaN()}, "fill is NaN"},
		{"several at once", src, Params{Fill: 0.8, Yaw: 70, Quality: 2}, "quality is 2"},
		{"grey picture", grey, Params{Fill: 0.8}, "not BGR"},
		{"camera in the wall", src, Params{Fill: 3, Yaw: 50, View: 100}, "touch the wall"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := Render(test.src, test.p)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestDistractors(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for k := range kinds {
		photo, err := DistractorOf(k, rng)
		if err != nil {
			t.Fatalf("kind %d: %v", k, err)
		}
		if photo.Type() != gocv.MatTypeCV8UC3 || max(photo.Cols(), photo.Rows()) != DefaultWidth {
			t.Errorf("kind %d: %d × %d of type %v", k, photo.Cols(), photo.Rows(), photo.Type())
		}
		photo.Close()
	}
	if _, err := DistractorOf(kinds, rng); err == nil {
		t.Error("no error for a kind there is not")
	}
}

func BenchmarkRender(b *testing.B) {
	src := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(90, 120, 150, 0), 1200, 1500, gocv.MatTypeCV8UC3)
	defer src.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		photo, _, err := Render(src, Random(rng, Typical))
		if err != nil {
			b.Fatal(err)
		}
		photo.Close()
	}
}
