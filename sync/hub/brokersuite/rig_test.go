package brokersuite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"docent/sync/hub"
	"docent/sync/hub/authority"
	"docent/sync/hub/brokerfiles"
	"docent/sync/hub/store"
)

const site = "museum"

// faults tells whether the long form of the fault tests is asked for.
func faults() bool { return os.Getenv("DOCENT_FAULTS") == "1" }

// brokers runs a test against each broker.
func brokers(t *testing.T, run func(t *testing.T, h *house)) {
	t.Helper()
	for _, kind := range []brokerfiles.Kind{"embedded", brokerfiles.Mosquitto, brokerfiles.NATS} {
		t.Run(string(kind), func(t *testing.T) { run(t, newHouse(t, kind)) })
	}
}

// beyond runs a test against the brokers that are not in the hub's process.
func beyond(t *testing.T, run func(t *testing.T, h *house)) {
	t.Helper()
	for _, kind := range []brokerfiles.Kind{brokerfiles.Mosquitto, brokerfiles.NATS} {
		t.Run(string(kind), func(t *testing.T) { run(t, newHouse(t, kind)) })
	}
}

// process is a broker that runs.
type process interface {
	// stop ends it, or kills it.
	stop(kill bool) error
	// reload makes it read its files again.
	reload() error
}

// house is a broker with what a hub needs to work behind it.
type house struct {
	t         testing.TB
	kind      brokerfiles.Kind
	dir       string // of the hub
	database  string // of the hub; empty: SQLite
	files     brokerfiles.Options
	address   string // for kiosks
	url       string // for the hub's processes
	authority *authority.Authority
	replicas  int // of what NATS keeps

	mu      sync.Mutex
	broker  process // nil while there is none
	changes string  // what the list of kiosks was when the broker last read it
}

func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newHouse starts a broker with the files that the hub would have written for it: for kiosk-0 to kiosk-9.
func newHouse(t testing.TB, kind brokerfiles.Kind) *house {
	t.Helper()
	h := &house{t: t, kind: kind, dir: t.TempDir(), database: database(t), address: free(t)}
	h.authority = h.open()
	if kind == "embedded" {
		return h
	}
	if _, err := mosquittoPath(); err != nil && kind == brokerfiles.Mosquitto {
		t.Skip("Mosquitto is not installed; make setup-test installs it")
	}
	clients := free(t)
	h.url = "mqtts://" + h.address
	if kind == brokerfiles.NATS {
		h.url = "nats://" + clients
	}
	h.files = brokerfiles.Options{
		Kind: kind, Dir: filepath.Join(h.dir, "broker"), Authority: h.authority, Workers: []string{"1", "2"}, Listen: h.address, Hub: clients,
		Data: filepath.Join(h.dir, "data"),
	}
	h.write(nil)
	h.start()
	t.Cleanup(func() { h.stop(false) })
	watching, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { h.watch(watching) })
	t.Cleanup(func() { stop(); wg.Wait() })
	return h
}

