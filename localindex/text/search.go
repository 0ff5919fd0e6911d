package text

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

// Limits of a search.
const (
	DefaultLimit = 10
	MaxLimit     = 200
	// MaxQueryRunes is how much of a question is searched for; what comes after is not looked at. Visitors may
	// type 500 characters, and each becomes up to two terms.
	MaxQueryRunes = 1000
)

// spare is how many hits are fetched beyond those wanted, so that equal scores are ordered by id, not by where they
// happen to lie in the index. (Bleve can order by id, too, and then looks up the id of everything that matches.)
const spare = 20

// How much a match in a field adds beside the match in the whole text.
const (
	boostTitle      = 0.5
	boostHeading    = 0.5
	boostIdentifier = 4
)

// Index is an opened index. It is safe for concurrent use.
type Index struct {
	bleve bleve.Index
}

// Open opens the index in dir for reading. It writes nothing, and several may have it open at the same time.
func Open(dir string) (*Index, error) {
	idx, err := bleve.OpenUsing(dir, map[string]any{
		"read_only":    true,
		"bolt_timeout": "2s", // a lock held by a writer is an error, not an endless wait
	})
	if err != nil {
		return nil, fmt.Errorf("open text index %s: %w", dir, err)
	}
	return &Index{bleve: idx}, nil
}

// Close waits for the searches under way and closes the index. Later searches are errors.
func (x *Index) Close() error {
	if err := x.bleve.Close(); err != nil {
		return fmt.Errorf("close text index: %w", err)
	}
	return nil
}

// Len is the number of passages.
func (x *Index) Len() (int, error) {
	n, err := x.bleve.DocCount()
	if err != nil {
		return 0, fmt.Errorf("count passages of text index: %w", err)
	}
	return int(n), nil
}

// Query is one search. Empty filters let everything through.
type Query struct {
	Text     string
	Language string
	Domains  []string
	Exhibits []string
	Limit    int // DefaultLimit where 0, at most MaxLimit
}

// Hit is one passage found. Score is BM25 as Bleve computes it, comparable within one search only.
type Hit struct {
	ID    string
	Score float64
}

// Search returns the passages that share words with the text, best first; equal scores are ordered by id.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	text := clip(q.Text, MaxQueryRunes)
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	wanted := limit(q.Limit)
	req := bleve.NewSearchRequestOptions(bleveQuery(text, q), wanted+spare, 0, false)
	res, err := x.bleve.SearchInContext(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("search text index: %w", err)
	}
	hits := make([]Hit, len(res.Hits))
	for i, h := range res.Hits {
		hits[i] = Hit{ID: h.ID, Score: h.Score}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return hits[:min(len(hits), wanted)], nil
}

func bleveQuery(text string, q Query) query.Query {
	b := bleve.NewBooleanQuery()
	b.AddMust(match(fieldAll, text, 1))
	b.AddShould(match(fieldTitle, text, boostTitle), match(fieldHeading, text, boostHeading))
	for _, word := range identifierWords(text) {
		b.AddShould(match(fieldIdentifiers, word, boostIdentifier))
	}
	var filters []query.Query
	if q.Language != "" {
		filters = append(filters, term(fieldLanguage, q.Language))
	}
	if len(q.Domains) > 0 {
		filters = append(filters, anyOf(fieldDomain, q.Domains))
	}
	if len(q.Exhibits) > 0 {
		filters = append(filters, anyOf(fieldExhibit, q.Exhibits))
	}
	if len(filters) > 0 {
		b.AddFilter(bleve.NewConjunctionQuery(filters...))
	}
	return b
}

func match(field, text string, boost float64) *query.MatchQuery {
	m := bleve.NewMatchQuery(text)
	m.SetField(field)
	m.SetBoost(boost)
	return m
}

func term(field, value string) *query.TermQuery {
	t := bleve.NewTermQuery(value)
	t.SetField(field)
	return t
}

func anyOf(field string, values []string) query.Query {
	terms := make([]query.Query, len(values))
	for i, v := range values {
		terms[i] = term(field, v)
	}
	return bleve.NewDisjunctionQuery(terms...)
}

// maxIdentifierWords bounds how many words of a question are looked up as identifiers.
const maxIdentifierWords = 20

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
