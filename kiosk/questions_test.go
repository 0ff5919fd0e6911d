package kiosk

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"docent/agent"
)

// TestQuestionsPerMinute asks as often as is allowed, from two visits: the limit is the kiosk's.
func TestQuestionsPerMinute(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Unix(1_800_000_000, 0).UnixNano())
	g := newTold()
	h := open(t, func(o *Options) { o.Guide, o.Clock = g, func() time.Time { return time.Unix(0, now.Load()) } })
	first, second := h.startVisit("en"), h.startVisit("zh")
	for i := range 20 {
		visit := first
		if i%2 == 1 {
			visit = second
		}
		g.answers(t, h, visit, fmt.Sprintf("Question %d?", i), "Silk [1].")
		now.Add(int64(time.Second))
	}
	for lang, want := range map[string]string{"en": "Please ask again in a moment.", "zh": "请稍后再问"} {
		r := h.do(http.MethodPost, "/api/v1/ask?lang="+lang, "application/json", []byte(`{"visit":"`+first+`","question":"One more?"}`))
		if r.status != http.StatusTooManyRequests || r.header.Get("Content-Type") != "application/problem+json" || r.header.Get("Retry-After") != "40" ||
			!strings.Contains(string(r.body), want) || !strings.Contains(string(r.body), `"code":"too_many_questions"`) {
			t.Errorf("%s: %d %v %s", lang, r.status, r.header, r.body)
		}
	}
	c := h.dial(t, second)
	say(t, c, `{"type":"ask","question":"再问一个？"}`)
	if e := hear(t, c); e.Type != agent.EventError || !strings.Contains(e.Message, "请稍后再问") {
		t.Errorf("over the socket: %+v", e)
	}
	// What is no question is not counted: an explanation, and what is refused.
	h.post("/api/v1/visit/exhibit", map[string]string{"visit": first, "exhibit": "red-fan"}, http.StatusOK)
	_, r := h.ask(t.Context(), map[string]any{"visit": first, "explain": true})
	wait(t, g.turns)
	g.events <- done(true)
	allEvents(t, r)
	now.Add(int64(40*time.Second - time.Nanosecond))
	h.refused("/api/v1/ask", map[string]any{"visit": first, "question": "Now?"}, http.StatusTooManyRequests, codeTooManyQuestions)
	now.Add(1)
	g.answers(t, h, first, "And now?", "Cranes [1].")
	h.refused("/api/v1/ask", map[string]any{"visit": first, "question": "And again?"}, http.StatusTooManyRequests, codeTooManyQuestions)
}

// TestEventsHoldNothingPersonal asks what has the visitor's own life in it, and looks at what the hub gets.
func TestEventsHoldNothingPersonal(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	visit := h.startVisit("en")
	for _, tt := range []struct{ question, want string }{
		{"My name is Anna, who painted this?", "[…], who painted this?"},
		{"Would Anna like silk?", "Would […] like silk?"}, // the name that was given before
		{"I am allergic to nuts, where is the café?", "[…], where is the café?"},
		{"Can you write to anna@example.org or call 138 1234 5678?", "Can you write to […] or call […]?"},
		{"Who painted it in 1888?", "Who painted it in 1888?"},
	} {
		turn := g.answers(t, h, visit, tt.question, "Silk [1].")
		if turn.Question != tt.question {
			t.Errorf("the guide was asked %q", turn.Question)
		}
		var sent []any
		for _, e := range h.events.take() {
			if e.Type == eventQuestionAnswered {
				sent = append(sent, e.Data["question"])
			}
		}
		if len(sent) == 0 || sent[len(sent)-1] != tt.want {
			t.Errorf("%s: the hub gets %v", tt.question, sent)
		}
	}
}

// TestAsidesAreNotRemembered keeps warnings in their turn.
func TestAsidesAreNotRemembered(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	visit := h.startVisit("en")
	_, r := h.ask(t.Context(), map[string]any{"visit": visit, "question": "What?"})
	wait(t, g.turns)
	g.events <- agent.Event{Type: agent.EventToken, Text: "Silk [1]."}
	g.events <- agent.Event{Type: agent.EventToken, Text: " I could not look up one part.", Aside: true}
	g.events <- done(true)
	if all := allEvents(t, r); len(all) != 3 || !all[1].Aside {
		t.Errorf("%+v", all)
	}
	if v, _ := h.visits.Get(visit); v.Talk.Turns[0].Answer != "Silk [1]." {
		t.Errorf("remembered %q", v.Talk.Turns[0].Answer)
	}
}
