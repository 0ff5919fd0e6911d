package agent

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"docent/agent/internal/words"
	"docent/agent/plan"
	"docent/agent/tool"
	"docent/localindex/gallery"
)

// found is what the gallery has on a turn: the answer made of its own sentences, and the evidence it was made from.
type found struct {
	language string // of the answer
	question question
	passages []*passage // evidence in the order it is worth, for a model to write from
	picked   []*candidate
	in       string // language of the sentences picked
	answer   answer
	facts    []tool.Fact  // that tools told, each resting on a passage
	parts    [][]*passage // evidence of each part of a compound question
	warning  string       // what could not be looked up, or what the gallery does not have; said after the answer, by whomever it is written
}

// find answers a turn with the gallery's own sentences.
func (s *shelf) find(ctx context.Context, d *desk, t Turn, language string) (found, error) {
	if t.Explain {
		return s.findExplanation(d, t.Exhibit, language, t.Level, 1, ""), nil
	}
	q := s.analyse(t.Question, language, t.Exhibit)
	if q.overview() {
		told := ""
		if asksMore.MatchString(words.Fold(t.Question)) {
			for _, x := range t.History {
				told += x.Answer + "\n"
			}
		}
		f := s.findExplanation(d, q.about[0], language, t.Level, overviewShare, told)
		if !f.answer.answered && told != "" {
			f = s.findExplanation(d, q.about[0], language, t.Level, overviewShare, "")
		}
		f.question = q
		return f, nil
	}
	if q.asksHouse() {
		return s.findHouse(d, q, language), nil
	}
	for _, in := range languagesFrom(language, s.languages) {
		if in != language && d.tells(q, language) {
			continue // its text in the visitor's language has nothing on it, and the others are translations
		}
		for _, domains := range narrowings(q) {
			passages, err := d.gather(ctx, q, in, domains)
			if err != nil {
				return found{}, err
			}
			best, ranked := s.rank(q, passages, t.Exhibit, t.Level)
			if best == nil {
				continue
			}
			picked := choose(q, best, ranked)
			a := compose(d.lib, language, picked)
			a.introduce(language, in)
			return found{language: language, question: q, passages: evidence(a, ranked), picked: picked, in: in, answer: a}, nil
		}
	}
	return found{language: language, question: q, answer: nothing(language, phrasesIn(language).nothing)}, nil
}

// tells reports whether there is a text, beside the catalogue's facts, in a language on every exhibit that a question is
// about.
func (d *desk) tells(q question, language string) bool {
	return len(q.about) > 0 && !slices.ContainsFunc(q.about, func(id string) bool {
		return !slices.ContainsFunc(d.lib.Sections(id, language), func(s Section) bool { return !strings.HasSuffix(s.ID, factsSuffix) })
	})
}

// narrowings are the domains to search one after the other until one answers: those the question speaks of, then all.
func narrowings(q question) [][]gallery.Domain {
	if domains := plan.DomainsOf(q.text); len(domains) > 0 && !q.named {
		return [][]gallery.Domain{domains, nil}
	}
	return [][]gallery.Domain{nil}
}

// clearlyBetter is by how much an answer from a question's second scope must beat one from its first.
const clearlyBetter = 0.15

// rank scores the passages in the question's scopes. It returns the sentence that answers best, nil where none does,
// and all of its scope. Where two scopes have an answer, the first one is preferred unless the second is clearly
// better; the whole gallery is looked through only where nothing nearer answers.
func (s *shelf) rank(q question, passages []*passage, inHand string, level gallery.Level) (best *candidate, ranked []*candidate) {
	for _, in := range q.scopes {
		if in == scopeAll && best != nil {
			break
		}
		all := s.score(q, in, passages, inHand, level)
		if c := answering(q, in, all); c != nil && (best == nil || c.score > best.score+clearlyBetter) {
			best, ranked = c, all
		}
	}
	return best, ranked
}

// asksMore matches a wish to hear what was not told yet.
var asksMore = regexp.MustCompile(`\bmore\b|\belse\b|\b(go on|continue|keep going)\b|继续|还有|多[讲说]|再[讲说]|接着`)

// findExplanation explains an exhibit, without what stands in told.
func (s *shelf) findExplanation(d *desk, exhibit, language string, level gallery.Level, share float64, told string) found {
	f := found{language: language, question: question{language: language, about: []string{exhibit}}}
	for _, in := range languagesFrom(language, s.languages) {
		if exhibit == "" {
			break
		}
		if picked := d.explain(exhibit, in, level, share, told); len(picked) > 0 {
			f.answer = compose(d.lib, language, picked)
			f.answer.introduce(language, in)
			f.passages, f.picked, f.in = f.answer.passages, picked, in
			return f
		}
	}
	f.answer = nothing(language, phrasesIn(language).noExhibit)
	return f
}

// houseSentences is how many sentences tell what the house is.
const houseSentences = 3

// findHouse tells what the house is: by the first text of its own about itself, else by its plan.
func (s *shelf) findHouse(d *desk, q question, language string) found {
	for _, in := range languagesFrom(language, s.languages) {
		var best *passage
		for _, sec := range d.lib.Sections("", in) {
			if sec.Domain != gallery.DomainVenue || sec.Exhibit != "" || len(sec.Passages) == 0 {
				continue
			}
			if strings.HasPrefix(sec.ID, "documents/") {
				best = d.open(sec.Passages[0], sec.Section)
				break
			}
			if strings.HasPrefix(sec.ID, "gallery/") {
				best = d.open(sec.Passages[0], sec.Section)
			}
		}
		if best == nil {
			continue
		}
		var picked []*candidate
		for _, one := range best.sentences[:min(len(best.sentences), houseSentences)] {
			picked = append(picked, &candidate{sentence: one, passage: best})
		}
		a := compose(d.lib, language, picked)
		a.introduce(language, in)
		return found{language: language, question: q, passages: a.passages, picked: picked, in: in, answer: a}
	}
	return found{language: language, question: q, answer: nothing(language, phrasesIn(language).nothing)}
}

// introduce says that what follows is in another language than the answer.
func (a *answer) introduce(language, in string) {
	if language != in {
		a.sentences = slices.Insert(a.sentences, 0, phrasesIn(language).only(in))
	}
}

func nothing(language, sentence string) answer {
	return answer{language: language, sentences: []string{sentence}}
}

// languagesFrom puts a language before the others there are.
func languagesFrom(first string, all []string) []string {
	out := []string{first}
	for _, l := range all {
		if l != first {
			out = append(out, l)
		}
	}
	return out
}

// evidenceLimit is how many passages a model is given.
const evidenceLimit = 6

// evidence lists the passages of an answer, then those of the next best sentences.
func evidence(a answer, ranked []*candidate) []*passage {
	out := slices.Clone(a.passages)
	for _, c := range ranked {
		if len(out) >= evidenceLimit || c.coverage < minCoverage {
			break
		}
		if !slices.Contains(out, c.passage) {
			out = append(out, c.passage)
		}
	}
	return out
}
