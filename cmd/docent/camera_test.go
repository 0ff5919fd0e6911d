package main

import (
	"bytes"
	"fmt"
	"image"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gocv.io/x/gocv"
)

// TestCameraHasItsOwnProcess runs a kiosk whose camera is a video, so in a process of its own, kills that process, and
// then the kiosk.
func TestCameraHasItsOwnProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole product; not part of -short")
	}
	dir := t.TempDir()
	screen := freeAddress(t)
	config := filepath.Join(dir, "kiosk.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, "listen: %s\ndata_dir: %s\nrelease: %s\ncamera: {source: %s}\n",
		screen, filepath.Join(dir, "kiosk"), sampleRelease(t), video(t, dir)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	camera := func() (state string, opened int) {
		var ready struct {
			Camera       string `json:"camera"`
			CameraOpened int    `json:"camera_opened"`
		}
		if res, err := http.Get("http://" + screen + "/healthz"); err != nil {
			return "", 0
		} else if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		request(t, http.MethodGet, "http://"+screen+"/readyz", nil, &ready)
		return ready.Camera, ready.CameraOpened
	}
	is := func(want string, atLeast int) func() bool {
		return func() bool {
			state, opened := camera()
			return state == want && opened >= atLeast
		}
	}

	k := start(t, "kiosk", "--config", config)
	eventually(t, "a ready camera", is("ready", 1))
	first := childOf(t, k.cmd.Process.Pid)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a ready camera after its process was killed", is("ready", 2))
	second := childOf(t, k.cmd.Process.Pid)
	if second == first {
		t.Errorf("process %d was killed and is there again", first)
	}
	k.kill(t)
	eventually(t, "the end of the camera's process after the kiosk's", func() bool { return gone(second) })
}

// video writes a small video of moving squares.
func video(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "hall.avi")
	w, err := gocv.VideoWriterFile(path, "MJPG", 15, 320, 240, true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 30 {
		img := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(40, 80, 120, 0), 240, 320, gocv.MatTypeCV8UC3)
		square := img.Region(image.Rect(i*5, 60, i*5+80, 140))
		square.SetTo(gocv.NewScalar(200, 200, 90, 0))
		square.Close()
		err := w.Write(img)
		img.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// childOf is the one process that pid has started.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	var children []int
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tasks {
		list, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range strings.Fields(string(list)) {
			child, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, child)
		}
	}
	if len(children) != 1 {
		t.Fatalf("process %d has the children %v, want one", pid, children)
	}
	return children[0]
}

// gone says whether a process has ended; nobody may have buried it yet.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}
