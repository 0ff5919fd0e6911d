package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"docent/localindex/vector"
	"docent/vision/bench"
)

type benchRecognitionCmd struct {
	Sizes      []int  `default:"100,1000" help:"References of each collection. 10,000 take some 10 minutes of processor time and 3 GB of memory to build."`
	References string `type:"existingdir" help:"Folder of pictures that each collection begins with; the rest is invented."`
	Photos     int    `default:"100" help:"Photos of works to take and recognise; half as many show other things."`
	Index      string `enum:"auto,exact,hnsw" default:"auto" help:"Vector index: auto, exact or hnsw."`
	Threads    int    `help:"Threads to use; by default one for each core."`
	JSON       string `name:"json" help:"Write the report to this file, - for standard output." placeholder:"FILE"`
}

func (c benchRecognitionCmd) Run(ctx context.Context, t *terminal) error {
	bar, doing := newProgress(t.err, ""), ""
	report, err := bench.Run(ctx, bench.Options{
		Sizes: c.Sizes, References: c.References, Photos: c.Photos, Threads: c.Threads, Index: vector.Kind(c.Index),
		Progress: func(what string, done, total int) {
			if what != doing {
				bar.end()
				bar, doing = newProgress(t.err, what), what
			}
			bar.set(done, total)
		},
	})
	bar.end()
	if err != nil {
		return err
	}
	if inWords, err := t.report(c.JSON, report); err != nil || !inWords {
		return err
	}
	return writeBench(t.out, report)
}

// writeBench writes a report as a table with a column for each collection.
func writeBench(w io.Writer, r bench.Report) error {
	fmt.Fprintf(w, "%d photos of %d px of framed works, %d of other things, one at a time; %d threads on %d cores\n\n",
		r.Photos, r.PhotoSide, r.OtherPhotos, r.Threads, r.Cores)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cell func(bench.Collection) string) {
		fmt.Fprint(table, name, "\t")
		for _, c := range r.Collections {
			fmt.Fprint(table, cell(c), "\t")
		}
		fmt.Fprintln(table)
	}
	number := func(name, format string, value func(bench.Collection) float64) {
		row(name, func(c bench.Collection) string { return fmt.Sprintf(format, value(c)) })
	}
	type at = bench.Collection
	row("references", func(c at) string { return fmt.Sprint(c.References) })
	row("of these invented", func(c at) string { return fmt.Sprint(c.Invented) })
	number("features each", "%.0f", func(c at) float64 { return c.FeaturesEach })
	number("features of the photo, ms", "%.1f", func(c at) float64 { return c.Stages["features"] })
	number("shortlist, ms", "%.1f", func(c at) float64 { return c.Stages["shortlist"] })
	number("check, ms", "%.1f", func(c at) float64 { return c.Stages["check"] })
	number("photo to answer, p50 ms", "%.0f", func(c at) float64 { return c.Total.P50 })
	number("photo to answer, p95 ms", "%.0f", func(c at) float64 { return c.Total.P95 })
	number("processor for a photo, ms", "%.0f", func(c at) float64 { return c.ProcessorMS })
	row("first answer right", func(c at) string { return fmt.Sprintf("%d of %d", c.First, r.Photos) })
	number("other things, p50 ms", "%.0f", func(c at) float64 { return c.Other.P50 })
	number("other things, p95 ms", "%.0f", func(c at) float64 { return c.Other.P95 })
	row("false names", func(c at) string { return fmt.Sprintf("%d of %d", c.False, r.OtherPhotos) })
	number("brute force, ms", "%.0f", func(c at) float64 { return c.BruteForce.PhotoMS })
	number("  times as long", "%.0f", func(c at) float64 { return c.BruteForce.Ratio })
	number("own check of all, ms", "%.0f", func(c at) float64 { return c.CheckAll.PhotoMS })
	number("  times as long", "%.0f", func(c at) float64 { return c.CheckAll.Ratio })
	number("heap for a reference, kB", "%.1f", func(c at) float64 { return c.HeapEach / 1000 })
	number("mapped for a reference, kB", "%.1f", func(c at) float64 { return c.MappedEach / 1000 })
	number("describing pictures, s", "%.1f", func(c at) float64 { return c.DescribeEachMS * float64(c.References) / 1000 })
	number("building the index, s", "%.1f", func(c at) float64 { return c.BuildS })
	number("opening it, ms", "%.0f", func(c at) float64 { return c.OpenMS })
	row("vector index", func(c at) string { return string(c.VectorIndex.Kind) })
	number("its recall", "%.3f", func(c at) float64 { return c.VectorIndex.Recall })
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	for _, c := range r.Collections {
		if c.BruteForce.Timed < c.References {
			fmt.Fprintf(w, "\nBrute force is timed on %d photos and at most %d references of each collection, and scaled.\n", c.BruteForce.Photos, c.BruteForce.Timed)
			break
		}
	}
	return nil
}
