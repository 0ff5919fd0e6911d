package camera

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"docent/vision/camera/internal/wire"
)

// orders names a file in which the test says how its camera's process shall behave.
const orders = "CAMERA_TEST_ORDERS"

// TestMain makes the test binary behave as a camera's process where it was started as one.
func TestMain(m *testing.M) {
	switch file := os.Getenv(orders); {
	case file == "serve":
		if err := Serve(context.Background(), os.Stdin, os.NewFile(3, "frames"), func() { os.Exit(0) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case file != "":
		misbehave(file)
	default:
		flag.Parse()
		_ = flag.Set("test.parallel", "32") // they wait for processes, not for processors
		os.Exit(m.Run())
	}
}

// misbehave is a camera's process that does at every moment what the file says.
func misbehave(file string) {
	out := &spoiler{File: os.NewFile(3, "frames")}
	w := wire.NewWriter(out)
	random := rand.New(rand.NewPCG(1, uint64(os.Getpid())))
	frame := func(value func() byte) {
		pixels := make([]byte, 64*48*3)
		for i := range pixels {
			pixels[i] = value()
		}
		if w.Frame(64, 48, 3, pixels) != nil {
			os.Exit(0) // nobody is there
		}
	}
	noise := func() byte { return byte(100 + random.IntN(20)) }
	_ = w.Signal(wire.Opening)
	for {
		order, _ := os.ReadFile(file)
		switch string(order) {
		case "good":
			frame(noise)
		case "chatter":
			fmt.Fprintln(os.Stderr, strings.Repeat("[ WARN ] ", 1<<16))
			frame(noise)
		case "slow":
			_ = w.Signal(wire.Waiting)
			time.Sleep(time.Second)
			frame(noise)
		case "unplugged":
			_ = w.Fail("the camera is gone")
			return
		case "ends":
			fmt.Fprintln(os.Stderr, "cannot open rtsp://me:se%20cret@host/: se cret")
			os.Exit(3)
		case "killed":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "stands still":
			select {}
		case "blocked":
			_ = w.Signal(wire.Waiting)
		case "garbage":
			_, _ = out.WriteString("[h264 @ 0x55] error while decoding MB\n")
		case "endless":
			out.length = 1 << 31
			frame(noise)
		case "torn":
			_, _ = out.WriteString("DCM1\x03")
			return
		case "out of step":
			w = wire.NewWriter(out)
			frame(noise)
		case "frozen":
			frame(func() byte { return byte(100 + 0) })
		case "frozen scene":
			i := 0
			frame(func() byte { i++; return byte(i * 7) })
		case "black":
			frame(func() byte { return byte(random.IntN(3)) })
		case "leaves an heir":
			heir := exec.Command("sleep", "600")
			heir.Stdout, heir.Stderr, heir.ExtraFiles = os.Stderr, os.Stderr, []*os.File{out.File}
			_ = heir.Start()
			_ = os.WriteFile(file+".heir", strconv.AppendInt(nil, int64(heir.Process.Pid), 10), 0o600)
			os.Exit(0)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// spoiler changes the length in the heads of messages where one is set.
type spoiler struct {
	*os.File
	length uint32
}

func (s *spoiler) Write(p []byte) (int, error) {
	if s.length > 0 && bytes.HasPrefix(p, []byte("DCM1")) {
		p = bytes.Clone(p)
		binary.LittleEndian.PutUint32(p[14:], s.length)
	}
	return s.File.Write(p)
}

// unruly is a camera whose process obeys the test.
type unruly struct {
	*Camera
	file   string
	opener *Opener
}

// unrulyCamera starts a camera whose process behaves well.
func unrulyCamera(t *testing.T, order string) *unruly {
	t.Helper()
	u := &unruly{file: filepath.Join(t.TempDir(), "orders")}
	u.order(t, order)
	o, err := NewOpener("/dev/video0", Settings{}, u.program, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	u.opener = o
	u.Camera = Start(Options{Open: o.Open, Random: func() float64 { return .2 }, Logger: o.log})
	t.Cleanup(func() { closeInTime(t, u.Camera) })
	return u
}

func (u *unruly) program() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orders+"="+u.file)
	return cmd
}

func (u *unruly) order(t *testing.T, order string) {
	t.Helper()
	next := u.file + ".next"
	if err := os.WriteFile(next, []byte(order), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, u.file); err != nil {
		t.Fatal(err)
	}
}

// await waits for a state. The deadline is for a machine that is very busy.
func await(t *testing.T, c *Camera, want State) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	look := time.NewTicker(100 * time.Millisecond) // time alone changes the state, too
	defer look.Stop()
	for c.State() != want {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-look.C:
		case <-deadline:
			t.Fatalf("the camera is %+v, want %s", c.Health(), want)
		}
	}
}

// awaitTrouble waits until a lost camera says what is wrong. On a busy machine it may know that frames are missing before
// it knows why.
func awaitTrouble(t *testing.T, c *Camera, want string) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for h := c.Health(); !strings.Contains(h.Trouble, want); h = c.Health() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("health %+v, want trouble %q", h, want)
		}
	}
}

