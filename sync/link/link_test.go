package link

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/sync/hub/mochi"
	"docent/sync/outbox"
	"docent/sync/wire"
)

var addr = wire.Address{Site: "museum", Kiosk: "kiosk-1"}

// hub is a broker with a script in place of a hub: it takes events and answers as it is told.
type hub struct {
	t      testing.TB
	broker *mochi.Broker

	mu       sync.Mutex
	answer   func(events []wire.Event) *wire.Ack // nil: says nothing
	refuse   bool
	got      []wire.Event
	statuses []wire.Status
	deploys  []wire.Deploy
	results  []wire.Result
	fetched  func(wire.Fetch) (wire.Chunk, bool)
	changed  chan struct{} // capacity 1
}

func startHub(t testing.TB) *hub {
	t.Helper()
	h := &hub{t: t, changed: make(chan struct{}, 1)}
	h.answer = func(events []wire.Event) *wire.Ack {
		last := events[len(events)-1]
		return &wire.Ack{StreamID: last.StreamID, AckedSeq: last.Seq}
	}
	var err error
	if h.broker, err = mochi.Start(mochi.Options{Listen: "127.0.0.1:0", Receiver: h}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.broker.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *hub) Admit(mochi.Connection) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse {
		return errors.New("refused by the test")
	}
	return nil
}

func (h *hub) Allowed(mochi.Connection) error { return nil }

func (h *hub) Result(_ context.Context, _ wire.Address, r wire.Result) error {
	h.mu.Lock()
	h.results = append(h.results, r)
	h.mu.Unlock()
	h.tell()
	return nil
}

func (h *hub) Events(_ context.Context, from wire.Address, payload []byte) error {
	parts, err := wire.SplitBatch(payload)
	if err != nil {
		return err
	}
	var events []wire.Event
	for _, p := range parts {
		e, err := wire.DecodeEvent(p)
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	h.mu.Lock()
	h.got = append(h.got, events...)
	ack := h.answer(events)
	h.mu.Unlock()
	h.tell()
	if ack != nil {
		h.send(*ack)
	}
	return nil
}

func (h *hub) Status(_ context.Context, _ wire.Address, st wire.Status) error {
	h.mu.Lock()
	h.statuses = append(h.statuses, st)
	h.mu.Unlock()
	h.tell()
	return nil
}

func (h *hub) Fetch(_ context.Context, from wire.Address, req wire.Fetch) {
	h.mu.Lock()
	c, ok := h.fetched(req)
	h.mu.Unlock()
	if !ok {
		return
	}
	b, err := c.Encode()
	if err == nil {
		err = h.broker.Publish(from.Topic(wire.KindChunk), b, false)
	}
	if err != nil {
		h.t.Error(err)
	}
}

func (h *hub) Deploy(_ context.Context, _ wire.Address, d wire.Deploy) error {
	h.mu.Lock()
	h.deploys = append(h.deploys, d)
	h.mu.Unlock()
	h.tell()
	return nil
}

func (h *hub) Subscribed(context.Context, wire.Address) {}

func (h *hub) send(a wire.Ack) {
	b, err := a.Encode()
	if err == nil {
		err = h.broker.Publish(addr.Topic(wire.KindAck), b, false)
	}
	if err != nil {
		h.t.Error(err)
	}
}

func (h *hub) tell() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// until waits for something that the hub's messages bring about.
func (h *hub) until(what string, done func() bool) {
	h.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		h.mu.Lock()
		ok := done()
		h.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-h.changed:
		case <-time.After(20 * time.Millisecond): // what the kiosk does by itself
		case <-limit:
			h.t.Fatalf("never: %s", what)
		}
	}
}

