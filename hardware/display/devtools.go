package display

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxTargets   = 1 << 20 // bytes of the list of tabs
	maxMessages  = 64      // of the browser before its answer
	maxMessage   = maxPicture/3*4 + 4096
	maxTargetID  = 64
	lookTime     = 3 * time.Second
	jpegFromPage = 90 // quality; it is written once more
)

// CheckDevTools says what is wrong with an address for DevTools: whoever reaches it drives the browser, so it must be of this
// machine.
func CheckDevTools(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" || port == "0" {
		return fmt.Errorf("%q is not HOST:PORT", address)
	}
	if host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return fmt.Errorf("%q is not on this machine: whoever reaches DevTools drives the browser", address)
	}
	return nil
}

// target is a tab, or something else that the browser shows.
type target struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// target finds the tab that the screen shows.
func (s Screen) target(ctx context.Context) (target, error) {
	if s.DevTools == "" {
		return target{}, errors.New("no DevTools of the browser are set (screen.devtools)")
	}
	if err := CheckDevTools(s.DevTools); err != nil {
		return target{}, fmt.Errorf("ask the browser: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.DevTools+"/json/list", nil)
	if err != nil {
		return target{}, fmt.Errorf("ask the browser: %w", err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // without a proxy
	res, err := client.Do(req)
	if err != nil {
		return target{}, fmt.Errorf("ask the browser: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return target{}, fmt.Errorf("ask the browser for its tabs: %s", res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxTargets))
	if err != nil {
		return target{}, fmt.Errorf("ask the browser: %w", err)
	}
	return choose(data, s.Page)
}

// choose picks of the browser's tabs the one that shows the kiosk's page, else the one that was used last.
func choose(list []byte, page string) (target, error) {
	var all []target
	if err := json.Unmarshal(list, &all); err != nil {
		return target{}, fmt.Errorf("read the browser's tabs: %w", err)
	}
	var found target
	for _, t := range all {
		if t.Type != "page" || !validTarget(t.ID) {
			continue
		}
		if page != "" && strings.HasPrefix(t.URL, page) {
			return t, nil
		}
		if found.ID == "" {
			found = t
		}
	}
	if found.ID == "" {
		return target{}, errors.New("the browser shows no page")
	}
	return found, nil
}

// validTarget tells whether an id may stand in an address.
func validTarget(id string) bool {
	return id != "" && len(id) <= maxTargetID && strings.IndexFunc(id, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-')
	}) < 0
}

// browser has the browser take a picture of its page, as it stands on the screen.
func (s Screen) browser(ctx context.Context) ([]byte, error) {
	t, err := s.target(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	dialer := websocket.Dialer{HandshakeTimeout: lookTime} // no Origin: the browser refuses those of pages
	conn, res, err := dialer.DialContext(ctx, "ws://"+s.DevTools+"/devtools/page/"+t.ID, nil)
	if err != nil {
		if res != nil {
			err = fmt.Errorf("%w (%s)", err, res.Status)
		}
		return nil, fmt.Errorf("ask the browser: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	conn.SetReadLimit(maxMessage)
	ask := map[string]any{"id": 1, "method": "Page.captureScreenshot", "params": map[string]any{"format": "jpeg", "quality": jpegFromPage}}
	if err := conn.WriteJSON(ask); err != nil {
		return nil, fmt.Errorf("ask the browser: %w", err)
	}
	for range maxMessages {
		_, message, err := conn.ReadMessage()
		if ctx.Err() != nil {
			return nil, errors.New("ask the browser: it took no picture in time")
		}
		if err != nil {
			return nil, fmt.Errorf("ask the browser: %w", err)
		}
		if data, ok, err := answer(message); ok || err != nil {
			return data, err
		}
	}
	return nil, errors.New("ask the browser: it does not answer")
}

// answer reads a message of the browser; ok says that it is the answer, not an event.
func answer(message []byte) (data []byte, ok bool, err error) {
	var m struct {
		ID     int `json:"id"`
		Result struct {
			Data []byte `json:"data"` // base64
		} `json:"result"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, false, fmt.Errorf("read the browser's answer: %w", err)
	}
	switch {
	case m.ID != 1:
		return nil, false, nil
	case m.Error != nil:
		return nil, true, fmt.Errorf("the browser: %.200s", m.Error.Message)
	case len(m.Result.Data) == 0:
		return nil, true, errors.New("the browser's picture is empty")
	}
	return m.Result.Data, true, nil
}
