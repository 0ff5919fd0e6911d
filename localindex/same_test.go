package localindex

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/release"
)

// TestSameFolderGivesSameBytes builds copies of one folder at other places and times, with more and fewer processors. Kiosks
// fetch only what differs, so that nothing may.
func TestSameFolderGivesSameBytes(t *testing.T) {
	original := writeGallery(t, 60)
	var first release.Manifest
	for i, processors := range []int{1, 4, 4} {
		before := runtime.GOMAXPROCS(processors)
		defer runtime.GOMAXPROCS(before)
		folder := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(folder, os.DirFS(original)); err != nil {
			t.Fatal(err)
		}
		built := time.Date(2026, 3, 1+i, 9, 0, 0, 0, time.UTC)
		got, _, err := Build(t.Context(), folder, filepath.Join(t.TempDir(), "release"), Options{
			Number: 1, Now: func() time.Time { return built },
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = got
			continue
		}
		if diff := cmp.Diff(first.Files, got.Files); diff != "" {
			t.Errorf("build %d with %d processors differs (-first +this):\n%s", i, processors, diff)
		}
		if got.ID != first.ID {
			t.Errorf("build %d has the id %s, the first %s", i, got.ID, first.ID)
		}
	}
}
