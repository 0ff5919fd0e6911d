// Package outbox keeps a kiosk's memory events on its own disk until the hub says it has them. Append returns when
// the event is durable; an event leaves only when an acknowledgement of the hub covers it.
package outbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"

	"docent/internal/space"
	"docent/sync/wire"
)

// Errors a caller may want to tell apart.
var (
	ErrClosed        = errors.New("outbox is closed")
	ErrLocked        = errors.New("outbox is in use by another process")
	ErrDiskFull      = errors.New("too little free disk space")
	ErrFull          = errors.New("the outbox holds as much as it may")
	ErrUnknownStream = errors.New("acknowledgement is of a stream this outbox does not hold")
	ErrRenumbered    = errors.New("the hub's events are not this store's; what is pending was numbered anew")
)

// Defaults of Options.
const (
	// DefaultMinFree is the free disk space below which Append refuses. The store maps files into memory, and a write
	// to a mapped page that the disk cannot hold kills the process (SIGBUS); so it must never come to that. Two
	// memtable logs of twice 8 MiB each, one value log of twice 32 MiB, and a margin.
	DefaultMinFree = 128 << 20
	// DefaultQueue is how many Appends may wait for the disk; further ones wait for a place in the queue.
	DefaultQueue = 1024
	// DefaultSweep keeps what was deleted in no file for much longer than a visit lasts.
	DefaultSweep = 5 * time.Minute
	// MinMaxBytes is the least that Options.MaxBytes may be.
	MinMaxBytes = 1 << 20
)

// OnFull says what happens to an event when the outbox holds as much as it may.
type OnFull string

// What may happen: the new event is refused with ErrFull, or the oldest make room and the hub is told which.
const (
	RejectNew  OnFull = "reject_new"
	DropOldest OnFull = "drop_oldest"
)

// Options say who writes and with what clock. Only Kiosk is required.
type Options struct {
	Kiosk  string       // kiosk_id of every event
	Logger *slog.Logger // nil discards

	MinFree uint64 // bytes; 0 means DefaultMinFree
	Queue   int    // 0 means DefaultQueue
	// MaxBytes bounds the events held, at least MinMaxBytes; 0 leaves it to the disk. The disk may hold five times
	// that for a while, see reclaim.
	MaxBytes uint64
	OnFull   OnFull // empty means RejectNew
	// Sweep is how often the store is written anew where it may still hold what was deleted; 0 means DefaultSweep. So
	// what visitors asked leaves the disk soon after the hub has it.
	Sweep time.Duration
	// Brief is for simulations with many outboxes in one process: nothing is compacted, which costs each database 40
	// wake-ups a second, so that it holds for about 50,000 events, and nothing is swept.
	Brief bool

	Clock       func() time.Time                 // wall clock; nil means time.Now
	Uptime      func() time.Duration             // since boot, counting sleep; nil means the system's
	ClockSynced func() bool                      // whether the wall clock is set by a time service; nil asks the kernel
	BootID      string                           // UUID; empty means the kernel's
	Random      io.Reader                        // nil means crypto/rand
	Free        func(dir string) (uint64, error) // free bytes of the disk that holds dir; nil asks the file system
}

// Outbox is the store. It is safe for concurrent use. One goroutine of its own does all writing; Close waits for it.
type Outbox struct {
	dir  string
	opt  Options
	lock *os.File
	room *ballast
	db   *badger.DB
	mark *watermark

	queue   chan *op      // bounded by Options.Queue
	closing chan struct{} // closed by Close
	stopped chan struct{} // closed when the writer has ended
	changed chan struct{} // capacity 1: something was appended
	once    sync.Once

	reading sync.RWMutex // held for reading while the store is read, for writing when it is closed
	closed  bool

	mu       sync.Mutex
	streams  []stream // oldest first; the last is the one written to; never empty
	depth    uint64   // events held
	held     uint64   // their bytes
	dead     uint64   // bytes of deleted events that may still be on the disk
	session  uint64
	newest   newest     // of the present stream, in memory as well
	kiosk    string     // name under which the store was written, empty for a new one
	broken   error      // set when there is no store any more
	losses   []Loss     // found at Open
	dropped  uint64     // events that made room since Open
	aside    uint64     // dead letters held
	reports  []Position // of pending reports of losses, at most maxReports
	degraded string

	reclaimAt    uint64
	reclaimAfter time.Duration // uptime before which it is not tried again
}

