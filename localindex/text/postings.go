package text

import (
	"container/list"
	"fmt"
	"sync"

	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// posting is one passage that has a term, and how often.
type posting struct {
	passage   uint32
	frequency float32
}

// Bounds of the postings that are kept decoded: reading a posting from Bleve takes about 50 ns, and common characters have
// thousands, which nearly every question asks for again.
const (
	keptFrom     = 64      // passages that have a term, for it to be worth keeping
	keptPostings = 500_000 // in all, 8 bytes each
)

// postingsCache keeps the postings of common terms, those used last. It is safe for concurrent use.
type postingsCache struct {
	mu    sync.Mutex
	order *list.List // of cachedTerm, the last used first
	terms map[termKey]*list.Element
	size  int // postings kept
}

type termKey struct{ field, term string }

type cachedTerm struct {
	key      termKey
	postings []posting
}

func newPostingsCache() *postingsCache {
	return &postingsCache{order: list.New(), terms: make(map[termKey]*list.Element)}
}

// get returns the postings of a term. They must not be changed.
func (c *postingsCache) get(k termKey) ([]posting, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.terms[k]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cachedTerm).postings, true
}

// put keeps the postings of a term and drops those that were not used for longest.
func (c *postingsCache) put(k termKey, postings []posting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.terms[k]; ok || len(postings) > keptPostings {
		return
	}
	c.terms[k] = c.order.PushFront(cachedTerm{k, postings})
	c.size += len(postings)
	for c.size > keptPostings {
		last := c.order.Remove(c.order.Back()).(cachedTerm)
		delete(c.terms, last.key)
		c.size -= len(last.postings)
	}
}

// postings returns the passages that have a term in a field. They are good until the next call with the same scores, and
// must not be changed.
func (x *Index) postings(term, field string, s *scores) ([]posting, error) {
	key := termKey{field, term}
	if kept, ok := x.common.get(key); ok {
		return kept, nil
	}
	found := s.postings[:0]
	for i := range x.segments {
		var err error
		if found, err = s.readers[i].read(&x.segments[i], key, found); err != nil {
			return nil, err
		}
	}
	s.postings = found
	if len(found) >= keptFrom {
		x.common.put(key, append([]posting(nil), found...))
	}
	return found, nil
}

// postingsReader reads postings from a segment. It is used again by one search after the other, never by two at once.
type postingsReader struct {
	dictionaries map[string]segment.TermDictionary // by field
	list         segment.PostingsList
	iterator     segment.PostingsIterator
}

// read appends the postings of a term, with the numbers of the passages.
func (r *postingsReader) read(from *postingsSegment, k termKey, found []posting) ([]posting, error) {
	dictionary, ok := r.dictionaries[k.field]
	if !ok {
		var err error
		if dictionary, err = from.Dictionary(k.field); err != nil {
			return found, fmt.Errorf("read terms of field %s: %w", k.field, err)
		}
		if r.dictionaries == nil {
			r.dictionaries = make(map[string]segment.TermDictionary)
		}
		r.dictionaries[k.field] = dictionary
	}
	var err error
	if r.list, err = dictionary.PostingsList([]byte(k.term), nil, r.list); err != nil {
		return found, fmt.Errorf("read postings of term %q: %w", k.term, err)
	}
	if r.list.Count() == 0 { // a list of nothing that was used before is no list to iterate over
		return found, nil
	}
	r.iterator = r.list.Iterator(true, false, false, r.iterator)
	for {
		p, err := r.iterator.Next()
		if err != nil {
			return found, fmt.Errorf("read postings of term %q: %w", k.term, err)
		}
		if p == nil {
			return found, nil
		}
		found = append(found, posting{from.numbers[p.Number()], float32(p.Frequency())})
	}
}
