package text

import (
	"container/list"
	"context"
	"sync"

	index "github.com/blevesearch/bleve_index_api"
)

// posting is one passage that has a term, and how often.
type posting struct {
	passage   uint32
	frequency float32
}

// Bounds of the postings that are kept decoded: reading a posting from Bleve takes about 50 ns, and common characters have
// thousands, which nearly every question asks for again.
const (
	keptFrom     = 256     // passages that have a term, for it to be worth keeping
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
func (x *Index) postings(ctx context.Context, term, field string, s *scores) ([]posting, error) {
	key := termKey{field, term}
	if kept, ok := x.common.get(key); ok {
		return kept, nil
	}
	reader, err := x.reader.TermFieldReader(ctx, []byte(term), field, true, false, false)
	if err != nil {
		return nil, err
	}
	found, err := x.read(reader, s.postings[:0])
	s.postings = found
	if closing := reader.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	if len(found) >= keptFrom {
		x.common.put(key, append([]posting(nil), found...))
	}
	return found, nil
}

func (x *Index) read(reader index.TermFieldReader, found []posting) ([]posting, error) {
	var doc index.TermFieldDoc
	for {
		p, err := reader.Next(&doc)
		if err != nil || p == nil {
			return found, err
		}
		found = append(found, posting{x.numbers[p.ID.Value()], float32(p.Freq)})
	}
}
