package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
	"docent/sync/hub/sqlite"
	"docent/sync/hub/store"
	"docent/sync/hub/visits"
	"docent/sync/wire"
)

var kiosk = wire.Address{Site: "museum", Kiosk: "hall"}

const (
	anna  = "0123456789abcdef0123456789abcdef"
	berta = "fedcba9876543210fedcba9876543210"
	boot  = "b1b2b3b4-1111-4222-8333-444455556666"
)

// arrivals are n events of a stream, and after them a few that are not as they should be.
func arrivals(t *testing.T, n int) []store.Arrival {
	t.Helper()
	var out []store.Arrival
	prev := ""
	add := func(typ string, data any) {
		b, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		e := wire.Event{
			Schema: wire.Schema, KioskID: kiosk.Kiosk, StreamID: "0192f0c1-2345-7abc-8def-00000000000a", Seq: uint64(len(out) + 1),
			EventID: fmt.Sprintf("0192f0c1-0000-7000-8000-%012x", len(out)), TSWall: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), BootID: boot, Type: typ, Data: b, PrevHash: prev, ClockSynced: len(out)%2 == 0,
		}
		raw, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		prev = wire.Hash(raw)
		out = append(out, store.Arrival{From: kiosk, At: time.Now(), Event: e, Raw: raw})
	}
	for i := range n {
		add("exhibit.seen", map[string]any{"n": i, "name": "龟 \u0000 “x”"})
	}
	add("question.answered", map[string]any{"visit": berta, "question": "Why?"})
	add("outbox.lost", map[string]any{"stream_id": "0192f0c1-2345-7abc-8def-00000000000b", "from_seq": 3, "to_seq": 9, "reason": "cut \u0000 off"})
	add(wire.EventVisitCarried, wire.VisitCarried{Visit: anna, Number: 1, Expires: time.Now().Add(time.Hour), Box: []byte{0, 1, 255}})
	add(wire.EventVisitCode, wire.VisitCode{Visit: anna, Code: berta, Expires: time.Now().Add(time.Minute), Box: []byte("code")})
	add(wire.EventMemoryForgotten, wire.VisitForgotten{Visit: "00000000000000000000000000000001"})
	return append(out, store.Arrival{From: kiosk, At: time.Now(), Raw: []byte("\x00garbage\xff"), Refused: "not an event"})
}

