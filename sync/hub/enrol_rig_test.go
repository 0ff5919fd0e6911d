package hub

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/sync/enrol"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/wire"
)

// clock is a time that a test sets: the machine's, plus an offset.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) set(offset time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = offset
}

// secure is a kiosk with an identity, an outbox and a link.
type secure struct {
	*outbox.Outbox
	name  string
	id    *enrol.Identity
	link  *link.Link
	clock *clock
	stop  func()
}

// startSecure runs a kiosk that keeps what it has in dir.
func startSecure(t testing.TB, broker, name, dir string, change ...func(*enrol.Options, *outbox.Options)) *secure {
	t.Helper()
	k := &secure{name: name, clock: &clock{}}
	eo := enrol.Options{
		Dir: filepath.Join(dir, "identity"), Hub: "tls://" + broker, Kiosk: wire.Address{Site: site, Kiosk: name},
		Poll: 20 * time.Millisecond, Check: 20 * time.Millisecond, Retry: 20 * time.Millisecond, Clock: k.clock.now,
	}
	oo := outbox.Options{Kiosk: name, MinFree: 1}
	for _, c := range change {
		c(&eo, &oo)
	}
	var err error
	if k.id, err = enrol.Open(eo); err != nil {
		t.Fatal(err)
	}
	if k.Outbox, err = outbox.Open(filepath.Join(dir, "outbox"), oo); err != nil {
		t.Fatal(err)
	}
	k.link, err = link.New(link.Options{
		Broker: eo.Hub, Site: site, Kiosk: name, Outbox: k.Outbox, Credentials: k.id, AckTimeout: 2 * time.Second,
		Random: func() float64 { return 0.05 },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := k.id.Run(ctx); err != nil {
			t.Errorf("identity: %v", err)
		}
	})
	wg.Go(func() {
		if err := k.link.Run(ctx); err != nil {
			t.Errorf("link: %v", err)
		}
	})
	var once sync.Once
	k.stop = func() {
		once.Do(func() {
			cancel()
			wg.Wait()
			if err := k.Close(); err != nil {
				t.Errorf("outbox: %v", err)
			}
		})
	}
	t.Cleanup(k.stop)
	return k
}

// until waits for what must come.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// code waits for the code that a kiosk shows.
func (k *secure) code(t testing.TB) string {
	t.Helper()
	until(t, "code", func() bool { return k.id.State().Code != "" })
	return k.id.State().Code
}

// enrolled authorises a kiosk and waits until it is connected.
func (k *secure) enrolled(t testing.TB, h running, replace bool) {
	t.Helper()
	if _, err := h.Authorise(context.Background(), k.code(t), replace); err != nil {
		t.Fatal(err)
	}
	until(t, "connection", func() bool { return k.link.State().Connected })
}

// reason waits until a kiosk says why it is refused.
func (k *secure) reason(t testing.TB, want string) enrol.State {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		if s := k.id.State(); s.Reason == want {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("reason %+v, want %s; link %+v", k.id.State(), want, k.link.State())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// records shows that a kiosk goes on without its hub.
func (k *secure) records(t testing.TB) {
	t.Helper()
	if _, err := k.Append(context.Background(), "exhibit.seen", map[string]string{"exhibit": "penrose"}); err != nil {
		t.Errorf("a kiosk that its hub refuses remembers nothing: %v", err)
	}
}

// refusedAs is the sentinel within an error, for comparison.
func refusedAs(err error) error {
	for _, e := range []error{store.ErrNotFound, store.ErrReplaces, store.ErrTooMany, errTries, wire.ErrCode} {
		if err != nil && strings.Contains(err.Error(), e.Error()) {
			return e
		}
	}
	return err
}

func (k *secure) record(t testing.TB, n int) {
	for range n {
		k.records(t)
	}
}

func serverCert(t *testing.T, h running) *tls.Certificate {
	t.Helper()
	c, err := h.authority.Server()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
