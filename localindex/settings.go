package localindex

import (
	"cmp"

	"docent/localindex/gallery"
	"docent/localindex/rank"
)

// fusion is how the lanes of a search are put together.
type fusion struct {
	k               float64
	keywordWeight   float64
	denseWeight     float64
	keywordFloor    float64 // share of the best score
	similarityFloor float64 // cosine
}

// newFusion reads an author's overrides over the usual values.
func newFusion(s gallery.Search) fusion {
	return fusion{
		k:               cmp.Or(s.FusionK, rank.DefaultK),
		keywordWeight:   cmp.Or(s.KeywordWeight, rank.DefaultKeywordWeight),
		denseWeight:     cmp.Or(s.DenseWeight, rank.DefaultDenseWeight),
		keywordFloor:    cmp.Or(s.KeywordFloor, rank.DefaultKeywordFloor),
		similarityFloor: cmp.Or(s.SimilarityFloor, rank.DefaultSimilarityFloor),
	}
}

// fuse puts the lanes together. Where the vectors have no weight they only fill the places that the keywords leave empty.
func (f fusion) fuse(keyword, dense []rank.Result) []rank.Result {
	if f.denseWeight == 0 || len(dense) == 0 {
		return rank.Fill(keyword, dense)
	}
	return rank.Fuse(f.k, rank.List{Results: keyword, Weight: f.keywordWeight}, rank.List{Results: dense, Weight: f.denseWeight})
}
