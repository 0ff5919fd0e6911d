package kiosk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/agent"
)

// told is a guide that says what the test tells it to, turn by turn.
type told struct {
	turns  chan agent.Turn  // what it was asked
	events chan agent.Event // what it answers; a done or error event ends a turn
	ended  chan struct{}    // a value for each turn that ended by its context
}

func newTold() *told {
	return &told{turns: make(chan agent.Turn, 10), events: make(chan agent.Event), ended: make(chan struct{}, 10)}
}

func (g *told) Answer(ctx context.Context, _ agent.Library, t agent.Turn) <-chan agent.Event {
	out := make(chan agent.Event)
	g.turns <- t
	go func() {
		defer close(out)
		for {
			select {
			case e := <-g.events:
				select {
				case out <- e:
				case <-ctx.Done():
					g.ended <- struct{}{}
					return
				}
				if e.Type == agent.EventDone || e.Type == agent.EventError {
					return
				}
			case <-ctx.Done():
				g.ended <- struct{}{}
				return
			}
		}
	}()
	return out
}

func done(answered bool) agent.Event {
	return agent.Event{Type: agent.EventDone, Done: &agent.Done{Answered: answered, WrittenBy: agent.WrittenByModel, Language: "en", ModelError: "secret address"}}
}

// wait takes a value that must come.
func wait[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came in 20 s")
		panic("unreachable")
	}
}

// ask posts a question and returns the stream of its answer.
func (h *house) ask(ctx context.Context, body map[string]any) (*http.Response, *bufio.Reader) {
	h.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base+"/api/v1/ask", bytes.NewReader(data))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		h.t.Fatalf("ask: %d %q %s", resp.StatusCode, resp.Header.Get("Content-Type"), text)
	}
	h.t.Cleanup(func() { resp.Body.Close() })
	return resp, bufio.NewReader(resp.Body)
}

// nextEvent reads one server-sent event; comments are passed over.
func nextEvent(t testing.TB, r *bufio.Reader) (agent.Event, bool) {
	t.Helper()
	var e agent.Event
	name := ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			if err := json.Unmarshal([]byte(line[len("data: "):]), &e); err != nil {
				t.Fatal(err)
			}
			if string(e.Type) != name {
				t.Errorf("event %q holds %q", name, e.Type)
			}
			return e, true
		case line != "" && !strings.HasPrefix(line, ":"):
			t.Fatalf("line %q", line)
		}
	}
}

