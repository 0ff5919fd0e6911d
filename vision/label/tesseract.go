package label

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNotInstalled says that the tesseract program, or its data, is not on this machine.
var ErrNotInstalled = errors.New("tesseract is not installed")

// Limits of what goes to tesseract and comes from it.
const (
	maxPixels   = 4_000_000
	maxTable    = 512 << 10 // bytes
	maxComplain = 2 << 10
	askTimeout  = 10 * time.Second // for its version and languages
)

// program is tesseract on this machine.
type program struct {
	path      string
	version   string
	languages []string // installed, as tesseract names them
}

// findProgram asks the tesseract on the path what it is and has.
func findProgram(ctx context.Context) (program, error) {
	path, err := exec.LookPath("tesseract")
	if err != nil {
		return program{}, ErrNotInstalled
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	p := program{path: path}
	out, err := p.run(ctx, nil, "--version")
	if err != nil {
		return program{}, fmt.Errorf("ask tesseract for its version: %w", err)
	}
	p.version = strings.TrimPrefix(strings.SplitN(string(out), "\n", 2)[0], "tesseract ")
	out, err = p.run(ctx, nil, "--list-langs")
	if err != nil {
		return program{}, fmt.Errorf("ask tesseract for its languages: %w", err)
	}
	for _, line := range strings.Split(string(out), "\n")[1:] { // the first is a heading
		if name := strings.TrimSpace(line); name != "" && name != "osd" {
			p.languages = append(p.languages, name)
		}
	}
	return p, nil
}

// run runs tesseract to its end, or kills it when ctx is done.
func (p program) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.path, args...)
	// Its threads wait for each other more than they work: one is as fast and leaves the rest of the machine alone.
	cmd.Env = []string{"OMP_THREAD_LIMIT=1", "LC_ALL=C.UTF-8"}
	if dir, ok := os.LookupEnv("TESSDATA_PREFIX"); ok {
		cmd.Env = append(cmd.Env, "TESSDATA_PREFIX="+dir)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Stdin = bytes.NewReader(stdin)
	out, complaints := &bounded{most: maxTable, strict: true}, &bounded{most: maxComplain}
	cmd.Stdout, cmd.Stderr = out, complaints
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, fmt.Errorf("tesseract says more than %d bytes", maxTable)
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(complaints.kept.String()))
	}
	return out.kept.Bytes(), nil
}

// bounded keeps the first bytes that are written to it. Where it is strict, more is an error, which ends the writer.
type bounded struct {
	most   int
	strict bool
	kept   bytes.Buffer
	over   bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.most-b.kept.Len())
	b.kept.Write(p[:room])
	if b.over = b.over || room < len(p); b.over && b.strict {
		return room, io.ErrShortWrite
	}
	return len(p), nil
}

// readTable reads tesseract's table of words: level, page, block, paragraph, line, word, left, top, width, height,
// confidence, text. Rows that are not so are passed over.
func readTable(table []byte) Text {
	var t Text
	at, size := "", 0
	for row := range strings.SplitSeq(strings.ToValidUTF8(string(table), "\uFFFD"), "\n") {
		f := strings.SplitN(strings.TrimRight(row, "\r"), "\t", 12)
		if len(f) < 12 || f[0] != "5" {
			continue
		}
		word := strings.TrimSpace(f[11])
		sure, err := strconv.ParseFloat(f[10], 64)
		if err != nil || !(sure >= 0 && sure <= 100) || word == "" {
			continue
		}
		if size += len(word); size > maxText {
			break
		}
		if line := strings.Join(f[1:5], "."); line != at || len(t.Lines) == 0 {
			if len(t.Lines) == maxLines {
				break
			}
			at = line
			t.Lines = append(t.Lines, Line{})
		}
		l := &t.Lines[len(t.Lines)-1]
		if len(l.Words) < maxWords && len(word) <= maxWord {
			l.Words = append(l.Words, Word{Text: word, Confidence: sure / 100})
		}
	}
	t.Lines = slices.DeleteFunc(t.Lines, func(l Line) bool { return len(l.Words) == 0 })
	return t
}
