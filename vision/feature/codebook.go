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
	return kernel.Nearest(descriptors, c.Centres)
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
	k = min(k, n)
	c := Codebook{Centres: make([]byte, k*DescriptorBytes)}
	for i, from := range rng.Perm(n)[:k] {
		copy(c.Centres[i*DescriptorBytes:(i+1)*DescriptorBytes], row(descriptors, from))
	}
	sums := make([]uint32, k*DescriptorBytes)
	counts := make([]uint32, k)
	for range kMeansRounds {
		clear(sums)
		clear(counts)
		for i, at := range c.Assign(descriptors) {
			counts[at]++
			sum := sums[int(at)*DescriptorBytes : (int(at)+1)*DescriptorBytes]
			for d, v := range row(descriptors, i) {
				sum[d] += uint32(v)
			}
		}
		for i, count := range counts {
			centre := row(c.Centres, i)
			if count == 0 { // an empty cell starts again elsewhere
				copy(centre, row(descriptors, rng.IntN(n)))
				continue
			}
			for d, sum := range sums[i*DescriptorBytes : (i+1)*DescriptorBytes] {
				centre[d] = byte((sum + count/2) / count)
			}
		}
	}
	return c, nil
}

func row(b []byte, i int) []byte {
	return b[i*DescriptorBytes : (i+1)*DescriptorBytes : (i+1)*DescriptorBytes]
}
