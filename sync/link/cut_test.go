package link

import (
	"io"
	"net"
	"sync"
	"testing"

	"docent/sync/wire"
)

// proxy passes bytes between kiosk and hub until it is cut.
type proxy struct {
	l     net.Listener
	to    string
	mu    sync.Mutex
	conns []net.Conn
}

func startProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, to: to}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, near, far)
			p.mu.Unlock()
			wg.Go(func() { io.Copy(near, far); near.Close() })
			wg.Go(func() { io.Copy(far, near); far.Close() })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.cut()
		wg.Wait()
	})
	return p
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func TestCutLinkLosesNothing(t *testing.T) {
	h := startHub(t)
	p := startProxy(t, h.broker.Addr().String())
	k := startKiosk(t, "tcp://"+p.l.Addr().String())
	seen := func() int {
		distinct := map[uint64]bool{}
		for _, e := range h.got {
			distinct[e.Seq] = true
		}
		return len(distinct)
	}
	const rounds, each = 8, 40
	for i := range rounds {
		k.record(t, each)
		h.until("some of the round came", func() bool { return seen() > i*each })
		p.cut() // often right after a PUBLISH
	}
	h.until("the outbox is empty", func() bool { return k.Depth() == 0 })
	h.script(func() {
		if seen() != rounds*each {
			t.Errorf("%d distinct events, want %d", seen(), rounds*each)
		}
		wills := map[uint64]bool{}
		for _, st := range h.statuses {
			if st.State == wire.PresenceLost {
				wills[st.SessionSeq] = true
			}
		}
		if len(wills) == 0 {
			t.Error("no will was sent")
		}
	})
	if st := k.link.State(); st.Session < 2 || st.Connects < 2 {
		t.Errorf("state %+v", st)
	}
}
