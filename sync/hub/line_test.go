package hub

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/store"
	"docent/sync/outbox"
	"docent/sync/wire"
)

func TestEventsReachTheStore(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	var kiosks []*kiosk
	var wg sync.WaitGroup
	for i := range 3 {
		k := startKiosk(t, h.MQTTAddr(), fmt.Sprintf("kiosk-%d", i), t.TempDir())
		kiosks = append(kiosks, k)
		wg.Go(func() { k.record(t, 200) })
	}
	wg.Wait()
	for _, k := range kiosks {
		k.drained(t)
	}
	rows := checkRows(t, stored(t, dir))
	for _, k := range kiosks {
		if rows[k.name] != 200 {
			t.Errorf("%s: %d rows", k.name, rows[k.name])
		}
		if st := k.link.State(); st.Connects != 1 || st.Resent != 0 {
			t.Errorf("%s: %+v", k.name, st)
		}
	}
}

func TestHubRestarts(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	address := h.MQTTAddr()
	k := startKiosk(t, address, "kiosk-1", t.TempDir())
	total := 0
	for range 4 {
		k.record(t, 50)
		h.stop()
		k.record(t, 50) // while the hub is away
		total += 100
		h = startHub(t, Config{Dir: dir, MQTTListen: address})
	}
	k.drained(t)
	if rows := checkRows(t, stored(t, dir)); rows["kiosk-1"] != total {
		t.Errorf("%d rows, want %d", rows["kiosk-1"], total)
	}
}

func TestDuplicatesShuffled(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	o, err := outbox.Open(t.TempDir(), outbox.Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	n := 200
	if faults() {
		n = 2000
	}
	for range n {
		if _, err := o.Append(context.Background(), "exhibit.seen", nil); err != nil {
			t.Fatal(err)
		}
	}
	pending, err := o.Pending(outbox.Position{}, n, 8<<20)
	if err != nil || len(pending) != n {
		t.Fatal(len(pending), err)
	}
	var events [][]byte
	for _, p := range pending {
		for range 5 {
			events = append(events, p.Event)
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })

	acks := make(chan wire.Ack, 5*n) // the client stands still where nobody takes them
	c := rawClient(t, h.MQTTAddr(), acks)
	for len(events) > 0 {
		k := min(len(events), 1+rng.IntN(10))
		publish(t, c, wire.JoinBatch(events[:k]))
		events = events[k:]
	}
	for a := range acks {
		if a.AckedSeq == uint64(n) {
			break
		}
	}
	got := stored(t, dir)
	seen := map[uint64]bool{}
	for _, e := range got {
		seen[e.Seq] = true
	}
	if len(got) != n || len(seen) != n {
		t.Errorf("%d rows of %d distinct numbers, want %d", len(got), len(seen), n)
	}
	t.Logf("%d events, each five times, all shuffled: %d rows, 0 lost, 0 stored twice", n, len(got))
}

// rawClient is an MQTT client with the rights of kiosk-1.
func rawClient(t *testing.T, broker string, acks chan<- wire.Ack) paho.Client {
	t.Helper()
	addr := wire.Address{Site: site, Kiosk: "kiosk-1"}
	c := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + broker).SetClientID(addr.ClientID()).
		SetProtocolVersion(4).SetAutoReconnect(false).SetWriteTimeout(10 * time.Second))
	t.Cleanup(func() { c.Disconnect(100) })
	done := func(token paho.Token) {
		t.Helper()
		if !token.WaitTimeout(10*time.Second) || token.Error() != nil {
			t.Fatal("no answer", token.Error())
		}
	}
	done(c.Connect())
	done(c.Subscribe(addr.Topic(wire.KindAck), 1, func(_ paho.Client, m paho.Message) {
		a, err := wire.DecodeAck(m.Payload())
		if err != nil {
			t.Errorf("ack %s: %v", m.Payload(), err)
			return
		}
		acks <- a
	}))
	return c
}

func publish(t *testing.T, c paho.Client, payload []byte) {
	t.Helper()
	token := c.Publish(wire.Address{Site: site, Kiosk: "kiosk-1"}.Topic(wire.KindEvent), 1, false, payload)
	if !token.WaitTimeout(10*time.Second) || token.Error() != nil {
		t.Fatal("not answered", token.Error())
	}
}

