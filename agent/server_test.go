package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/agent/internal/words"
	"docent/agent/model"
	"docent/agent/tool"
	"docent/agent/trace"
)

// scriptedServer is an OpenAI-compatible server that answers each purpose by its own script.
type scriptedServer struct {
	*httptest.Server
	mu      sync.Mutex
	scripts map[string][]reply // by purpose; the last one goes on for ever
	asked   map[string]int
	offered map[string]bool // purposes that came with tools
}

// reply is one answer of a server.
type reply func(w http.ResponseWriter, r *http.Request)

func serve(t *testing.T, scripts map[string][]reply) *scriptedServer {
	t.Helper()
	s := &scriptedServer{scripts: scripts, asked: make(map[string]int), offered: make(map[string]bool)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role, Content string }
			Tools    []json.RawMessage
			Stream   bool
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !in.Stream || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("asked %s: %v", r.URL.Path, err)
		}
		purpose := purposeOf(in.Messages[0].Content)
		s.mu.Lock()
		n := s.asked[purpose]
		s.asked[purpose]++
		s.offered[purpose] = len(in.Tools) > 0
		script := s.scripts[purpose]
		s.mu.Unlock()
		if len(script) == 0 {
			t.Errorf("asked to %s, which is not in the script", purpose)
			http.NotFound(w, r)
			return
		}
		script[min(n, len(script)-1)](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func purposeOf(system string) string {
	for _, p := range []struct{ part, purpose string }{
		{"A step of the plan brought nothing", "replan"}, {"You plan how", "plan"}, {"with one step of a task", "explore"},
		{"Write the sentence again", "rewrite"}, {"You are the guide", "write"},
	} {
		if strings.Contains(system, p.part) {
			return p.purpose
		}
	}
	return "?"
}

func (s *scriptedServer) guide(t *testing.T, o Options) *Guide {
	t.Helper()
	client, err := model.New(model.Options{BaseURL: s.URL + "/v1", Model: "small", IdleTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	o.Model, o.Clock = client, sunday
	return New(o)
}

// says streams a text in pieces, and tells the tokens.
func says(text string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": waiting\n\n")
		for p := range slices.Chunk([]rune(text), 7) {
			_, _ = io.WriteString(w, delta(string(p)))
		}
		_, _ = io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10}}`+"\n\ndata: [DONE]\n\n")
	}
}

func delta(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return "" // cannot happen
	}
	return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", data)
}

// calls streams a call of a tool in two pieces.
func calls(name, args string) reply {
	half := len(args) / 2
	piece := func(name, id, args string) string {
		data, err := json.Marshal(args)
		if err != nil {
			return "" // cannot happen
		}
		return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":%q,\"function\":{\"name\":%q,\"arguments\":%s}}]}}]}\n\n", id, name, data)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, piece(name, "a", args[:half])+piece("", "", args[half:])+"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
	}
}

func status(code int, header ...string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		http.Error(w, `{"error":{"message":"not now"}}`, code)
	}
}

// silent takes the request and says nothing until the client goes.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// halting says a little, and then nothing more.
func halting(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, delta("Roger "))
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, delta(`{"steps":[{"id":1,`)+delta("Both are in the Tilings hall [1]. And ")+"data: {\"choi")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func raw(contentType, body string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

const (
	compareQuestion = "Compare the Penrose tiling and the pinwheel tiling"
	goodPlan        = `{"steps":[{"id":1,"tool":"exhibit","args":{"id":"penrose-tiling"}},{"id":2,"tool":"exhibit","args":{"id":"pinwheel-tiling"}},{"id":3,"tool":"compare","args":{"ids":["penrose-tiling","pinwheel-tiling"]},"depends_on":[1,2]}]}`
	// missingPlan begins with a step that brings nothing, by rules neither.
	missingPlan = `{"steps":[{"id":1,"description":"a look","tool":"recall","args":{"question":"zzz qqq"}},{"id":2,"tool":"compare","args":{"ids":["penrose-tiling","pinwheel-tiling"]},"depends_on":[1]}]}`
	goodWords   = "The Penrose tiling dates from 1974 and the pinwheel tiling from 1994 [1][4]."
)

// TestServerFaults lets the server fail in every way at every purpose: the visitor always gets an answer whose numbers
// stand in its sources, within the time limit, and no more than eight calls are made.
func TestServerFaults(t *testing.T) {
	faults := map[string]reply{
		"no JSON":                    says("I would rather talk about it."),
		"broken stream":              raw("text/event-stream", "data: {\"choices\":[{\"delta\n\n"),
		"half a stream":              half,
		"429":                        status(429),
		"429 for an hour":            status(429, "Retry-After", "3600"),
		"500":                        status(500),
		"404":                        status(404),
		"silence":                    silent,
		"silence after a bit":        halting,
		"a web page":                 raw("text/html", "<html>"),
		"an error midway":            raw("text/event-stream", delta("Both ")+"data: {\"error\":{\"message\":\"out of memory\"}}\n\n"),
		"a call of a tool":           calls("recall", `{"question":"zzz qqq"}`),
		"a strange call":             calls("shell", `{"command":"rm"}`),
		"a call as text":             says("<tool_call>{\"name\":\"recall\"}</tool_call>"),
		"invented numbers":           says("They cost 4711 dollars and date from 1812 [1]. There are 4712 of them [1]."),
		"a source that is not there": says("Both are in the Tilings hall [77]."),
		"nothing":                    says(""),
		"no end":                     says(strings.Repeat("Both are in the Tilings hall [1]. ", 500)),
		"no evidence":                says(noEvidence),
		"another plan":               says(`{"steps":[{"id":1,"tool":"venue_info","args":{"topic":"hours","day":{"name":"today"}}}]}`),
		"a circle":                   says(`{"steps":[{"id":1,"tool":"compare","args":{},"depends_on":[2]},{"id":2,"tool":"compare","args":{},"depends_on":[1]}]}`),
	}
	// The small library is held in memory; its plan begins with a step that brings nothing either.
	const question, words = "Compare the Penrose tiling and the ice-crack lattice", "Both cover a plane [1]."
	const plan = `{"steps":[{"id":1,"tool":"recall","args":{"question":"zzz qqq"}},{"id":2,"tool":"exhibit","args":{"id":"ice-crack"},"depends_on":[1]}]}`
	good := map[string]reply{
		"plan": says(plan), "explore": calls("exhibit", `{"id":"penrose-tiling"}`), "replan": says(`{"action":"advance"}`),
		"write": says(words), "rewrite": says(words),
	}
	lib := testLibrary(t)
	for _, purpose := range []string{"plan", "explore", "replan", "write", "rewrite"} {
		for name, fault := range faults {
			t.Run(purpose+"/"+name, func(t *testing.T) {
				t.Parallel()
				scripts := make(map[string][]reply)
				for p, r := range good {
					scripts[p] = []reply{r}
				}
				switch purpose {
				case "rewrite": // is asked for only where the answer is faulty
					scripts["write"] = []reply{says(words + " It has 4713 tiles [1].")}
				case "replan": // where no call helps
					scripts["explore"] = []reply{says(`{"action":"skip"}`)}
				}
				scripts[purpose] = []reply{fault}
				// Only silence is ended by a limit; no other fault may meet one, however busy the machine is.
				first, whole := 30*time.Second, time.Minute
				if strings.HasPrefix(name, "silence") {
					first, whole = time.Second, 2*time.Second
				}
				s, keep := serve(t, scripts), trace.NewKeep(1)
				ctx, late := context.WithTimeout(t.Context(), 5*time.Minute)
				defer late()
				h := hearIn(ctx, s.guide(t, Options{Trace: keep, FirstTokenTimeout: first, AnswerTimeout: whole}), lib, Turn{Visit: "v", Question: question, Language: "en"})
				if h.done == nil || h.message != "" {
					t.Fatalf("events %v, message %q", h.types, h.message)
				}
				if !h.done.Answered {
					t.Errorf("not answered: %s", h.text)
				}
				checkNumbers(t, h)
				for _, id := range []string{"penrose-tiling", "ice-crack"} {
					if h.done.WrittenBy == WrittenByTools && !slices.ContainsFunc(h.sources, func(s Source) bool { return s.Exhibit == id }) {
						t.Errorf("nothing of %s: %s", id, h.text)
					}
				}
				if strings.Contains(h.text, "471") {
					t.Errorf("invented: %s", h.text)
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.asked[purpose] == 0 {
					t.Errorf("asked %v", s.asked)
				}
				total := 0
				for _, n := range s.asked {
					total += n
				}
				if total > tool.DefaultLimits.Models {
					t.Errorf("asked %d times: %v", total, s.asked)
				}
				if turn := keep.Turns()[0]; len(turn.Tools) > tool.DefaultLimits.Tools+2 || turn.Outcome != "answered" {
					t.Errorf("outcome %s, tools %+v", turn.Outcome, turn.Tools)
				}
			})
		}
	}
}

// checkNumbers holds every number of an answer against its sources.
func checkNumbers(t testing.TB, h heard) {
	t.Helper()
	if h.done.WrittenBy == WrittenByTools {
		return // minutes and dates were computed
	}
	var all strings.Builder
	for _, s := range h.sources {
		all.WriteString(s.Title + "\n" + s.Heading + "\n" + s.Quote + "\n")
	}
	have := words.NumbersIn(all.String())
	for _, n := range words.Numbers(bracketed.ReplaceAllString(h.text, "")) {
		if !have[n] {
			t.Errorf("the number %s is in no source: %s", n, h.text)
		}
	}
	for _, n := range marks(h.text) {
		if n < 1 || n > len(h.sources) {
			t.Errorf("[%d] of %d sources: %s", n, len(h.sources), h.text)
		}
	}
}

func TestServerWays(t *testing.T) {
	lib := sampleLibrary(t)
	tests := []struct {
		name    string
		scripts map[string][]reply
		by      WrittenBy
		asked   map[string]int
		tools   []string // as called
		steps   []trace.Step
		limits  []string
		has     string // part of the answer
	}{
		{"planned, and put into words", map[string][]reply{"plan": {says(goodPlan)}, "write": {says(goodWords)}},
			WrittenByModel, map[string]int{"plan": 1, "write": 1}, []string{"exhibit", "exhibit", "compare"},
			[]trace.Step{{ID: 1, Tool: "exhibit", Met: true}, {ID: 2, Tool: "exhibit", Met: true}, {ID: 3, Tool: "compare", Met: true}}, nil, "from 1994 [1][2]."},
		{"thinks, acts, sees, and finds", map[string][]reply{
			"plan": {says(missingPlan)}, "explore": {calls("shell", `{"command":"ls"}`), calls("exhibit", `{"id":"penrose-tiling"}`)}, "write": {says(goodWords)},
		}, WrittenByModel, map[string]int{"plan": 1, "explore": 2, "write": 1}, []string{"recall", "exhibit", "compare"},
			[]trace.Step{{ID: 1, Description: "a look", Tool: "exhibit", Met: true, By: "model"}, {ID: 2, Tool: "compare", Met: true}}, nil, "1994"},
		{"calls written as JSON", map[string][]reply{
			"plan": {says(missingPlan)}, "explore": {says("```json\n{\"action\":\"retry\",\"tool\":\"exhibit\",\"args\":{\"id\":\"penrose-tiling\"}}\n```")}, "write": {says(goodWords)},
		}, WrittenByModel, map[string]int{"plan": 1, "explore": 1, "write": 1}, nil,
			[]trace.Step{{ID: 1, Description: "a look", Tool: "exhibit", Met: true, By: "model"}, {ID: 2, Tool: "compare", Met: true}}, nil, "1994"},
		{"the same call for ever", map[string][]reply{
			"plan": {says(missingPlan)}, "explore": {calls("recall", `{"question": "zzz qqq"}`)}, "replan": {says(`{"action":"advance"}`)}, "write": {says("The pinwheel tiling of 1994 is the later one [1].")},
		}, WrittenByModel, map[string]int{"plan": 1, "explore": 1, "replan": 1, "write": 1}, []string{"recall", "recall", "compare"}, nil, nil, "could not look up one part of it: the gallery's texts"},
		{"changes the rest", map[string][]reply{
			"plan": {says(missingPlan)}, "explore": {says(`{"action":"skip"}`)}, "write": {says("Both hang in one hall [1].")},
			"replan": {says(`{"action":"rewrite","steps":[{"id":3,"tool":"exhibit","args":{"id":"penrose-tiling"}},{"id":4,"tool":"exhibit","args":{"id":"pinwheel-tiling"},"depends_on":[1,3]}]}`)},
		}, WrittenByModel, map[string]int{"plan": 1, "explore": 1, "replan": 1, "write": 1}, []string{"recall", "exhibit", "exhibit"},
			[]trace.Step{{ID: 1, Description: "a look", Tool: "recall"}, {ID: 3, Tool: "exhibit", Met: true}, {ID: 4, Tool: "exhibit", Met: true}}, nil, "could not look up"},
		{"a second try", map[string][]reply{"plan": {status(503), says(goodPlan)}, "write": {status(429), status(500), says(goodWords)}},
			WrittenByModel, map[string]int{"plan": 2, "write": 3}, nil, nil, nil, "1994"},
		{"no third one", map[string][]reply{"plan": {says(goodPlan)}, "write": {status(429), status(500), status(500), says(goodWords)}},
			WrittenByTools, map[string]int{"plan": 1, "write": 3}, nil, nil, nil, "(1974) is earlier"},
		{"not asked again after silence", map[string][]reply{"plan": {silent}},
			WrittenByTools, map[string]int{"plan": 1}, []string{"exhibit", "exhibit", "compare"}, nil, nil, "(1974) is earlier"},
		{"one sentence is corrected", map[string][]reply{"plan": {says(goodPlan)}, "write": {says(goodWords + " They were found by 55 people [1].")}, "rewrite": {says("Both are in the Tilings hall [1].")}},
			WrittenByModel, map[string]int{"plan": 1, "write": 1, "rewrite": 1}, nil, nil, nil, "Both are in the Tilings hall"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, keep := serve(t, tt.scripts), trace.NewKeep(1)
			limit := 20 * time.Second
			if tt.name == "not asked again after silence" {
				limit = 200 * time.Millisecond
			}
			h := hear(t, s.guide(t, Options{Trace: keep, FirstTokenTimeout: limit, AnswerTimeout: time.Minute, Prices: Prices{In: 10, Out: 100}, Random: func() float64 { return 0 }}), lib,
				Turn{Visit: "v", Question: compareQuestion, Language: "en"})
			checkHeard(t, h)
			checkNumbers(t, h)
			if h.done.WrittenBy != tt.by || !strings.Contains(h.text, tt.has) {
				t.Errorf("by %s (%s): %s", h.done.WrittenBy, h.done.ModelError, h.text)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if fmt.Sprint(s.asked) != fmt.Sprint(tt.asked) {
				t.Errorf("asked %v, want %v", s.asked, tt.asked)
			}
			if s.offered["write"] || s.offered["plan"] || s.asked["explore"] > 0 && !s.offered["explore"] {
				t.Errorf("tools were offered for %v", s.offered)
			}
			turn := keep.Turns()[0]
			var called []string
			for _, c := range turn.Tools {
				called = append(called, c.Tool)
			}
			slices.Sort(called)
			slices.Sort(tt.tools)
			if tt.tools != nil && !slices.Equal(called, tt.tools) {
				t.Errorf("tools %v, want %v", called, tt.tools)
			}
			if tt.steps != nil && fmt.Sprint(turn.Steps[:len(tt.steps)]) != fmt.Sprint(tt.steps) {
				t.Errorf("steps %+v, want %+v", turn.Steps, tt.steps)
			}
			if fmt.Sprint(turn.Limits) != fmt.Sprint(tt.limits) {
				t.Errorf("limits %v, want %v", turn.Limits, tt.limits)
			}
			requests := 0
			for _, n := range s.asked {
				requests += n
			}
			if turn.Used.Models != requests || turn.Used.Tools == 0 || turn.Used.Steps == 0 {
				t.Errorf("used %+v, %d requests", turn.Used, requests)
			}
			cost := 0.0
			for _, m := range turn.Models {
				if m.Error == "" && m.Purpose != "explore" && (!m.Counted || m.TokensIn != 100 || m.Tokens != 10 || m.Cost != 0.002) {
					t.Errorf("%+v", m)
				}
				cost += m.Cost
			}
			if turn.Cost != cost || cost == 0 {
				t.Errorf("cost %v of %v", turn.Cost, cost)
			}
		})
	}
}

// TestVisitorLeaves ends the request to the server with the turn.
func TestVisitorLeaves(t *testing.T) {
	for purpose, scripts := range map[string]map[string][]reply{
		"plan": {}, "write": {"plan": {says(goodPlan)}}, "explore": {"plan": {says(missingPlan)}},
	} {
		t.Run(purpose, func(t *testing.T) {
			begun, ended := make(chan struct{}), make(chan struct{})
			scripts[purpose] = []reply{func(_ http.ResponseWriter, r *http.Request) {
				close(begun)
				<-r.Context().Done()
				close(ended)
			}}
			g := serve(t, scripts).guide(t, Options{FirstTokenTimeout: time.Hour, AnswerTimeout: time.Hour})
			ctx, leave := context.WithCancel(t.Context())
			events := g.Answer(ctx, sampleLibrary(t), Turn{Question: compareQuestion, Language: "en"})
			<-begun
			leave()
			for e := range events {
				if e.Type == EventDone || e.Type == EventError {
					t.Errorf("a turn that was left ended with %s", e.Type)
				}
			}
			<-ended
		})
	}
}
