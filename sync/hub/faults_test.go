package hub

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/wire"
)

// tally is what became of events that kiosks were told are durable.
type tally struct {
	told, rows, lost, twice, gaps int
}

func (c tally) String() string {
	return fmt.Sprintf("%d events told durable, %d rows, %d lost, %d stored twice, %d gaps", c.told, c.rows, c.lost, c.twice, c.gaps)
}

// count holds what kiosks were told against the rows of a hub's store, in whatever order they came. It fails the test
// unless every event is there once and each stream's numbers have no gap.
func count(t testing.TB, told int, dir string) tally {
	t.Helper()
	c := tally{told: told}
	ids, highest, numbers := map[string]bool{}, map[string]uint64{}, map[string]map[uint64]bool{}
	for _, e := range stored(t, dir) {
		if ids[e.EventID] || numbers[e.StreamID][e.Seq] {
			c.twice++
		}
		ids[e.EventID] = true
		if numbers[e.StreamID] == nil {
			numbers[e.StreamID] = map[uint64]bool{}
		}
		numbers[e.StreamID][e.Seq] = true
		highest[e.StreamID] = max(highest[e.StreamID], e.Seq)
		if e.Type != outbox.LostType {
			c.rows++
		}
	}
	for stream, last := range highest {
		c.gaps += int(last) - len(numbers[stream])
	}
	c.lost = told - c.rows
	if c.lost != 0 || c.twice != 0 || c.gaps != 0 {
		t.Errorf("%s", c)
	}
	return c
}

// cutter passes bytes between kiosks and hub and cuts a line right after it has passed a message of events on: the hub
// has them, and its answer never comes back.
type cutter struct {
	l    net.Listener
	to   string
	wg   sync.WaitGroup
	odds atomic.Int64 // one message in odds is the last of its connection; 0: none
	cuts atomic.Int64
	mu   sync.Mutex
	open map[net.Conn]bool
}

