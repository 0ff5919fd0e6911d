package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"time"

	"docent/sync/fleet"
	"docent/sync/hub"
	"docent/sync/hub/authority"
)

type benchSyncCmd struct {
	fleetLoad
	Hub string `hidden:"" type:"existingdir" help:"Only be the hub, with its data in this folder, until standard input ends; for the process that is measured."`
}

func (c benchSyncCmd) Run(ctx context.Context, t *terminal) (err error) {
	stop, err := profile(c.Profile, map[bool]string{true: "hub", false: "kiosks"}[c.Hub != ""])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if c.Hub != "" {
		return beHub(ctx, t, c.Hub)
	}
	return c.withOwnHub(ctx, t)
}

// ownHub is where a hub in a process of its own listens.
type ownHub struct {
	MQTT string `json:"mqtt"`
	HTTP string `json:"http"`
}

// beHub is a hub over TLS on ports of its own choice, which it writes to standard output. It ends with standard input, and so
// with the process that began it.
func beHub(ctx context.Context, t *terminal, dir string) error {
	h, err := hub.New(hub.Config{Dir: dir, MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Site: "fleet", Logger: t.log})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-ended:
		return err
	}
	if err := json.NewEncoder(t.out).Encode(ownHub{h.MQTTAddr(), h.HTTPAddr()}); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	return <-ended
}

// startHub begins a hub in a process of its own, so that what it costs can be told from what the simulated kiosks cost.
func (c fleetLoad) startHub(ctx context.Context, t *terminal, dir string) (at ownHub, pid int, stop func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return ownHub{}, 0, nil, fmt.Errorf("find this program: %w", err)
	}
	args := []string{"bench", "sync", "--hub", dir}
	if c.Profile != "" {
		args = append(args, "--profile", c.Profile)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	cmd.Stderr = t.err
	in, err := cmd.StdinPipe()
	if err != nil {
		return ownHub{}, 0, nil, fmt.Errorf("start hub: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return ownHub{}, 0, nil, fmt.Errorf("start hub: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return ownHub{}, 0, nil, fmt.Errorf("start hub: %w", err)
	}
	stop = func() error {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			return fmt.Errorf("hub: %w", err)
		}
		return nil
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		return ownHub{}, 0, nil, errors.Join(fmt.Errorf("start hub: %w", err), stop())
	}
	return at, cmd.Process.Pid, stop, nil
}

// withOwnHub measures a hub of its own, over TLS, its store on the disk.
func (c fleetLoad) withOwnHub(ctx context.Context, t *terminal) (err error) {
	opt, err := c.options()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "docent-fleet-hub-")
	if err != nil {
		return fmt.Errorf("make folder for the hub: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at, pid, stop, err := c.startHub(ctx, t, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	a, err := authority.Open(filepath.Join(dir, "authority"), time.Now)
	if err != nil {
		return err
	}
	opt.Broker, opt.Site, opt.TLS = "tls://"+at.MQTT, "fleet", fleetTLS(a)
	opt.Hub = func() (fleet.Usage, error) { return fleet.ProcessUsage(pid) }
	return c.measure(ctx, t, opt, "http://"+at.HTTP)
}

// profile writes where the processor's time goes into a folder, until stop is called. Without a folder it does nothing.
func profile(dir, name string) (stop func() error, err error) {
	if dir == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(filepath.Join(dir, name+".pprof"))
	if err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("write profile: %w", err), f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
