package localindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"docent/localindex/dense"
	"docent/localindex/embedding"
	"docent/localindex/gallery"
	"docent/localindex/release"
	"docent/localindex/text"
	"docent/localindex/vector"
)

const (
	densePartName = "dense"
	vectorsFile   = "vectors.bin" // by the number of the passage in the release
	modelFile     = "model.bin"   // only where the vectors are made from the texts
)

// The kinds of vectors a release may have.
const (
	denseNone   = "none"
	denseTexts  = "texts"  // learnt from the passages themselves
	denseServer = "server" // made by an embedding server
)

// Embedder turns texts into vectors. It must be safe for concurrent use.
type Embedder interface {
	// Embed returns one vector for each text, in their order, all of one length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names what makes them: vectors of two models cannot be compared.
	Model() string
}

// DenseReport is what a release says of its vectors.
type DenseReport struct {
	Kind          string         `json:"kind"`            // none, texts or server
	Model         string         `json:"model,omitempty"` // name on the server
	Dimension     int            `json:"dimension,omitempty"`
	Index         *vector.Report `json:"index,omitempty"`
	KeywordWeight float64        `json:"keyword_weight"`
	DenseWeight   float64        `json:"dense_weight"`
	// Measured are the comparisons by which the weight was chosen.
	Measured []Measure `json:"measured,omitempty"`
	// Note says in plain words why the vectors are not what was asked for.
	Note string `json:"note,omitempty"`
	// Failure is what the embedding server said in place of vectors.
	Failure string `json:"failure,omitempty"`
}

// densePart is the vectors as a part of a release.
type densePart struct {
	docs     []text.Doc
	embedder Embedder // nil means no server
	cacheDir string
	all      embedding.AllOptions // how a server is asked
	note     func(string)
}

var _ release.Part = densePart{}

func (densePart) Name() string { return densePartName }

// Build makes a vector of each passage and measures what they are worth.
func (d densePart) Build(ctx context.Context, g *gallery.Gallery, _, partDir string) (_ any, err error) {
	f := newFusion(g.Search)
	if g.Search.Dense == "off" {
		return DenseReport{Kind: denseNone, KeywordWeight: f.keywordWeight, Note: "switched off in gallery.yaml"}, nil
	}
	if d.embedder != nil && d.cacheDir != "" {
		if d.all.Cache, err = embedding.OpenCache(d.cacheDir, d.embedder.Model()); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.all.Cache.Close()) }()
	}
	r, err := d.build(ctx, g, f, partDir)
	if r.Note != "" && d.note != nil {
		d.note(r.Note)
	}
	return r, err
}

func (d densePart) build(ctx context.Context, g *gallery.Gallery, f fusion, partDir string) (DenseReport, error) {
	r := DenseReport{Kind: denseNone, KeywordWeight: f.keywordWeight}
	source, err := d.source(ctx, g, &r)
	if err != nil || source == nil {
		return r, err
	}
	index, report, err := vector.Build(source.dimension(), source.vectors, vector.Exact)
	if err != nil {
		return r, fmt.Errorf("index vectors: %w", err)
	}
	if err := vector.WriteFile(filepath.Join(partDir, vectorsFile), index); err != nil {
		return r, err
	}
	if source.model != nil {
		if err := source.model.WriteFile(filepath.Join(partDir, modelFile)); err != nil {
			return r, err
		}
	}
	r.Dimension, r.Index = source.dimension(), &report
	var weight float64
	r.Measured, weight, err = d.weigh(ctx, g, f, source)
	switch {
	case err != nil && ctx.Err() == nil && r.Kind == denseServer: // its vectors of the passages are there, and good
		weight = f.denseWeight
		r.Note = fmt.Sprintf("the embedding server did not make the vectors by which their weight is measured; it stays at %v: %v", weight, err)
	case err != nil:
		return r, fmt.Errorf("measure what the vectors are worth: %w", err)
	}
	f = f.weighted(weight)
	r.KeywordWeight, r.DenseWeight = f.keywordWeight, f.denseWeight
	return r, nil
}

