package localindex

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
)

func namedGallery() *gallery.Gallery {
	exhibit := func(id, label, accession, en, zh string) gallery.Exhibit {
		return gallery.Exhibit{ID: id, Label: label, Accession: accession, Title: gallery.Localized{"en": en, "zh": zh}}
	}
	return &gallery.Gallery{Exhibits: []gallery.Exhibit{
		exhibit("penrose", "101", "GP-101", "Penrose tiling", "彭罗斯镶嵌"),
		exhibit("fern", "302", "1996.99.2", "Barnsley fern", "巴恩斯利蕨"),
		exhibit("plain-fern", "303", "12", "The Fern", "蕨类"),
		exhibit("ding", "A7", "SH/1951/3", "Da Ke Ding", "大克鼎"),
		exhibit("five", "5", "", "Wheat Field, with Cypresses", "鼎"),
		exhibit("year", "1890", "", "It", ""),
		exhibit("dash", "B-9", "", "Dash", ""), exhibit("rule", "", "", "Rule 205", ""), exhibit("other", "205", "", "Other one", ""),
		exhibit("u1", "", "", "Untitled", ""), exhibit("u2", "", "", "Untitled", ""),
		exhibit("u3", "", "", "Untitled", ""), exhibit("u4", "", "", "Untitled", ""),
		exhibit("twin-a", "", "", "The Twins", ""), exhibit("twin-b", "", "", "The Twins", ""),
	}}
}

func TestNames(t *testing.T) {
	n := newNames(namedGallery())
	for _, tt := range []struct {
		question string
		want     []string
		alone    bool
	}{
		{"", nil, false},
		{"where is the café", nil, false},
		// Titles.
		{"Who found the Penrose tiling?", []string{"penrose"}, false},
		{"PENROSE  TILING", []string{"penrose"}, true},
		{"“Penrose tiling”?", []string{"penrose"}, true},
		{"why do penrose tilings never repeat", []string{"penrose"}, false},
		{"Penrose tilingware", nil, false},
		{"彭罗斯镶嵌是谁发现的", []string{"penrose"}, false},
		{"《彭罗斯镶嵌》", []string{"penrose"}, true},
		{"Ｐｅｎｒｏｓｅ ｔｉｌｉｎｇ 是什么", []string{"penrose"}, true},
		{"what is a barnsley fern", []string{"fern"}, true},
		{"is that a fern", []string{"plain-fern"}, true},
		{"Barnsley fern or the fern? Why", []string{"fern", "plain-fern"}, false},
		{"wheat field with cypresses", []string{"five"}, true},
		{"大克鼎和彭罗斯镶嵌有什么不同", []string{"ding", "penrose"}, false},
		{"鼎是什么", nil, false}, // one character names nothing
		{"is it open", nil, false},
		{"what is Untitled about", nil, false},
		{"tell me about the twins", []string{"twin-a", "twin-b"}, true},
		{"how old are the twins", []string{"twin-a", "twin-b"}, false},
		{"请介绍一下大克鼎", []string{"ding"}, true},
		{"大克鼎有多重", []string{"ding"}, false},
		{"彭羅斯鑲嵌是誰發現的", []string{"penrose"}, false},
		// Accession numbers.
		{"GP-101", []string{"penrose"}, true},
		{"where does gp101 come from", []string{"penrose"}, false},
		{"accession 1996.99.2 please", []string{"fern"}, false},
		{"1996.99.21", nil, false},
		{"SH/1951/3", []string{"ding"}, true},
		// Label numbers.
		{"101", []string{"penrose"}, true},
		{"１０１", []string{"penrose"}, true},
		{"#101", []string{"penrose"}, true},
		{"what is 302?", []string{"fern"}, true},
		{"101和302", []string{"penrose", "fern"}, true},
		{"No. 5", []string{"five"}, true},
		{"number 5 please", []string{"five"}, true},
		{"5号展品是什么", []string{"five"}, true},
		{"第5号", []string{"five"}, true},
		{"a7?", []string{"ding"}, true},
		{"who made A7", []string{"ding"}, false},
		{"exhibit 1890", []string{"year"}, true},
		{"when was exhibit 1890 made", []string{"year"}, false},
		{"B-9", []string{"dash"}, true},
		{"who made b9", []string{"dash"}, false},
		{"Rule 205 explained in full", []string{"rule"}, false},
		// Numbers that are something else.
		{"is it open at 5", nil, false},
		{"it costs 101 yuan", nil, false},
		{"门票101元吗", nil, false},
		{"$101", nil, false},
		{"101% sure", nil, false},
		{"10:101", nil, false},
		{"3.101", nil, false},
		{"was it made in 1890", nil, false},
		{"101路公交车", nil, false},
		{"5号线地铁", nil, false},
		{"101a", nil, false},
	} {
		t.Run(tt.question, func(t *testing.T) {
			got := n.in(tt.question)
			if diff := cmp.Diff(tt.want, got.exhibits); diff != "" {
				t.Errorf("exhibits differ (-want +got):\n%s", diff)
			}
			if got.alone != tt.alone {
				t.Errorf("alone is %v, want %v", got.alone, tt.alone)
			}
		})
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"Penrose tiling 101", "大克鼎", "No. 5 #A7 5号", "\xff\u0301ﬁ", "ferns", "彭罗斯镶嵌s"} {
		f.Add(s)
	}
	n := newNames(namedGallery())
	f.Fuzz(func(t *testing.T, question string) {
		found := n.in(question)
		seen := map[string]bool{}
		for _, id := range found.exhibits {
			if seen[id] {
				t.Errorf("%q names %s twice", question, id)
			}
			seen[id] = true
		}
		if len(found.exhibits) > maxNamed {
			t.Errorf("%q names %d exhibits", question, len(found.exhibits))
		}
	})
}
