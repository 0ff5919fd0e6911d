// Package label reads the text on photos of exhibits' labels, and says which exhibits it names. It runs the tesseract
// program where that is installed.
package label

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
)

// DefaultTimeout is how long reading may take. A visitor waits.
const DefaultTimeout = 2 * time.Second

// languageData names tesseract's data for languages, by the first part of their tags. Most of its names are those of
// ISO 639-2, which have no rule.
var languageData = map[string]string{
	"zh": "chi_sim", "en": "eng", "ja": "jpn", "ko": "kor", "fr": "fra", "de": "deu", "it": "ita", "es": "spa", "pt": "por", "ru": "rus",
	"nl": "nld", "pl": "pol", "ar": "ara", "th": "tha", "vi": "vie", "tr": "tur", "sv": "swe", "da": "dan", "cs": "ces", "el": "ell",
}

// Reader reads labels. It is safe for concurrent use.
type Reader struct {
	program program
	timeout time.Duration
}

// Find looks for tesseract on this machine. Reading a photo will take at most timeout; 0 means [DefaultTimeout]. The
// error is [ErrNotInstalled] where the program, or data for any language, is missing.
func Find(ctx context.Context, timeout time.Duration) (*Reader, error) {
	p, err := findProgram(ctx)
	if err != nil {
		return nil, err
	}
	if len(p.languages) == 0 {
		return nil, fmt.Errorf("%w with data for a language", ErrNotInstalled)
	}
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return &Reader{program: p, timeout: timeout}, nil
}

// Version is tesseract's own.
func (r *Reader) Version() string { return r.program.version }

// Missing returns those of the languages, as tags, that there is no data for.
func (r *Reader) Missing(languages []string) []string {
	var missing []string
	for _, tag := range languages {
		if !slices.Contains(r.program.languages, dataFor(tag)) {
			missing = append(missing, tag)
		}
	}
	return missing
}

// dataFor names tesseract's data for a language, "" where that is not known.
func dataFor(tag string) string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return languageData[base]
}

// data names the data to read languages with. Where there is none for any of them, English reads most letters.
func (r *Reader) data(languages []string) string {
	var use []string
	for _, tag := range languages {
		if d := dataFor(tag); slices.Contains(r.program.languages, d) && !slices.Contains(use, d) && len(use) < maxLanguages {
			use = append(use, d)
		}
	}
	switch {
	case len(use) > 0:
		return strings.Join(use, "+")
	case slices.Contains(r.program.languages, "eng"):
		return "eng"
	}
	return r.program.languages[0]
}

// maxLanguages is how many languages are read at once: each takes its time.
const maxLanguages = 3

// Read returns the text on a photo in languages, named by tags, which may be empty. Where the photo has nothing that looks like text, it does so
// within milliseconds. It never takes longer than the reader's timeout, and then returns what it has. The error is
// about tesseract, or ctx's own.
func (r *Reader) Read(ctx context.Context, photo vision.Photo, languages []string) (Text, error) {
	grey := gocv.NewMat()
	defer grey.Close()
	gocv.CvtColor(photo.Image, &grey, gocv.ColorBGRToGray)
	where, ok := findText(grey)
	if !ok {
		return Text{}, nil
	}
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	var best Text
	for _, turn := range where.turns() {
		page := prepare(grey, where, turn)
		text, err := r.readPage(limited, page, r.data(languages))
		page.Close()
		switch {
		case ctx.Err() != nil:
			return Text{}, fmt.Errorf("read label: %w", ctx.Err())
		case errors.Is(err, context.DeadlineExceeded):
			return best, nil
		case err != nil:
			return Text{}, fmt.Errorf("read label: %w", err)
		}
		if text.weight() > best.weight() {
			best = text
		}
		if best.certain() {
			break
		}
	}
	return best, nil
}

// turns are the quarter turns clockwise to try, most likely first: a text that seems level is rarely upside down.
func (r region) turns() []int {
	if r.upended {
		return []int{1, 3}
	}
	return []int{0, 2}
}

// lineHeight is the height of a line in pixels at which tesseract reads best: capitals of 30 to 40 px (its manual,
// "Improving the quality of the output").
const lineHeight = 42

// prepare cuts the region out of the photo, turns it level, and scales it so that its lines have the height that is
// read best.
func prepare(grey gocv.Mat, where region, turn int) gocv.Mat {
	part := grey.Region(where.box)
	page := part.Clone()
	part.Close()
	by := lineHeight / math.Max(where.letter*1.4, 1)
	by = math.Min(by, 6)
	if pixels := float64(page.Cols()) * float64(page.Rows()); pixels*by*by > maxPixels {
		by = math.Sqrt(maxPixels / pixels)
	}
	how := gocv.InterpolationCubic
	if by < 1 {
		how = gocv.InterpolationArea
	}
	scaled := gocv.NewMat()
	gocv.Resize(page, &scaled, image.Point{}, by, by, how)
	replace(&page, scaled)
	if math.Abs(where.tilt) > 1 {
		replace(&page, level(page, where.tilt))
	}
	turned := gocv.NewMat()
	switch turn {
	case 1:
		gocv.Rotate(page, &turned, gocv.Rotate90Clockwise)
	case 2:
		gocv.Rotate(page, &turned, gocv.Rotate180Clockwise)
	case 3:
		gocv.Rotate(page, &turned, gocv.Rotate90CounterClockwise)
	default:
		turned.Close()
		return page
	}
	replace(&page, turned)
	return page
}

// level turns a picture back by so many degrees; what comes in at the corners repeats the edge.
func level(img gocv.Mat, tilt float64) gocv.Mat {
	turn := gocv.GetRotationMatrix2D(image.Pt(img.Cols()/2, img.Rows()/2), tilt, 1)
	defer turn.Close()
	out := gocv.NewMat()
	gocv.WarpAffineWithParams(img, &out, turn, image.Pt(img.Cols(), img.Rows()), gocv.InterpolationLinear, gocv.BorderReplicate, color.RGBA{})
	return out
}

func replace(img *gocv.Mat, with gocv.Mat) {
	img.Close()
	*img = with
}

// readPage reads one picture, as a block of lines.
func (r *Reader) readPage(ctx context.Context, page gocv.Mat, data string) (Text, error) {
	pixels, err := page.DataPtrUint8()
	if err != nil {
		return Text{}, err
	}
	// A portable grey map, which tesseract reads from memory: nothing of a photo goes to a disk.
	pgm := append(fmt.Appendf(nil, "P5\n%d %d\n255\n", page.Cols(), page.Rows()), pixels...)
	table, err := r.program.run(ctx, pgm, "stdin", "stdout", "-l", data, "--dpi", "300", "--psm", "6", "tsv")
	if err != nil {
		return Text{}, err
	}
	return readTable(table), nil
}