// vectorSource is the vectors of all passages and how more are made.
type vectorSource struct {
	vectors []float32
	count   int
	model   *dense.Model // nil where a server makes them
	embed   func(ctx context.Context, texts []string) ([]float32, error)
}

func (s *vectorSource) dimension() int { return len(s.vectors) / s.count }

// source makes the vectors: by the server where there is one, else from the texts. nil where there is nothing to learn from.
func (d densePart) source(ctx context.Context, g *gallery.Gallery, r *DenseReport) (*vectorSource, error) {
	texts := make([]string, len(d.docs))
	for i, doc := range d.docs {
		texts[i] = denseText(doc)
	}
	if d.embedder != nil && g.Search.Dense != denseTexts {
		s, err := d.fromServer(ctx, texts, g.Search.Embeddings)
		if err == nil {
			r.Kind, r.Model = denseServer, d.embedder.Model()
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.Failure = err.Error()
		r.Note = fmt.Sprintf("the embedding server did not make all vectors, so that they are made from the texts; build again to go on: %v", err)
	}
	model, learnt, err := dense.Train(ctx, texts)
	if errors.Is(err, dense.ErrTooFew) {
		r.Note = strings.TrimSpace(r.Note + " There are too few texts to learn vectors from.")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Kind = denseTexts
	return &vectorSource{
		vectors: learnt, count: len(texts), model: model,
		embed: func(_ context.Context, texts []string) ([]float32, error) { return model.EmbedAll(texts), nil },
	}, nil
}

func (d densePart) fromServer(ctx context.Context, texts []string, e gallery.Embeddings) (*vectorSource, error) {
	o := d.all
	o.Batch = e.Batch
	vectors, err := embedding.All(ctx, d.embedder, texts, o)
	if err != nil {
		return nil, err
	}
	return &vectorSource{
		vectors: flatten(vectors), count: len(texts),
		embed: func(ctx context.Context, texts []string) ([]float32, error) {
			more, err := embedding.All(ctx, d.embedder, texts, o)
			return flatten(more), err
		},
	}, nil
}

func flatten(vectors [][]float32) []float32 {
	var all []float32
	for _, v := range vectors {
		all = append(all, v...)
	}
	return all
}

// denseText is what the vector of a passage is made from: it seldom names its own subject.
func denseText(d text.Doc) string {
	return strings.Join([]string{d.Title, d.Heading, d.Text}, "\n")
}

// vectors is the opened lane of meaning of a release; nil where there is none.
type vectors struct {
	report DenseReport
	index  vector.Index
	model  *dense.Model // nil where a server makes the vectors of questions
}

// openVectors opens the vectors of a release with so many passages.
func (r *Release) openVectors(passages int) (*vectors, error) {
	raw, ok := r.manifest.Parts[densePartName]
	if !ok { // of a release built before there were vectors
		return nil, nil
	}
	v := &vectors{}
	if err := json.Unmarshal(raw, &v.report); err != nil {
		return nil, fmt.Errorf("read what the vectors say of themselves: %w", err)
	}
	if v.report.Kind == denseNone {
		return nil, nil
	}
	dir := r.PartDir(densePartName)
	var err error
	if v.index, err = vector.ReadFile(filepath.Join(dir, vectorsFile)); err != nil {
		return nil, err
	}
	if v.index.Len() != passages {
		return nil, fmt.Errorf("there are vectors of %d passages, the release has %d", v.index.Len(), passages)
	}
	if v.report.Kind == denseTexts {
		if v.model, err = dense.ReadFile(filepath.Join(dir, modelFile)); err != nil {
			return nil, err
		}
		if v.model.Dimension() != v.index.Dimension() {
			return nil, fmt.Errorf("the vector model has dimension %d, the vectors %d", v.model.Dimension(), v.index.Dimension())
		}
	}
	return v, nil
}
