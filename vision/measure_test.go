package vision

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"docent/vision/feature"
	"docent/vision/synthetic"
)

// The tests of this file take minutes; docs/recognition.md has what they print. They need the photos of DOCENT_DATA and
// run when DOCENT_MEASURE is set.
func measured(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv("DOCENT_MEASURE") == "" {
		t.Skip("takes minutes; set DOCENT_MEASURE=1")
	}
	dir := filepath.Join(cmp.Or(os.Getenv("DOCENT_DATA"), filepath.Join("..", "..", "shared", "data")), name)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("needs the pictures of DOCENT_DATA")
	}
	return dir
}

func table(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func indexed95(t *testing.T, refs []Reference) *Recogniser {
	t.Helper()
	dir := t.TempDir()
	if _, err := BuildIndex(context.Background(), refs, dir, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// shot is a photo's features at several sizes, and what it shows.
type shot struct {
	sets     map[feature.Options]feature.Set
	photo    string
	exhibits []string
	video    string // what must not be in two folds
	framed   bool   // shows nothing but what it is labelled with
}

// see describes a photo at all sizes.
func see(t *testing.T, m gocv.Mat, sizes []feature.Options) map[feature.Options]feature.Set {
	t.Helper()
	sets := make(map[feature.Options]feature.Set)
	for _, o := range sizes {
		set, err := feature.Extract(m, o)
		if err != nil {
			t.Fatal(err)
		}
		sets[o] = set
	}
	return sets
}

// video is the name of a photo without the numbers of frame and crop at its end.
func video(photo string) string {
	folder, name, _ := strings.Cut(strings.TrimSuffix(photo, filepath.Ext(photo)), "/")
	parts := strings.Split(name, "_")
	drop := 1
	if folder == "framed" {
		drop = 2
	}
	return strings.Join(parts[:max(1, len(parts)-drop)], "_")
}

func estense(t *testing.T, dir string, sizes []feature.Options) (*Recogniser, []shot) {
	t.Helper()
	var refs []Reference
	for _, row := range table(t, filepath.Join(dir, "catalogue.csv")) {
		refs = append(refs, Reference{ExhibitID: row[0], Picture: row[4], Path: filepath.Join(dir, "references", row[4])})
	}
	r := indexed95(t, refs)
	var shots []shot
	for _, row := range table(t, filepath.Join(dir, "photos", "labels.csv")) {
		data, err := os.ReadFile(filepath.Join(dir, "photos", filepath.FromSlash(row[0])))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		shots = append(shots, shot{
			photo: row[0], sets: see(t, p.Image, sizes), exhibits: strings.Fields(row[1]), video: video(row[0]), framed: strings.HasPrefix(row[0], "framed"),
		})
		p.Close()
	}
	return r, shots
}

// found is what the looks find on a photo described before.
func (r *Recogniser) found(t *testing.T, s shot, looks []look) []Candidate {
	t.Helper()
	var found []verified
	for _, l := range looks {
		if err := r.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen, err := r.match(t.Context(), s.sets[l.features], l, new(Timings))
		r.give()
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, seen...)
		if clear(seen, l.enough) {
			break
		}
	}
	return r.bestPerExhibit(found)
}

// TestCrossValidation chooses the settings of the looks on all videos but one and counts on that one, for each video.
func TestCrossValidation(t *testing.T) {
	dir := measured(t, "estense")
	size := func(side, n int) feature.Options {
		return feature.Options{MaxSide: side, MaxFeatures: n, Contrast: contrast}
	}
	first := []feature.Options{size(480, 400), size(640, 600), size(800, 900)}
	second := []feature.Options{size(960, 1500), size(1280, 2000)}
	lists := [][3]int{{2, 4, 2}, {4, 8, 4}} // voted first, voted second, nearest
	r, shots := estense(t, dir, slices.Concat(first, second))

	type setting struct {
		name  string
		looks []look
		right []bool // of the photos
		wrong []int  // inliers of a name given to an unknown photo, 0 for none
	}
	var settings []setting // cheaper ones first
	for _, a := range first {
		for _, b := range second {
			for _, l := range lists {
				s := setting{name: fmt.Sprintf("%d and %d px, %d/%d/%d candidates", a.MaxSide, b.MaxSide, l[0], l[1], l[2]), looks: []look{
					{features: a, voted: l[0], enough: looks[0].enough},
					{features: b, voted: l[1], windows: true, nearest: l[2], enough: looks[1].enough},
				}}
				start := time.Now()
				n := 0
				for _, shot := range shots {
					found := r.found(t, shot, s.looks)
					decision, answers := decide(found)
					right := decision != DecisionUnknown && slices.Contains(shot.exhibits, answers[0].ExhibitID)
					wrong := 0
					if len(shot.exhibits) == 0 && len(found) > 0 {
						wrong = found[0].Inliers
					}
					s.right, s.wrong = append(s.right, right), append(s.wrong, wrong)
					if right {
						n++
					}
				}
				t.Logf("%s: %d right, at most %d inliers for an unknown photo; %v", s.name, n, slices.Max(s.wrong), time.Since(start).Round(time.Second))
				settings = append(settings, s)
			}
		}
	}

	videos := make(map[string]bool)
	known := 0
	for _, s := range shots {
		videos[s.video] = true
		if len(s.exhibits) > 0 {
			known++
		}
	}
	chosen := make(map[string]int)
	thresholds := make(map[int]int)
	right, falseNames := 0, 0
	for held := range videos {
		best, most := 0, -1
		for i, s := range settings {
			n := 0
			for j, shot := range shots {
				if shot.video != held && s.right[j] {
					n++
				}
			}
			if n > most {
				best, most = i, n
			}
		}
		s := settings[best]
		chosen[s.name]++
		// The threshold is the least with which at most 1 % of the other videos' unknown photos get a name.
		threshold := chooseInliers
		for ; ; threshold++ {
			n, all := 0, 0
			for j, shot := range shots {
				if shot.video != held && len(shot.exhibits) == 0 {
					all++
					if s.wrong[j] >= threshold {
						n++
					}
				}
			}
			if 100*n <= all {
				break
			}
		}
		thresholds[threshold]++
		for j, shot := range shots {
			if shot.video == held {
				if s.right[j] {
					right++
				}
				if s.wrong[j] >= threshold {
					falseNames++
				}
			}
		}
	}
	t.Logf("%d videos; held out: %d of %d right (%.1f %%), %d of %d unknown photos named", len(videos), right, known, 100*float64(right)/float64(known), falseNames, len(shots)-known)
	t.Logf("chosen: %v; thresholds: %v", chosen, thresholds)
	if float64(right) < 0.96*float64(known) {
		t.Errorf("%d of %d right, want 96 %%", right, known)
	}
}

// judged is a candidate and whether it is what the photo shows.
type judged struct {
	inliers int
	right   bool
}

// TestConfidenceIsCalibrated fits a logistic curve to candidates that are known to be right or wrong, prints how
// reliable the confidence is, and checks that sure answers are wrong in at most 1 %.
func TestConfidenceIsCalibrated(t *testing.T) {
	var sizes []feature.Options
	for _, l := range looks {
		sizes = append(sizes, l.features)
	}
	var all []judged
	count := func(r *Recogniser, s shot) {
		for _, c := range r.found(t, s, looks) {
			right := slices.Contains(s.exhibits, c.ExhibitID)
			if right || s.framed {
				all = append(all, judged{c.Inliers, right})
			}
			if !right && s.framed && c.Inliers >= chooseInliers {
				t.Logf("%s, %s: %s with %d inliers is wrong", s.photo, s.exhibits, c.ExhibitID, c.Inliers)
			}
		}
	}
	r, shots := estense(t, measured(t, "estense"), sizes)
	for _, s := range shots {
		count(r, s)
	}
	real := len(all)

	// Rendered photos, worse than visitors take: small, far out of focus, from aside. Every second work is in the index.
	dir := measured(t, "cc0works")
	rows := table(t, filepath.Join(dir, "works.csv"))
	var refs []Reference
	for i, row := range rows {
		if i%2 == 0 {
			refs = append(refs, Reference{ExhibitID: row[0], Picture: row[len(row)-1], Path: filepath.Join(dir, "images", row[len(row)-1])})
		}
	}
	r = indexed95(t, refs)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; i < 3*len(rows); i += 2 {
				row := rows[i%len(rows)]
				s := shot{photo: fmt.Sprintf("rendered photo %d of %s", i, row[0]), framed: true}
				if i%len(rows)%2 == 0 {
					s.exhibits = []string{row[0]}
				}
				picture := gocv.IMRead(filepath.Join(dir, "images", row[len(row)-1]), gocv.IMReadColor)
				rng := rand.New(rand.NewPCG(uint64(i), 6))
				p := synthetic.Random(rng, synthetic.Hard)
				p.Fill, p.Defocus, p.ShiftX, p.ShiftY = 0.1+0.4*rng.Float64(), 5*rng.Float64(), 0, 0
				m, _, err := synthetic.Render(picture, p)
				picture.Close()
				if err != nil {
					t.Error(err)
					return
				}
				s.sets = see(t, m, sizes)
				m.Close()
				mu.Lock()
				count(r, s)
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	a, b := logistic(all)
	t.Logf("%d candidates of real photos, %d of rendered ones; best curve 1 / (1 + exp(%.2f − %.2f × inliers)), one half at %.1f", real, len(all)-real, a, b, a/b)
	var sure, wrong int
	for _, bin := range [][2]int{{5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9}, {10, 11}, {12, 14}, {15, 19}, {20, math.MaxInt}} {
		var n, right, said float64
		for _, j := range all {
			if j.inliers >= bin[0] && j.inliers <= bin[1] {
				n++
				said += confidence(j.inliers)
				if j.right {
					right++
				}
			}
		}
		if n > 0 {
			t.Logf("%d+ inliers: %3.0f candidates, %.2f of them right, confidence %.2f", bin[0], n, right/n, said/n)
		}
	}
	for _, j := range all {
		if j.inliers >= matchInliers {
			sure++
			if !j.right {
				wrong++
			}
		}
	}
	if sure == 0 || 100*wrong > sure {
		t.Errorf("%d of %d candidates that would be sure are wrong, want at most 1 %%", wrong, sure)
	}
	if half := a / b; math.Abs(half-confidenceHalf) > 1.5 {
		t.Errorf("candidates are as often right as wrong at %.1f inliers, the confidence says %.1f", half, confidenceHalf)
	}
}

// logistic is the logistic curve 1 / (1 + exp(a − b·inliers)) of greatest likelihood, by Newton's method, with half an
// observation of either kind added at 5 and at 20 inliers, so that there is one where the kinds do not overlap.
func logistic(data []judged) (a, b float64) {
	for range 50 {
		var ga, gb, haa, hab, hbb float64
		add := func(x, y, weight float64) {
			p := 1 / (1 + math.Exp(a-b*x))
			ga, gb = ga-weight*(y-p), gb+weight*(y-p)*x
			w := weight * p * (1 - p)
			haa, hab, hbb = haa+w, hab-w*x, hbb+w*x*x
		}
		for _, j := range data {
			y := 0.0
			if j.right {
				y = 1
			}
			add(min(float64(j.inliers), 20), y, 1)
		}
		for _, x := range []float64{5, 20} {
			add(x, 0, 0.5)
			add(x, 1, 0.5)
		}
		det := haa*hbb - hab*hab
		if det < 1e-12 {
			break
		}
		a, b = a+(hbb*ga-hab*gb)/det, b+(haa*gb-hab*ga)/det
	}
	return a, b
}

func TestLogisticFindsTheCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var data []judged
	for range 20_000 {
		n := 5 + rng.IntN(12)
		data = append(data, judged{n, rng.Float64() < 1/(1+math.Exp(8.5-float64(n)))})
	}
	if a, b := logistic(data); math.Abs(a-8.5) > 0.3 || math.Abs(b-1) > 0.04 {
		t.Errorf("curve %.2f, %.2f, want 8.5 and 1", a, b)
	}
}
