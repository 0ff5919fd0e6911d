package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/postgres/pgtest"
	"docent/sync/wire"
)

var (
	addr = wire.Address{Site: "museum", Kiosk: "kiosk-1"}
	now  = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
)

const (
	streamA = "0192f0c1-2345-7abc-8def-00000000000a"
	streamB = "0192f0c1-2345-7abc-8def-00000000000b"
	bootID  = "b1b2b3b4-1111-4222-8333-444455556666"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// chain makes n chained events of a stream.
func chain(t testing.TB, stream string, n int) []Arrival {
	t.Helper()
	var out []Arrival
	prev := ""
	for i := 1; i <= n; i++ {
		a := arrival(t, stream, uint64(i), prev, "exhibit.seen", fmt.Sprintf(`{"n":%d}`, i))
		prev = wire.Hash(a.Raw)
		out = append(out, a)
	}
	return out
}

func arrival(t testing.TB, stream string, seq uint64, prev, typ, data string) Arrival {
	t.Helper()
	e := wire.Event{
		Schema: wire.Schema, KioskID: addr.Kiosk, StreamID: stream, Seq: seq,
		EventID: fmt.Sprintf("0192f0c1-0000-7000-8%s-%012x", stream[len(stream)-3:], seq),
		TSWall:  now, BootID: bootID, Type: typ, Data: json.RawMessage(data), PrevHash: prev,
	}
	raw, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return Arrival{From: addr, At: now, Event: e, Raw: raw}
}

func store(t testing.TB, s *Store, batch ...Arrival) Receipt {
	t.Helper()
	r, err := s.Put(context.Background(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func count(t testing.TB, s *Store, query string) (n int) {
	t.Helper()
	if err := s.read.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPutIsIdempotentAndAcknowledges(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		events := chain(t, streamA, 5)
		r := store(t, s, events[:3]...)
		want := []Ack{{To: addr, Ack: wire.Ack{StreamID: streamA, AckedSeq: 3, AckedHash: wire.Hash(events[2].Raw)}}}
		if diff := cmp.Diff(Receipt{Stored: 3, Acks: want}, r); diff != "" {
			t.Errorf("first (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(Receipt{Duplicates: 3, Acks: want}, store(t, s, events[:3]...)); diff != "" {
			t.Errorf("again (-want +got):\n%s", diff)
		}
		r = store(t, s, events[4], events[4])
		want[0].Ack.Missing = []wire.Range{{4, 4}}
		if diff := cmp.Diff(Receipt{Stored: 1, Duplicates: 1, Acks: want}, r); diff != "" {
			t.Errorf("with a gap (-want +got):\n%s", diff)
		}
		r = store(t, s, events[3])
		want = []Ack{{To: addr, Ack: wire.Ack{StreamID: streamA, AckedSeq: 5, AckedHash: wire.Hash(events[4].Raw)}}}
		if diff := cmp.Diff(Receipt{Stored: 1, Acks: want}, r); diff != "" {
			t.Errorf("gap closed (-want +got):\n%s", diff)
		}
		acks, err := s.Acks(context.Background(), addr)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]wire.Ack{want[0].Ack}, acks); diff != "" {
			t.Errorf("acks for a kiosk that comes back (-want +got):\n%s", diff)
		}
	})
}

func TestPutOfShuffledDuplicates(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		const n = 200
		var all []Arrival
		for _, a := range chain(t, streamA, n) {
			for range 5 {
				all = append(all, a)
			}
		}
		rng := rand.New(rand.NewPCG(5, 6))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var last Receipt
		stored := 0
		for len(all) > 0 {
			k := min(len(all), 1+rng.IntN(40))
			last = store(t, s, all[:k]...)
			stored += last.Stored
			all = all[k:]
			a := last.Acks[0].Ack
			if err := a.Validate(); err != nil {
				t.Fatalf("ack %+v: %v", a, err)
			}
		}
		if a := last.Acks[0].Ack; stored != n || a.AckedSeq != n || len(a.Missing) > 0 || last.Broken > 0 {
			t.Errorf("stored %d, last ack %+v", stored, a)
		}
		if got := count(t, s, `SELECT count(*) FROM events`); got != n {
			t.Errorf("%d rows, want %d", got, n)
		}
	})
}

