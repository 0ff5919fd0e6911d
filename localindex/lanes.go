package localindex

import (
	"context"
	"fmt"
	"math"
	"slices"

	"docent/localindex/rank"
	"docent/localindex/text"
	"docent/localindex/vector"
)

// How much what the visitor stands before is preferred, on the scores of the lanes, before they are put together.
const (
	// inHandFactor raises the keyword scores of the exhibit in hand: "how old is it?" names nothing else. With 2 the
	// sample gallery's "what is it made of" still finds a text on how pictures are made; with 2.5 it finds the exhibit, and
	// questions about the house still find the house.
	inHandFactor = 2.5
	// inHandSimilarity is added to cosine similarities of the exhibit in hand.
	inHandSimilarity = 0.15
	// hallBonus is added to what hangs in the same hall: to cosine similarities as it is, to keyword scores as a share of
	// the best one.
	hallBonus = 0.05
)

// keywordLane is what the words of the question find, floors and boosts applied, best first.
func (s *search) keywordLane(ctx context.Context, f fusion) ([]rank.Result, error) {
	q := s.query
	base := text.Query{Text: q.Text, Language: q.Language, Domains: domains(q.Domains), Limit: laneDepth}
	all, preferred, err := s.release.index.SearchPreferring(ctx, base, q.Exhibit)
	if err != nil {
		return nil, err
	}
	var found []rank.Result
	if !q.OnlyExhibit || q.Exhibit == "" {
		found = rank.ShareOfBest(results(all), f.keywordFloor)
	}
	best := 0.0
	if len(found) > 0 {
		best = found[0].Score
	}
	if q.Exhibit != "" {
		found = slices.DeleteFunc(found, func(r rank.Result) bool { return s.release.sectionOf(r.ID).Exhibit == q.Exhibit })
		for _, r := range rank.ShareOfBest(results(preferred), f.keywordFloor) {
			found = append(found, rank.Result{ID: r.ID, Score: r.Score * inHandFactor})
		}
	}
	if s.hall != "" {
		for i, r := range found {
			if s.release.sectionOf(r.ID).Hall == s.hall {
				found[i].Score += hallBonus * best
			}
		}
	}
	rank.Sort(found)
	return found, nil
}

func results(hits []text.Hit) []rank.Result {
	out := make([]rank.Result, len(hits))
	for i, h := range hits {
		out[i] = rank.Result{ID: h.ID, Score: h.Score}
	}
	return out
}

// denseLane is what the meaning of the question finds, floor and boosts applied, best first. A server that does not answer
// is no error: the lane is empty then.
func (s *search) denseLane(ctx context.Context, f fusion) ([]rank.Result, error) {
	v := s.release.vectors
	if v == nil || s.query.Text == "" {
		return nil, ctx.Err()
	}
	question, err := s.embed(ctx)
	if err != nil || question == nil {
		return nil, err
	}
	// Most searches want one language of two; where the filters leave too few of the nearest, all are looked at.
	found, more := s.near(v.index.Search(question, nearest), f)
	if len(found) < laneDepth && more && v.index.Len() > nearest {
		found, _ = s.near(v.index.Search(question, v.index.Len()), f)
	}
	rank.Sort(found)
	return found[:min(len(found), laneDepth)], nil
}

// nearest is how many vectors are looked at first.
const nearest = 3 * laneDepth

// near are the passages of vectors that pass floor and filters, boosts applied. more says that there may be others behind.
func (s *search) near(hits []vector.Hit, f fusion) (found []rank.Result, more bool) {
	for _, h := range hits {
		if float64(h.Score) < f.similarityFloor {
			return found, false
		}
		id := s.release.order[h.Key]
		section := s.release.sectionOf(id)
		if !s.wants(section) {
			continue
		}
		score := float64(h.Score)
		switch {
		case s.query.Exhibit != "" && section.Exhibit == s.query.Exhibit:
			score += inHandSimilarity
		case s.hall != "" && section.Hall == s.hall:
			score += hallBonus
		}
		found = append(found, rank.Result{ID: id, Score: score})
	}
	return found, true
}

