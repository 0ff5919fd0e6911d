package feature

import (
	"errors"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gocv.io/x/gocv"
)

// picture draws overlapping shapes; the caller closes it.
func picture(seed uint64, width, height int) gocv.Mat {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(120, 110, 100, 0), height, width, gocv.MatTypeCV8UC3)
	for range 120 {
		c := color.RGBA{R: uint8(rng.IntN(256)), G: uint8(rng.IntN(256)), B: uint8(rng.IntN(256)), A: 255}
		x, y, s := rng.IntN(width), rng.IntN(height), 6+rng.IntN(width/6)
		if rng.IntN(2) == 0 {
			gocv.Circle(&m, image.Pt(x, y), s/2, c, -1)
		} else {
			gocv.Rectangle(&m, image.Rect(x, y, x+s, y+s*2/3), c, -1)
		}
	}
	return m
}

var options = Options{MaxSide: 320, MaxFeatures: 300, Contrast: 0.01}

func extract(t *testing.T, seed uint64) Set {
	t.Helper()
	m := picture(seed, 400, 300)
	defer m.Close()
	s, err := Extract(m, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExtract(t *testing.T) {
	s := extract(t, 1)
	if s.Width != 320 || s.Height != 240 {
		t.Errorf("described at %d×%d, want 320×240", s.Width, s.Height)
	}
	if s.Len() < 50 || s.Len() > 300 {
		t.Errorf("%d features, want 50 to 300", s.Len())
	}
	if err := s.check(); err != nil {
		t.Error(err)
	}
	for i, p := range s.Points {
		if p.X < 0 || p.Y < 0 || p.X >= 320 || p.Y >= 240 || p.Size <= 0 {
			t.Errorf("point %d is %+v", i, p)
		}
	}
	if diff := cmp.Diff(s, extract(t, 1)); diff != "" {
		t.Errorf("the same picture is described in two ways:\n%s", diff)
	}
}

func TestExtractTakesGrayAndSmallPictures(t *testing.T) {
	m := picture(2, 64, 48)
	defer m.Close()
	gray, err := Gray(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer gray.Close()
	inColour, err := Extract(m, options)
	if err != nil {
		t.Fatal(err)
	}
	inGray, err := Extract(gray, options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inColour, inGray); diff != "" {
		t.Errorf("colour and gray differ:\n%s", diff)
	}
	if inColour.Width != 64 {
		t.Errorf("a small picture became %d wide", inColour.Width)
	}
}

func TestExtractOfNothing(t *testing.T) {
	empty := gocv.NewMat()
	defer empty.Close()
	floats := gocv.NewMatWithSize(20, 20, gocv.MatTypeCV32F)
	defer floats.Close()
	for name, m := range map[string]gocv.Mat{"empty": empty, "floats": floats} {
		if _, err := Extract(m, options); !errors.Is(err, ErrPicture) {
			t.Errorf("%s: error %v, want ErrPicture", name, err)
		}
	}
	flat := gocv.NewMatWithSize(20, 20, gocv.MatTypeCV8UC3)
	defer flat.Close()
	if s, err := Extract(flat, options); err != nil || s.Len() != 0 {
		t.Errorf("a flat picture has %d features, error %v; want none", s.Len(), err)
	}
	thin := gocv.NewMatWithSize(1, 900, gocv.MatTypeCV8UC1)
	defer thin.Close()
	if _, err := Extract(thin, options); err != nil {
		t.Errorf("a line of pixels: %v", err)
	}
}

func TestCodebookIsTheSameEveryTime(t *testing.T) {
	s := extract(t, 3)
	train := func() Codebook {
		c, err := TrainCodebook(s.Descriptors, 8, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := train()
	if c.Len() != 8 {
		t.Fatalf("%d centres, want 8", c.Len())
	}
	if diff := cmp.Diff(c, train()); diff != "" {
		t.Errorf("the same training gives another codebook:\n%s", diff)
	}
	few, err := TrainCodebook(s.Descriptors[:3*DescriptorBytes], 8, rand.New(rand.NewPCG(1, 1)))
	if err != nil || few.Len() != 3 {
		t.Errorf("%d centres of 3 descriptors, error %v; want 3", few.Len(), err)
	}
	if _, err := TrainCodebook(nil, 8, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("a codebook of nothing is made")
	}
}

func TestKMeansFindsGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var rows []byte
	for i := range 300 {
		for range 4 {
			rows = append(rows, byte(20+40*(i%3)+rng.IntN(5)))
		}
	}
	found := make(map[byte]bool)
	for i, b := range KMeans(rows, 4, 3, 10, rng) {
		if i%4 == 0 {
			found[b/40] = true // 22, 62 and 102, give or take
		}
	}
	if len(found) != 3 {
		t.Errorf("centres lie in %d of 3 groups", len(found))
	}
}

func TestVLADs(t *testing.T) {
	s := extract(t, 4)
	c, err := TrainCodebook(s.Descriptors, 8, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	nothing := Window{0.999, 0.999, 1, 1}
	got := c.VLADs(s, c.Assign(s.Descriptors), []Window{Whole, {0, 0, 0.5, 1}, nothing}, 5)
	for i, v := range got[:2] {
		if len(v) != 8*DescriptorBytes {
			t.Fatalf("window %d has %d numbers, want %d", i, len(v), 8*DescriptorBytes)
		}
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-4 {
			t.Errorf("window %d has length² %g, want 1", i, sum)
		}
	}
	if got[2] != nil {
		t.Error("a window without features has a vector")
	}
	if cmp.Equal(got[0], got[1]) {
		t.Error("half the picture has the vector of the whole")
	}
}

func TestWindowsCoverThePhoto(t *testing.T) {
	windows := Windows()
	if len(windows) != 1+9+16 {
		t.Errorf("%d windows, want 26", len(windows))
	}
	for _, w := range windows {
		if w.Left < -1e-9 || w.Top < -1e-9 || w.Right > 1+1e-9 || w.Bottom > 1+1e-9 || w.Left >= w.Right || w.Top >= w.Bottom {
			t.Errorf("window %+v", w)
		}
	}
}

func TestProjectionKeepsWhatVaries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	vectors := make([][]float32, 60)
	for i := range vectors { // two directions with much, the others with little
		v := make([]float32, 10)
		for d := range v {
			v[d] = 0.01 * float32(rng.NormFloat64())
		}
		v[3] += 5 * float32(rng.NormFloat64())
		v[7] += 3*float32(rng.NormFloat64()) + 2
		vectors[i] = v
	}
	p, err := TrainProjection(vectors, 2)
	if err != nil {
		t.Fatal(err)
	}
	if p.In != 10 || p.Out != 2 {
		t.Fatalf("projects %d to %d, want 10 to 2", p.In, p.Out)
	}
	for i := range 2 {
		row := p.Rows[i*10 : (i+1)*10]
		main := math.Hypot(float64(row[3]), float64(row[7]))
		if math.Abs(main-1) > 0.01 {
			t.Errorf("direction %d is %v, want one of the third and seventh", i, row)
		}
	}
	projected := p.Apply([][]float32{vectors[0], nil})
	if projected[1] != nil {
		t.Errorf("no vector is projected to %v", projected[1])
	}
	if got := projected[0]; math.Abs(math.Hypot(float64(got[0]), float64(got[1]))-1) > 1e-5 {
		t.Errorf("projected vector %v is not of length 1", got)
	}
}

func TestProjectionOfLongVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	vectors := make([][]float32, 4)
	for i := range vectors {
		vectors[i] = make([]float32, 2*block+100)
		for d := range vectors[i] {
			vectors[i][d] = float32(rng.NormFloat64())
		}
	}
	p, err := TrainProjection(vectors, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range p.Apply(vectors) {
		want := make([]float64, p.Out)
		var length float64
		for r := range want {
			for d, v := range vectors[i] {
				want[r] += float64(v-p.Mean[d]) * float64(p.Rows[r*p.In+d])
			}
			length += want[r] * want[r]
		}
		for r := range want {
			if math.Abs(want[r]/math.Sqrt(length)-float64(got[r])) > 1e-4 {
				t.Errorf("vector %d is projected to %v, want %v over %g", i, got, want, math.Sqrt(length))
			}
		}
	}
}

func TestProjectionOfTooLittle(t *testing.T) {
	one, err := TrainProjection([][]float32{{1, 2, 3}}, 2)
	if err != nil || one.Out != 1 {
		t.Errorf("one vector gives %d directions, error %v; want 1", one.Out, err)
	}
	if _, err := TrainProjection(nil, 2); err == nil {
		t.Error("a projection of nothing is made")
	}
	if _, err := TrainProjection([][]float32{{1}, {1, 2}}, 2); err == nil {
		t.Error("vectors of two lengths are taken")
	}
}

// nearly compares what is stored in sixteenths of a pixel and 1/65536 turn.
var nearly = cmpopts.EquateApprox(0, 1.0/16)

func TestSetsComeBackFromTheirFile(t *testing.T) {
	want := []Set{extract(t, 5), {Width: 10, Height: 20, Points: []Point{}, Descriptors: []byte{}}, extract(t, 6)}
	data, err := EncodeSets(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSets(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, nearly); diff != "" {
		t.Errorf("sets (-written +read):\n%s", diff)
	}
}

func TestSetsThatCannotBeWritten(t *testing.T) {
	for name, s := range map[string]Set{
		"no size":          {},
		"huge":             {Width: MaxPixels + 1, Height: 5},
		"half descriptors": {Width: 5, Height: 5, Points: make([]Point, 2), Descriptors: make([]byte, DescriptorBytes)},
		"too many":         {Width: 5, Height: 5, Points: make([]Point, MaxPerSet+1), Descriptors: make([]byte, DescriptorBytes*(MaxPerSet+1))},
		"large byte":       {Width: 5, Height: 5, Points: make([]Point, 1), Descriptors: append(make([]byte, DescriptorBytes-1), MaxByte+1)},
	} {
		if _, err := EncodeSets([]Set{s}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v, want ErrFormat", name, err)
		}
	}
}

func model(t testing.TB) Model {
	rng := rand.New(rand.NewPCG(4, 4))
	rows := make([]byte, 40*DescriptorBytes)
	for i := range rows {
		rows[i] = byte(rng.IntN(MaxByte + 1))
	}
	c, err := TrainCodebook(rows, 2, rng)
	if err != nil {
		t.Fatal(err)
	}
	vectors := make([][]float32, 5)
	for i := range vectors {
		vectors[i] = make([]float32, 2*DescriptorBytes)
		for d := range vectors[i] {
			vectors[i][d] = float32(rng.NormFloat64())
		}
	}
	p, err := TrainProjection(vectors, 3)
	if err != nil {
		t.Fatal(err)
	}
	return Model{Codebook: c, Projection: p}
}

func TestModelComesBackFromItsFile(t *testing.T) {
	want := model(t)
	got, err := DecodeModel(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("model (-written +read):\n%s", diff)
	}
}

func FuzzDecodeSets(f *testing.F) {
	small := Set{Width: 7, Height: 5, Points: []Point{{1, 2, 3, 4}}, Descriptors: make([]byte, DescriptorBytes)}
	data, err := EncodeSets([]Set{small, {Width: 1, Height: 1}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:20])
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		sets, err := DecodeSets(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("error %v is not ErrFormat", err)
			}
			return
		}
		if _, err := EncodeSets(sets); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}

func FuzzDecodeModel(f *testing.F) {
	data := model(f).Encode()
	f.Add(data)
	f.Add(data[:8])
	f.Add([]byte{255, 255, 255, 255, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeModel(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("error %v is not ErrFormat", err)
			}
			return
		}
		m.Projection.Apply([][]float32{make([]float32, m.Projection.In)})
	})
}
