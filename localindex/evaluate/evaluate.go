// Package evaluate measures how well a release finds the passage that answers a question, on sets of questions in the
// shape of SQuAD. Each set is packed as a release and asked as a kiosk would ask it.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"docent/localindex"
	"docent/localindex/gallery"
)

// Options of an evaluation.
type Options struct {
	Squad     string // file with passages and questions
	Questions string // file with the words of the questions, with the same ids; empty means the first file's
	Mode      localindex.Mode
	// Search overrides the usual values, and may name an embedding server.
	Search   gallery.Search
	Embedder localindex.Embedder
	Services localindex.Services
	Progress func(done, total int) // may be nil
	Now      func() time.Time
}

// Report is what came out.
type Report struct {
	Questions  int                     `json:"questions"`
	Passages   int                     `json:"passages"`
	Language   string                  `json:"language"` // of the passages, guessed by their script
	Mode       localindex.Mode         `json:"mode"`
	RecallAt1  float64                 `json:"recall_at_1"`
	RecallAt5  float64                 `json:"recall_at_5"`
	RecallAt10 float64                 `json:"recall_at_10"`
	MRRAt10    float64                 `json:"mrr_at_10"`
	NDCGAt10   float64                 `json:"ndcg_at_10"`
	LatencyMS  Latency                 `json:"latency_ms"`
	BuildMS    float64                 `json:"build_ms"` // of the whole release, its measuring included
	Vectors    *localindex.DenseReport `json:"vectors,omitempty"`
	RerankedBy map[string]int          `json:"reranked_by,omitempty"` // how many questions
	Skipped    map[string]int          `json:"skipped,omitempty"`     // what was not used, and for how many questions
}

// Latency is how long single searches took.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// depth is how many passages are looked at.
const depth = 10

// Run measures. Errors of the input files are ErrInput.
func Run(ctx context.Context, o Options) (_ Report, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := readSet(o.Squad, o.Questions)
	if err != nil {
		return Report{}, err
	}
	dir, err := os.MkdirTemp("", "docent-evaluate-")
	if err != nil {
		return Report{}, fmt.Errorf("evaluate retrieval: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	began := o.Now()
	g := &gallery.Gallery{ID: "squad", Name: gallery.Localized{s.language: "SQuAD"}, Languages: []string{s.language}, Sections: s.sections, Search: o.Search}
	released := filepath.Join(dir, "release")
	_, problems, err := localindex.Pack(ctx, g, s.passages, dir, released, localindex.Options{
		Now: o.Now, CacheDir: filepath.Join(dir, "cache"),
		Embedder: func(gallery.Embeddings) (localindex.Embedder, error) { return o.Embedder, nil },
	})
	if err != nil {
		return Report{}, fmt.Errorf("evaluate retrieval: %w", err)
	}
	r := Report{
		Questions: len(s.questions), Passages: len(s.passages), Language: s.language, Mode: o.Mode, BuildMS: ms(o.Now().Sub(began)),
		RerankedBy: map[string]int{}, Skipped: map[string]int{},
	}
	for _, p := range problems {
		r.Skipped[p.Message] = len(s.questions)
	}
	release, err := localindex.OpenWith(ctx, released, o.Services)
	if err != nil {
		return Report{}, fmt.Errorf("evaluate retrieval: %w", err)
	}
	defer func() { err = errors.Join(err, release.Close()) }()
	vectors := release.Vectors()
	r.Vectors = &vectors
	if err := r.ask(ctx, o, release, s); err != nil {
		return Report{}, fmt.Errorf("evaluate retrieval: %w", err)
	}
	return r, nil
}

// ask asks every question and counts.
func (r *Report) ask(ctx context.Context, o Options, release *localindex.Release, s *set) error {
	took := make([]float64, 0, len(s.questions))
	for i, q := range s.questions {
		began := o.Now()
		found, err := release.SearchTraced(ctx, localindex.Query{Text: q.text, Mode: o.Mode, Limit: depth})
		if err != nil {
			return err
		}
		took = append(took, ms(o.Now().Sub(began)))
		r.count(slices.IndexFunc(found.Hits, func(h localindex.Hit) bool { return h.Passage.ID == q.passage }))
		if by := found.Trace.RerankedBy; by != "" {
			r.RerankedBy[by]++
		}
		for _, why := range found.Trace.Skipped {
			r.Skipped[why]++
		}
		if o.Progress != nil {
			o.Progress(i+1, len(s.questions))
		}
	}
	n := float64(len(s.questions))
	for _, sum := range []*float64{&r.RecallAt1, &r.RecallAt5, &r.RecallAt10, &r.MRRAt10, &r.NDCGAt10} {
		*sum /= n
	}
	slices.Sort(took)
	r.LatencyMS = Latency{percentile(took, 0.50), percentile(took, 0.95), percentile(took, 0.99)}
	return nil
}

// count adds one question whose passage was found at that place, -1 where it was not. One passage is relevant, so the
// ideal DCG is 1.
func (r *Report) count(place int) {
	if place < 0 || place >= depth {
		return
	}
	if place == 0 {
		r.RecallAt1++
	}
	if place < 5 {
		r.RecallAt5++
	}
	r.RecallAt10++
	r.MRRAt10 += 1 / float64(place+1)
	r.NDCGAt10 += 1 / math.Log2(float64(place+2))
}

// percentile is the smallest value that at least that share of the sorted values does not exceed.
func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Summary is the report for people.
func (r Report) Summary() string {
	var b strings.Builder
	mode := r.Mode
	if mode == "" {
		mode = "hybrid, reranked where something can"
	}
	fmt.Fprintf(&b, "%d questions, %d passages (%s), mode %s\n", r.Questions, r.Passages, r.Language, mode)
	fmt.Fprintf(&b, "recall@1 %.3f   recall@5 %.3f   MRR@10 %.3f   nDCG@10 %.3f\n", r.RecallAt1, r.RecallAt5, r.MRRAt10, r.NDCGAt10)
	fmt.Fprintf(&b, "a search takes %.2f ms (p50), %.2f ms (p95), %.2f ms (p99)\n", r.LatencyMS.P50, r.LatencyMS.P95, r.LatencyMS.P99)
	if v := r.Vectors; v != nil {
		fmt.Fprintf(&b, "vectors: %s, dimension %d, weight %.2f beside %.2f\n", v.Kind, v.Dimension, v.DenseWeight, v.KeywordWeight)
	}
	for _, what := range sortedKeys(r.RerankedBy) {
		fmt.Fprintf(&b, "reranked by %s: %d questions\n", what, r.RerankedBy[what])
	}
	for _, what := range sortedKeys(r.Skipped) {
		fmt.Fprintf(&b, "not used in %d questions: %s\n", r.Skipped[what], what)
	}
	return b.String()
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
