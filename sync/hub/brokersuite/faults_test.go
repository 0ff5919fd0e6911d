package brokersuite

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/sync/hub"
	"docent/sync/hub/brokerfiles"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/wire"
)

// TestDuplicatesShuffled sends each message one to five times, in windows that are shuffled.
func TestDuplicatesShuffled(t *testing.T) {
	n := 60
	if faults() {
		n = 1000
	}
	brokers(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		h.runHub("1")
		o, err := outbox.Open(t.TempDir(), outbox.Options{Kiosk: "kiosk-0", MinFree: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		(&kiosk{Outbox: o, name: "kiosk-0"}).record(t, n)
		all, err := o.Pending(outbox.Position{}, n, 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		var payloads [][]byte
		for _, p := range all {
			for range 1 + rng.IntN(5) {
				payloads = append(payloads, p.Event)
			}
		}
		for i := 0; i+50 < len(payloads); i += 50 {
			w := payloads[i : i+50]
			rng.Shuffle(len(w), func(a, b int) { w[a], w[b] = w[b], w[a] })
		}
		g := h.mustVisit("museum_kiosk-0", ids[0])
		for _, p := range payloads {
			if token := g.Publish(kioskName(0).Topic(wire.KindEvent), 1, false, p); !token.WaitTimeout(10*time.Second) || token.Error() != nil {
				t.Fatal("publish: ", token.Error())
			}
		}
		h.stores("kiosk-0", n)
	})
}

// stores waits until the hub has that many events of a kiosk.
func (h *house) stores(name string, n int) {
	h.t.Helper()
	until(h.t, fmt.Sprintf("%d events of %s", n, name), func() (ok bool) {
		h.store(func(s *store.Store) {
			c, err := s.Counts(context.Background())
			if err != nil {
				h.t.Fatal(err)
			}
			ok = c.Events >= int64(n)
		})
		return ok
	})
	if got := h.rows()[name]; got != n {
		h.t.Errorf("%s: %d rows, want %d", name, got, n)
	}
}

// cutter closes a connection right after it has carried a message of events up.
type cutter struct {
	net.Conn
	cuts *atomic.Int64
}

// aboveStatus is more than a record of TLS with anything but events has here.
const aboveStatus = 2000

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err == nil && len(b) > aboveStatus && c.cuts.Add(-1) >= 0 {
		c.Conn.Close()
	}
	return n, err
}

// TestCutRightAfterPublish ends the connection after the message and before its answer.
func TestCutRightAfterPublish(t *testing.T) {
	want := int64(3)
	if faults() {
		want = 30
	}
	brokers(t, func(t *testing.T, h *house) {
		ids := h.identities(1)
		h.runHub("1")
		var cuts atomic.Int64
		cuts.Store(want)
		k := h.startKiosk(0, ids[0], t.TempDir(), func(o *link.Options) {
			o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &cutter{conn, &cuts}, nil
			}
		})
		k.record(t, 600)
		k.drained(t)
		if left := cuts.Load(); left > 0 {
			t.Errorf("%d cuts were not made", left)
		}
		if s := k.link.State(); s.Resent == 0 || s.Connects <= uint64(want) {
			t.Errorf("no cut happened: %+v", s)
		}
		if n := h.rows()["kiosk-0"]; n != 600 {
			t.Errorf("%d rows, want 600", n)
		}
	})
}

// TestBrokerRestarts ends the broker again and again while kiosks record, by turns with and without the chance to write
// down what it holds.
func TestBrokerRestarts(t *testing.T) {
	restarts, kiosks, each := 3, 3, 100
	if faults() {
		restarts, kiosks, each = 20, 10, 200
	}
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(kiosks)
		h.runHub("1")
		var all []*kiosk
		for i := range kiosks {
			all = append(all, h.startKiosk(i, ids[i], t.TempDir()))
		}
		for i := range restarts {
			recorded := recordAtOnce(t, all, each)
			h.stop(i%2 == 1)
			h.believed(all)
			h.start()
			recorded()
		}
		for _, k := range all {
			k.drained(t)
		}
		rows := h.rows()
		for _, k := range all {
			if rows[k.name] != restarts*each {
				t.Errorf("%s: %d rows, want %d", k.name, rows[k.name], restarts*each)
			}
		}
	})
}

// believed fails unless the hub has what kiosks were told that it has.
func (h *house) believed(all []*kiosk) {
	h.t.Helper()
	acked := map[string]uint64{}
	for _, k := range all {
		acked[k.name] = k.State().AckedSeq
	}
	h.store(func(s *store.Store) {
		for _, k := range all {
			acks, err := s.Acks(context.Background(), wire.Address{Site: site, Kiosk: k.name})
			if err != nil {
				h.t.Fatal(err)
			}
			var has uint64
			for _, a := range acks {
				has = max(has, a.AckedSeq)
			}
			if has < acked[k.name] {
				h.t.Fatalf("%s was told that %d events are stored, %d are", k.name, acked[k.name], has)
			}
		}
	})
}

