package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gocv.io/x/gocv"

	"docent/localindex/vector"
	"docent/vision"
	"docent/vision/synthetic"
)

// painting draws overlapping shapes; the caller closes it.
func painting(seed uint64) gocv.Mat {
	rng := rand.New(rand.NewPCG(seed, 99))
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(150, 140, 130, 0), 300, 400, gocv.MatTypeCV8UC3)
	for range 140 {
		c := color.RGBA{R: uint8(rng.IntN(256)), G: uint8(rng.IntN(256)), B: uint8(rng.IntN(256)), A: 255}
		x, y, s := rng.IntN(400), rng.IntN(300), 6+rng.IntN(50)
		if rng.IntN(2) == 0 {
			gocv.Circle(&m, image.Pt(x, y), s/2, c, -1)
		} else {
			gocv.Rectangle(&m, image.Rect(x, y, x+s, y+s*2/3), c, -1)
		}
	}
	return m
}

func save(t *testing.T, path string, m gocv.Mat) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if !gocv.IMWrite(path, m) {
		t.Fatalf("cannot write %s", path)
	}
}

// collection writes three works, two distractors, photos of each of them, and one of nothing.
func collection(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	catalogue, labels := "id;title;artist;room;image\n", "photo,exhibits\n"
	for i := range uint64(5) {
		m := painting(i)
		name := fmt.Sprintf("%d.png", i)
		folder := "references"
		if i >= 3 {
			folder = "distractors/more"
		} else {
			catalogue += fmt.Sprintf("w%d;Work %d;;1;%s\n", i, i, name)
		}
		save(t, filepath.Join(dir, folder, name), m)
		p := synthetic.Random(rand.New(rand.NewPCG(i, 1)), synthetic.Easy)
		p.Width, p.Height = 640, 480
		photo, _, err := synthetic.Render(m, p)
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
		save(t, filepath.Join(dir, "photos/one", name), photo)
		photo.Close()
		exhibits := fmt.Sprintf("w%d", i)
		switch i {
		case 0: // several may be named
			exhibits = "w2 w0"
		case 2: // a wrong label, so that there is a miss
			exhibits = "w1"
		case 3, 4: // photos of works that are not in the catalogue
			exhibits = ""
		}
		labels += fmt.Sprintf("one/%s,%s\n", name, exhibits)
	}
	write(t, filepath.Join(dir, "catalogue.csv"), "\xef\xbb\xbf"+catalogue)
	write(t, filepath.Join(dir, "labels.csv"), labels)
	return Options{
		Catalogue: filepath.Join(dir, "catalogue.csv"), References: filepath.Join(dir, "references"),
		Photos: filepath.Join(dir, "photos"), Labels: filepath.Join(dir, "labels.csv"),
	}
}

// input is a collection of one work and two photos that are good enough to be named in files.
func input(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	m := gocv.NewMatWithSize(80, 80, gocv.MatTypeCV8UC3)
	defer m.Close()
	for _, name := range []string{"references/0.png", "photos/one/0.png", "photos/one/1.png"} {
		save(t, filepath.Join(dir, name), m)
	}
	write(t, filepath.Join(dir, "catalogue.csv"), "id,image\nw0,0.png\n")
	write(t, filepath.Join(dir, "labels.csv"), "photo,exhibits\none/0.png,w0\none/1.png,\n")
	return Options{
		Catalogue: filepath.Join(dir, "catalogue.csv"), References: filepath.Join(dir, "references"),
		Photos: filepath.Join(dir, "photos"), Labels: filepath.Join(dir, "labels.csv"),
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	o := collection(t)
	var steps []int
	o.Progress = func(done, total int) {
		if total != 5 {
			t.Errorf("%d photos in all, want 5", total)
		}
		steps = append(steps, done)
	}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5}, steps); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if r.Known != 3 || r.Unknown != 2 || r.Top1 != 2.0/3 || r.Top5 != 2.0/3 || r.FalseAccept != (Count{}) || r.References != 3 {
		t.Errorf("report %+v", r)
	}
	if want := (Decisions{Match: 3, Unknown: 2}); r.Decisions != want {
		t.Errorf("decisions %+v, want %+v", r.Decisions, want)
	}
	for i, want := range []string{"w0", "w1", "w2", "", ""} {
		if p := r.Photos[i]; p.Answer != want || p.Photo != fmt.Sprintf("one/%d.png", i) || p.MS <= 0 {
			t.Errorf("photo %d: %+v, want answer %q", i, p, want)
		}
	}
	if r.Latency.P50 <= 0 || r.Latency.P99 < r.Latency.P50 || r.Stages["total"] <= 0 || r.VectorIndex.Recall != 1 {
		t.Errorf("times %+v, stages %v, vector index %+v", r.Latency, r.Stages, r.VectorIndex)
	}
	for _, part := range []string{"66.7 % right", "0 of 2 unknown", "exact"} {
		if !strings.Contains(r.Summary(), part) {
			t.Errorf("summary lacks %q:\n%s", part, r.Summary())
		}
	}

	// Photos of distractors get their name, which is a false one. An invented painting is on no photo.
	o.Invented = 1
	o.Progress, o.Distractors, o.Index = nil, filepath.Join(filepath.Dir(o.Labels), "distractors"), vector.HNSW
	r, err = Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.References != 6 || r.Invented != 1 || r.FalseAccept != (Count{Count: 2, Share: 1}) || r.Photos[4].Answer != "distractor:more/4.png" || r.VectorIndex.Kind != vector.HNSW {
		t.Errorf("with distractors: %d references, false accepts %+v, answer %q", r.References, r.FalseAccept, r.Photos[4].Answer)
	}
}

