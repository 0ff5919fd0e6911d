package hub

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"docent/sync/wire"
)

// requests are the addresses of the hub's page that read what a client sends; the fuzzed text takes the place of *.
var requests = []string{
	"PUT /api/v1/emergency", "POST /api/v1/kiosks/museum/k1/commands", "POST /api/v1/kiosks/*/commands", "GET /api/v1/kiosks/*/commands",
	"GET /api/v1/commands/*", "GET /api/v1/commands/*/data", "POST /api/v1/enrolments/authorise", "POST /api/v1/enrolments/revoke",
	"POST /api/v1/content/missing", "PUT /api/v1/content/objects/*", "POST /api/v1/content/release", "GET /live?after=*",
	"GET /api/v1/events?limit=*", "GET /?lang=*",
	"POST /api/v1/rollouts", "GET /api/v1/rollouts/*", "POST /api/v1/rollouts/*/abort", "POST /api/v1/rollouts/r1/*",
}

// FuzzRequests sends whatever to the hub's page: it answers or refuses, never breaks, and says in JSON why.
func FuzzRequests(f *testing.F) {
	for i, body := range []string{
		`{"text":{"en":"Please leave.","zh":"请离开"}}`, `{"name":"volume","value":50,"expires_in_s":18446744074}`, `{"name":"logs"}`, "", "", "",
		`{"code":"K7M3XR","replace":true}`, `{"site":"north","kiosk_id":"k1"}`, `{"objects":["` + strings.Repeat("ab", 32) + `","../x"]}`, "an object",
		`{"files":{"1.root.json":"e30=","2.targets.json":"bnVsbA=="}}`, "", "", "",
		`{"number":2,"by":"ann","plan":{"groups":[{"name":"canary","percent":10,"error_threshold":"5%"},{"name":"all","rest":true}]}}`, "", `{"by":"ann","reason":"a\nb"}`, "",
	} {
		for _, text := range []string{"9", "a/b", strings.Repeat("ab", 32), "\x00%2f..", "-1", "zh"} {
			f.Add(uint8(i), text, []byte(body))
		}
	}
	h := startHub(f, Config{Dir: f.TempDir()})
	kiosk := startKiosk(f, h.MQTTAddr(), "k1", f.TempDir())
	f.Cleanup(kiosk.stop)
	for { // until it has introduced itself
		known, err := h.store.Kiosks(f.Context())
		if err != nil {
			f.Fatal(err)
		}
		if len(known) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	app := h.app(context.Background())
	f.Fuzz(func(t *testing.T, which uint8, text string, body []byte) {
		method, path, _ := strings.Cut(requests[int(which)%len(requests)], " ")
		escape := url.PathEscape
		if strings.Contains(path, "?") {
			escape = url.QueryEscape
		}
		r, err := http.NewRequest(method, "http://127.0.0.1"+strings.Replace(path, "*", escape(text), 1), strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(publishHeader, "1")
		answer, err := app.Test(r, -1)
		if err != nil {
			t.Fatalf("%s %s: %v", method, r.URL, err)
		}
		defer answer.Body.Close()
		told, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= http.StatusInternalServerError {
			t.Fatalf("%s %s: %d %.200s, %v", method, r.URL, answer.StatusCode, told, err)
		}
		if answer.StatusCode >= http.StatusBadRequest && !json.Valid(told) {
			t.Errorf("%s %s: %d, told %.200q", method, r.URL, answer.StatusCode, told)
		}
		if answer.StatusCode == http.StatusAccepted { // a command
			var v commandView
			if err := json.Unmarshal(told, &v); err != nil {
				t.Fatal(err)
			}
			if life := v.ExpiresAt.Sub(v.IssuedAt); life <= 0 || life > wire.MaxCommandLife {
				t.Errorf("%s lives for %v", body, life)
			}
		}
	})
}
