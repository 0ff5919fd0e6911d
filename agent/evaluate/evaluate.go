package evaluate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"docent/agent"
	"docent/agent/internal/words"
)

// Guide answers turns.
type Guide interface {
	Answer(ctx context.Context, lib agent.Library, t agent.Turn) <-chan agent.Event
}

// heard is one answer.
type heard struct {
	text    string
	sources []agent.Source
	done    agent.Done
	first   time.Duration // to the first word
	whole   time.Duration
}

// Outcome is how one case came out. Shares are from 0 to 1; those that a case does not have are nil.
type Outcome struct {
	Question    string   `json:"question"`
	Language    string   `json:"language"`
	Kind        Kind     `json:"kind,omitempty"`
	Blind       bool     `json:"blind,omitempty"`
	OK          bool     `json:"ok"`
	Answered    bool     `json:"answered"`
	Text        string   `json:"text"`
	WrittenBy   string   `json:"written_by"`
	Faithful    *float64 `json:"faithfulness,omitempty"`
	Precision   *float64 `json:"context_precision,omitempty"`
	Recall      *float64 `json:"context_recall,omitempty"`
	Relevant    *float64 `json:"answer_relevancy,omitempty"`
	Refused     *bool    `json:"refused,omitempty"` // of unanswerable cases
	Unsupported []string `json:"unsupported_numbers,omitempty"`
	Computed    int      `json:"computed_sentences,omitempty"` // left out of faithfulness
	Wrong       []string `json:"wrong,omitempty"`
	Judged      *Judged  `json:"judged,omitempty"` // by a model, where one was asked
	first       time.Duration
	whole       time.Duration
}

// Run asks every case. Where there is a judge, it is asked about every answer too; nil means none.
func Run(ctx context.Context, g Guide, lib agent.Library, c Cases, judge Writer, progress func(done, total int)) (Report, error) {
	var outcomes []Outcome
	for i, one := range c.Cases {
		o, err := ask(ctx, g, lib, c, one, judge)
		if err != nil {
			return Report{}, fmt.Errorf("ask %q: %w", one.Question, err)
		}
		outcomes = append(outcomes, o)
		if progress != nil {
			progress(i+1, len(c.Cases))
		}
	}
	return newReport(outcomes), nil
}

func ask(ctx context.Context, g Guide, lib agent.Library, all Cases, c Case, by Writer) (Outcome, error) {
	if c.Kind == KindMemory {
		h, err := askRemembering(ctx, g, lib, all, c)
		if err != nil {
			return Outcome{}, err
		}
		return judge(c, h), nil
	}
	t := agent.Turn{Exhibit: c.Exhibit, Language: c.Language, Level: c.Level, Place: all.Place}
	if t.Language == "" {
		t.Language = words.English
	}
	for _, q := range c.History {
		t.Question = q
		h, err := hear(ctx, g, lib, t)
		if err != nil {
			return Outcome{}, err
		}
		t.History = append(t.History, agent.Exchange{Question: q, Answer: h.text})
	}
	t.Question = c.Question
	h, err := hear(ctx, g, lib, t)
	if err != nil {
		return Outcome{}, err
	}
	o := judge(c, h)
	if by != nil {
		if o.Judged, err = judged(ctx, by, c, h); err != nil {
			return Outcome{}, err
		}
	}
	return o, nil
}

func hear(ctx context.Context, g Guide, lib agent.Library, t agent.Turn) (heard, error) {
	var h heard
	began := time.Now()
	ended := false
	for e := range g.Answer(ctx, lib, t) {
		switch e.Type {
		case agent.EventToken:
			if h.first == 0 {
				h.first = time.Since(began)
			}
			h.text += e.Text
		case agent.EventReset:
			h.text, h.sources = "", nil
		case agent.EventSources:
			h.sources = e.Sources
		case agent.EventDone:
			h.done, ended = *e.Done, true
		case agent.EventError:
			return h, errors.New(e.Message)
		}
	}
	h.whole = time.Since(began)
	if !ended {
		return h, errors.Join(errors.New("the turn did not end"), ctx.Err())
	}
	return h, nil
}

var (
	markedSentence = regexp.MustCompile(`(.*?) ?((?:\[\d+\])+)([.!?。！？…]*)`)
	mark           = regexp.MustCompile(`\[(\d+)\]`)
)

