package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// How much it counts where a word of the question stands.
const (
	inSentence = 1.0
	inHeading  = 0.8 // of the sentence's section
	inKeywords = 0.7 // of its section or exhibit
	inPassage  = 0.5
	synonym    = 0.85 // factor where only another word of the same notion stands there
	madeBy     = 0.70 // share where the catalogue facts name the maker of what was discovered
)

// Bonuses on a sentence's score, which without them is its coverage, 0…1.
const (
	bonusFits      = 0.25 // it has what the kind of question wants: a name, a date, a number, a place
	bonusBeside    = 0.10 // times how much of the question it has close to that
	bonusDensity   = 0.30 // times the share of its words that the question has
	bonusInHand    = 0.10
	bonusRelevance = 0.10 // times the search's relevance, 0…1
	bonusHeading   = 0.20 // times the share of the question its heading has, times the share of the heading that is asked
	bonusAsked     = 0.25 // its heading asks what the visitor asks, and nothing else
	bonusRules     = 0.15 // it is a rule of the house, where it was asked what is allowed
	bonusFirst     = 0.03 // it opens its section
	bonusCatalogue = 0.60 // it is the catalogue's own word on what is asked: who made it, from when it is
	malusSpecial   = 0.20 // it tells of a special day, and the usual hours are asked for
	malusLevel     = 0.25 // its section is written for others
	malusMaterials = 0.30 // what it is made of is only half an answer to how it was made
	malusFacts     = 0.15 // it is of the catalogue facts, and the question does not ask for such
)

// minCoverage is the share of what a question asks, by weight, that the best sentence must cover with its heading and
// passage. Below it the gallery has nothing on the question. DESIGN.md has the measurement it was chosen by.
const minCoverage = 0.65

// minFarCoverage is the share that the best sentence must cover by itself where it is far from what the visitor looks
// at or asks for: of another exhibit than the one in hand, of an exhibit where the house was asked for, or in another
// language than the question.
const minFarCoverage = 0.8

// Limits of an answer put together from sentences.
const (
	maxSentences   = 3    // chosen for themselves; what they lean on comes on top
	maxTogether    = 5    // in the whole answer
	minShareOfBest = 0.80 // a further sentence scores at least this share of the best
	minOwnShare    = 0.6  // and has itself at least this share of the best one's words of the question
)

// score scores the sentences of the passages in a scope, best first.
func (s *shelf) score(q question, in scope, passages []*passage, inHand string, level gallery.Level) []*candidate {
	var out []*candidate
	for _, p := range passages {
		if !s.belongs(q, in, p) || !q.sameSubject(p) || !q.hasPairs(p) {
			continue
		}
		sentences := make([]*candidate, len(p.sentences))
		for i, s := range p.sentences {
			sentences[i] = newCandidate(q, p, s)
		}
		for _, c := range sentences {
			c.fitsItself = s.fits(q, c)
		}
		for i, c := range sentences {
			for _, beside := range sentences[max(0, i-1):min(len(sentences), i+2)] {
				if q.kind != kindHowMany || beside == c || beside.own > 0 { // a number of something else counts nothing here
					c.fits = c.fits || beside.fitsItself
				}
				c.ownNear = max(c.ownNear, beside.own)
			}
			c.fits = c.fits || q.kind == kindWhere && p.service() && sentences[0].fitsItself // it opens with where it is
			c.score = c.coverage + bonuses(q, c, inHand, level)
		}
		out = append(out, slices.DeleteFunc(sentences, func(c *candidate) bool { return q.outOfPlace(c) })...)
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(b.score, a.score) })
	return out
}

func newCandidate(q question, p *passage, s sentence) *candidate {
	c := &candidate{sentence: s, passage: p, coverage: 1, own: 1}
	if total := q.weight(); total > 0 {
		c.coverage, c.own = covered(q, c)
		c.coverage /= total
		c.own /= total
	}
	if q.asksCatalogue(c) {
		c.coverage, c.own = 1, 1 // it is the answer, in whatever words it was asked for
	}
	return c
}

