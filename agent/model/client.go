package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// DefaultIdleTimeout is how long a server may send nothing. A small machine that reads a long prompt is silent for
// seconds before its first word.
const DefaultIdleTimeout = 15 * time.Second

// Options configure a Client.
type Options struct {
	BaseURL string // such as http://127.0.0.1:11434/v1; "/chat/completions" is appended
	APIKey  string // sent as bearer token where not empty
	Model   string // its name on the server
	// IdleTimeout bounds each wait for the server; 0 means DefaultIdleTimeout. The whole text is bounded by the
	// context alone: a time-out of the HTTP client would cut long answers.
	IdleTimeout time.Duration
	// HTTP carries the requests; nil means a client of its own. Its Timeout must be 0.
	HTTP *http.Client
}

// Client asks one model on one server. It is safe for concurrent use.
type Client struct {
	endpoint string
	options  Options
	http     *http.Client
}

// New returns a client. It does not connect. The error tells what is wrong with the options.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("model base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("model base URL %q: want http:// or https:// and a host", u.Redacted())
	}
	if o.Model == "" {
		return nil, errors.New("model name is empty")
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	c := &Client{endpoint: u.JoinPath("chat", "completions").String(), options: o, http: o.HTTP}
	if c.http == nil {
		c.http = &http.Client{
			Transport: http.DefaultTransport.(*http.Transport).Clone(),
			// A redirect would turn the POST into a GET; its status is told instead.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if c.http.Timeout != 0 {
		return nil, errors.New("model HTTP client has a time-out, which would cut streams")
	}
	return c, nil
}

// Stream yields the pieces of a text as the model writes them, without the thoughts of models that reason aloud. The
// last pair may carry an error instead of a piece; without one the text is whole. It is a [*Calls] where the model called
// tools of the request. An early end of the loop, or of ctx, ends the request.
func (c *Client) Stream(ctx context.Context, r Request) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		idle := time.AfterFunc(c.options.IdleTimeout, func() { cancel(ErrIdle) })
		defer idle.Stop()

		body, whole, err := c.post(ctx, r)
		idle.Stop()
		if err != nil {
			yield("", cause(ctx, err))
			return
		}
		defer body.Close()
		watched := &watchedReader{r: body, idle: idle, timeout: c.options.IdleTimeout}
		if whole {
			text, err := readWhole(watched, r)
			switch {
			case err == nil:
				yield(text, nil)
			case text == "" || yield(text, nil):
				yield("", cause(ctx, err))
			}
			return
		}
		if err := readStream(watched, r, func(piece string) bool { return yield(piece, nil) }); err != nil {
			yield("", cause(ctx, err))
		}
	}
}

// post sends the request. whole reports that the server answers with one JSON object instead of a stream.
func (c *Client) post(ctx context.Context, r Request) (body io.ReadCloser, whole bool, err error) {
	payload, err := json.Marshal(newPayload(c.options.Model, r))
	if err != nil {
		return nil, false, fmt.Errorf("encode model request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(payload))
	if err != nil {
		return nil, false, fmt.Errorf("make model request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if c.options.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrConnect, err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK:
		defer resp.Body.Close()
		return nil, false, statusError(resp)
	case kind == "text/html":
		resp.Body.Close()
		return nil, false, fmt.Errorf("%w: the server sent a web page", ErrMalformed)
	}
	return resp.Body, kind == "application/json", nil
}

func statusError(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	if err != nil {
		body = nil // the status tells enough
	}
	var c chunk
	if json.Unmarshal(body, &c) == nil && present(c.Error) {
		return &StatusError{Status: resp.StatusCode, Message: errorMessage(c.Error), RetryAfter: retryAfter(resp)}
	}
	return &StatusError{Status: resp.StatusCode, Message: http.StatusText(resp.StatusCode), RetryAfter: retryAfter(resp)}
}

// retryAfter reads the header in its form of seconds; the form of a date is passed over.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 24*60*60 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// readStream hands the pieces of a streamed text to emit until it is whole or emit returns false.
func readStream(r io.Reader, request Request, emit func(string) bool) error {
	events, called := newSSEReader(r), request.assembly()
	var front thoughts
	var watch toolWatch
	length := 0
	finished := false
	say := func(piece string) (bool, error) {
		if piece == "" {
			return true, nil
		}
		if length += len(piece); length > maxText {
			return false, fmt.Errorf("%w: a text of more than %d bytes", ErrTooLarge, maxText)
		}
		if watch.calls(piece) {
			return false, ErrToolCall
		}
		return emit(piece), nil
	}
	for {
		data, err := events.next()
		if errors.Is(err, io.EOF) || err == nil && string(bytes.TrimSpace(data)) == "[DONE]" {
			if err != nil && !finished {
				return ErrCut
			}
			if more, err := say(front.rest()); err != nil || !more {
				return err
			}
			return called.end()
		}
		if err != nil {
			return readError(err)
		}
		c, err := parseChunk(data)
		if err != nil {
			if events.unterminated && errors.Is(err, ErrMalformed) {
				return ErrCut // half an event
			}
			return err
		}
		request.count(c)
		piece, end, err := c.text(called)
		if err != nil {
			return err
		}
		finished = finished || end
		if more, err := say(front.pass(piece)); err != nil || !more {
			return err
		}
	}
}

// assembly is where calls of the request's tools go; nil where it has none.
func (r Request) assembly() *assembly {
	if len(r.Tools) == 0 {
		return nil
	}
	return &assembly{}
}

// count tells the tokens that a chunk tells of.
func (r Request) count(c chunk) {
	if r.Used != nil && c.Usage != nil && c.Usage.In >= 0 && c.Usage.Out >= 0 {
		r.Used(*c.Usage)
	}
}

// readWhole reads a completion that was not streamed. With a [*Calls] there may be a text too.
func readWhole(r io.Reader, request Request) (string, error) {
	called := request.assembly()
	body, err := io.ReadAll(&limitedReader{r: r, left: maxLine})
	if err != nil {
		return "", readError(err)
	}
	c, err := parseChunk(body)
	if err != nil {
		return "", err
	}
	request.count(c)
	text, _, err := c.text(called)
	if err != nil {
		return "", err
	}
	var front thoughts
	text = front.pass(text) + front.rest()
	if new(toolWatch).calls(text) {
		return "", ErrToolCall
	}
	return text, called.end()
}

// readError names a failed read: our own errors stay, the network's becomes ErrCut.
func readError(err error) error {
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrMalformed) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCut, err)
}

// cause prefers why the context ended to the network error that its end became.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// watchedReader runs the idle timer while a read waits for the server, and only then: a slow reader of the text is not
// the server's silence.
type watchedReader struct {
	r       io.Reader
	idle    *time.Timer
	timeout time.Duration
}

func (w *watchedReader) Read(p []byte) (int, error) {
	w.idle.Reset(w.timeout)
	defer w.idle.Stop()
	return w.r.Read(p)
}
