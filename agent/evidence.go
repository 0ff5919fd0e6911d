package agent

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"docent/agent/internal/words"
	"docent/agent/trace"
	"docent/localindex/gallery"
)

// searchLimit is how many passages one search brings. Sentences are scored one by one, so a passage too many costs
// microseconds and a passage too few an answer.
const searchLimit = 24

// sentence is one sentence of a passage.
type sentence struct {
	text  string
	terms words.Terms
	index int // in its passage
	// listed is set in the list of a hall's exhibits.
	listed bool
}

// candidate is one sentence that may become part of an answer to a question.
type candidate struct {
	sentence
	passage    *passage
	score      float64
	coverage   float64 // share of what is asked that it covers, by itself or by where it stands: 0…1
	own        float64 // share that it covers by itself
	ownNear    float64 // the greatest own of it and the sentences beside it
	fitsItself bool    // it has what the kind of question wants
	fits       bool    // it or a sentence beside it has
}

// passage is one passage under consideration, with its sentences.
type passage struct {
	gallery.Passage
	section   gallery.Section
	order     int         // in its section
	relevance float64     // of the search at hand: 0…1 of its best hit
	terms     words.Terms // of the whole passage
	title     words.Terms // of the section's heading
	keywords  words.Terms // of the section and its exhibit, with the headings above and the exhibit's title
	sentences []sentence
}

// desk is where the evidence of one turn lies. A passage is taken apart once, whichever searches find it.
type desk struct {
	lib    Library
	inHand string
	opened map[string]*passage
	trace  *trace.Recorder
}

func newDesk(lib Library, inHand string, rec *trace.Recorder) *desk {
	return &desk{lib: lib, inHand: inHand, opened: make(map[string]*passage), trace: rec}
}

// gather brings the passages that may answer a question in one language: what the search finds in the domains, and all of
// the exhibits the question is about.
func (d *desk) gather(ctx context.Context, q question, language string, domains []gallery.Domain) ([]*passage, error) {
	text, preferred := q.text, d.inHand
	if len(q.about) > 0 {
		preferred = q.about[0]
	}
	if e, ok := d.lib.Exhibit(preferred); ok && !q.named {
		text += " " + e.Title.In(language)
	}
	for _, u := range q.focus {
		if u.notion != nil && u.notion.house {
			text += " " + u.notion.words // the house has one word for what visitors call by many
		}
	}
	hits, err := d.lib.Search(ctx, Query{Text: text, Language: language, Domains: domains, Exhibit: preferred, Limit: searchLimit})
	if err != nil {
		return nil, fmt.Errorf("search the gallery: %w", err)
	}
	best := 0.0
	noted := trace.Search{Text: text, Language: language}
	for _, h := range hits {
		best = max(best, h.Score)
		noted.Hits = append(noted.Hits, trace.Hit{Passage: h.Passage.ID, Score: h.Score})
	}
	d.trace.Search(noted)
	var out []*passage
	add := func(p *passage) {
		if p.section.Language == language && !slices.Contains(out, p) {
			p.relevance = 0
			out = append(out, p)
		}
	}
	for _, h := range hits {
		p := d.open(h.Passage, h.Section)
		add(p)
		if best > 0 {
			p.relevance = h.Score / best
		}
	}
	for _, id := range q.about {
		for _, s := range d.lib.Sections(id, language) {
			for _, p := range s.Passages {
				add(d.open(p, s.Section))
			}
		}
	}
	return out, ctx.Err()
}

// open takes a passage apart.
func (d *desk) open(p gallery.Passage, s gallery.Section) *passage {
	if out, ok := d.opened[p.ID]; ok {
		return out
	}
	out := &passage{Passage: p, section: s, order: placeOf(p.ID), terms: words.Extract(p.Text)}
	out.title = words.Extract(s.Heading)
	keywords := slices.Concat(s.Path, s.Keywords)
	if e, ok := d.lib.Exhibit(s.Exhibit); ok {
		keywords = slices.Concat(keywords, e.Keywords, []string{e.Title.In(s.Language)})
	}
	out.keywords = words.Extract(lines(keywords))
	list := len(s.Text)
	if at := listLine.FindStringIndex(s.Text); at != nil && strings.HasPrefix(s.ID, "hall/") {
		list = at[0]
	}
	for i, text := range words.Sentences(p.Text) {
		listed := strings.Index(s.Text, text) >= list
		out.sentences = append(out.sentences, sentence{text: text, terms: words.Extract(text), index: i, listed: listed})
	}
	d.opened[p.ID] = out
	return out
}

func lines(texts []string) string { return strings.Join(texts, "\n") }

// placeOf reads a passage's place in its section from the number its id ends with.
func placeOf(id string) int {
	n, err := strconv.Atoi(id[strings.LastIndex(id, "#")+1:])
	if err != nil {
		return 0
	}
	return n
}

// facts reports whether the passage tells an exhibit's catalogue facts: a table put into sentences.
func (p *passage) facts() bool { return strings.HasSuffix(p.section.ID, factsSuffix) }

// service reports whether it tells of a service of the house; its first sentence is where that is.
func (p *passage) service() bool { return strings.HasPrefix(p.section.ID, "service/") }

// prose reports whether its sentences go on from each other; facts and rules stand each for itself.
func (p *passage) prose() bool { return !p.facts() && p.section.Domain != gallery.DomainVenue }
