package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/kiosk"
	commands "docent/sync/command"
	"docent/sync/enrol"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/update"
	"docent/sync/wire"
	"docent/ui"
	"docent/vision/camera"
	"docent/vision/label"
	"docent/vision/qrcode"
)

// appliance is a kiosk with everything it is made of.
type appliance struct {
	kiosk    *kiosk.Kiosk
	link     *link.Link       // nil without a hub
	id       *enrol.Identity  // nil without a hub, and in the demo
	updater  *update.Updater  // nil where the release is always the same
	over     *deliveries      // the updater's sources
	commands *commands.Runner // nil without a hub
	camera   *camera.Camera   // nil without one
	shown    *content
	log      *slog.Logger
	siren    *siren
	closers  []func() error
}

// openAppliance opens all parts of a kiosk. The caller runs it and then closes it.
func openAppliance(ctx context.Context, c kiosk.Config, log *slog.Logger) (_ *appliance, err error) {
	started, logs := time.Now(), &lastLines{to: io.Discard}
	log = slog.New(slog.NewMultiHandler(log.Handler(), slog.NewTextHandler(logs, nil))) // its end is kept for the hub
	a := &appliance{siren: newSiren(), log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()

	services, err := searchServices(c)
	if err != nil {
		return nil, err
	}
	shown := &content{services: services, log: log}
	a.shown = shown
	a.closers = append(a.closers, shown.close)
	releases, err := shown.start(ctx, c)
	if err != nil {
		return nil, err
	}

	traces, err := openTraces(c, log)
	if err != nil {
		return nil, err
	}
	if traces != nil {
		a.closers = append(a.closers, traces.Close)
	}
	guide, err := newGuide(c, traces, log)
	if err != nil {
		return nil, err
	}
	options := kiosk.Options{Config: c, Release: shown.current.release, Recogniser: shown.current.recogniser, Guide: guide, Logger: log}
	if c.Camera.Source != "" {
		settings := camera.Settings{
			Width: c.Camera.Width, Height: c.Camera.Height, FrameRate: c.Camera.FrameRate, Dwell: c.Camera.Dwell,
		}
		opener, err := camera.NewOpener(c.Camera.Source, settings, cameraProgram, log)
		if err != nil {
			return nil, err
		}
		cam := camera.Start(camera.Options{Open: opener.Open, Logger: log})
		a.closers = append(a.closers, cam.Close)
		options.Camera, a.camera = cam, cam
	}

	if traces != nil {
		options.Traces = traces
	}
	if c.Labels.Read {
		options.Labels = findLabelReader(ctx, c.Labels.Timeout, log)
	}

	box, err := outbox.Open(filepath.Join(c.DataDir, "outbox"), outbox.Options{
		Kiosk: c.Kiosk, Logger: log, MaxBytes: uint64(c.Outbox.MaxMiB) << 20, OnFull: outbox.OnFull(c.Outbox.OnFull),
	})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, box.Close)
	options.Events = box
	if c.Hub.Broker != "" {
		var credentials link.Credentials
		if strings.HasPrefix(c.Hub.Broker, "tls:") {
			a.id, err = enrol.Open(enrol.Options{
				Dir: filepath.Join(c.DataDir, "identity"), Hub: cmp.Or(c.Hub.Enrol, c.Hub.Broker), Kiosk: wire.Address{Site: c.Site, Kiosk: c.Kiosk},
				Fingerprint: c.Hub.Fingerprint, Logger: log,
			})
			if err != nil {
				return nil, err
			}
			credentials = a.id
		}
		a.link, err = link.New(link.Options{
			Credentials: credentials,
			Broker:      c.Hub.Broker, Site: c.Site, Kiosk: c.Kiosk, Outbox: box, Version: version(), Logger: log,
			Emergency: a.siren.ring,
			Health:    func() wire.Health { return a.health(c.DataDir, started) },
			Command:   func(asked wire.Command) { a.commands.Receive(asked) },
			Visits: func(n wire.VisitNotice) {
				if a.kiosk != nil { // else it has no visits yet, and hears again
					a.kiosk.VisitNotice(n)
				}
			},
			Desired: func(wire.Desired) {
				if a.updater != nil {
					a.updater.Desired()
				}
			},
		})
		if err != nil {
			return nil, err
		}
	}
	if releases != nil {
		if a.over, err = newDeliveries(c, a.link, log); err != nil {
			return nil, err
		}
		a.closers = append(a.closers, a.over.close)
		if a.updater, err = newUpdater(c, releases, shown, a.over, log); err != nil {
			return nil, err
		}
	}

	options.Codes = qrcode.Reader{}
	if options.Extract, err = newExtractor(c.Model); err != nil {
		return nil, err
	}
	if a.link != nil {
		if a.commands, err = a.remote(c, logs); err != nil {
			return nil, err
		}
		options.Hub = a.link
	}
	options.Status = func() map[string]string { return a.over.tell(staffStatus(box, a.link, a.id)) }
	options.Pages, err = ui.Kiosk()
	if err != nil {
		return nil, err
	}
	a.kiosk, err = kiosk.New(options)
	if err != nil {
		return nil, err
	}
	shown.kiosk = a.kiosk
	return a, nil
}

// findLabelReader returns nil where labels cannot be read; a kiosk does without.
func findLabelReader(ctx context.Context, timeout time.Duration, log *slog.Logger) kiosk.LabelReader {
	reader, err := label.Find(ctx, timeout)
	switch {
	case errors.Is(err, label.ErrNotInstalled):
		log.Info("labels are not read", "reason", err)
		return nil
	case err != nil:
		log.Warn("labels are not read", "error", err)
		return nil
	}
	return reader
}

// run serves visitors and carries events to the hub until ctx ends.
func (a *appliance) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.kiosk.Run(ctx) })
	group.Go(func() error { return a.siren.run(ctx, a.kiosk, a.log) })
	if a.link != nil {
		group.Go(func() error { return a.link.Run(ctx) })
	}
	if a.id != nil {
		group.Go(func() error { return a.id.Run(ctx) })
	}
	if a.commands != nil {
		group.Go(func() error { return a.runRemote(ctx) })
	}
	if a.updater != nil {
		group.Go(func() error { return a.updater.Run(ctx) })
		group.Go(func() error { return a.over.run(ctx) })
	}
	return group.Wait()
}

// close closes the parts, the last opened first.
func (a *appliance) close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	return errors.Join(errs...)
}

// runAppliance opens a kiosk, tells started where it listens, and runs it until ctx ends.
func runAppliance(ctx context.Context, c kiosk.Config, log *slog.Logger, started func(address string)) error {
	a, err := openAppliance(ctx, c, log)
	if err != nil {
		return fmt.Errorf("open kiosk: %w", err)
	}
	started(a.kiosk.Addr())
	return errors.Join(a.run(ctx), a.close())
}