// belongs reports whether a passage is in the scope.
func (s *shelf) belongs(q question, in scope, p *passage) bool {
	switch in {
	case scopeHouse:
		return p.section.Exhibit == ""
	case scopeAbout:
		return slices.Contains(q.about, p.section.Exhibit) || slices.ContainsFunc(s.names, func(n name) bool {
			return slices.Contains(q.about, n.exhibit) && n.in(p.terms)
		})
	}
	return true
}

// covered is the weight of what is asked that a sentence has: by itself or by where it stands, and by itself alone.
func covered(q question, c *candidate) (sum, own float64) {
	for _, u := range q.focus {
		here := u.degree(c.terms)
		if here == 0 && c.passage.facts() && u.notion != nil && u.notion.id == "discover" && makers.in(c.terms) {
			here = madeBy
		}
		if here == 0 && u.notion != nil && u.notion.id == "price" && tellsPrice(c.text) {
			here = synonym
		}
		share := max(inSentence*here, inHeading*u.degree(c.passage.title), inKeywords*u.degree(c.passage.keywords), inPassage*u.degree(c.passage.terms))
		sum += share * u.weight
		own += inSentence * here * u.weight
	}
	return sum, own
}

// degree is how well a text has a unit: 1 for its word, less for another word of its notion, 0 for none.
func (u unit) degree(t words.Terms) float64 {
	switch {
	case !u.in(t):
		return 0
	case u.notion == nil, (unit{stems: u.asked, han: u.asked}).in(t):
		return 1
	}
	return synonym
}

// asksAge matches a question that tells somebody's age, and tellsAge a text for whom something is.
var (
	asksAge  = regexp.MustCompile(`\b(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|eleven)[- ]?years?[- ]olds?\b|\b(is|are|aged|turned) \d{1,2}\b|\d{1,2}岁|[一二三四五六七八九十]岁`)
	tellsAge = regexp.MustCompile(`(?i)\bfrom \d{1,2} to \d{1,2}\b|\b(under|over|above|below) \d{1,2}\b|\d岁`)
)

func bonuses(q question, c *candidate, inHand string, level gallery.Level) float64 {
	sum := bonusRelevance*c.passage.relevance + bonusDensity*density(q, c.terms)
	if q.kind != kindWhat && q.kind != kindHow && c.fitsItself {
		sum += bonusFits + bonusBeside*beside(q, c.text)
	}
	if asksAge.MatchString(words.Fold(q.text)) && tellsAge.MatchString(c.text) {
		sum += bonusFits
	}
	if inHand != "" && c.passage.section.Exhibit == inHand {
		sum += bonusInHand
	}
	if c.index == 0 && c.passage.order <= 1 {
		sum += bonusFirst
	}
	if total := q.weight(); total > 0 {
		sum += bonusHeading * q.weightIn(c.passage.title) / total * density(q, c.passage.title)
	}
	if (q.kind == kindHow || q.kind == kindWhy) && headed(q, c) && c.passage.prose() && contentWords(c.passage.title) <= len(q.focus)+1 {
		sum += bonusAsked
	}
	if strings.HasSuffix(c.passage.section.ID, "/rules") && asksLeave.MatchString(words.Fold(q.text)) {
		sum += bonusRules
	}
	if strings.HasSuffix(c.passage.section.ID, "/closures") && q.only("hours") && asksClock.MatchString(words.Fold(q.text)) {
		sum -= malusSpecial
	}
	if c.passage.facts() && q.kind == kindHow {
		sum -= malusMaterials
	}
	if c.passage.facts() && !q.asksFacts() {
		sum -= malusFacts
	}
	if q.asksCatalogue(c) {
		sum += bonusCatalogue
	}
	if !suits(c.passage.section.Level, level) {
		sum -= malusLevel
	}
	return sum
}

// asksLeave matches questions for what visitors may do.
var asksLeave = regexp.MustCompile(`^(can|may|could|am|are) (i|we)\b|\ballowed\b|(可以|能|允许|准).*吗`)

// asksToDo matches those that no text on an exhibit answers.
var asksToDo = regexp.MustCompile(`^(may|am|are) (i|we)\b|\ballowed to\b|允许|准许`)

// contentWords is about how many words a text has that are no function words; two Chinese characters are one.
func contentWords(t words.Terms) int { return len(t.Latin) + len([]rune(t.Han))/2 }