// workerEnv names the JSON of a hub.Config: a test that kills a process of the hub runs itself as that.
const workerEnv = "DOCENT_TEST_WORKER"

type workerSpec struct {
	Dir, Database, URL, Worker string
	Files                      *brokerfiles.Options
}

func TestMain(m *testing.M) {
	spec := os.Getenv(workerEnv)
	if spec == "" {
		os.Exit(m.Run())
	}
	if err := runWorker(spec); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runWorker(spec string) error {
	var w workerSpec
	if err := json.Unmarshal([]byte(spec), &w); err != nil {
		return err
	}
	h, err := hub.New(hub.Config{Dir: w.Dir, Database: w.Database, HTTPListen: "127.0.0.1:0", Site: site,
		Beyond: &hub.Beyond{URL: w.URL, EnrolListen: "127.0.0.1:0", Worker: w.Worker}})
	if err != nil {
		return err
	}
	go func() {
		<-h.Ready()
		fmt.Println("ready")
	}()
	return h.Run(context.Background())
}

func (h *house) startWorker(name string) *exec.Cmd {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	spec, err := json.Marshal(workerSpec{Dir: h.dir, Database: h.database, URL: h.url, Worker: name})
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), workerEnv+"="+string(spec))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if !bufio.NewScanner(out).Scan() {
		h.t.Fatal("the hub's process did not start")
	}
	return cmd
}

func kill(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
}

// TestWorkerKilled has two processes of the hub share the work, and kills one with -9 in the middle of bursts. The other
// goes on; the first is started again in the end.
func TestWorkerKilled(t *testing.T) {
	if os.Getenv("DOCENT_TEST_DATABASE") == "" {
		t.Skip("several processes need a database that they share: DOCENT_TEST_DATABASE=postgres")
	}
	kills, kiosks, each := 2, 4, 250
	if faults() {
		kills, kiosks, each = 10, 10, 500
	}
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(kiosks)
		h.startWorker("2")
		victim := h.startWorker("1")
		var all []*kiosk
		for i := range kiosks {
			all = append(all, h.startKiosk(i, ids[i], t.TempDir()))
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for range kills {
			recorded := recordAtOnce(t, all, each)
			time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
			kill(t, victim)
			h.believed(all)
			recorded()
			began := time.Now()
			for _, k := range all { // by the other one alone
				k.drained(t)
			}
			t.Logf("one process of two killed: all acknowledged %v later", time.Since(began).Round(10*time.Millisecond))
			victim = h.startWorker("1")
		}
		rows := h.rows()
		for _, k := range all {
			if rows[k.name] != kills*each {
				t.Errorf("%s: %d rows, want %d", k.name, rows[k.name], kills*each)
			}
		}
	})
}

// recordAtOnce lets all kiosks record, and returns when something of it is acknowledged; recorded waits until all is told
// durable.
func recordAtOnce(t *testing.T, all []*kiosk, each int) (recorded func()) {
	t.Helper()
	before := make([]uint64, len(all))
	var wg sync.WaitGroup
	for j, k := range all {
		before[j] = k.State().AckedSeq
		wg.Go(func() { k.record(t, each) })
	}
	until(t, "something is acknowledged", func() bool {
		for j, k := range all {
			if k.State().AckedSeq > before[j] {
				return true
			}
		}
		return false
	})
	return wg.Wait
}

// TestHubAway lets kiosks record while no process of the hub runs. What waits at the broker, and what had no room there,
// reaches the hub in the end.
func TestHubAway(t *testing.T) {
	beyond(t, func(t *testing.T, h *house) {
		ids := h.identities(2)
		if h.kind == brokerfiles.Mosquitto { // almost no room
			h.stop(false)
			path := filepath.Join(h.files.Dir, "docent.conf")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(b, "\nmax_queued_messages 3\nmax_inflight_messages 2\n"...), 0o640); err != nil {
				t.Fatal(err)
			}
			h.start()
		}
		r := h.runHub("1")
		var all []*kiosk
		for i := range ids {
			k := h.startKiosk(i, ids[i], t.TempDir())
			k.record(t, 5)
			k.drained(t)
			all = append(all, k)
		}
		r.stop()
		for _, k := range all {
			k.record(t, 1500) // more than a window
			until(t, "a window was sent", func() bool { return k.link.State().Sent >= 1000 })
		}
		r = h.runHub("1")
		for _, k := range all {
			k.drained(t)
			s := k.link.State()
			t.Logf("%s: %d events sent, %d of them again", k.name, s.Sent, s.Resent)
		}
		for name, n := range h.rows() {
			if n != 1505 {
				t.Errorf("%s: %d rows, want 1505", name, n)
			}
		}
	})
}
