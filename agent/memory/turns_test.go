package memory

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func talkOf(n int, p Policy, answer string) Talk {
	var t Talk
	for i := range n {
		t = t.Add(Exchange{Exhibit: "fan", Question: fmt.Sprintf("question %d", i), Answer: answer}, p)
	}
	return t
}

func TestStrategies(t *testing.T) {
	for _, tt := range []struct {
		name     string
		policy   Policy
		turns    int
		answer   string
		want     int    // whole turns
		first    string // question of the first whole turn
		folded   int    // lines of the summary
		lastLine string
	}{
		{"none", Policy{Strategy: StrategyNone}, 5, "x", 0, "", 0, ""},
		{"window", Policy{Strategy: StrategyWindow, Turns: 5}, 12, "x", 5, "question 7", 0, ""},
		{"window by default", Policy{Strategy: StrategyWindow}, 12, "x", DefaultTurns, "question 4", 0, ""},
		{"summary not needed yet", Policy{}, DefaultTurns, "x", DefaultTurns, "question 0", 0, ""},
		{"summary of what is beyond", Policy{}, DefaultTurns + 1, "Yes. And no.", 4, "question 5", 5, "[fan] question 4 → Yes."},
		{"six at a time", Policy{Turns: 10}, 11, "Dr. M. C. Escher drew it [1]. And more.", 5, "question 6", 6, "[fan] question 5 → Dr. M. C. Escher drew it [1]."},
		{"long answers are folded earlier", Policy{}, 5, strings.Repeat("长", 600), 4, "question 1", 1, ""},
		{"four long turns stay whole", Policy{}, 4, strings.Repeat("长", 2000), 4, "question 0", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := talkOf(tt.turns, tt.policy, tt.answer)
			lines := strings.FieldsFunc(got.Summary, func(r rune) bool { return r == '\n' })
			if len(got.Turns) != tt.want || len(lines) != tt.folded {
				t.Fatalf("%d whole turns, %d lines\n%s", len(got.Turns), len(lines), got.Summary)
			}
			if tt.want > 0 && (got.Turns[0].Question != tt.first || got.Turns[0].Answer != tt.answer) {
				t.Errorf("first whole turn %+v", got.Turns[0])
			}
			if tt.lastLine != "" && lines[len(lines)-1] != tt.lastLine {
				t.Errorf("last line %q", lines[len(lines)-1])
			}
		})
	}
}

func TestTalkIsBounded(t *testing.T) {
	got := talkOf(500, Policy{Turns: MaxTurns}, "The fan was painted on silk by Ada. It shows cranes.")
	if n := utf8.RuneCountInString(got.Summary); n > maxSummary || n < maxSummary/2 {
		t.Errorf("summary of %d characters", n)
	}
	if len(got.Turns) < alwaysRaw || len(got.Turns) > MaxTurns {
		t.Errorf("%d whole turns", len(got.Turns))
	}
	newestFolded := fmt.Sprintf("question %d →", 500-len(got.Turns)-1)
	if !strings.Contains(got.Summary, newestFolded) {
		t.Errorf("the newest folded turn is not in the summary:\n%s", got.Summary)
	}
}

func TestAddLeavesTheTalkBefore(t *testing.T) {
	before := talkOf(3, Policy{}, "x")
	want := talkOf(3, Policy{}, "x")
	a, b := before.Add(Exchange{Question: "a"}, Policy{}), before.Add(Exchange{Question: "b"}, Policy{})
	if d := cmp.Diff(want, before); d != "" || a.Turns[3].Question != "a" || b.Turns[3].Question != "b" {
		t.Errorf("%s %+v %+v", d, a, b)
	}
}

func FuzzTalk(f *testing.F) {
	f.Add("Who?", "Ada.", 7)
	f.Add("谁画的？", "艾达。[1]", 12)
	f.Add("\xff\n\n", strings.Repeat("a. ", 2000), 30)
	f.Fuzz(func(t *testing.T, question, answer string, n int) {
		var talk Talk
		for range n % 40 {
			talk = talk.Add(Exchange{Question: question, Answer: answer}, Policy{})
		}
		if utf8.RuneCountInString(talk.Summary) > maxSummary || len(talk.Turns) > DefaultTurns {
			t.Errorf("%d characters, %d turns", utf8.RuneCountInString(talk.Summary), len(talk.Turns))
		}
	})
}
