// Package selftest tries a fresh recognition index out: it takes rendered visitors' photos of the gallery's own
// pictures, has them recognised, and says which exhibits are hard to recognise and which are taken for each other. A few
// of the photos are noted in the release, for a kiosk to try before it shows the release.
package selftest

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"docent/localindex/gallery"
	"docent/vision"
)

// What a self-test costs at most. A view takes some 150 ms of one core, a comparison some 50 ms.
const (
	MaxViews    = 400  // of all pictures; where there are more pictures, some are left out
	maxOfOne    = 2    // views of one picture
	maxCompared = 3000 // pictures that are compared with the others
)

// maxListed is how many entries of a list are kept for staff: more than anybody mends at once.
const maxListed = 100

// Report is what the self-test found. Lists are cut at 100 entries; the counts are of all.
type Report struct {
	Pictures   int `json:"pictures"`   // of the index
	Tried      int `json:"tried"`      // of which views were taken
	Views      int `json:"views"`      // visitors' photos that were rendered
	Recognised int `json:"recognised"` // the right exhibit was named surely
	Offered    int `json:"offered"`    // it was among the cards to choose from
	Missed     int `json:"missed"`     // it was not found
	Wrong      int `json:"wrong"`      // another exhibit was named surely

	Weak       []Weak `json:"weak,omitempty"` // worst first
	WeakCount  int    `json:"weak_count"`
	Pairs      []Pair `json:"pairs,omitempty"` // worst first
	PairsCount int    `json:"pairs_count"`
}

// Share is the part of the views of which the right exhibit was named surely, 0 to 1.
func (r Report) Share() float64 { return float64(r.Recognised) / float64(max(1, r.Views)) }

// Weak is a picture that is hard to recognise.
type Weak struct {
	Exhibit  string `json:"exhibit"`
	Picture  string `json:"picture"`
	Few      bool   `json:"few_features,omitempty"` // it has too few details
	Features int    `json:"features,omitempty"`     // how many, where there are too few
	Views    int    `json:"views"`                  // 0 where the picture was not tried
	Missed   []View `json:"missed,omitempty"`       // that it was not found on
}

// Pair is two exhibits that look alike.
type Pair struct {
	A        string `json:"a"`
	B        string `json:"b"`
	PictureA string `json:"picture_a"`
	PictureB string `json:"picture_b"`
	// Inliers is how many details of one picture lie on the other as on a photo of it, 0 where they were not compared or
	// do not.
	Inliers int    `json:"inliers"`
	Unsure  int    `json:"unsure"`          // views on which visitors are asked which of both it is
	Wrong   []View `json:"wrong,omitempty"` // views of one that were surely named as the other
}

// Part is the self-test as a part of a release. It must be built after the recognition index.
type Part struct {
	Options vision.Options
}

// PartName is the name of the part.
const PartName = "self-test"

// Name is [PartName].
func (Part) Name() string { return PartName }

// Build tries the index beside partDir and writes the views for kiosks into partDir. The report is a [Report].
func (p Part) Build(ctx context.Context, g *gallery.Gallery, galleryDir, partDir string) (any, error) {
	recogniser, err := vision.Open(filepath.Join(filepath.Dir(partDir), vision.IndexPart{}.Name()), p.Options)
	if err != nil {
		return nil, err
	}
	defer recogniser.Close()
	report, views, err := Run(ctx, recogniser, g, func(file string) string {
		return filepath.Join(galleryDir, filepath.FromSlash(file))
	}, p.Options)
	if err != nil {
		return nil, err
	}
	if err := writeViews(filepath.Join(partDir, viewsFile), views); err != nil {
		return nil, err
	}
	return report, nil
}

// picture is a picture to be tried.
type picture struct{ exhibit, file string }

// outcome is what came of one view.
type outcome struct {
	view  View
	taken bool // false where the picture cannot be rendered
	seen  vision.Recognition
}

// Run tries a recogniser on views of a gallery's pictures, which it reads at path. It returns the findings and some
// views that were recognised, for [Try].
func Run(ctx context.Context, r *vision.Recogniser, g *gallery.Gallery, path func(file string) string, o vision.Options) (Report, []View, error) {
	var pictures []picture
	for _, e := range g.Exhibits {
		for _, p := range e.Pictures {
			pictures = append(pictures, picture{e.ID, p.File})
		}
	}
	outcomes, err := takeViews(ctx, r, pictures, path, o)
	if err != nil {
		return Report{}, nil, fmt.Errorf("self-test: %w", err)
	}
	alike, err := r.LookAlikes(ctx, maxCompared)
	if err != nil {
		return Report{}, nil, fmt.Errorf("self-test: %w", err)
	}
	report := summarise(len(pictures), outcomes, r.Report().Weak, alike)
	return report, viewsToKeep(outcomes), nil
}

// takeViews takes views of the pictures, as many as are allowed, and has them recognised.
func takeViews(ctx context.Context, r *vision.Recogniser, pictures []picture, path func(string) string, o vision.Options) ([]outcome, error) {
	ofOne := min(max(MaxViews/max(1, len(pictures)), 1), maxOfOne)
	tried := min(len(pictures), MaxViews/ofOne)
	outcomes := make([]outcome, tried*ofOne)
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(threads)
	for k := range tried {
		p := pictures[k*len(pictures)/tried]
		group.Go(func() error {
			src, err := load(path(p.file))
			if err != nil {
				return fmt.Errorf("picture %s of exhibit %s: %w", p.file, p.exhibit, err)
			}
			defer src.Close()
			for n := range ofOne {
				out := &outcomes[k*ofOne+n]
				out.view = View{Exhibit: p.exhibit, Picture: p.file, Number: n}
				photo, err := out.view.Take(src.Image)
				if err != nil { // far longer than wide, say
					log.Warn("no view of a picture can be rendered", "picture", p.file, "error", err)
					return nil
				}
				out.seen, err = r.Recognise(ctx, photo)
				photo.Close()
				if err != nil {
					return err
				}
				out.taken = true
			}
			return nil
		})
	}
	return outcomes, group.Wait()
}

// right says whether the answer to a view is the right exhibit, surely.
func (o outcome) right() bool {
	return o.taken && o.seen.Decision == vision.DecisionMatch && o.seen.Candidates[0].ExhibitID == o.view.Exhibit
}

// offered says whether the right exhibit is among the answers.
func (o outcome) offered() bool {
	return slices.ContainsFunc(o.seen.Candidates, func(c vision.Candidate) bool { return c.ExhibitID == o.view.Exhibit })
}
