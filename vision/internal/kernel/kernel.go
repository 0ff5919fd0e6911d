// Package kernel is the native part of recognition: SIFT key points with RootSIFT bytes, descriptor matching,
// nearest centres and homographies, in C++ over OpenCV. GoCV 0.31 offers SIFT without parameters, which describes
// every key point before the strongest can be kept, and its matcher copies each match through a Go slice; both cost
// more than the work itself.
//
// It knows nothing of exhibits, files or photos.
package kernel

/*
#cgo pkg-config: opencv4
#cgo CXXFLAGS: -std=c++14 -O3 -Wall
#include <stdlib.h>
#include "kernel.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// DescriptorBytes is the length of one descriptor. Its bytes are at most MaxByte; more would overflow the sums of
// pairs of products.
const (
	DescriptorBytes = 128
	MaxByte         = 127
)

// Point is one key point, in pixels of the picture; the angle is in degrees.
type Point struct {
	X, Y, Size, Angle, Response float32
}

// SIFTOptions are the parameters of the detector.
type SIFTOptions struct {
	MaxFeatures int     // strongest key points to keep; 0 keeps all
	Contrast    float64 // contrast threshold; OpenCV's default is 0.04
	Edge        float64 // edge threshold; OpenCV's default is 10
	Doubled     bool    // look at twice the picture's size first: finer features, for four times the work
}

const errSize = 256

// SIFT finds key points in an 8-bit gray picture of rows×cols pixels whose rows are step bytes apart. It returns
// them with DescriptorBytes bytes each.
func SIFT(gray []byte, rows, cols, step int, o SIFTOptions) ([]Point, []byte, error) {
	if rows < 1 || cols < 1 || step < cols || len(gray) < (rows-1)*step+cols {
		return nil, nil, fmt.Errorf("%d bytes cannot hold %d×%d pixels", len(gray), cols, rows)
	}
	var out C.docent_features
	var msg [errSize]C.char
	options := C.docent_sift_options{
		max_features: C.int(o.MaxFeatures), contrast: C.double(o.Contrast), edge: C.double(o.Edge),
	}
	if o.Doubled {
		options.doubled = 1
	}
	if C.docent_sift((*C.uint8_t)(&gray[0]), C.int(rows), C.int(cols), C.size_t(step), options, &out, &msg[0], errSize) != 0 {
		return nil, nil, errors.New(C.GoString(&msg[0]))
	}
	defer C.docent_features_free(&out)
	n := int(out.n)
	if n == 0 {
		return nil, nil, nil
	}
	points := make([]Point, n)
	copy(points, unsafe.Slice((*Point)(unsafe.Pointer(out.points)), n))
	descriptors := C.GoBytes(unsafe.Pointer(out.descriptors), C.int(n*DescriptorBytes))
	return points, descriptors, nil
}

// Match finds one-to-one matches between two sets of descriptors that pass Lowe's ratio test: best[i] is the number
// of the reference descriptor that query descriptor i matches, or -1.
func Match(query, reference []byte, ratio float32) (best []int32) {
	return match(query, reference, ratio, 0)
}

func match(query, reference []byte, ratio float32, level int) (best []int32) {
	nq, nr := len(query)/DescriptorBytes, len(reference)/DescriptorBytes
	best = make([]int32, nq)
	if nq == 0 || nr == 0 {
		for i := range best {
			best[i] = -1
		}
		return best
	}
	C.docent_match((*C.uint8_t)(&query[0]), C.int(nq), (*C.uint8_t)(&reference[0]), C.int(nr), C.float(ratio*ratio),
		C.int(level), (*C.int32_t)(&best[0]))
	return best
}

// Nearest returns, for each row of width bytes (a multiple of 4), the number of its nearest centre.
func Nearest(rows, centres []byte, width int) []int32 {
	n, k := len(rows)/width, len(centres)/width
	out := make([]int32, n)
	if n == 0 || k == 0 {
		return out
	}
	C.docent_nearest((*C.uint8_t)(&rows[0]), C.int(n), C.int(width), (*C.uint8_t)(&centres[0]), C.int(k), (*C.int32_t)(&out[0]))
	return out
}

// Distances returns, for each row of width bytes (a multiple of 4), its squared distance to each centre, less the
// row's own squared length.
func Distances(rows, centres []byte, width int) []int32 {
	n, k := len(rows)/width, len(centres)/width
	out := make([]int32, n*k)
	if n == 0 || k == 0 {
		return out
	}
	C.docent_distances((*C.uint8_t)(&rows[0]), C.int(n), C.int(width), (*C.uint8_t)(&centres[0]), C.int(k), (*C.int32_t)(&out[0]))
	return out
}

// NearHit is a signature and the number of bits it differs in.
type NearHit struct{ At, Bits uint32 }

// List is signatures to be compared with one: those numbered From to To − 1.
type List struct {
	From, To uint32
	Wanted   uint64
}

// Finder finds signatures that differ in few bits. It keeps its memory between calls and is not safe for concurrent use.
type Finder struct {
	from, to []uint32
	wanted   []uint64
	hits     []NearHit
}

// Near returns the signatures of all lists that differ in at most most bits, list by list and in order. The result is
// valid until the next call.
func (f *Finder) Near(signatures []uint64, lists []List, most int) []NearHit {
	return f.near(signatures, lists, most, 0)
}

func (f *Finder) near(signatures []uint64, lists []List, most, level int) []NearHit {
	f.from, f.to, f.wanted = f.from[:0], f.to[:0], f.wanted[:0]
	room := 0
	for _, l := range lists {
		if l.From < l.To {
			_ = signatures[l.To-1]
			f.from, f.to, f.wanted = append(f.from, l.From), append(f.to, l.To), append(f.wanted, l.Wanted)
			room += int(l.To - l.From)
		}
	}
	if room == 0 {
		return nil
	}
	f.hits = slices.Grow(f.hits[:0], room)[:room]
	n := C.docent_near((*C.uint64_t)(&signatures[0]), (*C.uint32_t)(&f.from[0]), (*C.uint32_t)(&f.to[0]), (*C.uint64_t)(&f.wanted[0]),
		C.int(len(f.from)), C.int(most), C.int(level), (*C.docent_near_hit)(unsafe.Pointer(&f.hits[0])))
	return f.hits[:n]
}

// Homography estimates by MAGSAC++ the homography (row by row) that maps src onto dst, both x, y pairs, with a
// threshold in units of dst, and says which pairs support it. inliers is 0 where there is none.
func Homography(src, dst []float32, threshold float64, iterations int) (h [9]float64, mask []bool, inliers int, err error) {
	n := len(src) / 2
	mask = make([]bool, n)
	if n < 4 || len(dst) != len(src) {
		return h, mask, 0, nil
	}
	var msg [errSize]C.char
	got := int(C.docent_homography((*C.float)(&src[0]), (*C.float)(&dst[0]), C.int(n), C.double(threshold), C.int(iterations),
		(*C.double)(&h[0]), (*C.uint8_t)(unsafe.Pointer(&mask[0])), &msg[0], errSize))
	if got < 0 {
		return h, mask, 0, errors.New(C.GoString(&msg[0]))
	}
	return h, mask, got, nil
}