func startCutter(t testing.TB, to string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{l: l, to: to, open: map[net.Conn]bool{}}
	c.wg.Go(func() {
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
			c.mu.Lock()
			c.open[near], c.open[far] = true, true
			c.mu.Unlock()
			var deaf atomic.Bool // nothing of the hub passes any more
			c.wg.Go(func() { c.down(near, far, &deaf) })
			c.wg.Go(func() { c.up(near, far, &deaf) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.mu.Lock()
		for conn := range c.open {
			conn.Close()
		}
		c.mu.Unlock()
		c.wg.Wait()
	})
	return c
}

// down passes what the hub says, until the line is deaf.
func (c *cutter) down(near, far net.Conn, deaf *atomic.Bool) {
	defer near.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := far.Read(b)
		if err != nil || deaf.Load() {
			return
		}
		if _, err := near.Write(b[:n]); err != nil {
			return
		}
	}
}

// up passes the kiosk's packets one by one.
func (c *cutter) up(near, far net.Conn, deaf *atomic.Bool) {
	defer near.Close()
	defer far.Close()
	in := bufio.NewReader(near)
	for {
		packet, err := readPacket(in)
		if err != nil {
			return
		}
		last := false
		if isEvents(packet) {
			if odds := c.odds.Load(); odds > 0 && rand.Int64N(odds) == 0 {
				last = true
				deaf.Store(true)
			}
		}
		if _, err := far.Write(packet); err != nil {
			return
		}
		if last {
			c.cuts.Add(1)
			near.Close()
			// The hub gets to read it: a broker need not look at what is in a connection that was reset.
			time.Sleep(20 * time.Millisecond)
			return
		}
	}
}

// readPacket reads one MQTT packet whole.
func readPacket(in *bufio.Reader) ([]byte, error) {
	first, err := in.ReadByte()
	if err != nil {
		return nil, err
	}
	length, err := binary.ReadUvarint(in) // MQTT's remaining length is the same, of four bytes at most
	if err != nil {
		return nil, err
	}
	packet := binary.AppendUvarint([]byte{first}, length)
	body := make([]byte, length)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	return append(packet, body...), nil
}

// isEvents tells whether a packet is a PUBLISH of events.
func isEvents(packet []byte) bool {
	return packet[0]>>4 == 3 && strings.Contains(string(packet[:min(len(packet), 128)]), "/event")
}

// TestCutRightAfterPublish cuts the line again and again when events have gone out and nothing has come back.
func TestCutRightAfterPublish(t *testing.T) {
	cuts, kiosks := int64(5), 2
	if faults() {
		cuts, kiosks = 200, 4
	}
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	c := startCutter(t, h.MQTTAddr())
	c.odds.Store(2)
	var all []*kiosk
	for i := range kiosks {
		all = append(all, startKiosk(t, c.l.Addr().String(), fmt.Sprintf("kiosk-%d", i), t.TempDir(), func(o *link.Options) {
			// Attempts add up while no connection lasts; the test is not about the wait between them.
			o.Random = func() float64 { return 0.0005 }
		}))
	}
	told := 0
	for c.cuts.Load() < cuts {
		for _, k := range all {
			k.record(t, 10)
			told += 10
		}
		for _, k := range all {
			k.drained(t) // over as many cuts as it takes
		}
	}
	c.odds.Store(0)
	resent := uint64(0)
	for _, k := range all {
		k.drained(t)
		resent += k.link.State().Resent
	}
	if resent == 0 {
		t.Error("nothing was sent again: no cut came before an answer")
	}
	t.Logf("line cut right after PUBLISH: %d times, %d events sent again; %s", c.cuts.Load(), resent, count(t, told, dir))
	if n := quarantined(t, dir); n != 0 {
		t.Errorf("%d messages in quarantine", n)
	}
}

// TestBrokerRestartsWhileRecording ends broker and hub again and again while kiosks record: all come back, hear
// acknowledgements again (their subscriptions are there again), and everything arrives.
func TestBrokerRestartsWhileRecording(t *testing.T) {
	restarts, kiosks, away := 4, 3, 20*time.Millisecond
	if faults() {
		restarts, kiosks, away = 20, 20, time.Second
	}
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	address := h.MQTTAddr()
	var all []*kiosk
	var told atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for i := range kiosks {
		k := startKiosk(t, address, fmt.Sprintf("kiosk-%d", i), t.TempDir(), func(o *link.Options) {
			if faults() {
				o.Random = nil // as in a house
			}
		})
		all = append(all, k)
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := k.Append(context.Background(), "exhibit.seen", map[string]string{"exhibit": "penrose"}); err != nil {
					t.Error(err)
					return
				}
				told.Add(1)
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	slowest, connects := time.Duration(0), map[string]uint64{}
	for range restarts {
		time.Sleep(away)
		for _, k := range all {
			connects[k.name] = k.link.State().Connects
		}
		h.stop()
		time.Sleep(away)
		h = startHub(t, Config{Dir: dir, MQTTListen: address})
		back := time.Now()
		acked := map[string]uint64{}
		for _, k := range all {
			acked[k.name] = k.State().AckedSeq
		}
		for _, k := range all {
			deadline := back.Add(90 * time.Second)
			for k.link.State().Connects == connects[k.name] || k.State().AckedSeq <= acked[k.name] {
				if time.Now().After(deadline) {
					t.Fatalf("%s is not back: %+v", k.name, k.link.State())
				}
				time.Sleep(time.Millisecond)
			}
			slowest = max(slowest, time.Since(back))
		}
	}
	cancel()
	wg.Wait()
	for _, k := range all {
		k.drained(t)
	}
	t.Logf("broker restarted %d times, %d kiosks: the slowest acknowledged again after %.1f s; %s",
		restarts, kiosks, slowest.Seconds(), count(t, int(told.Load()), dir))
}

// TestPoison sends what no hub can take, in between what it can: longer than any message may be, no JSON, and to a topic
// of another kiosk. The good ones arrive, and the kiosk does not come back for ever.
func TestPoison(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	k := startKiosk(t, h.MQTTAddr(), "kiosk-2", t.TempDir())
	refused, acks := 0, make(chan wire.Ack, 100)
	for name, poison := range map[string]struct {
		topic   string
		payload []byte
	}{
		"2 MiB":                    {wire.Address{Site: site, Kiosk: "kiosk-1"}.Topic(wire.KindEvent), make([]byte, 2<<20)},
		"a topic of another":       {wire.Address{Site: site, Kiosk: "kiosk-2"}.Topic(wire.KindEvent), []byte("{}")},
		"a topic that is no one's": {"dt/docent/v1/" + site + "/kiosk-1/nothing", []byte("{}")},
	} {
		c := rawClient(t, h.MQTTAddr(), acks)
		token := c.Publish(poison.topic, 1, false, poison.payload)
		until(t, "end of the connection after "+name, func() bool { return !c.IsConnectionOpen() })
		token.WaitTimeout(time.Second)
		refused++
	}
	k.record(t, 50)
	// In the outbox itself: an event that the kiosk could never send is refused before it has a number.
	if _, err := k.Append(t.Context(), "exhibit.seen", map[string]string{"text": strings.Repeat("x", 2<<20)}); err == nil {
		t.Error("an event of 2 MiB was taken")
	}
	k.record(t, 50)
	k.drained(t)
	if st := k.link.State(); st.Connects != 1 || st.Resent != 0 {
		t.Errorf("the other kiosk: %+v", st)
	}
	t.Logf("%d kinds of poison ended their own connection; %s", refused, count(t, 100, dir))
}

// TestHubStoreDamaged damages the hub's database while the hub is down: bits flipped and files cut off, in the database
// and in its log. Where the hub opens it, the kiosk goes on and every event that it was told durable is in the store or
// named as lost, or the hub refuses to acknowledge; where it does not open, the hub says so and does not start.
func TestHubStoreDamaged(t *testing.T) {
	tries := 12
	if faults() {
		tries = 200
	}
	rng := rand.New(rand.NewPCG(21, 22))
	whole, kioskDir := filepath.Join(t.TempDir(), "hub"), filepath.Join(t.TempDir(), "kiosk")
	cmd, address := startChildHub(t, struct{ Dir, MQTTListen, HTTPListen, Site string }{whole, "127.0.0.1:0", "127.0.0.1:0", site})
	k := startKiosk(t, address, "kiosk-1", kioskDir)
	for range 8 {
		k.record(t, 25)
		k.drained(t)
	}
	kill(t, cmd) // so that the log is still there
	k.stop()
	const told = 200
	results := map[string]int{}
	for i := range tries {
		dir := filepath.Join(t.TempDir(), "hub")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "hub.db*"))
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		path := files[i%len(files)]
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			continue
		}
		at := rng.IntN(len(b))
		if i%4 == 3 {
			b = b[:at]
		} else {
			b[at] ^= 1 << rng.IntN(8)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s at %d of %d", filepath.Base(path), at, len(b))
		results[afterDamage(t, dir, kioskDir, what, told)]++
	}
	t.Logf("hub's store damaged %d times after %d events: %v", tries, told, results)
}

