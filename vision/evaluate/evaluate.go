// Package evaluate measures recognition on photos whose exhibits are known: it builds an index of a catalogue's
// pictures, recognises every photo and says how often the answer was right, wrong or rightly refused.
package evaluate

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/localindex/vector"
	"docent/vision"
	"docent/vision/synthetic"
)

// Options says what is measured.
type Options struct {
	Catalogue   string      // CSV file with the columns id, title, artist, room, image
	References  string      // folder of the catalogue's pictures
	Photos      string      // folder of the photos
	Labels      string      // CSV file with the columns photo, exhibits
	Distractors string      // folder of pictures added to the index that no photo shows; may be empty
	Invented    int         // invented paintings added to the index, which no photo shows either
	Threads     int         // photos recognised at the same time and goroutines in all; 0 means GOMAXPROCS
	Index       vector.Kind // auto (also ""), exact or hnsw
	WorkDir     string      // folder for the index while it is measured; "" means a temporary one
	// Progress is told, one call at a time, how many photos are done; nil tells nobody.
	Progress func(done, total int)
	Logger   *slog.Logger
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// Report is what was measured. Shares are 0…1, times milliseconds.
type Report struct {
	References  int                `json:"references"` // pictures in the index, distractors and invented ones among them
	Invented    int                `json:"invented,omitempty"`
	Photos      []PhotoResult      `json:"photos"`  // in the order of the labels
	Known       int                `json:"known"`   // photos of works in the catalogue
	Unknown     int                `json:"unknown"` // photos of none
	Top1        float64            `json:"top1"`    // share of known photos whose first answer is a listed exhibit
	Top5        float64            `json:"top5"`    // share of known photos with a listed exhibit among the first five
	FalseAccept Count              `json:"false_accept"`
	Decisions   Decisions          `json:"decisions"`
	Latency     Percentiles        `json:"latency_ms"` // from the decoded photo to the answer
	Stages      map[string]float64 `json:"stages_ms"`  // mean of each stage
	VectorIndex vector.Report      `json:"vector_index"`
	BuildMS     float64            `json:"build_ms"`
	Threads     int                `json:"threads"`
}

// Count is a number and its share of the whole.
type Count struct {
	Count int     `json:"count"`
	Share float64 `json:"share"`
}

// Decisions counts the decisions over all photos.
type Decisions struct {
	Match   int `json:"match"`
	Choose  int `json:"choose"`
	Unknown int `json:"unknown"`
}

// Percentiles of times in milliseconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// PhotoResult is the answer to one photo.
type PhotoResult struct {
	Photo      string          `json:"photo"`
	Exhibits   []string        `json:"exhibits"` // what it shows, from the labels
	Decision   vision.Decision `json:"decision"`
	Answer     string          `json:"answer"` // first candidate, "" for unknown
	Confidence float64         `json:"confidence"`
	Inliers    int             `json:"inliers"`
	MS         float64         `json:"ms"`
	Others     []string        `json:"others,omitempty"`  // further candidates
	Refused    string          `json:"refused,omitempty"` // why the photo was not looked at; it counts as unknown

	timings vision.Timings
}

// distractorPrefix marks the exhibits that are distractors; no catalogue id starts so.
const distractorPrefix = "distractor:"

// Run measures. Every mistake in the input is an error that names the file, and the line where there is one.
func Run(ctx context.Context, o Options) (Report, error) {
	refs, labels, err := readInput(o)
	if err != nil {
		return Report{}, err
	}
	start := time.Now()
	invented, err := invent(ctx, o)
	if err != nil {
		return Report{}, err
	}
	refs = append(refs, invented...)
	dir := o.WorkDir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "docent-recognition-*"); err != nil {
			return Report{}, fmt.Errorf("make a folder for the index: %w", err)
		}
		defer os.RemoveAll(dir)
	}
	options := vision.Options{Threads: o.Threads, Index: o.Index, Logger: o.Logger}
	built, err := vision.BuildIndex(ctx, refs, dir, options)
	if err != nil {
		return Report{}, err
	}
	buildTime := time.Since(start)
	recogniser, err := vision.Open(dir, options)
	if err != nil {
		return Report{}, err
	}
	defer recogniser.Close()

	photos, err := recogniseAll(ctx, recogniser, labels, o, o.threads())
	if err != nil {
		return Report{}, err
	}
	report := summarise(photos)
	report.References, report.Invented = built.Pictures, o.Invented
	report.VectorIndex = built.VectorIndex
	report.BuildMS = milliseconds(buildTime)
	report.Threads = o.threads()
	return report, nil
}

// readInput reads catalogue, labels and folders.
func readInput(o Options) ([]vision.Reference, []label, error) {
	refs, err := readCatalogue(o.Catalogue, o.References)
	if err != nil {
		return nil, nil, err
	}
	known := make(map[string]bool)
	for _, r := range refs {
		known[r.ExhibitID] = true
	}
	labels, err := readLabels(o.Labels, o.Photos, known)
	if err != nil {
		return nil, nil, err
	}
	if o.Distractors != "" {
		more, err := listPictures(o.Distractors)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, more...)
	}
	return refs, labels, nil
}

// maxInvented bounds the features kept in memory until the index is built, some 150 kB for each.
const maxInvented = 50_000