// stream is one gap-free numbering of events. A store that lost something begins a new one.
type stream struct {
	ordinal uint32
	meta    streamMeta
	last    uint64 // highest seq issued
	hash    string // of event last
}

// streamMeta is what is stored of a stream beside its events.
type streamMeta struct {
	ID        string `json:"id"`
	Acked     uint64 `json:"acked"`                // events up to here have left the store
	AckedHash string `json:"acked_hash,omitempty"` // of event Acked; empty when it is not known
	// End is the highest seq ever issued, set when the stream is written to no more.
	End uint64 `json:"end,omitempty"`
	// Diverged is set when the hub holds other events under this stream's numbers: this store is an older copy of
	// itself, put back. Its events move on into a new stream.
	Diverged bool `json:"diverged,omitempty"`
	// DroppedFrom is the lowest number up to Acked that left to make room and that the hub has not answered for.
	DroppedFrom uint64 `json:"dropped_from,omitempty"`
	// Reported are the ranges that were found missing, or broken in the chain, and need no second report.
	Reported []wire.Range `json:"reported,omitempty"`
}

// acked is the number up to which the hub has said that it has everything.
func (s stream) acked() uint64 {
	if s.meta.DroppedFrom > 0 {
		return s.meta.DroppedFrom - 1
	}
	return s.meta.Acked
}

// issued is the highest seq ever given out.
func (s stream) issued() uint64 { return max(s.last, s.meta.End) }

// Loss is a range of events that the store once had and has no more.
type Loss struct {
	StreamID string `json:"stream_id"`
	From     uint64 `json:"from_seq"`
	To       uint64 `json:"to_seq"`
	Reason   string `json:"reason"`
}

// State describes the outbox for a page or a heartbeat.
type State struct {
	StreamID  string `json:"stream_id"`
	Depth     uint64 `json:"depth"`    // events not yet acknowledged
	LastSeq   uint64 `json:"last_seq"` // of the present stream
	AckedSeq  uint64 `json:"acked_seq"`
	FreeBytes uint64 `json:"free_bytes"`
	HeldBytes uint64 `json:"held_bytes"`          // of the events
	Dropped   uint64 `json:"dropped,omitempty"`   // events that made room for newer ones since Open
	SetAside  uint64 `json:"set_aside,omitempty"` // dead letters held
	Degraded  string `json:"degraded,omitempty"`  // what was wrong at Open, empty when nothing was
	Losses    []Loss `json:"losses,omitempty"`    // found at Open; each is also reported to the hub as an event
}

// Open opens the outbox in dir, creating it when there is none, and checks the numbering and hash chain of what it
// holds. Damage is no error: a store that cannot be read is set aside beside the new one, lost ranges are reported
// in State and as "outbox.lost" events to the hub, and numbering goes on in a new stream. An error means that nothing
// can be written: another process holds it (ErrLocked), the disk is full (ErrDiskFull), or the folder is not ours.
func Open(dir string, opt Options) (*Outbox, error) {
	if err := opt.fill(); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	o := &Outbox{
		dir:     dir,
		opt:     opt,
		queue:   make(chan *op, opt.Queue),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		changed: make(chan struct{}, 1),

		reclaimAt: reclaimAt,
	}
	if err := o.open(); err != nil {
		o.release()
		return nil, fmt.Errorf("open outbox %s: %w", dir, err)
	}
	go o.write()
	return o, nil
}

