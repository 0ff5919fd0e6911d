package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(page, "/")+"/api/v1/emergency", nil)
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
