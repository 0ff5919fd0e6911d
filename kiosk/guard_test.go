package kiosk

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	h := open(t)
	body := []byte(`{"language":"en"}`)
	for _, tt := range []struct {
		name, header, value string
		ok                  bool
	}{
		{"no browser", "X-Nothing", "", true},
		{"own page", "Origin", h.base, true},
		{"own page in capitals", "Origin", strings.ToUpper(h.base), true},
		{"fetched by the own page", "Sec-Fetch-Site", "same-origin", true},
		{"typed by a person", "Sec-Fetch-Site", "none", true},
		{"another site", "Origin", "https://evil.example", false},
		{"another port", "Origin", "http://127.0.0.1:1", false},
		{"a sandbox", "Origin", "null", false},
		{"no address", "Origin", "::", false},
		{"fetched by another site", "Sec-Fetch-Site", "cross-site", false},
		{"fetched by a sister site", "Sec-Fetch-Site", "same-site", false},
	} {
		r := h.do(http.MethodPost, "/api/v1/visit/start", "application/json", body, tt.header, tt.value)
		if tt.ok && r.status != http.StatusCreated {
			t.Errorf("%s: %d %s", tt.name, r.status, r.body)
		}
		if !tt.ok {
			wantProblem(t, r, http.StatusForbidden, codeForbidden)
		}
	}
	// Looking is allowed: the page is often opened from elsewhere.
	if r := h.get("/api/v1/gallery", "Origin", "https://evil.example"); r.status != http.StatusOK || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("gallery: %d, %v", r.status, r.header)
	}
}

func TestPages(t *testing.T) {
	pages := fstest.MapFS{
		"index.html":           {Data: []byte("<!doctype html>")},
		"assets/app-1a2b.js":   {Data: []byte("let a")},
		"assets/noto-3c.woff2": {Data: []byte("font")},
		"logo.svg":             {Data: []byte("<svg/>")},
		".gitkeep":             {Data: nil},
	}
	h := open(t, func(o *Options) { o.Pages = pages })
	const forever = "public, max-age=31536000, immutable"
	for _, tt := range []struct{ path, body, typ, cache string }{
		{"/", "<!doctype html>", "text/html; charset=utf-8", "no-cache"},
		{"/index.html", "<!doctype html>", "text/html; charset=utf-8", "no-cache"},
		{"/exhibit/red-fan", "<!doctype html>", "text/html; charset=utf-8", "no-cache"},
		{"/assets/app-1a2b.js", "let a", "text/javascript; charset=utf-8", forever},
		{"/assets/noto-3c.woff2", "font", "font/woff2", forever},
		{"/logo.svg", "<svg/>", "image/svg+xml", "no-cache"},
		{"/../index.html?x=1", "<!doctype html>", "text/html; charset=utf-8", "no-cache"},
	} {
		r := h.get(tt.path)
		if r.status != http.StatusOK || string(r.body) != tt.body || r.header.Get("Content-Type") != tt.typ || r.header.Get("Cache-Control") != tt.cache {
			t.Errorf("%s: %d %q %v", tt.path, r.status, r.body, r.header)
		}
		if csp := r.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
			t.Errorf("%s: policy %q", tt.path, csp)
		}
		if r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", tt.path, r.header)
		}
		if again := h.get(tt.path, "If-None-Match", r.header.Get("ETag")); again.status != http.StatusNotModified {
			t.Errorf("%s, asked again: %d", tt.path, again.status)
		}
	}
	for _, path := range []string{"/assets/gone-9.js", "/favicon.ico", "/.gitkeep", "/api", "/api/", "/api/v1", "/API.map"} {
		wantProblem(t, h.get(path), http.StatusNotFound, codeNotFound)
	}
	if r := h.get("/api/v1/gallery"); r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("gallery: Cache-Control %q", r.header.Get("Cache-Control"))
	}
	if r := h.get("/api/v1/gallery/"); r.status != http.StatusOK {
		t.Errorf("with a slash behind: %d", r.status)
	}
}

