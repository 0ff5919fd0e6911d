package memory

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of what is recollected beside the strong facts, which are never cut.
const (
	mostTexts       = 6
	mostPreferences = 6
	mostCharacters  = 1200 // of texts and preferences together
	vectorCache     = 512  // vectors of one visit
)

// Recollection is what is remembered for one question, by priority: what stands first is right where something behind it
// says otherwise.
type Recollection struct {
	// Facts are exact: allergies, needs, bookings, time, names, to-dos. All of them, whatever the question.
	Facts []Fact
	// Texts are notes, turns and lines of the summary that have to do with the question; empty where it does not ask back.
	Texts []string
	// Preferences are likes and how to be answered: those near the question where it asks back, else the newest.
	Preferences []Fact
	// Asked says that the question asks for what was before.
	Asked bool
}

// All are facts, then preferences, then texts as notes: what goes into a prompt, by priority.
func (r Recollection) All() []Fact {
	out := slices.Concat(r.Facts, r.Preferences)
	for _, t := range r.Texts {
		out = append(out, Fact{Kind: KindNote, Key: "note/" + digest(t), Text: t})
	}
	return out
}

var (
	asksBackEN = regexp.MustCompile(`(?i)\b(?:remember|remembered|earlier|before|previously|last time|at the (?:other|first|last) (?:kiosk|screen|station|machine)|(?:did|have|had|do|does|what|as|like|that|which|things?) (?:i|we)(?:'d|'ve)? (?:just )?(?:say|said|tell|told|ask|asked|mention|mentioned|want|wanted|like|liked|have|need|needed)|i (?:told|asked|said|mentioned)|(?:what(?:'s| is| are|'re)|when(?:'s| is)|who|where(?:'s| is)|how (?:much|long)|which|do you know) .{0,24}\b(?:i|my|our|me|we|us)\b|am i|are we|recommend|for me|for us|interest)\b`)
	asksBackZH = regexp.MustCompile(`刚才|之前|先前|刚刚|上次|记得|记住|记下|说过|问过|提过|提到|告诉过|告诉你|另一台|那台|我的|我叫|我是谁|我们的|我对|我喜欢|我想|我要|我还|我有|推荐|适合我|感兴趣`)
)

// AsksBack says whether a question asks for what was said before, so that texts and preferences are looked through.
func AsksBack(question string) bool {
	return asksBackEN.MatchString(question) || asksBackZH.MatchString(question)
}

// Recollect is what is remembered for a question. What was said last is in it, wherever it has got to; the three reads run at
// once.
func (m *Memory) Recollect(v Visit, talk Talk, question string) (Recollection, error) {
	s, err := m.shelf(v)
	if err != nil {
		return Recollection{}, err
	}
	r := Recollection{Asked: AsksBack(question)}
	var strong, notes, fuzzy []Fact
	for _, f := range s.facts() {
		switch f.Kind {
		case KindNote:
			notes = append(notes, f)
		case KindInterest, KindStyle:
			fuzzy = append(fuzzy, f)
		default:
			strong = append(strong, f)
		}
	}
	var reads sync.WaitGroup
	reads.Go(func() { r.Facts = strong })
	reads.Go(func() {
		if r.Asked {
			r.Texts = texts(question, notes, talk)
		}
	})
	reads.Go(func() { r.Preferences = m.preferences(s, question, fuzzy, r.Asked) })
	reads.Wait()
	return r.cut(), nil
}

// texts are the notes, turns and lines of the summary that share words with a question, the best first, and then the newest
// notes.
func texts(question string, notes []Fact, talk Talk) []string {
	var all []string
	for _, n := range notes {
		all = append(all, n.Text)
	}
	plain := len(all)
	for _, line := range strings.Split(talk.Summary, "\n") {
		if line != "" {
			all = append(all, line)
		}
	}
	for _, t := range talk.Turns {
		all = append(all, clip(oneLine(t.Question), maxAsked)+" → "+clip(firstSentence(oneLine(t.Answer)), maxSaid))
	}
	var out []string
	found := map[int]bool{}
	for _, h := range bm25(question, all) {
		out, found[h.document] = append(out, all[h.document]), true
	}
	// What a visitor asked to be remembered is told in any case, the newest first, as far as there is room.
	out = out[:min(len(out), mostTexts/2)]
	for i := plain - 1; i >= 0; i-- {
		if !found[i] || !slices.Contains(out, all[i]) {
			out = append(out, all[i])
		}
	}
	return out[:min(len(out), mostTexts)]
}

// preferences are those near a question that asks back, ranked anew with the words they share; else the newest.
func (m *Memory) preferences(s *shelf, question string, all []Fact, asked bool) []Fact {
	if !asked || len(all) <= mostPreferences {
		return newest(all, mostPreferences)
	}
	vectors, subjects := make([][]float32, len(all)), make([]string, len(all))
	for i, f := range all {
		subjects[i] = f.subject()
		vectors[i] = s.vector(m.o.Vector, subjects[i])
	}
	score := make([]float64, len(all))
	for _, h := range nearest(m.o.Vector(question), vectors) {
		score[h.document] += h.score
	}
	shared := bm25(question, subjects)
	for _, h := range shared { // the best of the words counts as much as the nearest vector can
		score[h.document] += h.score / shared[0].score
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), all[b].At.Compare(all[a].At))
	})
	var out []Fact
	for _, i := range order[:mostPreferences] {
		out = append(out, all[i])
	}
	return out
}

// vector is that of a subject, made once.
func (s *shelf) vector(of func(string) []float32, subject string) []float32 {
	s.mu.Lock()
	v, ok := s.vectors[subject]
	s.mu.Unlock()
	if ok {
		return v
	}
	v = of(subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgotten {
		return v
	}
	if s.vectors == nil || len(s.vectors) >= vectorCache {
		s.vectors = map[string][]float32{}
	}
	s.vectors[subject] = v
	return v
}

// cut holds texts and preferences to their room; texts go first, the worst of them first.
func (r Recollection) cut() Recollection {
	room := mostCharacters
	for i, f := range r.Preferences {
		if room -= utf8.RuneCountInString(f.Text); room < 0 {
			r.Preferences = r.Preferences[:i]
			break
		}
	}
	for i, t := range r.Texts {
		if room -= utf8.RuneCountInString(t); room < 0 {
			r.Texts = r.Texts[:i]
			break
		}
	}
	return r
}
