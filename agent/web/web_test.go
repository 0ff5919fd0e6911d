package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// site serves pages as example.com, by path.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func serveSite(t *testing.T, pages map[string]func(w http.ResponseWriter, r *http.Request)) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Host+r.URL.RequestURI())
		s.mu.Unlock()
		if r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" || r.Method != http.MethodGet {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		if p, ok := pages[r.URL.Path]; ok {
			p(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// client leads every host to the site; addresses are those of this machine, and allowed.
func (s *site) client(t *testing.T, o Options) *Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c, err := newClient(o, func(netip.AddrPort) error { return nil }, &tls.Config{RootCAs: roots}, func(ctx context.Context, d *net.Dialer, network, _ string) (net.Conn, error) {
		return d.DialContext(ctx, network, s.Listener.Addr().String())
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func says(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, text)
	}
}

func sends(to string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

const tilingPage = `<html lang="en"><head><title>Penrose tiling</title><script>alert("no")</script></head><body><nav><a href="/home">Home</a></nav>
<main><h1>Penrose tiling</h1><p>A Penrose tiling is an example of an aperiodic tiling.</p><h2>History</h2>
<p>Roger Penrose described the tilings in the nineteen-seventies, after Robert Ammann.</p><p>Short.</p></main></body></html>`

func look(t *testing.T, c *Client, query string) (pages []Page, errs []error) {
	t.Helper()
	for p, err := range c.Look(t.Context(), query, "en") {
		if err != nil {
			errs = append(errs, err)
		} else {
			pages = append(pages, p)
		}
	}
	return pages, errs
}

func TestLook(t *testing.T) {
	s := serveSite(t, map[string]func(http.ResponseWriter, *http.Request){
		"/search": says(`<html><body><main><h1>Results for you</h1><p>Here is what was found for your question today.</p>
			<a href="/wiki/Kites">Kites</a> <a href="/wiki/Penrose_tiling#top">The Penrose tiling</a> <a href="https://elsewhere.example/Penrose_tiling">Penrose tiling</a>
			<a href="http://example.com/Penrose_tiling">Penrose tiling</a> <a href="javascript:alert(1)">Penrose tiling</a></main></body></html>`),
		"/wiki/Penrose_tiling": says(tilingPage),
	})
	c := s.client(t, Options{Pages: []string{"https://example.com/search?q={query}&l={language}"}})
	pages, errs := look(t, c, "Penrose tiling & more?")
	if len(errs) > 0 || len(pages) != 2 {
		t.Fatalf("%d pages, %v", len(pages), errs)
	}
	p := pages[1]
	if p.Title != "Penrose tiling" || p.URL != "https://example.com/wiki/Penrose_tiling" || p.Language != "en" || len(p.Sections) != 2 ||
		p.Sections[1].Heading != "History" || len(p.Sections[1].Paragraphs) != 1 || strings.Contains(fmt.Sprint(p), "alert") {
		t.Errorf("%+v", p)
	}
	if got := strings.Join(s.asked, " "); got != "example.com/search?q=Penrose+tiling+%26+more%3F&l=en example.com/wiki/Penrose_tiling" {
		t.Errorf("asked %s", got)
	}
}

func TestLookRefuses(t *testing.T) {
	many := strings.Repeat("<p>"+strings.Repeat("word ", 200)+"</p>", maxPage/1000)
	tests := []struct {
		name string
		page func(http.ResponseWriter, *http.Request)
		want error // nil: a page comes
	}{
		{"redirect within the list", sends("https://other.example.com/wiki"), nil},
		{"redirect to another host", sends("https://elsewhere.example/wiki"), ErrHost},
		{"redirect to http", sends("http://example.com/wiki"), ErrHost},
		{"redirect to a port", sends("https://example.com:8443/wiki"), ErrHost},
		{"redirect with a password", sends("https://user:pass@example.com/wiki"), ErrHost},
		{"redirect to an address", sends("https://169.254.169.254/latest/meta-data"), ErrHost},
		{"redirect to a file", sends("file:///etc/passwd"), ErrHost},
		{"redirects without an end", sends("https://example.com/start"), ErrPage},
		{"no such page", http.NotFound, ErrPage},
		{"no HTML", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = fmt.Fprint(w, "%PDF")
		}, ErrPage},
		{"too large", says(many + many), ErrPage},
		{"too large when unpacked", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb(t))
		}, ErrPage},
		{"headers without an end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			for i := range 200 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serveSite(t, map[string]func(http.ResponseWriter, *http.Request){"/start": tt.page, "/wiki": says(tilingPage)})
			c := s.client(t, Options{Pages: []string{"https://example.com/start?q={query}"}, Hosts: []string{"other.example.com"}, Timeout: 20 * time.Second})
			pages, errs := look(t, c, "zzz")
			switch {
			case tt.name == "headers without an end":
				if len(pages) > 0 {
					t.Errorf("%+v", pages)
				}
			case tt.want == nil && (len(pages) != 1 || len(errs) > 0 || pages[0].URL != "https://other.example.com/wiki"):
				t.Errorf("%+v, %v", pages, errs)
			case tt.want != nil && (len(pages) > 0 || len(errs) != 1 || !errors.Is(errs[0], tt.want)):
				t.Errorf("%d pages, %v", len(pages), errs)
			}
		})
	}
}