// embed returns the vector of the question, nil where there is none: the trace says why.
func (s *search) embed(ctx context.Context) ([]float32, error) {
	v := s.release.vectors
	texts := []string{s.query.Text}
	if v.report.DenseWeight > 0 || s.query.Mode == ModeDense {
		hypothesis, err := s.hypothesis(ctx)
		if err != nil {
			return nil, err
		}
		if hypothesis != "" {
			texts = append(texts, hypothesis)
		}
	}
	var vectors [][]float32
	if v.model != nil {
		for _, t := range texts {
			vectors = append(vectors, v.model.Embed(t))
		}
	} else {
		var skipped string
		var err error
		vectors, skipped, err = s.release.remote.embed(ctx, v, texts)
		if err != nil {
			return nil, err
		}
		if skipped != "" {
			s.trace.Skipped = append(s.trace.Skipped, "vectors: "+skipped)
			return nil, nil
		}
	}
	s.trace.Vectors = v.report.Kind
	return mean(vectors), nil
}

// hypothesis returns what an answer might look like, or nothing.
func (s *search) hypothesis(ctx context.Context) (string, error) {
	writer := s.release.remote.services.Hypotheses
	if writer == nil {
		return "", nil
	}
	if len(s.named.exhibits) > 0 {
		s.trace.Skipped = append(s.trace.Skipped, "hypothesis: question names an exhibit")
		return "", nil
	}
	written, skipped, err := writer.Write(ctx, s.query.Text, s.query.Language)
	if err != nil {
		return "", err
	}
	if skipped != "" {
		s.trace.Skipped = append(s.trace.Skipped, "hypothesis: "+skipped)
	}
	s.trace.Hypothesis = written != ""
	return written, nil
}

// mean is the average of vectors of length 1.
func mean(vectors [][]float32) []float32 {
	out := make([]float32, len(vectors[0]))
	for _, v := range vectors {
		length := 0.0
		for _, x := range v {
			length += float64(x) * float64(x)
		}
		if length == 0 {
			continue
		}
		scale := float32(1 / math.Sqrt(length))
		for i, x := range v {
			out[i] += x * scale
		}
	}
	return out
}

// rerankDepth is how many results are shown to a reranker.
const rerankDepth = 30

// rerank puts the best results into a better order, where something can.
func (s *search) rerank(ctx context.Context, found []rank.Result) ([]rank.Result, error) {
	chain := s.release.remote.services.Reranking
	if chain == nil || len(found) < 2 {
		return found, ctx.Err()
	}
	head := slices.Clone(found[:min(len(found), rerankDepth)])
	texts := make([]string, len(head))
	for i, r := range head {
		section := s.release.sectionOf(r.ID)
		texts[i] = fmt.Sprintf("%s. %s", section.Heading, s.release.passages[r.ID].Text)
	}
	answer, err := chain.Rerank(ctx, s.query.Text, texts)
	if err != nil {
		return nil, err
	}
	s.trace.RerankedBy = answer.By
	for _, p := range answer.Passed {
		s.trace.Skipped = append(s.trace.Skipped, "rerank "+p)
	}
	if answer.Scores == nil {
		return found, nil
	}
	low, high := slices.Min(answer.Scores), slices.Max(answer.Scores)
	for i := range head {
		share := 1.0
		if high > low {
			share = (answer.Scores[i] - low) / (high - low)
		}
		section := s.release.sectionOf(head[i].ID)
		switch {
		case s.query.Exhibit != "" && section.Exhibit == s.query.Exhibit:
			share += inHandSimilarity
		case s.hall != "" && section.Hall == s.hall:
			share += hallBonus
		}
		head[i].Score = 1 + share // above all that were not shown
	}
	slices.SortStableFunc(head, func(a, b rank.Result) int { // equal scores stay in their order
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return rank.Fill(head, found), nil
}
