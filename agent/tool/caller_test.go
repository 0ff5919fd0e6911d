package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"docent/agent/trace"
)

func registry(t *testing.T, f Func) *Registry {
	t.Helper()
	r, err := NewRegistry(Tool{Name: "recall", Schema: json.RawMessage(`{}`), Timeout: time.Second, New: func() (Func, error) { return f, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func works(context.Context, json.RawMessage) (Data, error) {
	return Data{Facts: []Fact{{"Two tiles.", "p#1"}}}, nil
}

func args(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)) }

func newCaller(r *Registry, l Limits, visit *Ledger, rec *trace.Recorder) *Caller {
	return NewCaller(r, l, visit, rec, time.Now, func() float64 { return 0.5 })
}

func TestLimitOfTools(t *testing.T) {
	c := newCaller(registry(t, works), DefaultLimits, nil, nil)
	for i := range DefaultLimits.Tools {
		if r := c.Call(t.Context(), "recall", args(i)); !r.Success {
			t.Fatalf("call %d: %+v", i, r)
		}
	}
	if r := c.Call(t.Context(), "recall", args(99)); r.Success || !r.Refused || r.Hint == "" {
		t.Errorf("call %d: %+v", DefaultLimits.Tools+1, r)
	}
}

func TestLimitOfSameCall(t *testing.T) {
	rec := trace.New(time.Now, trace.Turn{})
	c := newCaller(registry(t, works), DefaultLimits, nil, rec)
	c.Call(t.Context(), "recall", json.RawMessage(`{"a":1,"b":2}`))
	c.Call(t.Context(), "recall", json.RawMessage(`{ "b":2, "a":1 }`))
	if r := c.Call(t.Context(), "recall", json.RawMessage(`{"a":1, "b":2}`)); !r.Refused {
		t.Errorf("the third same call: %+v", r)
	}
	if r := c.Call(t.Context(), "recall", json.RawMessage(`{"a":1,"b":3}`)); !r.Success {
		t.Errorf("another call: %+v", r)
	}
	turn := rec.End("", "")
	if len(turn.Limits) != 1 || turn.Limits[0] != string(LimitSame) || len(turn.Tools) != 4 || turn.Tools[2].Tries != 0 {
		t.Errorf("trace %+v", turn)
	}
}

func TestLimitOfFailures(t *testing.T) {
	calls := 0
	c := newCaller(registry(t, func(context.Context, json.RawMessage) (Data, error) {
		calls++
		return Data{}, &Miss{"nothing found", "ask for the venue"}
	}), DefaultLimits, nil, nil)
	for i := range 5 {
		r := c.Call(t.Context(), "recall", args(i))
		if i < 3 && (r.Success || r.Hint != "ask for the venue") || i >= 3 && !r.Refused {
			t.Errorf("call %d: %+v", i, r)
		}
	}
	if calls != 3 {
		t.Errorf("called %d times", calls)
	}
}

func TestLimitOfVisit(t *testing.T) {
	visit := NewLedger(VisitLimits)
	r := registry(t, works)
	granted, models := 0, 0
	for range 10 {
		c := newCaller(r, DefaultLimits, visit, nil)
		for i := range 6 {
			if c.Call(t.Context(), "recall", args(i)).Success {
				granted++
			}
			if c.Model() == "" {
				models++
			}
		}
	}
	if granted != VisitLimits.Tools || models != VisitLimits.Models {
		t.Errorf("%d tool calls and %d model calls in a visit", granted, models)
	}
}

func TestLimitOfModelsAndSteps(t *testing.T) {
	c := newCaller(registry(t, works), DefaultLimits, nil, nil)
	models, steps := 0, 0
	for range 100 {
		if c.Model() == "" {
			models++
		}
		if c.Step() == "" {
			steps++
		}
	}
	if models != 8 || steps != 25 {
		t.Errorf("%d model calls, %d steps", models, steps)
	}
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := newCaller(registry(t, func(context.Context, json.RawMessage) (Data, error) {
			if tries++; tries < 3 {
				return Data{}, fmt.Errorf("busy: %w", ErrTemporary)
			}
			return works(t.Context(), nil)
		}), DefaultLimits, nil, nil)
		began := time.Now()
		if r := c.Call(t.Context(), "recall", args(1)); !r.Success || tries != 3 {
			t.Errorf("%+v after %d tries", r, tries)
		}
		if d := time.Since(began); d != 300*time.Millisecond+600*time.Millisecond {
			t.Errorf("paused %v", d)
		}
		tries = -10
		if r := c.Call(t.Context(), "recall", args(2)); r.Success || tries != -7 {
			t.Errorf("%+v, tries %d", r, tries)
		}
	})
}

func TestBackOff(t *testing.T) {
	for tries := range 20 {
		for _, random := range []float64{0, 0.25, 0.5, 0.999, 1} {
			if d := BackOff(tries, random); d < 200*time.Millisecond || d > 1200*time.Millisecond {
				t.Errorf("after %d tries, %v: %v", tries, random, d)
			}
		}
	}
	if BackOff(1, 0.1) == BackOff(1, 0.9) || BackOff(2, 0) <= BackOff(1, 0) {
		t.Error("no jitter, or no growth")
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(registry(t, func(ctx context.Context, _ json.RawMessage) (Data, error) {
			<-ctx.Done()
			return Data{}, ctx.Err()
		}), DefaultLimits, nil, nil)
		if r := c.Call(t.Context(), "recall", nil); r.Error != "it took longer than 1s" {
			t.Errorf("%+v", r)
		}
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if r := c.Call(ctx, "recall", args(1)); r.Success {
			t.Errorf("%+v", r)
		}
	})
}

func TestRegistry(t *testing.T) {
	built := 0
	r, err := NewRegistry(Tool{Name: "tour", Schema: json.RawMessage(`{}`), CanParallel: true, New: func() (Func, error) {
		built++
		return nil, errors.New("no plan of the halls")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if built != 0 || len(r.Specs()) != 1 || !r.CanParallel("tour") || r.Has("web") {
		t.Errorf("built %d times: %+v", built, r.Specs())
	}
	c := newCaller(r, DefaultLimits, nil, nil)
	for i := range 2 {
		if result := c.Call(t.Context(), "tour", args(i)); result.Success || result.Error == "" {
			t.Errorf("%+v", result)
		}
	}
	if built != 1 {
		t.Errorf("built %d times", built)
	}
	if r := c.Call(t.Context(), "web", nil); r.Success || r.Hint == "" {
		t.Errorf("%+v", r)
	}
	for _, bad := range [][]Tool{{{Name: "a", Schema: json.RawMessage(`{`)}}, {{Schema: json.RawMessage(`{}`)}}} {
		if _, err := NewRegistry(bad...); err == nil {
			t.Errorf("registered %+v", bad)
		}
	}
}
