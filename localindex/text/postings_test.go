package text

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommonTermsAreKept(t *testing.T) {
	var docs []Doc
	for i := range 2 * keptFrom {
		docs = append(docs, Doc{ID: fmt.Sprintf("p%04d", i), Text: fmt.Sprintf("vessel number %d stands on a shelf", i%7), Language: "en"})
	}
	index := build(t, docs)
	var first []Hit
	for range 3 {
		hits, err := index.Search(t.Context(), Query{Text: "vessel 5"})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = hits
		}
		if diff := cmp.Diff(first, hits); diff != "" {
			t.Errorf("a search from kept postings finds something else (-first +later):\n%s", diff)
		}
	}
	if _, ok := index.common.get(termKey{fieldAll + "en", "vessel"}); !ok {
		t.Error("a common term is not kept")
	}
	if _, ok := index.common.get(termKey{fieldAll + "en", "5"}); ok {
		t.Error("a rare term is kept")
	}
}

func TestKeptPostingsAreBounded(t *testing.T) {
	c := newPostingsCache()
	for i := range 12 {
		c.put(termKey{"all", fmt.Sprint(i)}, make([]posting, keptPostings/10))
		c.get(termKey{"all", "0"}) // used all the time
	}
	if c.size > keptPostings || c.order.Len() != len(c.terms) || len(c.terms) != 10 {
		t.Errorf("%d postings of %d terms are kept", c.size, len(c.terms))
	}
	if _, ok := c.get(termKey{"all", "0"}); !ok {
		t.Error("what is used all the time was dropped")
	}
	c.put(termKey{"all", "huge"}, make([]posting, keptPostings+1))
	if _, ok := c.get(termKey{"all", "huge"}); ok {
		t.Error("more than may be kept is kept")
	}
}
