package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCommandFlags looks at what is said of flags that will not do, before any hub is asked.
func TestCommandFlags(t *testing.T) {
	asked := 0
	hub := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer hub.Close()
	for _, tt := range []struct {
		args string
		want string
	}{
		{"louvre/k1 volume", "--value is needed with volume"},
		{"louvre/k1 brightness", "--value is needed with brightness"},
		{"louvre/k1 volume --value 101", "--value 101 is not within 0 to 100"},
		{"louvre/k1 brightness --value=-1", "--value -1 is not within 0 to 100"},
		{"louvre/k1 sleep --value 5", "--value: sleep takes none"},
		{"louvre/k1 sleep --value 0", "--value: sleep takes none"},
		{"louvre/k1 sleep --expires 0s", "--expires 0s is not within"},
		{"louvre/k1 sleep --expires 999ms", "--expires 999ms is not within"},
		{"louvre/k1 sleep --expires 169h", "--expires 169h0m0s is not within"},
		{"louvre/k1 sleep --expires=-5m", "--expires -5m0s is not within"},
		{"louvre/k1 sleep --wait=-1s", "--wait -1s"},
		{"k1 sleep", "write SITE/KIOSK, such as louvre/k1"},
		{"/k1 sleep", "write SITE/KIOSK, such as louvre/k1"},
		{"louvre/ sleep", "write SITE/KIOSK, such as louvre/k1"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			code, _, errs := docent(t, append([]string{"hub", "kiosks", "do", "--hub", hub.URL}, strings.Fields(tt.args)...)...)
			if code != exitUsage || !strings.Contains(errs, tt.want) {
				t.Errorf("exit code %d, said %s", code, errs)
			}
		})
	}
	if asked != 0 {
		t.Errorf("the hub was asked %d times", asked)
	}
}

// TestNoHubsPage: what is asked of something else than a hub says so, in each way that a hub is asked.
func TestNoHubsPage(t *testing.T) {
	answers := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	kiosk := answers(http.StatusNotFound, `{"type":"about:blank","status":404,"code":"not_found","detail":"there is nothing here"}`)
	pages := map[string]struct {
		page string
		code int
	}{
		"a kiosk":        {kiosk, exitFailed},
		"a page":         {answers(http.StatusOK, "<!doctype html>"), exitFailed},
		"a file server":  {answers(http.StatusNotFound, "404 page not found"), exitFailed},
		"https":          {"https" + strings.TrimPrefix(kiosk, "http"), exitFailed},
		"nonsense":       {"nonsense", exitUsage},
		"without scheme": {"127.0.0.1:8081", exitUsage},
		"another scheme": {"mqtt://127.0.0.1:8883", exitUsage},
	}
	for name, p := range pages {
		for _, args := range []string{"hub kiosks list", "hub kiosks authorise ACDEFG", "emergency tell", "emergency end", "rollout list", "gallery mirror " + t.TempDir()} {
			t.Run(name+" "+strings.Join(strings.Fields(args)[:2], " "), func(t *testing.T) {
				code, out, errs := docent(t, append(strings.Fields(args), "--hub", p.page)...)
				if code != p.code || !strings.Contains(errs, "this is no hub's page: "+p.page) || !strings.Contains(errs, "http_listen") {
					t.Errorf("exit code %d, said %s%s", code, out, errs)
				}
			})
		}
	}
}