func TestAnotherEventUnderTheSameNumber(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		events := chain(t, streamA, 2)
		store(t, s, events[0])
		forged := arrival(t, streamA, 1, "", "exhibit.seen", `{"n":"forged"}`)
		for range 3 {
			r := store(t, s, forged)
			if r.Quarantined != 1 || r.Stored != 0 || r.Acks[0].Ack.AckedSeq != 1 {
				t.Errorf("receipt %+v", r)
			}
		}
		var times int
		var reason string
		var payload []byte
		if err := s.read.QueryRow(`SELECT times, reason, payload FROM quarantine`).Scan(&times, &reason, &payload); err != nil {
			t.Fatal(err)
		}
		if times != 3 || reason != "another event has this number" || string(payload) != string(forged.Raw) {
			t.Errorf("quarantine holds %d, %q, %s", times, reason, payload)
		}
		var data string
		if err := s.read.QueryRow(`SELECT data FROM events`).Scan(&data); err != nil || data != `{"n":1}` {
			t.Errorf("stored event is %s, %v", data, err)
		}
	})
}

func TestQuarantineIsBounded(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		var batch []Arrival
		for i := range maxQuarantine + 50 {
			batch = append(batch, Arrival{From: addr, At: now, Raw: fmt.Appendf(nil, "garbage %d", i), Refused: "not an event"})
		}
		if r := store(t, s, batch...); r.Quarantined != len(batch) || len(r.Acks) > 0 {
			t.Errorf("receipt %+v", r)
		}
		if got := count(t, s, `SELECT count(*) FROM quarantine`); got != maxQuarantine {
			t.Errorf("%d rows, want %d", got, maxQuarantine)
		}
	})
}

func TestEventsNumberedAnewAreNoNewEvents(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		store(t, s, chain(t, streamA, 5)...)
		// The kiosk's store was put back to an older copy: events 4 and 5 and a new one come in a new stream.
		var moved []Arrival
		prev := ""
		for i, a := range append(chain(t, streamA, 5)[3:], arrival(t, streamB, 9, wire.Hash([]byte("x")), "visit.ended", `{}`)) {
			e := a.Event
			e.StreamID, e.Seq, e.PrevHash = streamB, uint64(i+1), prev
			raw, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			prev = wire.Hash(raw)
			moved = append(moved, Arrival{From: addr, At: now, Event: e, Raw: raw})
		}
		r := store(t, s, moved...)
		if r.Stored != 1 || r.Duplicates != 2 || r.Acks[0].Ack.AckedSeq != 3 {
			t.Errorf("receipt %+v", r)
		}
		if got := count(t, s, `SELECT count(*) FROM events`); got != 6 {
			t.Errorf("%d rows, want 6", got)
		}
		if r := store(t, s, moved...); r.Duplicates != 3 || r.Acks[0].Ack.AckedSeq != 3 {
			t.Errorf("again: %+v", r)
		}
		forged := moved[0]
		forged.Event.Seq, forged.Event.PrevHash, forged.Event.Data = 4, prev, json.RawMessage(`{"forged":true}`)
		forged.Raw, _ = forged.Event.Encode()
		if r := store(t, s, forged); r.Quarantined != 1 {
			t.Errorf("another event with a known id: %+v", r)
		}
	})
}

