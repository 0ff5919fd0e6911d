package visits

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
	"docent/sync/hub/store"
	"docent/sync/wire"
)

const (
	site  = "museum"
	anna  = "0123456789abcdef0123456789abcdef"
	berta = "fedcba9876543210fedcba9876543210"
)

// desk is Visits with what it sends noted.
type desk struct {
	*Visits
	*Filter
	mu    sync.Mutex
	sent  []string
	now   time.Time
	store *kept
}

// kept notes what comes to the store.
type kept struct {
	db      *sql.DB // where the visits are, if they are shared
	batches [][]store.Arrival
	forgot  []string
}

func (k *kept) PutAfter(ctx context.Context, b []store.Arrival, first func(context.Context, *sql.Tx) error) (store.Receipt, error) {
	var tx *sql.Tx
	if k.db != nil {
		var err error
		if tx, err = k.db.BeginTx(ctx, nil); err != nil {
			return store.Receipt{}, err
		}
		defer tx.Rollback()
	}
	if err := first(ctx, tx); err != nil {
		return store.Receipt{}, err
	}
	k.batches = append(k.batches, b)
	return store.Receipt{Stored: len(b)}, nil
}

func (k *kept) Forget(_ context.Context, _ string, visits []string) error {
	k.forgot = append(k.forgot, visits...)
	return nil
}

// home is where visits of a test are kept.
type home struct {
	dir string
	url string // of PostgreSQL; empty: in the folder
}

// both runs a test on each kind of database.
func both(t *testing.T, run func(*testing.T, home)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, home{dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { run(t, home{dir: t.TempDir(), url: pgtest.Database(t)}) })
}

