package camera

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"gocv.io/x/gocv"

	"docent/vision/camera/internal/wire"
)

// How long a camera's process may take. Together with the kill they keep the 5 s within which a lost camera must show.
const (
	quiet     = 4 * time.Second // without any message: the process itself stands still
	frameWait = 4 * time.Second // between two frames: OpenCV stands still
	killWait  = 2 * time.Second // for a process that was killed to end
)

// startWait is how long a process may take to say its first word. It loads some 260 libraries, which takes a busy board
// many seconds from a slow disk; nobody waits for a picture meanwhile that was there before.
const startWait = 30 * time.Second

// patience is what is expected of a kind of source.
type patience struct {
	open   time.Duration // until the first frame
	frozen time.Duration // how long the same frame may repeat; 0 where frames come from no sensor
}

// A sensor's noise makes every frame of a camera another one, however still the scene. A stream's encoder may drop the
// noise and repeat a still scene exactly, though hardly for so long. Video files hold whatever somebody put in them.
var patienceWith = map[kind]patience{
	kindDevice: {open: 10 * time.Second, frozen: 2 * time.Second},
	kindStream: {open: 20 * time.Second, frozen: 4 * time.Second},
	kindVideo:  {open: 10 * time.Second},
}

var (
	errSilent = errors.New("its process stands still")
	errEnded  = errors.New("its process ended")
)

// process is a source in a process of its own.
type process struct {
	opener   *Opener
	cmd      *exec.Cmd
	in       *wire.Reader
	pipe     *os.File
	lifeline io.Closer // the process ends when this is closed
	words    *tail
	patience patience

	ended chan struct{} // closed when the process is gone
	heard bool          // whether there was a message
	shown bool          // whether there was a frame
	last  time.Time     // of the last frame, before it of the first message
}

var (
	_ Source = (*process)(nil)
	_ live   = (*process)(nil)
)

func startProcess(o *Opener, p patience) (*process, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start camera's process: %w", err)
	}
	defer theirs.Close()
	cmd := o.program()
	words := &tail{hide: passwords(o.spec)}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr = words
	cmd.WaitDelay = time.Second // for whoever else holds its error output
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // Ctrl-C is for us; we end the process and what it started
	cmd.Env = withoutSecrets(cmd.Environ())
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start camera's process: %w", err), ours.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start camera's process: %w", err), ours.Close(), lifeline.Close())
	}
	c := &process{
		opener: o, cmd: cmd, in: wire.NewReader(ours), pipe: ours, lifeline: lifeline, words: words, patience: p,
		ended: make(chan struct{}),
	}
	go func() { // ends with the process; Close waits for it
		defer close(c.ended)
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
		for _, line := range words.lines() {
			o.log.Debug("camera's process said", "line", line)
		}
	}()
	if err := c.ask(o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// withoutSecrets leaves out the product's own settings: the process has no use for the keys among them.
func withoutSecrets(env []string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, "DOCENT_") {
			out = append(out, v)
		}
	}
	return out
}

// ask tells the process what to open. The pipe has room for all of it, so this does not wait.
func (c *process) ask(o *Opener) error {
	line, err := json.Marshal(request{Source: o.spec, Width: o.settings.Width, Height: o.settings.Height, FrameRate: o.settings.FrameRate})
	if err == nil && len(line) >= maxRequest {
		err = errors.New("the address is too long")
	}
	if err == nil {
		_, err = c.lifeline.(io.Writer).Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("ask camera's process: %w", err)
	}
	return nil
}

// Read waits for the next frame, within the source's patience. After an error there is nothing to do but close.
func (c *process) Read(ctx context.Context, dst *gocv.Mat) error {
	stop := context.AfterFunc(ctx, func() { _ = c.pipe.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		wait := quiet
		if !c.heard {
			wait = startWait
		}
		if err := c.pipe.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return fmt.Errorf("read camera: %w", err)
		}
		if ctx.Err() != nil { // looked at after the deadline was set, which may have undone that of stop
			return ctx.Err()
		}
		m, err := c.in.Next(func(width, height, channels int) ([]byte, error) { return room(dst, width, height, channels) })
		if err != nil {
			return c.explain(ctx, err)
		}
		if !c.heard {
			c.heard, c.last = true, time.Now()
		}
		switch m.Kind {
		case wire.Frame:
			c.last, c.shown = time.Now(), true
			return nil
		case wire.Failed:
			return errors.New(m.Text)
		}
		if err := c.late(m.Kind); err != nil {
			return err
		}
	}
}

