package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadNothing(t *testing.T) {
	if _, _, err := Read(t.Context(), filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v, want ErrNotExist", err)
	}
	if _, _, err := Read(t.Context(), t.TempDir()); !errors.Is(err, ErrNotGallery) {
		t.Errorf("error is %v, want ErrNotGallery", err)
	}
}

func TestReadStopsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "testdata/good.txtar", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Read(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
}

// TestLinksStayInside puts a link to a file outside of the folder where a text belongs.
func TestLinksStayInside(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "testdata/good.txtar", dir)
	secret := filepath.Join(t.TempDir(), "secret.md")
	write(t, secret, []byte("---\ntitle: Secret\nhall: clay\n---\nSecret words."))
	if err := os.Symlink(secret, filepath.Join(dir, "exhibits", "secret.md")); err != nil {
		t.Fatal(err)
	}
	g, problems, err := Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range g.Sections {
		if strings.Contains(s.Text, "Secret words") {
			t.Errorf("section %s was read from outside of the folder", s.ID)
		}
	}
	if Errors(problems) == 0 {
		t.Error("no problem was reported")
	}
}

func TestCleanText(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		line           int
		problem        string
	}{
		{"plain", "a\nb", "a\nb", 0, ""},
		{"byte order mark", "\ufeffa", "a", 0, ""},
		{"line ends", "a\r\nb\rc", "a\nb\nc", 0, ""},
		{"composed", "e\u0301", "é", 0, ""},
		{"UTF-16", "\xff\xfea\x00", "", 1, "UTF-16"},
		{"Latin-1", "a\nb\ncaf\xe9", "", 3, "UTF-8"},
		{"GB18030", "\xb9\xc5\xb6\xa6", "", 1, "UTF-8"},
		{"binary", "a\nb\x00c", "", 2, "control character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, line, problem := cleanText([]byte(tt.in))
			if string(got) != tt.want || line != tt.line || !strings.Contains(problem, tt.problem) || (problem == "") != (tt.problem == "") {
				t.Errorf("cleanText = %q, line %d, %q", got, line, problem)
			}
		})
	}
}

func TestTextTooLarge(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, GalleryFile), []byte("id: x\n"))
	if err := os.Truncate(filepath.Join(dir, GalleryFile), MaxTextBytes+1); err != nil {
		t.Fatal(err)
	}
	_, problems, err := Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Problem{{File: GalleryFile, Severity: Error, Message: "this file is larger than 8 MiB, the most a text may have"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	rep := &report{}
	for i := range maxProblems + 5 {
		rep.warnf("a", i+1, "w")
	}
	rep.errorf("z", 1, "e")
	problems := rep.sorted()
	if n := Errors(problems); n != 1 {
		t.Errorf("%d errors, want the one behind all the warnings", n)
	}
	if last := problems[len(problems)-1]; len(problems) != maxProblems+2 || !strings.Contains(last.Message, "5 more warnings") {
		t.Errorf("%d problems, the last is %v", len(problems), last)
	}
}

func TestOverNested(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		line       int
	}{
		{"plain", "a\n\n- b\n  - c\n\n> > d\n\n---\n\n" + strings.Repeat("-", 200) + "\n\n1.5 m - that is it", 0},
		{"quotations", "a\n" + strings.Repeat(">", 1000) + "x", 2},
		{"quotations with spaces", strings.Repeat("> ", 1000) + "x", 1},
		{"lists", strings.Repeat("- ", 1000) + "x", 1},
		{"numbered lists", strings.Repeat("1. ", 1000) + "x", 1},
		{"indented", "a\n\n" + strings.Repeat(" ", 500) + "- x", 3},
		{"links", strings.Repeat("[a](", 6000), 1},
		{"links over many lines", strings.Repeat("[a](\n", 6000), 5001},
		{"links in many paragraphs", strings.Repeat("[a](b)\n\n", 6000), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rep := &report{}
			parseMarkdown("f.md", 10, []byte(tt.body), "T", nil, rep)
			line := 0
			for _, p := range rep.problems {
				if p.Severity == Error {
					line = p.Line - 10
				}
			}
			if line != tt.line {
				t.Errorf("error in line %d, want %d: %v", line, tt.line, rep.problems)
			}
		})
	}
}

func TestSuggestion(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"lable", `: did you mean "label"?`},
		{"Title", `: did you mean "title"?`},
		{"halls", `: did you mean "hall"?`},
		{"zzz", "; known are label, title, hall"},
		{strings.Repeat("x", 1000), "; known are label, title, hall"},
	} {
		if got := suggestion(tt.word, []string{"label", "title", "hall"}); got != tt.want {
			t.Errorf("suggestion(%.10s) = %s, want %s", tt.word, got, tt.want)
		}
	}
}

func TestSeparator(t *testing.T) {
	for in, want := range map[string]rune{
		"id,title": ',', "id;title": ';', "id\ttitle\ta,b": '\t', "\"a,b,c\";title": ';', "id": ',',
	} {
		if got := separator([]byte(in + "\n;;;;;\t\t\t")); got != want {
			t.Errorf("separator(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSlugOf(t *testing.T) {
	for in, want := range map[string]string{
		"Room 3 (West)": "room-3-west", "000": "000", "鼎": "", "--a--": "a", strings.Repeat("ab ", 50): strings.Repeat("ab-", 21) + "a",
	} {
		if got := slugOf(in); got != want || got != "" && !slug.MatchString(got) {
			t.Errorf("slugOf(%q) = %q, want %q", in, got, want)
		}
	}
}
