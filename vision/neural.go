package vision

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gocv.io/x/gocv"

	"docent/vision/feature"
	"docent/vision/neural"
)

// The files of a release with a neural network.
const (
	neuralFile  = "neural.bin"
	networkFile = "neural.onnx"
	neuralKind  = "DOCNEU1"

	maxNeuralFile = 2 << 30
)

// NeuralReport says how a gallery's neural network did when the index was built.
type NeuralReport struct {
	SHA256     string  `json:"sha256"` // of the model
	Dimensions int     `json:"dimensions"`
	Floor      float64 `json:"floor"` // similarity from which a picture is offered
	Views      int     `json:"views"` // rendered photos that the floor was found with
	Found      int     `json:"found"` // of those, how many offer the right exhibit
	MS         float64 `json:"ms"`    // to describe one picture, on the machine of the build
}

// neuralHead is the beginning of neural.bin; a vector for each picture of the index follows, 32 bit numbers,
// little-endian.
type neuralHead struct {
	Index    string          `json:"index_sha256"` // of index.bin
	Model    string          `json:"model_sha256"`
	Settings neural.Settings `json:"settings"`
	Floor    float64         `json:"floor"`
	Pictures int             `json:"pictures"`
	Numbers  int             `json:"numbers"` // of a vector
}

// network is a neural network with the vectors of all pictures of the index.
type network struct {
	head    neuralHead
	vectors [][]float32
	net     *neural.Net
}

