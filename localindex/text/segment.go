package text

import (
	"context"
	"errors"
	"fmt"
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

// postingsFile is the segment with the postings, without a Bleve index around it: that would add a Bolt file with the time
// it was written, and Bleve's builder takes documents in the order of a Go map. It is of version 15 of zap, the newest that
// writes the same postings as the same bytes: 16 and 17 end with a table of sections in the order of a Go map. Analyzers are
// not written down: whoever changes what one makes of a text gives this file another name.
const postingsFile = "postings.zap"

// olderPostingsFile is the only segment of the Bleve indexes that releases had before, of version 17.
const olderPostingsFile = "bleve/store/000000000002.zap"

// batch is how many passages are analysed before they are written: what is in memory at a time.
const batch = 1000

// writePostings writes the segment of docs into dir. Document i of the segment is docs[i], and its id is i.
func writePostings(ctx context.Context, dir string, im *mapping.IndexMappingImpl, docs []Doc) (err error) {
	path := filepath.Join(dir, postingsFile)
	if len(docs) <= batch {
		return writeBatch(ctx, path, im, docs, 0)
	}
	scratch, err := os.MkdirTemp(filepath.Dir(dir), ".text-") // on the same file system, and no part of the release
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

// openPostings opens the segment in dir for reading.
func openPostings(dir string) (segment.Segment, error) {
	path := filepath.Join(dir, postingsFile)
	s, err := new(zap.ZapPlugin).Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if older := filepath.Join(dir, filepath.FromSlash(olderPostingsFile)); exists(older) {
			s, err = new(olderzap.ZapPlugin).Open(older)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open postings: %w", err)
	}
	return s, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
