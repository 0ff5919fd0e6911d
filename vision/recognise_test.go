package vision_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gocv.io/x/gocv"

	"docent/localindex/gallery"
	"docent/localindex/vector"
	"docent/vision"
	"docent/vision/synthetic"
)

// painting draws overlapping shapes in colours of its own; the caller closes it.
func painting(seed uint64) gocv.Mat {
	rng := rand.New(rand.NewPCG(seed, 77))
	const width, height = 480, 360
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(150, 140, 130, 0), height, width, gocv.MatTypeCV8UC3)
	for range 160 {
		c := color.RGBA{R: uint8(rng.IntN(256)), G: uint8(rng.IntN(256)), B: uint8(rng.IntN(256)), A: 255}
		at, s := image.Pt(rng.IntN(width), rng.IntN(height)), 6+rng.IntN(60)
		switch rng.IntN(3) {
		case 0:
			gocv.Circle(&m, at, s/2, c, -1)
		case 1:
			gocv.Rectangle(&m, image.Rect(at.X, at.Y, at.X+s, at.Y+s*2/3), c, -1)
		default:
			gocv.Line(&m, at, at.Add(image.Pt(rng.IntN(2*s)-s, rng.IntN(2*s)-s)), c, 1+rng.IntN(6))
		}
	}
	return m
}

// references writes n paintings and names them a0, a1 ….
func references(t testing.TB, n int) []vision.Reference {
	t.Helper()
	dir := t.TempDir()
	var refs []vision.Reference
	for i := range n {
		m := painting(uint64(i))
		name := fmt.Sprintf("a%d.png", i)
		if !gocv.IMWrite(filepath.Join(dir, name), m) {
			t.Fatalf("cannot write %s", name)
		}
		m.Close()
		refs = append(refs, vision.Reference{ExhibitID: fmt.Sprintf("a%d", i), Picture: name, Path: filepath.Join(dir, name)})
	}
	return refs
}