func TestReportHasTheAgreedNames(t *testing.T) {
	data, err := json.Marshal(Report{Photos: []PhotoResult{{}}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"known": nil, "unknown": nil, "top1": nil, "top5": nil, "stages_ms": nil,
		"false_accept": {"count", "share"}, "decisions": {"match", "choose", "unknown"},
		"latency_ms": {"p50", "p95", "p99"}, "vector_index": {"kind", "recall"},
		"photos": {"photo", "decision", "answer", "confidence", "inliers", "ms"},
	} {
		value, ok := got[name]
		if !ok {
			t.Errorf("%q is missing", name)
			continue
		}
		for _, inner := range want {
			if !strings.Contains(string(value), `"`+inner+`":`) {
				t.Errorf("%q lacks %q: %s", name, inner, value)
			}
		}
	}
}

func TestSummariseCounts(t *testing.T) {
	r := summarise([]PhotoResult{
		{Exhibits: []string{"a"}, Decision: vision.DecisionMatch, Answer: "a", MS: 10},
		{Exhibits: []string{"a"}, Decision: vision.DecisionChoose, Answer: "a", Others: []string{"b"}, MS: 20},
		{Exhibits: []string{"b"}, Decision: vision.DecisionChoose, Answer: "a", Others: []string{"b"}, MS: 30},
		{Exhibits: []string{"b"}, Decision: vision.DecisionUnknown, MS: 40},
		{Decision: vision.DecisionMatch, Answer: "a", MS: 50},
		{Decision: vision.DecisionChoose, Answer: "a", MS: 60},
	})
	if r.Known != 4 || r.Unknown != 2 || r.Top1 != 0.5 || r.Top5 != 0.75 {
		t.Errorf("known %d, unknown %d, top1 %g, top5 %g; want 4, 2, .5, .75", r.Known, r.Unknown, r.Top1, r.Top5)
	}
	if want := (Count{Count: 1, Share: 0.5}); r.FalseAccept != want {
		t.Errorf("false accepts %+v, want %+v: a choice is no false name", r.FalseAccept, want)
	}
	if want := (Percentiles{P50: 30, P95: 60, P99: 60}); r.Latency != want {
		t.Errorf("latency %+v, want %+v", r.Latency, want)
	}
	if empty := summarise(nil); empty.Top1 != 0 || empty.Latency != (Percentiles{}) {
		t.Errorf("of no photos: %+v", empty)
	}
}

func TestInputThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, o *Options, dir string)
		want   string
	}{
		{"no catalogue", func(_ *testing.T, o *Options, dir string) { o.Catalogue = filepath.Join(dir, "none.csv") }, "none.csv"},
		{"no references", func(_ *testing.T, o *Options, dir string) { o.References = filepath.Join(dir, "none") }, "folder of references"},
		{"references are a file", func(_ *testing.T, o *Options, _ string) { o.References = o.Catalogue }, "is not a folder"},
		{"no photos", func(_ *testing.T, o *Options, dir string) { o.Photos = filepath.Join(dir, "none") }, "folder of photos"},
		{"no labels", func(_ *testing.T, o *Options, dir string) { o.Labels = filepath.Join(dir, "none.csv") }, "none.csv"},
		{"no distractors", func(_ *testing.T, o *Options, dir string) { o.Distractors = filepath.Join(dir, "none") }, "folder of distractors"},
		{"no pictures among distractors", func(t *testing.T, o *Options, _ string) { o.Distractors = t.TempDir() }, "no JPEG, PNG or WebP"},
		{"column missing", func(t *testing.T, o *Options, _ string) { write(t, o.Catalogue, "id,title\nw0,x\n") }, `column "image" is missing`},
		{"empty file", func(t *testing.T, o *Options, _ string) { write(t, o.Labels, "") }, "it is empty"},
		{"no rows", func(t *testing.T, o *Options, _ string) { write(t, o.Labels, "photo,exhibits\n") }, "have no rows"},
		{"picture missing", func(t *testing.T, o *Options, _ string) { write(t, o.Catalogue, "id,image\nw0,9.png\n") }, `line 2: picture "9.png"`},
		{"picture outside", func(t *testing.T, o *Options, _ string) {
			write(t, o.Catalogue, "id,image\nw0,../catalogue.csv\n")
		}, "lies outside"},
		{"id empty", func(t *testing.T, o *Options, _ string) { write(t, o.Catalogue, "id,image\n,0.png\n") }, "line 2: id or image is empty"},
		{"id like a distractor's", func(t *testing.T, o *Options, _ string) {
			write(t, o.Catalogue, "id,image\ndistractor:1,0.png\n")
		}, "starts like a distractor"},
		{"photo missing", func(t *testing.T, o *Options, _ string) { write(t, o.Labels, "photo,exhibits\none/9.png,w0\n") }, `line 2: photo "one/9.png"`},
		{"photo empty", func(t *testing.T, o *Options, _ string) { write(t, o.Labels, "photo,exhibits\n,w0\n") }, "line 2: photo is empty"},
		{"photo is a folder", func(t *testing.T, o *Options, _ string) { write(t, o.Labels, "photo,exhibits\none,w0\n") }, "it is a folder"},
		{"exhibit unknown", func(t *testing.T, o *Options, _ string) {
			write(t, o.Labels, "photo,exhibits\none/0.png,w0\none/1.png,w0 w9\n")
		}, `line 3: exhibit "w9"`},
		{"quote open", func(t *testing.T, o *Options, _ string) { write(t, o.Labels, "photo,exhibits\n\"one/0.png,w0\n") }, "labels.csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := input(t)
			c.change(t, &o, filepath.Dir(o.Labels))
			_, err := Run(context.Background(), o)
			if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want ErrInput with %q", err, c.want)
			}
		})
	}
}