func TestLostRangesCountAsAnswered(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		events := chain(t, streamA, 20)
		r := store(t, s, append(append([]Arrival{}, events[:4]...), events[6], events[9])...)
		if diff := cmp.Diff([]wire.Range{{5, 6}, {8, 9}}, r.Acks[0].Ack.Missing); diff != "" {
			t.Fatalf("missing (-want +got):\n%s", diff)
		}
		lost := func(seq uint64, prev, from, to string) Arrival {
			return arrival(t, streamB, seq, prev, LostType, `{"stream_id":"`+streamA+`","from_seq":`+from+`,"to_seq":`+to+`,"reason":"cut off"}`)
		}
		first := lost(1, "", "1", "6") // a kiosk that does not know what the hub has
		r = store(t, s, first)
		if len(r.Acks) != 2 || r.Acks[1].Ack.AckedSeq != 7 || cmp.Diff([]wire.Range{{8, 9}}, r.Acks[1].Ack.Missing) != "" {
			t.Errorf("after the first loss: %+v", r.Acks)
		}
		second := lost(2, wire.Hash(first.Raw), "8", "15")
		r = store(t, s, second)
		if a := r.Acks[1].Ack; a.AckedSeq != 15 || len(a.Missing) > 0 || a.AckedHash != "" {
			t.Errorf("after the second loss: %+v", a)
		}
		c, err := s.Counts(context.Background())
		if err != nil || c.Lost != 2+7 { // 5, 6; 8, 9, 11 … 15
			t.Errorf("counts %+v, %v", c, err)
		}
		if r := store(t, s, first, second); r.Duplicates != 2 || count(t, s, `SELECT sum(to_seq-from_seq+1) FROM answered`) != 9 {
			t.Errorf("told again: %+v", r)
		}
		third := lost(3, wire.Hash(second.Raw), "9", "8") // nonsense is stored and means nothing
		if r := store(t, s, third); r.Stored != 1 || len(r.Acks) != 1 {
			t.Errorf("nonsense: %+v", r)
		}
		r = store(t, s, events[15])
		if a := r.Acks[0].Ack; a.AckedSeq != 16 || r.Broken != 0 {
			t.Errorf("the stream goes on: %+v", r)
		}
	})
}

func TestBrokenChainIsNoted(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		events := chain(t, streamA, 2)
		wrong := arrival(t, streamA, 2, wire.Hash([]byte("something else")), "exhibit.seen", `{}`)
		r := store(t, s, events[0], wrong)
		if r.Stored != 2 || r.Broken != 1 || count(t, s, `SELECT chain_broken FROM streams`) != 2 {
			t.Errorf("receipt %+v", r)
		}
	})
}

func TestGaps(t *testing.T) {
	tests := []struct {
		name     string
		known    uint64
		upto     uint64
		answered []wire.Range
		want     []wire.Range
	}{
		{"nothing", 5, 5, nil, nil},
		{"all", 5, 8, nil, []wire.Range{{6, 8}}},
		{"answered", 5, 8, []wire.Range{{6, 8}}, nil},
		{"answered before", 5, 8, []wire.Range{{1, 3}}, []wire.Range{{6, 8}}},
		{"answered in the middle", 5, 9, []wire.Range{{7, 8}}, []wire.Range{{6, 6}, {9, 9}}},
		{"answered beyond", 5, 8, []wire.Range{{8, 20}}, []wire.Range{{6, 7}}},
		{"answered twice", 5, 12, []wire.Range{{1, 7}, {6, 6}, {9, 10}}, []wire.Range{{8, 8}, {11, 12}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			known := tt.known
			if diff := cmp.Diff(tt.want, gaps(nil, &known, tt.upto, tt.answered)); diff != "" || known != tt.upto {
				t.Errorf("known %d (-want +got):\n%s", known, diff)
			}
		})
	}
}

func TestEventsAndLatest(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		store(t, s, chain(t, streamA, 5)...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = p.open(t) // migrations run on an existing database
		ctx := context.Background()
		got, err := s.Events(ctx, 2, 2)
		if err != nil || len(got) != 2 || got[0].Seq != 3 || got[1].ID != 4 || string(got[0].Data) != `{"n":3}` || !got[0].TSWall.Equal(now) {
			t.Errorf("events after 2: %+v, %v", got, err)
		}
		latest, err := s.Latest(ctx, 2)
		if err != nil || len(latest) != 2 || latest[0].Seq != 5 {
			t.Errorf("latest: %+v, %v", latest, err)
		}
		none, err := s.Events(ctx, 5, 10)
		if err != nil || none == nil || len(none) != 0 {
			t.Errorf("events after the last: %v, %v", none, err)
		}
	})
}

