// Package link carries a kiosk's outbox to the hub over MQTT 3.1.1 and brings the hub's acknowledgements back. It
// trusts no broker with durability: an event is sent again until the hub itself says that it has it.
package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"time"

	"docent/sync/outbox"
	"docent/sync/wire"
)

// Defaults of Options.
const (
	DefaultWindow     = 1024             // events sent and not acknowledged
	DefaultAckTimeout = 10 * time.Second // without progress, after which events are sent again
	DefaultKeepAlive  = 30 * time.Second
	DefaultStatus     = time.Minute // between status messages
	// DefaultGather is the least time between messages with fewer than 64 events: events that come one after the other
	// travel together, and a busy kiosk costs the hub two messages a second. The first after a pause goes at once.
	DefaultGather = 400 * time.Millisecond
)

// Outbox is what the link sends from.
type Outbox interface {
	// Append records an event.
	Append(ctx context.Context, typ string, data any) (seq uint64, err error)
	// Pending returns unacknowledged events after a position, in order.
	Pending(after outbox.Position, max, maxBytes int) ([]outbox.Pending, error)
	// Reports returns the unacknowledged events that tell of losses.
	Reports(limit int) ([]outbox.Pending, error)
	// Ack forgets what the hub has and says how many events that were.
	Ack(wire.Ack) (freed uint64, err error)
	// NextSession numbers the connection.
	NextSession() (uint64, error)
	// Changed receives a value after events were appended.
	Changed() <-chan struct{}
	// State describes the outbox for the status message.
	State() outbox.State
	// Counts are the events held, and those that made room since it was opened.
	Counts() (depth, dropped uint64)
	// SetAside takes an event that the hub will not take out of the queue.
	SetAside(ctx context.Context, streamID string, seq uint64, reason string) error
	// BootID is the id of the machine's present run.
	BootID() string
}

var _ Outbox = (*outbox.Outbox)(nil)

// Credentials are what the kiosk shows the hub, and what it knows the hub by.
type Credentials interface {
	// TLS is for the next connection, or the error says why there can be none yet.
	TLS() (*tls.Config, error)
	// Changed receives a value when what TLS returns is another.
	Changed() <-chan struct{}
	// Explain finds out why a connection failed and returns the better error.
	Explain(ctx context.Context, err error) error
	// Accepted is told that the hub has let the kiosk in.
	Accepted()
}

// Options say where the hub is and who this kiosk is. Broker, Site, Kiosk and Outbox are required.
type Options struct {
	Broker string      // "tcp://127.0.0.1:1883" (this machine only) or "tls://hub.example:8883"
	TLS    *tls.Config // for tls:// without Credentials; nil means the system's roots and no certificate of ours
	// Credentials are the kiosk's certificate and what it knows its hub by.
	Credentials Credentials
	Site        string
	Kiosk       string
	Outbox      Outbox
	// Version of the software, for the status message.
	Version string
	Logger  *slog.Logger // nil discards

	Window      int           // 0 means DefaultWindow
	AckTimeout  time.Duration // 0 means DefaultAckTimeout
	KeepAlive   time.Duration // whole seconds; 0 means DefaultKeepAlive
	StatusEvery time.Duration // 0 means DefaultStatus
	Gather      time.Duration // 0 means DefaultGather
	// Desired is told that the hub has a release to show, nil for a kiosk that does not follow. It must not block.
	Desired func(wire.Desired)
	// Dial opens the network connection; nil means a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Health is asked for each status message; nil: nothing is said about the box. It must not block.
	Health func() wire.Health
	// Command is told what the hub wants done, the same more than once. It must not block.
	Command func(wire.Command)
	// Emergency is told what the hub wants shown over everything, after each connection and whenever it changes; the same
	// more than once, and not always in order. It must not block.
	Emergency func(wire.Emergency)
	// Visits is told what has happened to visits at other kiosks; the same more than once. It must not block.
	Visits func(wire.VisitNotice)
	Random func() float64 // in [0,1), for the jitter; nil means math/rand/v2
}

// Link keeps one connection to the hub, opened again whenever it is lost.
type Link struct {
	opt  Options
	addr wire.Address
	log  *slog.Logger

	highest outbox.Position // newest event ever published; Run's alone
	refused map[eventID]int // how often the hub refused an event, at most maxRefused of them; Run's alone

	reports chan struct{} // capacity 1: there is a report to send
	tell    chan struct{} // capacity 1: the status is another

	mu      sync.Mutex
	state   State
	current *session      // nil without a connection
	arrived chan struct{} // closed at the next connection, nil while nobody waits for one
	fetches map[uint64]chan wire.Chunk
	fetchID uint64
	report  *wire.Deploy // the newest, nil before the first
	unsent  [][]byte     // answers to commands, at most maxUnsent
}

