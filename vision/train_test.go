package vision_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"gocv.io/x/gocv"

	"docent/vision"
)

// repaint puts another painting in a reference's place.
func repaint(t *testing.T, ref vision.Reference, seed uint64) {
	t.Helper()
	m := painting(seed)
	defer m.Close()
	if !gocv.IMWrite(ref.Path, m) {
		t.Fatalf("cannot write %s", ref.Path)
	}
}

func build(t *testing.T, refs []vision.Reference, before string) (dir string, report vision.Report) {
	t.Helper()
	dir = t.TempDir()
	report, err := vision.BuildIndex(context.Background(), refs, dir, vision.Options{Before: before})
	if err != nil {
		t.Fatal(err)
	}
	return dir, report
}

// changed is how many bytes lie between the first and the last that differ.
func changed(a, b []byte) int {
	n := min(len(a), len(b))
	first := 0
	for first < n && a[first] == b[first] {
		first++
	}
	last := 0
	for last < n-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	return max(len(a), len(b)) - first - last
}

func TestOneChangedPictureChangesLittle(t *testing.T) {
	refs := references(t, 8)
	first, report := build(t, refs, "")
	if report.Kept {
		t.Error("the first index says that it kept the training of one before")
	}
	repaint(t, refs[3], 103)
	second, report := build(t, refs, first)
	if !report.Kept {
		t.Fatal("seven of eight pictures are the same, and it was trained anew")
	}
	a, b := files(t, first), files(t, second)
	if !bytes.Equal(a["model.bin"], b["model.bin"]) {
		t.Error("the model is another")
	}
	const head = 64 // of a sealed file, with its sum
	for _, name := range []string{"features.bin", "votes.bin"} {
		if whole, part := len(b[name]), changed(a[name][head:], b[name][head:]); part > whole/4 {
			t.Errorf("%s: %d of %d bytes lie between the first and the last change", name, part, whole)
		}
	}

	r, err := vision.Open(second, vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	for i, seed := range []uint64{0, 1, 2, 103, 4, 5, 6, 7} {
		p, _ := photo(t, seed, nil)
		got := recognise(t, r, p)
		if got.Decision != vision.DecisionMatch || got.Candidates[0].ExhibitID != refs[i].ExhibitID {
			t.Errorf("painting %d: %+v", i, got)
		}
	}
}

func TestManyChangedPicturesAreTrainedOn(t *testing.T) {
	refs := references(t, 8)
	first, _ := build(t, refs, "")
	// One after the other, each index upon the one before: what was never trained on does not count as known.
	before := first
	for i, want := range []bool{true, false, true} {
		repaint(t, refs[i], uint64(200+i))
		dir, report := build(t, refs, before)
		if report.Kept != want {
			t.Errorf("after %d changes: training kept %t, want %t", i+1, report.Kept, want)
		}
		before = dir
	}
	if _, report := build(t, refs, filepath.Join(first, "not-there")); report.Kept {
		t.Error("the training of an index that is not there was kept")
	}
	if _, report := build(t, refs[:4], before); report.Kept {
		t.Error("the training of a collection twice as large was kept")
	}
	plain, _ := build(t, refs[:4], "")
	again, _ := build(t, refs[:4], before)
	for name, data := range files(t, plain) {
		if !bytes.Equal(data, files(t, again)[name]) {
			t.Errorf("%s differs where nothing was kept", name)
		}
	}
}
