package prose

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"English", "one two", []string{"one", " two "}},
		{"Chinese", "图案馆", []string{"图案", "馆"}},
		{"Chinese and English", "图案 pattern 馆", []string{"图案", "pattern", "馆"}},
		{"divided word", "a program names", []string{"a pro-", "gram names"}},
		{"compound", "a well-known one", []string{"a well-known", "one"}},
		{"compound with a hyphen elsewhere", "state-of-the-art", []string{"state-of-", "the-art"}},
		{"name", "Jean-Paul", []string{"Jean-", "Paul"}},
		{"number", "COVID-19", []string{"COVID-", "19"}},
		{"dash", "this - that", []string{"this -", "that"}},
		{"soft hyphen", "program", []string{"pro\u00AD", "gram"}},
		{"divided twice", "incomprehensible", []string{"incom-", "prehen-", "sible"}},
		{"empty lines", "a b", []string{"", "a", "  ", "b", ""}},
	} {
		if got := Join(c.lines); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTidy(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"  a \t b\u00A0c  ", "a b c"}, {"a \n\n b", "a\nb"}, {"a\x02b", "a b"}, {"图\x02案", "图案"}, {"图 案", "图 案"},
		{"a\u200Bb\uFEFF\x07c\uFFFD", "abc"}, {"cafe\u0301", "café"}, {"", ""}, {"\n\x02 ", ""},
	} {
		if got := Tidy(c.in); got != c.want {
			t.Errorf("Tidy(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"English", "One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"abbreviations", "Dr. Smith came c. 1890, e.g. No. 5 by J. Doe. He left.", []string{"Dr. Smith came c. 1890, e.g. No. 5 by J. Doe.", "He left."}},
		{"decimals", "It is 3.14 metres. It weighs 2.5 kg.", []string{"It is 3.14 metres.", "It weighs 2.5 kg."}},
		{"Chinese", "一句。二句！三句？“四句。”五句", []string{"一句。", "二句！", "三句？", "“四句。”", "五句"}},
		{"narrow marks in Chinese", "真的吗?是的!好", []string{"真的吗?", "是的!", "好"}},
		{"paragraphs", "One\n\nTwo", []string{"One", "Two"}},
	} {
		var got []string
		for _, p := range Sentences(c.text) {
			got = append(got, p.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSameWords(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a b", "ab", true}, {"", " \n", true}, {"a", "b", false}, {"a", "a b", false}, {"图 案", "图案\n", true}, {"\xff", "\uFFFD", false},
	} {
		if got := SameWords(c.a, c.b); got != c.want {
			t.Errorf("SameWords(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "a", "一句。二句！", "a\n\nb\nc", strings.Repeat("x", 500), "e" + strings.Repeat("\u0301", 300), "\xff\xfe. A", "1. 2. 3.\u3000"} {
		f.Add(s, 40)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		if max < WideUnits || max > 10_000 {
			return
		}
		pieces := Split(s, max)
		var b strings.Builder
		for _, p := range pieces {
			if n := Units(p.Text); n > max+maxMarkUnits {
				t.Errorf("a piece of %d units, more than %d", n, max)
			}
			if strings.TrimSpace(p.Text) != p.Text || p.Text == "" || strings.TrimSpace(p.Before) != "" {
				t.Errorf("piece %q after %q", p.Text, p.Before)
			}
			b.WriteString(p.Before + p.Text)
		}
		if !SameWords(b.String(), s) {
			t.Errorf("%q became %q", s, b.String())
		}
		packed := Pack(pieces, max)
		if !SameWords(strings.Join(packed, "\n"), s) {
			t.Errorf("%q was packed into %q", s, packed)
		}
	})
}

func FuzzTidy(f *testing.F) {
	for _, s := range []string{"", " a\nb ", "图\x02案", "\u00ad-\n", "\xff", "e\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Tidy(s)
		if !utf8.ValidString(once) || Tidy(once) != once {
			t.Errorf("Tidy(%q) = %q, which is not tidy: %q", s, once, Tidy(once))
		}
		if joined := Join(strings.Split(s, "\n")); strings.Contains(joined, "\n\n") || !utf8.ValidString(joined) {
			t.Errorf("Join made %q", joined)
		}
	})
}
