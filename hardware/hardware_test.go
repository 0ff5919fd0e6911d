package hardware

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestCameras(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	sys := fstest.MapFS{
		"class/video4linux/video10/name":     file("HD Pro Webcam C920\n"),
		"class/video4linux/video10/index":    file("0\n"),
		"class/video4linux/video11/name":     file("HD Pro Webcam C920\n"),
		"class/video4linux/video11/index":    file("1\n"),
		"class/video4linux/video2/name":      file("Old driver without an index"),
		"class/video4linux/video3/index":     file("0\n"), // half gone
		"class/video4linux/v4l-subdev0/name": file("a sensor's part"),
		"class/video4linux/video4/name":      file(strings.Repeat("x", 5000) + "\xff"),
		"class/video4linux/video4/index":     file("0"),
	}
	got, err := Cameras(sys)
	if err != nil {
		t.Fatal(err)
	}
	want := []Camera{
		{"/dev/video2", "Old driver without an index"}, {"/dev/video4", strings.Repeat("x", maxName)}, {"/dev/video10", "HD Pro Webcam C920"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("cameras (-want +got)\n%s", d)
	}
	if got, err := Cameras(fstest.MapFS{}); err != nil || got != nil {
		t.Errorf("no driver: %v, %v", got, err)
	}
	if _, err := Cameras(fstest.MapFS{"class/video4linux": file("a file")}); err == nil {
		t.Error("a file in the place of the folder")
	}
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	space, err := Disk(filepath.Join(dir, "not", "yet", "there"))
	if err != nil || space.Total == 0 || space.Free > space.Total {
		t.Errorf("space %+v: %v", space, err)
	}
	if err := Writable(filepath.Join(dir, "not", "yet")); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Disk(filepath.Join(file, "below")); err == nil {
		t.Error("space below a file")
	}
	if err := Writable(file); err == nil {
		t.Error("a file is no folder to write to")
	}
	if os.Getuid() != 0 {
		if err := Writable("/proc/1"); err == nil {
			t.Error("may write to /proc/1")
		}
	}
}

func TestClock(t *testing.T) {
	if _, err := ClockSynced(); err != nil {
		t.Error(err)
	}
}
