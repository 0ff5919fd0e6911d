// Package bench measures how fast recognition is as a collection grows, and how that compares with checking every
// reference: it invents a collection, or takes a folder of pictures, photographs some of its works and recognises them.
package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"docent/localindex/vector"
	"docent/vision"
	"docent/vision/synthetic"
)

// Options says what is measured.
type Options struct {
	Sizes      []int       // references of each collection, at least 2 each
	References string      // folder of pictures that come first in each collection; the rest is invented. May be empty
	Photos     int         // photos of works, and half as many of other things; at least 1
	Threads    int         // goroutines in building and recognising; 0 means GOMAXPROCS
	Index      vector.Kind // auto (also ""), exact or hnsw
	// Progress is told what is being done and how much of it is done; nil tells nobody.
	Progress func(what string, done, total int)
	Logger   *slog.Logger
}

// maxPhotos bounds the photos kept in memory, a few MiB each.
const maxPhotos = 500

func (o Options) check() error {
	switch {
	case len(o.Sizes) == 0:
		return errors.New("no size of collection is given")
	case slices.Min(o.Sizes) < 2:
		return errors.New("a collection has at least 2 references")
	case slices.Max(o.Sizes) > maxReferences:
		return fmt.Errorf("a collection has at most %d references", maxReferences)
	case o.Photos < 1 || o.Photos > maxPhotos:
		return fmt.Errorf("%d photos: 1 to %d can be measured", o.Photos, maxPhotos)
	}
	return nil
}

// maxReferences bounds the features kept in memory while collections are built of them, some 150 kB for each.
const maxReferences = 50_000

// Report is what was measured.
type Report struct {
	Cores       int          `json:"cores"`
	Threads     int          `json:"threads"`
	Photos      int          `json:"photos"`       // of works of the collection, one at a time
	OtherPhotos int          `json:"other_photos"` // of things that are in no collection
	PhotoSide   int          `json:"photo_side"`   // longer side in pixels
	Collections []Collection `json:"collections"`
}

// Collection is what was measured with one size. Times are milliseconds unless their name ends in S.
type Collection struct {
	References   int     `json:"references"`
	Invented     int     `json:"invented"` // of these
	FeaturesEach float64 `json:"features_each"`

	// DescribeEachMS is the time for one picture's features, divided by the threads at work: the references times that,
	// and BuildS, is what building takes.
	DescribeEachMS float64       `json:"describe_each_ms"`
	BuildS         float64       `json:"build_s"` // training, votes, vectors, files; without describing the pictures
	OpenMS         float64       `json:"open_ms"`
	VectorIndex    vector.Report `json:"vector_index"`
	HeapEach       float64       `json:"heap_bytes_each"`   // of the opened index, for one reference
	MappedEach     float64       `json:"mapped_bytes_each"` // of files mapped into memory, for one reference

	Stages map[string]float64 `json:"stages_ms"` // mean of features, shortlist, check
	Total  Percentiles        `json:"total_ms"`  // decoded photo to answer
	First  int                `json:"first"`     // photos whose first answer is right
	// ProcessorMS is the processor's time for a photo of a work, on all cores together: unlike Total it is hardly longer
	// on a machine that is busy with other things.
	ProcessorMS float64     `json:"processor_ms"`
	Other       Percentiles `json:"other_ms"` // the same for photos of other things
	False       int         `json:"false"`    // other photos given a name as a sure match

	BruteForce BruteForce `json:"brute_force"` // SIFT, OpenCV's matcher, RANSAC
	CheckAll   BruteForce `json:"check_all"`   // this program's own features, matcher and MAGSAC++
}

