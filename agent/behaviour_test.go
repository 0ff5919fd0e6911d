package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
)

func TestAnswers(t *testing.T) {
	tests := []struct {
		name, exhibit, question string
		history                 []Exchange
		want                    string // "" means refused
	}{
		{"exhibit named", "ice-crack", whoFound, nil, "Roger Penrose"},
		{"exhibit in hand", "penrose-tiling", "Who described it?", nil, "Roger Penrose"},
		{"exhibit of the turn before", "", "Who described it?", []Exchange{{"What is the Penrose tiling?", "…"}}, "Roger Penrose"},
		{"exhibit of the turn before, Chinese", "", "它象征什么？", []Exchange{{"冰裂纹窗格是什么？", "…"}}, "春天"},
		{"nothing pointed at", "", "Who described it?", nil, ""},
		{"never about another exhibit", "barnsley-fern", "What does it stand for?", nil, ""},
		{"word for word is not needed", "", "Where is the loo?", nil, "ground floor"},
		{"overview", "penrose-tiling", "What is this?", nil, "Two shapes of tile"},
		{"overview, Chinese", "penrose-tiling", "这是什么？", nil, "两种菱形"},
		{"overview of the exhibit named", "", "Tell me about the ice-crack lattice", nil, "cracking ice"},
		{"label typed as a title", "", "冰裂纹窗格", nil, "冰面开裂"},
		{"house before exhibit", "penrose-tiling", "When are you open?", nil, "10:00"},
		{"house, Chinese", "penrose-tiling", "门票多少钱？", nil, "40元"},
		{"price of a work is no ticket", "penrose-tiling", "How much does this painting cost?", nil, ""},
		{"price of a work, none in hand", "", "How much does this painting cost?", nil, ""},
		{"name without the date asked for", "", "When was Dan Shechtman born?", nil, ""},
		{"only in English", "", "巴恩斯利蕨是谁发表的？", nil, "馆里只有英文资料：Michael Barnsley"},
		{"two exhibits", "", "penrose tiling and ice-crack lattice", nil, "Two shapes"},
		{"empty", "penrose-tiling", "", nil, "Two shapes"},
		{"marks only", "", "?!…", nil, ""},
	}
	g, lib := New(Options{}), testLibrary(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := hear(t, g, lib, Turn{Exhibit: tt.exhibit, Question: tt.question, Language: "en", History: tt.history})
			checkHeard(t, h)
			if h.done.Answered != (tt.want != "") || !strings.Contains(h.text, tt.want) {
				t.Errorf("want %q in: %s", tt.want, h.text)
			}
		})
	}
}

func TestAnswerLanguage(t *testing.T) {
	tests := []struct{ question, visit, want string }{
		{"Who discovered the Penrose tiling?", "zh", "en"},
		{"彭罗斯铺砌是谁发现的？", "en", "zh"},
		{"1974?", "zh", "zh"},
		{"What is the weather like?", "zh", "en"},
		{"", "", "en"},
	}
	g, lib := New(Options{}), testLibrary(t)
	for _, tt := range tests {
		h := hear(t, g, lib, Turn{Question: tt.question, Language: tt.visit})
		if h.done.Language != tt.want {
			t.Errorf("%q in a visit in %q: answered in %q, want %q", tt.question, tt.visit, h.done.Language, tt.want)
		}
		if !h.done.Answered && h.text != phrasesIn(tt.want).nothing && h.text != phrasesIn(tt.want).outside {
			t.Errorf("%q: %s", tt.question, h.text)
		}
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		name, exhibit, language string
		level                   gallery.Level
		first                   string // section
		answered                bool
	}{
		{"general", "penrose-tiling", "en", "", "penrose-tiling/en/1", true},
		{"Chinese", "penrose-tiling", "zh", "", "penrose-tiling/zh/1", true},
		{"child", "penrose-tiling", "en", gallery.LevelChild, "penrose-tiling/en/4", true},
		{"expert without a text of its own", "penrose-tiling", "en", gallery.LevelExpert, "penrose-tiling/en/1", true},
		{"only in English", "barnsley-fern", "zh", "", "barnsley-fern/en/1", true},
		{"unknown exhibit", "mona-lisa", "en", "", "", false},
		{"no exhibit", "", "zh", "", "", false},
	}
	g, lib := New(Options{}), testLibrary(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := hear(t, g, lib, Turn{Exhibit: tt.exhibit, Explain: true, Language: tt.language, Level: tt.level})
			checkHeard(t, h)
			if h.done.Answered != tt.answered {
				t.Fatalf("answered %v: %s", h.done.Answered, h.text)
			}
			if tt.answered && h.sources[0].Section != tt.first {
				t.Errorf("begins with %s, want %s", h.sources[0].Section, tt.first)
			}
		})
	}
	child := hear(t, g, lib, Turn{Exhibit: "penrose-tiling", Explain: true, Language: "en"})
	if slices.ContainsFunc(child.sources, func(s Source) bool { return s.Heading == "For children" }) {
		t.Error("the general explanation has the children's text")
	}
}

func TestSourceCarriesItsPublications(t *testing.T) {
	lib := testLibrary(t)
	lib.sections[1].Sources = []string{"gardner"}
	h := hear(t, New(Options{}), lib, Turn{Question: whoFound, Language: "en"})
	want := []Source{{
		N: 1, Passage: "penrose-tiling/en/2#1", Section: "penrose-tiling/en/2", Exhibit: "penrose-tiling", Title: "Penrose Tiling", Heading: "Who found it",
		Quote: lib.sections[1].Text, Document: "penrose-tiling.en.md",
		Published: []Published{{Title: "Martin Gardner, Scientific American, January 1977", URL: "https://example.org/gardner"}},
	}}
	if d := cmp.Diff(want, h.sources); d != "" {
		t.Errorf("sources (-want +got):\n%s", d)
	}
}

