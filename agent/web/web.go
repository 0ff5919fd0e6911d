// Package web looks into a few pages of the web that a house allows, over https and nowhere else. Whatever a page, a redirect
// or a name server says, no other host and no address of a private network is ever asked.
package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limits of a look-up.
const (
	DefaultTimeout = 6 * time.Second
	maxQuery       = 120     // characters
	maxPage        = 2 << 20 // bytes, unpacked
	maxHeader      = 64 << 10
	maxRedirects   = 3
	maxFetches     = 4 // of one look-up
	maxLinks       = 2 // followed from one page
	maxTemplates   = 4
	maxHosts       = 16
)

// What can go wrong with a page.
var (
	// ErrHost is an address that is not allowed: of another host, not https, or with a port or a password.
	ErrHost = errors.New("address is not allowed")
	// ErrPrivate is a host whose name leads into a private network.
	ErrPrivate = errors.New("address is of a private network")
	// ErrPage is a page that cannot be read: another status than 200, no HTML, or larger than 2 MiB.
	ErrPage = errors.New("page cannot be read")
)

// Options configure a Client.
type Options struct {
	// Pages are addresses with {query} in them, and perhaps {language}, tried in this order.
	Pages []string
	// Hosts may be asked beside those of the pages.
	Hosts []string
	// Timeout is that of one look-up; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Client looks into pages. It is safe for concurrent use.
type Client struct {
	pages   []string
	hosts   []string
	timeout time.Duration
	http    *http.Client
}

// New returns a client. The error tells what is wrong with the options.
func New(o Options) (*Client, error) { return newClient(o, checkAddress, nil, nil) }

// newClient lets tests serve pages from this machine: dial leads every host there, and check still sees each address.
func newClient(o Options, check func(netip.AddrPort) error, roots *tls.Config, dial func(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error)) (*Client, error) {
	c := &Client{pages: o.Pages, timeout: o.Timeout}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if len(o.Pages) == 0 || len(o.Pages) > maxTemplates || len(o.Hosts) > maxHosts {
		return nil, fmt.Errorf("1 to %d pages and at most %d hosts are wanted", maxTemplates, maxHosts)
	}
	for _, h := range o.Hosts {
		if !validHost(h) {
			return nil, fmt.Errorf("host %q: want a name such as example.org", h)
		}
		c.hosts = append(c.hosts, h)
	}
	for _, p := range o.Pages {
		u, err := url.Parse(fill(p, "x", "en"))
		if err != nil || !strings.Contains(p, "{query}") || !validHost(u.Hostname()) || strings.Contains(hostOf(p), "{query}") {
			return nil, fmt.Errorf("page %q: want https://, a host and a path with {query} in it", p)
		}
		for _, language := range []string{"en", "zh"} { // a host may have the language in it
			if u, err := url.Parse(fill(p, "x", language)); err == nil && !slices.Contains(c.hosts, u.Hostname()) {
				c.hosts = append(c.hosts, u.Hostname())
			}
		}
		if err := c.allowed(u); err != nil {
			return nil, fmt.Errorf("page %q: %w", p, err)
		}
	}
	dialer := &net.Dialer{Timeout: c.timeout, Control: func(_, address string, _ syscall.RawConn) error {
		// This is the address that is connected to, after its name was looked up: a name cannot change under the check.
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %s", ErrPrivate, address)
		}
		return check(at)
	}}
	transport := &http.Transport{
		Proxy: nil, // a proxy would look names up by itself
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if dial != nil {
				return dial(ctx, dialer, network, address)
			}
			return dialer.DialContext(ctx, network, address)
		},
		TLSClientConfig: roots, TLSHandshakeTimeout: c.timeout, ResponseHeaderTimeout: c.timeout, MaxResponseHeaderBytes: maxHeader,
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("%w: more than %d redirects", ErrPage, maxRedirects)
		}
		r.Header.Del("Referer")
		return c.allowed(r.URL)
	}}
	return c, nil
}

