package selftest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
	"docent/vision/synthetic"
)

// View is one rendered photo of a picture. The picture's name and the number say all about how it is taken, so the
// same view can be taken again, on this machine or on a kiosk.
type View struct {
	Exhibit string `json:"exhibit"`
	Picture string `json:"picture"`
	Number  int    `json:"view"` // from 0
}

// difficulties of the views of one picture, in their order.
var difficulties = []synthetic.Difficulty{synthetic.Typical, synthetic.Hard, synthetic.Easy}

// params draws how the view is taken.
func (v View) params() synthetic.Params {
	h := fnv.New64a()
	h.Write([]byte(v.Picture))
	return synthetic.Random(rand.New(rand.NewPCG(h.Sum64(), uint64(v.Number))), difficulties[v.Number%len(difficulties)])
}

// Take renders the view of its picture (BGR, 8 bits, 3 channels). The caller closes the photo.
func (v View) Take(picture gocv.Mat) (vision.Photo, error) {
	img, _, err := synthetic.Render(picture, v.params())
	if err != nil {
		return vision.Photo{}, fmt.Errorf("take view %d of picture %s: %w", v.Number, v.Picture, err)
	}
	return vision.NewPhoto(img, time.Time{})
}

// pictureLimits are those of a gallery's own pictures.
var pictureLimits = vision.Limits{Bytes: 64 << 20, Pixels: 100 << 20, MinSide: 16, MaxSide: 1600}

// load reads a picture. The caller closes it.
func load(path string) (vision.Photo, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return vision.Photo{}, err
	}
	return vision.DecodeWithin(data, pictureLimits)
}