// shortText is how many words a text is taken to have at least, so that a fragment is not the best of answers.
const shortText = 5

// density is the share of a text's words that the question asks for: a short sentence to the point is better than a
// long one that has the words among many.
func density(q question, t words.Terms) float64 {
	n := max(contentWords(t), shortText)
	has := 0
	for _, u := range q.focus {
		if u.in(t) {
			has++
		}
	}
	return min(1, float64(has)/float64(n))
}

// suits reports whether a section's level is right for a visitor's.
func suits(section, visitor gallery.Level) bool {
	if visitor == "" {
		visitor = gallery.LevelGeneral
	}
	return section == "" || section == gallery.LevelGeneral || section == visitor
}

// answering returns the best of the candidates that answers the question, nil where none does: it covers enough of
// what is asked, and where a name, a date, a number or a place is asked for, there is one in it or beside it.
func answering(q question, in scope, candidates []*candidate) *candidate {
	if len(q.focus) == 0 && (len(q.about) == 0 || !q.kind.strict() && q.kind != kindWhy && asksPerson.MatchString(words.Fold(q.text)) || q.kind == kindHowMany || q.kind == kindHowLong) {
		return nil // it asks for nothing
	}
	for _, c := range candidates {
		far := in == scopeAll && (len(q.about) > 0 || q.house) || c.passage.section.Language != q.language
		switch {
		case c.passage.section.Language != q.language && in != scopeAbout && !q.hasName(c.terms):
		case c.coverage < minCoverage, far && c.own < minFarCoverage:
		case q.vague() && q.weightIn(c.passage.title) == 0 && q.weightIn(c.passage.keywords) == 0:
		case q.kind.strict() && (!c.fits || c.ownNear == 0 && q.weightIn(c.passage.title) == 0):
		default:
			return c
		}
	}
	return nil
}

// choose picks the sentences of an answer: the best one that answers and further ones of the candidates, best first. No
// near duplicates, each readable without what it leaves out; ordered by source, then by where they stand in it.
func choose(q question, best *candidate, candidates []*candidate) []*candidate {
	if opening := openingOf(q, best, candidates); opening != nil {
		if q.howMade() {
			opening = withMaterials(q, opening, candidates)
		}
		return opening
	}
	out := []*candidate{}
	if q.kind.strict() && !best.fitsItself {
		for _, step := range []int{1, -1} {
			if next := neighbour(best, candidates, step); next != nil && next.fitsItself {
				out = append(out, next) // what the best one only leads up to
				break
			}
		}
	}
	if at := slices.IndexFunc(candidates, func(c *candidate) bool { return c.passage == best.passage && c.index == 0 }); at >= 0 && len(out) == 0 && !best.fitsItself && q.kind == kindWhere && best.passage.service() {
		out = append(out, candidates[at])
	}
	if asksAge.MatchString(words.Fold(q.text)) && !tellsAge.MatchString(best.text) {
		if at := slices.IndexFunc(candidates, func(c *candidate) bool { return c.passage == best.passage && tellsAge.MatchString(c.text) }); at >= 0 {
			return []*candidate{best, candidates[at]} // for whom it is, of what was asked for
		}
	}
	candidates = slices.Concat([]*candidate{best}, candidates)
	for chosen, i := 0, 0; i < len(candidates) && chosen < maxSentences; i++ {
		c := candidates[i]
		if c.score < minShareOfBest*best.score {
			break
		}
		if c != best && (c.own < minOwnShare*best.own || c.own == 0 || q.kind.strict() && !c.fitsItself) || repeats(c, out) {
			continue
		}
		if q.kind == kindHowMany && beside(q, best.text) > 0 && c != best && beside(q, c.text) == 0 && !q.notion("price") {
			continue
		}
		if headed(q, best) && !headed(q, c) && c.passage.section.ID != best.passage.section.ID {
			continue
		}
		leans := leansOn(c, candidates, out)
		if len(out)+len(leans)+1 > maxTogether {
			continue
		}
		out = append(append(out, leans...), c)
		chosen++
	}
	if q.howMade() {
		out = withMaterials(q, out, candidates)
	}
	if next := neighbour(best, candidates, 1); len(out) == 1 && next != nil && best.passage.prose() && !repeats(next, out) {
		out = append(out, next)
	}
	return readable(out)
}

