package vision

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"docent/localindex/vector"
	"docent/vision/feature"
	"docent/vision/internal/sealed"
)

// ErrDamaged is wrapped by errors of [Open] about an index that is not as it was built.
var ErrDamaged = errors.New("damaged recognition index")

// Sizes of the files that Open reads at most.
const (
	maxIndexFile    = 256 << 20
	maxFeaturesFile = 8 << 30
	maxModelFile    = 1 << 30
)

// Recogniser names the exhibit on a photo. It is safe for concurrent use.
type Recogniser struct {
	references []indexed
	sets       []feature.Set
	model      feature.Model
	vectors    vector.Index
	report     Report
	slots      chan struct{} // one per goroutine at work
}

// Open reads an index that BuildIndex wrote into dir. A file that was changed, cut or taken from another index is an
// error that wraps ErrDamaged.
func Open(dir string, o Options) (*Recogniser, error) {
	r, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("open recognition index %s: %w", dir, err)
	}
	r.slots = make(chan struct{}, o.threads())
	return r, nil
}

func open(dir string) (*Recogniser, error) {
	list, _, err := readSealed(filepath.Join(dir, indexFile), indexKind, maxIndexFile)
	if err != nil {
		return nil, err
	}
	var x index
	if err := json.Unmarshal(list, &x); err != nil {
		return nil, fmt.Errorf("%w: list of references: %w", ErrDamaged, err)
	}
	features, featuresSum, err := readSealed(filepath.Join(dir, featuresFile), featuresKind, maxFeaturesFile)
	if err != nil {
		return nil, err
	}
	models, modelSum, err := readSealed(filepath.Join(dir, modelFile), modelKind, maxModelFile)
	if err != nil {
		return nil, err
	}
	if fmt.Sprintf("%x", featuresSum) != x.Features || fmt.Sprintf("%x", modelSum) != x.Model {
		return nil, fmt.Errorf("%w: its files belong to different builds", ErrDamaged)
	}
	r := &Recogniser{references: x.References, report: x.Report}
	if r.sets, err = feature.DecodeSets(features); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if r.model, err = feature.DecodeModel(models); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if r.vectors, err = vector.ReadFile(filepath.Join(dir, vectorsFile)); err != nil {
		if errors.Is(err, vector.ErrDamaged) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, err
	}
	n := len(r.references)
	if n == 0 || len(r.sets) != n || r.vectors.Len() != n || r.vectors.Dimension() != r.model.Projection.Out {
		return nil, fmt.Errorf("%w: %d references, %d feature sets, %d vectors of %d numbers, want %d",
			ErrDamaged, n, len(r.sets), r.vectors.Len(), r.vectors.Dimension(), r.model.Projection.Out)
	}
	return r, nil
}

func readSealed(path, kind string, limit int64) ([]byte, sealed.Sum, error) {
	content, sum, err := sealed.ReadFile(path, kind, limit)
	if errors.Is(err, sealed.ErrDamaged) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return content, sum, err
}

// Report is what BuildIndex said of this index.
func (r *Recogniser) Report() Report { return r.report }

// Close releases the index. No recognition may be under way.
func (r *Recogniser) Close() error { return nil }
