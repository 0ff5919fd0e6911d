package camera

import (
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"math"
	"time"

	"gocv.io/x/gocv"
)

// A blank frame is black, or has one colour all over: a covered or dead sensor, and what a broken driver sends. The
// darkest of 353 real pictures has a brightness of 0.055 (see [vision.Judge]), and none a contrast below 0.056. Burnt
// out white is left to advice: the camera works.
const (
	blackBrightness = 0.02
	blackContrast   = 0.02
	plainContrast   = 0.002 // half a grey level
	burntBrightness = 0.98
)

const (
	// blankFor is how long frames are blank before the camera counts as lost; a visitor's hand is quicker.
	blankFor = 3 * time.Second
	// A camera that stays blank is opened again, in case that helps, and less and less often: at night the light is
	// just off.
	blankFirst = 30 * time.Second
	blankMost  = 10 * time.Minute
)

// errFrozen says that a camera only seems to work: OpenCV may go on giving the last frame of one that is gone.
var errFrozen = errors.New("the same frame comes again and again")

// live is a source whose frames come from a sensor. Others may show what they like for as long as they like.
type live interface {
	// Frozen is how long the same frame may come again before the source counts as lost.
	Frozen() time.Duration
}

// watch tells the frames of a camera that works from those of one that only seems to. It is used by one goroutine.
type watch struct {
	frozen time.Duration // how long a frame may repeat; 0 for a source that is not live

	sum        uint32    // of the last frame
	since      time.Time // since when it has been the same
	blankSince time.Time // zero where the last frame was not blank
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// look returns what is wrong with a frame, "" or words for a technician, and for how long it has been. The error is
// [errFrozen].
func (w *watch) look(img gocv.Mat, now time.Time) (blank string, lasted time.Duration, err error) {
	if w.frozen <= 0 {
		return "", 0, nil
	}
	pixels, err := img.DataPtrUint8()
	if err != nil {
		return "", 0, err
	}
	if sum := crc32.Checksum(pixels, castagnoli); sum != w.sum || w.since.IsZero() {
		w.sum, w.since = sum, now
	}
	if blank = blankness(img); blank == "" {
		w.blankSince = time.Time{}
	} else {
		if w.blankSince.IsZero() {
			w.blankSince = now
		}
		lasted = now.Sub(w.blankSince)
	}
	// A camera in the dark may give the same black over and over: that is no reason to open it again at once.
	if same := now.Sub(w.since); blank == "" && same >= w.frozen {
		return "", 0, fmt.Errorf("%w for %.1f s", errFrozen, same.Seconds())
	}
	return blank, lasted, nil
}

func blankness(img gocv.Mat) string {
	light, contrast := lightOf(img)
	switch {
	case light <= blackBrightness && contrast <= blackContrast:
		return "the picture is black"
	case light < burntBrightness && contrast <= plainContrast:
		return "the picture has one colour all over"
	}
	return ""
}

// brightness is the mean of all channels, 0 to 1.
func brightness(img gocv.Mat) float64 {
	b, _ := lightOf(img)
	return b
}

// lightOf returns the mean of all channels and the largest standard deviation of one, both 0 to 1, of about 3,000 of
// the pixels.
func lightOf(img gocv.Mat) (mean, contrast float64) {
	small, means, devs := gocv.NewMat(), gocv.NewMat(), gocv.NewMat()
	defer small.Close()
	defer means.Close()
	defer devs.Close()
	gocv.Resize(img, &small, image.Pt(64, 48), 0, 0, gocv.InterpolationNearestNeighbor)
	gocv.MeanStdDev(small, &means, &devs)
	for i := range means.Rows() {
		mean += means.GetDoubleAt(i, 0) / float64(means.Rows()) / 255
		contrast = math.Max(contrast, devs.GetDoubleAt(i, 0)/255)
	}
	return mean, contrast
}