// TestUnreadableMessagesDoNotBlock: what is no event is answered and put aside, and the good ones beside it count.
func TestUnreadableMessagesDoNotBlock(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	acks := make(chan wire.Ack, 100)
	c := rawClient(t, h.MQTTAddr(), acks)
	e := wire.Event{
		Schema: 1, KioskID: "kiosk-1", StreamID: "0192f0c1-2345-7abc-8def-0123456789ab", Seq: 1, EventID: "0192f0c1-2346-7abc-8def-0123456789ab",
		TSWall: time.Now(), BootID: "b1b2b3b4-1111-4222-8333-444455556666", Type: "visit.started", Data: []byte(`{"language":"zh"}`),
	}
	good, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	e.KioskID = "kiosk-2"
	foreign, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range [][]byte{nil, []byte("hello"), []byte("{}"), {0xff, 0xfe}, bytes.Repeat([]byte("["), wire.MaxPayload), foreign} {
		publish(t, c, payload)
	}
	publish(t, c, wire.JoinBatch([][]byte{[]byte("garbage between"), good, foreign}))
	a := <-acks
	for a.AckedSeq == 0 && len(a.Refused) > 0 { // of the foreign event alone
		a = <-acks
	}
	if a.AckedSeq != 1 || a.StreamID != e.StreamID {
		t.Errorf("ack %+v", a)
	}
	events := stored(t, dir)
	if len(events) != 1 || events[0].Type != "visit.started" {
		t.Errorf("stored %+v", events)
	}
	if n := quarantined(t, dir); n != 7 { // six payloads and the garbage; the foreign event is the same twice
		t.Errorf("%d in quarantine", n)
	}
}

// TestOlderCopyOfAKiosk puts a kiosk's folder back to a copy and goes on: nothing recorded before or after is lost,
// and nothing is stored twice.
func TestOlderCopyOfAKiosk(t *testing.T) {
	dir, kioskDir, copied := t.TempDir(), filepath.Join(t.TempDir(), "kiosk"), filepath.Join(t.TempDir(), "copy")
	h := startHub(t, Config{Dir: dir})
	k := startKiosk(t, h.MQTTAddr(), "kiosk-1", kioskDir)
	k.record(t, 20)
	k.drained(t)
	k.stop()
	if err := os.CopyFS(copied, os.DirFS(kioskDir)); err != nil {
		t.Fatal(err)
	}
	k = startKiosk(t, h.MQTTAddr(), "kiosk-1", kioskDir)
	k.record(t, 30)
	k.drained(t)
	k.stop()

	k = startKiosk(t, h.MQTTAddr(), "kiosk-1", copied)
	k.record(t, 45)
	k.drained(t)
	events := stored(t, dir)
	ids := map[string]bool{}
	for _, e := range events {
		ids[e.EventID] = true
	}
	if len(events) != 95 || len(ids) != 95 {
		t.Errorf("%d rows of %d events, want 95", len(events), len(ids))
	}
	if s := k.State(); s.Degraded == "" {
		t.Errorf("the kiosk noticed nothing: %+v", s)
	}
}

// TestOlderCopyOfTheHub puts the hub's database back to a copy. What came after the copy has left the kiosk and is gone;
// the hub says so and takes what comes next.
func TestOlderCopyOfTheHub(t *testing.T) {
	dir, copied := filepath.Join(t.TempDir(), "hub"), filepath.Join(t.TempDir(), "copy")
	h := startHub(t, Config{Dir: dir})
	address := h.MQTTAddr()
	k := startKiosk(t, address, "kiosk-1", t.TempDir())
	k.record(t, 10)
	k.drained(t)
	h.stop()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	h = startHub(t, Config{Dir: dir, MQTTListen: address})
	k.record(t, 7)
	k.drained(t)
	h.stop()
	h = startHub(t, Config{Dir: copied, MQTTListen: address})
	k.record(t, 5)
	k.drained(t)
	c, err := h.store.Counts(context.Background())
	if err != nil || c.Lost != 7 || c.Events != 10+5+1 || c.Quarantined != 0 {
		t.Errorf("counts %+v, %v; want 16 events, 7 lost", c, err)
	}
	if s := k.State(); s.Degraded != "" || s.AckedSeq != 10+7+5+1 {
		t.Errorf("kiosk %+v", s)
	}
}

