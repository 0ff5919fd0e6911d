package label

import (
	"image"
	"image/color"
	"image/draw"
	"os"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"docent/vision"
)

// chineseFont is that of Debian's fonts-droid-fallback.
const chineseFont = "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf"

func latin(t testing.TB) *opentype.Font {
	t.Helper()
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func chinese(t testing.TB) *opentype.Font {
	t.Helper()
	data, err := os.ReadFile(chineseFont)
	if err != nil {
		t.Skip("needs Debian's fonts-droid-fallback to draw Chinese")
	}
	f, err := opentype.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var (
	paper = color.RGBA{238, 236, 230, 255}
	ink   = color.RGBA{35, 32, 30, 255}
	wall  = color.RGBA{150, 120, 110, 255}
)

// card draws a label on a wall: a photo of 1,280 × 960 px with a card of 760 × 460.
func card(t testing.TB, f *opentype.Font, ground, letters color.RGBA, lines ...string) gocv.Mat {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1280, 960))
	draw.Draw(img, img.Bounds(), image.NewUniform(wall), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(260, 250, 1020, 710), image.NewUniform(ground), image.Point{}, draw.Src)
	y := 330
	for i, line := range lines {
		size := 30.0
		if i == 0 {
			size = 44
		}
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72})
		if err != nil {
			t.Fatal(err)
		}
		d := font.Drawer{Dst: img, Src: image.NewUniform(letters), Face: face, Dot: fixed.P(310, y)}
		d.DrawString(line)
		y += int(2 * size)
	}
	m, err := gocv.ImageToMatRGB(img)
	if err != nil {
		t.Fatal(err)
	}
	gocv.GaussianBlur(m, &m, image.Point{}, 0.8, 0.8, gocv.BorderDefault)
	return m
}

// turned turns a photo by quarters clockwise, and takes it over.
func turned(m gocv.Mat, quarters int) gocv.Mat {
	for range quarters {
		out := gocv.NewMat()
		gocv.Rotate(m, &out, gocv.Rotate90Clockwise)
		replace(&m, out)
	}
	return m
}

