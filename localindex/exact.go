package localindex

import (
	"context"
	"slices"

	"docent/localindex/gallery"
	"docent/localindex/text"
)

// searchNamed is the lane of exact identifiers: the best passages of each exhibit the question names, taken in turn. It
// comes before all scores: with the usual weights, what only the keywords find first would lose to 31 vectors.
func (s *search) searchNamed(ctx context.Context) ([]Hit, error) {
	places := max(1, s.limit*3/4)
	var lanes [][]Hit
	for _, id := range s.named.exhibits {
		if s.query.OnlyExhibit && id != s.query.Exhibit {
			continue
		}
		lane, err := s.searchExhibit(ctx, id, places)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, lane)
	}
	return interleave(lanes, places), nil
}

// searchExhibit returns passages of one exhibit. Where the question is nothing but its name, they come in the order
// they were written.
func (s *search) searchExhibit(ctx context.Context, exhibit string, places int) ([]Hit, error) {
	q := s.query
	for _, language := range slices.Compact([]string{q.Language, ""}) {
		var hits []Hit
		if !s.named.alone {
			found, err := s.release.index.Search(ctx, text.Query{
				Text: q.Text, Language: language, Domains: domains(q.Domains), Exhibits: []string{exhibit}, Limit: places,
			})
			if err != nil {
				return nil, err
			}
			hits = s.release.hitsOf(results(found))
		}
		if len(hits) == 0 {
			hits = s.release.opening(exhibit, language, q.Domains, places)
		}
		if len(hits) > 0 {
			for i := range hits {
				hits[i].Exact = true
			}
			return hits, nil
		}
	}
	return nil, nil
}

// opening returns the first passages of an exhibit's texts.
func (r *Release) opening(exhibit, language string, only []gallery.Domain, places int) []Hit {
	var hits []Hit
	for _, s := range r.Sections(exhibit, language) {
		if len(only) > 0 && !slices.Contains(only, s.Domain) {
			continue
		}
		for _, p := range r.passagesBySection[s.ID] {
			if len(hits) == places {
				return hits
			}
			hits = append(hits, Hit{Passage: p, Section: s})
		}
	}
	return hits
}

// interleave takes hits from the lanes in turn, n at most.
func interleave(lanes [][]Hit, n int) []Hit {
	var hits []Hit
	for i := 0; len(hits) < n; i++ {
		took := false
		for _, lane := range lanes {
			if i < len(lane) && len(hits) < n {
				hits = append(hits, lane[i])
				took = true
			}
		}
		if !took {
			break
		}
	}
	return hits
}
