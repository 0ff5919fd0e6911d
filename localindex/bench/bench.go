// Package bench measures how fast a release is built, opened and searched, and how much memory it takes, on a gallery that
// is made up: words drawn as a language draws them, in English and in Chinese.
package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"docent/localindex"
)

// Question is one search of the measurement.
type Question struct {
	Text     string `json:"text"`
	Language string `json:"language"`
}

// Built is how a release was built.
type Built struct {
	Exhibits          int     `json:"exhibits"`
	Passages          int     `json:"passages"`
	BuildS            float64 `json:"build_s"`
	PassagesPerSecond float64 `json:"passages_per_s"`
	BuildCPUS         float64 `json:"build_cpu_s"` // of all cores
	ReleaseMiB        float64 `json:"release_mib"`
}

// questionsFile holds the questions, beside the release.
const questionsFile = "questions.json"

// Build makes a release in dir/release and questions beside it.
func Build(ctx context.Context, dir string, exhibits, passages, questions int) (Built, error) {
	if exhibits < 1 || passages < 2*exhibits || questions < 1 {
		return Built{}, fmt.Errorf("build gallery to measure: %d exhibits with %d passages and %d questions will not do", exhibits, passages, questions)
	}
	g, all, asked := newGallery(exhibits, passages, questions)
	began, busy := time.Now(), cpu(unix.CLOCK_PROCESS_CPUTIME_ID)
	m, _, err := localindex.Pack(ctx, g, all, dir, ReleaseDir(dir), localindex.Options{CacheDir: filepath.Join(dir, "cache")})
	if err != nil {
		return Built{}, err
	}
	took, busy := time.Since(began).Seconds(), cpu(unix.CLOCK_PROCESS_CPUTIME_ID)-busy
	size := int64(0)
	for _, f := range m.Files {
		size += f.Size
	}
	data, err := json.Marshal(asked)
	if err != nil {
		return Built{}, fmt.Errorf("write questions: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, questionsFile), data, 0o644); err != nil {
		return Built{}, fmt.Errorf("write questions: %w", err)
	}
	return Built{exhibits, len(all), took, float64(len(all)) / took, busy.Seconds(), float64(size) / (1 << 20)}, nil
}

// ReleaseDir is where Build puts the release.
func ReleaseDir(dir string) string { return filepath.Join(dir, "release") }

// Searched is how a release was opened and searched.
type Searched struct {
	Mode      localindex.Mode `json:"mode"`
	Questions int             `json:"questions"`
	OpenMS    float64         `json:"open_ms"`
	P50       float64         `json:"p50_ms"`
	P95       float64         `json:"p95_ms"`
	P99       float64         `json:"p99_ms"`
	// CPUP50 and CPUP95 are of the processor's time: what a search takes where nothing else runs on the machine.
	CPUP50 float64 `json:"cpu_p50_ms"`
	CPUP95 float64 `json:"cpu_p95_ms"`
	// RSSMiB is the memory of the whole process (resident, Linux only): before the release was opened,
	// and after all searches.
	RSSBeforeMiB float64 `json:"rss_before_mib"`
	RSSMiB       float64 `json:"rss_mib"`
	// ReleaseRSSMiB is what the opened release takes of it; the rest is the program with its libraries.
	ReleaseRSSMiB float64 `json:"release_rss_mib"`
}

// Search opens the release that Build made and asks its questions, each with an exhibit in hand half of the time. It should
// run in a process of its own: what was built there before would count as memory.
func Search(ctx context.Context, dir string, mode localindex.Mode) (_ Searched, err error) {
	data, err := os.ReadFile(filepath.Join(dir, questionsFile))
	if err != nil {
		return Searched{}, fmt.Errorf("read questions: %w", err)
	}
	var asked []Question
	if err := json.Unmarshal(data, &asked); err != nil {
		return Searched{}, fmt.Errorf("read questions: %w", err)
	}
	s := Searched{Mode: mode, Questions: len(asked), RSSBeforeMiB: rss()}
	began := time.Now()
	release, err := localindex.Open(ctx, ReleaseDir(dir))
	if err != nil {
		return Searched{}, err
	}
	defer func() { err = errors.Join(err, release.Close()) }()
	s.OpenMS = ms(time.Since(began))
	runtime.LockOSThread() // whose clock is read
	defer runtime.UnlockOSThread()
	took, busy := make([]float64, 0, len(asked)), make([]float64, 0, len(asked))
	exhibits := release.Gallery().Exhibits
	for i, q := range asked {
		query := localindex.Query{Text: q.Text, Language: q.Language, Mode: mode}
		if i%2 == 1 {
			query.Exhibit = exhibits[i%len(exhibits)].ID
		}
		began, idle := time.Now(), cpu(unix.CLOCK_THREAD_CPUTIME_ID)
		if _, err := release.Search(ctx, query); err != nil {
			return Searched{}, err
		}
		took, busy = append(took, ms(time.Since(began))), append(busy, ms(cpu(unix.CLOCK_THREAD_CPUTIME_ID)-idle))
	}
	slices.Sort(took)
	slices.Sort(busy)
	s.P50, s.P95, s.P99 = percentile(took, 0.50), percentile(took, 0.95), percentile(took, 0.99)
	s.CPUP50, s.CPUP95 = percentile(busy, 0.50), percentile(busy, 0.95)
	runtime.GC()
	debug.FreeOSMemory()
	s.RSSMiB = rss()
	s.ReleaseRSSMiB = s.RSSMiB - s.RSSBeforeMiB
	return s, nil
}

// cpu is the time of the processor that a clock has counted, 0 where there is no such clock.
func cpu(clock int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// rss is the resident memory of this process in MiB, 0 where that is not known.
func rss() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib float64
		if _, err := fmt.Sscanf(strings.TrimSpace(lines.Text()), "VmRSS: %f kB", &kib); err == nil {
			return kib / 1024
		}
	}
	return 0
}

// percentile is the smallest value that at least that share of the sorted values does not exceed.
func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
