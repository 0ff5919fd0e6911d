package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"docent/sync/wire"
)

type kiosksDoCmd struct {
	hubPage
	Kiosk   string        `arg:"" help:"SITE/KIOSK."`
	Command string        `arg:"" help:"What it is to do: ${commands}." enum:"${commands}"`
	Value   *int          `help:"Of volume and brightness, 0 to 100."`
	Expires time.Duration `default:"10m" help:"How long it may wait for a kiosk that is away, at most a week."`
	Wait    time.Duration `default:"30s" help:"How long to wait here for the answer."`
	Out     string        `help:"Write what comes with the answer to this file: the log as gzip, the screenshot as JPEG." placeholder:"FILE"`
}

// commandNames are for the help.
func commandNames() string {
	var names []string
	for _, c := range wire.Commands {
		names = append(names, string(c))
	}
	return strings.Join(names, ",")
}

// askedCommand is what the hub tells of a command.
type askedCommand struct {
	ID      string            `json:"id"`
	Status  wire.ResultStatus `json:"status"`
	Detail  string            `json:"detail"`
	HasData bool              `json:"has_data"`
}

// check names the flag that will not do.
func (c kiosksDoCmd) check() error {
	takes := c.Command == string(wire.CommandVolume) || c.Command == string(wire.CommandBrightness)
	switch {
	case takes && c.Value == nil:
		return fmt.Errorf("--value is needed with %s, 0 to 100", c.Command)
	case !takes && c.Value != nil:
		return fmt.Errorf("--value: %s takes none", c.Command)
	case takes && (*c.Value < 0 || *c.Value > 100):
		return fmt.Errorf("--value %d is not within 0 to 100", *c.Value)
	case c.Expires < time.Second || c.Expires > wire.MaxCommandLife:
		return fmt.Errorf("--expires %s is not within 1s to %s, a week", c.Expires, wire.MaxCommandLife)
	case c.Wait < 0:
		return fmt.Errorf("--wait %s is less than nothing", c.Wait)
	}
	return nil
}

func (c kiosksDoCmd) Run(ctx context.Context, t *terminal) error {
	kiosk, err := parseKiosk(c.Kiosk)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return usageError{err}
	}
	in := map[string]any{"name": c.Command, "expires_in_s": int(c.Expires.Seconds())}
	if c.Value != nil {
		in["value"] = *c.Value
	}
	var asked askedCommand
	if err := c.call(ctx, http.MethodPost, "/api/v1/kiosks/"+kiosk.Site+"/"+kiosk.Kiosk+"/commands", in, &asked); err != nil {
		return err
	}
	id := url.PathEscape(asked.ID)
	for end := time.Now().Add(c.Wait); asked.Status == "" && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
		if err := c.call(ctx, http.MethodGet, "/api/v1/commands/"+id, nil, &asked); err != nil {
			return err
		}
	}
	switch asked.Status {
	case "":
		_, err := fmt.Fprintf(t.out, "No answer yet. The command waits for the kiosk until it runs out; its id is %s.\n", asked.ID)
		return err
	case wire.ResultDone:
	default:
		return fmt.Errorf("%s: %s (%s)", c.Command, asked.Detail, asked.Status)
	}
	said := strings.TrimSpace("Done. " + asked.Detail)
	switch data := "/api/v1/commands/" + id + "/data"; {
	case !asked.HasData:
	case c.Out != "":
		if err := c.fetch(ctx, data, c.Out); err != nil {
			return err
		}
	default:
		said += "\nWhat came with it is at " + c.address(data) + "; --out FILE writes it to a file."
	}
	_, err = fmt.Fprintln(t.out, said)
	return err
}

// fetch writes what the hub answers to a file.
func (p hubPage) fetch(ctx context.Context, path, file string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address(path), nil)
	if err != nil {
		return fmt.Errorf("fetch what came: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("fetch what came: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New("fetch what came: " + res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, wire.MaxResultData+1))
	if err != nil {
		return fmt.Errorf("fetch what came: %w", err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("fetch what came: %w", err)
	}
	return nil
}
