package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"docent/sync/enrol"
	"docent/sync/fleet"
	"docent/sync/hub/authority"
	"docent/sync/wire"
)

// fleetLoad is what simulated kiosks do.
type fleetLoad struct {
	Kiosks  int           `default:"100" help:"Simulated kiosks."`
	Rate    float64       `default:"0" help:"Events a second of all kiosks together; by default 5 for each kiosk."`
	Seconds float64       `default:"20" help:"How long events come at that rate."`
	Outage  time.Duration `default:"5s" help:"How long the line is cut for all kiosks at once afterwards; 0 not at all."`
	Backlog int           `default:"20" help:"Events that each kiosk records during the outage."`
	Dir     string        `help:"Folder for the kiosks' outboxes; by default in memory, so that the hub is measured and not this machine's disk." placeholder:"DIR"`
	Profile string        `help:"Write where the processor's time went (pprof) into this folder." type:"existingdir" placeholder:"DIR"`
	JSON    string        `name:"json" help:"Write the report to this file, - for standard output." placeholder:"FILE"`
}

type fleetCmd struct {
	fleetLoad
	Broker    string `help:"Where the hub listens: tls://HOST:PORT with --authority, or tcp://HOST:PORT on this machine. Without one, a hub of its own." placeholder:"URL"`
	Authority string `help:"Folder \"authority\" of the hub, to sign the simulated kiosks' certificates." type:"existingdir" placeholder:"DIR"`
	Page      string `help:"Address of the hub's page, to count what is lost and what is stored twice." placeholder:"URL"`
	Site      string `default:"fleet" help:"Site of the simulated kiosks."`
	Enrol     string `help:"Where kiosks enrol, for a hub behind another broker: simulated kiosks show their certificates there, so that the broker learns of them." placeholder:"HOST:PORT"`
	HubPID    int    `name:"hub-pid" help:"Process of a hub on this machine, to tell what it costs from what the simulated kiosks cost." placeholder:"PID"`
}

func (c fleetCmd) Run(ctx context.Context, t *terminal) (err error) {
	stop, err := profile(c.Profile, "kiosks")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if c.Broker == "" {
		return c.fleetLoad.withOwnHub(ctx, t)
	}
	opt, err := c.options()
	if err != nil {
		return err
	}
	opt.Broker, opt.Site = c.Broker, c.Site
	if c.HubPID > 0 {
		opt.Hub = func() (fleet.Usage, error) { return fleet.ProcessUsage(c.HubPID) }
	}
	if strings.HasPrefix(c.Broker, "tls:") {
		if c.Authority == "" {
			return usageError{errors.New("--authority is missing: simulated kiosks need certificates")}
		}
		a, err := authority.Open(c.Authority, time.Now)
		if err != nil {
			return err
		}
		opt.TLS = fleetTLS(a)
		if c.Enrol != "" {
			opt.TLS = introduced(ctx, opt.TLS, c.Enrol)
		}
	}
	return c.measure(ctx, t, opt, c.Page)
}

// fleetTLS gives simulated kiosks certificates of an authority that is at hand.
func fleetTLS(a *authority.Authority) func(wire.Address) (*tls.Config, error) {
	return func(kiosk wire.Address) (*tls.Config, error) { return enrol.ClientConfig(a, kiosk) }
}

func (c fleetLoad) options() (fleet.Options, error) {
	rate := c.Rate
	if rate == 0 {
		rate = 5 * float64(c.Kiosks)
	}
	if c.Kiosks < 1 || c.Kiosks > 10_000 || rate <= 0 || c.Seconds <= 0 || c.Backlog < 0 {
		return fleet.Options{}, usageError{errors.New("--kiosks must be 1 to 10,000, --rate and --seconds above 0")}
	}
	return fleet.Options{
		Kiosks: c.Kiosks, Rate: rate, Last: time.Duration(c.Seconds * float64(time.Second)), Outage: c.Outage, Backlog: c.Backlog,
	}, nil
}

// introduced shows each certificate to a hub before it is used: one that was signed beside the hub becomes known to it by that.
func introduced(ctx context.Context, config func(wire.Address) (*tls.Config, error), hub string) func(wire.Address) (*tls.Config, error) {
	return func(kiosk wire.Address) (*tls.Config, error) {
		shown, err := config(kiosk)
		if err != nil {
			return nil, err
		}
		asking := shown.Clone()
		asking.NextProtos = []string{wire.ProtocolEnrol}
		client := http.Client{Transport: &http.Transport{TLSClientConfig: asking, DisableKeepAlives: true}, Timeout: introduceTimeout}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+hub+wire.StandingPath, nil)
		if err != nil {
			return nil, fmt.Errorf("introduce simulated kiosk: %w", err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, fmt.Errorf("introduce simulated kiosk: %w", err)
		}
		defer resp.Body.Close()
		var answer wire.EnrolAnswer
		if err := json.NewDecoder(io.LimitReader(resp.Body, wire.MaxEnrol)).Decode(&answer); err != nil {
			return nil, fmt.Errorf("introduce simulated kiosk: %w", err)
		}
		if answer.Status != wire.EnrolGranted {
			return nil, fmt.Errorf("introduce simulated kiosk %s: the hub refuses it: %s", kiosk.Kiosk, answer.Refusal)
		}
		return shown, nil
	}
}

const introduceTimeout = 30 * time.Second

