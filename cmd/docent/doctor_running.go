package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// runningKiosk is what a kiosk that runs already says of itself.
type runningKiosk struct {
	Status        string `json:"status"` // "ready"; else it serves no visitors
	Release       string `json:"release"`
	Camera        string `json:"camera"` // empty where it is not ready
	CameraTrouble string `json:"camera_trouble"`
	Hub           string `json:"hub"`  // how its link is, in a word
	Code          string `json:"code"` // of a kiosk that is not ready: "not_ready"
}

func (k runningKiosk) ready() bool { return k.Status == "ready" }

// running asks whether a kiosk runs already; nil where none answers. A kiosk listens before it connects to its hub, and until
// it has disconnected.
func (d doctor) running(ctx context.Context) *runningKiosk {
	var k runningKiosk
	own := ownAddress(d.config.Listen)
	if own == "" || ask(ctx, http.MethodGet, own+"/readyz", nil, &k) != nil || !k.ready() && k.Code != "not_ready" {
		return nil
	}
	return &k
}

// diagnostics are what the running kiosk tells staff who know the PIN, as these settings do; nil where there is none.
func (d doctor) diagnostics(ctx context.Context) map[string]string {
	pin := d.config.Staff.PIN.Reveal()
	if pin == "" {
		return nil
	}
	var said struct {
		Status map[string]string `json:"status"`
	}
	if ask(ctx, http.MethodPost, ownAddress(d.config.Listen)+"/api/v1/staff/open", map[string]string{"pin": pin}, &said) != nil {
		return nil
	}
	return said.Status
}

// ask sends a request to the kiosk of this machine, and reads its answer, also a refusal's.
func ask(ctx context.Context, method, address string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(http.MaxBytesReader(nil, res.Body, 64<<10)).Decode(out)
}
