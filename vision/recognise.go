package vision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/vision/feature"
)

// How pictures are described. References get more features than photos, as a photo may show any part of them.
var (
	referenceFeatures = feature.Options{MaxSide: 800, MaxFeatures: 1500, Contrast: 0.02}
	photoFeatures     = feature.Options{MaxSide: 960, MaxFeatures: 1500, Contrast: 0.02}
)

const (
	// shortlistLength is how many references are checked: on the measured photos the truth is among the first 20
	// in 94 % and few come later.
	shortlistLength = 20
	// minWindowFeatures is the least number of features a window must have to be asked for.
	minWindowFeatures = 15
)

// Recognise names the exhibit on a photo. It returns an error only when ctx ends or the photo has no usable pixels;
// a photo of nothing known is a Recognition that says unknown.
func (r *Recogniser) Recognise(ctx context.Context, photo Photo) (Recognition, error) {
	start := time.Now()
	if err := r.take(ctx); err != nil {
		return Recognition{}, fmt.Errorf("recognise photo: %w", err)
	}
	set, err := feature.Extract(photo.Image, photoFeatures)
	r.give()
	if err != nil {
		return Recognition{}, fmt.Errorf("recognise photo: %w", err)
	}
	described := time.Now()

	shortlist := r.shortlist(set)
	listed := time.Now()

	found, err := r.verify(ctx, set, shortlist)
	if err != nil {
		return Recognition{}, fmt.Errorf("recognise photo: %w", err)
	}
	decision, candidates := decide(r.bestPerExhibit(found))
	end := time.Now()
	return Recognition{
		Decision:   decision,
		Candidates: candidates,
		Timings: Timings{
			Features: described.Sub(start), Shortlist: listed.Sub(described), Verify: end.Sub(listed), Total: end.Sub(start),
		},
	}, nil
}

// take waits for a slot; give returns it.
func (r *Recogniser) take(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Recogniser) give() { <-r.slots }

// shortlist is the numbers of the references most like the photo or a part of it, best first.
func (r *Recogniser) shortlist(set feature.Set) []int {
	windows := r.model.Codebook.VLADs(set, r.model.Codebook.Assign(set.Descriptors), feature.Windows(), minWindowFeatures)
	best := make(map[uint32]float32)
	for _, w := range windows {
		if w == nil {
			continue
		}
		for _, hit := range r.vectors.Search(r.model.Projection.Apply(w), shortlistLength) {
			best[hit.Key] = max(best[hit.Key], hit.Score)
		}
	}
	keys := make([]int, 0, len(best))
	for k := range best {
		keys = append(keys, int(k))
	}
	slices.SortFunc(keys, func(a, b int) int {
		if c := cmp.Compare(best[uint32(b)], best[uint32(a)]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return keys[:min(len(keys), shortlistLength)]
}

// verify checks every reference of the shortlist against the photo and returns those that hold.
func (r *Recogniser) verify(ctx context.Context, set feature.Set, shortlist []int) ([]verified, error) {
	results := make([]*verified, len(shortlist))
	g, groupCtx := errgroup.WithContext(ctx)
	for i, key := range shortlist {
		if err := r.take(groupCtx); err != nil {
			break // the cause is what Wait or ctx says
		}
		g.Go(func() error {
			defer r.give()
			v, ok, err := verify(set, r.sets[key])
			if err != nil {
				return fmt.Errorf("check against picture %s: %w", r.references[key].Picture, err)
			}
			if ok {
				v.key = key
				results[i] = &v
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []verified
	for _, v := range results {
		if v != nil {
			found = append(found, *v)
		}
	}
	return found, nil
}

// bestPerExhibit turns checked pictures into candidates, one per exhibit, most inliers first.
func (r *Recogniser) bestPerExhibit(found []verified) []Candidate {
	slices.SortStableFunc(found, func(a, b verified) int { return cmp.Compare(b.inliers, a.inliers) })
	var out []Candidate
	seen := make(map[string]bool)
	for _, v := range found {
		ref := r.references[v.key]
		if seen[ref.ExhibitID] {
			continue
		}
		seen[ref.ExhibitID] = true
		out = append(out, Candidate{
			ExhibitID:  ref.ExhibitID,
			Picture:    ref.Picture,
			Confidence: confidence(v.inliers),
			Inliers:    v.inliers,
			Outline:    v.outline,
		})
	}
	return out
}
