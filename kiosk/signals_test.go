package kiosk

import (
	"net/http"
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
	if err := h.SetEmergency(map[string]string{"en": "Please leave.", "zh": "请离开。"}); err != nil {
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
	if err := h.SetEmergency(map[string]string{"en": strings.Repeat("x", maxEmergency+1)}); err == nil {
		t.Error("a text that is too long is taken")
	}
	if err := h.SetEmergency(map[string]string{}); err != nil {
		t.Fatal(err)
	}
	if _, data := next(); data != `{"text":null}` {
		t.Errorf("at last %s", data)
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
