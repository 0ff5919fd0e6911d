package kiosk

import (
	"io"
	"net"
	"sync"
	"time"
)

const (
	// writeStall is how long one write to a client may take. Streams have no end to set a deadline for, so each write
	// has its own: a client that takes nothing for so long is let go.
	writeStall = 20 * time.Second
	// A client whose request was refused while it was still sending would see a broken connection instead of the
	// answer, if it were closed at once. What it sends on is read and dropped for a while.
	linger      = 2 * time.Second
	lingerBytes = 64 << 20
)

// steadyListener accepts connections that cannot hold the kiosk up, and can end them all.
type steadyListener struct {
	net.Listener
	mu     sync.Mutex
	conns  map[*steadyConn]struct{}
	ending bool
}

func newSteadyListener(l net.Listener) *steadyListener {
	return &steadyListener{Listener: l, conns: map[*steadyConn]struct{}{}}
}

func (l *steadyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := &steadyConn{Conn: c, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[s] = struct{}{}
	return s, nil
}

// hurry makes connections close without lingering.
func (l *steadyListener) hurry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending = true
}

// cut closes all connections that are left.
func (l *steadyListener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.Conn.Close()
	}
}

// leave forgets a connection and says whether it may linger.
func (l *steadyListener) leave(c *steadyConn) (mayLinger bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.conns[c]; !ok {
		return false
	}
	delete(l.conns, c)
	return !l.ending
}

type steadyConn struct {
	net.Conn
	of *steadyListener
}

func (c *steadyConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeStall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *steadyConn) Close() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.of.leave(c) && tcp.CloseWrite() == nil {
		if tcp.SetReadDeadline(time.Now().Add(linger)) == nil {
			_, _ = io.CopyN(io.Discard, tcp, lingerBytes)
		}
	}
	return c.Conn.Close()
}
