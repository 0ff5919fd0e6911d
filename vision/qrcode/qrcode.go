// Package qrcode reads QR codes that visitors hold before the camera. In: a photo. Out: the text of the code.
package qrcode

import (
	"fmt"
	"image"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"gocv.io/x/gocv"

	"docent/vision"
)

// maxSide is the long side in pixels at which a photo is looked through: a code of 45 squares held up to the camera still
// has several pixels a square.
const maxSide = 1280

// Reader reads codes. It keeps nothing; the zero value is ready.
type Reader struct{}

// Read returns the text of a code in the photo; ok is false where there is none that can be read. The error says that the
// photo is none.
func (Reader) Read(p vision.Photo) (text string, ok bool, err error) {
	if p.Image.Empty() {
		return "", false, fmt.Errorf("read code: the photo is empty")
	}
	grey := gocv.NewMat()
	defer grey.Close()
	gocv.CvtColor(p.Image, &grey, gocv.ColorBGRToGray)
	if size := p.Size(); max(size.X, size.Y) > maxSide {
		scale := float64(maxSide) / float64(max(size.X, size.Y))
		gocv.Resize(grey, &grey, image.Point{}, scale, scale, gocv.InterpolationArea)
	}
	if text, ok := read(grey); ok {
		return text, true, nil
	}
	flat := gocv.NewMat()
	defer flat.Close()
	if flatten(grey, &flat) {
		if text, ok := read(flat); ok {
			return text, true, nil
		}
	}
	return "", false, nil // not found, or too blurred: the next frame may do
}

// read returns the text of a code that is seen about straight. The picture is grey and continuous.
func read(grey gocv.Mat) (text string, ok bool) {
	img := &image.Gray{Pix: grey.ToBytes(), Stride: grey.Cols(), Rect: image.Rect(0, 0, grey.Cols(), grey.Rows())}
	source := gozxing.NewLuminanceSourceFromImage(img)
	hints := map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true}
	for _, binarizer := range []gozxing.Binarizer{gozxing.NewHybridBinarizer(source), gozxing.NewGlobalHistgramBinarizer(source)} {
		bitmap, err := gozxing.NewBinaryBitmap(binarizer)
		if err != nil {
			return "", false
		}
		if result, err := decode(bitmap, hints); err == nil {
			return result.GetText(), true
		}
	}
	return "", false
}

// A code seen from the side is drawn straight before it is read: flatSide pixels a side with a margin of white around it.
const (
	flatSide   = 640
	flatMargin = 64
)

// flatten finds the corners of a code and draws it as it is seen from the front. OpenCV sees codes; Debian's does not read
// them.
func flatten(grey gocv.Mat, flat *gocv.Mat) bool {
	detector := gocv.NewQRCodeDetector()
	defer detector.Close()
	corners := gocv.NewMat()
	defer corners.Close()
	if !detector.Detect(grey, &corners) || corners.Total() != 4 {
		return false
	}
	var quad []image.Point
	for i := range 4 {
		v := corners.GetVecfAt(0, i)
		if len(v) != 2 {
			return false
		}
		quad = append(quad, image.Pt(int(v[0]+0.5), int(v[1]+0.5)))
	}
	from := gocv.NewPointVectorFromPoints(quad)
	defer from.Close()
	const near, far = flatMargin, flatMargin + flatSide
	to := gocv.NewPointVectorFromPoints([]image.Point{{X: near, Y: near}, {X: far, Y: near}, {X: far, Y: far}, {X: near, Y: far}})
	defer to.Close()
	m := gocv.GetPerspectiveTransform(from, to)
	defer m.Close()
	gocv.WarpPerspective(grey, flat, m, image.Pt(flatSide+2*flatMargin, flatSide+2*flatMargin))
	return true
}

// decode keeps a picture that the library stumbles over from ending the kiosk.
func decode(b *gozxing.BinaryBitmap, hints map[gozxing.DecodeHintType]any) (r *gozxing.Result, err error) {
	defer func() {
		if e := recover(); e != nil {
			r, err = nil, fmt.Errorf("read code: %v", e)
		}
	}()
	return qrcode.NewQRCodeReader().Decode(b, hints)
}
