package kiosk

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEmergency(t *testing.T) {
	h := open(t)
	next, closed := h.listen("/api/v1/signals")
	defer closed()
	if event, data := next(); event != "emergency" || data != `{"text":null}` {
		t.Fatalf("at first %s: %s", event, data)
	}
	if event, data := next(); event != "screen" || data != `{"asleep":false,"volume":100,"brightness":100,"reload":0,"notice":null}` {
		t.Fatalf("and %s: %s", event, data)
	}
	if err := h.SetEmergency(Emergency{2, map[string]string{"en": "Please leave.", "zh": "请离开。"}}); err != nil {
		t.Fatal(err)
	}
	if event, data := next(); event != "emergency" || data != `{"text":{"en":"Please leave.","zh":"请离开。"}}` {
		t.Errorf("then %s: %s", event, data)
	}
	late, closedToo := h.listen("/api/v1/signals")
	defer closedToo()
	if _, data := late(); !strings.Contains(data, "Please leave.") {
		t.Errorf("a page that comes later hears %s", data)
	}
	if err := h.SetEmergency(Emergency{3, map[string]string{"en": strings.Repeat("x", maxEmergency+1)}}); err == nil {
		t.Error("a text that is too long is taken")
	}
	for _, old := range []Emergency{{Number: 1}, {Number: 2}, {2, map[string]string{"en": "Stay."}}} {
		if err := h.SetEmergency(old); err != nil {
			t.Fatal(err)
		}
		if text, _ := h.signals.now(); text["en"] != "Please leave." {
			t.Errorf("an old message changed what is shown to %v", text)
		}
	}
	if err := h.SetEmergency(Emergency{Number: 3}); err != nil {
		t.Fatal(err)
	}
	if _, data := next(); data != `{"text":null}` {
		t.Errorf("at last %s", data)
	}
	h.SetAsleep(true)
	if event, data := next(); event != "screen" || !strings.HasPrefix(data, `{"asleep":true,`) {
		t.Errorf("asleep: %s: %s", event, data)
	}
	h.events.wantTypes(t, eventEmergencyShown, eventEmergencyOver)
}

func TestEmergencySurvivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "emergency.json")
	k := &Kiosk{config: Config{DataDir: filepath.Dir(path)}, log: slog.New(slog.DiscardHandler)}
	shown := func() string {
		again := &Kiosk{config: k.config, log: k.log}
		again.recallEmergency()
		text, _ := again.signals.now()
		return text["en"]
	}
	if got := shown(); got != "" {
		t.Errorf("at first %q", got)
	}
	if err := k.SetEmergency(Emergency{5, map[string]string{"en": "Please leave."}}); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != "Please leave." {
		t.Errorf("after a restart %q", got)
	}
	if err := os.WriteFile(path, []byte(`{"number":5,"te`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != "" {
		t.Errorf("from a damaged file %q", got)
	}
	if err := k.SetEmergency(Emergency{Number: 6}); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != "" {
		t.Errorf("after its end and a restart %q", got)
	}
}

func TestSignalsHaveABound(t *testing.T) {
	h := open(t)
	for range mostSignalStreams {
		if !h.signals.enter() {
			t.Fatal("refused below the bound")
		}
	}
	wantProblem(t, h.get("/api/v1/signals"), http.StatusServiceUnavailable, codeBusy)
}