// closeInTime closes a camera, which must not hang.
func closeInTime(t *testing.T, c *Camera) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("close camera: %v", err)
		}
	case <-time.After(time.Minute):
		stacks := make([]byte, 1<<20)
		t.Fatalf("closing hangs\n%s", stacks[:runtime.Stack(stacks, true)])
	}
}

// TestCameraOutlivesItsProcess lets a camera's process do everything wrong that one can: each time the camera says so,
// and is ready again by itself when the process works again.
func TestCameraOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	for order, trouble := range map[string]string{
		"unplugged":      "the camera is gone",
		"ends":           "exit status 3",
		"killed":         "signal: killed",
		"stands still":   "stands still",
		"blocked":        "no frame came",
		"garbage":        `it begins with "[h26"`,
		"endless":        "2147483648 bytes",
		"torn":           "ended",
		"out of step":    "its number is 1",
		"frozen scene":   "again and again",
		"frozen":         "one colour",
		"black":          "black",
		"leaves an heir": "stands still",
	} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			u := unrulyCamera(t, "good")
			await(t, u.Camera, StateReady)
			view, err := u.Preview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			u.order(t, order)
			await(t, u.Camera, StateAlert)
			for range view { // it must end
			}
			awaitTrouble(t, u.Camera, trouble)
			if _, err := u.Burst(t.Context(), 2); !errors.Is(err, ErrNotReady) {
				t.Errorf("burst of a lost camera: %v", err)
			}
			u.order(t, "good")
			await(t, u.Camera, StateReady)
			p, err := u.Burst(t.Context(), 3)
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
		})
	}
}

// TestFiveSeconds keeps the waits below the time within which a lost camera must show.
func TestFiveSeconds(t *testing.T) {
	const within = 5 * time.Second
	for name, d := range map[string]time.Duration{
		"quiet": quiet + beatEvery, "no frame": frameWait + beatEvery, "silence": silence, "blank": blankFor,
		"frozen camera": patienceWith[kindDevice].frozen, "frozen stream": patienceWith[kindStream].frozen,
	} {
		if d >= within {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func TestSlowAndTalkativeCamerasAreReady(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"slow", "chatter"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			u := unrulyCamera(t, order)
			await(t, u.Camera, StateReady)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			p, err := u.Burst(ctx, 5)
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			if h := u.Health(); h.Opened != 1 || h.State != StateReady {
				t.Errorf("health %+v, want a camera that was opened once", h)
			}
		})
	}
}

func TestCameraThatNeverOpens(t *testing.T) {
	t.Parallel()
	u := unrulyCamera(t, "blocked")
	await(t, u.Camera, StateAlert)
	if h := u.Health(); !strings.Contains(h.Trouble, "no frame came in the first 1") {
		t.Errorf("health %+v", h)
	}
}

func TestCloseEndsAProcessThatHangs(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"stands still", "blocked", "good", "leaves an heir"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			u := unrulyCamera(t, "good")
			await(t, u.Camera, StateReady)
			u.order(t, order)
			if order == "leaves an heir" {
				await(t, u.Camera, StateAlert)
				pid, err := os.ReadFile(u.file + ".heir")
				if err != nil {
					t.Fatal(err)
				}
				wantGone(t, string(pid))
			}
			closeInTime(t, u.Camera)
		})
	}
}

