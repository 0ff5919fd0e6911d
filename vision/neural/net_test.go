package neural

import (
	"errors"
	"image"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gocv.io/x/gocv"

	"docent/vision/internal/tinyonnx"
)

var asIs = Settings{Width: 32, Height: 32, Std: [3]float32{1, 1, 1}}

func plain(t testing.TB, width, height int, b, g, r float64) gocv.Mat {
	t.Helper()
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(b, g, r, 0), height, width, gocv.MatTypeCV8UC3)
	t.Cleanup(func() { m.Close() })
	return m
}

func open(t testing.TB, model []byte, s Settings) *Net {
	t.Helper()
	n, err := Open(model, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func near(t *testing.T, what string, got []float32, want ...float64) {
	t.Helper()
	for i, w := range want {
		if math.Abs(float64(got[i])-w) > 1e-4 {
			t.Errorf("%s: %v, want %v", what, got[:len(want)], want)
			return
		}
	}
}

func TestDescribe(t *testing.T) {
	n := open(t, tinyonnx.Colours().Encode(), asIs)
	if n.Dimension() != 48 {
		t.Fatalf("%d numbers, want 48", n.Dimension())
	}
	v, err := n.Describe(plain(t, 100, 70, 0, 0, 255)) // red comes first
	if err != nil {
		t.Fatal(err)
	}
	near(t, "red", v, slices.Concat(slices.Repeat([]float64{0.25}, 16), slices.Repeat([]float64{0}, 32))...)

	fields := asIs
	fields.Layer = "fields"
	n = open(t, tinyonnx.Colours().Encode(), fields)
	if v, err = n.Describe(plain(t, 20, 90, 255, 0, 0)); err != nil || len(v) != 3 {
		t.Fatalf("%v: %v", v, err)
	}
	near(t, "blue, averaged over the fields", v, 0, 0, 1)

	fields.Layer, fields.Mean, fields.Std = "means", [3]float32{0.5, 0.5, 0.5}, [3]float32{0.5, 0.25, 1}
	n = open(t, tinyonnx.Colours().Encode(), fields) // (1, 0.5, 0) becomes (1, 0, -0.5)
	if v, err = n.Describe(plain(t, 64, 64, 0, 127.5, 255)); err != nil {
		t.Fatal(err)
	}
	near(t, "with mean and deviation", v, 1/math.Sqrt(1.25), 0.00784/math.Sqrt(1.25), -0.5/math.Sqrt(1.25))
}

func TestDescribeAPartOfAPicture(t *testing.T) {
	n := open(t, tinyonnx.Colours().Encode(), asIs)
	whole := plain(t, 200, 100, 0, 255, 0)
	left := whole.Region(image.Rect(0, 0, 100, 100))
	defer left.Close()
	left.SetTo(gocv.NewScalar(255, 0, 0, 0))
	v, err := n.Describe(left)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the blue half", v[32:], slices.Repeat([]float64{0.25}, 16)...)
}

func TestDescribeFromManyGoroutines(t *testing.T) {
	n := open(t, tinyonnx.Colours().Encode(), asIs)
	red, blue := plain(t, 60, 60, 0, 0, 255), plain(t, 60, 60, 255, 0, 0)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			m, at := red, 0
			if i%2 == 1 {
				m, at = blue, 32
			}
			if v, err := n.Describe(m); err != nil || math.Abs(float64(v[at])-0.25) > 1e-4 {
				t.Errorf("%v: %v", v, err)
			}
		})
	}
	group.Wait()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Describe(red); err == nil {
		t.Error("a closed net describes")
	}
}

func TestPicturesThatCannotBeDescribed(t *testing.T) {
	n := open(t, tinyonnx.Colours().Encode(), asIs)
	empty, grey := gocv.NewMat(), gocv.NewMatWithSize(10, 10, gocv.MatTypeCV8UC1)
	defer empty.Close()
	defer grey.Close()
	for _, m := range []gocv.Mat{empty, grey} {
		if _, err := n.Describe(m); err == nil {
			t.Error("no error")
		}
	}
	if _, err := n.Describe(plain(t, 10, 10, 0, 0, 0)); !errors.Is(err, ErrModel) {
		t.Errorf("black gives nothing: %v", err)
	}
}

