package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
	"docent/vision/feature"
	"docent/vision/internal/kernel"
	"docent/vision/synthetic"
)

// BruteForce is what a photo takes when it is checked against every reference.
type BruteForce struct {
	PhotoMS float64 `json:"photo_ms"` // features and all checks, scaled from what was timed
	Ratio   float64 `json:"ratio"`    // to the median time of recognition
	Photos  int     `json:"timed_photos"`
	Timed   int     `json:"timed_references"` // of the collection, evenly spread
}

// How much of brute force is timed; the rest takes as long.
const (
	timedPhotos     = 3
	timedReferences = 64
)

// featuresOf is the features brute force takes of a photo: up to 2,000, as references have. They are this program's own
// in both kinds, which take half the time of OpenCV's SIFT.
func featuresOf(photo vision.Photo) (feature.Set, error) {
	return feature.Extract(photo.Image, feature.Options{MaxSide: synthetic.DefaultWidth, MaxFeatures: 2000, Contrast: 0.01})
}

// method checks a photo against a reference and returns the inliers.
type method func(photo, reference feature.Set) (int, error)

func bruteForce(ctx context.Context, s shots, all []vision.Reference, median float64, check method) (BruteForce, error) {
	b := BruteForce{Photos: min(timedPhotos, len(s.known)), Timed: min(timedReferences, len(all))}
	var features, checks time.Duration
	for _, shot := range s.known[:b.Photos] {
		start := time.Now()
		set, err := featuresOf(shot.photo)
		if err != nil {
			return BruteForce{}, err
		}
		features += time.Since(start)
		for i := range b.Timed {
			if err := ctx.Err(); err != nil {
				return BruteForce{}, err
			}
			reference := all[i*len(all)/b.Timed]
			start = time.Now()
			if _, err := check(set, *reference.Features); err != nil {
				return BruteForce{}, fmt.Errorf("check against work %s: %w", reference.ExhibitID, err)
			}
			checks += time.Since(start)
		}
	}
	photos := time.Duration(b.Photos)
	b.PhotoMS = milliseconds(features/photos) + milliseconds(checks/photos)*float64(len(all))/float64(b.Timed)
	b.Ratio = b.PhotoMS / median
	return b, nil
}

// Settings of the check, those of recognition where there are any.
const (
	ratio     = 0.8 // Lowe's ratio test
	threshold = 4.0 // pixels
	rounds    = 2000
	certainty = 0.995
)

// own is one check of recognition.
func own(photo, reference feature.Set) (int, error) {
	var src, dst []float32
	for i, j := range kernel.Match(photo.Descriptors, reference.Descriptors, ratio) {
		if j >= 0 {
			p, q := reference.Points[j], photo.Points[i]
			src, dst = append(src, p.X, p.Y), append(dst, q.X, q.Y)
		}
	}
	_, _, inliers, err := kernel.Homography(src, dst, threshold, rounds)
	return inliers, err
}

// tutorial is what tutorials give: OpenCV's matcher with the ratio test, and RANSAC.
func tutorial(photo, reference feature.Set) (_ int, err error) {
	if photo.Len() < 2 || reference.Len() < 2 {
		return 0, nil
	}
	query, train := floats(photo), floats(reference)
	defer func() { err = errors.Join(err, query.Close(), train.Close()) }()
	matcher := gocv.NewBFMatcher() // Euclidean distance
	defer func() { err = errors.Join(err, matcher.Close()) }()
	var src, dst []gocv.Point2f
	for _, m := range matcher.KnnMatch(query, train, 2) {
		if len(m) == 2 && m[0].Distance < ratio*m[1].Distance {
			p, q := reference.Points[m[0].TrainIdx], photo.Points[m[0].QueryIdx]
			src, dst = append(src, gocv.Point2f{X: p.X, Y: p.Y}), append(dst, gocv.Point2f{X: q.X, Y: q.Y})
		}
	}
	if len(src) < 4 {
		return 0, nil
	}
	from, to := points(src), points(dst)
	mask := gocv.NewMat()
	h := gocv.FindHomography(from, &to, gocv.HomograpyMethodRANSAC, threshold, &mask, rounds, certainty)
	inliers := gocv.CountNonZero(mask)
	return inliers, errors.Join(h.Close(), mask.Close(), from.Close(), to.Close())
}

// floats is the descriptors of a set as the rows of a matrix. The caller closes it.
func floats(s feature.Set) gocv.Mat {
	m := gocv.NewMatWithSize(s.Len(), feature.DescriptorBytes, gocv.MatTypeCV32F)
	values, err := m.DataPtrFloat32()
	if err != nil { // a matrix just made of that type has them
		panic(err)
	}
	for i, b := range s.Descriptors {
		values[i] = float32(b)
	}
	return m
}

// points is places as the rows of a matrix. The caller closes it.
func points(list []gocv.Point2f) gocv.Mat {
	m := gocv.NewMatWithSize(len(list), 2, gocv.MatTypeCV32F)
	for i, p := range list {
		m.SetFloatAt(i, 0, p.X)
		m.SetFloatAt(i, 1, p.Y)
	}
	return m
}
