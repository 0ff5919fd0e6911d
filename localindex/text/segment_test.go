package text

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/blevesearch/bleve/v2"
	"github.com/google/go-cmp/cmp"
)

// sums returns the SHA-256 of each file below dir.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		found[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// manyDocs are n passages in two languages, with titles, headings, identifiers and filters.
func manyDocs(n int) []Doc {
	var docs []Doc
	for i := range n {
		d := museum()[i%len(museum())]
		d.ID = fmt.Sprintf("%s-%d", d.ID, i)
		d.Text += fmt.Sprintf(" No %d, 第%d件, seen with %d", i, i%97, i%13)
		docs = append(docs, d)
	}
	return docs
}

func TestSameDocsGiveSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, n := range []int{1, 7, batch, 3*batch + 7} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			docs := manyDocs(n)
			var first map[string]string
			for i := range 4 {
				dir := filepath.Join(t.TempDir(), strconv.Itoa(i), "text")
				if err := Build(t.Context(), dir, docs, [][]string{{"toilet", "restroom"}}); err != nil {
					t.Fatal(err)
				}
				got := sums(t, dir)
				if first == nil {
					first = got
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Fatalf("build %d differs (-first +this):\n%s", i, diff)
				}
			}
			if want := 1 + len(runs(docs)); len(first) != want {
				t.Errorf("the index has the files %v, want %d", first, want)
			}
		})
	}
}

// TestManyBatchesAreOneIndex looks a passage of each batch up.
func TestManyBatchesAreOneIndex(t *testing.T) {
	docs := manyDocs(2*batch + 7)
	for _, n := range []int{0, batch - 1, batch, 2*batch + 6} {
		docs[n].Text += " unmistakable" + strconv.Itoa(n)
	}
	index := build(t, docs)
	for _, n := range []int{0, batch - 1, batch, 2*batch + 6} {
		hits, err := index.Search(t.Context(), Query{Text: "unmistakable" + strconv.Itoa(n)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{docs[n].ID}, ids(hits)); diff != "" {
			t.Errorf("passage %d (-want +got):\n%s", n, diff)
		}
	}
}

// TestOpensBleveIndexes makes sure that a kiosk whose program is newer than its release finds what it found.
func TestOpensBleveIndexes(t *testing.T) {
	docs := museum()
	dir := filepath.Join(t.TempDir(), "text")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	table, err := newTable(docs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.write(dir); err != nil {
		t.Fatal(err)
	}
	mapping, err := newMapping(table.languages())
	if err != nil {
		t.Fatal(err)
	}
	builder, err := bleve.NewBuilder(filepath.Join(dir, "bleve"), mapping, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range docs {
		if err := builder.Index(strconv.Itoa(i), d.fields()); err != nil {
			t.Fatal(err)
		}
	}
	if err := builder.Close(); err != nil {
		t.Fatal(err)
	}
	older, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	newer := build(t, docs)
	for _, question := range []string{"大克鼎的铭文", "how was it made of bronze", "SH-1951.3", "厕所在哪里", "curator"} {
		want, err := older.Search(t.Context(), Query{Text: question})
		if err != nil || len(want) == 0 {
			t.Fatalf("%q: %v, %v", question, want, err)
		}
		got, err := newer.Search(t.Context(), Query{Text: question})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-older +newer):\n%s", question, diff)
		}
	}
}

// TestOneTextChangesOneSegment makes sure that what a kiosk has of the other segments stays good.
func TestOneTextChangesOneSegment(t *testing.T) {
	var docs []Doc
	for i := range 4000 {
		exhibit := "exhibit-" + strconv.Itoa(i/10)
		docs = append(docs, Doc{ID: strconv.Itoa(i), Text: "a vessel of bronze, number " + strconv.Itoa(i), Language: "en", Exhibit: exhibit})
	}
	segments := func(docs []Doc) map[string]bool {
		dir := filepath.Join(t.TempDir(), "text")
		if err := Build(t.Context(), dir, docs, nil); err != nil {
			t.Fatal(err)
		}
		found := make(map[string]bool)
		for file, sum := range sums(t, dir) {
			if file != tableFile {
				found[sum] = true
			}
		}
		return found
	}
	before := segments(docs)
	if len(before) < 3 || len(before) > mostSegments {
		t.Fatalf("%d passages are in %d segments", len(docs), len(before))
	}
	added := Doc{ID: "added", Text: "one more text", Language: "en", Exhibit: docs[100].Exhibit}
	changed := 0
	for sum := range segments(slices.Insert(slices.Clone(docs), 101, added)) {
		if !before[sum] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("a passage more changed %d of %d segments", changed, len(before))
	}
}
