package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"docent/hardware"
	"docent/kiosk"
	commands "docent/sync/command"
	"docent/sync/wire"
)

// errRestart ends a program that was told to start again.
var errRestart = errors.New("the hub asked for a restart")

// restartDelay lets the answer of what was asked before leave the kiosk.
const restartDelay = 200 * time.Millisecond

// remote is what a hub may ask of the kiosk.
func (a *appliance) remote(c kiosk.Config, logs *lastLines) (*commands.Runner, error) {
	screen := newOwnScreen(c)
	return commands.New(commands.Options{
		Path: filepath.Join(c.DataDir, "commands.json"), Send: a.link.Answer, Logger: a.log,
		Actions: map[wire.CommandName]commands.Action{
			wire.CommandRefresh: func(context.Context, wire.Command) (commands.Answer, error) {
				return commands.Answer{Detail: fmt.Sprintf("%d open pages were told", a.kiosk.ReloadPages())}, nil
			},
			wire.CommandSleep: func(context.Context, wire.Command) (commands.Answer, error) {
				a.kiosk.SetAsleep(true)
				a.link.Tell()
				return commands.Answer{}, nil
			},
			wire.CommandWake: func(context.Context, wire.Command) (commands.Answer, error) {
				a.kiosk.SetAsleep(false)
				a.link.Tell()
				return commands.Answer{}, nil
			},
			wire.CommandVolume: func(_ context.Context, c wire.Command) (commands.Answer, error) {
				return commands.Answer{Detail: fmt.Sprintf("%d %% of what the page reads aloud, until the program starts again", c.Value)}, a.kiosk.SetVolume(c.Value)
			},
			wire.CommandRestart: func(ctx context.Context, _ wire.Command) (commands.Answer, error) {
				if !supervised() {
					return commands.Answer{}, fmt.Errorf("%w: nothing would start the program again (it does not run under systemd)", commands.ErrUnsupported)
				}
				select {
				case <-time.After(restartDelay):
				case <-ctx.Done():
				}
				return commands.Answer{}, commands.ErrEnds
			},
			wire.CommandLogs: func(context.Context, wire.Command) (commands.Answer, error) {
				data, err := logs.compressed(wire.MaxResultData)
				return commands.Answer{Type: "application/gzip", Data: data}, err
			},
			wire.CommandBrightness: a.brightness(screen),
			wire.CommandScreenshot: a.screenshot(screen),
		},
	})
}

// supervised tells whether systemd runs this program, which then starts it again.
func supervised() bool { return os.Getenv("INVOCATION_ID") != "" }

// runRemote does what the hub asks, tells it when something has changed, and shows staff on the screen how far the kiosk is
// with its enrolment.
func (a *appliance) runRemote(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var own sync.WaitGroup
	defer own.Wait()
	defer stop()
	own.Go(func() { a.watch(ctx) })
	err := a.commands.Run(ctx)
	if errors.Is(err, commands.ErrEnds) {
		return errRestart
	}
	return err
}

const watchEvery = 2 * time.Second

func (a *appliance) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	told := a.standing()
	for {
		if a.id != nil {
			a.kiosk.SetNotice(notice(a))
		}
		if now := a.standing(); now != told {
			told = now
			a.link.Tell()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// standing is what the hub hears of at once when it changes.
type standing struct {
	camera, release  string
	attended, asleep bool
	until            time.Time // of the certificate
}

func (a *appliance) standing() standing {
	s := standing{attended: !a.kiosk.Unattended(), asleep: a.kiosk.Asleep()}
	if a.camera != nil {
		s.camera = string(a.camera.Health().State)
	}
	if a.id != nil {
		s.until = a.id.State().Until
	}
	s.release, _ = a.shown.release()
	return s
}

// notice is what staff see on the waiting screen, nil where all is well or only the line is down.
func notice(a *appliance) *kiosk.Notice {
	s := a.id.State()
	if s.Code == "" && s.Reason == "" {
		return nil
	}
	return &kiosk.Notice{Code: s.Code, Until: s.CodeUntil, Fingerprint: s.Fingerprint, Reason: s.Reason}
}

// health is what the kiosk tells the hub of itself and of the box.
func (a *appliance) health(dataDir string, started time.Time) wire.Health {
	h := wire.Health{UptimeS: int64(time.Since(started).Seconds()), Temperature: temperature()}
	if disk, err := hardware.Disk(dataDir); err == nil {
		h.DiskTotal = disk.Total
	}
	h.MemoryFree, h.MemoryTotal = memory()
	if synced, err := hardware.ClockSynced(); err == nil {
		h.ClockUnsynced = !synced
	}
	if a.id != nil {
		h.CertUntil = a.id.State().Until
	}
	h.Camera = "none"
	if a.camera != nil {
		c := a.camera.Health()
		h.Camera, h.CameraTrouble = string(c.State), c.Trouble
	}
	h.ReleaseID, h.ReleaseNumber = a.shown.release()
	if k := a.kiosk; k != nil {
		h.Attended, h.Asleep = !k.Unattended(), k.Asleep()
	}
	return h
}

// release is the id and number of what is shown.
func (c *content) release() (string, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return "", 0
	}
	m := c.current.release.Manifest()
	return m.ID, m.Number
}

// temperature is that of the hottest part that the kernel knows, in °C; 0 where it knows none.
func temperature() float64 {
	zones, err := filepath.Glob("/sys/class/thermal/thermal_zone*/temp")
	if err != nil {
		return 0
	}
	hottest := 0.0
	for _, zone := range zones {
		text, err := os.ReadFile(zone)
		if err != nil {
			continue
		}
		milli, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if t := float64(milli) / 1000; err == nil && t > hottest && t < 150 { // beyond is a broken sensor
			hottest = t
		}
	}
	return hottest
}

// memory is what programs could still have, and all there is, in bytes; 0 where that is not known.
func memory() (free, total uint64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		var kib uint64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			free = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "MemTotal: %d kB", &kib); n == 1 {
			total = kib << 10
		}
	}
	return free, total
}

// lastLines passes a log on and keeps its end, for staff who ask for it from afar.
type lastLines struct {
	to io.Writer

	mu   sync.Mutex
	held []byte // at most twice keepLog
}

const keepLog = 512 << 10 // bytes

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.held = append(l.held, p...)
	if len(l.held) > 2*keepLog {
		l.held = append([]byte(nil), l.held[len(l.held)-keepLog:]...)
	}
	l.mu.Unlock()
	return l.to.Write(p)
}

// compressed is the newest of the log, from the beginning of a line, in at most so many bytes of gzip.
func (l *lastLines) compressed(most int) ([]byte, error) {
	l.mu.Lock()
	text := bytes.Clone(l.held)
	l.mu.Unlock()
	for keep := min(len(text), keepLog); ; keep /= 2 {
		part := text[len(text)-keep:]
		if keep < len(text) {
			_, part, _ = bytes.Cut(part, []byte("\n"))
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(part)
		if err := errors.Join(err, w.Close()); err != nil {
			return nil, fmt.Errorf("compress log: %w", err)
		}
		if b.Len() <= most {
			return b.Bytes(), nil
		}
	}
}
