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
	// Continuous, because it was just made.
	img := &image.Gray{Pix: grey.ToBytes(), Stride: grey.Cols(), Rect: image.Rect(0, 0, grey.Cols(), grey.Rows())}
	source := gozxing.NewLuminanceSourceFromImage(img)
	hints := map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true}
	for _, binarizer := range []gozxing.Binarizer{gozxing.NewHybridBinarizer(source), gozxing.NewGlobalHistgramBinarizer(source)} {
		bitmap, err := gozxing.NewBinaryBitmap(binarizer)
		if err != nil {
			return "", false, fmt.Errorf("read code: %w", err)
		}
		if result, err := decode(bitmap, hints); err == nil {
			return result.GetText(), true, nil
		}
	}
	return "", false, nil // not found, or too blurred: the next frame may do
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
