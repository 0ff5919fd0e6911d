package vision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/vision/feature"
	"docent/vision/internal/voting"
)

// look is one attempt at a photo. The first is quick and enough for most; the second sees small, dark and blurred
// works and is taken only when the first was not sure.
type look struct {
	features feature.Options
	glance   int  // strongest features whose votes are counted and checked first; 0 counts all at once
	voted    int  // candidates from votes of local features
	windows  bool // whether windows of the photo are asked for in the vector index too
	nearest  int  // candidates from there
	enough   int  // inliers with which a prominent work ends the look, and all looks
}

// The contrast threshold is a quarter of SIFT's own default, as dark paintings have few features above that; the
// strongest are kept, so bright pictures lose nothing.
const contrast = 0.01

var looks = []look{
	{features: feature.Options{MaxSide: 640, MaxFeatures: 600, Contrast: contrast}, glance: 150, voted: 4, enough: 20},
	{features: feature.Options{MaxSide: 1280, MaxFeatures: 2000, Contrast: contrast}, voted: 8, windows: true, nearest: 4, enough: 30},
}

// Recognise names the exhibit on a photo. It returns an error only when ctx ends, the recogniser is closed or the
// photo has no usable pixels; a photo of nothing known is a Recognition that says unknown.
func (r *Recogniser) Recognise(ctx context.Context, photo Photo) (Recognition, error) {
	r.closing.RLock()
	defer r.closing.RUnlock()
	if r.closed {
		return Recognition{}, fmt.Errorf("recognise photo: %w", ErrClosed)
	}
	start := time.Now()
	found, t, err := r.find(ctx, photo, looks)
	if err != nil {
		return Recognition{}, fmt.Errorf("recognise photo: %w", err)
	}
	decision, candidates := decide(r.bestPerExhibit(found))
	if r.network != nil && decision != DecisionMatch {
		if decision, candidates, err = r.lookNeural(ctx, photo, found, &t); err != nil {
			return Recognition{}, fmt.Errorf("recognise photo: %w", err)
		}
	}
	t.Total = time.Since(start)
	return Recognition{Decision: decision, Candidates: candidates, Timings: t}, nil
}

// find looks at the photo until one look is enough, and returns all references that hold in any of them.
func (r *Recogniser) find(ctx context.Context, photo Photo, looks []look) (found []verified, t Timings, err error) {
	for _, l := range looks {
		seen, err := r.look(ctx, photo, l, &t)
		if err != nil {
			return nil, t, err
		}
		found = append(found, seen...)
		if clear(seen, l.enough) {
			break
		}
	}
	return found, t, nil
}

// look describes the photo, lists references and checks them, and adds to the timings.
func (r *Recogniser) look(ctx context.Context, photo Photo, l look, t *Timings) ([]verified, error) {
	start := time.Now()
	if err := r.take(ctx); err != nil {
		return nil, err
	}
	defer r.give()
	set, err := feature.Extract(photo.Image, l.features)
	if err != nil {
		return nil, err
	}
	t.Features += time.Since(start)
	return r.match(ctx, set, l, t)
}

// match lists and checks the references that a described photo may be of, and returns those that hold. The caller has
// a slot.
func (r *Recogniser) match(ctx context.Context, set feature.Set, l look, t *Timings) ([]verified, error) {
	ballot := r.votes.Ballot(set)
	var found []verified
	var checked []int
	for _, asked := range l.parts(set.Len()) {
		listing := time.Now()
		ballot.Count(asked)
		list := r.shortlist(ballot, set, l, asked == set.Len())
		list = slices.DeleteFunc(list, func(key int) bool { return slices.Contains(checked, key) })
		checked = append(checked, list...)
		listed := time.Now()
		t.Shortlist += listed.Sub(listing)

		seen, err := r.verify(ctx, set, list, l.enough)
		t.Verify += time.Since(listed)
		if err != nil {
			return nil, err
		}
		found = append(found, seen...)
		if clear(found, l.enough) {
			break
		}
	}
	return found, nil
}

// parts is after how many of a photo's features the references are listed and checked: what is plainly on the photo is
// found from some of them, and in a large collection most of the time goes into votes.
func (l look) parts(features int) []int {
	if l.glance == 0 || l.glance >= features {
		return []int{features}
	}
	return []int{l.glance, features}
}

// clear says whether nothing more is to be looked for: a work with enough inliers is plainly what the photo is of.
func clear(found []verified, enough int) bool {
	return slices.ContainsFunc(found, func(v verified) bool { return v.inliers >= enough && prominent(v.outline) })
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

// tryTake takes a slot if one is free.
func (r *Recogniser) tryTake() bool {
	select {
	case r.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (r *Recogniser) give() { <-r.slots }

// shortlist is the numbers of the references to check, most promising first: those with the most votes, then, when all
// have been counted, those nearest to a window of the photo.
func (r *Recogniser) shortlist(ballot *voting.Ballot, set feature.Set, l look, all bool) []int {
	var list []int
	for _, hit := range ballot.Best(l.voted) {
		list = append(list, hit.Picture)
	}
	if !l.windows || !all {
		return list
	}
	added := 0
	for _, key := range r.nearest(set, l.nearest+len(list)) {
		if added < l.nearest && !slices.Contains(list, key) {
			list = append(list, key)
			added++
		}
	}
	return list
}

// minWindowFeatures is the least number of features a window must have to be asked for.
const minWindowFeatures = 15

// nearest is the numbers of the n references nearest to any window of the photo.
func (r *Recogniser) nearest(set feature.Set, n int) []int {
	windows := r.model.Codebook.VLADs(set, r.model.Codebook.Assign(set.Descriptors), feature.Windows(), minWindowFeatures)
	best := make(map[uint32]float32)
	for _, w := range r.model.Projection.Apply(windows) {
		if w == nil {
			continue
		}
		for _, hit := range r.vectors.Search(w, n) {
			if score, ok := best[hit.Key]; !ok || hit.Score > score {
				best[hit.Key] = hit.Score
			}
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
	return keys[:min(len(keys), n)]
}

// checkedAtOnce is how many references are checked before it is asked whether the leader is enough. It is fixed, so
// that the answer does not depend on how many processors there are.
const checkedAtOnce = 4

// verify checks the references of the shortlist against the photo until one has enough inliers, and returns those
// that hold. The caller has a slot; it checks one of the references itself and others where slots are free.
func (r *Recogniser) verify(ctx context.Context, set feature.Set, shortlist []int, enough int) ([]verified, error) {
	var found []verified
	for batch := range slices.Chunk(shortlist, checkedAtOnce) {
		seen, err := r.verifyBatch(ctx, set, batch)
		if err != nil {
			return nil, err
		}
		found = append(found, seen...)
		if clear(found, enough) {
			break
		}
	}
	return found, nil
}

func (r *Recogniser) verifyBatch(ctx context.Context, set feature.Set, batch []int) ([]verified, error) {
	results := make([]*verified, len(batch))
	check := func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, ok, err := verify(set, r.sets[batch[i]])
		if err != nil {
			return fmt.Errorf("check against picture %s: %w", r.references[batch[i]].Picture, err)
		}
		if ok {
			v.key = batch[i]
			results[i] = &v
		}
		return nil
	}
	var g errgroup.Group
	var failed error
	for i := range batch {
		if i < len(batch)-1 && r.tryTake() {
			g.Go(func() error {
				defer r.give()
				return check(i)
			})
			continue
		}
		if failed = check(i); failed != nil {
			break
		}
	}
	if err := errors.Join(failed, g.Wait()); err != nil {
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
