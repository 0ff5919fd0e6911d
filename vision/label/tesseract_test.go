package label

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const someTable = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n" +
	"1\t1\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n" +
	"5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t96.5\tThe\n" +
	"5\t1\t1\t1\t1\t2\t0\t0\t9\t9\t90\tRed\tFan\n" +
	"5\t1\t1\t1\t2\t1\t0\t0\t9\t9\t50\t红\r\n" +
	"5\t1\t1\t1\t2\t2\t0\t0\t9\t9\t40\t扇\n" +
	"5\t1\t1\t1\t2\t3\t0\t0\t9\t9\t50\t2扇\n" +
	"5\t1\t1\t1\t2\t4\t0\t0\t9\t9\t50\t2\n" +
	"5\t1\t1\t2\t2\t1\t0\t0\t9\t9\t-1\tno confidence\n" +
	"5\t1\t1\t2\t2\t1\t0\t0\t9\t9\tNaN\tnone either\n" +
	"5\t1\t2\t1\t1\t1\t0\t0\t9\t9\t0\t \n" +
	"5\t1\t2\t1\t1\t1\t0\t0\t9\t9\t40\tlast\n5\t1\t2"

func TestReadTable(t *testing.T) {
	want := Text{Lines: []Line{
		{Words: []Word{{"The", .965}, {"Red\tFan", .9}}}, {Words: []Word{{"红", .5}, {"扇", .4}, {"2扇", .5}, {"2", .5}}}, {Words: []Word{{"last", .4}}},
	}}
	if d := cmp.Diff(want, readTable([]byte(someTable))); d != "" {
		t.Errorf("text (-want +got)\n%s", d)
	}
	if got := want.String(); got != "The Red\tFan\n红扇2扇2\nlast" {
		t.Errorf("as a string: %q", got)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add([]byte(someTable), "The Red Fan", "101")
	f.Add([]byte(strings.Repeat("5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t96\t\xff101\n", 200)), "", "10")
	f.Add([]byte("5\t\t\t\t\t\t\t\t\t\t1e9\tx"), "é", "1990.12")
	f.Fuzz(func(t *testing.T, table []byte, title, number string) {
		text := readTable(table)
		words := 0
		for _, l := range text.Lines {
			words += len(l.Words)
			if len(l.Words) == 0 || len(l.Words) > maxWords {
				t.Fatalf("a line of %d words", len(l.Words))
			}
		}
		if len(text.Lines) > maxLines || words > maxLines*maxWords {
			t.Fatalf("%d lines, %d words", len(text.Lines), words)
		}
		if len(title)+len(number) > 200 {
			return
		}
		m := text.Match(Names{Number: number, Accession: number, Titles: []string{title}})
		if !(m.Confidence >= 0 && m.Confidence <= 1) || m.Kinds < 0 || m.Kinds > 3 || m.Exact != (m.Kinds > 0) {
			t.Errorf("match %+v", m)
		}
	})
}

// stand puts a script in the place of tesseract.
func stand(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tesseract"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// answers is a tesseract that says what it is and then does something else with pictures.
func answers(then string) string {
	return "case \"$1\" in --version) echo 'tesseract 5.9.9';; --list-langs) printf 'List:\\neng\\nita\\nosd\\n';; *) " + then + ";; esac\n"
}

func TestFind(t *testing.T) {
	stand(t, answers(":"))
	r, err := Find(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.Version() != "5.9.9" || r.timeout != DefaultTimeout {
		t.Errorf("version %q, timeout %v", r.Version(), r.timeout)
	}
	if d := cmp.Diff([]string{"zh", "tlh"}, r.Missing([]string{"zh", "en-GB", "tlh", "it"})); d != "" {
		t.Errorf("missing (-want +got)\n%s", d)
	}
	for want, languages := range map[string][]string{
		"eng": {"zh-Hans", "tlh"}, "eng+ita": {"en-GB", "EN", "it"}, "ita+eng": {"it-CH", "zh", "en"}, "ita": {"it"},
	} {
		if got := r.data(languages); got != want {
			t.Errorf("data for %v: %s, want %s", languages, got, want)
		}
	}
	stand(t, "case \"$1\" in --list-langs) printf 'List:\\nosd\\n';; esac\n")
	if _, err := Find(t.Context(), 0); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("without data: %v", err)
	}
	stand(t, "echo broken >&2; exit 4\n")
	if _, err := Find(t.Context(), 0); err == nil || errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a broken tesseract: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(t.Context(), 0); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("no tesseract: %v", err)
	}
}

func TestTesseractThatMisbehaves(t *testing.T) {
	heir := filepath.Join(t.TempDir(), "heir")
	for name, c := range map[string]struct {
		script  string
		timeout time.Duration
		wrong   string // part of the error, "" for none
	}{
		"says nothing":      {"cat >/dev/null", time.Minute, ""},
		"reads nothing":     {":", time.Minute, ""},
		"hangs":             {"sleep 600", 300 * time.Millisecond, ""},
		"leaves an heir":    {"sleep 600 & echo $! > " + heir + "; wait", 300 * time.Millisecond, ""},
		"fails":             {"cat >/dev/null; echo out of memory >&2; exit 1", time.Minute, "out of memory"},
		"never ends to say": {"cat >/dev/null; yes", time.Minute, "tesseract says more"},
		"says nonsense":     {"cat >/dev/null; head -c 100000 /dev/urandom", time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stand(t, answers(c.script))
			r, err := Find(t.Context(), c.timeout)
			if err != nil {
				t.Fatal(err)
			}
			p := photo(t, card(t, latin(t), paper, ink, "205", "Hilbert curve", "David Hilbert, 1891"))
			defer p.Close()
			text, err := r.Read(t.Context(), p, both)
			if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("error %v, want %q", err, c.wrong)
			}
			if len(text.Lines) > 0 && name != "says nonsense" {
				t.Errorf("read %q", text)
			}
		})
	}
	pid, err := os.ReadFile(heir)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(string(pid))))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s lives on", pid)
		}
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	stand(t, answers("sleep 600"))
	r, err := Find(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	p := photo(t, card(t, latin(t), paper, ink, "205", "Hilbert curve", "David Hilbert, 1891"))
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := r.Read(ctx, p, both); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
