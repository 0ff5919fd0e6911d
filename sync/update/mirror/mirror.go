// Package mirror fetches content from a web server: any one that serves a folder of files, over HTTPS. Nothing it says is
// believed: what a release is, signed metadata says.
package mirror

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"docent/sync/wire"
)

// Bounds of a mirror.
const (
	timeout   = 30 * time.Second // of one request
	headers   = 32 << 10         // bytes of an answer's headers
	redirects = 3
	maxCA     = 1 << 20 // bytes of a CA file
)

// After this many failures in a row nothing is asked for a while, twice as long each time.
const (
	failures   = 3
	restFirst  = time.Minute
	restLonger = time.Hour
)

// ErrResting is the error while a mirror that failed is left alone.
var ErrResting = errors.New("the mirror failed and is left alone for a while")

// Options of a Mirror. URL is required.
type Options struct {
	// URL is the folder's address, https://HOST/PATH; http is for this machine only.
	URL string
	// CA is a file of certificates in PEM, the only ones trusted then; empty trusts those that the system trusts.
	CA string
	// Now is the clock of the rests; nil means time.Now.
	Now func() time.Time
}

// Mirror is a web server with the files of a hub. It is safe for concurrent use.
type Mirror struct {
	base   *url.URL
	client *http.Client
	now    func() time.Time

	mu     sync.Mutex
	failed int       // requests in a row
	wrong  int       // files in a row that were not what they should be
	rest   time.Time // until when it is left alone
	pause  time.Duration
	why    error // of the last failure
}

// Check says what is wrong with a mirror's address, if anything.
func Check(address string) error {
	_, err := parse(address)
	return err
}

// CheckCA says what is wrong with a file of certificates, if anything; none ("") is good.
func CheckCA(file string) error {
	if file == "" {
		return nil
	}
	_, err := readCA(file)
	return err
}

func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("%q is not of the form https://HOST/PATH", address)
	}
	if u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
		return u, nil
	}
	if u.Scheme != "https" {
		return nil, fmt.Errorf("%q: only https is allowed", address)
	}
	return u, nil
}

// New describes a mirror; it connects when it is asked.
func New(opt Options) (*Mirror, error) {
	u, err := parse(opt.URL)
	if err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if opt.CA != "" {
		if config.RootCAs, err = readCA(opt.CA); err != nil {
			return nil, fmt.Errorf("mirror: %w", err)
		}
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Mirror{base: u, now: opt.Now, client: &http.Client{
		Timeout:       timeout,
		CheckRedirect: follow,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    timeout,
			ResponseHeaderTimeout:  timeout,
			MaxResponseHeaderBytes: headers,
			MaxConnsPerHost:        4,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        time.Minute,
			DisableCompression:     true, // ranges are of the file
			ForceAttemptHTTP2:      true,
		},
	}}, nil
}

func readCA(file string) (*x509.CertPool, error) {
	info, err := os.Stat(file)
	if err == nil && info.Size() > maxCA {
		err = errors.New("it is too large")
	}
	if err != nil {
		return nil, fmt.Errorf("read CA file: %w", err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read CA file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("read CA file %s: there is no certificate in it", file)
	}
	return pool, nil
}

// follow goes where the server points, but not to an address that would not do itself.
func follow(req *http.Request, via []*http.Request) error {
	if len(via) > redirects {
		return errors.New("it redirects too often")
	}
	if _, err := parse(req.URL.Scheme + "://" + req.URL.Host); err != nil {
		return fmt.Errorf("it redirects: %w", err)
	}
	return nil
}

// Close ends connections that wait for the next request.
func (m *Mirror) Close() { m.client.CloseIdleConnections() }

// Trouble is until when the mirror is left alone, and why; nil while it is in use.
func (m *Mirror) Trouble() (until time.Time, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trusted() {
		return time.Time{}, nil
	}
	return m.rest, m.why
}

// Path is where a file lies below a mirror's address; false for what no mirror has.
func Path(name string) (string, bool) {
	if wire.ValidObject(name) {
		return "objects/" + name, true
	}
	if wire.ValidMetadata(name) {
		return "metadata/" + name, true
	}
	return "", false
}

// Fetch asks the mirror for a part of a file.
func (m *Mirror) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset}
	if err := req.Validate(); err != nil {
		return c, err
	}
	p, ok := Path(req.Name)
	if !ok {
		c.Error, c.Offset = wire.FetchNotFound, 0
		return c, nil
	}
	if err := m.begin(); err != nil {
		return c, err
	}
	err := m.get(ctx, p, req, &c)
	if ctx.Err() == nil { // else it was not the mirror's fault
		m.end(err)
	}
	if err != nil {
		return wire.Chunk{}, fmt.Errorf("mirror: fetch %s: %w", req.Name, err)
	}
	return c, nil
}

