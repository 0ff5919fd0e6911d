package hub

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/sync/command"
	"docent/sync/enrol"
	"docent/sync/hub/authority"
	"docent/sync/hub/sqlite"
	"docent/sync/hub/store"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/update"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// entire is a kiosk with all that follows a hub: identity, outbox, link, commands and content, under one clock.
type entire struct {
	*outbox.Outbox
	name    string
	id      *enrol.Identity
	link    *link.Link
	content *update.Updater
	clock   *clock
	synced  atomic.Bool
	slept   atomic.Int64 // commands to sleep that were done
	told    atomic.Int64 // events told durable
	stop    func()
}

// startEntire runs a kiosk that keeps what it has in dir and trusts the root for its content.
func startEntire(t testing.TB, broker, name, dir, factory string, root []byte, now *clock, change ...func(*outbox.Options)) *entire {
	t.Helper()
	k := &entire{name: name, clock: now}
	k.synced.Store(true)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	address := wire.Address{Site: site, Kiosk: name}
	var err error
	k.id, err = enrol.Open(enrol.Options{
		Dir: filepath.Join(dir, "identity"), Hub: "tls://" + broker, Kiosk: address, Clock: now.now,
		Poll: 20 * time.Millisecond, Check: 20 * time.Millisecond, Retry: 20 * time.Millisecond,
	})
	must(err)
	oo := outbox.Options{Kiosk: name, MinFree: 1, Clock: now.now, ClockSynced: k.synced.Load}
	for _, c := range change {
		c(&oo)
	}
	k.Outbox, err = outbox.Open(filepath.Join(dir, "outbox"), oo)
	must(err)
	var line atomic.Pointer[link.Link]
	runner, err := command.New(command.Options{
		Path: filepath.Join(dir, "commands.json"), // its clock is the system's, whose steps it does not feel
		Actions: map[wire.CommandName]command.Action{wire.CommandSleep: func(context.Context, wire.Command) (command.Answer, error) {
			k.slept.Add(1)
			return command.Answer{}, nil
		}},
		Send: func(r wire.Result) error { return line.Load().Answer(r) },
	})
	must(err)
	k.link, err = link.New(link.Options{
		Broker: "tls://" + broker, Site: site, Kiosk: name, Outbox: k.Outbox, Credentials: k.id, AckTimeout: 2 * time.Second,
		Command: runner.Receive, Desired: func(wire.Desired) { k.content.Desired() }, StatusEvery: 100 * time.Millisecond,
		Random: func() float64 { return 0.01 },
	})
	must(err)
	line.Store(k.link)
	s, err := update.OpenStore(filepath.Join(dir, "content"), factory, now.now)
	must(err)
	client, err := trust.NewClient(filepath.Join(dir, "content", "metadata"), root)
	must(err)
	k.content, err = update.New(update.Options{
		Store: s, Trust: client, Source: k.link, Content: stage{}, Report: k.link.Report, MinFree: 1,
		Poll: 50 * time.Millisecond, Retry: 50 * time.Millisecond,
	})
	must(err)

	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for what, run := range map[string]func(context.Context) error{"identity": k.id.Run, "link": k.link.Run, "commands": runner.Run, "content": k.content.Run} {
		wg.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
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

func (k *entire) record(t testing.TB) {
	t.Helper()
	if _, err := k.Append(context.Background(), "exhibit.seen", map[string]string{"exhibit": "penrose"}); err != nil {
		t.Error(err)
		return
	}
	k.told.Add(1)
}

// shows waits until the hub knows that the kiosk shows a release.
func (k *entire) shows(t testing.TB, h running, release string) {
	t.Helper()
	until(t, "release "+release, func() bool {
		d, err := h.store.Deployments(context.Background())
		return err == nil && d[wire.Address{Site: site, Kiosk: k.name}].Shown == release
	})
}

// house is a hub with an author, under one clock.
type house struct {
	running
	author *trust.Author
	root   []byte
}

// startHouse runs a hub with certificates and makes an author's keys for it.
func startHouse(t *testing.T, dir string, now *clock) *house {
	t.Helper()
	h := &house{running: runHub(t, Config{Dir: dir, Clock: now.now})}
	_, _, pem := get(t, h.running, "/api/v1/content/key")
	key, err := trust.ReadPublic([]byte(pem))
	if err != nil {
		t.Fatal(err)
	}
	if h.author, err = trust.OpenAuthor(filepath.Join(t.TempDir(), "keys"), key, now.now); err != nil {
		t.Fatal(err)
	}
	if h.root, err = h.author.Root(); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) publish(t *testing.T, number int) (release string) {
	t.Helper()
	r := sign(t, h.author, packRelease(t, number))
	r.upload(t, h.running, 0)
	if code, body := r.publish(t, h.running); code != 200 {
		t.Fatalf("publish: %d %s", code, body)
	}
	return r.index.ReleaseID
}

// TestHubAwayForSevenDays takes the hub away for seven days of an accelerated clock while a kiosk records. Meanwhile its
// certificate is due for renewal, the hub's signatures of the content run out, and so does a command. When the hub is
// back, the backlog drains, the certificate is renewed, the waiting command is done once and the late one never, and a
// release comes that was signed in between.
func TestHubAwayForSevenDays(t *testing.T) {
	events := 1_000
	if faults() {
		events = 100_000 // one in six seconds
	}
	const away = 7*24*time.Hour + time.Hour
	now := &clock{}
	dir, kioskDir := t.TempDir(), t.TempDir()
	h := startHouse(t, dir, now)
	address := h.MQTTAddr()
	k := startEntire(t, address, "kiosk-1", kioskDir, packRelease(t, 1), h.root, now)
	until(t, "code", func() bool { return k.id.State().Code != "" })
	if _, err := h.Authorise(context.Background(), k.id.State().Code, false); err != nil {
		t.Fatal(err)
	}
	until(t, "connection", func() bool { return k.link.State().Connected })
	begin := authority.KioskLife*2/3 - 3*24*time.Hour // the certificate is due in three days
	now.set(begin)
	k.shows(t, h.running, h.publish(t, 2))
	k.record(t)
	until(t, "empty outbox", func() bool { return k.Depth() == 0 })
	certificate := k.id.State().Until

	h.stop()
	until(t, "end of the connection", func() bool { return !k.link.State().Connected })
	// Two commands are given at the last moment, and the hub ends before it has sent them.
	to := wire.Address{Site: site, Kiosk: "kiosk-1"}
	db, err := store.Open(t.Context(), filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	commands := map[time.Duration]wire.Command{}
	for _, life := range []time.Duration{time.Hour, wire.MaxCommandLife} {
		issued := now.now()
		if life == wire.MaxCommandLife {
			issued = issued.Add(2 * time.Hour)
		}
		id, err := wire.NewID(issued, zeroes{})
		if err != nil {
			t.Fatal(err)
		}
		c := wire.Command{ID: id, Name: wire.CommandSleep, IssuedAt: issued, ExpiresAt: issued.Add(life), SentAt: issued}
		if err := db.AddCommand(t.Context(), to, c); err != nil {
			t.Fatal(err)
		}
		commands[life] = c
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			for i := c; i < events; i += 16 {
				now.set(begin + away*time.Duration(i)/time.Duration(events))
				k.record(t)
			}
		})
	}
	wg.Wait()
	now.set(begin + away)
	if s := k.State(); s.Depth != uint64(events) || s.Degraded != "" {
		t.Errorf("after seven days: %+v", s)
	}
	if s := k.id.State(); s.Phase != enrol.PhaseEnrolled || !s.Until.Equal(certificate) {
		t.Errorf("identity after seven days: %+v", s)
	}

	h.running = runHub(t, Config{Dir: dir, MQTTListen: address, Clock: now.now})
	until(t, "connection", func() bool { return k.link.State().Connected })
	drains(t, k.Outbox)
	until(t, "new certificate", func() bool { return k.id.State().Until.After(certificate) })
	until(t, "answer", func() bool {
		c, err := h.store.Command(context.Background(), commands[wire.MaxCommandLife].ID)
		return err == nil && c.Result != nil && c.Result.Status == wire.ResultDone
	})
	late, err := h.store.Command(context.Background(), commands[time.Hour].ID)
	if err != nil || late.Result != nil || view(late, now.now()).Status != wire.ResultExpired || k.slept.Load() != 1 {
		t.Errorf("a command of an hour, after seven days: %+v, %v; %d were done", late.Result, err, k.slept.Load())
	}
	k.shows(t, h.running, h.publish(t, 3))
	until(t, "presence", func() bool {
		list, err := h.store.Kiosks(context.Background())
		return err == nil && len(list) == 1 && list[0].State == string(wire.PresenceReady)
	})
	k.record(t)
	until(t, "empty outbox", func() bool { return k.Depth() == 0 })
	k.stop()
	t.Logf("hub away for seven days: %s; certificate renewed, content updated, one command done and one too late", count(t, int(k.told.Load()), dir))
}

// drains waits until an outbox is empty, for as long as it becomes less.
func drains(t *testing.T, o *outbox.Outbox) {
	t.Helper()
	least, since := o.Depth(), time.Now()
	for least > 0 {
		time.Sleep(5 * time.Millisecond)
		if n := o.Depth(); n < least {
			least, since = n, time.Now()
		}
		if time.Since(since) > 30*time.Second {
			t.Fatalf("%d events are still held: %+v", least, o.State())
		}
	}
}

type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { return len(b), nil }

// TestHubAwayWithAFullOutbox is the same with an outbox at its bound: what does not fit is refused or makes room, as set,
// and the hub can name every number that it does not have.
func TestHubAwayWithAFullOutbox(t *testing.T) {
	events, bound := 3_000, uint64(1<<20)
	if faults() {
		events, bound = 100_000, 16<<20
	}
	for _, policy := range []outbox.OnFull{outbox.RejectNew, outbox.DropOldest} {
		t.Run(string(policy), func(t *testing.T) {
			now := &clock{}
			dir := t.TempDir()
			h := startHub(t, Config{Dir: dir, Clock: now.now})
			address := h.MQTTAddr()
			h.stop()
			o, err := outbox.Open(filepath.Join(t.TempDir(), "outbox"), outbox.Options{Kiosk: "kiosk-1", MinFree: 1, MaxBytes: bound, OnFull: policy, Clock: now.now})
			if err != nil {
				t.Fatal(err)
			}
			var told, refused atomic.Int64
			var wg sync.WaitGroup
			for c := range 16 {
				wg.Go(func() {
					for i := c; i < events; i += 16 {
						now.set(7 * 24 * time.Hour * time.Duration(i) / time.Duration(events))
						if _, err := o.Append(context.Background(), "exhibit.seen", map[string]string{"exhibit": "penrose"}); err != nil {
							refused.Add(1)
						} else {
							told.Add(1)
						}
					}
				})
			}
			wg.Wait()
			dropped := int64(o.State().Dropped)
			if (refused.Load() > 0) != (policy == outbox.RejectNew) || (dropped > 0) != (policy == outbox.DropOldest) {
				t.Errorf("%d refused, %d dropped", refused.Load(), dropped)
			}
			h = startHub(t, Config{Dir: dir, MQTTListen: address, Clock: now.now})
			l, err := link.New(link.Options{Broker: "tcp://" + address, Site: site, Kiosk: "kiosk-1", Outbox: o, Random: func() float64 { return 0.01 }})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			wg.Go(func() {
				if err := l.Run(ctx); err != nil {
					t.Error(err)
				}
			})
			drains(t, o)
			cancel()
			wg.Wait()
			if err := o.Close(); err != nil {
				t.Error(err)
			}
			counts, err := h.store.Counts(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			rows, last := 0, uint64(0)
			for _, e := range stored(t, dir) {
				if e.Type != outbox.LostType {
					rows++
				}
				last = max(last, e.Seq)
			}
			if int64(rows)+counts.Lost < told.Load() || counts.Lost < dropped || int64(last) != counts.Events+counts.Lost {
				t.Errorf("%d told, %d rows, %d named as lost, %d dropped, last number %d of %d events", told.Load(), rows, counts.Lost, dropped, last, counts.Events)
			}
			t.Logf("outbox at its bound for seven days, %s: %d events told durable, %d refused; %d rows, %d named as lost, 0 silently lost",
				policy, told.Load(), refused.Load(), rows, counts.Lost)
		})
	}
}

// TestClocksJumpWhileRunning sets the clock of a kiosk and that of its hub ten years on and back, ten years back and on,
// and an hour back, while events are recorded and commands and releases come: numbers, order, ids and the hash chain hold,
// nothing is lost, each command is done once, and with the right time all goes on without anybody's help.
func TestClocksJumpWhileRunning(t *testing.T) {
	const years = 10 * 365 * 24 * time.Hour
	jumps := []time.Duration{years, -years}
	if faults() {
		jumps = []time.Duration{years, -years, -time.Hour, years, -time.Hour, -years, time.Hour}
	}
	for _, whose := range []string{"kiosk", "hub"} {
		t.Run(whose, func(t *testing.T) {
			hubClock, kioskClock := &clock{}, &clock{}
			jumping := map[string]*clock{"hub": hubClock, "kiosk": kioskClock}[whose]
			dir := t.TempDir()
			h := startHouse(t, dir, hubClock)
			k := startEntire(t, h.MQTTAddr(), "kiosk-1", t.TempDir(), packRelease(t, 1), h.root, kioskClock)
			until(t, "code", func() bool { return k.id.State().Code != "" })
			if _, err := h.Authorise(context.Background(), k.id.State().Code, false); err != nil {
				t.Fatal(err)
			}
			until(t, "connection", func() bool { return k.link.State().Connected })
			to := wire.Address{Site: site, Kiosk: "kiosk-1"}

			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for ctx.Err() == nil {
						k.record(t)
						time.Sleep(2 * time.Millisecond)
					}
				})
			}
			number, asked := 1, []string{}
			for i, jump := range jumps {
				c, err := h.Command(context.Background(), to, wire.CommandSleep, 0, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				asked = append(asked, c.ID)
				k.synced.Store(whose != "kiosk")
				jumping.set(jump)
				h.broker.Recheck() // the hub looks at the certificates of open connections each minute
				before := k.told.Load()
				until(t, "events under the wrong time", func() bool { return k.told.Load() > before+20 })
				jumping.set(0)
				k.synced.Store(true)
				h.broker.Recheck()
				until(t, fmt.Sprintf("connection after jump %d", i), func() bool { return k.link.State().Connected })
				until(t, "answer", func() bool {
					c, err := h.store.Command(context.Background(), asked[i])
					return err == nil && c.Result != nil
				})
				number++
				k.shows(t, h.running, h.publish(t, number))
			}
			cancel()
			wg.Wait()
			until(t, "empty outbox", func() bool { return k.Depth() == 0 })
			if s := k.State(); s.Degraded != "" || len(s.Losses) > 0 {
				t.Errorf("outbox: %+v", s)
			}
			if s := k.id.State(); s.Phase != enrol.PhaseEnrolled || s.Reason != "" || s.Code != "" {
				t.Errorf("identity: %+v", s)
			}
			if n := k.slept.Load(); n != int64(len(asked)) {
				t.Errorf("%d commands done of %d", n, len(asked))
			}
			k.stop()
			checkRows(t, stored(t, dir)) // in order, without a gap, each id once
			unsynced, backwards := clocksOf(t, dir)
			if (unsynced > 0) != (whose == "kiosk") || backwards > 0 {
				t.Errorf("%d events say that their clock is not set, %d come before the one before by the time since the machine's start", unsynced, backwards)
			}
			t.Logf("clock of the %s jumped %d times: %s; %d commands done once, %d releases", whose, 2*len(jumps), count(t, int(k.told.Load()), dir), len(asked), number-1)
		})
	}
}

// clocksOf counts the events whose clock was not set, and those that go back by more than a second in the time since the
// machine's start, which no clock's step changes.
func clocksOf(t *testing.T, dir string) (unsynced, backwards int) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(dir, "hub.db"), "_query_only=on")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT clock_synced, ts_mono_ms FROM events ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var newest int64
	for rows.Next() {
		var synced bool
		var mono int64
		if err := rows.Scan(&synced, &mono); err != nil {
			t.Fatal(err)
		}
		if !synced {
			unsynced++
		}
		if mono < newest-1000 {
			backwards++
		}
		newest = max(newest, mono)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return unsynced, backwards
}