// Percentiles of times in milliseconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Run measures the collections, smallest first.
func Run(ctx context.Context, o Options) (_ Report, err error) {
	if err := o.check(); err != nil {
		return Report{}, fmt.Errorf("measure recognition: %w", err)
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	sizes := slices.Compact(slices.Sorted(slices.Values(o.Sizes)))
	works, err := describe(ctx, o, sizes[len(sizes)-1], min(o.Photos, sizes[0]))
	if err != nil {
		return Report{}, fmt.Errorf("measure recognition: %w", err)
	}
	shots, err := photograph(ctx, o, works)
	defer func() { err = errors.Join(err, shots.close()) }()
	if err != nil {
		return Report{}, fmt.Errorf("measure recognition: %w", err)
	}
	report := Report{
		Cores: runtime.NumCPU(), Threads: o.Threads, Photos: len(shots.known), OtherPhotos: len(shots.other), PhotoSide: synthetic.DefaultWidth,
	}
	for _, n := range sizes {
		c, err := measure(ctx, o, works, shots, n)
		if err != nil {
			return Report{}, fmt.Errorf("measure recognition among %d references: %w", n, err)
		}
		report.Collections = append(report.Collections, c)
	}
	return report, nil
}

// measure builds and asks a collection of the first n works.
func measure(ctx context.Context, o Options, w works, s shots, n int) (_ Collection, err error) {
	dir, err := os.MkdirTemp("", "docent-bench-")
	if err != nil {
		return Collection{}, fmt.Errorf("make folder to measure in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	c := Collection{References: n, Invented: max(0, n-w.given), DescribeEachMS: w.eachMS}
	options := vision.Options{Threads: o.Threads, Index: o.Index, Logger: o.Logger}
	o.Progress(fmt.Sprintf("building %d", n), 0, 1)
	start := time.Now()
	built, err := vision.BuildIndex(ctx, w.references[:n], dir, options)
	if err != nil {
		return Collection{}, err
	}
	c.BuildS = time.Since(start).Seconds()
	c.FeaturesEach = float64(built.Features) / float64(n)
	c.VectorIndex = built.VectorIndex

	before := heap()
	start = time.Now()
	r, err := vision.Open(dir, options)
	if err != nil {
		return Collection{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	c.OpenMS = milliseconds(time.Since(start))
	c.HeapEach = float64(heap()-before) / float64(n)
	if mapped, err := os.Stat(filepath.Join(dir, "features.bin")); err == nil {
		c.MappedEach = float64(mapped.Size()) / float64(n)
	}

	if err := c.ask(ctx, o, r, s); err != nil {
		return Collection{}, err
	}
	o.Progress(fmt.Sprintf("checking all of %d", n), 0, 1)
	if c.BruteForce, err = bruteForce(ctx, s, w.references[:n], c.Total.P50, tutorial); err != nil {
		return Collection{}, err
	}
	c.CheckAll, err = bruteForce(ctx, s, w.references[:n], c.Total.P50, own)
	return c, err
}

// ask recognises the photos, one at a time.
func (c *Collection) ask(ctx context.Context, o Options, r *vision.Recogniser, s shots) error {
	if _, err := r.Recognise(ctx, s.known[0].photo); err != nil { // the first touches memory that was never touched
		return err
	}
	var known, other []float64
	stages := vision.Timings{}
	what := fmt.Sprintf("recognising among %d", c.References)
	start := processor()
	for i, shot := range slices.Concat(s.known, s.other) {
		if i == len(s.known) {
			c.ProcessorMS = milliseconds(processor()-start) / float64(i)
		}
		got, err := r.Recognise(ctx, shot.photo)
		if err != nil {
			return err
		}
		ms := milliseconds(got.Timings.Total)
		if shot.exhibit == "" {
			other = append(other, ms)
			if got.Decision == vision.DecisionMatch {
				c.False++
			}
		} else {
			known = append(known, ms)
			stages.Features += got.Timings.Features
			stages.Shortlist += got.Timings.Shortlist
			stages.Verify += got.Timings.Verify
			if len(got.Candidates) > 0 && got.Candidates[0].ExhibitID == shot.exhibit {
				c.First++
			}
		}
		o.Progress(what, i+1, len(s.known)+len(s.other))
	}
	each := time.Duration(len(known))
	c.Stages = map[string]float64{
		"features":  milliseconds(stages.Features / each),
		"shortlist": milliseconds(stages.Shortlist / each),
		"check":     milliseconds(stages.Verify / each),
	}
	c.Total, c.Other = percentiles(known), percentiles(other)
	return nil
}

// processor is the time this process has spent on all cores.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap is the bytes in use after a collection of what is not.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func percentiles(times []float64) Percentiles {
	slices.Sort(times)
	return Percentiles{P50: percentile(times, 50), P95: percentile(times, 95)}
}

// percentile is the smallest of the sorted values that p per cent of them do not exceed.
func percentile(sorted []float64, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