func TestPhotoThatCannotBeDecodedCountsAsUnknown(t *testing.T) {
	o := collection(t)
	write(t, filepath.Join(o.Photos, "one/1.png"), "no picture")
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Photos[1]; p.Decision != vision.DecisionUnknown || p.Refused == "" || r.Decisions.Unknown != 3 || r.Known != 3 {
		t.Errorf("photo %+v, decisions %+v of %d known; want it unknown and refused", p, r.Decisions, r.Known)
	}
}

func TestRunStopsWhenToldTo(t *testing.T) {
	o := collection(t)
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(int, int) { cancel() }
	o.Threads = 1
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want Canceled", err)
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte("photo,exhibits\na.jpg,1 2\n"))
	f.Add([]byte("\xef\xbb\xbfphoto;exhibits\n\"a;b\";\n"))
	f.Add([]byte("photo,exhibits\na\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := parseTable(data, "photo", "exhibits")
		if err != nil {
			return
		}
		for _, row := range rows {
			if row.line < 2 {
				t.Errorf("a row on line %d", row.line)
			}
			if !slices.Contains(keys(row), "photo") {
				t.Errorf("row %+v lacks a column", row)
			}
		}
	})
}

func keys(r record) (names []string) {
	for name := range r.fields {
		names = append(names, name)
	}
	return names
}
