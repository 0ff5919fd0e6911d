package hub

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// thinLine is a bad line between kiosks and a hub: so many bytes a second each way, a delay, segments that are lost and
// come late with all that is behind them, silences, and cuts.
type thinLine struct {
	rate    float64       // bytes a second, each way
	delay   time.Duration // one way
	loss    float64       // share of segments that come a round trip and 200 ms late
	silence time.Duration // mean time between silences of silent
	silent  time.Duration
	cut     time.Duration // mean time between cuts

	l        net.Listener
	to       string
	ctx      context.Context
	down, up atomic.Int64 // bytes that went through
	torn     atomic.Int64 // of those down, bytes of packets that were cut off
	cuts     atomic.Int64

	connections atomic.Int64

	mu     sync.Mutex
	random *rand.Rand
}

// Sizes of a line: a segment, and what its modem holds.
const (
	segment = 1000
	held    = 8 // segments
)

// start listens and passes bytes until the test ends.
func (b *thinLine) start(t *testing.T, to string) string {
	t.Helper()
	var err error
	if b.l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	b.to, b.random = to, rand.New(rand.NewPCG(1, 2))
	ctx, cancel := context.WithCancel(context.Background())
	b.ctx = ctx
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			near, err := b.l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { b.pass(near.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		cancel()
		b.l.Close()
		wg.Wait()
	})
	return b.l.Addr().String()
}

// after is a random time with a mean.
func (b *thinLine) after(mean time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Duration(b.random.ExpFloat64() * float64(mean))
}

func (b *thinLine) lost() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.random.Float64() < b.loss
}

// pass carries one connection until it ends or is cut.
func (b *thinLine) pass(near *net.TCPConn) {
	defer near.Close()
	conn, err := net.Dial("tcp", b.to)
	if err != nil {
		return
	}
	far := conn.(*net.TCPConn)
	defer far.Close()
	// Small buffers, as what waits in this machine's would not wait in a line.
	for _, c := range []*net.TCPConn{near, far} {
		_ = c.SetReadBuffer(32 << 10)
		_ = c.SetWriteBuffer(32 << 10)
	}
	ctx, end := context.WithCancel(b.ctx)
	defer end()
	packets := &follower{}
	defer func() { b.torn.Add(packets.seen) }() // after both ways have ended
	var ways sync.WaitGroup
	defer ways.Wait()
	ways.Go(func() { defer end(); b.carry(ctx, io.MultiWriter(near, packets), far, &b.down) })
	ways.Go(func() { defer end(); b.carry(ctx, far, near, &b.up) })
	lasts := b.after(b.cut)
	if b.connections.Add(1) == 1 {
		lasts = b.cut / 4 // so that there is a cut in each test
	}
	cut := time.NewTimer(lasts)
	defer cut.Stop()
	select {
	case <-ctx.Done():
	case <-cut.C:
		b.cuts.Add(1)
	}
	end()
	for _, c := range []*net.TCPConn{near, far} {
		_ = c.SetLinger(0) // what is on its way is lost
		c.Close()
	}
}

// follower follows MQTT packets: seen is how much there was of one that is not whole yet.
type follower struct {
	seen   int64
	left   int64 // of the body
	length int64
	shift  uint
	state  int // 0 before a packet, 1 in its length, 2 in its body
}

func (f *follower) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		switch f.state {
		case 0:
			f.seen, f.length, f.shift, f.state = 1, 0, 0, 1
			p = p[1:]
		case 1:
			f.seen++
			f.length |= int64(p[0]&0x7f) << f.shift
			f.shift += 7
			if p[0]&0x80 == 0 {
				f.left, f.state = f.length, 2
			}
			p = p[1:]
		case 2:
			k := min(f.left, int64(len(p)))
			f.left, f.seen, p = f.left-k, f.seen+k, p[k:]
		}
		if f.state == 2 && f.left == 0 {
			f.seen, f.state = 0, 0
		}
	}
	return n, nil
}

// late is a segment that is on its way.
type late struct {
	data []byte
	at   time.Time
}

// carry passes segments in one direction.
func (b *thinLine) carry(ctx context.Context, to io.Writer, from io.Reader, passed *atomic.Int64) {
	way := make(chan late, held)
	var delivering sync.WaitGroup
	defer delivering.Wait()
	defer close(way)
	delivering.Go(func() {
		for s := range way {
			if !sleep(ctx, time.Until(s.at)) {
				continue
			}
			if _, err := to.Write(s.data); err == nil {
				passed.Add(int64(len(s.data)))
			}
		}
	})
	free, last := time.Now(), time.Time{}
	silence := free.Add(b.after(b.silence))
	for {
		buf := make([]byte, segment)
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if now := time.Now(); free.Before(now) {
			free = now
		}
		if free.After(silence) {
			free = free.Add(b.silent)
			silence = free.Add(b.after(b.silence))
		}
		free = free.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
		at := free.Add(b.delay)
		if b.lost() {
			at = at.Add(2*b.delay + b.delay/2)
		}
		if at.Before(last) {
			at = last // in order
		}
		last = at
		if !sleep(ctx, time.Until(free)) {
			return
		}
		select {
		case way <- late{buf[:n], at}:
		case <-ctx.Done():
			return
		}
	}
}

// sleep waits, unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