// invent describes the paintings that Options asks for, the same ones every time.
func invent(ctx context.Context, o Options) ([]vision.Reference, error) {
	if o.Invented < 0 || o.Invented > maxInvented {
		return nil, fmt.Errorf("%w: %d invented paintings, 0 to %d are possible", ErrInput, o.Invented, maxInvented)
	}
	refs := make([]vision.Reference, o.Invented)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.threads())
	for i := range refs {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			picture := synthetic.Invented(rand.New(rand.NewPCG(0xfab1e, uint64(i))))
			defer picture.Close()
			set, err := vision.Describe(picture)
			if err != nil {
				return fmt.Errorf("describe invented painting: %w", err)
			}
			name := fmt.Sprintf("invented %d", i)
			refs[i] = vision.Reference{ExhibitID: distractorPrefix + name, Picture: name, Features: &set}
			return nil
		})
	}
	return refs, g.Wait()
}

// recogniseAll recognises the photos, threads of them at a time.
func recogniseAll(ctx context.Context, r *vision.Recogniser, labels []label, o Options, threads int) ([]PhotoResult, error) {
	results := make([]PhotoResult, len(labels))
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		count := 0
		for range done {
			count++
			if o.Progress != nil {
				o.Progress(count, len(labels))
			}
		}
	}()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for i, l := range labels {
		g.Go(func() error {
			result, err := recogniseOne(ctx, r, l, o.Photos)
			if err != nil {
				return err
			}
			results[i] = result
			done <- struct{}{}
			return nil
		})
	}
	err := g.Wait()
	close(done)
	<-finished
	return results, err
}

func recogniseOne(ctx context.Context, r *vision.Recogniser, l label, dir string) (PhotoResult, error) {
	if err := ctx.Err(); err != nil {
		return PhotoResult{}, err
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.photo)))
	if err != nil {
		return PhotoResult{}, fmt.Errorf("read photo: %w", err)
	}
	photo, err := vision.Decode(data)
	if err != nil { // a kiosk refuses it too
		return PhotoResult{Photo: l.photo, Exhibits: l.exhibits, Decision: vision.DecisionUnknown, Refused: err.Error()}, nil
	}
	defer photo.Close()
	start := time.Now()
	recognition, err := r.Recognise(ctx, photo)
	if err != nil {
		return PhotoResult{}, fmt.Errorf("photo %s: %w", l.photo, err)
	}
	result := PhotoResult{
		Photo:    l.photo,
		Exhibits: l.exhibits,
		Decision: recognition.Decision,
		MS:       milliseconds(time.Since(start)),
		timings:  recognition.Timings,
	}
	for i, c := range recognition.Candidates {
		if i == 0 {
			result.Answer, result.Confidence, result.Inliers = c.ExhibitID, c.Confidence, c.Inliers
		} else {
			result.Others = append(result.Others, c.ExhibitID)
		}
	}
	return result, nil
}

// summarise counts.
func summarise(photos []PhotoResult) Report {
	r := Report{Photos: photos, Stages: make(map[string]float64)}
	var top1, top5 int
	var times []float64
	for _, p := range photos {
		switch p.Decision {
		case vision.DecisionMatch:
			r.Decisions.Match++
		case vision.DecisionChoose:
			r.Decisions.Choose++
		default:
			r.Decisions.Unknown++
		}
		accepted := p.Decision == vision.DecisionMatch || p.Decision == vision.DecisionChoose
		switch {
		case len(p.Exhibits) == 0:
			r.Unknown++
			if p.Decision == vision.DecisionMatch {
				r.FalseAccept.Count++
			}
		default:
			r.Known++
			if accepted && slices.Contains(p.Exhibits, p.Answer) {
				top1++
			}
			answers := append([]string{p.Answer}, p.Others...)
			if slices.ContainsFunc(answers[:min(5, len(answers))], func(a string) bool { return slices.Contains(p.Exhibits, a) }) {
				top5++
			}
		}
		if p.Refused != "" {
			continue
		}
		times = append(times, p.MS)
		for name, d := range map[string]time.Duration{
			"features": p.timings.Features, "shortlist": p.timings.Shortlist, "verify": p.timings.Verify, "total": p.timings.Total,
		} {
			r.Stages[name] += milliseconds(d)
		}
	}
	r.Top1, r.Top5 = share(top1, r.Known), share(top5, r.Known)
	r.FalseAccept.Share = share(r.FalseAccept.Count, r.Unknown)
	for name := range r.Stages {
		r.Stages[name] /= float64(len(times))
	}
	slices.Sort(times)
	r.Latency = Percentiles{P50: percentile(times, 50), P95: percentile(times, 95), P99: percentile(times, 99)}
	return r
}

// share is a part of a whole, 0 of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// percentile is the smallest of the sorted values that p per cent of them do not exceed.
func percentile(sorted []float64, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Summary is the report in words, for a terminal.
func (r Report) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "photos        %d known, %d unknown, against %d references\n", r.Known, r.Unknown, r.References)
	fmt.Fprintf(&b, "first answer  %.1f %% right (top five %.1f %%)\n", 100*r.Top1, 100*r.Top5)
	fmt.Fprintf(&b, "false names   %d of %d unknown photos (%.1f %%)\n", r.FalseAccept.Count, r.Unknown, 100*r.FalseAccept.Share)
	fmt.Fprintf(&b, "decisions     match %d, choose %d, unknown %d\n", r.Decisions.Match, r.Decisions.Choose, r.Decisions.Unknown)
	fmt.Fprintf(&b, "time          p50 %.0f ms, p95 %.0f ms, p99 %.0f ms (features %.0f, shortlist %.0f, check %.0f on average)\n",
		r.Latency.P50, r.Latency.P95, r.Latency.P99, r.Stages["features"], r.Stages["shortlist"], r.Stages["verify"])
	fmt.Fprintf(&b, "vector index  %s, recall %.3f; built in %.1f s\n", r.VectorIndex.Kind, r.VectorIndex.Recall, r.BuildMS/1000)
	return b.String()
}
