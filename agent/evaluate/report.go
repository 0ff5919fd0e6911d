package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what came out.
//
// The measures are named as Ragas names them (docs.ragas.io, "Metrics"), and computed without a model:
// faithfulness is the share of an answer's sentences that stand in the passages they cite; context precision the mean of
// precision@k over the ranks of relevant sources; context recall the share of the sources wanted that are cited. Answer
// relevancy is the share of what a case wants to hear that the answer has, where Ragas has a model guess the question.
// An answerable case that was refused counts 0 in recall and relevancy. Refusal accuracy is the share of unanswerable
// cases that were refused.
type Report struct {
	All        Figures            `json:"all"`
	Languages  map[string]Figures `json:"languages"`
	Kinds      map[Kind]Figures   `json:"kinds"`
	Blind      Figures            `json:"blind"`
	FirstWords Latency            `json:"first_words_ms"`
	Whole      Latency            `json:"whole_ms"`
	Cases      []Outcome          `json:"cases"`
}

// Figures are those of some cases.
type Figures struct {
	Cases              int     `json:"cases"`
	OK                 int     `json:"ok"`
	Faithfulness       float64 `json:"faithfulness"`
	ContextPrecision   float64 `json:"context_precision"`
	ContextRecall      float64 `json:"context_recall"`
	AnswerRelevancy    float64 `json:"answer_relevancy"`
	Unanswerable       int     `json:"unanswerable"`
	RefusalAccuracy    float64 `json:"refusal_accuracy"`
	WrongRefusals      int     `json:"wrong_refusals"` // answerable and not answered
	UnsupportedNumbers int     `json:"unsupported_numbers"`
	ComputedSentences  int     `json:"computed_sentences"`
	// Judge are the same measures by a model; nil where none was asked.
	Judge *JudgedFigures `json:"judge,omitempty"`
}

// Latency is a distribution of times.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

func newReport(all []Outcome) Report {
	r := Report{All: figures(all), Languages: make(map[string]Figures), Kinds: make(map[Kind]Figures), Cases: all}
	byLanguage, byKind := make(map[string][]Outcome), make(map[Kind][]Outcome)
	var blind []Outcome
	var first, whole []time.Duration
	for _, o := range all {
		byLanguage[o.Language] = append(byLanguage[o.Language], o)
		byKind[o.Kind] = append(byKind[o.Kind], o)
		if o.Blind {
			blind = append(blind, o)
		}
		first, whole = append(first, o.first), append(whole, o.whole)
	}
	for l, of := range byLanguage {
		r.Languages[l] = figures(of)
	}
	for k, of := range byKind {
		r.Kinds[k] = figures(of)
	}
	r.Blind, r.FirstWords, r.Whole = figures(blind), latency(first), latency(whole)
	return r
}

func figures(of []Outcome) Figures {
	f := Figures{Cases: len(of)}
	var faithful, precision, recall, relevant mean
	refused := 0
	for _, o := range of {
		if o.OK {
			f.OK++
		}
		f.UnsupportedNumbers += len(o.Unsupported)
		f.ComputedSentences += o.Computed
		if o.Refused != nil {
			f.Unanswerable++
			if *o.Refused {
				refused++
			}
			continue
		}
		if !o.Answered {
			f.WrongRefusals++
		}
		faithful.add(o.Faithful)
		precision.add(o.Precision)
		recall.add(o.Recall)
		relevant.add(o.Relevant)
	}
	f.Faithfulness, f.ContextPrecision, f.ContextRecall, f.AnswerRelevancy = faithful.value(), precision.value(), recall.value(), relevant.value()
	if f.Unanswerable > 0 {
		f.RefusalAccuracy = float64(refused) / float64(f.Unanswerable)
	}
	f.Judge = judgedFigures(of)
	return f
}

type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v *float64) {
	if v != nil {
		m.sum, m.n = m.sum+*v, m.n+1
	}
}

func (m *mean) value() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}

func latency(of []time.Duration) Latency {
	if len(of) == 0 {
		return Latency{}
	}
	slices.Sort(of)
	at := func(p float64) float64 {
		return float64(of[min(len(of)-1, int(p*float64(len(of))))].Microseconds()) / 1000
	}
	return Latency{at(0.5), at(0.95)}
}

// Summary tells the figures in a few lines.
func (r Report) Summary() string {
	var b strings.Builder
	row := func(name string, f Figures) {
		fmt.Fprintf(&b, "%-11s %4d cases %4d as wanted  faithfulness %.3f  precision %.3f  recall %.3f  relevancy %.3f  refused %.3f of %d  wrongly refused %d  unsupported numbers %d\n",
			name, f.Cases, f.OK, f.Faithfulness, f.ContextPrecision, f.ContextRecall, f.AnswerRelevancy, f.RefusalAccuracy, f.Unanswerable, f.WrongRefusals, f.UnsupportedNumbers)
		if j := f.Judge; j != nil {
			fmt.Fprintf(&b, "  by judge  %4d judged %4d without verdict faithfulness %.3f  precision %.3f  recall %.3f  relevancy %.3f  refused %.3f, as the rules say %.3f\n",
				j.Cases, j.Failed, j.Faithfulness, j.ContextPrecision, j.ContextRecall, j.AnswerRelevancy, j.RefusalAccuracy, j.Agreement)
		}
	}
	row("all", r.All)
	for _, l := range slices.Sorted(maps.Keys(r.Languages)) {
		row(l, r.Languages[l])
	}
	for _, k := range slices.Sorted(maps.Keys(r.Kinds)) {
		if k != KindSingle {
			row(string(k), r.Kinds[k])
		}
	}
	if r.Blind.Cases > 0 {
		row("blind", r.Blind)
	}
	fmt.Fprintf(&b, "first words p50 %.0f ms, p95 %.0f ms; whole turn p50 %.0f ms, p95 %.0f ms\n", r.FirstWords.P50, r.FirstWords.P95, r.Whole.P50, r.Whole.P95)
	for _, o := range r.Cases {
		if !o.OK {
			fmt.Fprintf(&b, "  %s: %s\n", o.Question, strings.Join(append(slices.Clone(o.Wrong), "«"+o.Text+"»"), "; "))
		}
	}
	return b.String()
}
