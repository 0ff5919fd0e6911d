package hub

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/store"
)

// get asks a running hub and returns status, headers and body.
func get(t *testing.T, h running, path string, headers ...string) (int, http.Header, string) {
	t.Helper()
	return request(t, h, http.MethodGet, path, headers...)
}

func request(t *testing.T, h running, method, path string, headers ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+h.HTTPAddr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// withEvents is a hub that holds a few events, some of them hostile.
func withEvents(t *testing.T) running {
	t.Helper()
	h := startHub(t, Config{Dir: t.TempDir()})
	k := startKiosk(t, h.MQTTAddr(), "kiosk-1", t.TempDir())
	ctx := context.Background()
	for _, e := range []struct {
		typ  string
		data any
	}{
		{"visit.started", map[string]string{"visit": "0192f0c1-2345-7abc-8def-0123456789ab", "language": "zh"}},
		{"exhibit.seen", map[string]any{"exhibit": "penrose", "confidence": 0.97, "by": "photo"}},
		{"question.answered", map[string]any{"question": `<script>alert("x")</script> 鼎是什么？`, "sources": []string{"a", "b&c"}, "<b>": nil}},
		{"made.up", map[string]string{"long": strings.Repeat("好", 500)}},
	} {
		if _, err := k.Append(ctx, e.typ, e.data); err != nil {
			t.Fatal(err)
		}
	}
	k.drained(t)
	return h
}

func TestPageShowsAndEscapes(t *testing.T) {
	h := withEvents(t)
	status, header, body := get(t, h, "/")
	if status != 200 || header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Errorf("status %d, headers %v", status, header)
	}
	for _, want := range []string{
		`<html lang="en">`, "Docent hub", "museum", "kiosk-1", "Ready", "Question answered", "made.up", "penrose", "0.97",
		`&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; 鼎是什么？`, "a, b&amp;c", "&lt;b&gt;", strings.Repeat("好", maxValue-1) + "…",
		`title="0192f0c1-2345-7abc-8def-0123456789ab">6789ab<`, `<strong>4</strong> <span>Events stored`, `<strong>1</strong> <span>Kiosks connected`,
		`data-last="4"`, `data-down="The hub does not answer" role="status">Live<`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, unwanted := range []string{"<script>alert", "<b>", "ZgotmplZ", "<no value>", strings.Repeat("好", maxValue)} {
		if strings.Contains(body, unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
	if _, _, zh := get(t, h, "/", "Accept-Language", "zh-CN,zh;q=0.9,en;q=0.8"); !strings.Contains(zh, `<html lang="zh">`) || !strings.Contains(zh, "问题已回答") {
		t.Errorf("the page in Chinese is %.200s", zh)
	}
	if _, _, zh := get(t, h, "/?lang=zh", "Accept-Language", "en"); !strings.Contains(zh, "导览机") {
		t.Error("?lang= is not heard")
	}
}

func TestLiveGivesWhatIsNew(t *testing.T) {
	h := withEvents(t)
	var news struct {
		Last                   int64
		Counts, Kiosks, Events string
	}
	_, _, body := get(t, h, "/live?after=2")
	if err := json.Unmarshal([]byte(body), &news); err != nil {
		t.Fatal(err)
	}
	if news.Last != 4 || strings.Count(news.Events, "<tr>") != 2 || strings.Contains(news.Events, "penrose") || !strings.Contains(news.Kiosks, "kiosk-1") ||
		!strings.Contains(news.Counts, "<strong>4</strong>") || strings.Contains(news.Events, "<script>") {
		t.Errorf("news %+v", news)
	}
	_, _, body = get(t, h, "/live?after=4")
	if err := json.Unmarshal([]byte(body), &news); err != nil {
		t.Fatal(err)
	}
	if news.Last != 4 || strings.Contains(news.Events, "<tr>") {
		t.Errorf("nothing new: %+v", news)
	}
}

func TestEventsAPI(t *testing.T) {
	h := withEvents(t)
	var page struct {
		Events []store.Event
		Next   int64
	}
	status, header, body := get(t, h, "/api/v1/events?after=1&limit=2")
	if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 || header.Get("Content-Type") != "application/json" {
		t.Fatal(status, header, err)
	}
	if len(page.Events) != 2 || page.Next != 3 || page.Events[0].Type != "exhibit.seen" || page.Events[1].KioskID != "kiosk-1" || page.Events[0].Site != site {
		t.Errorf("page %+v", page)
	}
	_, _, body = get(t, h, "/api/v1/events?after=4")
	if body != `{"events":[],"next":4}` {
		t.Errorf("after the last: %s", body)
	}
	var kiosks struct {
		Kiosks []store.Kiosk
		Counts store.Counts
	}
	_, _, body = get(t, h, "/api/v1/kiosks")
	if err := json.Unmarshal([]byte(body), &kiosks); err != nil {
		t.Fatal(err)
	}
	if len(kiosks.Kiosks) != 1 || kiosks.Kiosks[0].State != "ready" || kiosks.Kiosks[0].LastEventAt.IsZero() || kiosks.Counts.Events != 4 {
		t.Errorf("kiosks %+v", kiosks)
	}
}

func TestProblems(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	tests := []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/api/v1/events?limit=0", 400, "bad_request"},
		{"GET", "/api/v1/events?limit=1001", 400, "bad_request"},
		{"GET", "/api/v1/events?after=-1", 400, "bad_request"},
		{"GET", "/api/v1/events?after=1%20OR%201=1", 400, "bad_request"},
		{"GET", "/live?after=x", 400, "bad_request"},
		{"GET", "/nothing", 404, "not_found"},
		{"GET", "/../../etc/passwd", 404, "not_found"},
		{"POST", "/api/v1/events", 405, "method_not_allowed"},
		{"DELETE", "/", 405, "method_not_allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			status, header, body := request(t, h, tt.method, tt.path)
			var p struct {
				Type, Title, Detail, Code string
				Status                    int
			}
			if err := json.Unmarshal([]byte(body), &p); err != nil {
				t.Fatalf("%d, %s: %v", status, body, err)
			}
			if status != tt.status || p.Status != tt.status || p.Code != tt.code || p.Title == "" || p.Detail == "" || header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("status %d, %s, %+v", status, header.Get("Content-Type"), p)
			}
		})
	}
	if status, _, body := get(t, h, "/healthz"); status != 200 || body != `{"status":"ok"}` {
		t.Errorf("healthz: %d %s", status, body)
	}
	for path, want := range map[string]string{"/page.css": "text/css; charset=utf-8", "/page.js": "text/javascript; charset=utf-8"} {
		if status, header, body := get(t, h, path); status != 200 || header.Get("Content-Type") != want || len(body) < 100 {
			t.Errorf("%s: %d, %s, %d bytes", path, status, header.Get("Content-Type"), len(body))
		}
	}
}

