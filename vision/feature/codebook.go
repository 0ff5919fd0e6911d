package feature

import (
	"fmt"
	"math/rand/v2"

	"docent/vision/internal/kernel"
)

// Codebook is a visual vocabulary: centres in descriptor space.
type Codebook struct {
	Centres []byte // DescriptorBytes per centre
}

// Len is the number of centres.
func (c Codebook) Len() int { return len(c.Centres) / DescriptorBytes }

// Assign returns the number of the nearest centre of each descriptor.
func (c Codebook) Assign(descriptors []byte) []int32 {
	return kernel.Nearest(descriptors, c.Centres, DescriptorBytes)
}

// kMeansRounds is enough for the assignments of a vocabulary of a few hundred centres to settle: further rounds
// move less than 1 % of the descriptors.
const kMeansRounds = 15

// TrainCodebook finds up to k centres of descriptors by k-means, started from descriptors drawn with rng. The same
// descriptors and generator give the same centres.
func TrainCodebook(descriptors []byte, k int, rng *rand.Rand) (Codebook, error) {
	n := len(descriptors) / DescriptorBytes
	if n == 0 || k < 1 {
		return Codebook{}, fmt.Errorf("train codebook: %d descriptors for %d centres", n, k)
	}
	return Codebook{Centres: KMeans(descriptors, DescriptorBytes, k, kMeansRounds, rng)}, nil
}

// KMeans finds up to k centres of rows of width bytes (a multiple of 4, at most [MaxByte] each), started from rows
// drawn with rng. The same rows and generator give the same centres.
func KMeans(rows []byte, width, k, rounds int, rng *rand.Rand) []byte {
	n := len(rows) / width
	k = min(k, n)
	centres := make([]byte, k*width)
	at := func(b []byte, i int) []byte { return b[i*width : (i+1)*width : (i+1)*width] }
	for i, from := range rng.Perm(n)[:k] {
		copy(at(centres, i), at(rows, from))
	}
	sums := make([]uint32, k*width)
	counts := make([]uint32, k)
	for range rounds {
		clear(sums)
		clear(counts)
		for i, c := range kernel.Nearest(rows, centres, width) {
			counts[c]++
			sum := sums[int(c)*width : (int(c)+1)*width]
			for d, v := range at(rows, i) {
				sum[d] += uint32(v)
			}
		}
		for i, count := range counts {
			centre := at(centres, i)
			if count == 0 { // an empty cell starts again elsewhere
				copy(centre, at(rows, rng.IntN(n)))
				continue
			}
			for d, sum := range sums[i*width : (i+1)*width] {
				centre[d] = byte((sum + count/2) / count)
			}
		}
	}
	return centres
}

func row(b []byte, i int) []byte {
	return b[i*DescriptorBytes : (i+1)*DescriptorBytes : (i+1)*DescriptorBytes]
}
