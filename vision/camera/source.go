package camera

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gocv.io/x/gocv"
)

// Source gives frames. It is used by one goroutine, and closed by it.
type Source interface {
	// Read puts the next frame into dst: BGR or grey, 8 bits, never empty. It waits until the frame is due, or
	// until ctx is done.
	Read(ctx context.Context, dst *gocv.Mat) error
	Close() error
}

// ErrSpec is a camera that is not described in a way [Open] knows.
var ErrSpec = errors.New("not a camera, stream, video file or folder of pictures")

// Settings say how a source is opened. Zero fields mean the defaults.
type Settings struct {
	// Width and Height are asked of a camera, in pixels; it may give others. Default 1,280 × 720, which most
	// USB cameras deliver at full speed and which is more than recognition uses.
	Width, Height int
	// FrameRate is asked of a camera and is the pace of a folder, in frames per second. Default 15.
	FrameRate float64
	// Dwell is how long a folder shows each picture. Default 8 s.
	Dwell time.Duration
	// MaxSide is the long side in pixels to which a folder's pictures are scaled down. Default 1,280.
	MaxSide int
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

func (s Settings) withDefaults() Settings {
	if s.Width <= 0 || s.Height <= 0 {
		s.Width, s.Height = 1280, 720
	}
	if s.FrameRate <= 0 {
		s.FrameRate = 15
	}
	if s.Dwell <= 0 {
		s.Dwell = 8 * time.Second
	}
	if s.MaxSide <= 0 {
		s.MaxSide = 1280
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s
}

// Open opens what spec names:
//
//	0, /dev/video0               a V4L2 camera
//	rtsp://…, http://…           a stream (also rtsps and https)
//	visit.mp4                    a video file, played over and over at its own pace
//	photos/                      a folder of JPEG, PNG and WebP pictures, each shown for some seconds, over and over
func Open(spec string, s Settings) (Source, error) {
	s = s.withDefaults()
	k, err := kindOf(spec)
	if err != nil {
		return nil, err
	}
	switch k {
	case kindDevice:
		return openDevice(spec, s)
	case kindStream:
		return openStream(spec, s)
	case kindFolder:
		return OpenFolder(spec, s)
	default:
		return openVideo(spec, s)
	}
}

// Check says whether spec names something that [Open] could open, without opening a camera or stream.
func Check(spec string) error {
	_, err := kindOf(spec)
	return err
}

type kind int

const (
	kindDevice kind = iota
	kindStream
	kindFolder
	kindVideo
)

func kindOf(spec string) (kind, error) {
	if _, err := strconv.ParseUint(spec, 10, 8); err == nil || strings.HasPrefix(spec, "/dev/") {
		return kindDevice, nil
	}
	if scheme, _, ok := strings.Cut(spec, "://"); ok {
		if !slices.Contains([]string{"rtsp", "rtsps", "http", "https"}, scheme) {
			return 0, fmt.Errorf("%w: %s:// is not read, only rtsp, rtsps, http and https", ErrSpec, scheme)
		}
		if u, err := url.Parse(spec); err != nil || u.Host == "" {
			return 0, fmt.Errorf("%w: the %s address names no host", ErrSpec, scheme)
		}
		return kindStream, nil
	}
	info, err := os.Stat(spec)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrSpec, err)
	case info.IsDir():
		return kindFolder, nil
	case info.Mode().IsRegular():
		return kindVideo, nil
	}
	return 0, fmt.Errorf("%w: %s", ErrSpec, spec)
}