func TestFields(t *testing.T) {
	tests := []struct {
		name, data string
		want       []field
	}{
		{"kinds", `{"b":"text","a":1.50,"c":true,"d":null,"e":["x","y"],"f":{"g":[1]},"h":[1,2]}`, []field{
			{"b", "text", ""}, {"a", "1.50", ""}, {"c", "true", ""}, {"d", "null", ""}, {"e", "x, y", ""}, {"f", `{"g":[1]}`, ""}, {"h", "[1,2]", ""},
		}},
		{"fractions", `{"a":0.9731234,"b":0.00012345,"c":-12.3456}`, []field{{"a", "0.97", ""}, {"b", "0.00012", ""}, {"c", "-12.35", ""}}},
		{"empty", `{}`, nil},
		{"no object", `[1]`, nil},
		{"cut off", `{"a":1,"b"`, []field{{"a", "1", ""}}},
		{"nothing", ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, fields([]byte(tt.data))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	many := `{"a":1` + strings.Repeat(`,"b":2`, 100) + `}`
	if got := len(fields([]byte(many))); got != maxFields {
		t.Errorf("%d fields shown", got)
	}
}

// FuzzFields: any bytes are shown, within bounds.
func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":"b","c":[1,"x"],"d":{"e":null}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := fields(b)
		if len(got) > maxFields {
			t.Fatalf("%d fields", len(got))
		}
		for _, x := range got {
			if len([]rune(x.Value)) > maxValue {
				t.Fatalf("value of %d characters", len([]rune(x.Value)))
			}
		}
	})
}

func TestEveryTextIsInEveryLanguage(t *testing.T) {
	for _, lang := range languages {
		for key := range texts["en"] {
			if texts[lang][key] == "" {
				t.Errorf("%s: no text for %s", lang, key)
			}
		}
		if len(texts[lang]) != len(texts["en"]) {
			t.Errorf("%s: %d texts, %d in English", lang, len(texts[lang]), len(texts["en"]))
		}
	}
}

// TestOtherNames: a page on the internet whose name was made to point here reads nothing.
func TestOtherNames(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	for _, path := range []string{"/", "/live", "/api/v1/events", "/api/v1/kiosks", "/api/v1/emergency", "/api/v1/enrolments", "/api/v1/content/key"} {
		for _, headers := range [][]string{
			{"Host", "evil.example"},
			{"Host", "evil.example:8081"},
			{"Host", "192.0.2.7"},
			{"Host", "evil.example", "X-Forwarded-Host", "localhost"},
			{"Host", "localhost.evil.example"},
		} {
			if status, _, body := get(t, h, path, headers...); status != http.StatusForbidden {
				t.Errorf("%s with %q: %d %.80s", path, headers, status, body)
			}
		}
		for _, host := range []string{"localhost", "localhost:8081", "127.0.0.1:8081", "[::1]:8081"} {
			if status, _, body := get(t, h, path, "Host", host); status != http.StatusOK {
				t.Errorf("%s as %s: %d %.80s", path, host, status, body)
			}
		}
	}
}