// headed reports whether the heading of a sentence's section has all that is asked: that section is about it, where
// another one only mentions it.
func headed(q question, c *candidate) bool {
	total := q.weight()
	return total > 0 && q.weightIn(c.passage.title) >= total
}

// openingOf is the opening of a section whose heading asks what the visitor asks, down to the sentence that answers
// best: such a section is the answer, and begins at its beginning. It is nil for questions of one fact.
func openingOf(q question, best *candidate, candidates []*candidate) []*candidate {
	if q.kind.strict() || q.kind == kindWhat || q.kind == kindDefine || !headed(q, best) || !best.passage.prose() {
		return nil
	}
	most := maxSentences
	if best.passage.order <= 1 && best.index < maxTogether {
		most = max(most, best.index+1)
	}
	out := slices.DeleteFunc(slices.Clone(candidates), func(c *candidate) bool {
		return c.passage.section.ID != best.passage.section.ID || c.passage.order > 1 || c.index >= most
	})
	if len(out) == 0 {
		return nil // only a later passage of the section was found
	}
	return readable(out)
}

// withMaterials puts what the catalogue says an exhibit is made of to the end.
func withMaterials(q question, picked, candidates []*candidate) []*candidate {
	for _, c := range candidates {
		if c.passage.facts() && materialLine.MatchString(c.text) && slices.Contains(q.about, c.passage.section.Exhibit) && !slices.Contains(picked, c) && len(picked) < maxTogether {
			return append(picked, c)
		}
	}
	return picked
}

// hasPairs reports whether a passage has the question's pairs of a word and a number.
func (q question) hasPairs(p *passage) bool {
	return len(q.pairs) == 0 || !slices.ContainsFunc(q.pairs, func(r *regexp.Regexp) bool { return !r.MatchString(words.Fold(p.Text)) })
}

// whereElse matches questions for other places than the one where an exhibit hangs.
var whereElse = regexp.MustCompile(`^where (has|have|had)\b|\bwhere else\b|\bbeen (used|seen|found|shown|built)\b`)

// listLine opens the list of what a hall shows.
var listLine = regexp.MustCompile(`It shows |这里展出：`)

// outOfPlace reports whether a sentence cannot be an answer for where it stands: the list of a hall's exhibits tells
// only where they are, that of the tickets only prices, and the catalogue's facts no reasons, and how it was made only by its materials.
func (q question) outOfPlace(c *candidate) bool {
	if c.listed {
		return q.kind != kindWhere && !q.notion("hall")
	}
	if q.kind == kindHowMany && !q.notion("price") && strings.HasSuffix(c.passage.section.ID, "/tickets") {
		return true // ages and prices count no visitors
	}
	if q.kind == kindHowMany && q.notion("price") && slices.ContainsFunc(q.focus, func(u unit) bool { return u.of("food") && !u.worded(c) }) {
		return true // free water does not make coffee free
	}
	if asksToDo.MatchString(words.Fold(q.text)) && len(q.about) == 0 && c.passage.section.Domain == gallery.DomainExhibit {
		return true
	}
	if !c.passage.facts() {
		return false
	}
	switch q.kind {
	case kindWhy:
		return true
	case kindWhere:
		return whereElse.MatchString(words.Fold(q.text)) || slices.ContainsFunc(q.focus, func(u unit) bool { return u.notion != nil && u.notion.id != "hall" }) // where it hangs is not where else it is used
	case kindHow:
		return !materialLine.MatchString(c.text)
	}
	return false
}

// maxLean is how many sentences before it one may lean on.
const maxLean = 2

// leansOn returns the sentences before c that it cannot be read without, as far as they are not chosen yet.
func leansOn(c *candidate, all, chosen []*candidate) []*candidate {
	var out []*candidate
	for len(out) < maxLean && startsByPointing(c.text) {
		c = neighbour(c, all, -1)
		if c == nil || slices.Contains(chosen, c) {
			break
		}
		out = append(out, c)
	}
	return out
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

// neighbour returns the sentence step places after c in its passage, nil where there is none.
func neighbour(c *candidate, all []*candidate, step int) *candidate {
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