func (h *hub) script(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// kiosk is an outbox with a link that runs.
type kiosk struct {
	*outbox.Outbox
	link *Link
	stop func()
}

func startKiosk(t testing.TB, broker string, change ...func(*Options)) *kiosk {
	t.Helper()
	o, err := outbox.Open(t.TempDir(), outbox.Options{Kiosk: addr.Kiosk, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{
		Broker: broker, Site: addr.Site, Kiosk: addr.Kiosk, Outbox: o, Version: "1.2.3",
		Random: func() float64 { return 0.05 * rand.Float64() }, // come back soon
	}
	for _, c := range change {
		c(&opt)
	}
	l, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	var once sync.Once
	k := &kiosk{Outbox: o, link: l, stop: func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("run: %v", err)
			}
			if err := o.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}}
	t.Cleanup(k.stop)
	return k
}

func (k *kiosk) record(t testing.TB, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := k.Append(context.Background(), "exhibit.seen", map[string]int{"n": i}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func (h *hub) url() string { return "tcp://" + h.broker.Addr().String() }

func TestEventsGoUpAndStatusIsKept(t *testing.T) {
	h := startHub(t)
	k := startKiosk(t, h.url())
	k.record(t, 300)
	h.until("the outbox is empty", func() bool { return k.Depth() == 0 && k.link.State().Sent >= 300 })
	st := k.link.State()
	if !st.Connected || st.Session != 1 || st.Connects != 1 || st.Sent != 300 || st.Resent != 0 || st.LastAck.IsZero() || st.LastError != "" {
		t.Errorf("state %+v", st)
	}
	h.script(func() {
		for i, e := range h.got {
			if e.Seq != uint64(i+1) {
				t.Fatalf("event %d came as number %d", e.Seq, i+1)
			}
		}
	})
	k.stop()
	h.script(func() {
		first, last := h.statuses[0], h.statuses[len(h.statuses)-1]
		if first.State != wire.PresenceReady || first.SessionSeq != 1 || first.Version != "1.2.3" || first.BootID == "" || first.FreeBytes == 0 {
			t.Errorf("first status %+v", first)
		}
		if last.State != wire.PresenceDisconnected || last.SessionSeq != 1 {
			t.Errorf("last status %+v", last)
		}
	})
}

func TestStatusFollowsTheOutbox(t *testing.T) {
	h := startHub(t)
	h.script(func() { h.answer = func([]wire.Event) *wire.Ack { return nil } })
	k := startKiosk(t, h.url(), func(o *Options) { o.StatusEvery = 50 * time.Millisecond })
	k.record(t, 3)
	depth := func() uint64 { return h.statuses[len(h.statuses)-1].OutboxDepth }
	h.until("three events are said to wait", func() bool { return len(h.statuses) > 1 && depth() == 3 })
	h.until("they came", func() bool { return len(h.got) == 3 })
	var stream string
	h.script(func() { stream = h.got[0].StreamID })
	h.send(wire.Ack{StreamID: stream, AckedSeq: 3})
	h.until("none is said to wait", func() bool { return depth() == 0 })
}

func TestSilentHubGetsEventsAgain(t *testing.T) {
	h := startHub(t)
	h.script(func() { h.answer = func([]wire.Event) *wire.Ack { return nil } })
	k := startKiosk(t, h.url(), func(o *Options) { o.AckTimeout = 100 * time.Millisecond })
	k.record(t, 3)
	h.until("everything came three times", func() bool { return len(h.got) >= 9 })
	h.until("the kiosk gave the connection up", func() bool { return k.link.State().Connects >= 2 })
	if k.Depth() != 3 {
		t.Errorf("depth %d: events left without an acknowledgement", k.Depth())
	}
	h.script(func() {
		last := h.got[2]
		h.answer = func([]wire.Event) *wire.Ack { return &wire.Ack{StreamID: last.StreamID, AckedSeq: 3} }
	})
	h.until("the outbox is empty", func() bool { return k.Depth() == 0 })
	if st := k.link.State(); st.Resent < 6 {
		t.Errorf("state %+v", st)
	}
}

func TestMissingEventsAreSentAgain(t *testing.T) {
	h := startHub(t)
	lost := false
	h.script(func() {
		h.answer = func(events []wire.Event) *wire.Ack {
			last := events[len(events)-1]
			if !lost && last.Seq >= 5 { // the hub says it lacks 2 and 3
				lost = true
				return &wire.Ack{StreamID: last.StreamID, AckedSeq: 1, Missing: []wire.Range{{2, 3}}}
			}
			if !lost {
				return nil
			}
			return &wire.Ack{StreamID: last.StreamID, AckedSeq: last.Seq}
		}
	})
	k := startKiosk(t, h.url(), func(o *Options) { o.AckTimeout = time.Hour })
	k.record(t, 5)
	h.until("the outbox is empty", func() bool { return k.Depth() == 0 })
	if st := k.link.State(); st.Resent < 4 || st.Connects != 1 {
		t.Errorf("state %+v", st)
	}
}

func TestWindowIsBounded(t *testing.T) {
	h := startHub(t)
	h.script(func() { h.answer = func([]wire.Event) *wire.Ack { return nil } })
	k := startKiosk(t, h.url(), func(o *Options) { o.Window, o.AckTimeout = 100, time.Hour })
	k.record(t, 250)
	// The link counts what it sent once the broker has it, which the hub may see first.
	h.until("a window full of events", func() bool { return len(h.got) >= 100 && k.link.State().Sent >= 100 })
	k.record(t, 1) // wakes the sender, which must not send
	if st := k.link.State(); st.Sent != 100 {
		t.Errorf("sent %d events, the window is 100", st.Sent)
	}
	var stream string
	h.script(func() { stream = h.got[0].StreamID })
	h.send(wire.Ack{StreamID: stream, AckedSeq: 40})
	h.until("the window moved", func() bool { return len(h.got) >= 140 && k.link.State().Sent >= 140 })
	if st := k.link.State(); st.Sent != 140 || k.Depth() != 211 {
		t.Errorf("sent %d, depth %d", st.Sent, k.Depth())
	}
}

func TestGarbageFromTheHubIsHarmless(t *testing.T) {
	h := startHub(t)
	h.script(func() { h.answer = func([]wire.Event) *wire.Ack { return nil } })
	k := startKiosk(t, h.url())
	k.record(t, 2)
	h.until("events came", func() bool { return len(h.got) == 2 })
	for _, payload := range []string{"", "null", `{"stream_id":"x"}`, strings.Repeat("[", 100_000)} {
		if err := h.broker.Publish(addr.Topic(wire.KindAck), []byte(payload), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.broker.Publish(addr.Topic(wire.KindRequest), []byte(`{"do":"restart"}`), false); err != nil {
		t.Fatal(err)
	}
	h.send(wire.Ack{StreamID: "0192f0c1-2345-7abc-8def-0123456789ab", AckedSeq: 9}) // of a stream it never had
	var stream string
	h.script(func() { stream = h.got[0].StreamID })
	h.send(wire.Ack{StreamID: stream, AckedSeq: 2})
	h.until("the outbox is empty", func() bool { return k.Depth() == 0 })
	if st := k.link.State(); st.Connects != 1 {
		t.Errorf("state %+v", st)
	}
}

func TestRefusedKioskKeepsItsEvents(t *testing.T) {
	h := startHub(t)
	h.script(func() { h.refuse = true })
	k := startKiosk(t, h.url(), func(o *Options) { o.Random = func() float64 { return 0.2 } }) // tries after 0.1 s, 0.2 s, 0.4 s …
	k.record(t, 2)
	h.until("an error is shown", func() bool { return k.link.State().LastError != "" })
	if st := k.link.State(); st.Connected || st.Connects != 0 || st.OutboxDepth != 2 || st.Since.IsZero() {
		t.Errorf("state %+v", st)
	}
	h.script(func() { h.refuse = false })
	h.until("the outbox is empty", func() bool { return k.Depth() == 0 })
	if st := k.link.State(); !st.Connected || st.LastError != "" {
		t.Errorf("state %+v", st)
	}
}

func TestRunEndsWithAClosedOutbox(t *testing.T) {
	h := startHub(t)
	o, err := outbox.Open(t.TempDir(), outbox.Options{Kiosk: addr.Kiosk, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := New(Options{Broker: h.url(), Site: addr.Site, Kiosk: addr.Kiosk, Outbox: o})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(context.Background()); !errors.Is(err, outbox.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestStopLeavesNoGoroutine(t *testing.T) {
	h := startHub(t)
	before := runtime.NumGoroutine()
	k := startKiosk(t, h.url())
	k.record(t, 10)
	h.until("the outbox is empty", func() bool { return k.Depth() == 0 })
	k.stop()
	noMoreThan(t, before)

	unreachable := startKiosk(t, "tcp://127.0.0.1:1") // nobody listens
	h.until("it has tried", func() bool { return unreachable.link.State().LastError != "" })
	unreachable.stop()
	noMoreThan(t, before)
}

// noMoreThan waits until at most n goroutines run.
func noMoreThan(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for runtime.NumGoroutine() > n {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), n, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestNewRefuses(t *testing.T) {
	good := Options{Broker: "tcp://127.0.0.1:1883", Site: "s", Kiosk: "k", Outbox: (*outbox.Outbox)(nil)}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"in clear to another machine": func(o *Options) { o.Broker = "tcp://192.0.2.1:1883" },
		"in clear to a name":          func(o *Options) { o.Broker = "tcp://hub.example:1883" },
		"no port":                     func(o *Options) { o.Broker = "tls://hub.example" },
		"other scheme":                func(o *Options) { o.Broker = "ws://127.0.0.1:80" },
		"no broker":                   func(o *Options) { o.Broker = "" },
		"site":                        func(o *Options) { o.Site = "A" },
		"kiosk":                       func(o *Options) { o.Kiosk = "a/b" },
		"outbox":                      func(o *Options) { o.Outbox = nil },
	} {
		opt := good
		change(&opt)
		if _, err := New(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, broker := range []string{"tls://hub.example:8883", "tcp://localhost:1883", "tcp://[::1]:1883"} {
		opt := good
		opt.Broker = broker
		if _, err := New(opt); err != nil {
			t.Errorf("%s: %v", broker, err)
		}
	}
}

func TestStateIsReadable(t *testing.T) {
	b, err := json.Marshal(State{Connected: true})
	if err != nil || !strings.Contains(string(b), `"connected":true`) || strings.Contains(string(b), "0001-01-01") {
		t.Errorf("%s, %v", b, err)
	}
}
