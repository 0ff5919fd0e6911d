package localindex

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"docent/localindex/dense"
	"docent/localindex/gallery"
	"docent/localindex/internal/prose"
	"docent/localindex/rank"
	"docent/localindex/text"
	"docent/localindex/vector"
)

// Measure compares searching by keywords alone with searching by both, on questions made from the release's own passages.
type Measure struct {
	Language  string  `json:"language"`
	Probe     string  `json:"probe"` // words, held_out or heading
	Questions int     `json:"questions"`
	Keyword   float64 `json:"keyword"`         // MRR@10 of keywords alone
	Hybrid    float64 `json:"hybrid"`          // of both, with the weight that was chosen
	Tried     []Tried `json:"tried,omitempty"` // with other weights
}

// Tried is what one weight would have given.
type Tried struct {
	DenseWeight float64 `json:"dense_weight"`
	MRR         float64 `json:"mrr_at_10"`
}

// The kinds of questions that are made of passages.
const (
	// probeWords are a few words of a sentence: what the passage says, in its words.
	probeWords = "words"
	// probeHeldOut is a sentence that is taken out of the passage: what it might say, in other words.
	probeHeldOut = "held_out"
	// probeHeading is the heading of a section, which is taken off its passages.
	probeHeading = "heading"
)

const (
	maxProbes        = 200   // of each kind and language
	minProbes        = 10    // fewer of a kind say nothing
	provingProbes    = 100   // in each language, to trust vectors learnt from the texts
	provingGain      = 0.01  // of MRR, averaged over the kinds: less is chance
	measuredPassages = 3_000 // at most; more would take as long again as the build itself
	measuredRank     = 10
)

// triedWeights of the vectors, as shares of the configured one. The keywords have what is left of the sum.
var triedWeights = []float64{1, 0.75, 0.5, 0.25}

// probe is one question made of passages, and those that answer it.
type probe struct {
	language, kind, question string
	wanted                   []int
}

// weigh measures the vectors on the release's own passages, and returns their weight: the greatest of those tried, up to
// the configured one, that is worthwhile; 0 where there is none. A weight that an author wrote is taken as it is.
func (d densePart) weigh(ctx context.Context, g *gallery.Gallery, f fusion, source *vectorSource) ([]Measure, float64, error) {
	probes, docs := d.probes()
	if len(probes) == 0 { // nothing to measure by
		if g.Search.DenseWeight > 0 || source.model == nil {
			return nil, f.denseWeight, nil
		}
		return nil, 0, nil
	}
	lanes, err := d.measureLanes(ctx, f, source, probes, docs)
	if err != nil {
		return nil, 0, err
	}
	weights := slices.Clone(triedWeights)
	for i := range weights {
		weights[i] *= f.denseWeight
	}
	measures := compare(f, probes, lanes, weights)
	chosen := 0.0
	if g.Search.DenseWeight > 0 {
		chosen = f.denseWeight
	} else {
		for i, w := range weights {
			if worthwhile(measures, i, source.model != nil) {
				chosen = w
				break
			}
		}
	}
	for i := range measures {
		measures[i].Hybrid = measures[i].Keyword
		for _, t := range measures[i].Tried {
			if t.DenseWeight == chosen {
				measures[i].Hybrid = t.MRR
			}
		}
	}
	return measures, chosen, nil
}

// worthwhile reports whether the i-th weight may be used. A server's model has learnt elsewhere: it must not lower the
// average of any language. Vectors learnt from the texts have to prove themselves: on enough questions, with a gain in each
// language, and with no kind of question made worse.
func worthwhile(measures []Measure, i int, learnt bool) bool {
	gain, asked, kinds := map[string]float64{}, map[string]int{}, map[string]float64{}
	for _, m := range measures {
		if learnt && m.Tried[i].MRR < m.Keyword {
			return false
		}
		gain[m.Language] += m.Tried[i].MRR - m.Keyword
		asked[m.Language] += m.Questions
		kinds[m.Language]++
	}
	for language, g := range gain {
		if g < 0 || learnt && (g < provingGain*kinds[language] || asked[language] < provingProbes) {
			return false
		}
	}
	return true
}

// lanes is what the keywords and the vectors find for one probe, floors applied.
type lanes struct{ keyword, dense []rank.Result }

func compare(f fusion, probes []probe, found []lanes, weights []float64) []Measure {
	var measures []Measure
	for i, p := range probes {
		at := slices.IndexFunc(measures, func(m Measure) bool { return m.Language == p.language && m.Probe == p.kind })
		if at < 0 {
			at = len(measures)
			measures = append(measures, Measure{Language: p.language, Probe: p.kind, Tried: make([]Tried, len(weights))})
		}
		m := &measures[at]
		m.Questions++
		m.Keyword += reciprocal(found[i].keyword, p.wanted)
		for j, w := range weights {
			with := f.weighted(w)
			m.Tried[j].DenseWeight = w
			m.Tried[j].MRR += reciprocal(with.fuse(found[i].keyword, found[i].dense), p.wanted)
		}
	}
	for i := range measures {
		n := float64(measures[i].Questions)
		measures[i].Keyword /= n
		for j := range measures[i].Tried {
			measures[i].Tried[j].MRR /= n
		}
	}
	return measures
}

// weighted is the same fusion with another weight of the vectors; the sum of the weights stays.
func (f fusion) weighted(dense float64) fusion {
	f.keywordWeight += f.denseWeight - dense
	f.denseWeight = dense
	return f
}

