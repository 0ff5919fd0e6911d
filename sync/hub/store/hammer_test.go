package store

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
	"docent/sync/wire"
)

// storerEnv names, to this binary, the JSON of the storer it is to be.
const storerEnv = "DOCENT_TEST_STORER"

func TestMain(m *testing.M) {
	spec := os.Getenv(storerEnv)
	if spec == "" {
		os.Exit(m.Run())
	}
	if err := runStorer(spec); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// storer is a process that stores the events of some kiosks, each five times and out of order, as a hub would that gets
// them from a broker: what is not stored comes again.
type storer struct {
	Database      string
	Kiosks, Each  int
	Seed          uint64
	Window, Batch int // of the shuffling, of a transaction at most
}

// told is what a storer prints after each transaction: what its hub would tell a kiosk.
type told struct {
	Kiosk string
	Ack   wire.Ack
}

func runStorer(spec string) error {
	var c storer
	if err := json.Unmarshal([]byte(spec), &c); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := postgres.Open(ctx, c.Database)
	for begin := time.Now(); err != nil && time.Since(begin) < time.Minute; db, err = postgres.Open(ctx, c.Database) {
		time.Sleep(50 * time.Millisecond) // as whatever starts a hub would
	}
	if err != nil {
		return err
	}
	s := OpenPostgres(db)
	all, err := c.deliveries()
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	out := json.NewEncoder(os.Stdout)
	for len(all) > 0 {
		n := min(len(all), 1+rng.IntN(c.Batch))
		r, err := s.Put(ctx, all[:n])
		if err != nil { // the server is being restarted: nothing was told, it comes again
			time.Sleep(20 * time.Millisecond)
			continue
		}
		all = all[n:]
		for _, a := range r.Acks {
			if err := out.Encode(told{a.To.Kiosk, a.Ack}); err != nil {
				return err
			}
		}
	}
	return nil
}

// events are a kiosk's events, the same in each process.
func (c storer) events(kiosk int) ([]Arrival, error) {
	var out []Arrival
	prev := ""
	for i := 1; i <= c.Each; i++ {
		e := wire.Event{
			Schema: wire.Schema, KioskID: fmt.Sprintf("kiosk-%d", kiosk), StreamID: fmt.Sprintf("0192f0c1-2345-7abc-8def-%012x", kiosk), Seq: uint64(i),
			EventID: fmt.Sprintf("0192f0c1-%04x-7000-8000-%012x", kiosk, i),
			TSWall:  now, BootID: bootID, Type: "exhibit.seen", Data: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)), PrevHash: prev,
		}
		raw, err := e.Encode()
		if err != nil {
			return nil, err
		}
		prev = wire.Hash(raw)
		out = append(out, Arrival{From: wire.Address{Site: addr.Site, Kiosk: e.KioskID}, At: now, Event: e, Raw: raw})
	}
	return out, nil
}

// deliveries are all kiosks' events five times, shuffled within a window.
func (c storer) deliveries() ([]Arrival, error) {
	chains := make([][]Arrival, c.Kiosks)
	for k := range chains {
		var err error
		if chains[k], err = c.events(k); err != nil {
			return nil, err
		}
	}
	var all []Arrival
	for i := range c.Each {
		for _, chain := range chains {
			for range 5 {
				all = append(all, chain[i])
			}
		}
	}
	rng := rand.New(rand.NewPCG(c.Seed, 2))
	for i := range all {
		j := min(len(all)-1, i+rng.IntN(c.Window))
		all[i], all[j] = all[j], all[i]
	}
	return all, nil
}

// hearing collects what storers tell.
type hearing struct {
	mu    sync.Mutex
	acked map[string]uint64 // by kiosk, the highest
	heard int
	bad   []string
}

func (h *hearing) listen(r io.Reader) {
	dec := json.NewDecoder(bufio.NewReader(r))
	for {
		var one told
		if err := dec.Decode(&one); err != nil {
			return // the process has ended, perhaps in the middle of a line
		}
		h.mu.Lock()
		h.heard++
		h.acked[one.Kiosk] = max(h.acked[one.Kiosk], one.Ack.AckedSeq)
		if err := one.Ack.Validate(); err != nil {
			h.bad = append(h.bad, err.Error())
		}
		h.mu.Unlock()
	}
}

// wait waits until n more were heard.
func (h *hearing) wait(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for begin := h.count(); h.count() < begin+n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is stored any more")
		}
	}
}

func (h *hearing) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heard
}

func (h *hearing) snapshot() map[string]uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]uint64{}
	for k, v := range h.acked {
		out[k] = v
	}
	return out
}

// run starts a storer; the channel gives its end.
func (h *hearing) run(t *testing.T, c storer) (*exec.Cmd, <-chan error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), storerEnv+"="+string(spec))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		h.listen(out)
		done <- cmd.Wait()
	}()
	return cmd, done
}