// fill gives a folder something of everything a hub keeps.
func fill(t *testing.T, dir string, events int) {
	t.Helper()
	ctx := t.Context()
	s, err := store.Open(ctx, filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := visits.Open(ctx, visits.Options{Dir: filepath.Join(dir, "visits"), Notify: func(wire.Address, wire.VisitNotice) {}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = v.Before(s).Put(ctx, arrivals(t, events))
	must(err)
	must(s.SetPresence(ctx, kiosk, wire.Status{State: wire.PresenceReady, SessionSeq: 3, BootID: boot, TS: now}, now))
	must(s.SetDeployment(ctx, kiosk, wire.Deploy{Status: wire.DeploySuccess, Number: 4, RolledBack: true, Detail: "a\x00b"}, now))
	must(s.AddEnrolment(ctx, store.Enrolment{IDHash: "h", Code: "K7M3XR", Kiosk: kiosk, CSR: []byte{0, 255}, AskedAt: now, ExpiresAt: now.Add(time.Minute)}))
	must(s.AddCertificate(ctx, store.Certificate{Serial: "a1", Kiosk: kiosk, NotBefore: now, NotAfter: now.Add(time.Hour)}))
	_, err = s.Revoke(ctx, kiosk, now, wire.RefusedRevoked)
	must(err)
	must(s.AddCommand(ctx, kiosk, wire.Command{ID: "0192f0c1-0000-7000-8000-000000000001", Name: wire.CommandRefresh, IssuedAt: now, ExpiresAt: now.Add(time.Hour)}))
	must(errors.Join(s.Close(), v.Close()))
	db, err := sqlite.Open(filepath.Join(dir, "hub.db"), "")
	must(err)
	for _, q := range []string{
		`INSERT INTO rollouts (id, seq, version, state, release_id, number, back, whole, doc) VALUES ('r', 1, 2, 'running', 'x', 4, 0, 1, '{}')`,
		`INSERT INTO rollout_kiosks VALUES ('r', 'museum', 'hall', 0, 'going', '', '', '', '', '', '', '')`,
	} {
		_, err = db.ExecContext(ctx, q)
		must(err)
	}
	must(db.Close())
	for _, name := range []string{"objects", "metadata"} {
		must(os.MkdirAll(filepath.Join(dir, "content", name), 0o700))
	}
	for i := range 3 {
		data := make([]byte, 1000*i+1)
		sum := sha256.Sum256(data)
		must(os.WriteFile(filepath.Join(dir, "content", "objects", hex.EncodeToString(sum[:])), data, 0o600))
	}
	must(os.WriteFile(filepath.Join(dir, "content", "objects", ".new-123"), []byte("half"), 0o600))
	for _, name := range []string{"1.root.json", "timestamp.json"} {
		must(os.WriteFile(filepath.Join(dir, "content", "metadata", name), []byte("{} "+name), 0o644))
	}
	must(os.WriteFile(filepath.Join(dir, "content", "hub.key"), []byte("key"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "emergency.json"), []byte(`{"number":5}`), 0o600))
}

func TestThereAndBack(t *testing.T) {
	ctx := t.Context()
	dir, url := t.TempDir(), pgtest.Database(t)
	const events = 2500 // more than one statement takes
	fill(t, dir, events)
	there, err := ToPostgres(ctx, dir, url)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range there.Tables {
		if table.Rows == 0 {
			t.Errorf("this test has no row for table %s", table.Name)
		}
	}
	if there.Objects != 3 || there.Documents != 3 || len(there.Tables) < 17 {
		t.Errorf("moved %+v", there)
	}
	if _, err := ToPostgres(ctx, dir, url); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("moved into what is there: %v", err)
	}

	// A hub on the database goes on where the one in the folder was.
	db, err := postgres.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	s := store.OpenPostgres(db)
	r, err := s.Put(ctx, arrivals(t, events)[:events])
	if err != nil || r.Duplicates != events {
		t.Errorf("the same events again: %+v, %v", r, err)
	}
	if err := s.Forget(ctx, kiosk.Site, []string{berta}); err != nil {
		t.Fatal(err)
	}
	asked, err := s.Events(ctx, events, 1)
	if err != nil || len(asked) != 1 || string(asked[0].Data) != `{"visit":"`+berta+`"}` {
		t.Errorf("words of a visit that was moved: %+v, %v", asked, err)
	}
	back := t.TempDir()
	if _, err := ToFolder(ctx, url, back); !errors.Is(err, ErrRunning) {
		t.Errorf("moved from a hub that runs: %v", err)
	}
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}

	returned, err := ToFolder(ctx, url, back)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToFolder(ctx, url, back); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("moved over a hub: %v", err)
	}
	// And once more, into another database: what went there and back is the same.
	again, err := ToPostgres(ctx, back, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(returned, again); diff != "" {
		t.Errorf("(-back +again)\n%s", diff)
	}
	for i, table := range there.Tables {
		if changed := table.Name == "events" || table.Name == "quarantine" || table.Name == "streams"; !changed && returned.Tables[i] != table {
			t.Errorf("there %+v, back %+v", table, returned.Tables[i])
		}
	}
	if b, err := os.ReadFile(filepath.Join(back, "emergency.json")); string(b) != `{"number":5}` || err != nil {
		t.Errorf("emergency message %q, %v", b, err)
	}
	if left, err := filepath.Glob(filepath.Join(back, ".moving-*")); len(left) != 0 || err != nil {
		t.Errorf("left over: %q, %v", left, err)
	}
	local, err := store.Open(ctx, filepath.Join(back, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if c, err := local.Counts(ctx); err != nil || c.Events != events+5 || c.Lost != 7 {
		t.Errorf("counts %+v, %v", c, err)
	}
}

func TestRefused(t *testing.T) {
	ctx := context.Background()
	dir, url := t.TempDir(), pgtest.Database(t)
	if _, err := ToPostgres(ctx, dir, url); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	fill(t, dir, 3)
	s, err := store.Open(ctx, filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToPostgres(ctx, dir, url); !errors.Is(err, ErrRunning) {
		t.Errorf("a hub that runs: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	objects, err := filepath.Glob(filepath.Join(dir, "content", "objects", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(objects[len(objects)-1], []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ToPostgres(ctx, dir, url); err == nil {
		t.Error("a damaged object was moved")
	}
	if err := os.Remove(objects[len(objects)-1]); err != nil {
		t.Fatal(err)
	}
	if _, err := ToPostgres(ctx, dir, url); err != nil { // nothing is left of what did not work
		t.Error(err)
	}
}

func TestSumTellsRowsApart(t *testing.T) {
	rows := [][]any{{int64(1), "a", []byte("b")}, {int64(1), "ab", []byte("")}, {int64(1), "a", nil}, {true, "a", []byte("b")}, {int64(2), "a", []byte("b")}}
	seen := map[sum]bool{}
	for _, row := range rows {
		var s sum
		s.add(row)
		if seen[s] {
			t.Errorf("%v is like another", row)
		}
		seen[s] = true
	}
	var one, two sum
	for i := range rows {
		one.add(rows[i])
		two.add(rows[len(rows)-1-i])
	}
	if one != two {
		t.Error("the order matters")
	}
}
