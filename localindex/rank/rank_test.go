package rank

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func results(ids string) []Result {
	var out []Result
	for i, id := range strings.Fields(ids) {
		out = append(out, Result{id, 1 / float64(i+1)})
	}
	return out
}

func order(rs []Result) string {
	var ids []string
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func TestFuse(t *testing.T) {
	many := "d1"
	for i := 2; i <= 40; i++ {
		many += fmt.Sprintf(" d%d", i)
	}
	for _, tt := range []struct {
		name  string
		lists []List
		want  string
	}{
		{"nothing", nil, ""},
		{"one list keeps its order", []List{{results("c a b"), 1}}, "c a b"},
		{"both agree", []List{{results("a b"), 0.4}, {results("a b"), 0.6}}, "a b"},
		{"found by both goes before found by one", []List{{results("x both"), 0.4}, {results("y both"), 0.6}}, "both y x"},
		{"weight 0 takes no part", []List{{results("a b"), 0.4}, {results("b c"), 0}}, "a b"},
		{"equal scores by id", []List{{results("b"), 0.5}, {results("a"), 0.5}}, "a b"},
		// 0.4/61 lies between 0.6/91 and 0.6/92: with the usual weights the first of the keywords comes after 31 others.
		{"the first keyword hit after 31 vectors", []List{{results("k"), 0.4}, {results(many), 0.6}},
			many[:strings.Index(many, " d32")] + " k" + many[strings.Index(many, " d32"):]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := order(Fuse(DefaultK, tt.lists...)); got != tt.want {
				t.Errorf("order is %q, want %q", got, tt.want)
			}
		})
	}
	fused := Fuse(60, List{results("a b"), 0.4}, List{results("a c"), 0.6})
	want := []Result{{"a", 1}, {"c", 0.6 * 61 / 62}, {"b", 0.4 * 61 / 62}}
	if diff := cmp.Diff(want, fused, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("scores differ (-want +got):\n%s", diff)
	}
}

func TestFloors(t *testing.T) {
	rs := []Result{{"a", 10}, {"b", 3.5}, {"c", 3.4}}
	if got := order(ShareOfBest(rs, 0.35)); got != "a b" {
		t.Errorf("ShareOfBest left %q, want a b", got)
	}
	if got := order(AtLeast(rs, 3.5)); got != "a b" {
		t.Errorf("AtLeast left %q, want a b", got)
	}
	if got := order(rs); got != "a b c" {
		t.Errorf("the list itself became %q", got)
	}
	if got := ShareOfBest(nil, 0.35); len(got) > 0 {
		t.Errorf("of nothing it left %v", got)
	}
}

func TestFill(t *testing.T) {
	got := Fill([]Result{{"a", 2}, {"b", 0.8}}, results("b c d"))
	if order(got) != "a b c d" {
		t.Errorf("order is %q", order(got))
	}
	for i := 1; i < len(got); i++ {
		if got[i].Score >= got[i-1].Score || got[i].Score <= 0 {
			t.Errorf("scores do not fall: %v", got)
		}
	}
}

func TestSketch(t *testing.T) {
	text := strings.Repeat("The vessel was cast in bronze about 900 BC and holds an inscription of 290 characters. ", 3) +
		"It was found in 1890 near a temple and came to the museum by gift in 1951."
	for _, tt := range []struct {
		name, a, b  string
		least, most float64
	}{
		{"same", text, text, 1, 1},
		{"marks and case only", text, strings.ToUpper(strings.ReplaceAll(text, ".", " –")), 1, 1},
		{"one word changed", text, strings.Replace(text, "temple", "harbour", 1), 0.7, 0.99},
		{"other text", text, "Blue and white porcelain with lotus flowers, fired once at 1,300 °C in a kiln of the town.", 0, 0.1},
		{"Chinese", "大克鼎是西周晚期的青铜器，腹内铸有铭文二百九十字。", "大克鼎是西周晚期的青铜器，腹内铸有铭文二百九十字", 1, 1},
		{"nothing", "", "", 0, 0},
		{"nothing and something", "", text, 0, 0},
		{"one letter", "a", "a", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := NewSketch(tt.a).Resembles(NewSketch(tt.b))
			if got < tt.least || got > tt.most {
				t.Errorf("resemblance is %.2f, want %.2f to %.2f", got, tt.least, tt.most)
			}
		})
	}
}