func (o *Outbox) open() (err error) {
	if o.lock, err = lockDir(o.dir); err != nil {
		return err
	}
	if o.room, err = o.holdBallast(); err != nil {
		return err
	}
	// Half the limit is enough to open, so that a nearly full kiosk can still send what it has and so free space.
	if err := o.checkFree(o.opt.MinFree / 2); err != nil {
		return err
	}
	if o.mark, err = openWatermark(filepath.Join(o.dir, "watermark")); err != nil {
		return err
	}
	if err := finishSwap(o.dir); err != nil {
		return fmt.Errorf("finish replacing the store: %w", err)
	}
	if err := o.openSound(filepath.Join(o.dir, "store")); err != nil {
		return err
	}
	o.checkWatermark()
	if len(o.streams) == 0 || o.degraded != "" || o.kiosk != o.opt.Kiosk {
		if err := o.renew(); err != nil {
			return err
		}
	}
	if err := o.finishMove(); err != nil {
		return err
	}
	used, err := onDisk(filepath.Join(o.dir, "store"))
	if err != nil {
		return fmt.Errorf("size of the store: %w", err)
	}
	o.dead = used - min(used, o.held)
	return nil
}

// openSound opens the store, or sets a damaged one aside and opens a new one.
func (o *Outbox) openSound(store string) (err error) {
	if deaths := countDeaths(o.dir); deaths < maxDeaths {
		err = o.openStore(store)
	} else {
		err = fmt.Errorf("opening it ended the process %d times", deaths)
	}
	var errno syscall.Errno
	if err == nil || errors.As(err, &errno) { // permission, disk, memory: not damage
		return err
	}
	aside, err2 := setAside(store, o.opt.Clock())
	if err2 != nil {
		return errors.Join(err, err2)
	}
	o.degrade(fmt.Sprintf("the store could not be read and was set aside as %s: %v", filepath.Base(aside), err))
	return o.openStore(store)
}

// openStore opens the database and reads and checks all of it. On an error nothing stays open.
func (o *Outbox) openStore(dir string) (err error) {
	survived, err := noteOpening(o.dir)
	if err != nil {
		return err
	}
	o.db, err = openDB(dir, o.opt)
	if err := errors.Join(err, survived()); err != nil {
		return err
	}
	if err = o.inspect(); err != nil {
		o.streams, o.losses, o.reports, o.depth, o.held, o.aside, o.session, o.kiosk = nil, nil, nil, 0, 0, 0, 0, ""
		err = errors.Join(err, o.db.Close())
		o.db = nil
	}
	return err
}

// release gives back what open took, in reverse order; safe after a partial open.
func (o *Outbox) release() error {
	errs := []error{o.room.close()}
	if o.db != nil {
		errs = append(errs, o.db.Close())
	}
	if o.mark != nil {
		errs = append(errs, o.mark.close())
	}
	if o.lock != nil {
		errs = append(errs, o.lock.Close())
	}
	return errors.Join(errs...)
}

// Append stores an event of the given type ("exhibit.seen") whose data is anything that marshals to a JSON object of
// at most wire.MaxData bytes (nil means an empty one). It returns the event's number when the event is durable. With
// ErrDiskFull, ErrFull, ErrClosed, wire.ErrInvalid or wire.ErrTooLarge nothing was stored; with any other error, such as that of
// a ctx that ends first, the event may still be.
func (o *Outbox) Append(ctx context.Context, typ string, data any) (uint64, error) {
	raw := json.RawMessage("{}")
	if data != nil {
		var err error
		if raw, err = json.Marshal(data); err != nil {
			return 0, fmt.Errorf("append %s: %w", typ, err)
		}
	}
	p := &op{typ: typ, data: raw, wall: o.opt.Clock(), mono: o.opt.Uptime(), done: make(chan struct{})}
	if err := o.do(ctx, p); err != nil {
		return 0, fmt.Errorf("append %s: %w", typ, err)
	}
	return p.seq, nil
}

// Ack forgets the events that the acknowledgement covers, only those, and says how many they were. ErrUnknownStream
// means that the outbox holds no such stream. ErrRenumbered means that the hub's events are not the ones this store
// has under the same numbers, so that nothing was forgotten and all pending events now have numbers of a new stream.
func (o *Outbox) Ack(a wire.Ack) (freed uint64, err error) {
	if err := a.Validate(); err != nil {
		return 0, err
	}
	p := &op{ack: &a, done: make(chan struct{})}
	if err := o.do(context.Background(), p); err != nil {
		return 0, fmt.Errorf("acknowledge up to %d: %w", a.AckedSeq, err)
	}
	return p.freed, nil
}