var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)

// validHost wants a name in lower case with a dot; numbers are no names.
func validHost(h string) bool {
	_, err := netip.ParseAddr(h)
	return err != nil && len(h) <= 253 && hostName.MatchString(h) && strings.ContainsFunc(h[strings.LastIndex(h, ".")+1:], func(r rune) bool { return r >= 'a' })
}

func hostOf(page string) string {
	_, rest, _ := strings.Cut(page, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

func fill(page, query, language string) string {
	return strings.NewReplacer("{query}", url.QueryEscape(query), "{language}", url.QueryEscape(language)).Replace(page)
}

// allowed reports an address that may not be asked.
func (c *Client) allowed(u *url.URL) error {
	switch {
	case u.Scheme != "https", u.User != nil, u.Port() != "" && u.Port() != "443", !slices.Contains(c.hosts, strings.ToLower(u.Hostname())):
		return fmt.Errorf("%w: %s", ErrHost, u.Host)
	}
	return nil
}

// Look yields what the pages have on a query in a language, and then the pages that theirs lead to by links that name the
// query's words. It ends after four pages, or when its time is over; the caller ends it earlier when a page has answered.
// A page that cannot be had yields an error, and the next one is tried.
func (c *Client) Look(ctx context.Context, query, language string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("%w: it took longer than %v", ErrPage, c.timeout))
		defer cancel()
		if rs := []rune(query); len(rs) > maxQuery {
			query = string(rs[:maxQuery])
		}
		queue := make([]string, 0, maxFetches)
		for _, p := range c.pages {
			queue = append(queue, fill(p, query, language))
		}
		seen := make(map[string]bool)
		for fetched := 0; len(queue) > 0 && fetched < maxFetches && ctx.Err() == nil; {
			next := queue[0]
			queue = queue[1:]
			if seen[next] {
				continue
			}
			seen[next] = true
			fetched++
			page, links, err := c.fetch(ctx, next)
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			seen[page.URL] = true
			if !yield(page, err) {
				return
			}
			queue = append(queue, c.follow(links, query)...)
		}
	}
}

// fetch gets and reads one page.
func (c *Client) fetch(ctx context.Context, address string) (Page, []link, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Page{}, nil, fmt.Errorf("%w: %w", ErrHost, err)
	}
	if err := c.allowed(u); err != nil {
		return Page{}, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Page{}, nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("User-Agent", "Docent (a gallery's guide)")
	req.Header.Set("Accept", "text/html")
	resp, err := c.http.Do(req)
	if err != nil {
		return Page{}, nil, fmt.Errorf("get a page: %w", err)
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind != "text/html" && kind != "application/xhtml+xml" {
		return Page{}, nil, fmt.Errorf("%w: status %d, %q", ErrPage, resp.StatusCode, kind)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil:
		return Page{}, nil, fmt.Errorf("read a page: %w", err)
	case len(body) > maxPage:
		return Page{}, nil, fmt.Errorf("%w: more than %d bytes", ErrPage, maxPage)
	}
	return read(ctx, resp.Request.URL, body)
}

// follow chooses the links that name most of the query's words.
func (c *Client) follow(links []link, query string) []string {
	type ranked struct {
		url string
		n   int
	}
	words := strings.Fields(strings.ToLower(query))
	var out []ranked
	for _, l := range links {
		if c.allowed(l.to) != nil {
			continue
		}
		n := 0
		for _, w := range words {
			if strings.Contains(strings.ToLower(l.text), w) {
				n++
			}
		}
		if n > 0 && 2*n >= len(words) {
			out = append(out, ranked{l.to.String(), n})
		}
	}
	slices.SortStableFunc(out, func(a, b ranked) int { return b.n - a.n })
	var urls []string
	for _, r := range out {
		if len(urls) < maxLinks && !slices.Contains(urls, r.url) {
			urls = append(urls, r.url)
		}
	}
	return urls
}
