package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/outbox"
)

// A test that kills a process runs itself as that process: one of these names the JSON of what it is to be.
const (
	hubEnv   = "DOCENT_TEST_HUB"   // Config: Dir, MQTTListen, HTTPListen, Site
	kioskEnv = "DOCENT_TEST_KIOSK" // childKiosk
)

// childKiosk is a kiosk in a process of its own.
type childKiosk struct {
	Dir, Broker string
	Append      bool // records for ever and prints each number; otherwise it ends when all is acknowledged
}

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(hubEnv) != "":
		err = runChildHub(os.Getenv(hubEnv))
	case os.Getenv(kioskEnv) != "":
		err = runChildKiosk(os.Getenv(kioskEnv))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// databaseEnv says where hubs of tests keep their data: "postgres"; otherwise in SQLite.
const databaseEnv = "DOCENT_TEST_DATABASE"

var databases sync.Map // folder of a hub → URL

// databaseOf is the database of the hub with a folder, empty for SQLite. A hub that is started again gets the same.
func databaseOf(t testing.TB, dir string) string {
	t.Helper()
	if os.Getenv(databaseEnv) != "postgres" {
		return ""
	}
	if url, ok := databases.Load(dir); ok {
		return url.(string)
	}
	url := pgtest.Database(t)
	databases.Store(dir, url)
	return url
}

// storeOf opens the store of the hub with a folder; the hub may be running.
func storeOf(t testing.TB, dir string) *store.Store {
	t.Helper()
	url := databaseOf(t, dir)
	if url == "" {
		s, err := store.Open(context.Background(), filepath.Join(dir, "hub.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	db, err := postgres.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	s := store.OpenPostgres(db)
	t.Cleanup(func() { _, _ = s.Close(), db.Close() })
	return s
}

// faults tells whether the long form of the fault tests is asked for.
func faults() bool { return os.Getenv("DOCENT_FAULTS") == "1" }

// runChildHub runs a hub until the process is killed, and prints where it listens.
func runChildHub(spec string) error {
	var c struct {
		Dir, MQTTListen, HTTPListen, Site, Database string
		Together                                    bool // others work with its folder
	}
	if err := json.Unmarshal([]byte(spec), &c); err != nil {
		return err
	}
	h, err := New(Config{Dir: c.Dir, MQTTListen: c.MQTTListen, HTTPListen: c.HTTPListen, Site: c.Site, Database: c.Database, Clear: true})
	if err != nil {
		return err
	}
	h.alone = !c.Together
	go func() {
		<-h.Ready()
		fmt.Println(h.MQTTAddr())
	}()
	return h.Run(context.Background())
}

func runChildKiosk(spec string) error {
	var c childKiosk
	if err := json.Unmarshal([]byte(spec), &c); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o, err := outbox.Open(c.Dir, outbox.Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		return err
	}
	l, err := link.New(link.Options{Broker: c.Broker, Site: site, Kiosk: "kiosk-1", Outbox: o, Random: func() float64 { return 0.01 }})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { l.Run(ctx) })
	if c.Append {
		var mu sync.Mutex
		for range 8 {
			wg.Go(func() {
				for {
					seq, err := o.Append(ctx, "exhibit.seen", map[string]string{"visit": "v", "exhibit": "penrose"})
					if err != nil {
						fmt.Fprintln(os.Stderr, err)
						os.Exit(1)
					}
					mu.Lock()
					fmt.Println(seq)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	for o.Depth() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	wg.Wait()
	return o.Close()
}

// child starts this test binary as one of the children.
func child(t *testing.T, env string, spec any) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), env+"="+string(b))
	cmd.Stderr = os.Stderr
	return cmd
}

const site = "museum"

// running is a hub of a test.
type running struct {
	*Hub
	stop func()
}

// startHub runs a hub until it is stopped or the test ends.
func startHub(t testing.TB, cfg Config) running {
	t.Helper()
	cfg.Clear = true
	return runHub(t, cfg)
}

// runHub is startHub for a hub with certificates too.
func runHub(t testing.TB, cfg Config) running {
	t.Helper()
	if cfg.MQTTListen == "" {
		cfg.MQTTListen = "127.0.0.1:0"
	}
	cfg.HTTPListen, cfg.Site = "127.0.0.1:0", site
	if cfg.Database == "" {
		cfg.Database = databaseOf(t, cfg.Dir)
	}
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-done:
		cancel()
		t.Fatal(err)
	}
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("hub: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return running{h, stop}
}

// kiosk is an outbox with a link that runs.
type kiosk struct {
	*outbox.Outbox
	name string
	link *link.Link
	stop func()
}

func startKiosk(t testing.TB, broker, name, dir string, change ...func(*link.Options)) *kiosk {
	t.Helper()
	o, err := outbox.Open(dir, outbox.Options{Kiosk: name, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	opt := link.Options{
		Broker: "tcp://" + broker, Site: site, Kiosk: name, Outbox: o, AckTimeout: 2 * time.Second,
		Random: func() float64 { return 0.02 }, // come back soon
	}
	for _, c := range change {
		c(&opt)
	}
	l, err := link.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	var once sync.Once
	k := &kiosk{Outbox: o, name: name, link: l, stop: func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("link: %v", err)
			}
			if err := o.Close(); err != nil {
				t.Errorf("outbox: %v", err)
			}
		})
	}}
	t.Cleanup(k.stop)
	return k
}

// record appends n events, several at a time.
func (k *kiosk) record(t testing.TB, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for c := range min(n, 32) {
		wg.Go(func() {
			for i := c; i < n; i += min(n, 32) {
				if _, err := k.Append(context.Background(), "exhibit.seen", map[string]any{"n": i, "exhibit": "penrose"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// drained waits until the hub has everything.
func (k *kiosk) drained(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for k.Depth() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%s still holds %d events: %+v, %+v", k.name, k.Depth(), k.link.State(), k.State())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// stored reads all events of a hub's store in order of arrival; the hub may be running.
func stored(t testing.TB, dir string) []store.Event {
	t.Helper()
	s := storeOf(t, dir)
	var all []store.Event
	var after int64
	for {
		page, err := s.Events(context.Background(), after, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].ID
	}
}

// checkRows fails unless each stream's rows are the numbers from 1 to its last, each once and, as one connection at a
// time delivers them, in order. It returns the rows of each kiosk.
func checkRows(t testing.TB, events []store.Event) map[string]int {
	t.Helper()
	last := map[string]uint64{}
	ids := map[string]bool{}
	rows := map[string]int{}
	for _, e := range events {
		if e.Seq != last[e.StreamID]+1 {
			t.Fatalf("kiosk %s: row %d holds number %d after %d", e.KioskID, e.ID, e.Seq, last[e.StreamID])
		}
		if ids[e.EventID] {
			t.Fatalf("kiosk %s: event %s is stored twice", e.KioskID, e.EventID)
		}
		last[e.StreamID], ids[e.EventID] = e.Seq, true
		rows[e.KioskID]++
	}
	return rows
}

func quarantined(t testing.TB, dir string) int64 {
	t.Helper()
	c, err := storeOf(t, dir).Counts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c.Quarantined
}
