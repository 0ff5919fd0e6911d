package vision

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"docent/localindex/vector"
	"docent/vision/feature"
	"docent/vision/internal/sealed"
	"docent/vision/internal/voting"
)

// ErrDamaged is wrapped by errors of [Open] about an index that is not as it was built.
var ErrDamaged = errors.New("damaged recognition index")

// Sizes of the files that Open reads at most.
const (
	maxIndexFile    = 256 << 20
	maxFeaturesFile = 8 << 30
	maxModelFile    = 1 << 30
	maxVotesFile    = 2 << 30
)

// ErrClosed is returned by a recogniser after Close.
var ErrClosed = errors.New("recogniser is closed")

// Recogniser names the exhibit on a photo. It is safe for concurrent use.
type Recogniser struct {
	references []indexed
	trained    int // pictures that the index was trained on
	sets       []feature.Set
	model      feature.Model
	vectors    vector.Index
	report     Report
	votes      *voting.Index
	slots      chan struct{} // one per goroutine at work

	network       *network // nil where the release brings none, or it cannot be used
	neuralTrouble error
	log           *slog.Logger // of the network; nil without one

	closing sync.RWMutex // held for reading by every recognition
	closed  bool
	unmap   func() error // gives the features' memory back
}

// Open reads an index that BuildIndex wrote into dir. A file that was changed, cut or taken from another index is an
// error that wraps ErrDamaged.
func Open(dir string, o Options) (*Recogniser, error) {
	r, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("open recognition index %s: %w", dir, err)
	}
	r.slots = make(chan struct{}, o.threads())
	if err := r.openNeural(dir, o.logger()); err != nil {
		return nil, errors.Join(fmt.Errorf("open recognition index %s: %w", dir, err), r.Close())
	}
	return r, nil
}

func open(dir string) (_ *Recogniser, err error) {
	list, _, err := readSealed(filepath.Join(dir, indexFile), indexKind, maxIndexFile)
	if err != nil {
		return nil, err
	}
	var x index
	if err := json.Unmarshal(list, &x); err != nil {
		return nil, fmt.Errorf("%w: list of references: %w", ErrDamaged, err)
	}
	models, modelSum, err := readSealed(filepath.Join(dir, modelFile), modelKind, maxModelFile)
	if err != nil {
		return nil, err
	}
	votes, votesSum, err := readSealed(filepath.Join(dir, votesFile), votesKind, maxVotesFile)
	if err != nil {
		return nil, err
	}
	vectors, err := vector.ReadFile(filepath.Join(dir, vectorsFile))
	if err != nil {
		return nil, damaged(err)
	}
	// The features are the bulk of the index; they stay in the file and are read as they are needed.
	features, featuresSum, unmap, err := sealed.MapFile(filepath.Join(dir, featuresFile), featuresKind, maxFeaturesFile)
	if err != nil {
		return nil, damaged(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unmap())
		}
	}()
	for name, pair := range map[string][2]string{
		featuresFile: {x.Features, fmt.Sprintf("%x", featuresSum)},
		modelFile:    {x.Model, fmt.Sprintf("%x", modelSum)},
		votesFile:    {x.Votes, fmt.Sprintf("%x", votesSum)},
	} {
		if pair[0] != pair[1] {
			return nil, fmt.Errorf("%w: %s belongs to another build", ErrDamaged, name)
		}
	}
	r := &Recogniser{references: x.References, report: x.Report, trained: x.Trained, vectors: vectors, unmap: unmap}
	if r.sets, err = feature.DecodeSets(features); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if r.model, err = feature.DecodeModel(models); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if r.votes, err = voting.Decode(votes, r.sets); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	n := len(r.references)
	if n == 0 || len(r.sets) != n || r.vectors.Len() != n || r.vectors.Dimension() != r.model.Projection.Out {
		return nil, fmt.Errorf("%w: %d references, %d feature sets, %d vectors of %d numbers, want %d",
			ErrDamaged, n, len(r.sets), r.vectors.Len(), r.vectors.Dimension(), r.model.Projection.Out)
	}
	return r, nil
}

// damaged adds ErrDamaged to the errors of the packages below that mean it.
func damaged(err error) error {
	if errors.Is(err, sealed.ErrDamaged) || errors.Is(err, vector.ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

func readSealed(path, kind string, limit int64) ([]byte, sealed.Sum, error) {
	content, sum, err := sealed.ReadFile(path, kind, limit)
	return content, sum, damaged(err)
}

// Report is what BuildIndex said of this index.
func (r *Recogniser) Report() Report { return r.report }

// Close waits for the recognitions under way and releases the index. It may be called again.
func (r *Recogniser) Close() error {
	r.closing.Lock()
	defer r.closing.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.sets, r.votes = nil, nil
	var err error
	if r.network != nil {
		err = r.network.net.Close()
	}
	if err := errors.Join(err, r.unmap()); err != nil {
		return fmt.Errorf("close recognition index: %w", err)
	}
	return nil
}
