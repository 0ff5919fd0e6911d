package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"docent/localindex"
	"docent/localindex/ingest"
	"docent/localindex/release"
	"docent/localindex/sample"
	"docent/vision"
	"docent/vision/selftest"
)

type galleryCmd struct {
	New     galleryNewCmd     `cmd:"" help:"Write the sample gallery into a new folder, to look at or to start from."`
	Check   galleryCheckCmd   `cmd:"" help:"Explain every mistake in a gallery's folder, by file and line."`
	Build   galleryBuildCmd   `cmd:"" help:"Pack a gallery's folder into a release that a kiosk can open."`
	Sign    gallerySignCmd    `cmd:"" help:"Sign a release, so that kiosks will take it."`
	Publish galleryPublishCmd `cmd:"" help:"Give a signed release to a hub, which brings it to its kiosks."`
	Bundle  galleryBundleCmd  `cmd:"" help:"Write what a hub publishes to one file, for a stick."`
	Mirror  galleryMirrorCmd  `cmd:"" help:"Write what a hub publishes to a folder, for a web server."`
	Status  galleryStatusCmd  `cmd:"" help:"Say how far each document of a gallery came, and why it went no further."`
}

type galleryNewCmd struct {
	Dir string `arg:"" help:"Folder to write; it must not exist or be empty."`
}

func (c galleryNewCmd) Run(ctx context.Context, t *terminal) error {
	if err := sample.Write(ctx, c.Dir); err != nil {
		return err
	}
	_, err := fmt.Fprintf(t.out, "The sample gallery is in %s. Change what you like, then: docent gallery check %s\n", c.Dir, c.Dir)
	return err
}

type galleryCheckCmd struct {
	Dir string `arg:"" type:"existingdir" help:"Folder with gallery.yaml, or with catalogue.csv and pictures."`
}

func (c galleryCheckCmd) Run(ctx context.Context, t *terminal) (err error) {
	builder, err := newContentBuilder(ctx, t.log)
	if err != nil {
		return usageError{err}
	}
	defer func() { err = builder.close(err) }()
	g, problems, err := localindex.Check(ctx, c.Dir, builder.options)
	if err != nil {
		return err
	}
	printProblems(t.out, problems)
	if n := ingest.Errors(problems); n > 0 {
		return fmt.Errorf("%s: %s to mend", c.Dir, count(n, "mistake"))
	}
	verdict := "nothing to mend"
	if n := len(problems); n > 0 {
		verdict = "nothing that has to be mended, " + count(n, "warning")
	}
	_, err = fmt.Fprintf(t.out, "%s: %s, %s, %s.\n", c.Dir, count(len(g.Exhibits), "exhibit"), count(len(g.Sections), "text"), verdict)
	return err
}

type galleryBuildCmd struct {
	Dir    string `arg:"" type:"existingdir" help:"Folder with gallery.yaml, or with catalogue.csv and pictures."`
	Out    string `help:"Folder of the release; by default DIR/releases/NUMBER." placeholder:"RELEASE"`
	Number int    `help:"Number of the release; by default one more than the last in DIR/releases."`
	Before string `type:"existingdir" help:"Release before: what did not change since stays the same bytes, and need not travel to kiosks again. By default the last in DIR/releases." placeholder:"RELEASE"`
	JSON   string `name:"json" help:"Write the release's manifest to this file." placeholder:"FILE"`

	SelfTest bool `default:"true" negatable:"" help:"Try recognition on made-up visitors' photos of the pictures."`
}

func (c galleryBuildCmd) Run(ctx context.Context, t *terminal) error {
	releases := filepath.Join(c.Dir, "releases")
	last, err := lastRelease(releases)
	if err != nil {
		return err
	}
	number, before := c.Number, c.Before
	if number == 0 {
		number = last + 1
	}
	if before == "" && last > 0 {
		before = filepath.Join(releases, strconv.Itoa(last))
	}
	out := c.Out
	if out == "" {
		if err := os.MkdirAll(releases, 0o755); err != nil {
			return fmt.Errorf("make folder of releases: %w", err)
		}
		out = filepath.Join(releases, strconv.Itoa(number))
	}
	if _, err := os.Lstat(filepath.Join(out, release.ManifestFile)); err == nil {
		return usageError{fmt.Errorf("there is a release in %s already, and releases never change: leave out --number for the next one, or name another folder with --out", out)}
	}
	var tests []release.Part
	if c.SelfTest {
		tests = append(tests, selftest.Part{Options: vision.Options{Logger: t.log}})
	}
	manifest, problems, err := buildRelease(ctx, t, c.Dir, out, before, number, tests...)
	printProblems(t.out, problems)
	if err != nil {
		return err
	}
	if _, err := t.report(c.JSON, manifest); err != nil {
		return err
	}
	var report vision.Report
	if err := json.Unmarshal(manifest.Parts[vision.IndexPart{}.Name()], &report); err != nil {
		return fmt.Errorf("read what the recognition index says of itself: %w", err)
	}
	fmt.Fprintf(t.out, "Release %s is in %s: %s, %s, vector index %s (recall %.3f).\n", manifest.ID, out,
		count(report.Exhibits, "exhibit"), count(report.Pictures, "picture"), report.VectorIndex.Kind, report.VectorIndex.Recall)
	if n := report.Neural; n != nil {
		fmt.Fprintln(t.out, neuralLine(*n))
	}
	return c.printSelfTest(t, out, manifest)
}

// printSelfTest prints what the self-test found, and writes it down for staff.
func (c galleryBuildCmd) printSelfTest(t *terminal, out string, m release.Manifest) error {
	report, tested, err := selfTestReport(m)
	if err != nil || !tested {
		return err
	}
	for _, line := range selfTestLines(report) {
		fmt.Fprintln(t.out, line)
	}
	pages, err := writeSelfTestPages(out, report)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "With pictures, for your staff: %s\n", strings.Join(pages, " and "))
	return nil
}

// buildRelease packs the folder dir into out, with everything a kiosk needs, and more parts behind it. before is the
// release before, empty where there is none.
func buildRelease(ctx context.Context, t *terminal, dir, out, before string, number int, more ...release.Part) (_ release.Manifest, _ []ingest.Problem, err error) {
	builder, err := newContentBuilder(ctx, t.log)
	if err != nil {
		return release.Manifest{}, nil, usageError{err}
	}
	defer func() { err = builder.close(err) }()
	o := builder.options
	o.Number = number
	recognition := vision.IndexPart{Options: vision.Options{Logger: t.log}}
	if before != "" {
		recognition.Options.Before = filepath.Join(before, release.PartsFolder, recognition.Name())
	}
	o.Parts = append([]release.Part{recognition}, more...)
	return localindex.Build(ctx, dir, out, o)
}

// lastRelease is the highest number of a release in dir, 0 where there is none.
func lastRelease(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("list releases: %w", err)
	}
	last := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > last {
			last = n
		}
	}
	return last, nil
}

func printProblems(w io.Writer, problems []ingest.Problem) {
	for _, p := range problems {
		fmt.Fprintln(w, p)
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