// reciprocal is 1 / the rank of the first result that is wanted, 0 beyond measuredRank.
func reciprocal(results []rank.Result, wanted []int) float64 {
	for i, r := range results[:min(len(results), measuredRank)] {
		if n, err := strconv.Atoi(r.ID); err == nil && slices.Contains(wanted, n) {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// probes makes questions of the passages, and the passages as they are searched for them: without headings, and some
// without the sentence that is asked for.
func (d densePart) probes() ([]probe, []text.Doc) {
	random := rand.New(rand.NewPCG(3, 4)) // the same each time
	chosen := random.Perm(len(d.docs))
	chosen = chosen[:min(len(chosen), measuredPassages)]
	slices.Sort(chosen)
	docs := make([]text.Doc, len(chosen))
	headings := map[string][]int{} // language and heading: passages
	for i, n := range chosen {
		docs[i] = text.Doc{ID: strconv.Itoa(i), Text: d.docs[n].Text, Language: d.docs[n].Language, Domain: d.docs[n].Domain, Exhibit: d.docs[n].Exhibit}
		if h := d.docs[n].Heading; h != "" {
			key := d.docs[n].Language + "\x00" + strings.Join([]string{d.docs[n].Title, h}, " ")
			headings[key] = append(headings[key], i)
		}
	}
	counts := map[string]int{}
	var probes []probe
	add := func(p probe) {
		if key := p.language + p.kind; strings.TrimSpace(p.question) != "" && counts[key] < maxProbes {
			counts[key]++
			probes = append(probes, p)
		}
	}
	for _, i := range random.Perm(len(docs)) {
		sentences := prose.Sentences(docs[i].Text)
		if len(sentences) < 2 {
			continue
		}
		n := random.IntN(len(sentences))
		sentence := sentences[n].Text
		if i%2 == 0 {
			add(probe{docs[i].Language, probeWords, someWords(random, sentence), []int{i}})
			continue
		}
		if counts[docs[i].Language+probeHeldOut] < maxProbes {
			docs[i].Text = without(sentences, n)
			add(probe{docs[i].Language, probeHeldOut, sentence, []int{i}})
		}
	}
	keys := make([]string, 0, len(headings))
	for key := range headings {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, key := range keys {
		language, heading, _ := strings.Cut(key, "\x00")
		add(probe{language, probeHeading, heading, headings[key]})
	}
	return slices.DeleteFunc(probes, func(p probe) bool { return counts[p.language+p.kind] < minProbes }), docs
}

func without(sentences []prose.Piece, n int) string {
	var b strings.Builder
	for i, s := range sentences {
		if i != n {
			b.WriteString(s.Before)
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// someWords takes about half of a sentence: every word, or pair of Chinese characters, as a coin falls.
func someWords(random *rand.Rand, sentence string) string {
	var words []string
	for word := range strings.FieldsSeq(sentence) {
		runes := []rune(word)
		if len(runes) > 1 && prose.Wide(runes[0]) {
			for i := 0; i < len(runes); i += 2 {
				words = append(words, string(runes[i:min(i+2, len(runes))]))
			}
			continue
		}
		words = append(words, word)
	}
	const most = 8
	var some []string
	for _, w := range words {
		if random.IntN(2) == 0 && len(some) < most {
			some = append(some, w)
		}
	}
	return strings.Join(some, " ")
}

// measureLanes searches for every probe by keywords and by vectors.
func (d densePart) measureLanes(ctx context.Context, f fusion, source *vectorSource, probes []probe, docs []text.Doc) (_ []lanes, err error) {
	dir, err := os.MkdirTemp("", "docent-measure-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := text.Build(ctx, filepath.Join(dir, "text"), docs, nil); err != nil {
		return nil, err
	}
	index, err := text.Open(filepath.Join(dir, "text"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, index.Close()) }()

	texts := make([]string, len(docs))
	for i, doc := range docs {
		texts[i] = doc.Text
	}
	embed := source.embed
	if source.model != nil { // what was taken out of a passage must not have been learnt either
		model, _, err := dense.Train(ctx, texts)
		if errors.Is(err, dense.ErrTooFew) {
			return make([]lanes, len(probes)), nil
		}
		if err != nil {
			return nil, err
		}
		embed = func(_ context.Context, texts []string) ([]float32, error) { return model.EmbedAll(texts), nil }
	}
	of, err := embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	meaning, err := vector.NewExact(len(of)/len(texts), of)
	if err != nil {
		return nil, err
	}
	questions := make([]string, len(probes))
	for i, p := range probes {
		questions[i] = p.question
	}
	asked, err := embed(ctx, questions)
	if err != nil {
		return nil, err
	}
	found := make([]lanes, len(probes))
	for i, p := range probes {
		hits, err := index.Search(ctx, text.Query{Text: p.question, Language: p.language, Limit: laneDepth})
		if err != nil {
			return nil, fmt.Errorf("search for a probe: %w", err)
		}
		for _, h := range hits {
			found[i].keyword = append(found[i].keyword, rank.Result{ID: h.ID, Score: h.Score})
		}
		found[i].keyword = rank.ShareOfBest(found[i].keyword, f.keywordFloor)
		for _, h := range meaning.Search(asked[i*meaning.Dimension():(i+1)*meaning.Dimension()], len(docs)) {
			if float64(h.Score) < f.similarityFloor || len(found[i].dense) == laneDepth {
				break
			}
			if docs[h.Key].Language == p.language {
				found[i].dense = append(found[i].dense, rank.Result{ID: strconv.Itoa(int(h.Key)), Score: float64(h.Score)})
			}
		}
	}
	return found, nil
}
