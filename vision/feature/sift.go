// Package feature describes pictures: RootSIFT key points, a visual vocabulary, VLAD vectors of whole pictures and
// of windows of them, and the projection that shortens those.
//
// It knows nothing of exhibits.
package feature

import (
	"errors"
	"fmt"
	"image"

	"gocv.io/x/gocv"

	"docent/vision/internal/kernel"
)

// DescriptorBytes is the length of one RootSIFT descriptor. Its values are multiples of 1/254, so that its Euclidean
// length is about 254.
const DescriptorBytes = kernel.DescriptorBytes

// MaxByte is the largest byte a descriptor may have.
const MaxByte = kernel.MaxByte

// Point is one key point: its place and diameter in pixels of the described picture, and its direction in degrees.
type Point struct {
	X, Y, Size, Angle float32
}

// Set is the local features of one picture, strongest first where they were extracted.
type Set struct {
	Width, Height int // of the described picture, pixels
	Points        []Point
	Descriptors   []byte // DescriptorBytes per point
}

// Len is the number of features.
func (s Set) Len() int { return len(s.Points) }

// Strongest is the set with its n strongest features, as if it had been extracted with that as MaxFeatures. It shares
// memory with s.
func (s Set) Strongest(n int) Set {
	if n < s.Len() {
		s.Points, s.Descriptors = s.Points[:n:n], s.Descriptors[:n*DescriptorBytes:n*DescriptorBytes]
	}
	return s
}

// Options says how a picture is described.
type Options struct {
	// MaxSide is what the picture's longer side is made to have at most, in pixels. A picture with fewer than five
	// eighths of that is looked at twice its size, as else it would have too few features.
	MaxSide     int
	MaxFeatures int     // the strongest features kept
	Contrast    float64 // least contrast of a feature; SIFT's own default is 0.04
}

// edge is how many times more curved across than along a feature may be; SIFT's own default.
const edge = 10

// ErrPicture is wrapped by errors about pictures that cannot be described.
var ErrPicture = errors.New("unusable picture")

// Extract describes a picture of one channel (gray) or three (BGR).
func Extract(picture gocv.Mat, o Options) (Set, error) {
	gray, err := Gray(picture, o.MaxSide)
	if err != nil {
		return Set{}, err
	}
	defer gray.Close()
	pixels, err := gray.DataPtrUint8()
	if err != nil {
		return Set{}, fmt.Errorf("%w: %w", ErrPicture, err)
	}
	points, descriptors, err := kernel.SIFT(pixels, gray.Rows(), gray.Cols(), gray.Step(), kernel.SIFTOptions{
		MaxFeatures: o.MaxFeatures, Contrast: o.Contrast, Edge: edge,
		Doubled: 8*max(gray.Cols(), gray.Rows()) < 5*o.MaxSide,
	})
	if err != nil {
		return Set{}, fmt.Errorf("find features: %w", err)
	}
	s := Set{Width: gray.Cols(), Height: gray.Rows(), Points: make([]Point, len(points)), Descriptors: descriptors}
	for i, p := range points {
		s.Points[i] = Point{X: p.X, Y: p.Y, Size: p.Size, Angle: p.Angle}
	}
	return s, nil
}

// Gray is an 8-bit gray copy of a picture whose longer side has at most maxSide pixels. The caller closes it.
func Gray(picture gocv.Mat, maxSide int) (gocv.Mat, error) {
	if picture.Empty() || picture.Cols() < 1 || picture.Rows() < 1 {
		return gocv.Mat{}, fmt.Errorf("%w: it is empty", ErrPicture)
	}
	gray := gocv.NewMat()
	switch picture.Type() {
	case gocv.MatTypeCV8UC3:
		gocv.CvtColor(picture, &gray, gocv.ColorBGRToGray)
	case gocv.MatTypeCV8UC1:
		picture.CopyTo(&gray)
	default:
		gray.Close()
		return gocv.Mat{}, fmt.Errorf("%w: it has pixel type %v", ErrPicture, picture.Type())
	}
	longer := max(gray.Cols(), gray.Rows())
	if maxSide <= 0 || longer <= maxSide {
		return gray, nil
	}
	size := image.Pt(max(1, gray.Cols()*maxSide/longer), max(1, gray.Rows()*maxSide/longer))
	small := gocv.NewMat()
	gocv.Resize(gray, &small, size, 0, 0, gocv.InterpolationArea)
	gray.Close()
	return small, nil
}