func photo(t testing.TB, m gocv.Mat) vision.Photo {
	t.Helper()
	p, err := vision.NewPhoto(m, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reader finds tesseract, with time for a machine that is busy.
func reader(t testing.TB) *Reader {
	t.Helper()
	r, err := Find(t.Context(), 2*time.Minute)
	if err != nil || len(r.Missing(both)) > 0 {
		t.Skipf("needs Debian's tesseract-ocr and tesseract-ocr-chi-sim: %v", err)
	}
	return r
}

var both = []string{"zh", "en"}

func TestFindText(t *testing.T) {
	lines := []string{"205", "Hilbert curve", "David Hilbert, 1891", "Ink on paper"}
	for quarters, upended := range []bool{false, true, false, true} {
		m := turned(card(t, latin(t), paper, ink, lines...), quarters)
		grey := gocv.NewMat()
		gocv.CvtColor(m, &grey, gocv.ColorBGRToGray)
		where, ok := findText(grey)
		middle := image.Pt(grey.Cols()/2, grey.Rows()/2)
		if !ok || where.upended != upended || !middle.In(where.box) || where.letter < 12 || where.letter > 34 || where.letters < 25 {
			t.Errorf("turned by %d quarters: %v %+v", quarters, ok, where)
		}
		grey.Close()
		m.Close()
	}
	for name, m := range map[string]gocv.Mat{
		"a bare card": card(t, latin(t), paper, ink),
		"black":       gocv.NewMatWithSizeFromScalar(gocv.NewScalar(0, 0, 0, 0), 480, 640, gocv.MatTypeCV8UC3),
		"a thin line": gocv.NewMatWithSizeFromScalar(gocv.NewScalar(90, 90, 90, 0), 64, 2000, gocv.MatTypeCV8UC3),
		"noise":       noise(),
	} {
		grey := gocv.NewMat()
		gocv.CvtColor(m, &grey, gocv.ColorBGRToGray)
		if where, ok := findText(grey); ok {
			t.Errorf("%s looks like text: %+v", name, where)
		}
		grey.Close()
		m.Close()
	}
}

func noise() gocv.Mat {
	m := gocv.NewMatWithSize(480, 640, gocv.MatTypeCV8UC3)
	rng := gocv.TheRNG()
	rng.Fill(&m, gocv.RNGDistNormal, 120, 40, true)
	return m
}

func TestReadLabels(t *testing.T) {
	r := reader(t)
	names := Names{Number: "205", Accession: "GP.1891.2", Titles: []string{"Hilbert curve", "希尔伯特曲线"}}
	english := []string{"205", "Hilbert curve", "David Hilbert, 1891", "Ink on paper", "GP.1891.2"}
	for name, c := range map[string]struct {
		lines    []string
		chinese  bool
		light    bool
		quarters int
		tilt     float64
		kinds    int
	}{
		"upright":               {lines: english, kinds: 3},
		"on its left side":      {lines: english, quarters: 1, kinds: 2},
		"upside down":           {lines: english, quarters: 2, kinds: 2},
		"on its right side":     {lines: english, quarters: 3, kinds: 2},
		"tilted":                {lines: english, tilt: 9, kinds: 2},
		"light on dark":         {lines: english, light: true, kinds: 2},
		"a number alone":        {lines: []string{"205"}, kinds: 1},
		"a number and its sign": {lines: []string{"No. 205", "Please do not touch the exhibits"}, kinds: 1},
		"Chinese":               {lines: []string{"希尔伯特曲线", "大卫·希尔伯特", "纸本墨水，德国数学家"}, chinese: true, kinds: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := latin(t)
			if c.chinese {
				f = chinese(t)
			}
			ground, letters := paper, ink
			if c.light {
				ground, letters = letters, ground
			}
			m := turned(card(t, f, ground, letters, c.lines...), c.quarters)
			if len(c.lines) == 1 { // a photo of the number only
				part := m.Region(image.Rect(290, 280, 460, 360))
				close := gocv.NewMat()
				gocv.Resize(part, &close, image.Pt(1020, 480), 0, 0, gocv.InterpolationCubic)
				part.Close()
				replace(&m, close)
			}
			if c.tilt != 0 {
				replace(&m, level(m, -c.tilt))
			}
			p := photo(t, m)
			defer p.Close()
			text, err := r.Read(t.Context(), p, both)
			if err != nil {
				t.Fatal(err)
			}
			n, sure := text.measure()
			t.Logf("%d letters, mean confidence %.2f", n, sure/float64(max(n, 1)))
			got := text.Match(names)
			if !got.Exact || got.Kinds < c.kinds || got.Confidence < sureReading {
				t.Errorf("match %+v, want %d kinds; read:\n%s", got, c.kinds, text)
			}
			if other := text.Match(Names{Number: "206", Accession: "GP.1891.1", Titles: []string{"Koch curve", "科赫曲线"}}); other.Exact {
				t.Errorf("another exhibit is named, too: %+v; read:\n%s", other, text)
			}
		})
	}
}

// TestNoLabelNoName reads visitors' photos of pictures whose labels are not in sight, or not those of the catalogue.
func TestNoLabelNoName(t *testing.T) {
	if testing.Short() {
		t.Skip("reads some fifty photos; not part of -short")
	}
	r := reader(t)
	photos, names := unknownPhotos(t)
	looked := 0
	for _, path := range photos {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := vision.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.Read(t.Context(), p, both)
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(text.Lines) > 0 {
			looked++
		}
		var read []Named
		for id, n := range names {
			read = append(read, Named{ExhibitID: id, Match: text.Match(n)})
		}
		if got := Fuse(vision.Recognition{Decision: vision.DecisionUnknown}, read); got.Decision == vision.DecisionMatch {
			t.Errorf("%s is named %s; read:\n%s", path, got.Candidates[0].ExhibitID, text)
		}
	}
	if looked*3 > len(photos) {
		t.Errorf("%d of %d photos without a label had something to read", looked, len(photos))
	}
}

func TestTheWrongWayRoundIsNotEnough(t *testing.T) {
	if got := (region{}).turns(); got[0] != 0 || got[1] != 2 {
		t.Errorf("turns %v", got)
	}
	if got := (region{upended: true}).turns(); got[0]%2 != 1 || got[1]%2 != 1 {
		t.Errorf("turns of upended lines %v", got)
	}
	garbage := Text{Lines: []Line{{Words: []Word{{strings.Repeat("x", 60), .5}}}}}
	words := Text{Lines: []Line{{Words: []Word{{"Hilbert", .95}, {"curve", .9}}}}}
	if garbage.certain() || !words.certain() || (Text{}).certain() {
		t.Errorf("certain of garbage: %v, of words: %v, of nothing: %v", garbage.certain(), words.certain(), Text{}.certain())
	}
	if garbage.weight() <= 0 || words.weight() <= 0 || (Text{}).weight() != 0 {
		t.Errorf("weights %v, %v", garbage.weight(), words.weight())
	}
}
