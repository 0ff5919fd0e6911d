package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"docent/kiosk"
	"docent/sync/link"
	"docent/sync/update"
	"docent/sync/update/limit"
	"docent/sync/update/mirror"
	"docent/sync/update/stick"
	"docent/sync/update/ways"
	"docent/sync/wire"
)

// deliveries are the ways over which releases come to a kiosk.
type deliveries struct {
	*ways.Ways
	sticks  *stick.Watcher
	mirror  *mirror.Mirror // nil without one
	line    *limit.Line
	hub     *link.Link // nil without one
	updater *update.Updater
}

// inbox is where docent install leaves files for a kiosk.
func inbox(config kiosk.Config) string { return filepath.Join(config.DataDir, "install") }

// newDeliveries opens the ways that the settings name. The updater that uses them is set before they run.
func newDeliveries(config kiosk.Config, hub *link.Link, log *slog.Logger) (*deliveries, error) {
	c := config.Content
	hours, err := limit.ParseHours(c.Hours)
	if err != nil {
		return nil, fmt.Errorf("content.hours: %w", err)
	}
	d := &deliveries{line: limit.New(c.MaxKbitS, hours, time.Now, time.Local), hub: hub}
	d.sticks = stick.NewWatcher(stick.Options{
		Folders: c.StickFolders, Inbox: inbox(config), Logger: log,
		Install: func(ctx context.Context, f *stick.File) (wire.Deploy, error) {
			return d.updater.Look(ctx, d.With(f))
		},
		Found: func() { d.updater.Desired() },
	})
	options := ways.Options{Sticks: d.sticks, Line: d.line}
	if c.Mirror != "" {
		if d.mirror, err = mirror.New(mirror.Options{URL: c.Mirror, CA: c.MirrorCA}); err != nil {
			return nil, err
		}
		options.Mirror = d.mirror
	}
	if hub != nil {
		options.Hub = link.Content{Link: hub}
	}
	d.Ways = ways.New(options)
	return d, nil
}

// report tells the hub how far the kiosk is with a release, and those who stand before it.
func (d *deliveries) report(r wire.Deploy) {
	d.sticks.Heard(r)
	if until, closed := d.line.Closed(); closed && r.Status == wire.DeployDownloading && r.Code == "" {
		r.Code, r.Detail = "hours", "over the line content comes from "+until.Format("15:04")+" on"
	}
	if d.hub != nil {
		d.hub.Report(r)
	}
}

// run looks for sticks until ctx ends.
func (d *deliveries) run(ctx context.Context) error { return d.sticks.Run(ctx) }

// close ends connections.
func (d *deliveries) close() error {
	if d.mirror != nil {
		d.mirror.Close()
	}
	return nil
}

// tell adds to what staff read how content comes, and what becomes of what is plugged in. Without deliveries it adds
// nothing.
func (d *deliveries) tell(status map[string]string) map[string]string {
	if d == nil {
		return status
	}
	status["content"] = d.status()
	if s := d.sticks.String(); s != "" {
		status["stick"] = s
	}
	return status
}

// status says in a line how content comes.
func (d *deliveries) status() string {
	var parts []string
	if s := d.updater.State(); s.Status != "" {
		text := string(s.Status)
		if s.Code != "" {
			text += " (" + s.Code + ")"
		}
		parts = append(parts, fmt.Sprintf("release %d: %s", s.Number, text))
	}
	if until, closed := d.line.Closed(); closed {
		parts = append(parts, "over the line nothing new until "+until.Format("15:04"))
	} else if s := d.line.String(); s != "" {
		parts = append(parts, s)
	}
	if d.mirror != nil {
		text := "mirror in use"
		if until, why := d.mirror.Trouble(); why != nil {
			text = fmt.Sprintf("mirror left alone until %s: %v", until.Format("15:04"), why)
		}
		parts = append(parts, text)
	}
	came := d.Came()
	for _, name := range []string{ways.Stick, ways.Web, ways.TheHub} {
		if n := came[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%.1f MB by %s", float64(n)/1e6, name))
		}
	}
	return strings.Join(parts, ", ")
}
