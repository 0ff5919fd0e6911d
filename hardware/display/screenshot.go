package display

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // of grim
	"time"

	"golang.org/x/image/draw"
)

// Bounds of a picture of the screen.
const (
	maxPicture  = 32 << 20 // bytes, as it comes from the browser or from grim
	maxPixels   = 50_000_000
	pictureTime = 10 * time.Second
)

// Screen takes pictures of what the screen shows.
type Screen struct {
	DevTools string // HOST:PORT of the browser's DevTools; empty: it offers none
	Page     string // what the address of the kiosk's page begins with; a tab that shows it goes before others
	Grim     Run    // grim, see [Find]; nil where it is not installed
	Wayland  bool   // this program knows of a compositor (WAYLAND_DISPLAY), which grim needs
}

// Shot is a picture of the screen.
type Shot struct {
	JPEG          []byte
	Width, Height int    // of the JPEG, in pixels
	By            string // what took it
}

// Take takes a picture and makes it fit into so many bytes, smaller and coarser where it must be. The browser goes first, then
// grim, which asks the compositor. The error is [ErrNoControl] where there is neither.
func (s Screen) Take(ctx context.Context, most int) (Shot, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*pictureTime)
	defer cancel()
	by := "the browser (DevTools)"
	data, err := s.browser(ctx)
	if err != nil {
		var grimErr error
		if data, grimErr = s.compositor(ctx); grimErr != nil {
			return Shot{}, s.neither(err, grimErr)
		}
		by = "the compositor (grim)"
	}
	shot, err := fit(data, most)
	if err != nil {
		return Shot{}, fmt.Errorf("picture of %s: %w", by, err)
	}
	shot.By = by
	return shot, nil
}

// By says what Take would use, or why there is nothing.
func (s Screen) By(ctx context.Context) (string, error) {
	_, err := s.target(ctx)
	if err == nil {
		return "the browser (DevTools)", nil
	}
	if grimErr := s.grimReady(); grimErr != nil {
		return "", s.neither(err, grimErr)
	}
	return "the compositor (grim)", nil
}

// neither tells what is not set up, which the box cannot, from what failed.
func (s Screen) neither(browser, compositor error) error {
	err := fmt.Errorf("%w; %w", browser, compositor)
	if s.DevTools == "" && s.grimReady() != nil {
		return fmt.Errorf("%w: %w", ErrNoControl, err)
	}
	return err
}

func (s Screen) grimReady() error {
	switch {
	case s.Grim == nil:
		return errors.New("grim is not installed")
	case !s.Wayland:
		return errors.New("grim finds no compositor: WAYLAND_DISPLAY is not set for this program")
	}
	return nil
}

// compositor has grim take a picture. Debian's grim is built without JPEG; level 1 of PNG is the fastest.
func (s Screen) compositor(ctx context.Context) ([]byte, error) {
	if err := s.grimReady(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	data, err := s.Grim(ctx, "-t", "png", "-l", "1", "-")
	if err != nil {
		return nil, fmt.Errorf("grim: %w", err)
	}
	return data, nil
}

// What is tried until a picture fits, the best first. The last takes about 20 kB of an ordinary screen.
var (
	sides     = []int{1920, 1600, 1280, 960, 640, 480, 320} // the longer side, pixels
	qualities = []int{80, 60}
)

// fit makes a JPEG of a picture that takes at most so many bytes.
func fit(data []byte, most int) (Shot, error) {
	head, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Shot{}, fmt.Errorf("read it: %w", err)
	}
	if head.Width < 1 || head.Height < 1 || head.Width > maxPixels/head.Height {
		return Shot{}, fmt.Errorf("it has %d × %d pixels, at most %d in all", head.Width, head.Height, maxPixels)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Shot{}, fmt.Errorf("read it: %w", err)
	}
	for _, side := range sides {
		scaled := shrink(img, side)
		for _, quality := range qualities {
			var out bytes.Buffer
			if err := jpeg.Encode(&out, scaled, &jpeg.Options{Quality: quality}); err != nil {
				return Shot{}, fmt.Errorf("write it: %w", err)
			}
			if size := scaled.Bounds().Size(); out.Len() <= most {
				return Shot{JPEG: out.Bytes(), Width: size.X, Height: size.Y}, nil
			}
		}
	}
	return Shot{}, fmt.Errorf("it does not fit into %d bytes", most)
}

// shrink makes the longer side at most so long.
func shrink(img image.Image, side int) image.Image {
	b := img.Bounds()
	long := max(b.Dx(), b.Dy())
	if long <= side {
		return img
	}
	small := image.NewRGBA(image.Rect(0, 0, max(1, b.Dx()*side/long), max(1, b.Dy()*side/long)))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), img, b, draw.Src, nil)
	return small
}