// TestSourceHasThePageOfItsPassage: a section of a document may go over many pages.
func TestSourceHasThePageOfItsPassage(t *testing.T) {
	for _, tt := range []struct {
		name                               string
		section, passage, ends, page, last int
	}{
		{"no pages", 0, 0, 0, 0, 0},
		{"on the section's first page", 4, 0, 0, 4, 0},
		{"further on", 4, 6, 0, 6, 0},
		{"over the end of a page", 4, 6, 7, 6, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lib := testLibrary(t)
			lib.sections[1].Page = tt.section
			lib.sections[1].Passages[0].Page, lib.sections[1].Passages[0].LastPage = tt.passage, tt.ends
			h := hear(t, New(Options{}), lib, Turn{Question: whoFound, Language: "en"})
			if len(h.sources) == 0 || h.sources[0].Page != tt.page || h.sources[0].LastPage != tt.last {
				t.Errorf("sources are %+v, want page %d to %d", h.sources, tt.page, tt.last)
			}
		})
	}
}

func TestQuotedMarksAreNotTheGuidesOwn(t *testing.T) {
	lib := testLibrary(t)
	p := &lib.sections[1].Passages[0]
	p.Text = strings.Replace(p.Text, "in 1974.", "in 1974 [7].", 1)
	h := hear(t, New(Options{}), lib, Turn{Question: whoFound, Language: "en"})
	if !strings.Contains(h.text, "in 1974 (7) [1].") {
		t.Errorf("text: %s", h.text)
	}
}

func TestFollowUpsAreAnswered(t *testing.T) {
	g, lib := New(Options{}), testLibrary(t)
	for _, turn := range []Turn{
		{Exhibit: "penrose-tiling", Explain: true, Language: "en"},
		{Exhibit: "penrose-tiling", Explain: true, Language: "zh"},
		{Exhibit: "penrose-tiling", Question: "Who described it?", Language: "en"},
		{Question: "What is the weather like?", Language: "en"},
		{Question: "天气怎么样？", Language: "zh"},
	} {
		h := hear(t, g, lib, turn)
		if n := len(h.followUps); n < 1 || n > maxFollowUps {
			t.Errorf("%+v: %d suggestions: %q", turn, n, h.followUps)
		}
		for _, question := range h.followUps {
			next := hear(t, g, lib, Turn{Exhibit: turn.Exhibit, Question: question, Language: turn.Language})
			if !next.done.Answered || next.text == h.text {
				t.Errorf("%+v: suggested %q, which brings: %s", turn, question, next.text)
			}
		}
	}
}

func TestPieces(t *testing.T) {
	h := hear(t, New(Options{}), testLibrary(t), Turn{Exhibit: "penrose-tiling", Explain: true, Language: "en"})
	tokens := 0
	for _, e := range h.types {
		if e == EventToken {
			tokens++
		}
	}
	if tokens < 15 {
		t.Errorf("%d characters came in %d pieces", len(h.text), tokens)
	}
}

func TestMarked(t *testing.T) {
	for in, want := range map[string]string{
		"Two tiles.":         "Two tiles [1].",
		"两种瓷砖。":              "两种瓷砖[1]。",
		"Really?!":           "Really [1]?!",
		"他说：“它会重复。”":         "他说：“它会重复。”[1]",
		"no end":             "no end [1]",
		"…":                  "… [1]",
		"It holds 28 (1988)": "It holds 28 (1988) [1]",
	} {
		if got := marked(in, 1); got != want {
			t.Errorf("marked(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAnswerEndsWhenItsReaderLeaves(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	events := New(Options{}).Answer(ctx, testLibrary(t), Turn{Exhibit: "penrose-tiling", Explain: true, Language: "en"})
	<-events
	leave()
	for range events { // closed soon after; a guide that goes on for ever hangs here
	}
}

func TestDoneTellsTheTime(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(20 * time.Millisecond); return now }
	h := hear(t, New(Options{Clock: clock}), testLibrary(t), Turn{Question: whoFound})
	if h.done.Millis < 20 || h.done.Millis%20 != 0 {
		t.Errorf("took %d ms, want the clock's 20 a reading", h.done.Millis)
	}
}

func TestShelvesKeepTwoReleases(t *testing.T) {
	var s shelves
	first, second, third := testLibrary(t), testLibrary(t), testLibrary(t)
	first.release, second.release, third.release = "1", "2", "3"
	a := s.of(first)
	s.of(second)
	if s.of(first) != a {
		t.Error("a shelf was built twice")
	}
	s.of(third)
	if len(s.kept) != 2 {
		t.Errorf("%d shelves are kept", len(s.kept))
	}
}

// FuzzAnswer asks whatever: every turn ends properly, and nothing is cited that does not exist.
func FuzzAnswer(f *testing.F) {
	for _, q := range sampleQuestions {
		f.Add(q.question, "penrose-tiling", "en")
	}
	f.Add(strings.Repeat("为什么", 400), "ice-crack", "zh")
	f.Add("\xff\x00[1]\n```", "no such exhibit", "xx")
	f.Add("Penrose Tiling 冰裂纹窗格 Barnsley Fern [3]", "", "")
	g, lib := New(Options{}), testLibrary(f)
	f.Fuzz(func(t *testing.T, question, exhibit, language string) {
		checkHeard(t, hear(t, g, lib, Turn{Question: question, Exhibit: exhibit, Language: language, History: []Exchange{{question, question}}}))
	})
}
