package fleet

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// line is the network of all kiosks, which can be cut.
type line struct {
	mu     sync.Mutex
	down   bool
	conns  map[net.Conn]struct{}
	failed int // dials that failed while it was up
}

var errDown = errors.New("the simulated line is down")

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	down := l.down
	l.mu.Unlock()
	if down {
		return nil, errDown
	}
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed++
		return nil, err
	}
	if l.down {
		c.Close()
		return nil, errDown
	}
	if l.conns == nil {
		l.conns = map[net.Conn]struct{}{}
	}
	t := &tracked{Conn: c, line: l}
	l.conns[t] = struct{}{}
	return t, nil
}

// cut ends all connections and refuses new ones, or lets them come again.
func (l *line) cut(down bool) {
	l.mu.Lock()
	l.down, l.failed = down, 0
	var open []net.Conn
	if down {
		for c := range l.conns {
			open = append(open, c)
		}
	}
	l.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

func (l *line) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

func (l *line) failures() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// tracked leaves the line's list when it is closed.
type tracked struct {
	net.Conn
	line *line
}

// Read tells of a cut as a router would that has lost the connection, not as a connection that was closed on this side.
func (t *tracked) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if err != nil && t.line.isDown() {
		err = syscall.ECONNRESET
	}
	return n, err
}

func (t *tracked) Close() error {
	t.line.mu.Lock()
	delete(t.line.conns, t)
	t.line.mu.Unlock()
	return t.Conn.Close()
}
