package memory

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"docent/agent/internal/words"
)

// Strategy says what is kept of the talk of a visit.
type Strategy string

// The strategies.
const (
	StrategyNone    Strategy = "none"    // nothing
	StrategyWindow  Strategy = "window"  // the last turns
	StrategySummary Strategy = "summary" // the last turns, and a summary of the older ones
)

// Bounds of a talk.
const (
	MinTurns     = 5
	MaxTurns     = 10
	DefaultTurns = 8

	// The summary strategy folds turns into the summary when there are more than the policy's, or when those there
	// are have more than maxRaw characters; never one of the last alwaysRaw, and at most foldAtOnce at a time.
	alwaysRaw  = 4
	foldAtOnce = 6
	maxRaw     = 2200
	maxSummary = 1400 // characters; the oldest lines go first
	maxAsked   = 80   // characters of a question in the summary
	maxSaid    = 120  // characters of an answer in the summary
)

// Policy is how much of a talk is kept. The zero value is the summary strategy with DefaultTurns.
type Policy struct {
	Strategy Strategy
	Turns    int // whole turns, MinTurns … MaxTurns; 0 means DefaultTurns
}

// Exchange is a question and what was answered.
type Exchange struct {
	Exhibit  string    `json:"exhibit,omitempty"`
	Question string    `json:"question"`
	Answer   string    `json:"answer"`
	At       time.Time `json:"at"`
}

// Talk is what is kept of the talk of a visit.
type Talk struct {
	Summary string     `json:"summary,omitempty"` // of the turns before, a line each, oldest first
	Turns   []Exchange `json:"turns,omitempty"`   // oldest first, each whole
}

// Add returns the talk with one more turn, within the policy. It shares nothing that is written to with t.
func (t Talk) Add(e Exchange, p Policy) Talk {
	if p.Turns == 0 {
		p.Turns = DefaultTurns
	}
	turns := append(slices.Clone(t.Turns), e)
	switch p.Strategy {
	case StrategyNone:
		return Talk{}
	case StrategyWindow:
		return Talk{Turns: newest(turns, p.Turns)}
	}
	if len(turns) > alwaysRaw && (len(turns) > p.Turns || characters(turns) > maxRaw) {
		n := min(foldAtOnce, len(turns)-alwaysRaw)
		return Talk{Summary: fold(t.Summary, turns[:n]), Turns: slices.Clone(turns[n:])}
	}
	return Talk{Summary: t.Summary, Turns: turns}
}

func characters(turns []Exchange) (n int) {
	for _, e := range turns {
		n += utf8.RuneCountInString(e.Question) + utf8.RuneCountInString(e.Answer)
	}
	return n
}

// fold adds a line for each turn to a summary: what was asked, and the first sentence of what was answered.
func fold(summary string, turns []Exchange) string {
	lines := slices.DeleteFunc(strings.Split(summary, "\n"), func(s string) bool { return s == "" })
	for _, e := range turns {
		line := clip(oneLine(e.Question), maxAsked) + " → " + clip(firstSentence(oneLine(e.Answer)), maxSaid)
		if e.Exhibit != "" {
			line = "[" + e.Exhibit + "] " + line
		}
		lines = append(lines, line)
	}
	out := strings.Join(lines, "\n")
	for utf8.RuneCountInString(out) > maxSummary {
		_, rest, more := strings.Cut(out, "\n")
		if !more {
			return clip(out, maxSummary)
		}
		out = rest
	}
	return out
}

// firstSentence is the first sentence of s, whatever language it is in.
func firstSentence(s string) string {
	for _, sentence := range words.Sentences(s) {
		return sentence
	}
	return ""
}

// oneLine makes a text one line with single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip cuts a text to n characters.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

// newest cuts s to its last n, without keeping what was cut alive.
func newest[T any](s []T, n int) []T {
	if len(s) <= n {
		return s
	}
	return slices.Clone(s[len(s)-n:])
}
