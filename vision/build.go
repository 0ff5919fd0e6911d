package vision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // header readers, to refuse a huge picture before it is decoded
	_ "image/png"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"gocv.io/x/gocv"
	_ "golang.org/x/image/webp"
	"golang.org/x/sync/errgroup"

	"docent/localindex/vector"
	"docent/vision/feature"
	"docent/vision/internal/sealed"
	"docent/vision/internal/voting"
)

// Reference is one picture of an exhibit.
type Reference struct {
	ExhibitID string
	Picture   string // name of the picture in answers and reports
	Path      string // file it is read from
	// Features are those of the picture, from [Describe]; nil has the file described, which else is not read.
	Features *feature.Set
}

// Options are for building and for opening an index; each field says which.
type Options struct {
	// Index says how vectors are searched: auto (also ""), exact or hnsw. Used when building.
	Index vector.Kind
	// Threads bounds the goroutines at work in building, and in all recognitions of one Recogniser together; 0 means
	// GOMAXPROCS.
	Threads int
	// Logger gets one line per picture that is weak; nil logs nothing.
	Logger *slog.Logger
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// Report says what was built.
type Report struct {
	Exhibits    int           `json:"exhibits"`
	Pictures    int           `json:"pictures"`
	Features    int           `json:"features"`
	Words       int           `json:"words"`      // of the vocabulary of local features
	Centres     int           `json:"centres"`    // of the codebook of whole pictures
	Dimensions  int           `json:"dimensions"` // of the vectors
	VectorIndex vector.Report `json:"vector_index"`
	// Weak lists pictures with too few features to be recognised well, fewest first.
	Weak []WeakReference `json:"weak,omitempty"`
	// Neural is about the gallery's neural network, where it has one.
	Neural *NeuralReport `json:"neural,omitempty"`
}

// WeakReference is a picture with few features.
type WeakReference struct {
	ExhibitID string `json:"exhibit"`
	Picture   string `json:"picture"`
	Features  int    `json:"features"`
}

// The files of an index, and the kinds they are sealed as.
const (
	indexFile    = "index.bin"
	featuresFile = "features.bin"
	modelFile    = "model.bin"
	votesFile    = "votes.bin"
	vectorsFile  = "vectors.bin"

	indexKind    = "DOCIDX1"
	featuresKind = "DOCFEA1"
	modelKind    = "DOCMOD1"
	votesKind    = "DOCVOT2"
)

// index is the content of index.bin, as JSON.
type index struct {
	References []indexed `json:"references"`
	Features   string    `json:"features_sha256"`
	Model      string    `json:"model_sha256"`
	Votes      string    `json:"votes_sha256"`
	Report     Report    `json:"report"`
}

// indexed is one picture of the index; its number is its key in features and vectors.
type indexed struct {
	ExhibitID string `json:"exhibit"`
	Picture   string `json:"picture"`
}

// Limits of what is built.
const (
	maxReferences      = 200_000
	maxReferencePixels = 100 << 20
)

// ErrReference is wrapped by errors about reference pictures that cannot be used.
var ErrReference = errors.New("unusable reference picture")

// BuildIndex describes reference pictures, trains vocabulary and projection on them, and writes the index into dir,
// which is made where it is missing. The same pictures and options give the same files. It stops when ctx ends.
func BuildIndex(ctx context.Context, refs []Reference, dir string, o Options) (Report, error) {
	if len(refs) == 0 {
		return Report{}, fmt.Errorf("build recognition index: %w: there are none", ErrReference)
	}
	if len(refs) > maxReferences {
		return Report{}, fmt.Errorf("build recognition index: %d pictures, at most %d", len(refs), maxReferences)
	}
	sets, err := describe(ctx, refs, referenceFeatures(len(refs)), o.threads())
	if err != nil {
		return Report{}, fmt.Errorf("build recognition index: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Report{}, fmt.Errorf("build recognition index: %w", err)
	}
	rng := rand.New(rand.NewPCG(trainSeed, 0))
	sample, total := sampleFeatures(sets, trainFeatures, rng)
	if total == 0 {
		return Report{}, fmt.Errorf("build recognition index: %w: no picture has features", ErrReference)
	}
	vocabulary, err := voting.Train(sample, total, rng)
	if err != nil {
		return Report{}, fmt.Errorf("build recognition index: %w", err)
	}
	votes := voting.Build(vocabulary, sets)
	model, vectors, err := train(ctx, sets, sample, total, rng, o.threads())
	if err != nil {
		return Report{}, fmt.Errorf("build recognition index: %w", err)
	}
	vectorIndex, vectorReport, err := vector.Build(model.Projection.Out, vectors, o.Index)
	if err != nil {
		return Report{}, fmt.Errorf("build recognition index: %w", err)
	}
	if vectorReport.Recall < vector.MinRecall {
		o.logger().Warn("vector index was asked for and loses neighbours", "kind", string(vectorReport.Kind), "recall", vectorReport.Recall)
	}
	report := summarise(refs, sets, model, vocabulary.Words(), vectorReport)
	for _, w := range report.Weak {
		o.logger().Warn("reference picture has few features", "exhibit", w.ExhibitID, "picture", w.Picture, "features", w.Features)
	}
	if err := write(dir, refs, sets, model, votes, vectorIndex, report); err != nil {
		return Report{}, fmt.Errorf("build recognition index: %w", err)
	}
	return report, nil
}

// References have more features than a photo needs, as a photo may show any part of them, from near or far. In a large
// collection each gets fewer, so that the index stays below some 1.4 GB.
const (
	referenceSide        = 800 // pixels
	maxReferenceFeatures = 2000
	minReferenceFeatures = 700
	allFeatures          = 10_000_000
)

// referenceFeatures says how the pictures of a collection of a size are described.
func referenceFeatures(pictures int) feature.Options {
	return feature.Options{
		MaxSide:     referenceSide,
		MaxFeatures: min(max(allFeatures/pictures, minReferenceFeatures), maxReferenceFeatures),
		Contrast:    contrast,
	}
}

// Describe extracts the features of a picture (BGR or gray) as a reference has them in the smallest collection; a
// larger one uses the strongest of them.
func Describe(picture gocv.Mat) (feature.Set, error) {
	return feature.Extract(picture, referenceFeatures(1))
}

// describe extracts the features of all references.
func describe(ctx context.Context, refs []Reference, o feature.Options, threads int) ([]feature.Set, error) {
	sets := make([]feature.Set, len(refs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for i, ref := range refs {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if ref.Features != nil {
				sets[i] = ref.Features.Strongest(o.MaxFeatures)
				return nil
			}
			set, err := describeFile(ref.Path, o)
			if err != nil {
				return fmt.Errorf("picture %s of exhibit %s: %w", ref.Picture, ref.ExhibitID, err)
			}
			sets[i] = set
			return nil
		})
	}
	return sets, g.Wait()
}

func describeFile(path string, o feature.Options) (feature.Set, error) {
	if err := checkHeader(path); err != nil {
		return feature.Set{}, err
	}
	picture := gocv.IMRead(path, gocv.IMReadColor)
	defer picture.Close()
	if picture.Empty() {
		return feature.Set{}, fmt.Errorf("%w: %s cannot be decoded", ErrReference, path)
	}
	return feature.Extract(picture, o)
}

// checkHeader refuses a file that is no picture or a huge one before it is decoded.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReference, err)
	}
	defer f.Close()
	header, _, err := image.DecodeConfig(f)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrReference, path, err)
	}
	if int64(header.Width)*int64(header.Height) > maxReferencePixels {
		return fmt.Errorf("%w: %s has %d×%d pixels", ErrReference, path, header.Width, header.Height)
	}
	return nil
}

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

