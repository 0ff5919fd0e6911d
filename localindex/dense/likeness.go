package dense

import (
	"context"
	"math"
)

// Likeness compares two texts by the words and parts of words they have in common, without a model.
type Likeness struct{}

// Similar is the cosine of the counts of their features: 1 for the same words, 0 for none in common.
func (Likeness) Similar(ctx context.Context, a, b string) (float64, error) {
	fa, fb := features(a), features(b)
	var dot, la, lb float64
	for f, x := range fa {
		dot += float64(x) * float64(fb[f])
		la += float64(x) * float64(x)
	}
	for _, x := range fb {
		lb += float64(x) * float64(x)
	}
	if la == 0 || lb == 0 {
		return 0, ctx.Err()
	}
	return dot / math.Sqrt(la*lb), ctx.Err()
}