// State describes the link for a page or a heartbeat.
type State struct {
	Connected   bool      `json:"connected"`
	Since       time.Time `json:"since,omitzero"`    // of the present connection, or of its loss
	Session     uint64    `json:"session"`           // number of the present or last connection
	Connects    uint64    `json:"connects"`          // connections since the start
	Sent        uint64    `json:"sent"`              // events published since the start, repeats included
	Resent      uint64    `json:"resent"`            // of them, events that had been published before
	Messages    uint64    `json:"messages"`          // messages that carried them
	LastAck     time.Time `json:"last_ack,omitzero"` // when the hub last confirmed something
	LastError   string    `json:"last_error,omitempty"`
	OutboxDepth uint64    `json:"outbox_depth"` // events the hub has not confirmed
}

// New checks the options. It does not connect yet.
func New(opt Options) (*Link, error) {
	addr := wire.Address{Site: opt.Site, Kiosk: opt.Kiosk}
	if err := addr.Validate(); err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	if opt.Outbox == nil {
		return nil, errors.New("link: no outbox")
	}
	if err := checkBroker(opt.Broker); err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Window == 0 {
		opt.Window = DefaultWindow
	}
	if opt.AckTimeout == 0 {
		opt.AckTimeout = DefaultAckTimeout
	}
	if opt.KeepAlive == 0 {
		opt.KeepAlive = DefaultKeepAlive
	}
	if opt.StatusEvery == 0 {
		opt.StatusEvery = DefaultStatus
	}
	if opt.Gather == 0 {
		opt.Gather = DefaultGather
	}
	if opt.Dial == nil {
		opt.Dial = new(net.Dialer).DialContext
	}
	if opt.Random == nil {
		opt.Random = rand.Float64
	}
	return &Link{opt: opt, addr: addr, refused: map[eventID]int{}, reports: make(chan struct{}, 1), tell: make(chan struct{}, 1), fetches: map[uint64]chan wire.Chunk{}, log: opt.Logger.With("kiosk", opt.Kiosk)}, nil
}

// Run connects, sends and reconnects until ctx ends; then it says goodbye, waits for all its goroutines and returns
// nil. Any error it returns means that it cannot go on, such as an outbox that was closed.
func (l *Link) Run(ctx context.Context) error {
	var again retry
	for {
		turned, lasted, err := l.session(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, outbox.ErrClosed) {
			return fmt.Errorf("link: %w", err)
		}
		if errors.Is(err, errCredentials) { // at once, with the new ones
			again = retry{}
			continue
		}
		l.lost(l.explain(ctx, err))
		if lasted > stable {
			again = retry{}
		}
		wait := again.next(turned, l.opt.Random)
		select {
		case <-ctx.Done():
			return nil
		case <-l.credentials():
			again = retry{}
		case <-time.After(wait):
		}
	}
}

// errCredentials ends a connection whose certificate has been renewed.
var errCredentials = errors.New("the certificate is another")

// credentials receives a value when they have changed.
func (l *Link) credentials() <-chan struct{} {
	if l.opt.Credentials == nil {
		return nil
	}
	return l.opt.Credentials.Changed()
}

func (l *Link) explain(ctx context.Context, err error) error {
	if l.opt.Credentials == nil {
		return err
	}
	return l.opt.Credentials.Explain(ctx, err)
}

// State describes the link now.
func (l *Link) State() State {
	depth := l.opt.Outbox.State().Depth
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	s.OutboxDepth = depth
	return s
}

func (l *Link) update(f func(*State)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.state)
}

// lost notes the end of a connection, or a failed attempt, and logs the first of a row.
func (l *Link) lost(err error) {
	level := slog.LevelDebug
	l.update(func(s *State) {
		if s.Connected || s.LastError == "" {
			level, s.Since = slog.LevelInfo, time.Now()
		}
		s.Connected, s.LastError = false, err.Error()
	})
	l.log.Log(context.Background(), level, "hub not connected", "err", err)
}

// checkBroker accepts tls:// to anywhere and tcp:// to this machine.
func checkBroker(broker string) error {
	u, err := url.Parse(broker)
	if err != nil || u.Host == "" || u.Port() == "" {
		return fmt.Errorf("broker %q is not of the form tls://HOST:PORT", broker)
	}
	switch u.Scheme {
	case "tls":
		return nil
	case "tcp":
		if u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback() {
			return nil
		}
		return fmt.Errorf("broker %q: without TLS only this machine is allowed", broker)
	}
	return fmt.Errorf("broker %q: scheme must be tls or tcp", broker)
}
