package vision

import (
	"fmt"
	"image"
	"time"

	"gocv.io/x/gocv"
)

// MaxSide is the longest side in pixels that [Decode] keeps. Recognition works on 640 to 1,024 px, so a larger
// picture would only cost memory: at 2,048 × 1,536 a photo takes 9 MB.
const MaxSide = 2048

// measureSide is the long side in pixels at which sharpness is measured, so that the figure means the same for a
// phone's photo and a camera's frame.
const measureSide = 640

// Photo is one picture of a visitor, upright. Whoever gets a Photo owns it and closes it once; copies share the
// same pixels.
type Photo struct {
	Image gocv.Mat // BGR, 8 bits, 3 channels (8UC3), orientation applied

	// Sharpness is the variance of the Laplacian of the grey picture at 640 px long side (Pech-Pacheco et al.,
	// "Diatom autofocusing in brightfield microscopy", ICPR 2000). A flat wall has about 0, a sharp painting
	// several hundred.
	Sharpness float64
	// Brightness is the mean of the grey picture, 0 (black) to 1 (white).
	Brightness float64
	// Contrast is the standard deviation of the grey picture, 0 to 0.5.
	Contrast float64

	TakenAt time.Time // when the camera gave it or the upload came; zero where nobody said
}

// NewPhoto takes over a BGR picture (8UC3) and measures it. It closes img when it returns an error.
func NewPhoto(img gocv.Mat, takenAt time.Time) (Photo, error) {
	if img.Empty() || img.Type() != gocv.MatTypeCV8UC3 {
		typ := img.Type()
		img.Close()
		return Photo{}, fmt.Errorf("measure photo: want a BGR picture of 8 bits, got type %d", typ)
	}
	p := Photo{Image: img, TakenAt: takenAt}
	p.Sharpness, p.Brightness, p.Contrast = Measure(img)
	return p, nil
}

// Close gives the pixels back. It may be called again on the same Photo, but not on a copy of it.
func (p *Photo) Close() error { return p.Image.Close() }

// Size returns width and height in pixels.
func (p Photo) Size() image.Point { return image.Pt(p.Image.Cols(), p.Image.Rows()) }

// JPEG encodes the photo with its long side at most maxSide pixels (0 = as it is) and quality 1 to 100. The
// result carries no metadata: no place, no time, no device.
func (p Photo) JPEG(maxSide, quality int) ([]byte, error) {
	if quality < 1 || quality > 100 {
		return nil, fmt.Errorf("encode photo: quality %d is not within 1 to 100", quality)
	}
	img := p.Image
	if w, h := fit(img.Cols(), img.Rows(), maxSide); maxSide > 0 && w != img.Cols() {
		small := gocv.NewMat()
		defer small.Close()
		gocv.Resize(img, &small, image.Pt(w, h), 0, 0, gocv.InterpolationArea)
		img = small
	}
	buf, err := gocv.IMEncodeWithParams(gocv.JPEGFileExt, img, []int{gocv.IMWriteJpegQuality, quality})
	if err != nil {
		return nil, fmt.Errorf("encode photo: %w", err)
	}
	defer buf.Close()
	// The native buffer is freed by Close: copy it.
	return append([]byte(nil), buf.GetBytes()...), nil
}

// Measure returns the sharpness, brightness and contrast of a BGR picture, as the fields of [Photo] say.
func Measure(bgr gocv.Mat) (sharpness, brightness, contrast float64) {
	small := gocv.NewMat()
	defer small.Close()
	src := bgr
	if w, h := fit(bgr.Cols(), bgr.Rows(), measureSide); w != bgr.Cols() || h != bgr.Rows() {
		gocv.Resize(bgr, &small, image.Pt(w, h), 0, 0, gocv.InterpolationArea)
		src = small
	}
	grey := gocv.NewMat()
	defer grey.Close()
	gocv.CvtColor(src, &grey, gocv.ColorBGRToGray)
	mean, dev := meanStdDev(grey)
	edges := gocv.NewMat()
	defer edges.Close()
	gocv.Laplacian(grey, &edges, gocv.MatTypeCV16S, 1, 1, 0, gocv.BorderDefault)
	_, edgeDev := meanStdDev(edges)
	return edgeDev * edgeDev, mean / 255, dev / 255
}

// meanStdDev returns mean and standard deviation of a picture of one channel.
func meanStdDev(m gocv.Mat) (mean, dev float64) {
	means, devs := gocv.NewMat(), gocv.NewMat()
	defer means.Close()
	defer devs.Close()
	gocv.MeanStdDev(m, &means, &devs)
	return means.GetDoubleAt(0, 0), devs.GetDoubleAt(0, 0)
}

// fit returns the size of a w×h picture whose long side is at most side: unchanged where it already is, and no
// side below 1.
func fit(w, h, side int) (int, int) {
	long := max(w, h)
	if long <= side || side <= 0 {
		return w, h
	}
	return max(1, (w*side+long/2)/long), max(1, (h*side+long/2)/long)
}
