package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"docent/agent/trace"
	"docent/kiosk"
)

type traceCmd struct {
	Config string        `help:"YAML file of the kiosk's settings." type:"existingfile" placeholder:"FILE"`
	Since  time.Duration `help:"How far back." default:"24h"`
	Limit  int           `help:"How many turns at most, the newest." default:"1000"`
	Follow bool          `help:"Show the parts of turns as they come, until interrupted."`
	Otlp   bool          `help:"Write OpenTelemetry's JSON, a line for each turn, as a collector's otlpjsonfile receiver reads it."`
	Out    string        `help:"Write to this file instead of standard output." placeholder:"FILE"`
}

// Run reads the traces of a kiosk: from itself where it runs, else from its disk.
func (c traceCmd) Run(ctx context.Context, t *terminal) (err error) {
	config, err := loadSettings(c.Config, kiosk.DefaultConfig())
	if err != nil {
		return err
	}
	out := t.out
	if c.Out != "" {
		f, err := os.OpenFile(c.Out, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("write traces: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	since := time.Now().Add(-c.Since)
	body, err := c.ask(ctx, config, since)
	if errors.Is(err, syscall.ECONNREFUSED) && !c.Follow {
		return c.read(config, since, out, t)
	}
	if err != nil {
		return err
	}
	defer body.Close()
	if c.Follow {
		return follow(ctx, out, body)
	}
	return c.copy(out, body)
}

// ask asks the running kiosk.
func (c traceCmd) ask(ctx context.Context, config kiosk.Config, since time.Time) (io.ReadCloser, error) {
	_, port, err := net.SplitHostPort(config.Listen)
	if err != nil {
		return nil, usageError{fmt.Errorf("listen %q: %w", config.Listen, err)}
	}
	host, _, _ := net.SplitHostPort(config.Listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	data, err := json.Marshal(map[string]any{"pin": config.Staff.PIN.Reveal(), "since": since, "limit": c.Limit, "follow": c.Follow})
	if err != nil {
		return nil, fmt.Errorf("ask for traces: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+net.JoinHostPort(host, port)+"/api/v1/staff/trace", bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("ask for traces: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for traces: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		var p struct{ Detail, Reason string }
		_ = json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&p) // the status tells enough
		return nil, fmt.Errorf("ask for traces: the kiosk says %d: %s %s", resp.StatusCode, p.Detail, p.Reason)
	}
	return resp.Body, nil
}

// read reads the traces of a kiosk that does not run.
func (c traceCmd) read(config kiosk.Config, since time.Time, out io.Writer, t *terminal) (err error) {
	if _, err := os.Stat(tracesDir(config)); err != nil {
		return fmt.Errorf("read traces: %w", err)
	}
	traces, err := openTraces(config, t.log)
	if err != nil {
		return err
	}
	if traces == nil {
		return usageError{errors.New("trace.days is 0: no traces are kept")}
	}
	defer func() { err = errors.Join(err, traces.Close()) }()
	turns, err := traces.Turns(since, c.Limit)
	if err != nil {
		return err
	}
	return c.write(out, turns...)
}

func (c traceCmd) write(out io.Writer, turns ...trace.Turn) error {
	if c.Otlp {
		return trace.WriteOTLP(out, turns...)
	}
	return trace.Write(out, turns...)
}

// copy writes the lines that the kiosk sends.
func (c traceCmd) copy(out io.Writer, body io.Reader) error {
	d := json.NewDecoder(body)
	for {
		var t trace.Turn
		if err := d.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read traces: %w", err)
		}
		if err := c.write(out, t); err != nil {
			return err
		}
	}
}

// follow writes the data of events, a line each.
func follow(ctx context.Context, out io.Writer, body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			if _, err := fmt.Fprintf(out, "%s\n", data); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return nil // interrupted
	}
	return lines.Err()
}