// encodeNeural writes head and vectors; decodeNeural reads them.
func encodeNeural(h neuralHead, vectors [][]float32) ([]byte, error) {
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	out = append(out, head...)
	for _, v := range vectors {
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out, nil
}

func decodeNeural(data []byte) (neuralHead, [][]float32, error) {
	var h neuralHead
	if len(data) < 4 {
		return h, nil, errors.New("neural vectors end too early")
	}
	n := int64(binary.LittleEndian.Uint32(data))
	data = data[4:]
	if n > int64(len(data)) || n > 64<<10 {
		return h, nil, errors.New("the head of the neural vectors is too long")
	}
	if err := json.Unmarshal(data[:n], &h); err != nil {
		return h, nil, fmt.Errorf("the head of the neural vectors: %w", err)
	}
	data = data[n:]
	switch {
	case h.Pictures < 1 || h.Pictures > maxReferences || h.Numbers < 2 || h.Numbers > neural.MaxDimension:
		return h, nil, fmt.Errorf("neural vectors: %d of %d numbers", h.Pictures, h.Numbers)
	case int64(len(data)) != 4*int64(h.Pictures)*int64(h.Numbers):
		return h, nil, fmt.Errorf("neural vectors: %d bytes for %d of %d numbers", len(data), h.Pictures, h.Numbers)
	case !(h.Floor > -1 && h.Floor <= 1):
		return h, nil, fmt.Errorf("neural vectors: floor %v", h.Floor)
	}
	vectors := make([][]float32, h.Pictures)
	for i := range vectors {
		v := make([]float32, h.Numbers)
		for k := range v {
			v[k] = math.Float32frombits(binary.LittleEndian.Uint32(data))
			data = data[4:]
			if !(math.Abs(float64(v[k])) <= 1.001) {
				return h, nil, fmt.Errorf("neural vectors: %v is no part of a vector of length 1", v[k])
			}
		}
		vectors[i] = v
	}
	return h, vectors, nil
}

// openNeural opens the neural network of a release, where it has one. Without it, recognition goes on by local features;
// why it is not used is said by [Recogniser.Neural].
func (r *Recogniser) openNeural(dir string, log *slog.Logger) error {
	content, _, err := readSealed(filepath.Join(dir, neuralFile), neuralKind, maxNeuralFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	head, vectors, err := decodeNeural(content)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	list, err := os.ReadFile(filepath.Join(dir, indexFile))
	if err != nil {
		return err
	}
	if head.Index != hexSum(list) || head.Pictures != len(r.references) {
		return fmt.Errorf("%w: %s belongs to another build", ErrDamaged, neuralFile)
	}
	net, err := openModel(filepath.Join(dir, networkFile), head.Model, head.Settings)
	if err == nil && net.Dimension() != head.Numbers {
		err = errors.Join(fmt.Errorf("%w: it gives %d numbers here and gave %d when the release was built", neural.ErrModel, net.Dimension(), head.Numbers), net.Close())
	}
	if err != nil {
		r.neuralTrouble = err
		log.Warn("the release's neural network is not used; exhibits are recognised by their details alone", "why", err)
		return nil
	}
	r.network, r.log = &network{head: head, vectors: vectors, net: net}, log
	return nil
}

// openModel reads a model's file, compares its sum, and opens it.
func openModel(path, sum string, s neural.Settings) (*neural.Net, error) {
	model, err := readModel(path, sum)
	if err != nil {
		return nil, err
	}
	return neural.Open(model, s)
}

func readModel(path, sum string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > neural.MaxModelBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", neural.ErrModel, info.Size(), neural.MaxModelBytes)
	}
	model, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if got := hexSum(model); got != sum {
		return nil, fmt.Errorf("%w: its SHA-256 is %s, want %s", neural.ErrModel, got, sum)
	}
	return model, nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Neural says whether the index has a neural network; the error is why it is not used.
func (r *Recogniser) Neural() (has bool, trouble error) {
	return r.network != nil || r.neuralTrouble != nil, r.neuralTrouble
}

// neuralWindows are the parts of a photo that the network sees: all of it, and its middle, where the work is.
var neuralWindows = []float64{1, 0.8, 0.6}

// describeWindows are the vectors of the windows of a picture.
func describeWindows(net *neural.Net, img gocv.Mat, windows []float64) ([][]float32, error) {
	out := make([][]float32, 0, len(windows))
	for _, share := range windows {
		w, h := max(1, int(share*float64(img.Cols()))), max(1, int(share*float64(img.Rows())))
		x, y := (img.Cols()-w)/2, (img.Rows()-h)/2
		part := img.Region(image.Rect(x, y, x+w, y+h))
		v, err := net.Describe(part)
		part.Close()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// resembling is a picture of the index that is like a photo.
type resembling struct {
	key        int
	similarity float64 // cosine
}

// nearestPictures are the pictures by their likeness to any of the queries, best first, one of each exhibit.
func nearestPictures(references []indexed, vectors, queries [][]float32) []resembling {
	best := map[string]resembling{}
	for i, v := range vectors {
		s := math.Inf(-1)
		for _, q := range queries {
			s = max(s, dot(q, v))
		}
		if b, ok := best[references[i].ExhibitID]; !ok || s > b.similarity {
			best[references[i].ExhibitID] = resembling{i, s}
		}
	}
	out := make([]resembling, 0, len(best))
	for _, b := range best {
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b resembling) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.key, b.key))
	})
	return out
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// neuralChecked is how many of the likest pictures are checked by their local features, too.
const neuralChecked = 4

// lookNeural has the network look at a photo that was not surely recognised. What it finds likest is checked like the rest
// of the shortlist; where that is not sure either, works that are like enough are offered as cards, and never named
// surely: a network knows what a work looks like, and not that it is this one.
func (r *Recogniser) lookNeural(ctx context.Context, photo Photo, found []verified, t *Timings) (Decision, []Candidate, error) {
	began := time.Now()
	if err := r.take(ctx); err != nil {
		return "", nil, err
	}
	defer r.give()
	queries, err := describeWindows(r.network.net, photo.Image, neuralWindows)
	if err != nil {
		r.log.Warn("the neural network does not describe a photo", "error", err)
		decision, candidates := decide(r.bestPerExhibit(found))
		return decision, candidates, nil
	}
	likest := nearestPictures(r.references, r.network.vectors, queries)
	listed := time.Now()
	t.Shortlist += listed.Sub(began)
	set, err := feature.Extract(photo.Image, looks[len(looks)-1].features)
	if err != nil {
		return "", nil, err
	}
	described := time.Now()
	t.Features += described.Sub(listed)
	var keys []int
	for _, l := range likest[:min(len(likest), neuralChecked)] {
		if !slices.ContainsFunc(found, func(v verified) bool { return v.key == l.key }) {
			keys = append(keys, l.key)
		}
	}
	more, err := r.verify(ctx, set, keys, math.MaxInt)
	if err != nil {
		return "", nil, err
	}
	t.Verify += time.Since(described)
	decision, candidates := decide(r.bestPerExhibit(append(found, more...)))
	if decision == DecisionMatch {
		return decision, candidates, nil
	}
	candidates = r.network.cards(r.references, candidates, likest)
	if len(candidates) == 0 {
		return DecisionUnknown, nil, nil
	}
	return DecisionChoose, candidates, nil
}

// cards adds works that are like enough to those that were found, up to three in all.
func (n *network) cards(references []indexed, candidates []Candidate, likest []resembling) []Candidate {
	for _, l := range likest {
		if l.similarity < n.head.Floor || len(candidates) >= maxCards {
			break
		}
		ref := references[l.key]
		if slices.ContainsFunc(candidates, func(c Candidate) bool { return c.ExhibitID == ref.ExhibitID }) {
			continue
		}
		// One half at most: a card, not an answer.
		sure := 0.5 * (l.similarity - n.head.Floor) / max(1-n.head.Floor, 1e-6)
		candidates = append(candidates, Candidate{ExhibitID: ref.ExhibitID, Picture: ref.Picture, Confidence: min(max(sure, 0), 0.5)})
	}
	return candidates
}

// readPicture reads a reference picture within the limits of one. The caller closes it.
func readPicture(path string) (gocv.Mat, error) {
	if err := checkHeader(path); err != nil {
		return gocv.Mat{}, err
	}
	picture := gocv.IMRead(path, gocv.IMReadColor)
	if picture.Empty() {
		picture.Close()
		return gocv.Mat{}, fmt.Errorf("%w: %s cannot be decoded", ErrReference, path)
	}
	return picture, nil
}
