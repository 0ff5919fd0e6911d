package text

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/mapping"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v15"
	olderzap "github.com/blevesearch/zapx/v17"
)

// postingsFile names the segments with the postings of consecutive passages, without a Bleve index around it: that would add a Bolt file with the time
// it was written, and Bleve's builder takes documents in the order of a Go map. It is of version 15 of zap, the newest that
// writes the same postings as the same bytes: 16 and 17 end with a table of sections in the order of a Go map. Analyzers are
// not written down: whoever changes what one makes of a text gives this file another name.
const postingsFile = "postings-%03d.zap"

// olderPostingsFile is the only segment of the Bleve indexes that releases had before, of version 17.
const olderPostingsFile = "bleve/store/000000000002.zap"

// batch is how many passages are analysed before they are written: what is in memory at a time.
const batch = 1000

// Sizes of segments. A change of one text changes nearly every byte of its segment, which kiosks fetch again, and each segment
// costs every search a look-up of each term.
const (
	leastSegment = 1000 // passages, about; more where there would be too many segments
	mostSegments = 8    // about
)

// maxSegments bounds how many segments are opened.
const maxSegments = 1000

// writePostings writes the segments of docs into dir.
func writePostings(ctx context.Context, dir string, im *mapping.IndexMappingImpl, docs []Doc) error {
	for i, run := range runs(docs) {
		if err := writeSegment(ctx, filepath.Join(dir, fmt.Sprintf(postingsFile, i)), im, run); err != nil {
			return err
		}
	}
	return nil
}

// runs cuts docs into those of each segment. It cuts before exhibits whose ids say so, so that a passage more or less moves
// no cut but those near it.
func runs(docs []Doc) [][]Doc {
	size := leastSegment
	for len(docs)/size > mostSegments {
		size *= 2
	}
	var cut [][]Doc
	from := 0
	for i := range docs {
		long := i - from
		if long >= 2*size || long >= size/2 && docs[i].Exhibit != docs[i-1].Exhibit && cutsBefore(docs[i].Exhibit, size) {
			cut = append(cut, docs[from:i])
			from = i
		}
	}
	return append(cut, docs[from:])
}

// cutsBefore reports whether a segment may begin with an exhibit: one in so many that, where each has ten to twenty passages,
// segments come to about size.
func cutsBefore(exhibit string, size int) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(exhibit)) // never an error
	return h.Sum64()%uint64(size/20) == 0
}

// writeSegment writes the segment of docs to path. Document i of the segment is docs[i], and its id is i.
func writeSegment(ctx context.Context, path string, im *mapping.IndexMappingImpl, docs []Doc) (err error) {
	if len(docs) <= batch {
		return writeBatch(ctx, path, im, docs, 0)
	}
	scratch, err := os.MkdirTemp(filepath.Dir(filepath.Dir(path)), ".text-") // on the same file system, and no part of the release
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	var written []string
	for from := 0; from < len(docs); from += batch {
		to := min(from+batch, len(docs))
		part := filepath.Join(scratch, strconv.Itoa(from))
		if err := writeBatch(ctx, part, im, docs[from:to], from); err != nil {
			return err
		}
		written = append(written, part)
	}
	return merge(path, written)
}

// writeBatch writes the segment of docs, the first of which has the number first.
func writeBatch(ctx context.Context, path string, im *mapping.IndexMappingImpl, docs []Doc, first int) error {
	analysed := make([]index.Document, len(docs))
	for i, d := range docs {
		if err := ctx.Err(); err != nil {
			return err
		}
		doc := document.NewDocument(strconv.Itoa(first + i))
		if err := im.MapDocument(doc, d.fields()); err != nil {
			return fmt.Errorf("index passage %s: %w", d.ID, err)
		}
		doc.AddIDField()
		doc.VisitFields(func(f index.Field) {
			if f.Options().IsIndexed() {
				f.Analyze()
			}
		})
		analysed[i] = doc
	}
	made, _, err := new(zap.ZapPlugin).New(analysed)
	if err != nil {
		return fmt.Errorf("make postings of %d passages: %w", len(docs), err)
	}
	defer made.Close() // it is in memory
	unwritten, ok := made.(segment.UnpersistedSegment)
	if !ok {
		return fmt.Errorf("make postings: a %T cannot be written", made)
	}
	if err := unwritten.Persist(path); err != nil {
		return fmt.Errorf("write postings: %w", err)
	}
	return nil
}

// merge writes the segments one after the other into one.
func merge(path string, parts []string) (err error) {
	segments := make([]segment.Segment, 0, len(parts))
	defer func() {
		for _, s := range segments {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, part := range parts {
		s, err := new(zap.ZapPlugin).Open(part)
		if err != nil {
			return fmt.Errorf("read postings to merge: %w", err)
		}
		segments = append(segments, s)
	}
	if _, _, err := new(zap.ZapPlugin).Merge(segments, make([]*roaring.Bitmap, len(segments)), path, nil, nil); err != nil {
		return fmt.Errorf("merge postings: %w", err)
	}
	return nil
}

// postingsSegment is an opened segment.
type postingsSegment struct {
	segment.Segment
	numbers []uint32 // passage number by that in the segment
}

// openPostings opens the segments in dir for reading.
func openPostings(dir string) (_ []postingsSegment, err error) {
	var opened []postingsSegment
	defer func() {
		if err != nil {
			err = errors.Join(err, closePostings(opened))
		}
	}()
	first := uint32(0)
	for i := range maxSegments {
		s, err := new(zap.ZapPlugin).Open(filepath.Join(dir, fmt.Sprintf(postingsFile, i)))
		if errors.Is(err, fs.ErrNotExist) && i > 0 {
			break
		}
		if errors.Is(err, fs.ErrNotExist) {
			if older := filepath.Join(dir, filepath.FromSlash(olderPostingsFile)); exists(older) {
				s, err = new(olderzap.ZapPlugin).Open(older)
			}
		}
		if err != nil {
			return opened, fmt.Errorf("open postings: %w", err)
		}
		opened = append(opened, postingsSegment{Segment: s})
		if opened[i].numbers, err = numbers(s, first); err != nil {
			return opened, fmt.Errorf("open postings: %w", err)
		}
		first += uint32(len(opened[i].numbers))
	}
	return opened, nil
}

func closePostings(opened []postingsSegment) error {
	var err error
	for _, s := range opened {
		err = errors.Join(err, s.Close())
	}
	return err
}

// numbers returns the numbers of the passages of a segment, which are the first and those after it, in the order of the
// segment.
func numbers(s segment.Segment, first uint32) ([]uint32, error) {
	n := s.Count()
	if n+uint64(first) > maxPassages {
		return nil, fmt.Errorf("there are more than %d passages", maxPassages)
	}
	out, seen := make([]uint32, n), make([]bool, n)
	for i := range n {
		id, err := s.DocID(i)
		if err != nil {
			return nil, err
		}
		number, err := strconv.ParseUint(string(id), 10, 32)
		if err != nil || number >= n || seen[number] {
			return nil, fmt.Errorf("passage %d has the number %q", i, id)
		}
		out[i], seen[number] = first+uint32(number), true
	}
	return out, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
