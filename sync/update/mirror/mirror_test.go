package mirror

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/sync/wire"
)

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// folder is a mirror's folder with one object and one metadata file.
func folder(t *testing.T) (dir, object string, data []byte) {
	t.Helper()
	dir = t.TempDir()
	data = bytes.Repeat([]byte("0123456789"), 30_000)
	object = sum(data)
	for name, d := range map[string][]byte{"objects/" + object: data, "metadata/timestamp.json": []byte(`{"a":1}`)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), d, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, object, data
}

// serve starts a web server with a certificate of its own and a mirror that trusts it.
func serve(t *testing.T, h http.Handler) *Mirror {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{URL: s.URL + "/docent", CA: ca})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func TestFetchAtAnyByte(t *testing.T) {
	dir, object, data := folder(t)
	m := serve(t, http.StripPrefix("/docent/", http.FileServer(http.Dir(dir))))
	for _, offset := range []int64{0, 1, 4095, 4096, 299_999} {
		for at := offset; at < int64(len(data)); {
			c, err := m.Fetch(t.Context(), wire.Fetch{Name: object, Offset: at, Length: wire.MaxBlock})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Validate(); err != nil || c.Size != int64(len(data)) || c.Offset != at || !bytes.HasPrefix(data[at:], c.Data) || len(c.Data) == 0 {
				t.Fatalf("at %d: %d bytes at %d of %d, %v", at, len(c.Data), c.Offset, c.Size, err)
			}
			at += int64(len(c.Data))
		}
	}
	c, err := m.Fetch(t.Context(), wire.Fetch{Name: "timestamp.json", Length: 1000})
	if err != nil || string(c.Data) != `{"a":1}` {
		t.Errorf("%s, %v", c.Data, err)
	}
	for _, name := range []string{sum(nil), "7.root.json", wire.DesiredName} {
		if c, err := m.Fetch(t.Context(), wire.Fetch{Name: name, Length: 1}); err != nil || c.Error != wire.FetchNotFound {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	c, err = m.Fetch(t.Context(), wire.Fetch{Name: object, Offset: int64(len(data)), Length: 1})
	if err != nil || c.Size != int64(len(data)) || len(c.Data) != 0 {
		t.Errorf("at the end: %+v, %v", c, err)
	}
	if _, err := m.Trouble(); err != nil {
		t.Error(err)
	}
}

// TestBadAnswers: each is an error, and none a byte too many.
func TestBadAnswers(t *testing.T) {
	answer := func(status int, headers, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for _, h := range strings.Split(headers, "\n") {
				if name, value, ok := strings.Cut(h, ": "); ok {
					w.Header().Set(name, value)
				}
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	tests := []struct {
		name   string
		h      http.HandlerFunc
		offset int64
		want   string
	}{
		{"another range", answer(206, "Content-Range: bytes 0-9/100", "0123456789"), 20, "it sends 0-9"},
		{"a longer range", answer(206, "Content-Range: bytes 20-49/100", strings.Repeat("x", 30)), 20, "it sends 20-49"},
		{"no range", answer(206, "", "0123456789"), 20, "Content-Range"},
		{"nonsense", answer(206, "Content-Range: bytes 9-1/0", "0123456789"), 0, "Content-Range"},
		{"negative", answer(206, "Content-Range: bytes -5-1/9", "0123456789"), 0, "Content-Range"},
		{"torn", answer(206, "Content-Range: bytes 20-29/100", "0123"), 20, "ends early"},
		{"whole file for a part", answer(200, "", "0123456789"), 20, "Range"},
		{"gzip", answer(200, "Content-Encoding: gzip", "0123456789"), 0, "gzip"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write(make([]byte, 10))
		}, 0, "how long"},
		{"no entry", answer(403, "", ""), 0, "403"},
		{"broken", answer(500, "", ""), 0, "500"},
		{"redirect to clear text", answer(302, "Location: http://mirror.invalid/x", ""), 0, "only https"},
		{"redirect for ever", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) }, 0, "too often"},
		{"no range fits", answer(416, "Content-Range: bytes */100", ""), 20, "refuses a range"},
		{"headers for ever", answer(200, "X: "+strings.Repeat("x", headers), ""), 0, "header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := serve(t, tt.h)
			_, err := m.Fetch(t.Context(), wire.Fetch{Name: sum(nil), Offset: tt.offset, Length: 10})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestWithoutRanges: a server that sends whole files is of use for what fits into one answer.
func TestWithoutRanges(t *testing.T) {
	m := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("0123456789")) }))
	c, err := m.Fetch(t.Context(), wire.Fetch{Name: sum([]byte("0123456789")), Length: 4})
	if err != nil || c.Size != 10 || string(c.Data) != "0123" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestBreaker: a mirror that fails is left alone, longer each time, and tried again by one request.
func TestBreaker(t *testing.T) {
	asked, broken := 0, true
	m := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		if broken {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte("0123456789"))
	}))
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	m.now = func() time.Time { return now }
	ask := func() error {
		_, err := m.Fetch(t.Context(), wire.Fetch{Name: sum(nil), Length: 4})
		return err
	}
	for range failures {
		if err := ask(); err == nil || errors.Is(err, ErrResting) {
			t.Fatalf("%v", err)
		}
	}
	for i, rest := range []time.Duration{restFirst, 2 * restFirst, 4 * restFirst} {
		asked = 0
		if err := ask(); !errors.Is(err, ErrResting) || asked != 0 {
			t.Errorf("rest %d: %v, asked %d times", i, err, asked)
		}
		if until, why := m.Trouble(); why == nil || !until.Equal(now.Add(rest)) {
			t.Errorf("rest %d: %v until %v", i, why, until)
		}
		now = now.Add(rest)
		if err := ask(); err == nil || errors.Is(err, ErrResting) || asked != 1 {
			t.Errorf("after rest %d: %v, asked %d times", i, err, asked)
		}
	}
	broken = false
	now = now.Add(restLonger)
	for range 3 {
		if err := ask(); err != nil {
			t.Error(err)
		}
	}
	if _, why := m.Trouble(); why != nil {
		t.Error(why)
	}
}

