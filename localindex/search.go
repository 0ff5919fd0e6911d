package localindex

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"docent/localindex/gallery"
	"docent/localindex/rank"
)

// Limits of a search.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	// laneDepth is how many results of each lane are put together.
	laneDepth = 200
)

// Mode says which lanes answer a search.
type Mode string

// The modes. The empty mode is all there is: both lanes, reranked where something can rerank.
const (
	ModeKeyword Mode = "bm25"
	ModeDense   Mode = "dense"
	ModeHybrid  Mode = "hybrid" // both lanes, not reranked
	ModeRerank  Mode = "rerank"
)

// Query is one search over a release.
type Query struct {
	Text     string
	Language string           // of the passages; empty means all
	Domains  []gallery.Domain // empty means all
	// Exhibit is the exhibit in hand: its passages are preferred, those of its hall a little, and with OnlyExhibit
	// nothing else is returned.
	Exhibit     string
	OnlyExhibit bool
	Hall        string // whose passages are preferred a little; empty means that of the exhibit in hand
	Limit       int    // DefaultLimit where 0, at most MaxLimit
	Mode        Mode
}

// Hit is one passage found.
type Hit struct {
	Passage gallery.Passage
	Section gallery.Section
	Score   float64 // higher is better; comparable within one search only
	// Exact says that the question names the passage's exhibit by label, accession number or title.
	Exact bool
}

// Result is what a search found, and how.
type Result struct {
	Hits  []Hit
	Trace Trace
}

// Search returns passages for a question, best first. Passages of exhibits that the question names come before all
// others, whatever their scores, and leave at least a quarter of the places to those. Where a named exhibit has no
// text in the language asked for, its texts in other languages are returned: a name is the same in all of them.
func (r *Release) Search(ctx context.Context, q Query) ([]Hit, error) {
	found, err := r.SearchTraced(ctx, q)
	return found.Hits, err
}

// SearchTraced is Search, with an account of what was asked and what answered. Nothing but the end of ctx and a closed
// release is an error: a lane or a server that fails is left out, and the trace says so.
func (r *Release) SearchTraced(ctx context.Context, q Query) (Result, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)

	s := &search{release: r, query: q, limit: limit, named: r.names.in(q.Text)}
	s.begin()
	if err := s.run(ctx); err != nil {
		return Result{}, fmt.Errorf("search release %s: %w", r.manifest.ID, err)
	}
	return Result{Hits: s.hits, Trace: s.trace}, nil
}

// search is one search under way.
type search struct {
	release *Release
	query   Query
	limit   int
	named   named
	hall    string // preferred a little
	trace   Trace
	hits    []Hit
}

func (s *search) begin() {
	s.hall = s.query.Hall
	if e, ok := s.release.exhibits[s.query.Exhibit]; ok && s.hall == "" {
		s.hall = e.Hall
	}
	s.trace.Mode = s.query.Mode
}

func (s *search) run(ctx context.Context) error {
	exact, err := s.searchNamed(ctx)
	if err != nil {
		return err
	}
	scored, err := s.searchScored(ctx)
	if err != nil {
		return err
	}
	best := 1.0
	if len(scored) > 0 {
		best = scored[0].Score
	}
	s.hits = exact
	for i, h := range s.hits {
		if h.Score == 0 { // found by nothing but its name
			s.hits[i].Score = best
		}
	}
	s.add(scored)
	return nil
}

// add adds hits to those there are, up to the limit. What was found already, and what says nearly the same as something
// found already, is left out.
func (s *search) add(hits []Hit) {
	for _, h := range hits {
		if len(s.hits) == s.limit {
			return
		}
		if slices.ContainsFunc(s.hits, func(o Hit) bool { return o.Passage.ID == h.Passage.ID }) {
			continue
		}
		if slices.ContainsFunc(s.hits, func(o Hit) bool { return s.release.sayTheSame(o, h) }) {
			s.trace.Duplicates++
			continue
		}
		s.hits = append(s.hits, h)
	}
}