// judge holds an answer against its case.
func judge(c Case, h heard) Outcome {
	o := Outcome{
		Question: c.Question, Language: h.done.Language, Kind: c.Kind, Blind: c.Blind, Answered: h.done.Answered, Text: h.text,
		WrittenBy: string(h.done.WrittenBy), first: h.first, whole: h.whole,
	}
	if c.Unanswerable {
		refused := !h.done.Answered
		o.Refused, o.OK = &refused, refused
		return o
	}
	o.support(h)
	bare := mark.ReplaceAllString(strings.ReplaceAll(h.text, " [", "["), "")
	o.Relevant = share(c.Contains, func(s string) bool { return h.done.Answered && strings.Contains(bare, s) })
	for _, s := range c.Contains {
		if !strings.Contains(bare, s) {
			o.Wrong = append(o.Wrong, "lacks "+s)
		}
	}
	for _, s := range c.NotContains {
		if strings.Contains(bare, s) {
			o.Wrong = append(o.Wrong, "has "+s)
		}
	}
	o.Recall = share(c.Cite, func(id string) bool {
		return slices.ContainsFunc(h.sources, func(s agent.Source) bool { return is(s, id) })
	})
	if o.Recall != nil && *o.Recall < 1 {
		o.Wrong = append(o.Wrong, "does not cite all of "+strings.Join(c.Cite, ", "))
	}
	o.Precision = precision(c.Cite, h.sources)
	o.OK = h.done.Answered && len(o.Wrong) == 0
	return o
}

// support counts the sentences that stand in the passages they cite. Those of answers that tools computed are held
// against nothing: a sum of walking times stands nowhere.
func (o *Outcome) support(h heard) {
	if !h.done.Answered {
		return
	}
	matches := markedSentence.FindAllStringSubmatch(strings.ReplaceAll(h.text, "\n", " "), -1)
	if h.done.WrittenBy == agent.WrittenByTools {
		o.Computed = len(matches)
		return
	}
	supported, total := 0, 0
	for _, m := range matches {
		quotes := ""
		for _, n := range mark.FindAllStringSubmatch(m[2], -1) {
			if i, err := strconv.Atoi(n[1]); err == nil && i >= 1 && i <= len(h.sources) {
				quotes += h.sources[i-1].Title + "\n" + h.sources[i-1].Heading + "\n" + h.sources[i-1].Quote + "\n"
			}
		}
		total++
		if stands(m[1], quotes) {
			supported++
		}
		in := words.NumbersIn(quotes)
		for _, n := range words.Numbers(m[1]) {
			if !in[n] {
				o.Unsupported = append(o.Unsupported, n)
			}
		}
	}
	f := 0.0
	if total > 0 {
		f = float64(supported) / float64(total)
	}
	o.Faithful = &f
}

// supportShare is the share of a sentence's words that must stand in what it cites.
const supportShare = 0.7

// stands reports whether a sentence stands in the texts: as it is (a lead-in before a colon set aside), or most of its words.
func stands(sentence, texts string) bool {
	all := squeeze(texts)
	if strings.Contains(all, squeeze(sentence)) {
		return true
	}
	if i := strings.LastIndexAny(sentence, ":："); i >= 0 && strings.Contains(all, squeeze(strings.TrimLeft(sentence[i:], ":："))) {
		return true
	}
	want, have := words.Extract(sentence).Distinct(), words.Extract(texts).Distinct()
	n := 0
	for w := range want {
		if have[w] {
			n++
		}
	}
	return len(want) > 0 && float64(n) >= supportShare*float64(len(want))
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// precision is the mean of precision@k over the ranks k of relevant sources.
func precision(cite []string, sources []agent.Source) *float64 {
	if len(cite) == 0 || len(sources) == 0 {
		return nil
	}
	relevant, sum := 0, 0.0
	for k, s := range sources {
		if slices.ContainsFunc(cite, func(id string) bool { return is(s, id) }) {
			relevant++
			sum += float64(relevant) / float64(k+1)
		}
	}
	p := 0.0
	if relevant > 0 {
		p = sum / float64(relevant)
	}
	return &p
}

func is(s agent.Source, id string) bool { return s.Exhibit == id || s.Section == id }

func share(of []string, has func(string) bool) *float64 {
	if len(of) == 0 {
		return nil
	}
	n := 0
	for _, s := range of {
		if has(s) {
			n++
		}
	}
	out := float64(n) / float64(len(of))
	return &out
}
