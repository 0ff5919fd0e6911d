package fleet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used of its machine since it began.
type Usage struct {
	CPU   time.Duration // of the program and of the kernel for it
	Calls uint64        // system calls that read or write, of files and connections
	MiB   float64       // of memory that is its own now: without mapped files, which the kernel takes back when it needs the room
}

// tick is the unit of processor times in /proc: the kernel gives them in USER_HZ, 100 a second on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// ProcessUsage asks the kernel about a process of this machine; 0 is this one.
func ProcessUsage(pid int) (u Usage, err error) {
	dir := "/proc/self/"
	if pid > 0 {
		dir = fmt.Sprintf("/proc/%d/", pid)
	}
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return Usage{}, fmt.Errorf("read what the process has used: %w", err)
	}
	// The name, in parentheses, may hold anything. After it come state (field 3), …, utime (14) and stime (15), see proc(5).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return Usage{}, fmt.Errorf("read what the process has used: %s: %d fields", dir+"stat", len(fields))
	}
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("read what the process has used: %w", err)
		}
		u.CPU += time.Duration(n) * tick
	}
	calls, err := readNumbers(dir+"io", "syscr", "syscw")
	if err != nil {
		return Usage{}, err
	}
	own, err := readNumbers(dir+"status", "RssAnon")
	if err != nil {
		return Usage{}, err
	}
	u.Calls, u.MiB = calls, float64(own)/1024
	return u, nil
}

// readNumbers adds up numbers of a file of lines "NAME: NUMBER".
func readNumbers(path string, names ...string) (sum uint64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read what the process has used: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		for _, wanted := range names {
			if name != wanted {
				continue
			}
			n, err := strconv.ParseUint(strings.Fields(value + " 0")[0], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read what the process has used: %s: %w", path, err)
			}
			sum += n
		}
	}
	return sum, nil
}

// use is what both sides have used.
type use struct{ kiosks, hub Usage }

func (f *fleet) use() (u use, err error) {
	if u.kiosks, err = ProcessUsage(0); err != nil {
		return use{}, fmt.Errorf("fleet: %w", err)
	}
	if f.opt.Hub != nil {
		if u.hub, err = f.opt.Hub(); err != nil {
			return use{}, fmt.Errorf("fleet: hub: %w", err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.PeakMiB.Kiosks = max(f.report.PeakMiB.Kiosks, u.kiosks.MiB)
	f.report.PeakMiB.Hub = max(f.report.PeakMiB.Hub, u.hub.MiB)
	return u, nil
}

// sample is how often memory is looked at.
const sample = 250 * time.Millisecond

// watch looks at memory until ctx ends. What cannot be read is told by the next mark.
func (f *fleet) watch(ctx context.Context) {
	for pause(ctx, sample) == nil {
		_, _ = f.use()
	}
}

// since is what both sides have used since a moment, for a number of events or connections.
func (f *fleet) since(before use, n int) (Cost, error) {
	now, err := f.use()
	if err != nil {
		return Cost{}, err
	}
	c := Cost{Kiosks: share(before.kiosks, now.kiosks, n)}
	if f.opt.Hub != nil {
		hub := share(before.hub, now.hub, n)
		c.Hub = &hub
	}
	return c, nil
}

func share(before, now Usage, n int) Share {
	cpu := now.CPU - before.CPU
	return Share{
		CPUS:      cpu.Seconds(),
		CPUEachUS: float64(cpu.Microseconds()) / float64(n),
		CallsEach: float64(now.Calls-before.Calls) / float64(n),
	}
}
