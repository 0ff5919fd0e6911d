package kiosk

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// requests are the addresses that read what a client sends and answer at once; the fuzzed text takes the place of *,
// the id of an open visit that of @.
var requests = []string{
	"GET /api/v1/gallery?lang=*", "GET /api/v1/route?visit=@&minutes=*", "GET /api/v1/route?hall=*", "GET /api/v1/route?interests=*",
	"GET /api/v1/exhibits?q=*", "GET /api/v1/exhibits/*", "GET /api/v1/passages/*", "GET /api/v1/pictures/*", "GET /api/v1/pictures/red%20fan.png?w=*",
	"GET /api/v1/photo/*?visit=@", "GET /api/v1/take?visit=*", "GET /api/v1/take/*", "GET /api/v1/speech?visit=@&text=*", "GET /api/v1/visit/memory?visit=*",
	"POST /api/v1/visit/start", "POST /api/v1/visit/exhibit", "POST /api/v1/visit/language", "POST /api/v1/visit/level", "POST /api/v1/visit/memory",
	"POST /api/v1/visit/resume", "POST /api/v1/visit/pass", "POST /api/v1/feedback", "POST /api/v1/phone/offer", "POST /api/v1/photo?visit=@",
	"POST /api/v1/phone/photo?token=*", "POST /api/v1/staff/open", "POST /api/v1/staff/trace", "GET /*",
}

// FuzzRequests sends whatever to a kiosk: it answers or refuses in JSON, and nothing breaks. 503 is for what this kiosk
// has not: a camera, a voice, a hub, room for more visits.
func FuzzRequests(f *testing.F) {
	for i := range requests {
		for _, body := range []string{
			`{"visit":"@"}`, `{"visit":"@","exhibit":"red-fan"}`, `{"visit":"@","language":"zh","level":"child"}`, `{"visit":"@","key":"name","version":1,"delete":true}`,
			`{"code":"ABCD2345"}`, `{"pin":"4711","since":"-1h","limit":-1}`, `{"visit":"@","keep":"day","answer":1,"helpful":true}`, `{"language":"\ud800"} {}`,
		} {
			f.Add(uint8(i), "red-fan", "application/json", []byte(body))
		}
		f.Add(uint8(i), "\x00../..%2f红", "multipart/form-data; boundary=b", []byte("--b\r\nContent-Disposition: form-data; name=\"photo\"\r\n\r\nx\r\n--b--"))
	}
	h := open(f)
	visit := h.startVisit("en")
	f.Fuzz(func(t *testing.T, which uint8, text, contentType string, body []byte) {
		method, path, _ := strings.Cut(requests[int(which)%len(requests)], " ")
		before, after, _ := strings.Cut(path, "*")
		escape := url.PathEscape
		if strings.Contains(before, "?") {
			escape = url.QueryEscape
		}
		path = strings.ReplaceAll(before, "@", visit) + escape(text) + strings.ReplaceAll(after, "@", visit)
		if !strings.Contains(requests[int(which)%len(requests)], "*") {
			path = strings.ReplaceAll(before, "@", visit)
		}
		r, err := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(strings.ReplaceAll(string(body), "@", visit)))
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost {
			r.Header["Content-Type"] = []string{strings.Map(visible, contentType)}
		}
		answer, err := h.app.Test(r, -1)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		defer answer.Body.Close()
		told, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 500 && answer.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%s %s: %d %.200s, %v", method, path, answer.StatusCode, told, err)
		}
		if answer.StatusCode >= http.StatusBadRequest && strings.HasPrefix(path, api) && !json.Valid(told) {
			t.Errorf("%s %s: %d, told %.200q", method, path, answer.StatusCode, told)
		}
	})
}

// visible leaves out what may stand in no header.
func visible(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}