func TestLookTakesNoLongerThanItsTime(t *testing.T) {
	left := make(chan struct{}, 1)
	s := serveSite(t, map[string]func(http.ResponseWriter, *http.Request){"/slow": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<p>")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	}})
	c := s.client(t, Options{Pages: []string{"https://example.com/slow?q={query}"}, Timeout: 200 * time.Millisecond})
	if pages, errs := look(t, c, "zzz"); len(pages) > 0 || len(errs) != 1 || !errors.Is(errs[0], ErrPage) {
		t.Errorf("%v, %v", pages, errs)
	}
	<-left
	ctx, leave := context.WithCancel(t.Context())
	c = s.client(t, Options{Pages: []string{"https://example.com/slow?q={query}"}, Timeout: time.Hour})
	time.AfterFunc(10*time.Millisecond, leave)
	for _, err := range c.Look(ctx, "zzz", "en") {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestPrivateAddresses dials names that lead into this machine: nobody is connected to, whatever listens there.
func TestPrivateAddresses(t *testing.T) {
	connected := make(chan struct{}, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
			connected <- struct{}{}
		}
	}()
	c, err := newClient(Options{Pages: []string{"https://rebind.example/{query}"}}, checkAddress, nil, func(ctx context.Context, d *net.Dialer, network, _ string) (net.Conn, error) {
		return d.DialContext(ctx, network, l.Addr().String()) // what a lying name server answers
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages, errs := look(t, c, "zzz"); len(pages) > 0 || len(errs) != 1 || !errors.Is(errs[0], ErrPrivate) {
		t.Errorf("%v, %v", pages, errs)
	}
	select {
	case <-connected:
		t.Error("somebody was connected to")
	default:
	}
}

func TestCheckAddress(t *testing.T) {
	for address, ok := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1:248:1893:25c8:1946]:443": true, "1.1.1.1:443": true, "[::ffff:1.1.1.1]:443": false,
		"93.184.216.34:80": false, "93.184.216.34:22": false, "127.0.0.1:443": false, "127.8.9.1:443": false, "10.0.0.1:443": false, "172.16.3.4:443": false,
		"172.32.0.1:443": true, "192.168.1.1:443": false, "169.254.169.254:443": false, "100.64.0.1:443": false, "0.0.0.0:443": false, "255.255.255.255:443": false,
		"224.0.0.1:443": false, "198.18.0.1:443": false, "192.0.2.1:443": false, "[::1]:443": false, "[::]:443": false, "[fe80::1]:443": false, "[fe80::1%eth0]:443": false,
		"[fc00::1]:443": false, "[fd12::1]:443": false, "[ff02::1]:443": false, "[::ffff:127.0.0.1]:443": false, "[::ffff:10.0.0.1]:443": false,
		"[64:ff9b::7f00:1]:443": false, "[2002:7f00:1::]:443": false, "[2001:db8::1]:443": false, "[2001::1]:443": false,
	} {
		if err := checkAddress(netip.MustParseAddrPort(address)); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		o  Options
		ok bool
	}{
		{Options{Pages: []string{"https://example.org/?q={query}"}}, true},
		{Options{Pages: []string{"https://{language}.example.org/?q={query}"}, Hosts: []string{"www.example.org"}}, true},
		{Options{}, false},
		{Options{Pages: []string{"http://example.org/?q={query}"}}, false},
		{Options{Pages: []string{"https://example.org/"}}, false},
		{Options{Pages: []string{"https://{query}.example.org/"}}, false},
		{Options{Pages: []string{"https://127.0.0.1/?q={query}"}}, false},
		{Options{Pages: []string{"https://localhost/?q={query}"}}, false},
		{Options{Pages: []string{"https://[::1]/?q={query}"}}, false},
		{Options{Pages: []string{"https://2130706433/?q={query}"}}, false},
		{Options{Pages: []string{"https://0x7f.1/?q={query}"}}, false},
		{Options{Pages: []string{"https://a:b@example.org/?q={query}"}}, false},
		{Options{Pages: []string{"https://example.org:8443/?q={query}"}}, false},
		{Options{Pages: []string{"https://example.org/?q={query}"}, Hosts: []string{"*.example.org"}}, false},
		{Options{Pages: []string{"https://example.org/?q={query}"}, Hosts: []string{"10.0.0.1"}}, false},
		{Options{Pages: []string{"https://example.org/?q={query}"}, Hosts: []string{"Example.org"}}, false},
	} {
		if _, err := New(tt.o); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(tilingPage))
	f.Add([]byte(`<a href="//[::1]/x">x</a><a href="\x00">`))
	at, err := url.Parse("https://example.com/a?b#c")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, links, err := read(t.Context(), at, body)
		if err != nil {
			return
		}
		n := 0
		for _, s := range p.Sections {
			for _, text := range s.Paragraphs {
				if n++; len([]rune(text)) > maxParagraph {
					t.Errorf("a paragraph of %d bytes", len(text))
				}
			}
		}
		if n > maxParagraphs || len(links) > maxAnchors {
			t.Errorf("%d paragraphs, %d links", n, len(links))
		}
	})
}
