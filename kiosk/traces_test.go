package kiosk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/agent"
	"docent/agent/trace"
	"docent/agent/trace/store"
)

// openTraced is a kiosk whose guide writes traces, in dir.
func openTraced(t *testing.T, dir string, words bool) (*house, *store.Store) {
	t.Helper()
	traces, err := store.Open(filepath.Join(dir, "traces"), store.Options{Words: words})
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, func(o *Options) {
		o.Config.Staff.PIN, o.Config.DataDir = "482913", dir
		o.Traces, o.Guide = traces, agent.New(agent.Options{Trace: traces})
	})
	return h, traces
}

func (h *house) traces(since string) []trace.Turn {
	h.t.Helper()
	in := map[string]any{"pin": "482913"}
	if since != "" {
		in["since"] = since
	}
	r := h.post("/api/v1/staff/trace", in, http.StatusOK)
	if r.header.Get("Content-Type") != "application/x-ndjson" || r.header.Get("Cache-Control") != "no-store" {
		h.t.Errorf("%v", r.header)
	}
	var out []trace.Turn
	for d := json.NewDecoder(bytes.NewReader(r.body)); d.More(); {
		var one trace.Turn
		if err := d.Decode(&one); err != nil {
			h.t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// TestTraceOfAVisit asks, reads the trace as staff, ends the visit, and looks for the words in the raw files.
func TestTraceOfAVisit(t *testing.T) {
	const question = "Who painted the fan on silk for my aunt Ottilie?"
	for _, words := range []bool{false, true} {
		dir := t.TempDir()
		h, traces := openTraced(t, dir, words)
		visit := h.startVisit("en")
		followed, err := client.Post(h.base+"/api/v1/staff/trace", "application/json", strings.NewReader(`{"pin":"482913","follow":true}`))
		if err != nil {
			t.Fatal(err)
		}
		defer followed.Body.Close()
		_, r := h.ask(t.Context(), map[string]any{"visit": visit, "question": question})
		allEvents(t, r)
		kinds := map[string]bool{}
		for lines := bufio.NewScanner(followed.Body); !kinds["end"] && lines.Scan(); {
			if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				kinds[kind] = true
			}
			if strings.Contains(lines.Text(), "Ottilie") && !words {
				t.Errorf("told: %s", lines.Text())
			}
		}
		if !kinds["plan"] || !kinds["search"] || !kinds["stage"] {
			t.Errorf("followed %v", kinds)
		}
		var all []trace.Turn
		for len(all) == 0 { // it is written in the background
			all = h.traces("")
		}
		one := all[0]
		if len(all) != 1 || one.Release == "" || len(one.Searches) == 0 || len(one.Searches[0].Hits) == 0 || len(one.Stages) == 0 || one.Outcome == "" {
			t.Errorf("%+v", all)
		}
		if (one.Question == question) != words {
			t.Errorf("words %v: question %q", words, one.Question)
		}
		if later := h.traces("2999-01-01T00:00:00Z"); len(later) != 0 {
			t.Errorf("%+v", later)
		}
		h.post("/api/v1/visit/end", map[string]string{"visit": visit}, http.StatusNoContent)
		if all := h.traces(""); len(all) != 1 || all[0].Question != "" || len(all[0].Searches) == 0 {
			t.Errorf("after the visit: %+v", all)
		}
		h.stop()
		if err := traces.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(files) < 6 {
			t.Fatalf("%v, %v", files, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte("Ottilie")) || bytes.Contains(data, []byte(visit)) {
				t.Errorf("words or the visit's id are in %s", f)
			}
		}
	}
}

func TestTracesWantThePIN(t *testing.T) {
	h, traces := openTraced(t, t.TempDir(), false)
	defer func() {
		h.stop()
		if err := traces.Close(); err != nil {
			t.Error(err)
		}
	}()
	h.refused("/api/v1/staff/trace", map[string]any{"pin": "0000"}, http.StatusForbidden, codeForbidden)
	h.refused("/api/v1/staff/trace", map[string]any{"pin": "0000", "follow": true}, http.StatusForbidden, codeForbidden)
	h.refused("/api/v1/staff/trace", map[string]any{"pin": "482913", "all": true}, http.StatusBadRequest, codeBadRequest)
}

// TestKioskWithoutTraces tells staff that there are none.
func TestKioskWithoutTraces(t *testing.T) {
	h := open(t, func(o *Options) { o.Config.Staff.PIN = "482913" })
	if all := h.traces(""); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	r := h.post("/api/v1/staff/trace", map[string]any{"pin": "482913", "follow": true}, http.StatusOK)
	if len(r.body) != 0 {
		t.Errorf("%s", r.body)
	}
}
