package text

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/mapping"
)

// Limits of a search.
const (
	DefaultLimit = 10
	MaxLimit     = 1000
	// MaxQueryRunes is how much of a question is searched for; what comes after is not looked at. Visitors may
	// type 500 characters, and each becomes up to two terms.
	MaxQueryRunes = 1000
	// maxTerms is how many different terms of a question are looked up.
	maxTerms = 200
	// maxIdentifierWords bounds how many words of a question are looked up as identifiers.
	maxIdentifierWords = 20
)

// Index is an opened index. It is safe for concurrent use.
type Index struct {
	segments  []postingsSegment // of consecutive passages
	mapping   *mapping.IndexMappingImpl
	table     *table
	synonyms  []synonymGroup
	languages []language
	scratch   sync.Pool
	common    *postingsCache

	mu     sync.RWMutex // held for reading by searches, for writing by Close
	closed bool
}

// language is what is known of the passages in one language.
type language struct {
	tag      string
	analyzer analysis.Analyzer
	count    float64 // passages
	average  float64 // length of one
	heading  float64 // average length of its headings, over those that have one
	title    float64 // the same of its title
	headed   bool    // some have headings
	titled   bool    // some have titles
}

// ErrClosed is returned by searches of an index that was closed.
var ErrClosed = errors.New("text index is closed")

// Open opens the index in dir for reading. It writes nothing, and several may have it open at the same time.
func Open(dir string) (*Index, error) {
	t, err := readTable(dir)
	if err != nil {
		return nil, fmt.Errorf("open text index %s: %w", dir, err)
	}
	im, err := newMapping(t.languages())
	if err != nil {
		return nil, fmt.Errorf("open text index %s: %w", dir, err)
	}
	segments, err := openPostings(dir)
	if err != nil {
		return nil, fmt.Errorf("open text index %s: %w", dir, err)
	}
	x := &Index{segments: segments, mapping: im, table: t, synonyms: newSynonymGroups(t.Synonyms), common: newPostingsCache()}
	x.scratch.New = func() any { return newScores(len(t.Passages), len(segments)) }
	if err := x.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("open text index %s: %w", dir, err), closePostings(segments))
	}
	return x, nil
}

// prepare checks the number of passages and counts the languages.
func (x *Index) prepare() error {
	n := 0
	for _, s := range x.segments {
		n += len(s.numbers)
	}
	if n != len(x.table.Passages) {
		return fmt.Errorf("it has the postings of %d passages, its table %d", n, len(x.table.Passages))
	}
	for _, tag := range x.table.languages() {
		l := language{tag: tag, analyzer: x.mapping.AnalyzerNamed(analyzerOf(tag))}
		if l.analyzer == nil {
			return fmt.Errorf("there is no analyzer %s", analyzerOf(tag))
		}
		l.measure(x.table.Passages)
		x.languages = append(x.languages, l)
	}
	return nil
}

// measure counts the passages of a language and averages their lengths.
func (l *language) measure(passages []entry) {
	headings, titles := 0.0, 0.0
	for _, p := range passages {
		if p.Language != l.tag {
			continue
		}
		l.count++
		l.average += float64(p.Length)
		if p.Heading > 0 {
			headings++
			l.heading += float64(p.Heading)
		}
		if p.Title > 0 {
			titles++
			l.title += float64(p.Title)
		}
	}
	l.headed, l.titled = headings > 0, titles > 0
	l.average = max(1, l.average/max(1, l.count))
	l.heading = max(1, l.heading/max(1, headings))
	l.title = max(1, l.title/max(1, titles))
}

// Close waits for the searches under way and closes the index. Later searches are errors.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	if err := closePostings(x.segments); err != nil {
		return fmt.Errorf("close text index: %w", err)
	}
	return nil
}

// Len is the number of passages.
func (x *Index) Len() int { return len(x.table.Passages) }

// Query is one search. Empty filters let everything through.
type Query struct {
	Text     string
	Language string
	Domains  []string
	Exhibits []string
	Limit    int // DefaultLimit where 0, at most MaxLimit
}

// Hit is one passage found. Score is BM25; comparable within one search only.
type Hit struct {
	ID    string
	Score float64
}

// Search returns the passages that share words with the text, best first; equal scores are ordered by id.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, _, err := x.SearchPreferring(ctx, q, "")
	return hits, err
}

// SearchPreferring is Search, and returns the best passages of one exhibit beside, as if that alone had been asked for. It
// costs one search. An empty exhibit has none.
func (x *Index) SearchPreferring(ctx context.Context, q Query, exhibit string) (all, preferred []Hit, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return nil, nil, ErrClosed
	}
	text := clip(q.Text, MaxQueryRunes)
	if strings.TrimSpace(text) == "" {
		return nil, nil, ctx.Err()
	}
	s := x.scratch.Get().(*scores)
	defer func() {
		s.reset()
		x.scratch.Put(s)
	}()
	for _, l := range x.languages {
		if q.Language != "" && q.Language != l.tag {
			continue
		}
		asked := withSynonyms(terms(text, l.analyzer), text, x.synonyms, l.analyzer)
		if err := x.score(ctx, l, asked, s); err != nil {
			return nil, nil, fmt.Errorf("search text index: %w", err)
		}
	}
	if err := x.scoreIdentifiers(text, q.Language, s); err != nil {
		return nil, nil, fmt.Errorf("search text index: %w", err)
	}
	all = x.best(q, s)
	if exhibit != "" {
		q.Exhibits = []string{exhibit}
		preferred = x.best(q, s)
	}
	return all, preferred, nil
}

// best returns the best of the passages that pass the filters.
func (x *Index) best(q Query, s *scores) []Hit {
	most := limit(q.Limit)
	hits := make([]Hit, 0, min(len(s.touched), 2*most))
	least := 0.0 // what a hit must score to be among the best
	for _, n := range s.touched {
		p := &x.table.Passages[n]
		score := s.total(n, p)
		if score < least || len(q.Domains) > 0 && !slices.Contains(q.Domains, p.Domain) ||
			len(q.Exhibits) > 0 && !slices.Contains(q.Exhibits, p.Exhibit) {
			continue
		}
		hits = append(hits, Hit{p.ID, score})
		if len(hits) == 2*most { // keep the better half
			sortHits(hits)
			hits = hits[:most]
			least = hits[most-1].Score
		}
	}
	sortHits(hits)
	return hits[:min(len(hits), most)]
}

func sortHits(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		if a.Score != b.Score {
			return cmp.Compare(b.Score, a.Score)
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// identifierWords are the words of a text that hold a digit, as label and accession numbers do.
func identifierWords(text string) []string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if strings.ContainsFunc(word, unicode.IsDigit) && len(words) < maxIdentifierWords {
			words = append(words, word)
		}
	}
	return words
}

func limit(n int) int {
	if n <= 0 {
		return DefaultLimit
	}
	return min(n, MaxLimit)
}

// clip cuts a text after n runes.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
