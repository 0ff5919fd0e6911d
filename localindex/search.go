package localindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"docent/localindex/gallery"
	"docent/localindex/text"
)

// Limits of a search.
const (
	DefaultLimit = 10
	MaxLimit     = 100
)

// inHandBoost raises the passages of the exhibit the visitor stands before: "how old is it?" names nothing else. With
// 2 the sample gallery's "what is it made of" still finds a text on how pictures are made; with 2.5 it finds the exhibit,
// and questions about the house still find the house.
const inHandBoost = 2.5

// Query is one search over a release.
type Query struct {
	Text     string
	Language string           // of the passages; empty means all
	Domains  []gallery.Domain // empty means all
	// Exhibit is the exhibit in hand: its passages are preferred, and with OnlyExhibit nothing else is returned.
	Exhibit     string
	OnlyExhibit bool
	Limit       int // DefaultLimit where 0, at most MaxLimit
}

// Hit is one passage found.
type Hit struct {
	Passage gallery.Passage
	Section gallery.Section
	Score   float64 // higher is better; comparable within one search only
	// Exact says that the question names the passage's exhibit by label, accession number or title.
	Exact bool
}

// Search returns passages for a question, best first. Passages of exhibits that the question names come before all
// others, whatever their scores, and leave at least a quarter of the places to those. Where a named exhibit has no
// text in the language asked for, its texts in other languages are returned: a name is the same in all of them.
func (r *Release) Search(ctx context.Context, q Query) ([]Hit, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)

	exact, err := r.searchNamed(ctx, q, limit)
	if err != nil {
		return nil, fmt.Errorf("search release %s: %w", r.manifest.ID, err)
	}
	scored, err := r.searchScored(ctx, q, limit)
	if err != nil {
		return nil, fmt.Errorf("search release %s: %w", r.manifest.ID, err)
	}
	best := 1.0
	if len(scored) > 0 {
		best = scored[0].Score
	}
	pinned := map[string]bool{}
	for i, h := range exact {
		pinned[h.Passage.ID] = true
		if h.Score == 0 { // found by nothing but its name
			exact[i].Score = best
		}
	}
	hits := exact
	for _, h := range scored {
		if !pinned[h.Passage.ID] && len(hits) < limit {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// searchNamed is the lane of exact identifiers: the best passages of each exhibit the question names, taken in turn.
func (r *Release) searchNamed(ctx context.Context, q Query, limit int) ([]Hit, error) {
	named := r.names.in(q.Text)
	places := max(1, limit*3/4)
	var lanes [][]Hit
	for _, id := range named.exhibits {
		if q.OnlyExhibit && id != q.Exhibit {
			continue
		}
		lane, err := r.searchExhibit(ctx, q, id, named.alone, places)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, lane)
	}
	return interleave(lanes, places), nil
}

// searchExhibit returns passages of one exhibit. Where the question is nothing but its name, they come in the order
// they were written.
func (r *Release) searchExhibit(ctx context.Context, q Query, exhibit string, nameAlone bool, places int) ([]Hit, error) {
	for _, language := range slices.Compact([]string{q.Language, ""}) {
		var hits []Hit
		if !nameAlone {
			found, err := r.index.Search(ctx, text.Query{
				Text: q.Text, Language: language, Domains: domains(q.Domains), Exhibits: []string{exhibit}, Limit: places,
			})
			if err != nil {
				return nil, err
			}
			hits = r.hits(found)
		}
		if len(hits) == 0 {
			hits = r.opening(exhibit, language, q.Domains, places)
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

// searchScored is the lane of scores.
func (r *Release) searchScored(ctx context.Context, q Query, limit int) ([]Hit, error) {
	base := text.Query{Text: q.Text, Language: q.Language, Domains: domains(q.Domains), Limit: limit}
	var hits []Hit
	if !q.OnlyExhibit || q.Exhibit == "" {
		found, err := r.index.Search(ctx, base)
		if err != nil {
			return nil, err
		}
		hits = r.hits(found)
	}
	if q.Exhibit != "" {
		base.Exhibits = []string{q.Exhibit}
		found, err := r.index.Search(ctx, base)
		if err != nil {
			return nil, err
		}
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Section.Exhibit == q.Exhibit })
		for _, h := range r.hits(found) {
			h.Score *= inHandBoost
			hits = append(hits, h)
		}
		slices.SortStableFunc(hits, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Passage.ID, b.Passage.ID))
		})
	}
	return hits[:min(len(hits), limit)], nil
}

func (r *Release) hits(found []text.Hit) []Hit {
	hits := make([]Hit, 0, len(found))
	for _, f := range found {
		p, ok := r.passages[f.ID]
		if !ok {
			continue
		}
		hits = append(hits, Hit{Passage: p, Section: r.sections[p.Section], Score: f.Score})
	}
	return hits
}

func domains(ds []gallery.Domain) []string {
	names := make([]string, len(ds))
	for i, d := range ds {
		names[i] = string(d)
	}
	return names
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
