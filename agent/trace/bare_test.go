package trace

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"
)

// secret stands wherever a visitor's or a model's words can be.
const secret = "SECRET"

func full() Turn {
	return Turn{
		Visit: "v", Began: time.Unix(1_800_000_000, 0).UTC(), Millis: 5, Question: secret, Exhibit: "e", Release: "r",
		Plan: json.RawMessage(`{"execution_mode":"RAG_CHAT","rewritten_question":"` + secret + `","task":"single","language":"en","template":"route","level":"child",
			"sub_questions":[{"text":"` + secret + `"}],"arguments":{"interests":["` + secret + `"]},"clarify":{"text":"` + secret + `","choices":[]}}`),
		Stages:   []Stage{{"plan", 1}},
		Searches: []Search{{Text: secret, Language: "en", Hits: []Hit{{"e/en/1#1", 2.5}, {"web/https://example.org/?q=" + secret, 1}}}},
		Steps:    []Step{{ID: 1, Description: secret, Tool: "recall", Met: true, By: "rules"}},
		Tools:    []ToolCall{{Tool: "recall", Args: json.RawMessage(`{"question":"` + secret + `"}`), Error: secret, Tries: 2}, {Tool: secret, Error: NoSuchTool}},
		Models:   []ModelCall{{Purpose: "write", Tokens: 7, Cost: 0.5, Error: secret}},
		Checks:   []Check{{"unsupported", secret, "withheld"}},
		Limits:   []string{"same call"}, Outcome: "answered", By: "model", Cost: 0.5,
	}
}

func TestBare(t *testing.T) {
	turn := full()
	bare, err := json.Marshal(turn.Bare())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(bare), secret) {
		t.Errorf("a secret is left: %s", bare)
	}
	for _, want := range []string{`"RAG_CHAT"`, `"route"`, `"e/en/1#1"`, `2.5`, `"tries":2`, `"failed"`, `"unsupported"`, `"withheld"`, `"same call"`, `"cost":0.5`, `"sub_questions":[{}]`} {
		if !strings.Contains(string(bare), want) {
			t.Errorf("%s is gone: %s", want, bare)
		}
	}
	if turn.Question != secret || turn.Searches[0].Text != secret || turn.Searches[0].Hits[1].Passage == webPassage || turn.Tools[0].Error != secret {
		t.Error("the turn itself was changed")
	}
}

type parts struct {
	mu   sync.Mutex
	told []Part
}

func (p *parts) Part(one Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, one)
}

func TestPartsAreToldAndBare(t *testing.T) {
	f := full()
	r := New(time.Now, Turn{Visit: "v", Question: secret})
	var heard parts
	r.Tell(&heard)
	r.Stage("plan")
	r.Plan(f.Plan)
	r.Search(f.Searches[0])
	r.Step(f.Steps[0])
	r.Tool(f.Tools[0])
	r.Model(f.Models[0])
	r.Check("unsupported", secret, "withheld")
	r.Limit("same call")
	r.End("answered", "model")
	var kinds []string
	for _, p := range heard.told {
		kinds = append(kinds, p.Kind)
		bare, err := json.Marshal(p.Bare())
		if err != nil || strings.Contains(string(bare), secret) || p.Visit != "v" || p.Began.IsZero() {
			t.Errorf("%s, %v", bare, err)
		}
	}
	if got := strings.Join(kinds, " "); got != "stage plan search step tool model check limit end" {
		t.Error(got)
	}
}