// Failed counts against the mirror what was found out later: a file of it was not what it should be. Answers alone make no
// good for that, as a server may answer every request with some page of its own; Proved does.
func (m *Mirror) Failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong++
	m.blame(err)
}

// Proved says that a file of the mirror was what it should be.
func (m *Mirror) Proved() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = 0
	m.forgive()
}

// trusted tells whether the mirror is in use. It is called with mu held, as are blame and forgive.
func (m *Mirror) trusted() bool { return m.failed < failures && m.wrong < failures }

func (m *Mirror) blame(err error) {
	m.why = err
	if !m.trusted() {
		m.pause = max(restFirst, min(restLonger, 2*m.pause))
		m.rest = m.now().Add(m.pause)
	}
}

func (m *Mirror) forgive() {
	if m.failed == 0 && m.wrong == 0 {
		m.pause, m.why = 0, nil
	}
}

// begin refuses while the mirror is left alone. After that one request tries it.
func (m *Mirror) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.trusted() {
		return nil
	}
	if now.Before(m.rest) {
		return ErrResting
	}
	m.rest = now.Add(timeout) // the others wait for how this one goes
	return nil
}

func (m *Mirror) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.failed = 0
		m.forgive()
		return
	}
	m.failed++
	m.blame(err)
}

func (m *Mirror) get(ctx context.Context, p string, req wire.Fetch, c *wire.Chunk) error {
	u := *m.base
	u.Path = path.Join("/", u.Path, p)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	last := req.Offset + int64(req.Length) - 1
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", req.Offset, last))
	res, err := m.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if e := res.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return fmt.Errorf("it sends files as %.20q", e)
	}
	switch res.StatusCode {
	case http.StatusPartialContent:
		return partial(res, req, c)
	case http.StatusOK:
		// The server knows no ranges. It is of use for what fits into one answer; for more it would have to send
		// everything again for each part.
		if req.Offset > 0 {
			return errors.New("it answers no requests for parts (Range)")
		}
		if c.Size = res.ContentLength; c.Size < 0 || c.Size > wire.MaxObject {
			return fmt.Errorf("it does not say how long the file is, or that it has %d bytes", res.ContentLength)
		}
		return read(res.Body, min(int64(req.Length), c.Size), c)
	case http.StatusRequestedRangeNotSatisfiable: // an empty file, or one that ends before
		_, size, ok := strings.Cut(res.Header.Get("Content-Range"), "*/")
		n, err := strconv.ParseInt(size, 10, 64)
		if !ok || err != nil || n < 0 || n > req.Offset {
			return errors.New("it refuses a range and does not say why")
		}
		c.Size, c.Offset = n, n
		return nil
	case http.StatusNotFound, http.StatusGone:
		c.Error, c.Offset = wire.FetchNotFound, 0
		return nil
	}
	return fmt.Errorf("it answers %s", res.Status)
}

// partial reads an answer of 206: what was asked for, up to the file's end, and nothing else.
func partial(res *http.Response, req wire.Fetch, c *wire.Chunk) error {
	first, last, size, err := contentRange(res.Header.Get("Content-Range"))
	if err != nil {
		return err
	}
	want := min(req.Offset+int64(req.Length), size) - 1
	if first != req.Offset || last != want {
		return fmt.Errorf("asked for bytes %d-%d of %d, it sends %d-%d", req.Offset, want, size, first, last)
	}
	c.Size = size
	return read(res.Body, last-first+1, c)
}

// contentRange reads "bytes 0-99/1000".
func contentRange(s string) (first, last, size int64, err error) {
	bad := func() (int64, int64, int64, error) {
		return 0, 0, 0, fmt.Errorf("its Content-Range is %.60q", s)
	}
	ranges, ok := strings.CutPrefix(s, "bytes ")
	span, total, ok2 := strings.Cut(ranges, "/")
	from, to, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return bad()
	}
	var errs [3]error
	first, errs[0] = strconv.ParseInt(from, 10, 64)
	last, errs[1] = strconv.ParseInt(to, 10, 64)
	size, errs[2] = strconv.ParseInt(total, 10, 64)
	if errors.Join(errs[:]...) != nil || first < 0 || last < first || size <= last {
		return bad()
	}
	return first, last, size, nil
}

// read takes n bytes of an answer, whatever else it has.
func read(body io.Reader, n int64, c *wire.Chunk) error {
	c.Data = make([]byte, n)
	if _, err := io.ReadFull(body, c.Data); err != nil {
		return fmt.Errorf("its answer ends early: %w", err)
	}
	return nil
}
