// Package tesseract reads the text in pictures of pages with the tesseract program, where it is installed.
package tesseract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"docent/localindex/internal/prose"
)

// Limits.
const (
	Timeout     = 60 * time.Second // for one page; a dense page of Chinese takes 5 to 10
	MaxPixels   = 50_000_000       // of a picture
	maxOutput   = 8 << 20          // bytes that tesseract may answer
	maxMessage  = 4 << 10          // bytes of its complaints that are kept
	minWord     = 30               // words it is less sure of, of 100, are noise
	graceToExit = 2 * time.Second
)

// languages are those that are asked for, in the order tesseract tries them.
var languages = []string{"chi_sim", "eng"}

// ErrNotInstalled tells that tesseract, or its data for Chinese or English, is not there.
var ErrNotInstalled = errors.New("tesseract is not installed with chi_sim and eng")

// Recogniser runs tesseract. It is safe for concurrent use.
type Recogniser struct {
	program   string
	languages string
	timeout   time.Duration
}

// Find looks for tesseract on the path and asks which languages it has. With one of Chinese and English it uses that
// one; with none it returns [ErrNotInstalled].
func Find(ctx context.Context) (*Recogniser, error) {
	program, err := exec.LookPath("tesseract")
	if err != nil {
		return nil, ErrNotInstalled
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--list-langs").Output()
	if err != nil {
		return nil, fmt.Errorf("ask tesseract for its languages: %w", err)
	}
	known := strings.Fields(string(out))
	var use []string
	for _, l := range languages {
		if slices.Contains(known, l) {
			use = append(use, l)
		}
	}
	if len(use) == 0 {
		return nil, ErrNotInstalled
	}
	return &Recogniser{program: program, languages: strings.Join(use, "+"), timeout: Timeout}, nil
}

// String names the program and the languages it reads.
func (r *Recogniser) String() string { return "tesseract " + r.languages }

// Recognise returns the text of a page, a line of it on each line and an empty line between paragraphs, and the mean
// confidence of its letters, 0 to 1.
func (r *Recogniser) Recognise(ctx context.Context, page image.Image) (string, float64, error) {
	if b := page.Bounds(); b.Dx()*b.Dy() > MaxPixels {
		return "", 0, fmt.Errorf("recognise a page: it has %d × %d pixels, more than %d million", b.Dx(), b.Dy(), MaxPixels/1_000_000)
	}
	var picture bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&picture, page); err != nil {
		return "", 0, fmt.Errorf("encode a page for tesseract: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	command := exec.CommandContext(ctx, r.program, "stdin", "stdout", "-l", r.languages, "--dpi", "300", "tsv")
	command.Env = append(command.Environ(), "OMP_THREAD_LIMIT=1") // one page a core; its threads wait for each other
	command.Stdin = &picture
	command.WaitDelay = graceToExit
	out, complaints := &limited{left: maxOutput}, &limited{left: maxMessage}
	command.Stdout, command.Stderr = out, complaints
	err := command.Run()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return "", 0, fmt.Errorf("recognise a page: tesseract was not done after %v: %w", r.timeout, context.DeadlineExceeded)
	case ctx.Err() != nil:
		return "", 0, ctx.Err()
	case out.over:
		return "", 0, fmt.Errorf("recognise a page: tesseract answers more than %d MiB", maxOutput>>20)
	case err != nil:
		return "", 0, fmt.Errorf("recognise a page: %w: %s", err, strings.TrimSpace(complaints.String()))
	}
	text, confidence := readTSV(out.String())
	return text, confidence, nil
}

// limited keeps so many bytes and drops the rest.
type limited struct {
	kept bytes.Buffer // not embedded: its ReadFrom would go around the limit
	left int
	over bool
}

func (l *limited) String() string { return l.kept.String() }

var _ io.Writer = (*limited)(nil)

func (l *limited) Write(p []byte) (int, error) {
	keep := min(len(p), l.left)
	l.left -= keep
	l.over = l.over || keep < len(p)
	l.kept.Write(p[:keep])
	return len(p), nil
}

// readTSV reads tesseract's table: level, page, block, paragraph, line, word, left, top, width, height, confidence, text.
// Words of one line that are Chinese are written without spaces.
func readTSV(table string) (string, float64) {
	var b strings.Builder
	var sum float64
	letters := 0
	paragraph, line := "", ""
	for row := range strings.SplitSeq(table, "\n") {
		f := strings.SplitN(strings.TrimRight(row, "\r"), "\t", 12)
		if len(f) < 12 || f[0] != "5" {
			continue
		}
		confidence, err := strconv.ParseFloat(f[10], 64)
		word := strings.TrimSpace(f[11])
		if err != nil || !(confidence >= minWord && confidence <= 100) || word == "" { // what is no number, too
			continue
		}
		inParagraph, inLine := strings.Join(f[1:4], "."), strings.Join(f[1:5], ".")
		switch {
		case b.Len() == 0:
		case inParagraph != paragraph:
			b.WriteString("\n\n")
		case inLine != line:
			b.WriteByte('\n')
		default:
			last, _ := utf8.DecodeLastRuneInString(b.String())
			first, _ := utf8.DecodeRuneInString(word)
			if !(prose.Unspaced(last) || prose.Unspaced(first)) || unicode.IsLetter(last) && unicode.Is(unicode.Latin, first) {
				b.WriteByte(' ')
			}
		}
		paragraph, line = inParagraph, inLine
		b.WriteString(word)
		n := utf8.RuneCountInString(word)
		letters += n
		sum += confidence * float64(n)
	}
	if letters == 0 {
		return "", 0
	}
	return b.String(), sum / float64(letters) / 100
}
