package vision

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/sync/errgroup"

	"docent/localindex/gallery"
	"docent/vision/internal/sealed"
	"docent/vision/neural"
	"docent/vision/synthetic"
)

// buildNeural describes the references by the gallery's neural network, finds out from what likeness on a work may be
// offered, and puts network and vectors beside the index in dir.
func buildNeural(ctx context.Context, refs []Reference, dir, galleryDir string, g gallery.Neural, threads int) (*NeuralReport, error) {
	explain := func(err error) error {
		return fmt.Errorf("gallery.yaml: recognition.neural.model: %s: %w; export it once more as one ONNX file of a plain convolutional network "+
			"(operators of version 11 or so), or take recognition.neural out of gallery.yaml", g.Model, err)
	}
	if !filepath.IsLocal(filepath.FromSlash(g.Model)) {
		return nil, fmt.Errorf("gallery.yaml: recognition.neural.model: %q lies outside the gallery", g.Model)
	}
	model, err := readModel(filepath.Join(galleryDir, filepath.FromSlash(g.Model)), strings.ToLower(g.SHA256))
	if err != nil {
		return nil, explain(err)
	}
	s := neural.Settings{Width: g.Input[0], Height: g.Input[1], Layer: g.Layer}
	for i := range 3 {
		s.Mean[i], s.Std[i] = float32(g.Mean[i]), float32(g.Std[i])
	}
	net, err := neural.Open(model, s)
	if err != nil {
		return nil, explain(err)
	}
	defer net.Close()

	began := time.Now()
	vectors, err := describeReferences(ctx, net, refs, threads)
	if err != nil {
		return nil, err
	}
	report := &NeuralReport{
		SHA256: hexSum(model), Dimensions: net.Dimension(), MS: float64(time.Since(began).Microseconds()) / 1000 / float64(len(refs)),
	}
	if err := calibrate(ctx, net, refs, vectors, report, threads); err != nil {
		return nil, err
	}
	list, err := os.ReadFile(filepath.Join(dir, indexFile))
	if err != nil {
		return nil, fmt.Errorf("put neural network into the index: %w", err)
	}
	content, err := encodeNeural(neuralHead{
		Index: hexSum(list), Model: report.SHA256, Settings: s, Floor: report.Floor, Pictures: len(vectors), Numbers: net.Dimension(),
	}, vectors)
	if err != nil {
		return nil, fmt.Errorf("put neural network into the index: %w", err)
	}
	if _, err := sealed.WriteFile(filepath.Join(dir, neuralFile), neuralKind, content); err != nil {
		return nil, fmt.Errorf("put neural network into the index: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, networkFile), model, 0o644); err != nil { // the release syncs it
		return nil, fmt.Errorf("put neural network into the index: %w", err)
	}
	return report, nil
}

func describeReferences(ctx context.Context, net *neural.Net, refs []Reference, threads int) ([][]float32, error) {
	vectors := make([][]float32, len(refs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(threads)
	for i, ref := range refs {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			picture, err := readPicture(ref.Path)
			if err != nil {
				return fmt.Errorf("picture %s of exhibit %s: %w", ref.Picture, ref.ExhibitID, err)
			}
			defer picture.Close()
			if vectors[i], err = net.Describe(picture); err != nil {
				return fmt.Errorf("picture %s of exhibit %s: %w", ref.Picture, ref.ExhibitID, err)
			}
			return nil
		})
	}
	return vectors, group.Wait()
}

// The floor is found with photos of works and of other things. It lies above all those of other things, and above nine of
// ten likenesses of a photo to the likest other exhibit, which is what the photo of a work that is not in the gallery
// would have.
const (
	calibrationWorks  = 32
	calibrationOthers = 12
	otherWorks        = 0.9
	calibrationSeed   = 0x6e65
)

// calibrate sets the floor, and counts how many photos of works it lets through.
func calibrate(ctx context.Context, net *neural.Net, refs []Reference, vectors [][]float32, report *NeuralReport, threads int) error {
	references := make([]indexed, len(refs))
	for i, r := range refs {
		references[i] = indexed{ExhibitID: r.ExhibitID, Picture: r.Picture}
	}
	tried := min(len(refs), calibrationWorks)
	works := make([][]resembling, tried)
	others := make([]float64, calibrationOthers)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(threads)
	look := func(photo gocv.Mat) ([]resembling, error) {
		defer photo.Close()
		queries, err := describeWindows(net, photo, neuralWindows)
		return nearestPictures(references, vectors, queries), err
	}
	for k := range tried {
		i := k * len(refs) / tried
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			photo, err := viewOf(refs[i], uint64(i))
			if err != nil {
				return err
			}
			works[k], err = look(photo)
			return err
		})
	}
	for k := range others {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			photo, err := synthetic.Distractor(rand.New(rand.NewPCG(calibrationSeed, uint64(k))))
			if err != nil {
				return err
			}
			seen, err := look(photo)
			if err == nil {
				others[k] = seen[0].similarity
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("find the floor of the neural network: %w", err)
	}
	var strange []float64 // likeness of a work to the likest other exhibit
	for k, seen := range works {
		own := references[k*len(refs)/tried].ExhibitID
		if at := slices.IndexFunc(seen, func(s resembling) bool { return references[s.key].ExhibitID != own }); at >= 0 {
			strange = append(strange, seen[at].similarity)
		}
	}
	report.Floor = slices.Max(others)
	if len(strange) > 0 {
		slices.Sort(strange)
		report.Floor = max(report.Floor, strange[min(len(strange)-1, int(otherWorks*float64(len(strange))))])
	}
	report.Views = tried
	for k, seen := range works {
		own := references[k*len(refs)/tried].ExhibitID
		if slices.ContainsFunc(seen[:min(len(seen), maxCards)], func(s resembling) bool {
			return references[s.key].ExhibitID == own && s.similarity >= report.Floor
		}) {
			report.Found++
		}
	}
	return nil
}

// viewOf is a visitor's photo of a reference. The caller closes it.
func viewOf(ref Reference, seed uint64) (gocv.Mat, error) {
	picture, err := readPicture(ref.Path)
	if err != nil {
		return gocv.Mat{}, fmt.Errorf("picture %s of exhibit %s: %w", ref.Picture, ref.ExhibitID, err)
	}
	defer picture.Close()
	shrink(&picture, 800)
	p := synthetic.Random(rand.New(rand.NewPCG(calibrationSeed, 1+seed)), synthetic.Typical)
	p.Width, p.Height = p.Width/2, p.Height/2 // a network sees less than that
	photo, _, err := synthetic.Render(picture, p)
	if err != nil { // far longer than wide: as it is
		return picture.Clone(), nil
	}
	return photo, nil
}