func (h home) open(t testing.TB) *desk {
	t.Helper()
	d := &desk{now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), store: &kept{}}
	if h.url != "" {
		db, err := postgres.Open(t.Context(), h.url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		d.store.db = db
	}
	v, err := Open(t.Context(), Options{Dir: h.dir, Database: d.store.db, Clock: func() time.Time { return d.now }, Notify: func(to wire.Address, n wire.VisitNotice) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.sent = append(d.sent, fmt.Sprint(to.Kiosk, " ", n.Changed, " ", n.Forgotten))
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	d.Visits, d.Filter = v, v.Before(d.store)
	return d
}

func arrival(t testing.TB, kiosk, typ string, data any) store.Arrival {
	t.Helper()
	b, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return store.Arrival{From: wire.Address{Site: site, Kiosk: kiosk}, Event: wire.Event{Type: typ, Data: b}}
}

func (d *desk) put(t testing.TB, batch ...store.Arrival) {
	t.Helper()
	if _, err := d.Put(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) carried(t testing.TB, kiosk, visit string, n uint64, box string, covers map[string]uint64) store.Arrival {
	return arrival(t, kiosk, wire.EventVisitCarried, wire.VisitCarried{Visit: visit, Number: n, Expires: d.now.Add(time.Hour), Covers: covers, Box: []byte(box)})
}

func (d *desk) ask(t testing.TB, kiosk string, q wire.VisitQuery) wire.Chunk {
	t.Helper()
	c, ok := d.Answer(t.Context(), wire.Address{Site: site, Kiosk: kiosk}, wire.Fetch{ID: 1, Name: q.String(), Length: wire.MaxBlock})
	if !ok || c.Validate() != nil {
		t.Fatalf("%s: %v %v", q, ok, c.Validate())
	}
	return c
}

// states is what the hub has of a visit, "kiosk number box".
func (d *desk) states(t testing.TB, kiosk, visit string) (out []string) {
	t.Helper()
	c := d.ask(t, kiosk, wire.VisitQuery{Kind: wire.QueryVisit, Name: visit})
	if c.Error != "" {
		return []string{c.Error}
	}
	b, err := wire.DecodeVisitBundle(c.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range b.States {
		out = append(out, fmt.Sprint(s.Kiosk, " ", s.Number, " ", string(s.Box)))
	}
	return out
}

// TestOrderDoesNotMatter brings what three kiosks carried in any order, some twice, in batches of any size.
func TestOrderDoesNotMatter(t *testing.T) {
	both(t, func(t *testing.T, h home) {
		d, seeds := h.open(t), 60
		if h.url != "" {
			seeds = 10
		}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			if _, err := d.db.ExecContext(t.Context(), `DELETE FROM carried`); err != nil {
				t.Fatal(err)
			}
			all := []store.Arrival{
				d.carried(t, "hall", anna, 1, "h1", nil), d.carried(t, "hall", anna, 3, "h3", nil), d.carried(t, "garden", anna, 4, "g4", map[string]uint64{"attic": 2}),
				d.carried(t, "attic", anna, 2, "a2", nil), d.carried(t, "garden", anna, 2, "g2", nil), d.carried(t, "attic", anna, 1, "a1", nil),
			}
			// A kiosk sends again what was not acknowledged; what covers another comes after it was there to be read.
			for _, i := range []int{3, 5, r.IntN(6)} {
				d.put(t, all[i])
			}
			order := slices.Concat(r.Perm(6), []int{r.IntN(6)})
			for len(order) > 0 {
				n := 1 + r.IntN(len(order))
				var batch []store.Arrival
				for _, i := range order[:n] {
					batch = append(batch, all[i])
				}
				d.put(t, batch...)
				order = order[n:]
			}
			if diff := cmp.Diff([]string{"attic 2 ", "garden 4 g4", "hall 3 h3"}, d.states(t, "hall", anna)); diff != "" {
				t.Fatalf("seed %d (-want +got)\n%s", seed, diff)
			}
		}
	})
}

func TestBoxesStayApart(t *testing.T) {
	both(t, func(t *testing.T, h home) {
		d := h.open(t)
		d.put(t, d.carried(t, "hall", anna, 1, "box", nil),
			arrival(t, "hall", wire.EventMemoryCommand, map[string]any{"visit": anna, "kind": "commands", "box": []byte("sealed")}),
			arrival(t, "hall", wire.EventVisitCode, wire.VisitCode{Visit: anna, Code: berta, Expires: d.now.Add(time.Minute), Box: []byte("code")}),
			arrival(t, "hall", "exhibit.seen", map[string]any{"visit": anna, "exhibit": "fan"}))
		var got []string
		for _, a := range d.store.batches[0] {
			got = append(got, a.Event.Type+" "+string(a.Event.Data))
		}
		name := `{"visit":"` + anna + `"}`
		want := []string{"visit.carried " + name, "memory.command " + name, "visit.code " + name, `exhibit.seen {"exhibit":"fan","visit":"` + anna + `"}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("to the store (-want +got)\n%s", diff)
		}
	})
}

func TestForgotten(t *testing.T) {
	both(t, func(t *testing.T, h home) {
		d := h.open(t)
		d.put(t, d.carried(t, "hall", anna, 1, "box of anna", nil), d.carried(t, "hall", berta, 1, "b", nil))
		d.states(t, "garden", anna)
		d.put(t, arrival(t, "garden", wire.EventMemoryForgotten, wire.VisitForgotten{Visit: anna}),
			d.carried(t, "hall", anna, 2, "late", nil), arrival(t, "hall", "question.answered", map[string]any{"visit": anna, "question": "Late?"}))
		late := d.store.batches[len(d.store.batches)-1][2].Event.Data
		if string(late) != `{"visit":"`+anna+`"}` || !slices.Equal(d.store.forgot, []string{anna}) {
			t.Errorf("late: %s, forgot %q", late, d.store.forgot)
		}
		check := func(when string) {
			t.Helper()
			d.put(t, d.carried(t, "attic", anna, 9, "later", nil))
			if got := d.states(t, "hall", anna); !slices.Equal(got, []string{wire.FetchGone}) {
				t.Errorf("%s: %q", when, got)
			}
			if c := d.ask(t, "hall", wire.VisitQuery{Kind: wire.QuerySign, Name: anna, Expires: d.now.Add(time.Hour)}); c.Error != wire.FetchGone {
				t.Errorf("%s: signed a pass of it: %q", when, c.Error)
			}
			if got := d.states(t, "hall", berta); !slices.Equal(got, []string{"hall 1 b"}) {
				t.Errorf("%s: another visit: %q", when, got)
			}
		}
		check("at once")
		slices.Sort(d.sent)
		if want := []string{"garden [] [" + anna + "]", "hall [] [" + anna + "]"}; !slices.Equal(d.sent, want) {
			t.Errorf("told %q, want %q", d.sent, want)
		}
		if err := d.Visits.Close(); err != nil {
			t.Fatal(err)
		}
		d = h.open(t)
		check("after a restart")
		if err := d.Welcome(t.Context(), wire.Address{Site: site, Kiosk: "garden"}); err != nil || !slices.Equal(d.sent, []string{"garden [] [" + anna + "]"}) {
			t.Errorf("welcomed with %q, %v", d.sent, err)
		}
		for _, file := range []string{"visits.db", "visits.db-wal"} {
			if b := readFile(t, filepath.Join(h.dir, file)); bytes.Contains(b, []byte("box of anna")) {
				t.Errorf("%s holds the box", file)
			}
		}
		d.now = d.now.Add(DefaultKeepForgotten + wire.MaxPassLife)
		if err := d.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if names, err := d.strings(t.Context(), `SELECT visit FROM forgotten`); len(names)+len(d.forgotten) != 0 || err != nil {
			t.Errorf("%d names are kept for ever, %v", len(names), err)
		}
	})
}

func TestExpired(t *testing.T) {
	both(t, func(t *testing.T, h home) {
		d := h.open(t)
		d.put(t, d.carried(t, "hall", anna, 1, "box", nil))
		d.now = d.now.Add(time.Hour)
		if got := d.states(t, "garden", anna); !slices.Equal(got, []string{wire.FetchNotFound}) {
			t.Errorf("%q", got)
		}
		if err := d.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"carried", "passes", "holders"} {
			if rows, err := d.strings(t.Context(), "SELECT visit FROM "+table); err != nil || len(rows) != 0 {
				t.Errorf("%s: %q, %v", table, rows, err)
			}
		}
		far := wire.VisitCarried{Visit: berta, Number: 1, Expires: d.now.Add(100 * 24 * time.Hour), Box: []byte("b")}
		d.put(t, arrival(t, "hall", wire.EventVisitCarried, far))
		if got := d.states(t, "garden", berta); !slices.Equal(got, []string{wire.FetchNotFound}) {
			t.Errorf("a pass for a hundred days: %q", got)
		}
	})
}

func TestSign(t *testing.T) {
	both(t, func(t *testing.T, h home) {
		d := h.open(t)
		key := ed25519.PublicKey(d.ask(t, "hall", wire.VisitQuery{Kind: wire.QueryPassKey}).Data)
		q := wire.VisitQuery{Kind: wire.QuerySign, Name: anna, Expires: d.now.Add(time.Hour)}
		if !ed25519.Verify(key, wire.PassText(site, anna, q.Expires), d.ask(t, "hall", q).Data) {
			t.Error("the signature does not hold")
		}
		q.Expires = d.now.Add(wire.MaxPassLife + time.Minute)
		if c := d.ask(t, "hall", q); c.Error == "" {
			t.Error("signed for longer than passes may hold")
		}
		if err := d.Visits.Close(); err != nil {
			t.Fatal(err)
		}
		d = h.open(t)
		if again := d.ask(t, "hall", wire.VisitQuery{Kind: wire.QueryPassKey}).Data; !bytes.Equal(again, key) {
			t.Error("the key is another after a restart")
		}
	})
}

func TestCodes(t *testing.T) {
	both(t, func(t *testing.T, h home) {
		d := h.open(t)
		code := func(n int) string { return fmt.Sprintf("%032x", n) }
		give := func(n int) {
			d.put(t, arrival(t, "hall", wire.EventVisitCode, wire.VisitCode{Visit: anna, Code: code(n), Expires: d.now.Add(time.Minute + time.Duration(n)*time.Millisecond), Box: []byte("code")}))
		}
		look := func(kiosk string, n int) string {
			c := d.ask(t, kiosk, wire.VisitQuery{Kind: wire.QueryCode, Name: code(n)})
			return c.Error + string(c.Data)
		}
		give(1)
		for range codeUses {
			if got := look("garden", 1); got != "code" {
				t.Errorf("%q", got)
			}
		}
		if got := look("garden", 1); got != wire.FetchNotFound {
			t.Errorf("used up: %q", got)
		}
		for n := range codesOfVisit + 1 {
			give(10 + n)
		}
		if got := look("garden", 10); got != wire.FetchNotFound {
			t.Errorf("older than the newest three: %q", got)
		}
		give(20)
		for range missesOfKiosk {
			look("attic", 99)
		}
		if got := look("attic", 20); got != wire.FetchBusy {
			t.Errorf("after many wrong ones: %q", got)
		}
		if got := look("hall", 20); got != "code" {
			t.Errorf("from another kiosk: %q", got)
		}
		d.now = d.now.Add(missWindow)
		if got := look("attic", 20); got != wire.FetchNotFound {
			t.Errorf("run out: %q", got)
		}
	})
}

func FuzzArrival(f *testing.F) {
	d := home{dir: f.TempDir()}.open(f)
	f.Add("visit.carried", []byte(`{"visit":"`+anna+`","number":1,"expires":"2026-05-04T13:00:00Z","box":"AA=="}`))
	f.Add("visit.code", []byte(`{"visit":"`+anna+`","code":"`+berta+`","expires":"2026-05-04T13:00:00Z","box":"AA=="}`))
	f.Add("memory.forgotten", []byte(`{"visit":"`+berta+`"}`))
	f.Add("question.answered", []byte(`{"visit":3}`))
	f.Fuzz(func(t *testing.T, typ string, data []byte) {
		if _, err := d.Put(context.Background(), []store.Arrival{{From: wire.Address{Site: site, Kiosk: "hall"}, Event: wire.Event{Type: typ, Data: data}}}); err != nil {
			t.Error(err)
		}
	})
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return b
}

// TestForgottenByAnotherHub lets one hub bring a visit's box and words while another forgets the visit, each with its own
// store on the same database, in any order: nothing of it stays.
func TestForgottenByAnotherHub(t *testing.T) {
	url, key := pgtest.Database(t), []byte(nil)
	hub := func() (*Visits, *Filter, *store.Store) {
		db, err := postgres.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		s := store.OpenPostgres(db)
		t.Cleanup(func() { _ = s.Close() })
		o := Options{Dir: t.TempDir(), Database: db, Notify: func(wire.Address, wire.VisitNotice) {}}
		if key != nil {
			if _, err := Open(t.Context(), o); err == nil {
				t.Error("a hub with a key of its own was let in")
			}
			if err := os.WriteFile(filepath.Join(o.Dir, "pass.key"), key, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		v, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		key = readFile(t, filepath.Join(o.Dir, "pass.key"))
		return v, v.Before(s), s
	}
	_, one, s := hub()
	v, two, _ := hub()
	const n = 40
	event := func(i, seq int, typ string, data any) store.Arrival {
		a := arrival(t, "hall", typ, data)
		kiosk := fmt.Sprintf("kiosk-%d", i)
		a.From.Kiosk = kiosk
		a.Event.KioskID, a.Event.Seq, a.Event.StreamID = kiosk, uint64(seq), fmt.Sprintf("0192f0c1-2345-7abc-8def-%012x", i)
		a.Event.EventID, a.Event.TSWall = fmt.Sprintf("0192f0c1-%04x-7000-8000-%012x", i, seq), time.Now()
		a.Raw, a.At = fmt.Appendf(nil, "%d %d", i, seq), time.Now()
		return a
	}
	for i := range n {
		name := fmt.Sprintf("%032x", i+1)
		var wg sync.WaitGroup
		put := func(f *Filter, all ...store.Arrival) {
			wg.Go(func() {
				if _, err := f.Put(t.Context(), all); err != nil {
					t.Error(err)
				}
			})
		}
		put(one, event(i, 1, wire.EventVisitCarried, wire.VisitCarried{Visit: name, Number: 1, Expires: time.Now().Add(time.Hour), Box: []byte("box")}),
			event(i, 2, "question.answered", map[string]any{"visit": name, "question": "Where are the quaggas?"}))
		put(two, event(i, 3, wire.EventMemoryForgotten, wire.VisitForgotten{Visit: name}))
		wg.Wait()
	}
	for _, table := range []string{"carried", "passes", "codes"} {
		if rows, err := v.strings(t.Context(), "SELECT visit FROM "+table); err != nil || len(rows) != 0 {
			t.Errorf("%s holds %d, %v", table, len(rows), err)
		}
	}
	events, err := s.Events(t.Context(), 0, 10*n)
	if err != nil || len(events) != 3*n {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for _, e := range events {
		if bytes.Contains(e.Data, []byte("quaggas")) {
			t.Errorf("event %d of %s holds words of a visit that is forgotten", e.Seq, e.KioskID)
		}
	}
}
