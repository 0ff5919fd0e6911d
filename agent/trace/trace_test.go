package trace

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRecorder(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	r := New(func() time.Time { now = now.Add(time.Millisecond); return now }, Turn{Question: "Why?", Release: "r1"})
	r.Stage("plan")
	r.Plan(map[string]string{"task": "single"})
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() { r.Tool(ToolCall{Tool: "recall", Success: true, Tries: 1}) })
	}
	together.Wait()
	r.Model(ModelCall{Purpose: "write", Tokens: 12, Cost: 0.25})
	r.Model(ModelCall{Purpose: "rewrite", Cost: 0.5})
	r.Check("unsupported", "the number 42", "withheld")
	r.Limit("tool calls of a run")
	r.Use(Used{Models: 2, Tools: 4})
	turn := r.End("answered", "model")
	if turn.Cost != 0.75 || turn.Used.Tools != 4 || len(turn.Tools) != 4 || turn.Millis != 8 || turn.Stages[0].Millis != 1 {
		t.Errorf("%+v", turn)
	}
	var out strings.Builder
	if err := Write(&out, turn, turn); err != nil {
		t.Fatal(err)
	}
	var back Turn
	first, _, _ := strings.Cut(out.String(), "\n")
	if err := json.Unmarshal([]byte(first), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(turn, back); d != "" {
		t.Errorf("what was written and read (-want +got):\n%s", d)
	}
}

func TestNoRecorder(t *testing.T) {
	var r *Recorder
	r.Stage("plan")
	r.Limit("x")
	if d := cmp.Diff(Turn{}, r.End("answered", "")); d != "" {
		t.Error(d)
	}
}

func TestKeep(t *testing.T) {
	k := NewKeep(2)
	for _, q := range []string{"1", "2", "3"} {
		k.Record(Turn{Question: q})
	}
	turns := k.Turns()
	if len(turns) != 2 || turns[0].Question != "2" {
		t.Errorf("%+v", turns)
	}
}