func (h *house) open() *authority.Authority {
	h.t.Helper()
	a, err := authority.Open(filepath.Join(h.dir, "authority"), time.Now)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// write brings the broker's files to a list of certificates.
func (h *house) write(certificates []store.Certificate) {
	h.t.Helper()
	f, err := brokerfiles.New(h.files)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := f.Write(certificates, time.Now()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) listed() string {
	name := "kiosks.acl"
	if h.kind == brokerfiles.NATS {
		name = "kiosks.conf"
	}
	b, err := os.ReadFile(filepath.Join(h.files.Dir, name))
	if err != nil {
		h.t.Error(err)
	}
	sum := sha256.Sum256(b)
	return string(sum[:])
}

// watch is what systemd does with the files docent-*-reload.
func (h *house) watch(ctx context.Context) {
	for ctx.Err() == nil {
		h.mu.Lock()
		if now := h.listed(); h.broker != nil && now != h.changes {
			if err := h.broker.reload(); err != nil {
				h.t.Error(err)
			}
			h.changes = now
		}
		h.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// start starts the broker and waits until it listens.
func (h *house) start() {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	h.changes = h.listed()
	if h.kind == brokerfiles.NATS {
		h.broker, err = startNATS(filepath.Join(h.files.Dir, "nats.conf"))
	} else {
		h.broker, err = startMosquitto(h.files.Dir, h.files.Data)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		conn, err := net.Dial("tcp", h.address)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatal("the broker does not listen")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (h *house) stop(kill bool) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broker == nil {
		return
	}
	if err := h.broker.stop(kill); err != nil {
		h.t.Errorf("stop broker: %v", err)
	}
	h.broker = nil
}

// debians is Debian's Mosquitto.
type debians struct {
	cmd *exec.Cmd
	log *bytes.Buffer
}

// mosquittoPath is where Debian has it, which is not in everybody's PATH.
func mosquittoPath() (string, error) {
	if path, err := exec.LookPath("mosquitto"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/mosquitto")
}

func startMosquitto(files, data string) (process, error) {
	path, err := mosquittoPath()
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	// What Debian's /etc/mosquitto/mosquitto.conf has, in other folders.
	main := filepath.Join(data, "mosquitto.conf")
	text := fmt.Sprintf("user %s\npersistence true\npersistence_location %s/\nlog_dest stderr\ninclude_dir %s\n", me.Username, data, files)
	if err := os.WriteFile(main, []byte(text), 0o600); err != nil {
		return nil, err
	}
	m := &debians{cmd: exec.Command(path, "-c", main), log: &bytes.Buffer{}}
	if os.Getenv("DOCENT_BROKER_LOG") != "" {
		m.cmd.Stderr = os.Stderr
		m.cmd.Args = append(m.cmd.Args, "-v")
	}
	return m, m.cmd.Start()
}

func (m *debians) stop(kill bool) error {
	how := syscall.SIGTERM
	if kill {
		how = syscall.SIGKILL
	}
	if err := m.cmd.Process.Signal(how); err != nil {
		return err
	}
	err := m.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && kill {
		return nil
	}
	return err
}

func (m *debians) reload() error { return m.cmd.Process.Signal(syscall.SIGHUP) }

// nats is the server in this process.
type nats struct{ s *server.Server }

func startNATS(config string) (process, error) {
	o, err := server.ProcessConfigFile(config)
	if err != nil {
		return nil, err
	}
	o.NoSigs, o.NoLog = true, os.Getenv("DOCENT_BROKER_LOG") == ""
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	s.ConfigureLogger()
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return nil, errors.New("nats-server does not listen")
	}
	return &nats{s}, nil
}

func (n *nats) stop(bool) error {
	n.s.Shutdown()
	n.s.WaitForShutdown()
	return nil
}

func (n *nats) reload() error { return n.s.Reload() }

// config is the hub's, of one process.
func (h *house) config(worker string) hub.Config {
	c := hub.Config{Dir: h.dir, Database: h.database, HTTPListen: "127.0.0.1:0", Site: site, MQTTListen: h.address}
	if h.kind != "embedded" {
		files := h.files
		c.Beyond = &hub.Beyond{URL: h.url, EnrolListen: "127.0.0.1:0", Worker: worker, Replicas: h.replicas, Files: &files}
		if worker != "1" {
			c.Beyond.Files = nil
		}
	}
	return c
}

// running is a hub of a test.
type running struct {
	*hub.Hub
	stop func()
}

// runHub runs a process of the hub until it is stopped or the test ends.
func (h *house) runHub(worker string) running {
	h.t.Helper()
	r, err := hub.New(h.config(worker))
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	select {
	case <-r.Ready():
	case err := <-done:
		cancel()
		h.t.Fatal(err)
	}
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				h.t.Errorf("hub: %v", err)
			}
		})
	}
	h.t.Cleanup(stop)
	return running{r, stop}
}

// store opens the hub's store; the hub may be running.
func (h *house) store(use func(*store.Store)) {
	h.t.Helper()
	s, closeStore, err := openStore(h.database, h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() {
		if err := closeStore(); err != nil {
			h.t.Error(err)
		}
	}()
	use(s)
}

func until(t testing.TB, what string, ok func() bool, state ...func() string) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			for _, s := range state {
				what += ": " + s()
			}
			t.Fatal("in a minute not: ", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// rows reads all events of the hub's store and fails unless each stream's rows are the numbers from 1 to its last, each
// once. It returns the number of each kiosk.
func (h *house) rows() map[string]int {
	h.t.Helper()
	numbers, ids, out := map[string]map[uint64]bool{}, map[string]bool{}, map[string]int{}
	h.store(func(s *store.Store) {
		var after int64
		for {
			page, err := s.Events(context.Background(), after, 10_000)
			if err != nil {
				h.t.Fatal(err)
			}
			for _, e := range page {
				if numbers[e.StreamID] == nil {
					numbers[e.StreamID] = map[uint64]bool{}
				}
				if numbers[e.StreamID][e.Seq] || ids[e.EventID] {
					h.t.Fatalf("kiosk %s: event %d is stored twice", e.KioskID, e.Seq)
				}
				numbers[e.StreamID][e.Seq], ids[e.EventID] = true, true
				out[e.KioskID]++
				after = e.ID
			}
			if len(page) == 0 {
				break
			}
		}
		c, err := s.Counts(context.Background())
		if err != nil {
			h.t.Fatal(err)
		}
		if c.Quarantined != 0 {
			h.t.Errorf("%d messages in quarantine", c.Quarantined)
		}
	})
	for stream, all := range numbers {
		for seq := range all {
			if seq > uint64(len(all)) {
				h.t.Fatalf("stream %s has a gap below %d", stream, seq)
			}
		}
	}
	return out
}
