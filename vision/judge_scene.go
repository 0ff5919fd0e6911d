package vision

import (
	"image"
	"slices"

	"gocv.io/x/gocv"
)

// A reflection of a lamp is a spot of white that fades into the picture, not at the photo's edge, where windows and lit
// ceilings are. It is looked for at 160 px long side. Of the 353 pictures of [Judge] none is said to have one; of 48
// photos of the Estense references with a rendered reflection of full strength 27 are, of half that strength none: what
// is white in them is covered, what is only pale is not and needs no advice.
const (
	glareSide   = 160
	glareWhite  = 235  // of the darkest channel
	glareFade   = 0.90 // of that: the mean of what is around the spot, 3 px wide
	glareLeast  = 0.003
	glareMost   = 0.15 // of the photo's pixels
	glareInside = 0.15 // of width and height: how far the spot's middle is from the edge
)

// glares says whether a lamp mirrors in a BGR picture.
func glares(bgr gocv.Mat) bool {
	white := darkestChannel(bgr, glareSide)
	defer white.Close()
	spots, labels, stats, middles := gocv.NewMat(), gocv.NewMat(), gocv.NewMat(), gocv.NewMat()
	for _, m := range []*gocv.Mat{&spots, &labels, &stats, &middles} {
		defer m.Close()
	}
	gocv.Threshold(white, &spots, glareWhite, 255, gocv.ThresholdBinary)
	n := gocv.ConnectedComponentsWithStats(spots, &labels, &stats, &middles)
	largest, area := 0, 0
	for i := 1; i < n; i++ { // 0 is what is not white
		if a := int(stats.GetIntAt(i, 4)); a > area {
			largest, area = i, a
		}
	}
	share := float64(area) / float64(white.Cols()*white.Rows())
	if share < glareLeast || share > glareMost {
		return false
	}
	x, y := middles.GetDoubleAt(largest, 0)/float64(white.Cols()), middles.GetDoubleAt(largest, 1)/float64(white.Rows())
	if min(x, y) < glareInside || max(x, y) > 1-glareInside {
		return false
	}
	spot, around, brush := gocv.NewMat(), gocv.NewMat(), gocv.GetStructuringElement(gocv.MorphEllipse, image.Pt(7, 7))
	for _, m := range []*gocv.Mat{&spot, &around, &brush} {
		defer m.Close()
	}
	this := gocv.NewScalar(float64(largest), 0, 0, 0)
	gocv.InRangeWithScalar(labels, this, this, &spot)
	gocv.Dilate(spot, &around, brush)
	gocv.Subtract(around, spot, &around)
	return white.MeanWithMask(around).Val1 >= glareFade*glareWhite
}

// darkestChannel is the least of blue, green and red of a picture at a long side of side: high where it is white.
func darkestChannel(bgr gocv.Mat, side int) gocv.Mat {
	small := gocv.NewMat()
	defer small.Close()
	w, h := fit(bgr.Cols(), bgr.Rows(), side)
	gocv.Resize(bgr, &small, image.Pt(w, h), 0, 0, gocv.InterpolationArea)
	channels := gocv.Split(small)
	least := gocv.NewMat()
	gocv.Min(channels[0], channels[1], &least)
	gocv.Min(least, channels[2], &least)
	for _, c := range channels {
		c.Close()
	}
	return least
}

// Photos on which all there is to see fills less than closeSpread of the grid of [detailSpread] are of something small
// on a bare wall. Of the 353 pictures of [Judge] the least has 0.067, of the visitors' photos 0.09; of 48 rendered photos
// each of a work that fills an eighth, a fifth and a third of the photo's width 100, 100 and 60 % are below.
const closeSpread = 0.06

const (
	spreadColumns, spreadRows = 20, 15
	spreadShare               = 0.8
	spreadStep                = 12 // grey levels: smaller steps between neighbours are noise
	spreadLeast               = 0.2
)

// detailSpread is the smallest share of a grid's fields that holds four fifths of all edges, 0 to 1. It is 1 where there
// are hardly any.
func detailSpread(bgr gocv.Mat) float64 {
	small, grey, edges, wide, fields := gocv.NewMat(), gocv.NewMat(), gocv.NewMat(), gocv.NewMat(), gocv.NewMat()
	brush := gocv.GetStructuringElement(gocv.MorphRect, image.Pt(3, 3))
	for _, m := range []*gocv.Mat{&small, &grey, &edges, &wide, &fields, &brush} {
		defer m.Close()
	}
	w, h := fit(bgr.Cols(), bgr.Rows(), measureSide)
	gocv.Resize(bgr, &small, image.Pt(w, h), 0, 0, gocv.InterpolationArea)
	gocv.CvtColor(small, &grey, gocv.ColorBGRToGray)
	gocv.GaussianBlur(grey, &grey, image.Point{}, 1, 1, gocv.BorderDefault)
	gocv.MorphologyEx(grey, &edges, gocv.MorphGradient, brush)
	gocv.Threshold(edges, &edges, spreadStep, 255, gocv.ThresholdToZero)
	edges.ConvertTo(&wide, gocv.MatTypeCV32F)
	gocv.Resize(wide, &fields, image.Pt(spreadColumns, spreadRows), 0, 0, gocv.InterpolationArea)
	values, err := fields.DataPtrFloat32()
	if err != nil {
		return 1
	}
	sorted := slices.Sorted(slices.Values(values))
	var all, held float64
	for _, v := range sorted {
		all += float64(v)
	}
	if all < spreadLeast*float64(len(sorted)) {
		return 1
	}
	n := 0
	for i := len(sorted) - 1; i >= 0 && held < spreadShare*all; i-- {
		held += float64(sorted[i])
		n++
	}
	return float64(n) / float64(len(sorted))
}
