package hub

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"docent/sync/wire"
)

func TestStaffAPI(t *testing.T) {
	h := runHub(t, Config{Dir: t.TempDir()})
	k := startSecure(t, h.MQTTAddr(), "kiosk-1", t.TempDir())
	code := k.code(t)
	status, _, body := get(t, h, "/api/v1/enrolments")
	var list struct {
		Fingerprint string
		Waiting     []struct {
			Kiosk string `json:"kiosk_id"`
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	if list.Fingerprint != h.Fingerprint() || len(list.Waiting) != 1 || list.Waiting[0].Kiosk != "kiosk-1" || strings.Contains(body, code) {
		t.Errorf("list %s", body)
	}
	post := func(path, body string, headers ...string) int {
		r, err := http.NewRequest(http.MethodPost, "http://"+h.HTTPAddr()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			if headers[i] == "Host" {
				r.Host = headers[i+1]
			}
			r.Header.Set(headers[i], headers[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	with := `{"code":"` + code + `"}`
	for _, tt := range []struct {
		name, path, body string
		headers          []string
		want             int
	}{
		{"a page of another site", "authorise", with, nil, http.StatusForbidden},
		{"a name that was made to point here", "authorise", with, []string{publishHeader, "1", "Host", "evil.example"}, http.StatusForbidden},
		{"no code", "authorise", `{"code":"x"}`, []string{publishHeader, "1"}, http.StatusBadRequest},
		{"no JSON", "authorise", `code`, []string{publishHeader, "1"}, http.StatusBadRequest},
		{"a code that nobody shows", "authorise", `{"code":"AAAAAA"}`, []string{publishHeader, "1"}, http.StatusNotFound},
		{"the code", "authorise", with, []string{publishHeader, "1"}, http.StatusOK},
		{"revoke nobody", "revoke", `{"site":"museum","kiosk_id":"kiosk-9"}`, []string{publishHeader, "1"}, http.StatusNotFound},
		{"revoke nonsense", "revoke", `{"site":"museum","kiosk_id":"A"}`, []string{publishHeader, "1"}, http.StatusBadRequest},
	} {
		if got := post("/api/v1/enrolments/"+tt.path, tt.body, tt.headers...); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	until(t, "connection", func() bool { return k.link.State().Connected })
	if got := post("/api/v1/enrolments/revoke", `{"site":"museum","kiosk_id":"kiosk-1"}`, publishHeader, "1"); got != http.StatusNoContent {
		t.Errorf("revoke: %d", got)
	}
	k.reason(t, string(wire.RefusedRevoked))
}