func TestPresence(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		s := p.open(t)
		ctx := context.Background()
		state := func() string {
			t.Helper()
			k, err := s.Kiosks(ctx)
			if err != nil || len(k) > 1 {
				t.Fatal(k, err)
			}
			if len(k) == 0 {
				return "unknown"
			}
			return fmt.Sprintf("%s %d", k[0].State, k[0].SessionSeq)
		}
		set := func(state wire.Presence, session uint64) {
			t.Helper()
			if err := s.SetPresence(ctx, addr, wire.Status{State: state, SessionSeq: session, BootID: bootID}, now); err != nil {
				t.Fatal(err)
			}
		}
		steps := []struct {
			do   func()
			want string
		}{
			{func() { set(wire.PresenceLost, 1) }, "unknown"},
			{func() { set(wire.PresenceReady, 1) }, "ready 1"},
			{func() { set(wire.PresenceLost, 1) }, "lost 1"},
			{func() { set(wire.PresenceReady, 2) }, "ready 2"},
			{func() { set(wire.PresenceLost, 1) }, "ready 2"}, // a will that comes late
			{func() { set(wire.PresenceDisconnected, 1) }, "ready 2"},
			{func() { set(wire.PresenceDisconnected, 2) }, "disconnected 2"},
			{func() { set(wire.PresenceReady, 1) }, "ready 1"}, // a kiosk with a new store begins anew
			{func() {
				if err := s.AllLost(ctx, now); err != nil {
					t.Fatal(err)
				}
			}, "lost 1"},
		}
		for i, step := range steps {
			step.do()
			if got := state(); got != step.want {
				t.Errorf("step %d: %s, want %s", i, got, step.want)
			}
		}
	})
}

func TestPathWithOddCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%20é")
	store(t, open(t, dir), chain(t, streamA, 1)...)
	if _, err := filepath.Glob(filepath.Join(dir, "hub.db")); err != nil {
		t.Fatal(err)
	}
	if got := count(t, open(t, dir), `SELECT count(*) FROM events`); got != 1 {
		t.Errorf("%d rows in the second handle", got)
	}
}

// BenchmarkPut measures durable events a second in transactions of 1, 64 and 1024 events.
func BenchmarkPut(b *testing.B) {
	for _, where := range []string{"sqlite", "postgres"} {
		for _, size := range []int{1, 64, 1024, 4096} {
			b.Run(fmt.Sprint(where, "/", size), func(b *testing.B) {
				p := place{sqlite: filepath.Join(b.TempDir(), "hub.db")}
				if where == "postgres" {
					p.postgres = pgtest.Database(b)
				}
				s := p.open(b)
				events := chain(b, streamA, b.N)
				b.ResetTimer()
				for len(events) > 0 {
					n := min(size, len(events))
					store(b, s, events[:n]...)
					events = events[n:]
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

func TestSmallWritesShareATransaction(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		ctx := context.Background()
		s := p.open(t)
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				if i%100 == 7 { // one that fails takes no other with it
					if err := s.together(ctx, func(ctx context.Context, tx *sql.Tx) error {
						_, err := tx.ExecContext(ctx, `INSERT INTO nowhere VALUES (1)`)
						return err
					}); err == nil {
						t.Error("a write that fails has not")
					}
					return
				}
				st := wire.Status{State: wire.PresenceReady, SessionSeq: 1, BootID: "b1b2b3b4-1111-4222-8333-444455556666", TS: time.Now()}
				if err := s.SetPresence(ctx, wire.Address{Site: "museum", Kiosk: fmt.Sprintf("kiosk-%d", i)}, st, time.Now()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if kiosks, err := s.Kiosks(ctx); err != nil || len(kiosks) != 297 {
			t.Errorf("%d kiosks, %v", len(kiosks), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.together(ctx, nil); err == nil {
			t.Error("a closed store takes writes")
		}
	})
}