// shared is an index of eight paintings that the tests below only read.
var shared = sync.OnceValues(func() (string, error) {
	return os.MkdirTemp("", "docent-vision-test-*")
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := shared(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func indexDir(t testing.TB) string {
	t.Helper()
	dir, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.bin")); err != nil {
		if _, err := vision.BuildIndex(context.Background(), references(t, 8), dir, vision.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func opened(t testing.TB) *vision.Recogniser {
	t.Helper()
	dir := indexDir(t)
	r, err := vision.Open(dir, vision.Options{})
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

// photo takes a visitor's photo of a painting, and says where its corners are.
func photo(t testing.TB, seed uint64, change func(*synthetic.Params)) (vision.Photo, [4]synthetic.Point) {
	t.Helper()
	m := painting(seed)
	defer m.Close()
	p := synthetic.Random(rand.New(rand.NewPCG(seed, 5)), synthetic.Easy)
	p.Width, p.Height = 800, 600
	if change != nil {
		change(&p)
	}
	picture, outline, err := synthetic.Render(m, p)
	if err != nil {
		t.Fatal(err)
	}
	return take(t, picture), outline
}

// take makes a photo of a picture, which it takes over.
func take(t testing.TB, picture gocv.Mat) vision.Photo {
	t.Helper()
	p, err := vision.NewPhoto(picture, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func recognise(t testing.TB, r *vision.Recogniser, p vision.Photo) vision.Recognition {
	t.Helper()
	got, err := r.Recognise(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRecogniseNamesThePainting(t *testing.T) {
	r := opened(t)
	for _, c := range []struct {
		name   string
		seed   uint64
		change func(*synthetic.Params)
	}{
		{"from the front", 0, nil},
		{"from aside", 1, func(p *synthetic.Params) { p.Yaw, p.Pitch = 30, -10 }},
		{"lying on its side", 2, func(p *synthetic.Params) { p.Roll = 90 }},
		{"upside down", 3, func(p *synthetic.Params) { p.Roll = 180 }},
		{"on its other side", 4, func(p *synthetic.Params) { p.Roll = -90 }},
		{"small", 5, func(p *synthetic.Params) { p.Fill = 0.35 }},
		{"cut by the edge", 6, func(p *synthetic.Params) { p.Fill, p.ShiftX = 1.4, 0.2 }},
		{"dark and noisy", 7, func(p *synthetic.Params) { p.Exposure, p.Noise = -1.5, 6 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, outline := photo(t, c.seed, c.change)
			got := recognise(t, r, p)
			want := fmt.Sprintf("a%d", c.seed)
			if got.Decision != vision.DecisionMatch || len(got.Candidates) != 1 || got.Candidates[0].ExhibitID != want {
				t.Fatalf("%s with %+v, want a match of %s", got.Decision, got.Candidates, want)
			}
			best := got.Candidates[0]
			if best.Picture != want+".png" || best.Confidence < 0.5 || best.Confidence > 1 || best.Inliers < 12 {
				t.Errorf("candidate %+v", best)
			}
			for i, p := range best.Outline {
				if d := math.Hypot(p.X-outline[i].X, p.Y-outline[i].Y); d > 0.03 {
					t.Errorf("corner %d is at %.3f, %.3f, want %.3f, %.3f", i, p.X, p.Y, outline[i].X, outline[i].Y)
				}
			}
			if tm := got.Timings; tm.Features <= 0 || tm.Shortlist <= 0 || tm.Verify <= 0 || tm.Total < tm.Features+tm.Shortlist+tm.Verify {
				t.Errorf("timings %+v", tm)
			}
		})
	}
}

// TestRecogniseOffersBothOfTwoWorks hangs two paintings beside each other: the larger one near the middle is the answer,
// the other is offered with it, whichever of them has more features.
func TestRecogniseOffersBothOfTwoWorks(t *testing.T) {
	r := opened(t)
	for _, c := range []struct{ large, small uint64 }{{2, 5}, {5, 2}, {0, 7}} {
		wall := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(200, 205, 210, 0), 768, 1024, gocv.MatTypeCV8UC3)
		for _, work := range []struct {
			seed uint64
			at   image.Rectangle
		}{{c.large, image.Rect(180, 180, 660, 540)}, {c.small, image.Rect(740, 300, 980, 480)}} {
			picture := painting(work.seed)
			gocv.Resize(picture, &picture, work.at.Size(), 0, 0, gocv.InterpolationArea)
			place := wall.Region(work.at)
			picture.CopyTo(&place)
			place.Close()
			picture.Close()
		}
		got := recognise(t, r, take(t, wall))
		var names []string
		for _, k := range got.Candidates {
			names = append(names, k.ExhibitID)
		}
		want := []string{fmt.Sprintf("a%d", c.large), fmt.Sprintf("a%d", c.small)}
		if got.Decision != vision.DecisionMatch || !cmp.Equal(names, want) {
			t.Errorf("%s with %v, want a match with %v", got.Decision, names, want)
		}
	}
}

func TestRecogniseNamesNothingUnknown(t *testing.T) {
	r := opened(t)
	t.Run("another painting", func(t *testing.T) {
		p, _ := photo(t, 1000, nil)
		wantUnknown(t, recognise(t, r, p))
	})
	for kind := synthetic.Painting; kind <= synthetic.Blank; kind++ {
		t.Run(fmt.Sprintf("thing %d", kind), func(t *testing.T) {
			m, err := synthetic.DistractorOf(kind, rand.New(rand.NewPCG(1, uint64(kind))))
			if err != nil {
				t.Fatal(err)
			}
			wantUnknown(t, recognise(t, r, take(t, m)))
		})
	}
	t.Run("a mirrored painting", func(t *testing.T) {
		p, _ := photo(t, 2, nil)
		mirrored := gocv.NewMat()
		gocv.Flip(p.Image, &mirrored, 1)
		wantUnknown(t, recognise(t, r, take(t, mirrored)))
	})
	t.Run("one colour", func(t *testing.T) {
		wantUnknown(t, recognise(t, r, take(t, gocv.NewMatWithSize(300, 400, gocv.MatTypeCV8UC3))))
	})
}

func wantUnknown(t *testing.T, got vision.Recognition) {
	t.Helper()
	if got.Decision != vision.DecisionUnknown || len(got.Candidates) != 0 {
		t.Errorf("%s with %+v, want unknown", got.Decision, got.Candidates)
	}
}

func TestRecogniseFromManyGoroutines(t *testing.T) {
	r := opened(t)
	var photos []vision.Photo
	var want []vision.Recognition
	for i := range 4 {
		p, _ := photo(t, uint64(i), nil)
		photos = append(photos, p)
		got := recognise(t, r, p)
		got.Timings = vision.Timings{}
		want = append(want, got)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			got, err := r.Recognise(context.Background(), photos[g%4])
			if err != nil {
				t.Error(err)
				return
			}
			got.Timings = vision.Timings{}
			if diff := cmp.Diff(want[g%4], got); diff != "" {
				t.Errorf("alone and among others differ:\n%s", diff)
			}
		})
	}
	wg.Wait()
}

func TestRecogniseStopsWhenToldTo(t *testing.T) {
	r := opened(t)
	p, _ := photo(t, 0, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Recognise(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want Canceled", err)
	}
	empty := vision.Photo{Image: gocv.NewMat()}
	defer empty.Close()
	if _, err := r.Recognise(context.Background(), empty); err == nil {
		t.Error("a photo without pixels is recognised")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Recognise(context.Background(), p); !errors.Is(err, vision.ErrClosed) {
		t.Errorf("after Close: error %v, want ErrClosed", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func TestExhibitWithSeveralPictures(t *testing.T) {
	refs := references(t, 3)
	refs[1].ExhibitID = "a0" // a0 has two pictures
	dir := t.TempDir()
	report, err := vision.BuildIndex(context.Background(), refs, dir, vision.Options{Index: vector.HNSW})
	if err != nil {
		t.Fatal(err)
	}
	if report.Exhibits != 2 || report.Pictures != 3 || report.Features < 300 || report.VectorIndex.Kind != vector.HNSW {
		t.Errorf("report %+v", report)
	}
	r, err := vision.Open(dir, vision.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if diff := cmp.Diff(report, r.Report()); diff != "" {
		t.Errorf("report (-built +opened):\n%s", diff)
	}
	for seed := range uint64(2) {
		p, _ := photo(t, seed, nil)
		got := recognise(t, r, p)
		if len(got.Candidates) != 1 || got.Candidates[0].ExhibitID != "a0" || got.Candidates[0].Picture != fmt.Sprintf("a%d.png", seed) {
			t.Errorf("photo of picture %d: %+v", seed, got.Candidates)
		}
	}
}

// files reads all files of a folder.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]byte)
	for _, e := range entries {
		if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestBuildWritesTheSameFilesEveryTime(t *testing.T) {
	refs := references(t, 3)
	one, two := t.TempDir(), t.TempDir()
	for dir, threads := range map[string]int{one: 1, two: 4} {
		if _, err := vision.BuildIndex(context.Background(), refs, dir, vision.Options{Threads: threads}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := files(t, one), files(t, two)
	if len(a) != 5 {
		t.Errorf("%d files, want 5", len(a))
	}
	for name := range a {
		if !slices.Equal(a[name], b[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestDamagedIndexIsNotOpened(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	refs := references(t, 3)
	for d, list := range map[string][]vision.Reference{dir: refs[:2], other: refs[1:]} {
		if _, err := vision.BuildIndex(context.Background(), list, d, vision.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	whole, foreign := files(t, dir), files(t, other)
	refuse := func(name, what string, data []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := vision.Open(dir, vision.Options{}); !errors.Is(err, vision.ErrDamaged) {
			t.Errorf("%s %s: error %v, want ErrDamaged", name, what, err)
			if err == nil {
				r.Close()
			}
		}
		if err := os.WriteFile(path, whole[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range whole {
		for _, at := range []int{0, 7, 9, 20, 60, len(data) / 2, len(data) - 1} {
			bad := slices.Clone(data)
			bad[at] ^= 0x40
			refuse(name, fmt.Sprintf("with byte %d changed", at), bad)
		}
		refuse(name, "empty", nil)
		refuse(name, "cut", data[:len(data)/2])
		refuse(name, "with a byte more", append(slices.Clone(data), 0))
		if name != "vectors.bin" { // only the release's list of files tells those of two equally large collections apart
			refuse(name, "of another collection", foreign[name])
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := vision.Open(dir, vision.Options{}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without %s: error %v, want ErrNotExist", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := vision.Open(dir, vision.Options{})
	if err != nil {
		t.Fatalf("as it was: %v", err)
	}
	r.Close()
}

func TestReferencesThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	text, blank := filepath.Join(dir, "text.png"), filepath.Join(dir, "blank.png")
	if err := os.WriteFile(text, []byte("no picture"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := gocv.NewMatWithSize(200, 200, gocv.MatTypeCV8UC3)
	gocv.IMWrite(blank, m)
	m.Close()
	for name, path := range map[string]string{"none": filepath.Join(dir, "none.png"), "text": text, "blank": blank} {
		refs := []vision.Reference{{ExhibitID: "x", Picture: name, Path: path}}
		if _, err := vision.BuildIndex(context.Background(), refs, t.TempDir(), vision.Options{}); !errors.Is(err, vision.ErrReference) {
			t.Errorf("%s: error %v, want ErrReference", name, err)
		}
	}
	if _, err := vision.BuildIndex(context.Background(), nil, t.TempDir(), vision.Options{}); !errors.Is(err, vision.ErrReference) {
		t.Errorf("no pictures: error %v, want ErrReference", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := vision.BuildIndex(ctx, references(t, 1), t.TempDir(), vision.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v, want Canceled", err)
	}
}

func TestWeakPicturesAreReported(t *testing.T) {
	refs := references(t, 2)
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(200, 200, 200, 0), 300, 300, gocv.MatTypeCV8UC3)
	defer m.Close()
	gocv.Circle(&m, image.Pt(150, 150), 60, color.RGBA{R: 20, A: 255}, -1)
	if !gocv.IMWrite(refs[1].Path, m) {
		t.Fatal("cannot write")
	}
	report, err := vision.BuildIndex(context.Background(), refs, t.TempDir(), vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Weak) != 1 || report.Weak[0].ExhibitID != "a1" || report.Weak[0].Picture != "a1.png" {
		t.Errorf("weak pictures %+v, want that of a1", report.Weak)
	}
}

func TestIndexPart(t *testing.T) {
	refs := references(t, 2)
	dir := filepath.Dir(refs[0].Path)
	g := &gallery.Gallery{
		Exhibits: []gallery.Exhibit{
			{ID: "first", Pictures: []gallery.Picture{{File: "a0.png"}}},
			{ID: "second", Pictures: []gallery.Picture{{File: "a1.png"}}},
			{ID: "without a picture"},
		},
		Recognition: gallery.Recognition{Index: "hnsw"},
	}
	part := vision.IndexPart{}
	if part.Name() != "recognition" {
		t.Errorf("name %q", part.Name())
	}
	partDir := t.TempDir()
	report, err := part.Build(context.Background(), g, dir, partDir)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.(vision.Report); got.Exhibits != 2 || got.VectorIndex.Kind != vector.HNSW {
		t.Errorf("report %+v, want two exhibits and hnsw", got)
	}
	r, err := vision.Open(partDir, vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, _ := photo(t, 1, nil)
	if got := recognise(t, r, p); len(got.Candidates) != 1 || got.Candidates[0].ExhibitID != "second" {
		t.Errorf("candidates %+v, want second", got.Candidates)
	}

	g.Recognition.Index = "best"
	if _, err := part.Build(context.Background(), g, dir, t.TempDir()); err == nil {
		t.Error("an unknown kind of index is built")
	}
	g.Recognition = gallery.Recognition{}
	g.Exhibits[0].Pictures[0].File = "../a0.png"
	if _, err := part.Build(context.Background(), g, dir, t.TempDir()); !errors.Is(err, vision.ErrReference) {
		t.Errorf("a picture outside the gallery: error %v, want ErrReference", err)
	}
}
