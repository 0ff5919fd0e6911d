package vision

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"docent/vision/feature"
	"docent/vision/internal/voting"
)

// The codebook has one centre per centreFeatures features of the collection, within the bounds: with fewer features a
// centre stands for single features and not for a kind of them. 128 centres need some 5,000 features, which five
// pictures have. 256 have the right work among the first ten more often (132 instead of 129 of 139 photos), but take
// twice the time and space, for what the votes of local features mostly have already.
const (
	centreFeatures = 40
	minCentres     = 16
	maxCentres     = 128
	dimensions     = 128

	trainFeatures = 100_000 // features the vocabularies are trained on
	trainVectors  = 400     // vectors the projection is trained on
	trainSeed     = 0x0d0c
)

// training is what descriptors and pictures of a collection are told apart by.
type training struct {
	vocabulary *voting.Vocabulary
	model      feature.Model
	count      int    // pictures it was trained on
	on         []bool // which of an index's pictures were among them
}

// train trains on all sets.
func train(ctx context.Context, sets []feature.Set, threads int) (training, error) {
	rng := rand.New(rand.NewPCG(trainSeed, 0))
	sample, total := sampleFeatures(sets, trainFeatures, rng)
	if total == 0 {
		return training{}, fmt.Errorf("%w: no picture has features", ErrReference)
	}
	t := training{count: len(sets), on: slices.Repeat([]bool{true}, len(sets))}
	var err error
	if t.vocabulary, err = voting.Train(sample, total, rng); err != nil {
		return training{}, err
	}
	t.model, err = trainModel(ctx, sets, sample, total, rng, threads)
	return t, err
}

// enoughKept is the part of the pictures trained on that must still be there, and be that part of the collection, for
// the training to be kept. More change is rare, and a collection that has become another one deserves its own.
const enoughKept = 0.8

// before is the training of the index in dir, if it does for sets too. One that is not there or cannot be read does not.
func before(dir string, sets []feature.Set) (training, bool) {
	if dir == "" {
		return training{}, false
	}
	r, err := Open(dir, Options{})
	if err != nil {
		return training{}, false
	}
	defer r.Close()
	known := make(map[[sha256.Size]byte]bool)
	for i, set := range r.sets {
		if r.references[i].Trained {
			known[sha256.Sum256(set.Descriptors)] = true
		}
	}
	// Vocabulary and model are read, not mapped: they outlive the index.
	t := training{vocabulary: r.votes.Vocabulary(), model: r.model, count: r.trained, on: make([]bool, len(sets))}
	kept := 0
	for i, set := range sets {
		if known[sha256.Sum256(set.Descriptors)] {
			t.on[i] = true
			kept++
		}
	}
	return t, float64(kept) >= enoughKept*float64(max(len(sets), t.count))
}

// trainModel makes the codebook and the projection, from a sample of all features.
func trainModel(ctx context.Context, sets []feature.Set, sample []byte, total int, rng *rand.Rand, threads int) (feature.Model, error) {
	codebook, err := feature.TrainCodebook(sample, min(max(total/centreFeatures, minCentres), maxCentres), rng)
	if err != nil {
		return feature.Model{}, err
	}
	// The projection is trained on the pictures and on windows of them, as it is asked for both.
	windows := feature.Windows()
	vlads, err := describeWhole(ctx, codebook, sets, windows[:max(1, min(len(windows), trainVectors/len(sets)))], threads)
	if err != nil {
		return feature.Model{}, err
	}
	var training [][]float32
	for _, i := range rng.Perm(len(sets)) {
		for _, v := range vlads[i] {
			if v != nil && len(training) < trainVectors {
				training = append(training, v)
			}
		}
	}
	if len(training) == 0 {
		return feature.Model{}, fmt.Errorf("%w: no picture has %d features", ErrReference, minWindowFeatures)
	}
	projection, err := feature.TrainProjection(training, dimensions)
	if err != nil {
		return feature.Model{}, err
	}
	return feature.Model{Codebook: codebook, Projection: projection}, nil
}

// vectorsOf makes one vector per set. A picture without features has a vector of zeros: it is found by nobody.
func vectorsOf(ctx context.Context, m feature.Model, sets []feature.Set, threads int) ([]float32, error) {
	vlads, err := describeWhole(ctx, m.Codebook, sets, feature.Windows()[:1], threads)
	if err != nil {
		return nil, err
	}
	vectors := make([]float32, len(sets)*m.Projection.Out)
	for i := range sets {
		copy(vectors[i*m.Projection.Out:], m.Projection.Apply(vlads[i])[0])
	}
	return vectors, nil
}

// describeWhole is the VLADs of windows of all sets.
func describeWhole(ctx context.Context, codebook feature.Codebook, sets []feature.Set, windows []feature.Window, threads int) ([][][]float32, error) {
	vlads := make([][][]float32, len(sets))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for i, set := range sets {
		g.Go(func() error {
			vlads[i] = codebook.VLADs(set, codebook.Assign(set.Descriptors), windows, minWindowFeatures)
			return ctx.Err()
		})
	}
	return vlads, g.Wait()
}

// sampleFeatures draws up to n descriptors evenly from all sets, and says how many there are.
func sampleFeatures(sets []feature.Set, n int, rng *rand.Rand) (sample []byte, total int) {
	for _, s := range sets {
		total += s.Len()
	}
	share := min(1, float64(n)/float64(max(1, total)))
	for _, s := range sets {
		for i := range s.Len() {
			if rng.Float64() < share {
				sample = append(sample, s.Descriptors[i*feature.DescriptorBytes:(i+1)*feature.DescriptorBytes]...)
			}
		}
	}
	return sample, total
}