// train makes the codebook, from a sample of all features, the projection and one vector per set. A picture without
// features has a vector of zeros: it is found by nobody.
func train(ctx context.Context, sets []feature.Set, sample []byte, total int, rng *rand.Rand, threads int) (feature.Model, []float32, error) {
	centres := min(max(total/centreFeatures, minCentres), maxCentres)
	codebook, err := feature.TrainCodebook(sample, centres, rng)
	if err != nil {
		return feature.Model{}, nil, err
	}
	if err := ctx.Err(); err != nil {
		return feature.Model{}, nil, err
	}

	// The projection is trained on the pictures and on windows of them, as it is asked for both.
	windows := feature.Windows()
	vlads := make([][][]float32, len(sets))
	perSet := max(1, min(len(windows), trainVectors/len(sets)))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for i, set := range sets {
		g.Go(func() error {
			vlads[i] = codebook.VLADs(set, codebook.Assign(set.Descriptors), windows[:perSet], minWindowFeatures)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return feature.Model{}, nil, err
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
		return feature.Model{}, nil, fmt.Errorf("%w: no picture has %d features", ErrReference, minWindowFeatures)
	}
	projection, err := feature.TrainProjection(training, dimensions)
	if err != nil {
		return feature.Model{}, nil, err
	}
	vectors := make([]float32, len(sets)*projection.Out)
	for i := range sets {
		copy(vectors[i*projection.Out:], projection.Apply(vlads[i][:1])[0])
	}
	return feature.Model{Codebook: codebook, Projection: projection}, vectors, nil
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

func write(dir string, refs []Reference, sets []feature.Set, model feature.Model, votes *voting.Index, vectors vector.Index, report Report) error {
	content, err := feature.EncodeSets(sets)
	if err != nil {
		return err
	}
	featuresSum, err := sealed.WriteFile(filepath.Join(dir, featuresFile), featuresKind, content)
	if err != nil {
		return err
	}
	modelSum, err := sealed.WriteFile(filepath.Join(dir, modelFile), modelKind, model.Encode())
	if err != nil {
		return err
	}
	votesSum, err := sealed.WriteFile(filepath.Join(dir, votesFile), votesKind, votes.Encode())
	if err != nil {
		return err
	}
	if err := vector.WriteFile(filepath.Join(dir, vectorsFile), vectors); err != nil {
		return err
	}
	x := index{
		Features: fmt.Sprintf("%x", featuresSum), Model: fmt.Sprintf("%x", modelSum), Votes: fmt.Sprintf("%x", votesSum),
		Report: report,
	}
	for _, r := range refs {
		x.References = append(x.References, indexed{ExhibitID: r.ExhibitID, Picture: r.Picture})
	}
	list, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("encode index: %w", err)
	}
	_, err = sealed.WriteFile(filepath.Join(dir, indexFile), indexKind, list)
	return err
}