// TestSeveralHubsOneDatabase lets two processes store the events of the same kiosks at once, each event five times by
// each of them, out of order. One process is killed with -9 and started anew, and the server is stopped in the middle of
// what it does, again and again. What was told to be stored is there, once, in the order of arrival, and in the end all is.
func TestSeveralHubsOneDatabase(t *testing.T) {
	c := storer{Kiosks: 6, Each: 400, Window: 200, Batch: 60}
	faults := 3
	if os.Getenv("DOCENT_FAULTS") == "1" {
		c.Kiosks, c.Each, faults = 12, 600, 10
	}
	server := pgtest.New(t)
	c.Database = server.Database(t)
	p := place{postgres: c.Database}
	h := &hearing{acked: map[string]uint64{}}
	c.Seed = 1
	_, first := h.run(t, c)
	c.Seed = 2
	victim, second := h.run(t, c)
	rng := rand.New(rand.NewPCG(3, 4))
	lost := 0
	check := func() {
		t.Helper()
		before := h.snapshot() // then look: what is told later may not be there yet
		s := p.open(t)
		for kiosk, acked := range before {
			var n int64
			if err := s.read.QueryRow(`SELECT count(*) FROM events WHERE kiosk_id = ? AND seq <= ?`, kiosk, acked).Scan(&n); err != nil {
				t.Fatal(err)
			}
			lost += int(acked) - int(n)
		}
		if lost != 0 {
			t.Fatalf("%d events were told to be stored and are not there", lost)
		}
	}
	for i := range faults {
		h.wait(t, 20+rng.IntN(40))
		server.Crash(t)
		server.Start(t)
		check()
		h.wait(t, 20+rng.IntN(40))
		_ = victim.Process.Kill()
		<-second
		check()
		c.Seed = uint64(10 + i)
		victim, second = h.run(t, c)
	}
	for _, done := range []<-chan error{first, second} {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	check()
	s := p.open(t)
	want := int64(c.Kiosks * c.Each)
	var n, distinct, last, quarantined, behind int64
	err := s.read.QueryRow(`SELECT count(*), count(DISTINCT (kiosk_id, seq)), max(id), (SELECT count(*) FROM quarantine),
		(SELECT count(*) FROM streams WHERE acked_seq <> ? OR max_seq <> ? OR chain_broken <> 0) FROM events`, c.Each, c.Each).Scan(&n, &distinct, &last, &quarantined, &behind)
	if err != nil {
		t.Fatal(err)
	}
	if n != want || distinct != want || last != want || quarantined != 0 || behind != 0 {
		t.Errorf("%d rows, %d events, last id %d, want %d; %d in quarantine, %d streams behind", n, distinct, last, want, quarantined, behind)
	}
	for kiosk, acked := range h.snapshot() {
		if acked != uint64(c.Each) {
			t.Errorf("%s was last told %d of %d", kiosk, acked, c.Each)
		}
	}
	if len(h.bad) > 0 {
		t.Errorf("acknowledgements that are none: %q", h.bad[:1])
	}
	t.Logf("%d restarts of the server, %d kills: %d events, %d acknowledgements told, acked-but-lost %d", faults, faults, n, h.count(), lost)
}

// TestArrivalsAreReadInOrder reads events page by page while several stores write: none is passed over.
func TestArrivalsAreReadInOrder(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		c := storer{Kiosks: 4, Each: 60, Seed: 5, Window: 50, Batch: 20}
		writers := 3
		if p.postgres == "" {
			writers = 1
		}
		done := make(chan struct{})
		var wg sync.WaitGroup
		for w := range writers {
			s := p.open(t)
			wg.Go(func() {
				c := c
				c.Seed = uint64(w)
				all, err := c.deliveries()
				for len(all) > 0 && err == nil {
					n := min(len(all), c.Batch)
					_, err = s.Put(context.Background(), all[:n])
					all = all[n:]
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		go func() { wg.Wait(); close(done) }()
		t.Cleanup(wg.Wait)
		reader, after, ended := p.open(t), int64(0), false
		seen := 0
		for {
			page, err := reader.Events(context.Background(), after, 37)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page {
				if e.ID != after+1 {
					t.Fatalf("event %d came after %d", e.ID, after)
				}
				after = e.ID
				seen++
			}
			if len(page) == 0 && ended {
				break
			}
			select {
			case <-done:
				ended = true
			default:
			}
		}
		if seen != c.Kiosks*c.Each {
			t.Errorf("%d events were read, %d are there", seen, c.Kiosks*c.Each)
		}
	})
}

// TestHubThatStopsInItsTurn lets a hub take its turn and never end it, as one does whose machine has vanished: the server
// ends its transaction, and the others go on. The bound is 10 s; here it is less.
func TestHubThatStopsInItsTurn(t *testing.T) {
	url := pgtest.Database(t)
	db, err := postgres.Open(t.Context(), url+"&idle_in_transaction_session_timeout=300")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := (inPostgres{}).turn(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if r := store(t, place{postgres: url}.open(t), chain(t, streamA, 3)...); r.Stored != 3 || r.Acks[0].Ack.AckedSeq != 3 {
		t.Errorf("%+v", r)
	}
	if err := tx.Commit(); err == nil {
		t.Error("the turn was not taken from the hub that had stopped")
	}
}
