package vision

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Alike is two pictures of different exhibits that lie on each other as one picture does on a photo of it.
type Alike struct {
	A, B    IndexedPicture // A before B in the index
	Inliers int
}

// IndexedPicture names a picture of the index.
type IndexedPicture struct {
	ExhibitID string
	Picture   string
}

// alikeVoted is how many pictures each is compared with: itself and the likest others.
const alikeVoted = 8

// LookAlikes compares the pictures of the index with those that share most of their features, and returns the pairs of
// different exhibits that hold as a sure match does, in the order of the index. At most that many pictures, evenly
// spread, are compared with the rest; 0 means all. It stops when ctx ends.
func (r *Recogniser) LookAlikes(ctx context.Context, most int) ([]Alike, error) {
	r.closing.RLock()
	defer r.closing.RUnlock()
	if r.closed {
		return nil, fmt.Errorf("compare pictures: %w", ErrClosed)
	}
	n := len(r.sets)
	if most <= 0 || most > n {
		most = n
	}
	var mu sync.Mutex
	inliers := map[[2]int]int{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cap(r.slots))
	for k := range most {
		i := k * n / most
		g.Go(func() error {
			for _, hit := range r.votes.Search(r.sets[i], alikeVoted) {
				j := hit.Picture
				if r.references[i].ExhibitID == r.references[j].ExhibitID {
					continue
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				v, ok, err := verify(r.sets[i], r.sets[j])
				if err != nil {
					return fmt.Errorf("compare pictures %s and %s: %w", r.references[i].Picture, r.references[j].Picture, err)
				}
				if ok && v.inliers >= matchInliers {
					pair := [2]int{min(i, j), max(i, j)}
					mu.Lock()
					inliers[pair] = max(inliers[pair], v.inliers)
					mu.Unlock()
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var pairs []Alike
	for _, pair := range slices.SortedFunc(maps.Keys(inliers), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		pairs = append(pairs, Alike{A: r.picture(pair[0]), B: r.picture(pair[1]), Inliers: inliers[pair]})
	}
	return pairs, nil
}

func (r *Recogniser) picture(i int) IndexedPicture {
	return IndexedPicture{ExhibitID: r.references[i].ExhibitID, Picture: r.references[i].Picture}
}