func TestPagesAreCompressed(t *testing.T) {
	script := []byte(strings.Repeat("let words = 'many of them';\n", 200))
	h := open(t, func(o *Options) {
		o.Pages = fstest.MapFS{
			"index.html": {Data: []byte("<!doctype html>")}, "assets/app-1.js": {Data: script}, "assets/noto-1.woff2": {Data: script},
		}
	})
	plain, zipped := "", ""
	for _, tt := range []struct {
		path, accept string
		zipped       bool
	}{
		{"/assets/app-1.js", "identity", false},
		{"/assets/app-1.js", "gzip;q=0, identity", false},
		{"/assets/app-1.js", "gzip, deflate, br, zstd", true},
		{"/assets/app-1.js", "gzip", true},
		{"/assets/noto-1.woff2", "gzip", false},
		{"/index.html", "gzip", false},
	} {
		r := h.get(tt.path, "Accept-Encoding", tt.accept)
		body := r.body
		if is := r.header.Get("Content-Encoding") == "gzip"; is != tt.zipped {
			t.Errorf("%s for %q: compressed %v", tt.path, tt.accept, is)
			continue
		}
		if tt.zipped {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			if len(r.body) > len(script)/4 {
				t.Errorf("%d bytes became %d", len(script), len(r.body))
			}
			zipped = r.header.Get("ETag")
		} else if strings.HasSuffix(tt.path, ".js") {
			plain = r.header.Get("ETag")
		}
		if tt.path != "/index.html" && !bytes.Equal(body, script) {
			t.Errorf("%s for %q: %d other bytes", tt.path, tt.accept, len(body))
		}
		if vary := r.header.Get("Vary"); (vary == "Accept-Encoding") != strings.HasSuffix(tt.path, ".js") {
			t.Errorf("%s: Vary %q", tt.path, vary)
		}
	}
	if plain == zipped || plain == "" {
		t.Errorf("ETags %s and %s of different bytes", plain, zipped)
	}
	if r := h.get("/assets/app-1.js", "Accept-Encoding", "gzip", "If-None-Match", plain); r.status != http.StatusOK {
		t.Errorf("asked for gzip with the tag of the plain file: %d", r.status)
	}
	if r := h.get("/assets/app-1.js", "Accept-Encoding", "gzip", "If-None-Match", zipped); r.status != http.StatusNotModified {
		t.Errorf("asked again: %d", r.status)
	}
}

func TestMetrics(t *testing.T) {
	h := open(t)
	visit := h.startVisit("en")
	h.recogniser.set(match("red-fan"), nil)
	h.photo(visit, board(black, 300, 300))
	h.get("/api/v1/exhibits/red-fan")
	h.get("/api/v1/exhibits/nothing")
	h.get("/nowhere.js")
	text := string(h.get("/metrics").body)
	for _, line := range []string{
		`docent_http_request_seconds_count{route="/api/v1/exhibits/:id",status="200"} 1`,
		`docent_http_request_seconds_count{route="/api/v1/exhibits/:id",status="404"} 1`,
		`docent_http_request_seconds_count{route="other",status="404"} 1`,
		`docent_photos_total{decision="match"} 1`,
		`docent_recognition_seconds_count{stage="features"} 1`,
		`docent_visits_open 1`, `docent_camera_ready 0`, `docent_memory_events_lost_total 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(text, visit) {
		t.Error("the metrics tell a visit's id")
	}
}

func TestIsOurs(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"": true, "127.0.0.1:8080": true, "192.168.1.20": true, "[::1]:8080": true, "LOCALHOST:80": true,
		machine + ":8080": true, "evil.example": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "%": false,
	} {
		if got := isOurs(host); got != want {
			t.Errorf("isOurs(%q) = %v, want %v", host, got, want)
		}
	}
}
