// Package voting finds the pictures that share local features with a photo: an inverted file over a large
// vocabulary, refined by binary signatures (Hamming embedding; Jégou, Douze and Schmid, ECCV 2008). Every feature of
// the photo votes for the pictures that have a like feature, and votes that agree on one place, size and direction
// of the picture count together, so a small work among others is found as well as one that fills the photo.
package voting

import (
	"fmt"
	"math/rand/v2"

	"docent/vision/feature"
	"docent/vision/internal/kernel"
)

// A word is a pair of centres, one for each half of a descriptor (the inverted multi-index of Babenko and Lempitsky,
// CVPR 2012): 2×256 centres give 65,536 words, are trained in seconds and compared with in a millisecond.
const (
	halfBytes = feature.DescriptorBytes / 2
	maxHalf   = 256
	sigBits   = 64
)

// Vocabulary tells descriptors apart by words and, within a word, by signatures.
type Vocabulary struct {
	halves [2][]byte // centres of each half, halfBytes each
	// offsets is the projection of each centre, sigBits numbers each.
	offsets [2][]int32
}

// trainRounds of k-means over each half.
const trainRounds = 12

// A word is worth having when a few features of the collection fall into it, and costs time when many do. With 16,384
// words the right picture is first a little more often than with 65,536 (136 instead of 133 of 139 photos among 3 million
// features), so only where lists would be long there are more.
const (
	featuresPerWord = 2
	commonHalf      = 128
	manyFeatures    = 4_000_000
)

// Train makes a vocabulary for a collection of a number of features from descriptors of some of them. The same
// descriptors and generator give the same vocabulary.
func Train(descriptors []byte, features int, rng *rand.Rand) (*Vocabulary, error) {
	n := len(descriptors) / feature.DescriptorBytes
	if n == 0 {
		return nil, fmt.Errorf("train vocabulary: no descriptors")
	}
	k := 16
	for k < commonHalf && featuresPerWord*(2*k)*(2*k) <= features {
		k *= 2
	}
	if features > manyFeatures {
		k = maxHalf
	}
	k = min(k, n)
	v := &Vocabulary{}
	for h := range 2 {
		rows := make([]byte, n*halfBytes)
		for i := range n {
			from := i*feature.DescriptorBytes + h*halfBytes
			copy(rows[i*halfBytes:(i+1)*halfBytes], descriptors[from:from+halfBytes])
		}
		v.halves[h] = feature.KMeans(rows, halfBytes, k, trainRounds, rng)
	}
	v.project()
	return v, nil
}

// project fills offsets.
func (v *Vocabulary) project() {
	for h := range 2 {
		k := len(v.halves[h]) / halfBytes
		v.offsets[h] = make([]int32, k*sigBits)
		var whole [feature.DescriptorBytes]byte
		for i := range k {
			clear(whole[:])
			copy(whole[h*halfBytes:], v.halves[h][i*halfBytes:(i+1)*halfBytes])
			p := projection(whole[:])
			copy(v.offsets[h][i*sigBits:], p[:])
		}
	}
}

// size is the number of centres of each half.
func (v *Vocabulary) size() int { return len(v.halves[0]) / halfBytes }

// Words is the number of words.
func (v *Vocabulary) Words() int { return v.size() * v.size() }

// projection is sigBits of the 128 coordinates of a descriptor whose signs are flipped at random and which is then
// turned by a Hadamard transform: orthogonal, and in whole numbers, so it is the same on every machine.
func projection(d []byte) [sigBits]int32 {
	var x [feature.DescriptorBytes]int32
	for i, b := range d {
		x[i] = int32(b)
		if flips[i/64]>>(i%64)&1 == 1 {
			x[i] = -x[i]
		}
	}
	for step := 1; step < len(x); step *= 2 {
		for i := 0; i < len(x); i += 2 * step {
			for j := i; j < i+step; j++ {
				a, b := x[j], x[j+step]
				x[j], x[j+step] = a+b, a-b
			}
		}
	}
	return [sigBits]int32(x[:sigBits])
}

// flips are the signs of the projection: the fractional digits of π in binary, as drawn as any.
var flips = [2]uint64{0x243f6a8885a308d3, 0x13198a2e03707344}

// signature says on which side of the word's centre a projected descriptor lies, one bit per direction.
func (v *Vocabulary) signature(p *[sigBits]int32, first, second int) uint64 {
	a, b := v.offsets[0][first*sigBits:(first+1)*sigBits], v.offsets[1][second*sigBits:(second+1)*sigBits]
	var sig uint64
	for i, x := range p {
		if x > a[i]+b[i] {
			sig |= 1 << i
		}
	}
	return sig
}

// cell is a word near a descriptor.
type cell struct {
	first, second int
	distance      int32
}

// nearCentres is how many centres of each half are combined to words.
const nearCentres = 4

// cells returns, for each descriptor, its n nearest words, nearest first.
func (v *Vocabulary) cells(descriptors []byte, n int) [][]cell {
	count := len(descriptors) / feature.DescriptorBytes
	k := v.size()
	var near [2][]cell // nearCentres per descriptor; first is the centre
	each := min(nearCentres, k)
	for h := range 2 {
		rows := make([]byte, count*halfBytes)
		for i := range count {
			from := i*feature.DescriptorBytes + h*halfBytes
			copy(rows[i*halfBytes:(i+1)*halfBytes], descriptors[from:from+halfBytes])
		}
		distances := kernel.Distances(rows, v.halves[h], halfBytes)
		near[h] = make([]cell, 0, count*each)
		for i := range count {
			near[h] = appendLeast(near[h], distances[i*k:(i+1)*k], each)
		}
	}
	n = min(n, each*each)
	out := make([][]cell, count)
	all := make([]cell, 0, count*n)
	for i := range count {
		start := len(all)
		for _, a := range near[0][i*each : (i+1)*each] {
			for _, b := range near[1][i*each : (i+1)*each] {
				all = insertLeast(all, start, n, cell{first: a.first, second: b.first, distance: a.distance + b.distance})
			}
		}
		out[i] = all[start:len(all):len(all)]
	}
	return out
}

// insertLeast inserts a cell into those from start on, which are sorted, and keeps the n least.
func insertLeast(list []cell, start, n int, c cell) []cell {
	if len(list)-start < n {
		list = append(list, c)
	} else if c.distance >= list[len(list)-1].distance {
		return list
	}
	at := len(list) - 1
	for at > start && list[at-1].distance > c.distance {
		list[at] = list[at-1]
		at--
	}
	list[at] = c
	return list
}

// appendLeast appends the n least of distances, least first.
func appendLeast(out []cell, distances []int32, n int) []cell {
	start := len(out)
	for i, d := range distances {
		if len(out)-start == n && d >= out[len(out)-1].distance {
			continue
		}
		out = insertLeast(out, start, n, cell{first: i, distance: d})
	}
	return out
}
