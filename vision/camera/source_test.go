package camera

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"
)

// fill writes pictures of one colour each into dir: 01.png is red, 02.jpg green, sub/03.webp blue.
func fill(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]gocv.Scalar{
		"01.png": gocv.NewScalar(0, 0, 255, 0), "02.jpg": gocv.NewScalar(0, 255, 0, 0), "sub/03.webp": gocv.NewScalar(255, 0, 0, 0),
	} {
		img := gocv.NewMatWithSizeFromScalar(c, 600, 800, gocv.MatTypeCV8UC3)
		if !gocv.IMWrite(filepath.Join(dir, name), img) {
			t.Fatalf("write %s", name)
		}
		img.Close()
	}
	for name, text := range map[string]string{"00-broken.jpg": "not a picture", "notes.txt": "no picture either"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// colour names the colour of a picture of one colour.
func colour(m gocv.Mat) string {
	v := m.GetVecbAt(m.Rows()/2, m.Cols()/2)
	for i, name := range []string{"blue", "green", "red"} {
		if v[i] > 200 && v[(i+1)%3] < 60 && v[(i+2)%3] < 60 {
			return name
		}
	}
	return "other"
}

func TestFolderShowsEachPictureForAWhile(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	now := time.Unix(1000, 0)
	src, err := Open(dir, Settings{FrameRate: 1e6, Dwell: 4 * time.Second, MaxSide: 400, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	f := src.(*Folder)
	frame := gocv.NewMat()
	defer func() { frame.Close() }()
	read := func() string {
		t.Helper()
		if err := f.Read(t.Context(), &frame); err != nil {
			t.Fatal(err)
		}
		return colour(frame)
	}
	var got []string
	for range 8 { // every second second
		got = append(got, read())
		now = now.Add(2 * time.Second)
	}
	if g := strings.Join(got, " "); g != "red red green green blue blue red red" {
		t.Errorf("shown: %s", g)
	}
	if size := image.Pt(frame.Cols(), frame.Rows()); size != image.Pt(400, 300) {
		t.Errorf("size %v, want 400 × 300", size)
	}
	now = now.Add(-2 * time.Second)
	f.Next()
	if c := read(); c != "green" || f.Shown() != "02.jpg" {
		t.Errorf("after next: %s, %s", c, f.Shown())
	}
	f.Next()
	if f.Shown() != "sub/03.webp" {
		t.Errorf("after next: %s", f.Shown())
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err == nil {
		t.Error("closed twice without a word")
	}
}

func TestFolderWithoutAReadablePicture(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenFolder(dir, Settings{}); err == nil || !strings.Contains(err.Error(), "no .jpg") {
		t.Errorf("empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.jpg"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(dir, Settings{FrameRate: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	frame := gocv.NewMat()
	defer frame.Close()
	if err := f.Read(t.Context(), &frame); err == nil || !strings.Contains(err.Error(), "none can be read") {
		t.Errorf("broken pictures only: %v", err)
	}
}

func TestVideoPlaysOverAndOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "visit.avi")
	w, err := gocv.VideoWriterFile(path, "MJPG", 25, 320, 240, true)
	if err != nil {
		t.Fatal(err)
	}
	const frames = 5
	for i := range frames {
		img := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(float64(50*i), 0, 0, 0), 240, 320, gocv.MatTypeCV8UC3)
		if err := w.Write(img); err != nil {
			t.Fatal(err)
		}
		img.Close()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := Open(path, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	frame := gocv.NewMat()
	defer frame.Close()
	for i := range 2*frames + 2 {
		if err := src.Read(t.Context(), &frame); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		blue, want := int(frame.GetVecbAt(120, 160)[0]), 50*(i%frames)
		if blue < want-12 || blue > want+12 {
			t.Errorf("frame %d: blue %d, want about %d", i, blue, want)
		}
	}
	// The whole way: a camera over the file.
	c := Start(Options{Open: func() (Source, error) { return Open(path, Settings{}) }})
	defer c.Close()
	var photo interface{ Close() error }
	for photo == nil {
		p, err := c.Burst(t.Context(), 3)
		switch {
		case err == nil:
			photo = &p
		case !errors.Is(err, ErrNotReady):
			t.Fatal(err)
		case c.State() == StateAlert:
			t.Fatal("camera in alert")
		}
	}
	photo.Close()
}

func TestOpenRefuses(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.mp4")
	if err := os.WriteFile(text, []byte("not a video"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, spec string
		check      bool // Check finds it too
	}{
		{"nothing", "", true},
		{"missing file", "/nowhere/film.mp4", true},
		{"unknown scheme", "ftp://camera/film", true},
		{"address without host", "rtsp://", true},
		{"text named as video", text, false},
		{"missing device", "/dev/video-missing", false},
		{"device number", "251", false},
		{"stream that does not answer", "rtsp://guard:secret@127.0.0.1:1/live", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, err := Open(tt.spec, Settings{})
			if err == nil {
				src.Close()
				t.Fatal("opened")
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the password: %v", err)
			}
			if got := errors.Is(Check(tt.spec), ErrSpec); got != tt.check {
				t.Errorf("Check finds it: %v, want %v", got, tt.check)
			}
		})
	}
}