// late says whether the next frame is overdue.
func (c *process) late(stage wire.Kind) error {
	switch waited := time.Since(c.last); {
	case c.shown && waited > frameWait:
		return fmt.Errorf("%w for %.0f s", errNoFrame, waited.Seconds())
	case !c.shown && waited > c.patience.open && stage == wire.Opening:
		return fmt.Errorf("the camera does not open within %.0f s", waited.Seconds())
	case !c.shown && waited > c.patience.open:
		return fmt.Errorf("%w in the first %.0f s", errNoFrame, waited.Seconds())
	}
	return nil
}

// explain makes sense of an error of the pipe.
func (c *process) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("read camera: %w", errSilent)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		select {
		case <-c.ended:
			return fmt.Errorf("read camera: %w (%s)%s", errEnded, c.cmd.ProcessState, c.words.last())
		case <-time.After(killWait):
			return fmt.Errorf("read camera: %w its frames", errEnded)
		}
	}
	return fmt.Errorf("read camera: %w", err)
}

// Frozen is how long a frame of this source may repeat, 0 where it is not live.
func (c *process) Frozen() time.Duration { return c.patience.frozen }

// Close kills the process. One that does not end is left behind, and the opener counts those.
func (c *process) Close() error {
	err := errors.Join(ignoreClosed(c.lifeline.Close()), c.pipe.Close())
	// The whole group, as GStreamer starts helpers of its own. It may have ended: that is what is wanted.
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	t := time.NewTimer(killWait)
	defer t.Stop()
	select {
	case <-c.ended:
	case <-t.C:
		c.opener.leave(c.ended)
		err = errors.Join(err, fmt.Errorf("end camera's process %d: it hangs in the system", c.cmd.Process.Pid))
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) { // closed when the process ended
		return nil
	}
	return err
}

// room makes dst a picture of that size and returns its memory.
func room(dst *gocv.Mat, width, height, channels int) ([]byte, error) {
	typ := gocv.MatTypeCV8UC3
	if channels == 1 {
		typ = gocv.MatTypeCV8UC1
	}
	if dst.Cols() != width || dst.Rows() != height || dst.Type() != typ || !dst.IsContinuous() {
		dst.Close()
		*dst = gocv.NewMatWithSize(height, width, typ)
	}
	return dst.DataPtrUint8()
}

// passwords are the password in the address of a stream, as it is written there and as it is meant.
func passwords(spec string) []string {
	u, err := url.Parse(spec)
	if err != nil || u.User == nil {
		return nil
	}
	meant, _ := u.User.Password()
	_, written, _ := strings.Cut(u.User.String(), ":")
	if meant == "" {
		return nil
	}
	return []string{meant, written}
}

// maxWords is how much of what a process says is kept, in bytes: the last of it.
const maxWords = 4 << 10

// tail keeps the end of what is written to it, without passwords that OpenCV or FFmpeg may print with an address.
type tail struct {
	hide []string

	mu   sync.Mutex
	text []byte
	cut  bool // the first line is not whole
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*maxWords {
		t.text = append([]byte(nil), t.text[len(t.text)-maxWords:]...)
		t.cut = true
	}
	return len(p), nil
}

func (t *tail) lines() []string {
	t.mu.Lock()
	text, cut := strings.ToValidUTF8(string(t.text), "\uFFFD"), t.cut
	t.mu.Unlock()
	if cut { // which may begin in the middle of a password
		_, text, _ = strings.Cut(text, "\n")
	}
	for _, secret := range t.hide {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
}

// last is the last line, to be added to an error.
func (t *tail) last() string {
	lines := t.lines()
	if len(lines) == 0 {
		return ""
	}
	return ": " + lines[len(lines)-1]
}
