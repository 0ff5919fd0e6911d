package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"docent/localindex"
	"docent/localindex/pipeline"
)

type galleryStatusCmd struct {
	Dir  string `arg:"" type:"existingdir" help:"Folder with gallery.yaml."`
	Log  bool   `help:"Print what happened to each document, too."`
	JSON string `name:"json" help:"Write the states to this file, - for standard output." placeholder:"FILE"`
}

func (c galleryStatusCmd) Run(_ context.Context, t *terminal) error {
	documents, err := localindex.Documents(c.Dir)
	if err != nil {
		return err
	}
	if inWords, err := t.report(c.JSON, documents); err != nil || !inWords {
		return err
	}
	if len(documents) == 0 {
		fmt.Fprintf(t.out, "No document of %s to list: Markdown with facts is read as it is. Word, PDF, HTML and plain text stand here after: docent gallery check %s\n", c.Dir, c.Dir)
	} else if err := printDocuments(t.out, documents, c.Log); err != nil {
		return err
	}
	return c.printSelfTest(t)
}

// printSelfTest prints what the self-test of the last release found.
func (c galleryStatusCmd) printSelfTest(t *terminal) error {
	number, report, pages, err := lastSelfTest(c.Dir)
	if err != nil || number == 0 {
		return err
	}
	fmt.Fprintf(t.out, "\nRelease %d\n", number)
	for _, line := range selfTestLines(report) {
		fmt.Fprintf(t.out, "  %s\n", line)
	}
	if len(pages) > 0 {
		fmt.Fprintf(t.out, "  With pictures: %s\n", strings.Join(pages, " and "))
	}
	return nil
}

// printDocuments prints a line for each document, and what is to be said of it below.
func printDocuments(w io.Writer, documents []pipeline.Document, log bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DOCUMENT\tSTATE\tFORMAT\tPAGES\tTEXTS\tPASSAGES\tTOOK")
	for _, d := range documents {
		state := d.State()
		if d.Failed != nil {
			state = "failed at " + string(d.Failed.Step)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.File, state, dash(d.Format), number(d.Pages), number(d.Sections), number(d.Passages), took(d))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, d := range documents {
		var lines []string
		if d.Failed != nil {
			lines = append(lines, d.State())
		}
		if d.Reason != "" {
			lines = append(lines, fmt.Sprintf("divided by %s: %s", strings.Join(d.Chunkers, ", "), d.Reason))
		}
		lines = append(lines, d.Notes...)
		if log {
			for _, l := range d.Log {
				lines = append(lines, l.At.Local().Format("2006-01-02 15:04:05")+" "+l.Text)
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(w, "\n%s\n", d.File)
		}
		for _, l := range lines {
			fmt.Fprintf(w, "  %s\n", l)
		}
	}
	return nil
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func number(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

// took is how long the steps of a document itself took.
func took(d pipeline.Document) string {
	sum := 0.0
	for _, s := range d.Done {
		if slices.Contains([]pipeline.Step{pipeline.Parsed, pipeline.Chunked}, s.Step) {
			sum += s.MS
		}
	}
	return (time.Duration(sum*1000) * time.Microsecond).Round(time.Millisecond).String()
}
