// Package command does what a hub asks of a kiosk: each command once, however often it comes, and not at all when it
// comes too late.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"docent/internal/durable"
	"docent/sync/wire"
)

// Bounds.
const (
	queueLen   = 32 // commands waiting; more are dropped, the hub asks again
	maxEntries = 64 // commands remembered
	maxJournal = 256 << 10
	doTimeout  = 30 * time.Second // for one command
)

// Answer is what came of a command.
type Answer struct {
	Detail string // for a person
	Type   string // of Data
	Data   []byte // at most wire.MaxResultData
}

// ErrUnsupported is for what this box cannot do; its text says why.
var ErrUnsupported = errors.New("this kiosk cannot")

// ErrRefused is for what this kiosk will not do now; its text says why.
var ErrRefused = errors.New("not now")

// ErrEnds is returned by an action that ends the program. The command is answered after the next start.
var ErrEnds = errors.New("the program ends")

// Action does a command.
type Action func(ctx context.Context, c wire.Command) (Answer, error)

// Options of a Runner. Path, Actions and Send are required.
type Options struct {
	Path    string // of the journal file
	Actions map[wire.CommandName]Action
	Send    func(wire.Result) error // may fail: the hub asks again
	Logger  *slog.Logger            // nil discards
	Clock   func() time.Time        // nil means time.Now
}

// Runner does commands one after the other.
type Runner struct {
	opt     Options
	queue   chan received
	entries []entry // the newest last; Run's alone
}

type received struct {
	wire.Command
	until time.Time // by this kiosk's clock, with its monotonic part
}

// entry is a line of the journal: what was begun, and how it ended.
type entry struct {
	ID     string           `json:"id"`
	Name   wire.CommandName `json:"name"`
	Result *wire.Result     `json:"result,omitempty"` // without data; nil: begun
}

// New reads the journal. One that cannot be read is begun anew: then a command that comes again is done again.
func New(opt Options) (*Runner, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	r := &Runner{opt: opt, queue: make(chan received, queueLen)}
	entries, err := readJournal(opt.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		opt.Logger.Warn("journal of commands cannot be read, a new one begins", "err", err)
	}
	r.entries = entries
	if err := r.settle(); err != nil {
		return nil, err
	}
	return r, nil
}

// settle answers what was begun before the program ended: a restart is done by that, all else was interrupted.
func (r *Runner) settle() error {
	open := false
	for i := range r.entries {
		e := &r.entries[i]
		if e.Result != nil {
			continue
		}
		open = true
		e.Result = &wire.Result{ID: e.ID, Status: wire.ResultFailed, Detail: "the program ended meanwhile", At: r.opt.Clock()}
		if e.Name == wire.CommandRestart {
			e.Result.Status, e.Result.Detail = wire.ResultDone, "started again"
		}
	}
	if !open {
		return nil
	}
	return r.write()
}

// Receive takes a command for Run to do. It does not block.
func (r *Runner) Receive(c wire.Command) {
	select {
	case r.queue <- received{c, r.opt.Clock().Add(c.Left())}:
	default:
		r.opt.Logger.Warn("too many commands wait, one is dropped", "command", c.Name)
	}
}

// Run does commands until ctx ends or one ends the program; then it returns ErrEnds.
func (r *Runner) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-r.queue:
			if err := r.do(ctx, c); err != nil {
				return err
			}
		}
	}
}

// reads tells whether a command changes nothing: then it is done again, when it comes again, for its data.
func reads(name wire.CommandName) bool {
	return name == wire.CommandLogs || name == wire.CommandScreenshot
}

func (r *Runner) do(ctx context.Context, c received) error {
	if i := slices.IndexFunc(r.entries, func(e entry) bool { return e.ID == c.ID }); i >= 0 && !reads(c.Name) {
		r.send(*r.entries[i].Result)
		return nil
	}
	action := r.opt.Actions[c.Name]
	result := wire.Result{ID: c.ID}
	switch {
	case !r.opt.Clock().Before(c.until):
		result.Status, result.Detail = wire.ResultExpired, "it came too late"
	case action == nil:
		result.Status, result.Detail = wire.ResultUnsupported, "this kiosk does not know the command"
	default:
		if !reads(c.Name) {
			if err := r.begin(c.Command); err != nil {
				// Not noted, it could be done twice: rather not at all.
				result.Status, result.Detail = wire.ResultFailed, "it could not be noted: "+err.Error()
				break
			}
		}
		answer, err := r.act(ctx, action, c.Command)
		if errors.Is(err, ErrEnds) {
			return err
		}
		result.Status, result.Detail, result.Type, result.Data = wire.ResultDone, answer.Detail, answer.Type, answer.Data
		switch {
		case errors.Is(err, ErrUnsupported):
			result.Status, result.Detail = wire.ResultUnsupported, err.Error()
		case errors.Is(err, ErrRefused):
			result.Status, result.Detail = wire.ResultRefused, err.Error()
		case err != nil:
			result.Status, result.Detail = wire.ResultFailed, err.Error()
		}
	}
	result.At = r.opt.Clock()
	if len(result.Detail) > 512 {
		result.Detail = strings.ToValidUTF8(result.Detail[:512], "")
	}
	r.opt.Logger.Info("command", "command", c.Name, "id", c.ID, "status", result.Status, "detail", result.Detail)
	if !reads(c.Name) {
		if err := r.end(c.Command, result); err != nil {
			r.opt.Logger.Error("result of a command not noted", "err", err)
		}
	}
	r.send(result)
	return nil
}

func (r *Runner) act(ctx context.Context, action Action, c wire.Command) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, doTimeout)
	defer cancel()
	return action(ctx, c)
}

func (r *Runner) send(res wire.Result) {
	if err := r.opt.Send(res); err != nil {
		r.opt.Logger.Debug("result not sent, the hub asks again", "err", err)
	}
}

// begin notes a command before it is done.
func (r *Runner) begin(c wire.Command) error {
	r.entries = append(r.entries, entry{ID: c.ID, Name: c.Name})
	if len(r.entries) > maxEntries {
		r.entries = slices.Delete(r.entries, 0, len(r.entries)-maxEntries)
	}
	if err := r.write(); err != nil {
		r.entries = r.entries[:len(r.entries)-1]
		return err
	}
	return nil
}

// end notes how it ended.
func (r *Runner) end(c wire.Command, res wire.Result) error {
	res.Data, res.Type = nil, ""
	if n := len(r.entries); n > 0 && r.entries[n-1].ID == c.ID {
		r.entries[n-1].Result = &res
		return r.write()
	}
	r.entries = append(r.entries, entry{ID: c.ID, Name: c.Name, Result: &res})
	if len(r.entries) > maxEntries {
		r.entries = slices.Delete(r.entries, 0, len(r.entries)-maxEntries)
	}
	return r.write()
}

func (r *Runner) write() error {
	data, err := json.Marshal(r.entries)
	if err == nil {
		err = durable.WriteFile(r.opt.Path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note command: %w", err)
	}
	return nil
}

func readJournal(path string) ([]entry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxJournal {
		return nil, fmt.Errorf("%d bytes, at most %d", info.Size(), maxJournal)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseJournal(data)
}

func parseJournal(data []byte) ([]entry, error) {
	var entries []entry
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, err
	}
	if len(entries) > maxEntries {
		entries = entries[len(entries)-maxEntries:]
	}
	for _, e := range entries {
		if e.Result != nil {
			if err := e.Result.Validate(); err != nil || e.Result.ID != e.ID {
				return nil, fmt.Errorf("entry %s is damaged", e.ID)
			}
		}
	}
	return entries, nil
}
