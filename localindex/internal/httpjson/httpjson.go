// Package httpjson sends one JSON request to a model server and reads its JSON answer, with limits on both.
package httpjson

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// MaxAnswer bounds an answer: 2,048 vectors of 4,096 numbers written out are about this.
const MaxAnswer = 128 << 20

// What can go wrong, beside the context's own errors and a [StatusError].
var (
	// ErrConnect is a server that could not be reached.
	ErrConnect = errors.New("server not reached")
	// ErrCut is an answer that ended before it was whole.
	ErrCut = errors.New("answer was cut off")
	// ErrMalformed is an answer that is not what was asked for.
	ErrMalformed = errors.New("answer is malformed")
)

// StatusError is a server that refused.
type StatusError struct {
	Status     int
	Message    string        // as told by the server, shortened
	RetryAfter time.Duration // at most a day; 0 where it did not say, or said more
}

func (e *StatusError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("server answered with status %d", e.Status)
	}
	return fmt.Sprintf("server answered with status %d: %s", e.Status, e.Message)
}

// Temporary reports whether the same request may succeed later.
func (e *StatusError) Temporary() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout || e.Status >= 500
}

// Server is where requests go.
type Server struct {
	base *url.URL
	key  string
	http *http.Client
}

// New returns a server at an http or https base URL. It does not connect. The key is sent as bearer token where it is not
// empty. A nil client means one of its own.
func New(baseURL, key string, client *http.Client) (*Server, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("server base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("server base URL %q: want http:// or https:// and a host", u.Redacted())
	}
	if client == nil {
		client = &http.Client{
			Transport: http.DefaultTransport.(*http.Transport).Clone(),
			// A redirect would turn the POST into a GET; its status is told instead.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &Server{base: u, key: key, http: client}, nil
}

// Post sends in as JSON to a path below the base URL and reads the answer into out.
func (s *Server) Post(ctx context.Context, path string, in, out any) error {
	payload, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base.JoinPath(path).String(), bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return cause(ctx, fmt.Errorf("%w: %w", ErrConnect, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return statusError(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if err != nil {
		return cause(ctx, fmt.Errorf("%w: %w", ErrCut, err))
	}
	if len(data) > MaxAnswer {
		return fmt.Errorf("%w: it is larger than %d bytes", ErrMalformed, MaxAnswer)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

const maxMessage = 200

func statusError(resp *http.Response) error {
	e := &StatusError{Status: resp.StatusCode}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 && seconds <= 24*60*60 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	if err != nil {
		return e // the status tells enough
	}
	var told struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &told) == nil {
		var object struct {
			Message string `json:"message"`
		}
		var text string
		switch {
		case json.Unmarshal(told.Error, &object) == nil && object.Message != "":
			e.Message = object.Message
		case json.Unmarshal(told.Error, &text) == nil && text != "":
			e.Message = text
		default:
			e.Message = told.Message
		}
	}
	e.Message = strings.Join(strings.Fields(e.Message), " ")
	if len(e.Message) > maxMessage {
		e.Message = strings.ToValidUTF8(e.Message[:maxMessage], "") + "…"
	}
	return e
}

// cause prefers why the context ended to the network error that its end became.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
