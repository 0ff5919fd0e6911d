package agent

import (
	"encoding/json"
	"testing"
	"time"

	"docent/agent/trace"
)

// FuzzToolArguments calls every tool with whatever a model may send: either it fails in words, or each fact it tells
// rests on a passage.
func FuzzToolArguments(f *testing.F) {
	for i, args := range []string{
		`{"question":"Who found it?","exhibit":"penrose-tiling"}`, `{"id":"penrose-tiling"}`, `{"ids":["penrose-tiling","ice-crack","penrose-tiling"]}`,
		`{"id":"tilings"}`, `{"topic":"hours","day":{"name":"date","date":"0-0"}}`, `{"topic":"events","day":{"name":"weekday","weekday":"noday"}}`,
		`{"minutes":-9223372036854775808,"interests":["","图案"],"quiet":true}`, `{"minutes":9223372036854775807,"hall":"growth"}`,
		`{"query":{"order":"oldest","n":-1,"count":true}}`, `{"query":{"from":9223372036854775807,"to":-9223372036854775808}}`,
		`{"from":"penrose-tiling","to":"penrose-tiling","hall":"x"}`, `{"interests":null,"dislikes":["\u0000"]}`, `{}`, `null`, `[`, `{"question":1} {}`,
	} {
		for which := range 9 {
			f.Add(uint8(which), "en", []byte(args))
		}
		f.Add(uint8(i), "zh", []byte(args))
	}
	lib := sampleLibrary(f)
	now := time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	g := New(Options{Clock: clock})
	g.Prepare(lib)
	f.Fuzz(func(t *testing.T, which uint8, language string, args []byte) {
		if language != "zh" {
			language = "en"
		}
		turn := Turn{Question: "What is there?", Exhibit: "penrose-tiling", Language: language}
		s, rec := g.shelves.of(lib), trace.New(clock, trace.Turn{})
		caller, err := g.caller(s, newDesk(lib, turn.Exhibit, rec), turn, s.plan(turn, language, now), rec)
		if err != nil {
			t.Fatal(err)
		}
		specs := caller.Specs()
		name := specs[int(which)%len(specs)].Name
		r := caller.Call(t.Context(), name, json.RawMessage(args))
		if r.Success == (r.Error != "") {
			t.Errorf("%s(%s): success %v with error %q", name, args, r.Success, r.Error)
		}
		for _, fact := range r.Data.Facts {
			if fact.Text == "" || caller.box.passages[fact.Passage] == nil {
				t.Errorf("%s(%s) tells %q of passage %q", name, args, fact.Text, fact.Passage)
			}
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s(%s): %v", name, args, err)
		}
	})
}
