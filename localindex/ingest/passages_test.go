package ingest

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
	"docent/localindex/internal/prose"
)

func TestPassages(t *testing.T) {
	zh := strings.Repeat("这是一句正好十个字。", 30)                               // 300 characters
	en := strings.Repeat("A sentence of exactly forty characters. ", 12) // 480
	for _, tt := range []struct {
		name string
		text string
		want []string
	}{
		{"nothing", "", nil},
		{"one short paragraph", "One. Two.", []string{"One. Two."}},
		{"short paragraphs stay together", "One.\n\nTwo.", []string{"One.\n\nTwo."}},
		{"long paragraphs part", zh + "\n\n" + zh, []string{zh, zh}},
		{"Chinese sentences", zh + zh, []string{strings.Repeat("这是一句正好十个字。", 40), strings.Repeat("这是一句正好十个字。", 20)}},
		{"English sentences", en + en, []string{
			strings.TrimSpace(strings.Repeat("A sentence of exactly forty characters. ", 17)),
			strings.TrimSpace(strings.Repeat("A sentence of exactly forty characters. ", 7)),
		}},
		{"abbreviations and numbers do not end a sentence",
			strings.Repeat("x", 300) + " by Dr. Smith c. 1890 at 1.5 m, " + strings.Repeat("y", 300) + " end. New " + strings.Repeat("z", 400) + ".",
			[]string{
				strings.Repeat("x", 300) + " by Dr. Smith c. 1890 at 1.5 m, " + strings.Repeat("y", 300) + " end.",
				"New " + strings.Repeat("z", 400) + ".",
			}},
		{"closing quotation mark stays", strings.Repeat("字", 398) + "。”" + strings.Repeat("文", 100) + "。",
			[]string{strings.Repeat("字", 398) + "。”", strings.Repeat("文", 100) + "。"}},
		{"sentence too long is cut at commas", strings.Repeat("字", 300) + "，" + strings.Repeat("文", 300) + "。",
			[]string{strings.Repeat("字", 300) + "，", strings.Repeat("文", 300) + "。"}},
		{"word too long is cut anywhere", strings.Repeat("x", 1500),
			[]string{strings.Repeat("x", 700), strings.Repeat("x", 700), strings.Repeat("x", 100)}},
		{"list items", strings.Repeat("• "+strings.Repeat("item ", 39)+"end\n", 5),
			[]string{
				strings.TrimSpace(strings.Repeat("• "+strings.Repeat("item ", 39)+"end\n", 3)),
				strings.TrimSpace(strings.Repeat("• "+strings.Repeat("item ", 39)+"end\n", 2)),
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for i, p := range Passages(gallery.Section{ID: "s", Text: tt.text}) {
				got = append(got, p.Text)
				if p.Section != "s" || p.ID != "s#"+string(rune('1'+i)) {
					t.Errorf("passage %d is %s of section %s", i, p.ID, p.Section)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("passages differ (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzPassages checks what must hold for any text: nothing is lost or added but white space, and none is too long.
// markUnits is by how much marks that belong to the last character may make a passage longer.
const markUnits = 100

func FuzzPassages(f *testing.F) {
	for _, s := range []string{
		"", "One. Two.\n\nThree", strings.Repeat("字", 900), strings.Repeat("a\u0301", 800), strings.Repeat("句。", 500),
		"\n\n\n", strings.Repeat("e.g. No. 5! \"Really?\" ", 60), strings.Repeat("\u0301", 3000), "\xff\xfe",
	} {
		f.Add(s)
	}
	squash := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var all strings.Builder
		for _, p := range Passages(gallery.Section{ID: "s", Text: text}) {
			if n := prose.Units(p.Text); n > maxPassageUnits+markUnits {
				t.Errorf("passage of %d units", n)
			}
			if strings.TrimSpace(p.Text) == "" {
				t.Errorf("passage %s is empty", p.ID)
			}
			all.WriteString(p.Text)
		}
		if got, want := squash(all.String()), squash(text); got != want {
			t.Errorf("text changed:\n got %q\nwant %q", got, want)
		}
	})
}
