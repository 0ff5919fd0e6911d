package feature

import "math"

// Window is a part of a picture, as fractions of its width and height.
type Window struct{ Left, Top, Right, Bottom float64 }

// Whole is the window that is the whole picture.
var Whole = Window{0, 0, 1, 1}

// Windows are the parts of a photo that are looked at: the whole, 3×3 of 60 % and 4×4 of 40 % of its sides, so that
// a work that fills a third of the photo has a window to itself.
func Windows() []Window {
	windows := []Window{Whole}
	for _, grid := range []struct {
		n    int
		side float64
	}{{3, 0.6}, {4, 0.4}} {
		step := (1 - grid.side) / float64(grid.n-1)
		for y := range grid.n {
			for x := range grid.n {
				left, top := float64(x)*step, float64(y)*step
				windows = append(windows, Window{left, top, left + grid.side, top + grid.side})
			}
		}
	}
	return windows
}

// VLADs returns, for each window, the vector of locally aggregated descriptors of the features in it (Jégou et al.,
// CVPR 2010): per centre the sum of the differences between it and the descriptors assigned to it, each such sum
// scaled to length 1 (Arandjelović and Zisserman, CVPR 2013), the whole scaled to length 1. A window with fewer than
// minimum features gives nil.
func (c Codebook) VLADs(s Set, assigned []int32, windows []Window, minimum int) [][]float32 {
	out := make([][]float32, len(windows))
	for w, window := range windows {
		left, right := float32(window.Left*float64(s.Width)), float32(window.Right*float64(s.Width))
		top, bottom := float32(window.Top*float64(s.Height)), float32(window.Bottom*float64(s.Height))
		sums := make([]float32, c.Len()*DescriptorBytes)
		count := 0
		for i, p := range s.Points {
			if p.X < left || p.X > right || p.Y < top || p.Y > bottom {
				continue
			}
			count++
			at := int(assigned[i])
			centre := row(c.Centres, at)
			sum := sums[at*DescriptorBytes : (at+1)*DescriptorBytes]
			for d, v := range row(s.Descriptors, i) {
				sum[d] += float32(int(v) - int(centre[d]))
			}
		}
		if count < max(1, minimum) {
			continue
		}
		for at := range c.Len() {
			unit(sums[at*DescriptorBytes : (at+1)*DescriptorBytes])
		}
		unit(sums)
		out[w] = sums
	}
	return out
}

// unit scales v to length 1 unless its length is 0.
func unit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}
