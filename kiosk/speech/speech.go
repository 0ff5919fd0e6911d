// Package speech reads sentences aloud with eSpeak NG, a program of the system, for pages whose browser has no voice of
// its own. In: a language and a sentence. Out: a WAV file, kept in memory for the next time within a bound.
package speech

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read.
const (
	MaxText = 600 // characters, the longest sentence a page sends

	wordsPerMinute = "150"
	sayWait        = 10 * time.Second
	maxSound       = 16 << 20 // bytes: 600 characters last about a minute, 2.6 MB
	atOnce         = 2
	cacheBytes     = 24 << 20
)

// Errors of [Voice.Say].
var (
	ErrLanguage = errors.New("no voice for this language")
	ErrText     = errors.New("nothing to read, or too much")
	ErrBusy     = errors.New("too many sentences are being read")
)

// voices are the names of eSpeak's voices by language. Cantonese and others have voices too; the page speaks these.
var voices = map[string]string{"en": "en-gb", "zh": "cmn"}

// Voice reads sentences. It is safe for concurrent use.
type Voice struct {
	program string
	slots   chan struct{}

	mu    sync.Mutex
	bytes int
	order [][32]byte // oldest first
	said  map[[32]byte][]byte
}

// Find returns the system's voice, or nil where espeak-ng is not installed.
func Find() *Voice {
	program, err := exec.LookPath("espeak-ng")
	if err != nil {
		return nil
	}
	return newVoice(program)
}

func newVoice(program string) *Voice {
	return &Voice{program: program, slots: make(chan struct{}, atOnce), said: map[[32]byte][]byte{}}
}

// Languages are those among wanted that there is a voice for. A nil voice has none.
func (v *Voice) Languages(wanted []string) []string {
	out := []string{}
	for _, l := range wanted {
		if v != nil && voices[base(l)] != "" {
			out = append(out, l)
		}
	}
	return out
}

func base(language string) string {
	b, _, _ := strings.Cut(strings.ToLower(language), "-")
	return b
}

// Say returns the sound of a sentence as a WAV file of 16 bits, one channel. The bytes are shared and must not be
// changed. The error is ErrLanguage, ErrText or ErrBusy, or says why the program failed.
func (v *Voice) Say(ctx context.Context, language, text string) ([]byte, error) {
	name := voices[base(language)]
	if v == nil || name == "" {
		return nil, ErrLanguage
	}
	text = clean(text)
	if text == "" || utf8.RuneCountInString(text) > MaxText {
		return nil, ErrText
	}
	key := sha256.Sum256([]byte(name + "\x00" + text))
	if wav, ok := v.recall(key); ok {
		return wav, nil
	}
	ctx, cancel := context.WithTimeout(ctx, sayWait)
	defer cancel()
	select {
	case v.slots <- struct{}{}:
		defer func() { <-v.slots }()
	case <-ctx.Done():
		return nil, ErrBusy
	}
	wav, err := v.run(ctx, name, text)
	if err != nil {
		return nil, fmt.Errorf("read aloud: %w", err)
	}
	v.keep(key, wav)
	return wav, nil
}

// clean leaves one line of plain text. The text goes to the program's standard input, so it cannot be taken for an
// option; without -m, marks such as < are read as they are.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

func (v *Voice) run(ctx context.Context, voice, text string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, v.program, "-v", voice, "-s", wordsPerMinute, "-b", "1", "--stdin", "--stdout")
	cmd.Stdin = strings.NewReader(text)
	cmd.WaitDelay = time.Second
	var complaint limited
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	wav, readErr := io.ReadAll(io.LimitReader(out, maxSound+1))
	if len(wav) > maxSound {
		readErr = errors.New("the sound is longer than it can be")
		_ = cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil && readErr == nil {
		return nil, fmt.Errorf("%w: %s", err, complaint.text.String())
	}
	if readErr != nil {
		return nil, readErr
	}
	return finish(wav)
}

// limited keeps the first kilobyte.
type limited struct{ text bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.text.Write(p[:min(len(p), max(0, 1024-l.text.Len()))])
	return len(p), nil
}

const wavHead = 44

// finish writes the true lengths into the head of a WAV file, which the program cannot know while it streams. Without
// them a browser takes a sentence to last for hours.
func finish(wav []byte) ([]byte, error) {
	if len(wav) <= wavHead || string(wav[:4]) != "RIFF" || string(wav[8:16]) != "WAVEfmt " || string(wav[36:40]) != "data" {
		return nil, errors.New("the program gave no sound")
	}
	binary.LittleEndian.PutUint32(wav[4:], uint32(len(wav)-8))
	binary.LittleEndian.PutUint32(wav[40:], uint32(len(wav)-wavHead))
	return wav, nil
}

func (v *Voice) recall(key [32]byte) ([]byte, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	wav, ok := v.said[key]
	return wav, ok
}

// keep remembers a sentence; the oldest are forgotten.
func (v *Voice) keep(key [32]byte, wav []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.said[key]; ok || len(wav) > cacheBytes/4 {
		return
	}
	v.said[key] = wav
	v.order = append(v.order, key)
	v.bytes += len(wav)
	for v.bytes > cacheBytes {
		v.bytes -= len(v.said[v.order[0]])
		delete(v.said, v.order[0])
		v.order = v.order[1:]
	}
}
