package camera

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"gocv.io/x/gocv"

	"docent/vision/camera/internal/wire"
)

// beatEvery is how often a camera's process says that it lives. It is far below [quiet].
const beatEvery = 500 * time.Millisecond

// giveUp is how long a camera's process waits for OpenCV when it ends.
const giveUp = time.Second

// request is what an [Opener] asks of a camera's process, as one line of JSON on its standard input. An address may
// hold a password, which everybody on the machine could read among the arguments of a process.
type request struct {
	Source    string  `json:"source"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	FrameRate float64 `json:"frame_rate"`
}

const maxRequest = 16 << 10

// Serve is what the process of an [Opener] does: it opens the source it is asked for on in and writes its frames to
// out, scaled down to [vision.MaxSide], until the source fails, ctx is done, or in ends, which says that nobody is
// there to read them. Then it calls orphaned, which should end the process: OpenCV may never return. The error is
// about out and about what was asked; that a camera fails is told on out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, orphaned func()) error {
	lines := bufio.NewReaderSize(in, maxRequest)
	line, err := lines.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read what camera to open: %w", err)
	}
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("read what camera to open: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // until in ends, which it does at the latest with this process
		_, _ = io.Copy(io.Discard, lines)
		cancel()
		orphaned()
	}()
	s := Settings{Width: r.Width, Height: r.Height, FrameRate: r.FrameRate}.withDefaults()
	p := newPump()
	go p.run(ctx, r.Source, s)
	err = p.write(ctx, wire.NewWriter(out), time.Duration(float64(time.Second)/s.FrameRate))
	cancel()
	select { // OpenCV cannot be interrupted; the process's end ends it
	case <-p.done:
	case <-time.After(giveUp):
	}
	return err
}

// pump hands frames from the goroutine that reads the source to the one that writes them. It holds one: what is not
// written before the next comes is left out, so that a slow reader sees the present.
type pump struct {
	changed chan struct{} // holds one token after each change
	done    chan struct{} // closed when the source is closed

	mu     sync.Mutex
	opened bool
	fresh  bool
	frame  gocv.Mat
	failed error
}

func newPump() *pump {
	return &pump{changed: make(chan struct{}, 1), done: make(chan struct{}), frame: gocv.NewMat()}
}

// run opens and reads the source until it fails or ctx is done.
func (p *pump) run(ctx context.Context, spec string, s Settings) {
	defer close(p.done)
	err := p.pour(ctx, spec, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = err
	p.frame.Close()
	p.fresh = false
	p.tell()
}

func (p *pump) pour(ctx context.Context, spec string, s Settings) error {
	src, err := Open(spec, s)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.opened = true
	p.mu.Unlock()
	read := gocv.NewMat()
	defer func() { read.Close() }()
	for {
		if err := readBGR(ctx, src, &read); err != nil {
			return errors.Join(err, src.Close())
		}
		if max(read.Cols(), read.Rows()) > wire.MaxSide {
			scaleTo(&read, wire.MaxSide)
		}
		p.mu.Lock()
		p.frame, read = read, p.frame
		p.fresh = true
		p.tell()
		p.mu.Unlock()
	}
}

func (p *pump) tell() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// write writes frames, at most about one each interval, and signs of life between them.
func (p *pump) write(ctx context.Context, w *wire.Writer, interval time.Duration) error {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	out := gocv.NewMat()
	defer func() { out.Close() }()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if err := w.Signal(p.stage()); err != nil {
				return err
			}
			continue
		case <-p.changed:
		}
		fresh, failed := p.take(&out)
		if failed != nil {
			return w.Fail(failed.Error())
		}
		// Cameras that know no other rate than 30 give twice what is asked for by default.
		if now := time.Now(); fresh && now.Sub(last) > interval*3/4 {
			last = now
			if err := writeFrame(w, out); err != nil {
				return err
			}
		}
	}
}

func (p *pump) stage() wire.Kind {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened {
		return wire.Waiting
	}
	return wire.Opening
}

// take swaps the newest frame with *out, where there is a new one.
func (p *pump) take(out *gocv.Mat) (fresh bool, failed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil || !p.fresh {
		return false, p.failed
	}
	p.frame, *out = *out, p.frame
	p.fresh = false
	return true, nil
}

func writeFrame(w *wire.Writer, img gocv.Mat) error {
	pixels, err := img.DataPtrUint8()
	if err != nil {
		return err
	}
	return w.Frame(img.Cols(), img.Rows(), img.Channels(), pixels)
}