// afterDamage runs a hub on a damaged store and a copy of its kiosk, and says how that ended.
func afterDamage(t *testing.T, dir, kioskDir, what string, told int) string {
	t.Helper()
	h, err := New(Config{Dir: dir, MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Site: site, Clear: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	select {
	case err := <-ended:
		cancel()
		if err == nil {
			t.Errorf("%s: the hub ended without a word", what)
		}
		return "does not start and says why"
	case <-h.Ready():
	}
	defer func() {
		cancel()
		<-ended
	}()
	copied := filepath.Join(t.TempDir(), "kiosk")
	if err := os.CopyFS(copied, os.DirFS(kioskDir)); err != nil {
		t.Fatal(err)
	}
	k := startKiosk(t, h.MQTTAddr(), "kiosk-1", copied, func(o *link.Options) { o.AckTimeout = 200 * time.Millisecond })
	defer k.stop()
	k.record(t, 5)
	deadline := time.Now().Add(3 * time.Second)
	for k.Depth() > 0 && time.Now().Before(deadline) {
		time.Sleep(2 * time.Millisecond)
	}
	if k.Depth() > 0 {
		return "acknowledges nothing, the kiosk keeps its events"
	}
	k.stop()
	cancel()
	<-ended
	ended <- nil
	have := map[uint64]bool{}
	named := uint64(0)
	for _, e := range stored(t, dir) {
		have[e.Seq] = true
		if e.Type != outbox.LostType {
			continue
		}
		var l outbox.Loss
		if err := json.Unmarshal(e.Data, &l); err == nil {
			for seq := l.From; seq <= l.To; seq++ {
				if !have[seq] {
					named++
				}
				have[seq] = true
			}
		}
	}
	for seq := uint64(1); seq <= uint64(told+5); seq++ {
		if !have[seq] {
			t.Errorf("%s: event %d is neither there nor named as lost", what, seq)
			return "silently lost"
		}
	}
	if named > 0 {
		return "goes on, loss named"
	}
	return "goes on, nothing lost"
}