// NextSession returns the number of the next connection, one more than the last, also across restarts.
func (o *Outbox) NextSession() (uint64, error) {
	p := &op{session: true, done: make(chan struct{})}
	if err := o.do(context.Background(), p); err != nil {
		return 0, fmt.Errorf("number the session: %w", err)
	}
	return p.seq, nil
}

// do hands an operation to the writer and waits for its end.
func (o *Outbox) do(ctx context.Context, p *op) error {
	select {
	case <-o.closing:
		return ErrClosed
	default:
	}
	select {
	case o.queue <- p:
	case <-ctx.Done():
		return ctx.Err()
	case <-o.closing:
		return ErrClosed
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	case <-o.stopped:
	}
	select { // the writer ended: with or without this one?
	case <-p.done:
		return p.err
	default:
		return ErrClosed
	}
}

// Depth is the number of events not yet acknowledged.
func (o *Outbox) Depth() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.depth
}

// Counts are the events not yet acknowledged, and those that made room for newer ones since Open. Unlike State it asks
// nothing of the disk.
func (o *Outbox) Counts() (depth, dropped uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.depth, o.dropped
}

// Changed receives a value after events were appended. Values are not queued: one stands for any number of events.
func (o *Outbox) Changed() <-chan struct{} { return o.changed }

// BootID is the id of the machine's present run that events carry.
func (o *Outbox) BootID() string { return o.opt.BootID }

// State describes the outbox now.
func (o *Outbox) State() State {
	free, err := o.free()
	o.mu.Lock()
	defer o.mu.Unlock()
	cur := o.streams[len(o.streams)-1]
	s := State{
		StreamID: cur.meta.ID, Depth: o.depth, LastSeq: cur.last, AckedSeq: cur.acked(),
		HeldBytes: o.held, Dropped: o.dropped, SetAside: o.aside,
		FreeBytes: free, Degraded: o.degraded, Losses: append([]Loss(nil), o.losses...),
	}
	if o.broken != nil {
		s.Degraded = o.broken.Error()
	}
	if err != nil {
		s.Degraded = "free disk space is not known: " + err.Error()
	}
	return s
}

// Close finishes what is queued, closes the store and gives the folder back. Further calls return ErrClosed.
func (o *Outbox) Close() error {
	err := ErrClosed
	o.once.Do(func() {
		close(o.closing)
		<-o.stopped
		o.reading.Lock()
		o.closed = true
		o.reading.Unlock()
		err = o.release()
	})
	return err
}

// degrade notes, once, that something is wrong with the store.
func (o *Outbox) degrade(what string) {
	if o.degraded == "" {
		o.degraded = what
	}
	o.opt.Logger.Warn("outbox degraded", "kiosk", o.opt.Kiosk, "reason", what)
}

func (opt *Options) fill() error {
	if err := wire.ValidName(opt.Kiosk); err != nil {
		return fmt.Errorf("kiosk: %w", err)
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.MinFree == 0 {
		opt.MinFree = DefaultMinFree
	}
	if opt.Queue == 0 {
		opt.Queue = DefaultQueue
	}
	if opt.Sweep < 0 {
		return fmt.Errorf("sweep every %s: must be above 0", opt.Sweep)
	}
	if opt.Sweep == 0 {
		opt.Sweep = DefaultSweep
	}
	if opt.OnFull == "" {
		opt.OnFull = RejectNew
	}
	if opt.OnFull != RejectNew && opt.OnFull != DropOldest {
		return fmt.Errorf("on full: %q is neither %s nor %s", opt.OnFull, RejectNew, DropOldest)
	}
	if opt.MaxBytes > 0 && opt.MaxBytes < MinMaxBytes {
		return fmt.Errorf("at most %d bytes, %d are the least that makes sense", opt.MaxBytes, MinMaxBytes)
	}
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	if opt.Uptime == nil {
		opt.Uptime = uptime
	}
	if opt.ClockSynced == nil {
		opt.ClockSynced = clockSynced
	}
	if opt.Random == nil {
		opt.Random = rand.Reader
	}
	if opt.Free == nil {
		opt.Free = space.Free
	}
	if opt.BootID == "" {
		id, err := bootID(opt.Random)
		if err != nil {
			return err
		}
		opt.BootID = id
	}
	return nil
}