func allEvents(t testing.TB, r *bufio.Reader) []agent.Event {
	t.Helper()
	var all []agent.Event
	for {
		e, ok := nextEvent(t, r)
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

func TestAskTheGalleryItself(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	h.post("/api/v1/visit/exhibit", map[string]string{"visit": visit, "exhibit": "red-fan"}, http.StatusOK)
	h.events.take()

	_, r := h.ask(t.Context(), map[string]any{"visit": visit, "explain": true})
	events := allEvents(t, r)
	if len(events) == 0 || events[len(events)-1].Type != agent.EventDone {
		t.Fatalf("explanation: %+v", events)
	}
	h.events.wantTypes(t)

	_, r = h.ask(t.Context(), map[string]any{"visit": visit, "question": "Who painted it?"})
	events = allEvents(t, r)
	text, sources := "", 0
	for _, e := range events {
		text += e.Text
		sources += len(e.Sources)
	}
	last := events[len(events)-1]
	if !strings.Contains(text, "Ada Painter") || sources == 0 || last.Type != agent.EventDone || !last.Done.Answered {
		t.Errorf("answer %q with %d sources, %+v", text, sources, last.Done)
	}
	answered := h.events.wantTypes(t, "question.answered")[0].Data
	if answered["question"] != "Who painted it?" || answered["exhibit"] != "red-fan" || answered["written_by"] != "gallery" ||
		answered["language"] != "en" || len(answered["sources"].([]any)) != sources {
		t.Errorf("event %v", answered)
	}

	_, r = h.ask(t.Context(), map[string]any{"visit": visit, "question": "What is the boiling point of tungsten?"})
	allEvents(t, r)
	unanswered := h.events.wantTypes(t, "question.unanswered")[0].Data
	if unanswered["written_by"] != "nobody" || unanswered["sources"] == nil {
		t.Errorf("event %v", unanswered)
	}
	v, err := h.visits.Get(visit)
	if err != nil || len(v.Talk.Turns) != 2 || v.Talk.Turns[0].Question != "Who painted it?" || !strings.Contains(v.Talk.Turns[0].Answer, "Ada") {
		t.Errorf("history %+v, %v", v.Talk.Turns, err)
	}
}

func TestAnswerIsRememberedBeforeItIsDone(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	visit := h.startVisit("zh")
	if _, err := h.visits.Update(visit, nothing); err != nil {
		t.Fatal(err)
	}
	_, r := h.ask(t.Context(), map[string]any{"visit": visit, "question": "  Why\nred? \x00"})
	turn := wait(t, g.turns)
	if d := cmp.Diff(agent.Turn{Visit: turn.Visit, Question: "Why red?", Language: "zh", History: []agent.Exchange{}, Place: "door"}, turn); d != "" {
		t.Errorf("turn (-want +got)\n%s", d)
	}
	for _, e := range []agent.Event{
		{Type: agent.EventToken, Text: "a first try"},
		{Type: agent.EventReset},
		{Type: agent.EventSources, Sources: []agent.Source{{N: 1, Passage: "p1"}, {N: 2, Passage: "p2"}}},
		{Type: agent.EventToken, Text: "Because "},
		{Type: agent.EventToken, Text: "of iron [1]."},
	} {
		g.events <- e
		if got, ok := nextEvent(t, r); !ok || got.Type != e.Type || got.Text != e.Text {
			t.Fatalf("got %+v, want %+v", got, e)
		}
	}
	h.events.wantTypes(t)
	g.events <- done(true)
	last, _ := nextEvent(t, r)
	if last.Done == nil || last.Done.ModelError != "" {
		t.Errorf("last event %+v, %+v", last, last.Done)
	}
	answered := h.events.wantTypes(t, "question.answered")[0].Data
	delete(answered, "visit")
	want := map[string]any{"question": "Why red?", "language": "en", "written_by": "model", "sources": []any{"p1", "p2"}}
	if d := cmp.Diff(want, answered); d != "" {
		t.Errorf("event (-want +got)\n%s", d)
	}
	v, _ := h.visits.Get(visit)
	if len(v.Talk.Turns) != 1 || v.Talk.Turns[0].Answer != "Because of iron [1]." {
		t.Errorf("history %+v", v.Talk.Turns)
	}
	_, r = h.ask(t.Context(), map[string]any{"visit": visit, "question": "And then?"})
	if turn := wait(t, g.turns); len(turn.History) != 1 || turn.History[0].Answer != "Because of iron [1]." {
		t.Errorf("history of the next turn %+v", turn.History)
	}
	g.events <- agent.Event{Type: agent.EventError, Message: "sorry"}
	if e, _ := nextEvent(t, r); e.Message != "sorry" {
		t.Errorf("got %+v", e)
	}
	h.events.wantTypes(t)
}

func TestAnswerOutlivesAFullOutbox(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	h.events.err = errors.New("disk full")
	visit := h.startVisit("en")
	_, r := h.ask(t.Context(), map[string]any{"visit": visit, "question": "Why?"})
	g.events <- done(true)
	if e, ok := nextEvent(t, r); !ok || e.Type != agent.EventDone {
		t.Errorf("got %+v", e)
	}
	if m := string(h.get("/metrics").body); !strings.Contains(m, "docent_memory_events_lost_total 2") {
		t.Error("the lost events are not counted")
	}
}

func TestAnswerEndsWhenTheClientGoes(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	visit := h.startVisit("en")
	ctx, leave := context.WithCancel(t.Context())
	_, r := h.ask(ctx, map[string]any{"visit": visit, "question": "Why?"})
	g.events <- agent.Event{Type: agent.EventToken, Text: "Because"}
	nextEvent(t, r)
	leave()
	wait(t, g.ended)
	h.events.wantTypes(t)
	if v, _ := h.visits.Get(visit); len(v.Talk.Turns) != 0 {
		t.Errorf("history %+v", v.Talk.Turns)
	}
}

func TestNewQuestionReplacesTheOneBefore(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	visit, other := h.startVisit("en"), h.startVisit("en")
	_, first := h.ask(t.Context(), map[string]any{"visit": visit, "question": "First?"})
	wait(t, g.turns)
	_, foreign := h.ask(t.Context(), map[string]any{"visit": other, "question": "Foreign?"})
	wait(t, g.turns)
	_, second := h.ask(t.Context(), map[string]any{"visit": visit, "question": "Second?"})
	wait(t, g.turns)
	wait(t, g.ended)
	if e, ok := nextEvent(t, first); ok {
		t.Errorf("the first question got %+v", e)
	}
	g.events <- done(true)
	g.events <- done(true)
	for _, r := range []*bufio.Reader{second, foreign} {
		if e, ok := nextEvent(t, r); !ok || e.Type != agent.EventDone {
			t.Errorf("got %+v", e)
		}
	}
	h.events.wantTypes(t, "question.answered", "question.answered")
}

func TestEndOfAVisitEndsItsAnswer(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	visit := h.startVisit("en")
	_, r := h.ask(t.Context(), map[string]any{"visit": visit, "question": "Why?"})
	wait(t, g.turns)
	h.post("/api/v1/visit/forget", map[string]string{"visit": visit}, http.StatusNoContent)
	wait(t, g.ended)
	if e, ok := nextEvent(t, r); ok {
		t.Errorf("got %+v", e)
	}
	events := h.events.wantTypes(t, "visit.ended", "memory.forgotten")
	if events[0].Data["reason"] != "forgotten" {
		t.Errorf("event %v", events[0].Data)
	}
}

func TestAnswersAtOnceAreBounded(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide, o.Config.Limits.Answers = g, 1 })
	first, second := h.startVisit("en"), h.startVisit("en")
	_, r := h.ask(t.Context(), map[string]any{"visit": first, "question": "Why?"})
	body, _ := json.Marshal(map[string]string{"visit": second, "question": "Why?"})
	wantProblem(t, h.do(http.MethodPost, "/api/v1/ask", "application/json", body), 503, codeBusy)
	wait(t, g.turns)
	g.events <- done(true)
	allEvents(t, r)
	_, r = h.ask(t.Context(), map[string]any{"visit": second, "question": "Why?"})
	g.events <- done(true)
	if got := allEvents(t, r); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestStoppingEndsStreams(t *testing.T) {
	g := newTold()
	l := &lens{state: "ready", jpeg: []byte("frame")}
	h := open(t, func(o *Options) { o.Guide, o.Camera = g, l })
	visit := h.startVisit("en")
	_, r := h.ask(t.Context(), map[string]any{"visit": visit, "question": "Why?"})
	wait(t, g.turns)
	preview, err := client.Get(h.base + "/api/v1/preview")
	if err != nil {
		t.Fatal(err)
	}
	defer preview.Body.Close()
	first := make([]byte, 10)
	if _, err := io.ReadFull(preview.Body, first); err != nil || !strings.HasPrefix(string(first), "--docent") {
		t.Fatalf("preview begins with %q: %v", first, err)
	}
	conn := h.dial(t, visit)
	h.stop() // which fails the test if Run returns an error, and hangs if a stream does not end
	if e, ok := nextEvent(t, r); ok {
		t.Errorf("got %+v", e)
	}
	var timeout interface{ Timeout() bool }
	if _, err := io.Copy(io.Discard, preview.Body); errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("preview goes on: %v", err)
	}
	if _, _, err := conn.ReadMessage(); err == nil {
		t.Error("the socket is still open")
	}
	if _, err := client.Get(h.base + "/healthz"); err == nil {
		t.Error("still listening")
	}
}
