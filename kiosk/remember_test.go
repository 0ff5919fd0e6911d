package kiosk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func (h *house) remembered(visit string) rememberedList {
	h.t.Helper()
	r := h.get("/api/v1/visit/memory?visit=" + visit)
	if r.status != http.StatusOK || r.header.Get("Cache-Control") != "no-store" {
		h.t.Fatalf("memory: %d %v %s", r.status, r.header, r.body)
	}
	var out rememberedList
	r.json(h.t, &out)
	return out
}

func TestWhatAVisitorSaysOfThemselves(t *testing.T) {
	g, dir := newTold(), t.TempDir()
	change := func(o *Options) { o.Guide, o.Config.DataDir = g, dir }
	h := open(t, change)
	visit := h.startVisit("en")
	h.post("/api/v1/visit/exhibit", map[string]string{"visit": visit, "exhibit": "red-fan"}, http.StatusOK)
	turn := g.answers(t, h, visit, "I'm allergic to nuts. My name is Anna, what is this?", "A fan [1].")
	want := []agent.Remembered{
		{Kind: "allergy", Key: "allergy/nut", Value: "nuts", Text: "Allergic to nuts."},
		{Kind: "name", Key: "name", Value: "Anna", Text: "Your name is Anna."},
	}
	if d := cmp.Diff(want, turn.Remembered); d != "" {
		t.Errorf("the same turn (-want +got)\n%s", d)
	}
	got := h.remembered(visit)
	if len(got.Items) != 2 || got.Items[1].Text != "Your name is Anna." || got.Items[1].Version != 1 || len(got.Seen) != 1 || got.Seen[0] != "red-fan" {
		t.Fatalf("%+v", got)
	}

	edit := func(version uint64, status int) reply {
		return h.post("/api/v1/visit/memory", map[string]any{"visit": visit, "key": "name", "version": version, "text": "Call me Berta"}, status)
	}
	edit(1, http.StatusOK).json(t, &got)
	if len(got.Items) != 2 || got.Items[1].Text != "Your name is Berta." || !got.Items[1].Confirmed || got.Items[1].Version != 2 {
		t.Errorf("%+v", got)
	}
	wantProblem(t, edit(1, http.StatusConflict), http.StatusConflict, codeChanged)
	h.post("/api/v1/visit/memory", map[string]any{"visit": visit, "key": "allergy/nut", "version": 1, "delete": true}, http.StatusOK)
	h.refused("/api/v1/visit/memory", map[string]any{"visit": visit, "key": "allergy/nut", "version": 2, "delete": true}, http.StatusNotFound, codeNotFound)
	h.refused("/api/v1/visit/memory", map[string]any{"visit": visit, "key": "name", "version": 2}, http.StatusBadRequest, codeBadRequest)
	h.refused("/api/v1/visit/memory", map[string]any{"visit": "nobody", "key": "name", "delete": true}, http.StatusNotFound, codeNoSuchVisit)
	wantProblem(t, h.get("/api/v1/visit/memory?visit=nobody"), http.StatusNotFound, codeNoSuchVisit)
	h.stop()

	h = open(t, change)
	turn = g.answers(t, h, visit, "我们还有四十分钟", "好。")
	var keys []string
	for _, r := range turn.Remembered {
		keys = append(keys, r.Key)
	}
	if d := cmp.Diff([]string{"time_left", "name"}, keys); d != "" || !turn.Remembered[1].Confirmed {
		t.Errorf("after the restart (-want +got)\n%s%+v", d, turn.Remembered)
	}
	if other := h.startVisit("en"); len(h.remembered(other).Items) != 0 {
		t.Error("another visitor is told of Anna")
	}
}

// TestForgottenIsGoneFromTheDisk looks through the raw files of the stores, before and after a visit is wiped.
func TestForgottenIsGoneFromTheDisk(t *testing.T) {
	for _, tt := range []struct{ name, path string }{{"left", "end"}, {"forgotten", "forget"}} {
		t.Run(tt.name, func(t *testing.T) {
			g, dir := newTold(), t.TempDir()
			change := func(o *Options) { o.Guide, o.Config.DataDir, o.Events = g, dir, nil }
			h := open(t, change)
			visit := h.startVisit("en")
			const secret = "Zebulonia"
			g.answers(t, h, visit, "My name is "+secret+". I'm allergic to shellfish.", "Welcome "+secret+".")
			v, err := h.visits.Get(visit)
			if err != nil {
				t.Fatal(err)
			}
			m, err := h.memory.Export(keyed(v), v.Talk)
			if err != nil {
				t.Fatal(err)
			}
			key := v.MemoryKey()
			h.post("/api/v1/visit/"+tt.path, map[string]string{"visit": visit}, http.StatusNoContent)
			wantProblem(t, h.get("/api/v1/visit/memory?visit="+visit), http.StatusNotFound, codeNoSuchVisit)
			if _, err := h.memory.Import(t.Context(), keyed(v), m); !errors.Is(err, memory.ErrForgotten) {
				t.Errorf("a late event: %v", err)
			}
			h.stop()
			files := 0
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := os.ReadFile(path)
				if ext := filepath.Ext(path); ext == ".mem" || ext == ".vlog" || ext == ".sst" {
					files++
				}
				for _, trace := range []string{secret, "shellfish", visit, string(key[:])} {
					if bytes.Contains(data, []byte(trace)) {
						t.Errorf("%s holds %q", path, trace)
					}
				}
				return err
			})
			if err != nil || files < 4 {
				t.Errorf("%d files of the stores, %v", files, err)
			}
			h = open(t, change) // nothing of it can be read with the key even now
			if _, err := h.memory.Recall(keyed(v)); !errors.Is(err, memory.ErrForgotten) {
				t.Errorf("recall after a restart: %v", err)
			}
		})
	}
}

func TestMemoryEvents(t *testing.T) {
	g := newTold()
	h := open(t, func(o *Options) { o.Guide = g })
	visit := h.startVisit("en")
	v, err := h.visits.Get(visit)
	if err != nil {
		t.Fatal(err)
	}
	g.answers(t, h, visit, "My name is Anna.", "Hello.")
	var events []recorded
	for deadline := time.Now().Add(20 * time.Second); len(events) < 2 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		events = append(events, h.events.take()...)
	}
	if len(events) != 2 || events[1].Type != eventMemoryCommand || events[1].Data["visit"] != v.Name() {
		t.Fatalf("events %+v", events)
	}
	text, err := json.Marshal(events[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	var e memory.Envelope
	if err := json.Unmarshal(text, &e); err != nil || strings.Contains(string(text), "Anna") {
		t.Fatalf("%v: %s", err, text)
	}
	s, err := keyed(v).Open(e)
	if err != nil || len(s.Commands) != 1 || s.Commands[0].Op != memory.OpUpsertFact || s.Commands[0].Value != "Anna" || s.Commands[0].Kiosk != "door" {
		t.Errorf("%+v %v", s, err)
	}
	h.post("/api/v1/visit/forget", map[string]string{"visit": visit}, http.StatusNoContent)
	forgotten := h.events.wantTypes(t, eventVisitEnded, eventMemoryForgotten)
	if forgotten[1].Data["visit"] != v.Name() {
		t.Errorf("%+v", forgotten[1])
	}
}
