package hub

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/sync/link"
	"docent/sync/wire"
)

// screen is a kiosk that notes what it is told to show over everything.
func screen(t *testing.T, broker, name string) <-chan wire.Emergency {
	t.Helper()
	told := make(chan wire.Emergency, 1000)
	startKiosk(t, broker, name, t.TempDir(), func(o *link.Options) { o.Emergency = func(e wire.Emergency) { told <- e } })
	return told
}

// shows waits until the newest that a kiosk was told is a text, or its end.
func shows(t *testing.T, told <-chan wire.Emergency, newest *wire.Emergency, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		select {
		case e := <-told:
			if e.Number > newest.Number {
				*newest = e
			}
		case <-ctx.Done():
			t.Fatalf("it shows %v, not %q", newest.Text, text)
		}
		if newest.Text["en"] == text {
			return
		}
	}
}

func TestEmergencyReachesKiosks(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	address := h.MQTTAddr()
	told := screen(t, address, "kiosk-1")
	var newest wire.Emergency
	say := func(method, body string) string {
		t.Helper()
		status, answer := send(t, h, method, "/api/v1/emergency", []byte(body), true)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", method, status, answer)
		}
		return answer
	}
	for !strings.Contains(say(http.MethodPut, `{"text":{"en":"Leave.","zh":"请离开。"}}`), `"kiosks":1`) {
	}
	shows(t, told, &newest, "Leave.")
	if newest.Text["zh"] != "请离开。" {
		t.Errorf("in Chinese %q", newest.Text["zh"])
	}
	if _, _, page := get(t, h, "/?lang=zh"); !strings.Contains(page, "请离开。") {
		t.Error("the hub's page does not say that a message is shown")
	}

	// The hub goes and comes back: it still says so, and its end arrives after another restart.
	h.stop()
	h = startHub(t, Config{Dir: dir, MQTTListen: address})
	if _, _, body := get(t, h, "/api/v1/emergency"); !strings.Contains(body, "Leave.") {
		t.Errorf("after a restart %s", body)
	}
	late := screen(t, address, "kiosk-2")
	var lateNewest wire.Emergency
	shows(t, late, &lateNewest, "Leave.")
	say(http.MethodDelete, "")
	h.stop()
	h = startHub(t, Config{Dir: dir, MQTTListen: address})
	shows(t, told, &newest, "")
	shows(t, late, &lateNewest, "")
}

func TestEmergencyRefuses(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	for name, c := range map[string]struct {
		method, body string
		program      bool
		status       int
	}{
		"from a page":      {http.MethodPut, `{"text":{"en":"Leave."}}`, false, http.StatusForbidden},
		"ended by a page":  {http.MethodDelete, "", false, http.StatusForbidden},
		"without a text":   {http.MethodPut, `{}`, true, http.StatusBadRequest},
		"with empty text":  {http.MethodPut, `{"text":{"en":" "}}`, true, http.StatusBadRequest},
		"with a long text": {http.MethodPut, `{"text":{"en":"` + strings.Repeat("x", wire.MaxEmergencyText+1) + `"}}`, true, http.StatusBadRequest},
		"not JSON":         {http.MethodPut, `Leave.`, true, http.StatusBadRequest},
	} {
		if status, answer := send(t, h, c.method, "/api/v1/emergency", []byte(c.body), c.program); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, answer, c.status)
		}
	}
	if _, _, body := get(t, h, "/api/v1/emergency"); body != `{"text":null}` {
		t.Errorf("it shows %s", body)
	}
}