// TestLostEventsAreAccountedFor removes a kiosk's store while events wait in it.
func TestLostEventsAreAccountedFor(t *testing.T) {
	dir, kioskDir := t.TempDir(), t.TempDir()
	h := startHub(t, Config{Dir: dir})
	k := startKiosk(t, h.MQTTAddr(), "kiosk-1", kioskDir)
	k.record(t, 10)
	k.drained(t)
	k.stop()
	offline, err := outbox.Open(kioskDir, outbox.Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := offline.Append(context.Background(), "exhibit.seen", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := offline.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(kioskDir, "store")); err != nil {
		t.Fatal(err)
	}
	k = startKiosk(t, h.MQTTAddr(), "kiosk-1", kioskDir)
	k.record(t, 3)
	k.drained(t)
	c, err := h.store.Counts(context.Background())
	if err != nil || c.Events != 10+1+3 || c.Lost != 5 {
		t.Errorf("counts %+v, %v; want 14 events, 5 lost", c, err)
	}
}

func TestRunLeavesNoGoroutine(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	k := startKiosk(t, h.MQTTAddr(), "kiosk-1", t.TempDir())
	k.record(t, 10)
	k.drained(t)
	get(t, h, "/")
	h.stop() // with the kiosk still connected
	k.stop()
	deadline := time.Now().Add(10 * time.Second)
	for len(strays()) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("left running:\n%s", strings.Join(strays(), "\n\n"))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// strays are the stacks of goroutines other than the tests' own and those of the web server's library, which keeps two
// asleep for some seconds.
func strays() (out []string) {
	buf := make([]byte, 4<<20)
	for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if !strings.Contains(stack, "testing.") && !strings.Contains(stack, "fasthttp.(*workerPool).Start") && !strings.Contains(stack, "fasthttp.updateServerDate") {
			out = append(out, stack)
		}
	}
	return out
}

func TestNewRefuses(t *testing.T) {
	good := Config{Clear: true, Dir: t.TempDir(), MQTTListen: "127.0.0.1:0", HTTPListen: "localhost:0", Site: site}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no folder":                       func(c *Config) { c.Dir = "" },
		"site":                            func(c *Config) { c.Site = "A Site" },
		"kiosks in clear from everywhere": func(c *Config) { c.MQTTListen = ":1883" },
		"kiosks in clear from the net":    func(c *Config) { c.MQTTListen = "192.0.2.1:1883" },
		"page from everywhere":            func(c *Config) { c.HTTPListen = "0.0.0.0:8081" },
		"page at a name":                  func(c *Config) { c.HTTPListen = "hub.example:8081" },
		"no port":                         func(c *Config) { c.HTTPListen = "127.0.0.1" },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRunFailsWhereItCannotListen(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	for name, cfg := range map[string]Config{
		"kiosks": {Dir: t.TempDir(), MQTTListen: h.MQTTAddr(), HTTPListen: "127.0.0.1:0"},
		"page":   {Dir: t.TempDir(), MQTTListen: "127.0.0.1:0", HTTPListen: h.HTTPAddr()},
	} {
		second, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Run(context.Background()); err == nil {
			t.Errorf("%s: a second hub listens at the same address", name)
		}
	}
}

// BenchmarkLine measures events a second from outbox to acknowledgement, the outboxes filled before: one kiosk that
// comes back after a long time, and 50 that all have a little.
func BenchmarkLine(b *testing.B) {
	for _, kiosks := range []int{1, 50} {
		b.Run(fmt.Sprintf("kiosks=%d", kiosks), func(b *testing.B) {
			h := startHub(b, Config{Dir: b.TempDir()})
			dirs := make([]string, kiosks)
			for i := range dirs {
				dirs[i] = b.TempDir()
				k := startKiosk(b, "127.0.0.1:1", fmt.Sprintf("kiosk-%d", i), dirs[i])
				k.record(b, b.N/kiosks+1)
				k.stop()
			}
			b.ResetTimer()
			var all []*kiosk
			for i, dir := range dirs {
				all = append(all, startKiosk(b, h.MQTTAddr(), fmt.Sprintf("kiosk-%d", i), dir))
			}
			for _, k := range all {
				k.drained(b)
			}
			b.StopTimer()
			b.ReportMetric(float64((b.N/kiosks+1)*kiosks)/b.Elapsed().Seconds(), "events/s")
			for _, k := range all {
				k.stop()
			}
		})
	}
}

// TestRefusedEventsAreSetAside stores other events at the hub under the id of one event and the number of another that
// a kiosk then sends: these two cannot be taken, go to the dead letters, and all the others arrive.
func TestRefusedEventsAreSetAside(t *testing.T) {
	dir, kioskDir := t.TempDir(), t.TempDir()
	box, err := outbox.Open(kioskDir, outbox.Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if _, err := box.Append(t.Context(), "exhibit.seen", map[string]int{"n": i}); err != nil {
			t.Fatal(err)
		}
	}
	waiting, err := box.Pending(outbox.Position{}, 10, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	h := startHub(t, Config{Dir: dir})
	var taken []store.Arrival
	for i, other := range []func(*wire.Event){
		func(e *wire.Event) { e.StreamID, e.Seq, e.PrevHash = "0192f0c1-2345-7abc-8def-0123456789ab", 1, "" },
		func(e *wire.Event) { e.EventID = "0192f0c1-2346-7abc-8def-0123456789ab" },
	} {
		e, err := wire.DecodeEvent(waiting[2+2*i].Event) // numbers 3 and 5
		if err != nil {
			t.Fatal(err)
		}
		other(&e)
		e.Type = "visit.started"
		b, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, store.Arrival{From: wire.Address{Site: site, Kiosk: "kiosk-1"}, At: time.Now(), Event: e, Raw: b})
	}
	if _, err := h.store.Put(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	k := startKiosk(t, h.MQTTAddr(), "kiosk-1", kioskDir)
	k.drained(t)
	letters, err := k.DeadLetters()
	if err != nil || len(letters) != 2 || letters[0].Seq != 3 || letters[1].Seq != 5 {
		t.Fatalf("letters %+v, %v", letters, err)
	}
	types := map[string]int{}
	for _, e := range stored(t, dir) {
		types[e.Type]++
	}
	if diff := cmp.Diff(map[string]int{"exhibit.seen": 4, "visit.started": 2, outbox.LostType: 2}, types); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	counts, err := h.store.Counts(t.Context())
	if err != nil || counts.Quarantined != 2 || counts.Lost != 1 { // number 5 is taken, by the other event
		t.Errorf("counts %+v, %v", counts, err)
	}
}
