package vision

import (
	"cmp"
	"slices"

	"docent/localindex/vector"
	"docent/vision/feature"
)

// weakFeatures is the number of features below which a picture is reported as weak: a visitor's photo shares about a
// tenth of them, and a sure match needs a dozen.
const weakFeatures = 120

func summarise(refs []Reference, sets []feature.Set, model feature.Model, words int, vectors vector.Report) Report {
	r := Report{
		Pictures:    len(refs),
		Words:       words,
		Centres:     model.Codebook.Len(),
		Dimensions:  model.Projection.Out,
		VectorIndex: vectors,
	}
	exhibits := make(map[string]bool)
	for i, ref := range refs {
		exhibits[ref.ExhibitID] = true
		r.Features += sets[i].Len()
		if n := sets[i].Len(); n < weakFeatures {
			r.Weak = append(r.Weak, WeakReference{ExhibitID: ref.ExhibitID, Picture: ref.Picture, Features: n})
		}
	}
	r.Exhibits = len(exhibits)
	slices.SortStableFunc(r.Weak, func(a, b WeakReference) int { return cmp.Compare(a.Features, b.Features) })
	return r
}
