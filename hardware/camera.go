package hardware

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Camera is a video device that the system has.
type Camera struct {
	Device string // such as /dev/video0
	Name   string // as its maker calls it
}

const maxName = 128 // bytes

// Cameras lists the devices that give pictures, by number. Most cameras have a second device, for descriptions of
// pictures, which is left out. sys is the system's /sys.
func Cameras(sys fs.FS) ([]Camera, error) {
	const class = "class/video4linux"
	entries, err := fs.ReadDir(sys, class)
	if errors.Is(err, fs.ErrNotExist) { // no driver is loaded
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list cameras: %w", err)
	}
	var found []Camera
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "video") {
			continue
		}
		if index, err := readLine(sys, path.Join(class, e.Name(), "index")); err == nil && index != "0" {
			continue
		}
		name, err := readLine(sys, path.Join(class, e.Name(), "name"))
		if err != nil { // unplugged since the list was read
			continue
		}
		found = append(found, Camera{Device: "/dev/" + e.Name(), Name: name})
	}
	slices.SortFunc(found, func(a, b Camera) int { return number(a) - number(b) })
	return found, nil
}

func number(c Camera) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(c.Device, "/dev/video"))
	return n
}

// readLine reads the first line of a small file.
func readLine(from fs.FS, name string) (string, error) {
	data, err := fs.ReadFile(from, name)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	line = strings.ToValidUTF8(strings.TrimSpace(line), "\uFFFD")
	return line[:min(len(line), maxName)], nil
}
