package kiosk

import (
	"fmt"
	"strings"
	"testing"

	"docent/agent"
	"docent/agent/memory"
)

// answers lets a told guide answer one question.
func (g *told) answers(t testing.TB, h *house, visit, question, text string) agent.Turn {
	t.Helper()
	_, r := h.ask(t.Context(), map[string]any{"visit": visit, "question": question})
	turn := wait(t, g.turns)
	g.events <- agent.Event{Type: agent.EventToken, Text: text}
	g.events <- done(true)
	allEvents(t, r)
	return turn
}

func TestRestartContinuesTheVisit(t *testing.T) {
	g, dir := newTold(), t.TempDir()
	change := func(o *Options) { o.Guide, o.Config.DataDir = g, dir }
	h := open(t, change)
	visit := h.startVisit("en")
	for i := range memory.DefaultTurns + 1 {
		g.answers(t, h, visit, fmt.Sprintf("Question %d?", i), "Silk [1]. It is old [1].")
	}
	h.stop()

	h = open(t, change)
	turn := g.answers(t, h, visit, "And now?", "Cranes [1].")
	if len(turn.History) != 4 || turn.History[3].Question != fmt.Sprintf("Question %d?", memory.DefaultTurns) || turn.History[3].Answer != "Silk [1]. It is old [1]." {
		t.Errorf("history after the restart %+v", turn.History)
	}
	if !strings.HasPrefix(turn.Summary, "Question 0? → Silk [1].\n") || strings.Count(turn.Summary, "\n") != 4 {
		t.Errorf("summary after the restart %q", turn.Summary)
	}
}