// sayTheSame reports whether one of two hits is enough. What two exhibits have in common is said of both.
func (r *Release) sayTheSame(a, b Hit) bool {
	if a.Section.Language != b.Section.Language ||
		a.Section.Exhibit != b.Section.Exhibit && a.Section.Exhibit != "" && b.Section.Exhibit != "" {
		return false
	}
	return r.sketches[a.Passage.ID].Resembles(r.sketches[b.Passage.ID]) >= rank.DuplicateShare
}

// searchScored is the lanes of scores, put together.
func (s *search) searchScored(ctx context.Context) ([]Hit, error) {
	f := s.release.fusion
	var keyword, dense []rank.Result
	var err error
	if s.query.Mode != ModeDense {
		if keyword, err = s.keywordLane(ctx, f); err != nil {
			return nil, err
		}
	}
	if s.wantsVectors(len(keyword)) {
		if dense, err = s.denseLane(ctx, f); err != nil {
			return nil, err
		}
	}
	s.trace.Keyword, s.trace.Dense = len(keyword), len(dense)
	fused := dense
	if s.query.Mode != ModeDense {
		fused = f.fuse(keyword, dense)
		s.trace.DenseWeight = f.denseWeight
	}
	if s.query.Mode == ModeRerank || s.query.Mode == "" {
		if fused, err = s.rerank(ctx, fused); err != nil {
			return nil, err
		}
	}
	return s.release.hitsOf(fused), nil
}

// wantsVectors reports whether the lane of vectors is to be asked, the keywords having found so many. What is only a name
// means nothing beside it; and vectors that only fill empty places are not needed where none is empty.
func (s *search) wantsVectors(found int) bool {
	switch {
	case s.query.Mode == ModeKeyword, s.named.alone:
		return false
	case s.query.Mode == ModeDense:
		return true
	}
	return s.release.fusion.denseWeight > 0 || found < s.limit
}

func (r *Release) hitsOf(found []rank.Result) []Hit {
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

// wants reports whether a section passes the filters of the query.
func (s *search) wants(section *gallery.Section) bool {
	q := s.query
	return (q.Language == "" || section.Language == q.Language) &&
		(len(q.Domains) == 0 || slices.Contains(q.Domains, section.Domain)) &&
		(!q.OnlyExhibit || q.Exhibit == "" || section.Exhibit == q.Exhibit)
}

func domains(ds []gallery.Domain) []string {
	names := make([]string, len(ds))
	for i, d := range ds {
		names[i] = string(d)
	}
	return names
}

// Parent is one section with the passages of it that were found.
type Parent struct {
	Section  gallery.Section
	Passages []gallery.Passage // in the order of the text
	Score    float64           // of the best of them
	Exact    bool
}

// Gather puts hits together by their sections, in the order of their best ones: passages are what is searched, sections are
// what is answered from.
func (r *Release) Gather(hits []Hit) []Parent {
	var parents []Parent
	at := map[string]int{}
	for _, h := range hits {
		i, ok := at[h.Section.ID]
		if !ok {
			i = len(parents)
			at[h.Section.ID] = i
			parents = append(parents, Parent{Section: h.Section, Score: h.Score})
		}
		parents[i].Passages = append(parents[i].Passages, h.Passage)
		parents[i].Score = max(parents[i].Score, h.Score)
		parents[i].Exact = parents[i].Exact || h.Exact
	}
	for _, p := range parents {
		order := r.passagesBySection[p.Section.ID]
		place := func(p gallery.Passage) int {
			return slices.IndexFunc(order, func(o gallery.Passage) bool { return o.ID == p.ID })
		}
		slices.SortFunc(p.Passages, func(a, b gallery.Passage) int {
			if d := place(a) - place(b); d != 0 {
				return d
			}
			return strings.Compare(a.ID, b.ID)
		})
	}
	return parents
}
