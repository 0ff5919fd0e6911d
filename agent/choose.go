package agent

import (
	"cmp"
	"slices"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// How much it counts where a word of the question stands.
const (
	inSentence = 1.0
	inHeading  = 0.8
	inPassage  = 0.5
	synonym    = 0.85 // factor where only another word of the same notion stands there
)

// Bonuses on a sentence's score, which without them is its coverage, 0…1.
const (
	bonusFits      = 0.25 // it has what the kind of question wants: a name, a date, a number
	bonusInHand    = 0.15
	bonusRelevance = 0.10 // times the search's relevance, 0…1
	bonusExact     = 0.05
	bonusFirst     = 0.05 // it opens its section
	bonusDomain    = 0.20 // its text is of the kind the question's notions belong to
	malusLevel     = 0.15 // its section is written for others
)

// minCoverage is the share of what a question asks, by weight, that the best sentence must cover with its heading and
// passage. Below it the gallery has nothing on the question.
const minCoverage = 0.6

// Limits of an answer put together from sentences.
const (
	maxSentences   = 4
	minShareOfBest = 0.62 // a further sentence scores at least this share of the best
	minFurther     = 0.45 // and covers at least this much
)

// score scores every sentence of the passages, best first.
func (s *shelf) score(q question, passages []*passage, inHand string, level gallery.Level) []*candidate {
	var out []*candidate
	total := q.weight()
	for _, p := range passages {
		if !s.belongs(q, p) {
			continue
		}
		sentences := make([]*candidate, len(p.sentences))
		for i, text := range p.sentences {
			c := &candidate{text: text, terms: words.Extract(text), passage: p, index: i, coverage: 1}
			if total > 0 {
				c.coverage = covered(q, c) / total
			}
			sentences[i] = c
		}
		for i, c := range sentences {
			own := fits(q, c.text, c.terms)
			c.fits = own || i > 0 && fits(q, sentences[i-1].text, sentences[i-1].terms) ||
				i+1 < len(sentences) && fits(q, sentences[i+1].text, sentences[i+1].terms)
			c.score = c.coverage + bonuses(q, c, own, inHand, level)
		}
		out = append(out, sentences...)
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(b.score, a.score) })
	return out
}

// belongs reports whether a passage may speak about what the question is about: it is of that exhibit, or names it.
func (s *shelf) belongs(q question, p *passage) bool {
	if len(q.about) == 0 || slices.Contains(q.about, p.section.Exhibit) {
		return true
	}
	for _, n := range s.names {
		if slices.Contains(q.about, n.exhibit) && n.in(p.terms) {
			return true
		}
	}
	return false
}

// in reports whether a text has the whole title.
func (n name) in(t words.Terms) bool {
	if n.han != "" {
		return unit{han: []string{n.han}}.in(t)
	}
	for _, stem := range n.stems {
		if t.Stems[stem] == 0 {
			return false
		}
	}
	return len(n.stems) > 0
}

// covered is the weight of what is asked that a sentence has, itself or by where it stands.
func covered(q question, c *candidate) float64 {
	sum := 0.0
	for _, u := range q.focus {
		share := 0.0
		switch {
		case u.in(c.terms):
			share = inSentence
		case u.in(c.passage.heading):
			share = inHeading
		case u.in(c.passage.terms):
			share = inPassage
		}
		if u.notion != nil && !u.exactly().in(c.terms) {
			share *= synonym
		}
		sum += share * u.weight
	}
	return sum
}

// exactly is the unit with only the word as it was asked.
func (u unit) exactly() unit {
	return unit{stems: []string{u.text}, han: []string{u.text}}
}

func bonuses(q question, c *candidate, fits bool, inHand string, level gallery.Level) float64 {
	sum := bonusRelevance * c.passage.relevance
	if fits && q.kind != kindWhat && q.kind != kindHow {
		sum += bonusFits
	}
	if inHand != "" && c.passage.section.Exhibit == inHand {
		sum += bonusInHand
	}
	if c.passage.exact {
		sum += bonusExact
	}
	if c.index == 0 && c.passage.order <= 1 {
		sum += bonusFirst
	}
	if slices.Contains(q.domains, c.passage.section.Domain) {
		sum += bonusDomain
	}
	if !suits(c.passage.section.Level, level) {
		sum -= malusLevel
	}
	return sum
}

// suits reports whether a section's level is right for a visitor's.
func suits(section, visitor gallery.Level) bool {
	if visitor == "" {
		visitor = gallery.LevelGeneral
	}
	return section == "" || section == gallery.LevelGeneral || section == visitor
}

// answerable reports whether the candidates, best first, answer the question: the best covers enough of what is
// asked, and where a name, a date or a number is asked for, there is one.
func answerable(q question, candidates []*candidate) bool {
	if len(candidates) == 0 || len(q.focus) == 0 && len(q.about) == 0 {
		return false
	}
	best := candidates[0]
	if best.coverage < minCoverage {
		return false
	}
	switch q.kind {
	case kindWho, kindWhen, kindHowMany:
		return best.fits
	}
	return true
}

// choose picks the sentences of an answer from the candidates, best first: no near duplicates, each readable without
// what it leaves out, and orders them by source, then by where they stand in it.
func choose(candidates []*candidate) []*candidate {
	best := candidates[0]
	var out []*candidate
	for _, c := range candidates {
		if len(out) >= maxSentences || c.score < minShareOfBest*best.score {
			break
		}
		if c.coverage < minFurther && c != best || repeats(c, out) {
			continue
		}
		if before := before(c, candidates); before != nil && startsByPointing(c.text) && !slices.Contains(out, before) {
			if len(out)+2 > maxSentences+1 {
				continue
			}
			out = append(out, before)
		}
		out = append(out, c)
	}
	if len(out) == 1 {
		if next := after(best, candidates); next != nil && !repeats(next, out) {
			out = append(out, next)
		}
	}
	return readable(out)
}

// repeats reports whether a sentence says what one of the others says: most of the shorter one's terms stand in the
// longer one.
func repeats(c *candidate, others []*candidate) bool {
	return slices.ContainsFunc(others, func(o *candidate) bool {
		return o == c || overlap(c.terms, o.terms) > 0.7
	})
}

// overlap is the share of the smaller text's distinct terms that the other has too.
func overlap(a, b words.Terms) float64 {
	as, bs := a.Distinct(), b.Distinct()
	if len(as) > len(bs) {
		as, bs = bs, as
	}
	if len(as) == 0 {
		return 0
	}
	n := 0
	for t := range as {
		if bs[t] {
			n++
		}
	}
	return float64(n) / float64(len(as))
}

func before(c *candidate, all []*candidate) *candidate { return beside(c, all, -1) }
func after(c *candidate, all []*candidate) *candidate  { return beside(c, all, 1) }

func beside(c *candidate, all []*candidate, step int) *candidate {
	for _, o := range all {
		if o.passage == c.passage && o.index == c.index+step {
			return o
		}
	}
	return nil
}

// readable orders sentences by source, in the order their best sentence was picked, then by their place in it.
func readable(picked []*candidate) []*candidate {
	rank := make(map[string]int)
	for i, c := range picked {
		if _, ok := rank[c.passage.section.ID]; !ok {
			rank[c.passage.section.ID] = i
		}
	}
	out := slices.Clone(picked)
	slices.SortStableFunc(out, func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(rank[a.passage.section.ID], rank[b.passage.section.ID]),
			cmp.Compare(a.passage.order, b.passage.order),
			cmp.Compare(a.index, b.index),
		)
	})
	return out
}
