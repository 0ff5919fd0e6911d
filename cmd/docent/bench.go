package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"docent/localindex"
	"docent/localindex/bench"
)

type benchCmd struct {
	Search      benchSearchCmd      `cmd:"" help:"Build, open and search a made-up gallery, and measure time and memory."`
	Recognition benchRecognitionCmd `cmd:"" help:"Recognise photos in collections of growing size, and measure time, memory and the ratio to brute force."`
	Sync        benchSyncCmd        `cmd:"" help:"Simulate kiosks against a hub of its own, over TLS, and measure how fast events become durable."`
}

type benchSearchCmd struct {
	Exhibits  int    `default:"1000" help:"Exhibits of the gallery."`
	Passages  int    `default:"10000" help:"Passages of the gallery, in two languages together."`
	Questions int    `default:"1000" help:"Questions to ask."`
	Mode      string `enum:"bm25,dense,hybrid" default:"hybrid" help:"What answers: bm25, dense or hybrid."`
	Opened    string `hidden:"" type:"existingdir" help:"Only open and search what is in this folder; for the process that is measured."`
	JSON      string `name:"json" help:"Write the report to this file, - for standard output." placeholder:"FILE"`
}

// benchSearchReport is what was measured.
type benchSearchReport struct {
	bench.Built
	bench.Searched
}

func (c benchSearchCmd) Run(ctx context.Context, t *terminal) (err error) {
	if c.Opened != "" {
		searched, err := bench.Search(ctx, c.Opened, localindex.Mode(c.Mode))
		if err != nil {
			return err
		}
		return json.NewEncoder(t.out).Encode(searched)
	}
	dir, err := os.MkdirTemp("", "docent-bench-")
	if err != nil {
		return fmt.Errorf("make folder to measure in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var r benchSearchReport
	if r.Built, err = bench.Build(ctx, dir, c.Exhibits, c.Passages, c.Questions); err != nil {
		return err
	}
	if r.Searched, err = searchApart(ctx, dir, c.Mode); err != nil {
		return err
	}
	if inWords, err := t.report(c.JSON, r); err != nil || !inWords {
		return err
	}
	_, err = fmt.Fprintf(t.out, `%d passages of %d exhibits: built in %.1f s (%.0f passages/s, %.1f s of the processor, %.1f MiB on disk)
opened in %.0f ms; %d searches (%s): %.2f ms (p50), %.2f ms (p95), %.2f ms (p99); of the processor %.2f ms (p50), %.2f ms (p95)
memory of the opened release: %.0f MiB; of the whole process, with its libraries: %.0f MiB
`, r.Passages, r.Exhibits, r.BuildS, r.PassagesPerSecond, r.BuildCPUS, r.ReleaseMiB,
		r.OpenMS, r.Searched.Questions, r.Mode, r.P50, r.P95, r.P99, r.CPUP50, r.CPUP95, r.ReleaseRSSMiB, r.RSSMiB)
	return err
}

// searchApart searches in a process of its own, whose memory holds nothing of the building.
func searchApart(ctx context.Context, dir, mode string) (bench.Searched, error) {
	program, err := os.Executable()
	if err != nil {
		return bench.Searched{}, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "bench", "search", "--opened", dir, "--mode", mode)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return bench.Searched{}, fmt.Errorf("search in a process of its own: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var s bench.Searched
	if err := json.Unmarshal(out, &s); err != nil {
		return bench.Searched{}, fmt.Errorf("read what was measured: %w", err)
	}
	return s, nil
}