// wantGone waits until a process is gone, or is a zombie that somebody else has to bury.
func wantGone(t *testing.T, pid string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
	}
	t.Errorf("process %s is still there", pid)
}

func TestPasswordsAreHidden(t *testing.T) {
	u := unrulyCamera(t, "ends")
	var log lockedBuffer
	o, err := NewOpener("rtsp://me:se%20cret@host/", Settings{}, u.program, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	src, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	dst := gocv.NewMat()
	defer func() { dst.Close() }()
	err = src.Read(t.Context(), &dst)
	if err == nil || !strings.Contains(err.Error(), "xxxxx") || strings.Contains(err.Error(), "cret") {
		t.Errorf("error %v, want one without the password", err)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if text := log.String(); !strings.Contains(text, "xxxxx") || strings.Contains(text, "cret") {
		t.Errorf("log %s, want one without the password", text)
	}
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestSecretsStayHere(t *testing.T) {
	got := withoutSecrets([]string{"PATH=/bin", "DOCENT_MODEL_KEY=k", "LANG=C", "NOT_DOCENT_=x"})
	if len(got) != 3 || strings.Contains(strings.Join(got, " "), "KEY") {
		t.Errorf("environment %v", got)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	w := &tail{hide: []string{"secret"}}
	for i := range 5000 {
		fmt.Fprintf(w, "line %d secret\n", i)
	}
	lines := w.lines()
	if len(w.text) > 2*maxWords || lines[len(lines)-1] != "line 4999 xxxxx" || !strings.HasPrefix(lines[0], "line ") {
		t.Errorf("%d bytes kept, from %q to %q", len(w.text), lines[0], lines[len(lines)-1])
	}
}

// TestProcessesThatCannotBeKilledAreCounted lets an opener believe that it left some behind.
func TestProcessesThatCannotBeKilledAreCounted(t *testing.T) {
	u := unrulyCamera(t, "good")
	ended := make(chan struct{})
	for range maxStuck {
		u.opener.leave(ended)
	}
	if _, err := u.opener.Open(); !errors.Is(err, errStuckProcesses) {
		t.Errorf("open with %d stuck processes: %v", maxStuck, err)
	}
	close(ended)
	src, err := u.opener.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenerWithoutItsProgram(t *testing.T) {
	o, err := NewOpener("0", Settings{}, func() *exec.Cmd { return exec.Command("/no/such/program") }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Open(); err == nil {
		t.Error("opened")
	}
	if _, err := NewOpener("gopher://x", Settings{}, nil, nil); !errors.Is(err, ErrSpec) {
		t.Errorf("opener of nonsense: %v", err)
	}
}

// TestServe reads what a camera's process writes, in this process.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	for name, c := range map[string]struct {
		ask  string
		want wire.Kind
		text string
	}{
		"pictures":       {fmt.Sprintf("{%q:%q,%q:60}\n", "source", dir, "frame_rate"), wire.Frame, ""},
		"no such camera": {`{"source":"/dev/video251"}` + "\n", wire.Failed, "/dev/video251"},
		"nonsense":       {`{"source":"gopher://x"}` + "\n", wire.Failed, "gopher"},
	} {
		t.Run(name, func(t *testing.T) {
			in, ask := io.Pipe()
			frames, out := io.Pipe()
			orphaned := make(chan struct{})
			served := make(chan error, 1)
			go func() { served <- Serve(t.Context(), in, out, func() { close(orphaned) }) }()
			if _, err := ask.Write([]byte(c.ask)); err != nil {
				t.Fatal(err)
			}
			r := wire.NewReader(frames)
			var m wire.Message
			for m.Kind != c.want {
				var err error
				if m, err = r.Next(func(w, h, c int) ([]byte, error) { return make([]byte, w*h*c), nil }); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(m.Text, c.text) {
				t.Errorf("failure %q, want %q", m.Text, c.text)
			}
			ask.Close()
			<-orphaned
			go io.Copy(io.Discard, frames) // what was under way
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
	for _, ask := range []string{"", "{}", "nonsense\n", strings.Repeat("x", maxRequest+1) + "\n"} {
		if err := Serve(t.Context(), strings.NewReader(ask), io.Discard, func() {}); err == nil {
			t.Errorf("served %.20q", ask)
		}
	}
}