// memoryDir is a file system in memory, where there is one.
const memoryDir = "/dev/shm"

// measure runs the fleet, counts what the hub has, and reports.
func (c fleetLoad) measure(ctx context.Context, t *terminal, opt fleet.Options, page string) (err error) {
	parent := c.Dir
	if parent == "" {
		if _, err := os.Stat(memoryDir); err == nil {
			parent = memoryDir
		}
	}
	if opt.Dir, err = os.MkdirTemp(parent, "docent-fleet-"); err != nil {
		return fmt.Errorf("make folder for the kiosks: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(opt.Dir)) }()
	opt.Logger = t.log
	var before int64
	if page != "" {
		if before, err = newestEvent(ctx, page); err != nil {
			return err
		}
	}
	report, streams, err := fleet.Run(ctx, opt)
	if err != nil {
		return err
	}
	if page != "" {
		lost, duplicated, err := countStored(ctx, page, before, streams)
		if err != nil {
			return err
		}
		report.Lost, report.Duplicated = &lost, &duplicated
	}
	if inWords, err := t.report(c.JSON, report); err != nil || !inWords {
		return err
	}
	return printFleet(t, report)
}

func printFleet(t *terminal, r fleet.Report) error {
	fmt.Fprintf(t.out, "%d kiosks: outboxes opened in %.1f s, all connected in %.1f s\n", r.Kiosks, r.OpenS, r.ConnectS)
	fmt.Fprintf(t.out, "%.0f durable events/s of %.0f asked for; acknowledged after %.0f ms (p50), %.0f ms (p95), %.0f ms (p99)\n",
		r.EventsPerS, r.Rate, r.AckMS.P50, r.AckMS.P95, r.AckMS.P99)
	if err := printCost(t, r); err != nil {
		return err
	}
	if c := r.Reconnect; c != nil {
		fmt.Fprintf(t.out, "line cut for %.1f s: half were back after %.1f s, all after %.1f s; at most %.0f %% within one second\n",
			c.OutageS, c.P50S, c.AllS, 100*c.BusiestSecond)
		if r.BacklogEventsPerS > 0 {
			fmt.Fprintf(t.out, "backlog drained at %.0f events/s\n", r.BacklogEventsPerS)
		}
	}
	if r.Lost == nil {
		_, err := fmt.Fprintf(t.out, "%d events, %d not acknowledged, %d sent again; without --page nothing is known of the hub's store\n", r.Events, r.Unacknowledged, r.Resent)
		return err
	}
	_, err := fmt.Fprintf(t.out, "%d events: %d lost, %d stored twice, %d not acknowledged, %d sent again\n", r.Events, *r.Lost, *r.Duplicated, r.Unacknowledged, r.Resent)
	return err
}

// printCost says what events cost at both ends.
func printCost(t *terminal, r fleet.Report) error {
	steady := r.Cost.Steady
	_, err := fmt.Fprintf(t.out, "%d messages; processor time for an event: %.0f µs at all kiosks together (%.1f calls)", r.Messages, steady.Kiosks.CPUEachUS, steady.Kiosks.CallsEach)
	if err == nil && steady.Hub != nil {
		_, err = fmt.Fprintf(t.out, ", %.0f µs at the hub (%.1f calls); for a connection %.1f ms at the kiosk, %.1f ms at the hub",
			steady.Hub.CPUEachUS, steady.Hub.CallsEach, r.Cost.Connect.Kiosks.CPUEachUS/1000, r.Cost.Connect.Hub.CPUEachUS/1000)
	}
	if err == nil {
		_, err = fmt.Fprintf(t.out, "\nmemory: kiosks %.0f MiB together, hub %.0f MiB\n", r.PeakMiB.Kiosks, r.PeakMiB.Hub)
	}
	return err
}

// newestEvent is the id of the hub's newest event.
func newestEvent(ctx context.Context, page string) (int64, error) {
	var answer struct {
		Counts struct {
			Events int64 `json:"events"`
		} `json:"counts"`
	}
	err := hubPage{Hub: page}.call(ctx, http.MethodGet, "/api/v1/kiosks", nil, &answer)
	return answer.Counts.Events, err
}

// countStored looks for the events of some streams in the hub's store.
func countStored(ctx context.Context, page string, after int64, streams []fleet.Stream) (lost, duplicated int, err error) {
	seen := map[string][]bool{} // of a stream, by number less one
	for _, s := range streams {
		seen[s.ID] = make([]bool, s.Last)
	}
	for {
		var answer struct {
			Events []struct {
				StreamID string `json:"stream_id"`
				Seq      uint64 `json:"seq"`
			} `json:"events"`
			Next int64 `json:"next"`
		}
		if err := (hubPage{Hub: page}).call(ctx, http.MethodGet, fmt.Sprintf("/api/v1/events?after=%d&limit=1000", after), nil, &answer); err != nil {
			return 0, 0, err
		}
		if len(answer.Events) == 0 {
			break
		}
		for _, e := range answer.Events {
			of := seen[e.StreamID]
			switch {
			case e.Seq < 1 || e.Seq > uint64(len(of)): // of others
			case of[e.Seq-1]:
				duplicated++
			default:
				of[e.Seq-1] = true
			}
		}
		after = answer.Next
	}
	for _, s := range streams {
		for _, here := range seen[s.ID][:min(s.Acked, s.Last)] {
			if !here {
				lost++
			}
		}
	}
	return lost, duplicated, nil
}
