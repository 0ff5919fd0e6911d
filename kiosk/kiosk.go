package kiosk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/agent"
	"docent/agent/memory"
	"docent/kiosk/picture"
	"docent/kiosk/visit"
	"docent/localindex"
	"docent/vision"
	"docent/vision/camera"
)

// Camera gives photos, a preview, and how the live picture would do as a photo.
type Camera interface {
	Health() camera.Health
	// Burst returns the sharpest of n frames, which the caller closes.
	Burst(ctx context.Context, n int) (vision.Photo, error)
	// Preview returns JPEG frames until ctx is done or the camera fails.
	Preview(ctx context.Context) (<-chan []byte, error)
	// Quality returns measurements until ctx is done or the camera fails.
	Quality(ctx context.Context) (<-chan camera.Quality, error)
}

// Guide answers questions from a library.
type Guide interface {
	// Answer returns the events of one turn on a channel, which is closed when the turn is over or soon after ctx is
	// done.
	Answer(ctx context.Context, lib agent.Library, t agent.Turn) <-chan agent.Event
}

var (
	_ Camera = (*camera.Camera)(nil)
	_ Guide  = (*agent.Guide)(nil)
)

// Options are the parts of a kiosk. They stay the caller's, who closes them after [Kiosk.Run] has returned.
type Options struct {
	Config Config
	// Release and Recogniser are the content to begin with; both nil where there is none yet, and then everything
	// that needs content answers "not ready".
	Release    *localindex.Release
	Recogniser Recogniser
	Camera     Camera      // nil: a kiosk without a camera
	Labels     LabelReader // nil: labels are not read
	Guide      Guide       // required
	Events     Events      // nil: nothing is remembered
	Hub        HubLine     // nil: passes of visits are not given, nor taken
	Codes      CodeReader  // nil: the camera reads no passes
	// Extract asks a model what visitors say about themselves, beside the rules; nil: the rules alone.
	Extract func(ctx context.Context, system, user string) (string, error)
	Pages   fs.FS // the built page, index.html at the root; nil: none
	Logger  *slog.Logger
	Clock   func() time.Time // default time.Now
	// Traces are the records of the guide's turns; nil: staff cannot read any.
	Traces Traces
	// Status is what staff read on the diagnostics page about the parts outside the kiosk, by name: "version", "link",
	// "outbox"; and for everybody, as /readyz tells it, "hub": whether that is connected, in a word. Nil: nothing.
	Status func() map[string]string
}

// Kiosk is the appliance's server.
type Kiosk struct {
	config   Config
	camera   Camera
	labels   LabelReader
	guide    Guide
	events   Events
	pages    pages
	log      *slog.Logger
	now      func() time.Time
	shelf    shelf
	visits   *visit.Store
	memory   *memory.Memory
	photos   *photoShelf
	pictures *picture.Cache
	metrics  *metrics
	traces   Traces
	turns    turns
	passes   passDesk
	codes    CodeReader
	extract  func(ctx context.Context, system, user string) (string, error)
	forPage

	memoryStore  io.Closer
	recognitions chan struct{} // a slot for each photo that is worked on
	answers      chan struct{} // a slot for each answer under way

	app      *fiber.App
	listener *steadyListener
	ready    atomic.Bool
	// stopping is done when streams shall end.
	stopping context.Context
	stop     context.CancelFunc
	streams  tracker
}

const (
	sweepEvery   = 15 * time.Second
	shutdownWait = 3 * time.Second // for clients to take what they are being sent
)

// New checks the configuration, opens the visits and begins to listen; [Kiosk.Addr] is known from then on, and
// connections wait until [Kiosk.Run]. The caller runs the kiosk, or closes it.
func New(o Options) (*Kiosk, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, err
	}
	if o.Guide == nil {
		return nil, errors.New("new kiosk: no guide")
	}
	if (o.Release == nil) != (o.Recogniser == nil) {
		return nil, errors.New("new kiosk: a release and its recogniser come together")
	}
	k := &Kiosk{
		config: o.Config, camera: o.Camera, labels: o.Labels, guide: o.Guide, events: o.Events, log: o.Logger, now: o.Clock,
		photos:       newPhotoShelf(o.Config.Limits.PhotoMiB << 20),
		pictures:     picture.NewCache(o.Config.Limits.PictureCacheMiB << 20),
		recognitions: make(chan struct{}, o.Config.Limits.Recognitions),
		answers:      make(chan struct{}, o.Config.Limits.Answers),
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	if k.now == nil {
		k.now = time.Now
	}
	k.traces = o.Traces
	if k.traces == nil {
		k.traces = noTraces{}
	}
	k.forPage = newForPage(o, k.now())
	k.passes, k.codes, k.extract = newPassDesk(o), o.Codes, o.Extract
	k.stopping, k.stop = context.WithCancel(context.Background())
	k.recallEmergency()
	if o.Release != nil {
		k.shelf.replace(newContent(o.Release, o.Recogniser))
	}
	var err error
	if k.pages, err = readPages(o.Pages); err != nil {
		return nil, fmt.Errorf("new kiosk: %w", err)
	}
	k.visits, err = visit.Open(filepath.Join(o.Config.DataDir, "visits"), visit.Options{
		Kiosk: o.Config.Kiosk, TTL: o.Config.Visit.TTL, Now: k.now, Logger: k.log,
	})
	if err != nil {
		return nil, fmt.Errorf("new kiosk: %w", err)
	}
	if err := k.openMemory(); err != nil {
		return nil, errors.Join(fmt.Errorf("new kiosk: %w", err), k.visits.Close())
	}
	if err := k.traces.Sweep(k.visits.Open); err != nil {
		k.log.Warn("traces of visits that ended", "error", err)
	}
	listener, err := net.Listen("tcp", o.Config.Listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("new kiosk: %w", err), k.memoryStore.Close(), k.visits.Close())
	}
	k.listener = newSteadyListener(listener)
	k.metrics = newMetrics(k)
	k.app = k.routes()
	return k, nil
}

