package mochi

import (
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/mochi-mqtt/server/v2/listeners"
)

// listener is a TCP listener that differs from the library's in two things: a connection has a deadline from its first
// byte on, not only after CONNECT, and all connections end when the listener is stopped, not only the greeted ones.
type listener struct {
	address   string
	tls       *tls.Config
	handshake time.Duration
	next      map[string]func(*tls.Conn) // by protocol
	log       *slog.Logger
	slots     chan struct{} // for handshakes
	l         net.Listener

	mu      sync.Mutex
	conns   map[net.Conn]struct{} // those that say nothing are gone after handshake
	stopped bool
	wg      sync.WaitGroup
}

func newListener(address string, config *tls.Config, handshake time.Duration, next map[string]func(*tls.Conn), log *slog.Logger) *listener {
	return &listener{address: address, tls: config, handshake: handshake, next: next, log: log, slots: make(chan struct{}, maxHandshakes), conns: map[net.Conn]struct{}{}}
}

func (l *listener) ID() string       { return "mqtt" }
func (l *listener) Protocol() string { return "tcp" }
func (l *listener) Address() string  { return l.addr().String() }
func (l *listener) addr() net.Addr   { return l.l.Addr() }

// Init opens the address.
func (l *listener) Init(*slog.Logger) (err error) {
	if l.l, err = net.Listen("tcp", l.address); err != nil {
		return err
	}
	if l.tls != nil {
		l.l = tls.NewListener(l.l, l.tls)
	}
	return nil
}

// Serve accepts until the listener is stopped.
func (l *listener) Serve(establish listeners.EstablishFn) {
	for {
		conn, err := l.l.Accept()
		if err != nil {
			if l.ended() {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of file descriptors, most likely
			continue
		}
		if !l.add(conn) {
			conn.Close()
			return
		}
		go func() {
			defer l.remove(conn)
			if c, ok := conn.(*tls.Conn); ok {
				if err := l.greet(c); err != nil {
					l.log.Warn("connection refused", "remote", conn.RemoteAddr().String(), "reason", err)
					return
				}
				conn.SetDeadline(time.Now().Add(l.handshake))
				if serve := l.next[c.ConnectionState().NegotiatedProtocol]; serve != nil {
					serve(c)
					return
				}
			}
			conn.SetDeadline(time.Now().Add(l.handshake)) // the library sets its own after CONNECT
			_ = establish(l.ID(), conn)                   // why a connection ended is the hook's to say
		}()
	}
}

// maxHandshakes is how many TLS handshakes go on at once. When a thousand kiosks come back in the same second, those that
// have begun shall finish in time, rather than all of them too late.
const maxHandshakes = 128

// greet makes the TLS handshake, when it is this connection's turn.
func (l *listener) greet(c *tls.Conn) error {
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	c.SetDeadline(time.Now().Add(l.handshake))
	return c.Handshake()
}

func (l *listener) add(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.conns[conn] = struct{}{}
	l.wg.Add(1)
	return true
}

func (l *listener) remove(conn net.Conn) {
	conn.Close()
	l.mu.Lock()
	delete(l.conns, conn)
	l.mu.Unlock()
	l.wg.Done()
}

func (l *listener) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// stop closes the address and every connection and waits for the connections' goroutines.
func (l *listener) stop() {
	l.mu.Lock()
	l.stopped = true
	for conn := range l.conns {
		conn.Close()
	}
	l.mu.Unlock()
	l.l.Close()
	l.wg.Wait()
}

// Close is called by the library when it stops; by then stop has done everything.
func (l *listener) Close(closeClients listeners.CloseFn) { closeClients(l.ID()) }

var _ listeners.Listener = (*listener)(nil)