// changed is the model of colours with a change.
func changed(f func(*tinyonnx.Model)) []byte {
	m := tinyonnx.Colours()
	f(&m)
	return m.Encode()
}

func TestOpenRefuses(t *testing.T) {
	good := tinyonnx.Colours().Encode()
	with := func(f func(*Settings)) Settings { s := asIs; f(&s); return s }
	for _, c := range []struct {
		name     string
		model    []byte
		settings Settings
		want     string
	}{
		{"nothing", nil, asIs, "no ONNX file"},
		{"text", []byte("hello, this is not a model"), asIs, "ONNX"},
		{"half of it", good[:len(good)/2], asIs, "no whole ONNX file"},
		{"no steps", changed(func(m *tinyonnx.Model) { m.Nodes = nil }), asIs, "no steps"},
		{"an unknown step", changed(func(m *tinyonnx.Model) { m.Nodes[0].Op = "Teleport" }), asIs, "OpenCV 4"},
		{"a step without weights", changed(func(m *tinyonnx.Model) { m.Weights = nil }), asIs, `works on "weights"`},
		{"a step twice", changed(func(m *tinyonnx.Model) { m.Nodes = append(m.Nodes, m.Nodes[0]) }), asIs, "there already"},
		{"steps in a ring", changed(func(m *tinyonnx.Model) { m.Nodes[0].Inputs[0] = "described" }), asIs, "nothing before it makes"},
		{"weights of other sides", changed(func(m *tinyonnx.Model) { m.Weights[0].Dims[0] = 5 }), asIs, "numbers that its sides say"},
		{"huge weights", changed(func(m *tinyonnx.Model) { m.Weights[0].Dims = []int64{1 << 40, 1 << 40} }), asIs, "too large"},
		{"weights below zero", changed(func(m *tinyonnx.Model) { m.Weights[0].Dims[0] = -3 }), asIs, "too large"},
		{"no such layer", good, with(func(s *Settings) { s.Layer = "x" }), `no layer "x"`},
		{"a tiny input", good, with(func(s *Settings) { s.Width = 3 }), "pixels"},
		{"a huge input", good, with(func(s *Settings) { s.Height = 5000 }), "pixels"},
		{"no deviation", good, with(func(s *Settings) { s.Std[1] = 0 }), "std"},
		{"no number", good, with(func(s *Settings) { s.Mean[1] = float32(math.NaN()) }), "mean"},
		{"an input that the model cannot take", changed(func(m *tinyonnx.Model) { m.Weights[0].Dims = []int64{3, 6, 8, 4} }), asIs, "unusable model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Open(c.model, c.settings)
			if err == nil {
				n.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q on one line", err, c.want)
			}
		})
	}
}

func TestInspect(t *testing.T) {
	got, err := Inspect(tinyonnx.Colours().Encode())
	if err != nil {
		t.Fatal(err)
	}
	want := Outline{Opset: 11, Inputs: []string{"picture"}, Nodes: []Node{
		{Name: "means", Op: "Conv", Inputs: []string{"picture", "weights"}, Outputs: []string{"fields"}}, {Name: "row", Op: "Flatten", Inputs: []string{"fields"}, Outputs: []string{"described"}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("outline (-want +got)\n%s", d)
	}
	if _, err := Inspect(make([]byte, MaxModelBytes+1)); !errors.Is(err, ErrModel) {
		t.Errorf("too long: %v", err)
	}
}

// FuzzInspect changes models.
func FuzzInspect(f *testing.F) {
	small := func(m *tinyonnx.Model) { // or making a find shorter takes all the time
		m.Weights[0].Dims, m.Weights[0].Values = []int64{1, 3, 1, 1}, []float32{1, 2, 3}
	}
	f.Add(changed(small))
	f.Add(changed(func(m *tinyonnx.Model) { small(m); m.Nodes, m.Output = m.Nodes[:1], "fields" }))
	f.Add([]byte{0x3a, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Inspect(data)
		if err != nil {
			if !errors.Is(err, ErrModel) {
				t.Errorf("%v is no ErrModel", err)
			}
			return
		}
		if len(o.Nodes) == 0 || len(o.Inputs) != 1 {
			t.Errorf("passed with %+v", o)
		}
	})
}