// Addr is the address the kiosk listens on.
func (k *Kiosk) Addr() string { return k.listener.Addr().String() }

// Switch makes another release the current one, and returns when nobody uses the one before any more, which may then
// be closed. It returns earlier, with the context's error, when ctx is done; the new release is current all the same.
func (k *Kiosk) Switch(ctx context.Context, r *localindex.Release, rec Recogniser) error {
	next := newContent(r, rec)
	k.prepareFor(next) // before it is shown, so that the first question about it does not wait
	unused := k.shelf.replace(next)
	select {
	case <-unused:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the release before to be unused: %w", ctx.Err())
	}
}

// Run serves until ctx is done or the server fails, ends what is under way, closes the visits, and returns. It is
// called once.
func (k *Kiosk) Run(ctx context.Context) error {
	served := make(chan error, 1)
	var own sync.WaitGroup
	own.Go(func() { served <- k.app.Listener(k.listener) })
	own.Go(k.sweep)
	own.Go(func() { k.memory.Run(k.stopping) })
	own.Go(k.follow)
	own.Go(k.prepare)
	k.ready.Store(true)
	k.log.Debug("kiosk serves", "address", k.Addr())

	var failed error
	select {
	case <-ctx.Done():
	case failed = <-served:
		failed = fmt.Errorf("serve kiosk: %w", failed)
	}
	k.ready.Store(false)
	k.listener.hurry()
	k.stop()
	k.streams.close()
	if err := k.app.ShutdownWithTimeout(shutdownWait); err != nil && failed == nil {
		k.log.Info("clients did not leave in time and are cut off", "error", err)
		k.listener.cut()
	}
	_ = k.listener.Close() // where the server had not begun to serve yet, shutting it down did not
	own.Wait()
	k.streams.wait()
	return errors.Join(failed, k.memoryStore.Close(), k.visits.Close())
}

// Close ends a kiosk that was never run.
func (k *Kiosk) Close() error {
	k.stop()
	return errors.Join(k.listener.Close(), k.memoryStore.Close(), k.visits.Close())
}

// sweep ends visits that ran out.
func (k *Kiosk) sweep() {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		for _, v := range k.visits.Expire() {
			k.forget(v.Name, !v.Carried)
			k.remember(eventVisitEnded, visitEnded{Visit: v.Name, Reason: "expired"})
		}
		select {
		case <-k.stopping.Done():
			return
		case <-t.C:
		}
	}
}

// forget drops what is kept of a visit outside the store. A visit that has a pass may come back, unless it is forgotten for
// good.
func (k *Kiosk) forget(name string, forGood bool) {
	k.turns.cancel(name)
	k.photos.wipe(name)
	k.forgetMemory(name, forGood)
	if err := k.traces.Forget(name); err != nil {
		k.log.Warn("forget the traces of a visit", "error", err)
	}
}

// prepare lets a guide that can do so get to know the release before the first question.
func (k *Kiosk) prepare() {
	if content, giveBack, ok := k.shelf.take(); ok {
		defer giveBack()
		k.prepareFor(content)
	}
}

func (k *Kiosk) prepareFor(c *content) {
	if g, ok := k.guide.(interface{ Prepare(agent.Library) }); ok {
		g.Prepare(c.library)
	}
}

func (k *Kiosk) cameraState() string {
	if k.camera == nil {
		return "none"
	}
	return string(k.camera.Health().State)
}

// tracker counts streams, which outlive their request's handler, so that the end can wait for them.
type tracker struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   sync.Cond
}

// enter counts a stream, unless no more are let in.
func (t *tracker) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.n++
	return true
}

func (t *tracker) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.idle.L != nil {
		t.idle.Broadcast()
	}
}

func (t *tracker) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.idle.L = &t.mu
}

// wait is called after close.
func (t *tracker) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.n > 0 {
		t.idle.Wait()
	}
}
