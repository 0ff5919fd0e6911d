//go:build matprofile

package vision_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
	"docent/vision/synthetic"
)

// TestNoMatIsLeftOpen recognises 500 photos of works, of other things and of nothing, and walks every path that ends in
// an error, and counts the Mats.
func TestNoMatIsLeftOpen(t *testing.T) {
	r := opened(t)
	files := photoFiles(t)
	before := gocv.MatProfile.Count()
	decisions := make(map[vision.Decision]int)
	for i := range 500 {
		p, err := vision.Decode(files[i%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Recognise(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		decisions[got.Decision]++
		vision.Judge(p)
		if _, err := p.JPEG(320, 80); err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	if decisions[vision.DecisionMatch] < 100 || decisions[vision.DecisionUnknown] < 100 {
		t.Errorf("decisions %v, want many of each", decisions)
	}
	mats(t, "500 recognitions", before)

	paths := map[string]func() error{
		"photo of grey": func() error {
			_, err := vision.NewPhoto(gocv.NewMatWithSize(80, 80, gocv.MatTypeCV8UC1), time.Time{})
			return err
		},
		"photo of nothing": func() error {
			_, err := vision.NewPhoto(gocv.NewMat(), time.Time{})
			return err
		},
		"quality of a JPEG": func() error {
			return with(files[0], func(p vision.Photo) error { _, err := p.JPEG(100, 0); return err })
		},
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return with(files[0], func(p vision.Photo) error { _, err := r.Recognise(ctx, p); return err })
		},
		"cancelled while looking": func() error {
			for wait := time.Millisecond; wait < time.Second; wait *= 2 {
				ctx, cancel := context.WithTimeout(context.Background(), wait)
				err := with(files[len(files)-1], func(p vision.Photo) error { _, err := r.Recognise(ctx, p); return err })
				cancel()
				if err == nil { // it was quicker: every moment before was tried
					break
				}
			}
			return context.DeadlineExceeded
		},
		"pixels of another kind": func() error {
			m := gocv.NewMatWithSize(80, 80, gocv.MatTypeCV32F)
			defer m.Close()
			_, err := r.Recognise(context.Background(), vision.Photo{Image: m})
			return err
		},
		"describe nothing": func() error {
			m := gocv.NewMat()
			defer m.Close()
			_, err := vision.Describe(m)
			return err
		},
		"build of text": func() error {
			path := filepath.Join(t.TempDir(), "text.png")
			if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := vision.BuildIndex(context.Background(), []vision.Reference{{ExhibitID: "a", Path: path}}, t.TempDir(), vision.Options{})
			return err
		},
		"build of a cut picture": func() error {
			path := filepath.Join(t.TempDir(), "cut.png")
			m := painting(1)
			defer m.Close()
			if !gocv.IMWrite(path, m) {
				t.Fatalf("cannot write %s", path)
			}
			if err := os.Truncate(path, 60); err != nil {
				t.Fatal(err)
			}
			_, err := vision.BuildIndex(context.Background(), []vision.Reference{{ExhibitID: "a", Path: path}}, t.TempDir(), vision.Options{})
			return err
		},
		"closed": func() error {
			closed, err := vision.Open(indexDir(t), vision.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := closed.Close(); err != nil {
				t.Fatal(err)
			}
			return with(files[0], func(p vision.Photo) error { _, err := closed.Recognise(context.Background(), p); return err })
		},
	}
	for name, path := range paths {
		if path() == nil {
			t.Errorf("%s: no error", name)
		}
		mats(t, name, before)
	}
}

// mats says so when there are more Mats than before.
func mats(t *testing.T, after string, before int) {
	t.Helper()
	if left := gocv.MatProfile.Count() - before; left != 0 {
		var b bytes.Buffer
		if err := gocv.MatProfile.WriteTo(&b, 1); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("after %s: %d Mats left open\n%s", after, left, b.Bytes())
	}
}

func with(data []byte, do func(vision.Photo) error) error {
	p, err := vision.Decode(data)
	if err != nil {
		return err
	}
	defer p.Close()
	return do(p)
}

// photoFiles is uploads of all kinds: works of the index, works and things that are not in it, dark ones, blank ones.
func photoFiles(t *testing.T) [][]byte {
	t.Helper()
	var files [][]byte
	add := func(m gocv.Mat) {
		t.Helper()
		defer m.Close()
		b, err := gocv.IMEncode(gocv.JPEGFileExt, m)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		files = append(files, bytes.Clone(b.GetBytes()))
	}
	for i := range uint64(12) { // of which the index has 8
		m := painting(i)
		p := synthetic.Random(rand.New(rand.NewPCG(i, 3)), synthetic.Typical)
		p.Width, p.Height = 640, 480
		if i%4 == 3 {
			p.Exposure = -3
		}
		shot, _, err := synthetic.Render(m, p)
		m.Close()
		if err != nil {
			t.Fatal(err)
		}
		add(shot)
	}
	for i := range 6 {
		m, err := synthetic.DistractorOf(synthetic.Kind(i), rand.New(rand.NewPCG(uint64(i), 4)))
		if err != nil {
			t.Fatal(err)
		}
		add(m)
	}
	add(gocv.NewMatWithSizeFromScalar(gocv.NewScalar(90, 90, 90, 0), 480, 640, gocv.MatTypeCV8UC3))
	return files
}
