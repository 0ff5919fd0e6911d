package speech

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sound is a WAV file as the program streams it: lengths unknown.
func sound(samples int) []byte {
	b := make([]byte, wavHead+samples*2)
	copy(b, "RIFF\xff\xff\xff\x7fWAVEfmt ")
	copy(b[36:], "data\xff\xff\xff\x7f")
	return b
}

// program is a voice that runs a shell script instead.
func program(t *testing.T, script string) *Voice {
	t.Helper()
	path := filepath.Join(t.TempDir(), "voice")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return newVoice(path)
}

func TestSay(t *testing.T) {
	v := Find()
	if v == nil {
		t.Skip("espeak-ng is not installed")
	}
	for _, tt := range []struct{ language, text string }{
		{"en", "Each seed is turned by the golden angle."},
		{"zh", "每一粒种子都比前一粒转过黄金角。"},
		{"zh-Hans", "黄金角"},
		{"en", "-f /etc/passwd <audio src='x'/>"},
	} {
		wav, err := v.Say(t.Context(), tt.language, tt.text)
		if err != nil {
			t.Errorf("%s %q: %v", tt.language, tt.text, err)
			continue
		}
		rate, length := binary.LittleEndian.Uint32(wav[24:]), binary.LittleEndian.Uint32(wav[40:])
		seconds := float64(length) / 2 / float64(rate)
		if int(length) != len(wav)-wavHead || seconds < 0.3 || seconds > 30 {
			t.Errorf("%s %q lasts %.1f s in %d bytes", tt.language, tt.text, seconds, len(wav))
		}
	}
}

func TestSayRefuses(t *testing.T) {
	v := program(t, "exit 1")
	for _, tt := range []struct {
		name, language, text string
		want                 error
	}{
		{"no such voice", "fr", "Bonjour", ErrLanguage},
		{"nothing", "en", " \n\t", ErrText},
		{"too much", "en", strings.Repeat("a", MaxText+1), ErrText},
	} {
		if _, err := v.Say(t.Context(), tt.language, tt.text); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	var none *Voice
	if _, err := none.Say(t.Context(), "en", "x"); !errors.Is(err, ErrLanguage) {
		t.Errorf("without a program: %v", err)
	}
	if d := cmp.Diff([]string{"en", "zh"}, v.Languages([]string{"en", "it", "zh"})); d != "" {
		t.Error(d)
	}
	if got := none.Languages([]string{"en"}); len(got) != 0 {
		t.Errorf("without a program: %v", got)
	}
}

func TestProgramFails(t *testing.T) {
	for name, script := range map[string]string{
		"ends badly":      "echo no such voice >&2; exit 1",
		"says nothing":    "cat >/dev/null",
		"is no WAV":       "head -c 100 /dev/zero",
		"never ends well": "head -c 20000000 /dev/zero",
	} {
		if wav, err := program(t, script).Say(t.Context(), "en", "Hello"); err == nil {
			t.Errorf("%s: %d bytes", name, len(wav))
		}
	}
}

func TestTextIsNoOption(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wav")
	if err := os.WriteFile(file, sound(10), 0o644); err != nil {
		t.Fatal(err)
	}
	v := program(t, fmt.Sprintf(`echo "$@" > %s/args; cat > %s/text; cat %s`, dir, dir, file))
	if _, err := v.Say(t.Context(), "en", "--path=/etc\x00 -f\nx\xff"); err != nil {
		t.Fatal(err)
	}
	args, _ := os.ReadFile(filepath.Join(dir, "args"))
	text, _ := os.ReadFile(filepath.Join(dir, "text"))
	if strings.Contains(string(args), "etc") || string(text) != "--path=/etc -f x" {
		t.Errorf("args %q, text %q", args, text)
	}
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wav")
	if err := os.WriteFile(file, sound(1000), 0o644); err != nil {
		t.Fatal(err)
	}
	v := program(t, fmt.Sprintf("echo x >> %s/runs; cat %s", dir, file))
	for range 3 {
		wav, err := v.Say(t.Context(), "en", "Hello")
		if err != nil || len(wav) != wavHead+2000 {
			t.Fatalf("%d bytes, %v", len(wav), err)
		}
	}
	if runs, _ := os.ReadFile(filepath.Join(dir, "runs")); bytes.Count(runs, []byte("x")) != 1 {
		t.Errorf("the program ran for each: %q", runs)
	}
	for i := range 200 { // of 200 KB each
		v.keep([32]byte{1, byte(i)}, make([]byte, 200<<10))
	}
	if v.bytes > cacheBytes || len(v.said) != len(v.order) {
		t.Errorf("%d bytes in %d sentences are kept", v.bytes, len(v.said))
	}
}

func TestSayEndsWithItsContext(t *testing.T) {
	v := program(t, "exec sleep 30")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Say(ctx, "en", "Hello"); err == nil {
		t.Error("said")
	}
}

func FuzzClean(f *testing.F) {
	f.Add("Hello\nworld")
	f.Add("\xff\x00- –")
	f.Fuzz(func(t *testing.T, text string) {
		got := clean(text)
		if strings.ContainsAny(got, "\n\r\x00\x1b") || got != strings.TrimSpace(got) || got != clean(got) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
