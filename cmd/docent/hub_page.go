package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// hubPage is where the running hub on this machine is asked.
type hubPage struct {
	Hub string `default:"http://127.0.0.1:8081" help:"Address of the hub's page on this machine." placeholder:"URL"`
}

// Bounds of a request.
const (
	maxPageAnswer  = 16 << 20         // bytes of an answer that are read
	callTimeout    = 20 * time.Second // for words
	publishTimeout = 2 * time.Minute  // for content; an object has at most 32 MiB
)

// address is that of something on the page.
func (p hubPage) address(path string) string { return strings.TrimRight(p.Hub, "/") + path }

// refusal is a request that the hub refuses.
type refusal struct {
	detail string // in the hub's own words; may be empty
	status string
}

func (r *refusal) Error() string { return cmp.Or(r.detail, "ask the hub: "+r.status) }

// call asks the hub and decodes its answer into out, if there is one. What the hub refuses is told in its own words.
func (p hubPage) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("ask the hub: %w", err)
		}
	}
	return p.ask(ctx, method, path, "application/json", body, out, callTimeout)
}

// send hands the hub what is for kiosks: bytes, or anything else as JSON, at a path below /api/v1. The answer is read into
// out where it is not nil.
func (p hubPage) send(ctx context.Context, method, path string, in, out any) error {
	kind := ""
	body, raw := in.([]byte)
	if !raw {
		kind = "application/json"
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("ask the hub: %w", err)
		}
	}
	err := p.ask(ctx, method, "/api/v1"+path, kind, body, out, publishTimeout)
	var no *refusal
	if errors.As(err, &no) {
		return errors.New("the hub refused: " + cmp.Or(no.detail, no.status))
	}
	return err
}

// ask sends a request with a body of a kind and decodes the answer into out where it is not nil. A [*refusal] is for what
// the hub refuses.
func (p hubPage) ask(ctx context.Context, method, path, kind string, body []byte, out any, within time.Duration) error {
	if err := checkPage(p.Hub); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.address(path), bytes.NewReader(body))
	if err != nil {
		return usageError{fmt.Errorf("--hub: %w", err)}
	}
	req.Header.Set("Docent-Publish", "1")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the hub (is it running on this machine?): %w", noPage(p.Hub, err))
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxPageAnswer))
	if err != nil {
		return fmt.Errorf("read the hub's answer: %w", err)
	}
	if res.StatusCode >= 300 || (out != nil || len(answer) > 0) && !json.Valid(answer) {
		if err := askPage(ctx, p.Hub); err != nil {
			return err
		}
	}
	if res.StatusCode >= 300 {
		var problem struct {
			Detail string `json:"detail"`
		}
		if json.Unmarshal(answer, &problem) != nil {
			problem.Detail = ""
		}
		return &refusal{problem.Detail, res.Status}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read the hub's answer: %w", err)
	}
	return nil
}

// errNoPage is the error where what --hub names is something else than a hub's page.
var errNoPage = errors.New("this is no hub's page")

// noPageError says what is there instead.
type noPageError struct{ page, why string }

func (e *noPageError) Error() string {
	return fmt.Sprintf("this is no hub's page: %s (%s); give --hub the address that http_listen names in the hub's settings, such as http://127.0.0.1:8081", e.page, e.why)
}

func (e *noPageError) Is(target error) bool { return target == errNoPage }

// checkPage refuses an address that can be none.
func checkPage(page string) error {
	u, err := url.Parse(page)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return usageError{&noPageError{page, "it is not of the form http://HOST:PORT"}}
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return usageError{&noPageError{page, "it has more than http://HOST:PORT"}}
	}
	return nil
}

// noPage says so where what answered speaks something else than was asked; other errors stay as they are.
func noPage(page string, err error) error {
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return &noPageError{page, "what answers there speaks http, not https"}
	case err != nil && strings.Contains(err.Error(), "malformed HTTP"): // of net/http, which has no type for it
		return &noPageError{page, "what answers there does not speak http"}
	}
	return err
}

// askPage tells what answers from a hub: it asks for what every hub has and nothing else does. It is nil also where that
// cannot be told, as the hub did not answer.
func askPage(ctx context.Context, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, hubPage{Hub: page}.address("/api/v1/emergency"), nil)
	if err != nil {
		return usageError{fmt.Errorf("--hub: %w", err)}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil || res.StatusCode >= 500 || res.StatusCode == http.StatusMisdirectedRequest || res.StatusCode == http.StatusForbidden {
		return nil
	}
	var shown map[string]json.RawMessage
	if json.Unmarshal(answer, &shown) == nil && shown["text"] != nil && res.StatusCode == http.StatusOK {
		return nil
	}
	return &noPageError{page, "something else answers there, perhaps a kiosk"}
}
