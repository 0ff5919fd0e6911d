package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/image/webp"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"docent/localindex/gallery"
)

const (
	// minPictureSide is the side in pixels below which a picture has too few features to be recognised reliably.
	minPictureSide = 300
	// leastPictureSide is the side in pixels below which recognition refuses a picture.
	leastPictureSide = 64
)

// codec reads one picture format.
type codec struct {
	name   string
	suffix []string
	is     func(head []byte) bool
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// codecs are the formats of pictures, told by their first bytes.
var codecs = []codec{
	{"JPEG", []string{".jpg", ".jpeg"}, func(h []byte) bool { return bytes.HasPrefix(h, []byte("\xff\xd8\xff")) }, jpeg.DecodeConfig, jpeg.Decode},
	{"PNG", []string{".png"}, func(h []byte) bool { return bytes.HasPrefix(h, []byte("\x89PNG\r\n\x1a\n")) }, png.DecodeConfig, png.Decode},
	{"WebP", []string{".webp"}, func(h []byte) bool { return len(h) >= 12 && string(h[:4]) == "RIFF" && string(h[8:12]) == "WEBP" }, webp.DecodeConfig, webp.Decode},
}

// errNotPicture carries what is wrong with a picture in plain words.
type errNotPicture string

func (e errNotPicture) Error() string { return string(e) }

// readPictureSize reads the header of a picture and compares it with the limits.
func readPictureSize(root *os.Root, name string) (width, height int, err error) {
	f, err := openPlain(root, name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	if info.Size() > MaxPictureBytes {
		return 0, 0, errTooLarge
	}
	c, err := findCodec(f)
	if err != nil {
		return 0, 0, err
	}
	config, err := c.config(io.LimitReader(f, MaxPictureBytes))
	if err != nil {
		return 0, 0, errNotPicture(fmt.Sprintf("this %s picture is damaged: %v", c.name, err))
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > MaxMegapixels*1_000_000/config.Height {
		return 0, 0, errNotPicture(fmt.Sprintf("this picture has %d×%d pixels; at most %d megapixels are allowed", config.Width, config.Height, MaxMegapixels))
	}
	if min(config.Width, config.Height) < leastPictureSide {
		return 0, 0, errNotPicture(fmt.Sprintf("this picture has %d×%d pixels; at least %d on each side are needed", config.Width, config.Height, leastPictureSide))
	}
	return config.Width, config.Height, nil
}

// findCodec tells the format of a picture and goes back to its beginning.
func findCodec(f io.ReadSeeker) (codec, error) {
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return codec{}, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return codec{}, err
	}
	head = head[:n]
	for _, c := range codecs {
		if c.is(head) {
			return c, nil
		}
	}
	switch {
	case n == 0:
		return codec{}, errNotPicture("this file is empty")
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		return codec{}, errNotPicture("HEIC and AVIF pictures are not read; save it as JPEG, PNG or WebP")
	case bytes.HasPrefix(head, []byte("GIF8")), bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")), bytes.HasPrefix(head, []byte("BM")):
		return codec{}, errNotPicture("GIF, TIFF and BMP pictures are not read; save it as JPEG, PNG or WebP")
	}
	return codec{}, errNotPicture("this is not a JPEG, PNG or WebP picture")
}

// pictureProblem says what is wrong with a picture in plain words.
func pictureProblem(err error) string {
	var e errNotPicture
	if errors.As(err, &e) {
		return string(e)
	}
	return fileProblem(err, "picture", MaxPictureBytes)
}

// checkPictures looks at the header of each picture of an exhibit and fills in its size.
func (x *exhibitFile) checkPictures(root *os.Root) {
	y, e := x.front, &x.exhibit
	if len(e.Pictures) == 0 {
		y.warnf([]any{"pictures"}, "pictures: there is none, so the exhibit cannot be recognised from a photo")
	}
	for i := range e.Pictures {
		p := &e.Pictures[i]
		at := []any{"pictures", i, "file"}
		if problem := picturePath(p.File); problem != "" {
			y.errorf(at, "pictures[%d].file: %q %s", i+1, p.File, problem)
			continue
		}
		var err error
		p.Width, p.Height, err = readPictureSize(root, p.File)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			y.errorf(at, "pictures[%d].file: there is no file %s%s", i+1, p.File, similarFile(root, p.File))
		case err != nil:
			y.errorf(at, "%s: %s", p.File, pictureProblem(err))
		case min(p.Width, p.Height) < minPictureSide:
			y.warnf(at, "%s has only %d×%d pixels; below %d on a side it may not be recognised", p.File, p.Width, p.Height, minPictureSide)
		}
		if len(p.Alt) == 0 {
			y.warnf([]any{"pictures", i}, "pictures[%d].alt: describe the picture for those who do not see it", i+1)
		}
	}
}

// picturePath says what is wrong with where a picture is said to be.
func picturePath(file string) string {
	first, _, below := strings.Cut(file, "/")
	switch {
	case file == "":
		return "names no file"
	case strings.ContainsAny(file, "\\:") || !fs.ValidPath(file):
		return "must be a path below the gallery's folder with forward slashes, such as pictures/my-exhibit.jpg"
	case len(file) > 255:
		return "is longer than 255 bytes"
	case first == "parts" && below:
		return "is in a folder named parts, which a release needs for itself; move it to pictures/"
	}
	return ""
}

// similarFile suggests a file of the same folder that differs in case or suffix only.
func similarFile(root *os.Root, file string) string {
	entries, err := fs.ReadDir(root.FS(), path.Dir(file))
	if err != nil {
		return ""
	}
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, e := range entries {
		if name := e.Name(); strings.EqualFold(strings.TrimSuffix(name, path.Ext(name)), stem) {
			return fmt.Sprintf("; did you mean %s?", path.Join(path.Dir(file), name))
		}
	}
	return ""
}

// CheckPictures decodes every picture of a gallery that Read has read from dir to its end, and reports those that are
// damaged. It takes tens of milliseconds and four bytes of memory for each pixel; two pictures of the largest size
// are decoded at the same time at most.
func CheckPictures(ctx context.Context, dir string, g *gallery.Gallery) ([]Problem, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("check pictures of %s: %w", dir, err)
	}
	defer root.Close()

	seen := map[string]bool{}
	var pictures []gallery.Picture
	for _, e := range g.Exhibits {
		for _, p := range e.Pictures {
			if p.Width > 0 && !seen[p.File] { // otherwise reported already
				seen[p.File] = true
				pictures = append(pictures, p)
			}
		}
	}
	const budget = 2 * MaxMegapixels * 1_000_000
	pixels := semaphore.NewWeighted(budget)
	failures := make([]error, len(pictures))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for i, p := range pictures {
		group.Go(func() error {
			weight := int64(p.Width) * int64(p.Height)
			if err := pixels.Acquire(ctx, weight); err != nil {
				return err
			}
			defer pixels.Release(weight)
			failures[i] = decodePicture(root, p.File)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("check pictures of %s: %w", dir, err)
	}
	rep := &report{}
	for i, err := range failures {
		if err != nil {
			rep.errorf(pictures[i].File, 0, "%s", pictureProblem(err))
		}
	}
	return rep.sorted(), nil
}

func decodePicture(root *os.Root, name string) error {
	f, err := openPlain(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	c, err := findCodec(f)
	if err != nil {
		return err
	}
	if _, err := c.decode(io.LimitReader(f, MaxPictureBytes)); err != nil {
		return errNotPicture(fmt.Sprintf("this %s picture is damaged: %v", c.name, err))
	}
	return nil
}