// TestPagesForFiles: a server that answers everything with some page of its own is left alone, however often it answers;
// a file that proves right makes good for wrong ones.
func TestPagesForFiles(t *testing.T) {
	asked := 0
	m := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte("<!doctype html><title>Sign in</title>"))
	}))
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	m.now = func() time.Time { return now }
	wrong := errors.New("it is a page")
	ask := func() error {
		_, err := m.Fetch(t.Context(), wire.Fetch{Name: sum(nil), Length: 4})
		return err
	}
	for i := range failures {
		for range 2 {
			if err := ask(); err != nil {
				t.Fatalf("file %d: %v", i, err)
			}
		}
		m.Failed(wrong)
	}
	for i, rest := range []time.Duration{restFirst, 2 * restFirst, 4 * restFirst} {
		asked = 0
		if err := ask(); !errors.Is(err, ErrResting) || asked != 0 {
			t.Errorf("rest %d: %v, asked %d times", i, err, asked)
		}
		if until, why := m.Trouble(); !errors.Is(why, wrong) || !until.Equal(now.Add(rest)) {
			t.Errorf("rest %d: %v until %v", i, why, until)
		}
		now = now.Add(rest)
		if err := ask(); err != nil || asked != 1 {
			t.Errorf("after rest %d: %v, asked %d times", i, err, asked)
		}
		if err := ask(); !errors.Is(err, ErrResting) {
			t.Errorf("after rest %d a second request before the first one proved right: %v", i, err)
		}
		m.Failed(wrong)
	}
	m.Proved()
	if _, why := m.Trouble(); why != nil {
		t.Error(why)
	}
	m.Failed(wrong)
	if err := ask(); err != nil {
		t.Errorf("one wrong file after a right one: %v", err)
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	s.Config.ErrorLog = nil
	m, err := New(Options{URL: s.URL}) // the system does not know its authority
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Fetch(t.Context(), wire.Fetch{Name: sum(nil), Length: 1}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown authority: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(none, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ca := range []string{none, none + "x"} {
		if _, err := New(Options{URL: s.URL, CA: ca}); err == nil {
			t.Errorf("%s was taken", ca)
		}
		if err := CheckCA(ca); err == nil || !strings.Contains(err.Error(), ca) {
			t.Errorf("%s: %v", ca, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://content.example/docent": true, "https://content.example:8443/": true, "http://127.0.0.1:8000": true, "http://localhost/x": true,
		"http://content.example/": false, "https:///x": false, "ftp://a/b": false, "https://a/?q=1": false, "https://u:p@a/": false, "content.example": false, "": false,
	} {
		if err := Check(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzContentRange(f *testing.F) {
	for _, s := range []string{"bytes 0-9/100", "bytes */100", "bytes 9-1/0", "bytes 0-99999999999999999999/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		first, last, size, err := contentRange(s)
		if err == nil && (first < 0 || last < first || size <= last) {
			t.Errorf("%q: %d-%d/%d", s, first, last, size)
		}
	})
}
