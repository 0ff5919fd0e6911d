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
	// Before is the folder of an earlier index, or empty. If most of its pictures are still there, the new index keeps to
	// the vocabulary, codebook and projection that were trained then: what did not change is then the same bytes in both,
	// and need not travel to a kiosk again. Used when building.
	Before string
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
	// Kept says that the training of the index before was kept.
	Kept bool `json:"kept,omitempty"`
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
	votesKind    = "DOCVOT3"
)

// index is the content of index.bin, as JSON.
type index struct {
	References []indexed `json:"references"`
	Features   string    `json:"features_sha256"`
	Model      string    `json:"model_sha256"`
	Votes      string    `json:"votes_sha256"`
	Trained    int       `json:"trained"` // pictures that it was trained on
	Report     Report    `json:"report"`
}

// indexed is one picture of the index; its number is its key in features and vectors.
type indexed struct {
	ExhibitID string `json:"exhibit"`
	Picture   string `json:"picture"`
	Trained   bool   `json:"trained,omitempty"` // it is one of those that the index was trained on
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
	trained, kept := before(o.Before, sets)
	if !kept {
		if trained, err = train(ctx, sets, o.threads()); err != nil {
			return Report{}, fmt.Errorf("build recognition index: %w", err)
		}
	}
	votes := voting.Build(trained.vocabulary, sets)
	model := trained.model
	vectors, err := vectorsOf(ctx, model, sets, o.threads())
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
	report := summarise(refs, sets, model, trained.vocabulary.Words(), vectorReport)
	report.Kept = kept
	for _, w := range report.Weak {
		o.logger().Warn("reference picture has few features", "exhibit", w.ExhibitID, "picture", w.Picture, "features", w.Features)
	}
	if err := write(dir, refs, sets, trained, votes, vectorIndex, report); err != nil {
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

func write(dir string, refs []Reference, sets []feature.Set, t training, votes *voting.Index, vectors vector.Index, report Report) error {
	content, err := feature.EncodeSets(sets)
	if err != nil {
		return err
	}
	featuresSum, err := sealed.WriteFile(filepath.Join(dir, featuresFile), featuresKind, content)
	if err != nil {
		return err
	}
	modelSum, err := sealed.WriteFile(filepath.Join(dir, modelFile), modelKind, t.model.Encode())
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
		Trained: t.count, Report: report,
	}
	for i, r := range refs {
		x.References = append(x.References, indexed{ExhibitID: r.ExhibitID, Picture: r.Picture, Trained: t.on[i]})
	}
	list, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("encode index: %w", err)
	}
	_, err = sealed.WriteFile(filepath.Join(dir, indexFile), indexKind, list)
	return err
}
