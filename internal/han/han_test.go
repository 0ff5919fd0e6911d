package han

import (
	"testing"
	"unicode/utf8"
)

func TestSimplify(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"no Chinese", "Da Ke Ding, 1951 – café", "Da Ke Ding, 1951 – café"},
		{"simplified stays", "大克鼎是西周晚期的青铜器", "大克鼎是西周晚期的青铜器"},
		{"traditional", "青銅器與銘文：裡面鑄有290字", "青铜器与铭文：里面铸有290字"},
		{"forms of everyday writing", "臺灣、台湾、颱風、檯子", "台湾、台湾、台风、台子"},
		{"several to one", "後、后", "后、后"},
		{"variants of print", "說、説", "说、说"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Simplify(tt.in); got != tt.want {
				t.Errorf("Simplify(%s) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

// TestTable checks that folding twice changes nothing more, and that every entry keeps offsets.
func TestTable(t *testing.T) {
	m := table()
	if len(m) < 2500 {
		t.Fatalf("the table has only %d characters", len(m))
	}
	for from, to := range m {
		if again, ok := m[to]; ok {
			t.Errorf("%c becomes %c becomes %c", from, to, again)
		}
		if utf8.RuneLen(from) != utf8.RuneLen(to) {
			t.Errorf("%c and %c differ in length", from, to)
		}
	}
}

func FuzzSimplify(f *testing.F) {
	for _, s := range []string{"", "青銅器", "\xff\xe5", "a後b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		got := Simplify(s)
		if len(got) != len(s) || Simplify(got) != got {
			t.Errorf("Simplify(%q) = %q", s, got)
		}
	})
}
