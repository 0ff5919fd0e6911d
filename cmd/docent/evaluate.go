package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"docent/localindex/vector"
	"docent/vision/evaluate"
)

type evaluateCmd struct {
	Recognition evaluateRecognitionCmd `cmd:"" help:"Recognise photos whose exhibits are known, and count what was right."`
	Retrieval   evaluateRetrievalCmd   `cmd:"" help:"Ask questions whose passages are known, and count which were found."`
	Answers     evaluateAnswersCmd     `cmd:"" help:"Ask the guide questions whose answers are known, and say how true and how well founded it answered."`
}

type evaluateRecognitionCmd struct {
	Catalogue   string `required:"" type:"existingfile" help:"CSV with the columns id, title, artist, room, image."`
	References  string `required:"" type:"existingdir" help:"Folder of the catalogue's pictures."`
	Photos      string `required:"" type:"existingdir" help:"Folder of visitors' photos."`
	Labels      string `required:"" type:"existingfile" help:"CSV with the columns photo, exhibits (ids with spaces between; empty: not in the catalogue)."`
	Distractors string `type:"existingdir" help:"Folder of further pictures to put into the index, which no photo shows."`
	Invented    int    `help:"Invented paintings to put into the index, which no photo shows either." placeholder:"N"`
	Index       string `enum:"auto,exact,hnsw" default:"auto" help:"Vector index: auto, exact or hnsw."`
	Threads     int    `help:"Threads to use; by default one for each core."`
	JSON        string `name:"json" help:"Write the report to this file, - for standard output." placeholder:"FILE"`
}

func (c evaluateRecognitionCmd) Run(ctx context.Context, t *terminal) error {
	bar := newProgress(t.err, "Recognising")
	report, err := evaluate.Run(ctx, evaluate.Options{
		Catalogue: c.Catalogue, References: c.References, Photos: c.Photos, Labels: c.Labels, Distractors: c.Distractors,
		Invented: c.Invented, Threads: c.Threads, Index: vector.Kind(c.Index), Progress: bar.set, Logger: t.log,
	})
	bar.end()
	if errors.Is(err, evaluate.ErrInput) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	return t.summary(c.JSON, report)
}

// progress draws a bar on a terminal, and nothing anywhere else.
type progress struct {
	w     io.Writer
	label string
	drawn bool
}

const progressWidth = 40

func newProgress(w io.Writer, label string) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		w = nil
	}
	return &progress{w: w, label: label}
}

func (p *progress) set(done, total int) {
	if p.w == nil || total <= 0 {
		return
	}
	filled := progressWidth * done / total
	fmt.Fprintf(p.w, "\r%s [%s%s] %d/%d", p.label, strings.Repeat("█", filled), strings.Repeat("·", progressWidth-filled), done, total)
	p.drawn = true
}

// end clears the bar.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
