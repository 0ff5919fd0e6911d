package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/sync/hub/postgres/pgtest"
	"docent/sync/wire"
)

// TestForget looks for the words of a visit in the raw files, before and after it is forgotten.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const anna, berta = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	from := wire.Address{Site: "museum", Kiosk: "hall"}
	event := func(seq uint64, id, visit, question string) Arrival {
		e := wire.Event{
			Schema: wire.Schema, KioskID: "hall", StreamID: "018f4f6e-7c00-7000-8000-000000000001", Seq: seq, EventID: id, TSWall: time.Unix(1e9, 0).UTC(),
			BootID: "018f4f6e-7c00-7000-8000-000000000002", Type: "question.answered", Data: []byte(`{"visit":"` + visit + `","question":"` + question + `"}`),
		}
		return Arrival{From: from, At: time.Unix(1e9, 0), Event: e, Raw: []byte("raw " + question + visit)}
	}
	batch := []Arrival{
		event(1, "018f4f6e-7c00-7000-8000-000000000011", anna, "Where are the quaggas?"),
		event(2, "018f4f6e-7c00-7000-8000-000000000012", berta, "Where are the zebras?"),
		event(1, "018f4f6e-7c00-7000-8000-000000000013", anna, "Other quaggas under a number that is taken"),
	}
	if r, err := s.Put(t.Context(), batch); err != nil || r.Quarantined != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	count := func(word string) (n int) {
		for _, name := range []string{"hub.db", "hub.db-wal"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			n += bytes.Count(b, []byte(word))
		}
		return n
	}
	if count("quaggas") == 0 {
		t.Fatal("the words are not there at all, so this test shows nothing")
	}
	if err := s.Forget(t.Context(), "museum", []string{anna}); err != nil {
		t.Fatal(err)
	}
	if n := count("quaggas"); n != 0 {
		t.Errorf("%d traces", n)
	}
	if count("zebras") == 0 {
		t.Error("another visit's words are gone, too")
	}
}

func TestForgetInPostgres(t *testing.T) {
	ctx := context.Background()
	s := place{postgres: pgtest.Database(t)}.open(t)
	const anna = "0123456789abcdef0123456789abcdef"
	words := arrival(t, streamA, 1, "", "question.answered", `{"question":"Where are the quaggas?","visit":"`+anna+`"}`)
	other := arrival(t, streamA, 2, wire.Hash(words.Raw), "question.answered", `{"question":"Where are the zebras?","visit":"fedcba9876543210fedcba9876543210"}`)
	taken := arrival(t, streamA, 1, "", "question.answered", `{"question":"Other quaggas","visit":"`+anna+`"}`)
	if r := store(t, s, words, other, taken); r.Stored != 2 || r.Quarantined != 1 {
		t.Fatalf("%+v", r)
	}
	if err := s.Forget(ctx, addr.Site, []string{anna}); err != nil {
		t.Fatal(err)
	}
	events, err := s.Events(ctx, 0, 10)
	if err != nil || len(events) != 2 || string(events[0].Data) != `{"visit":"`+anna+`"}` || !strings.Contains(string(events[1].Data), "zebras") {
		t.Errorf("%+v, %v", events, err)
	}
	if n := count(t, s, `SELECT count(*) FROM quarantine`); n != 0 {
		t.Errorf("%d refused words are left", n)
	}
	if r := store(t, s, words); r.Duplicates != 1 || r.Acks[0].Ack.AckedSeq != 2 {
		t.Errorf("the same event again: %+v", r)
	}
}
