package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"docent/sync/hub/postgres/pgtest"
	"docent/sync/wire"
)

// BenchmarkKiosks measures how many events of 1,000 kiosks a second are stored, in transactions of 1,000 that hold some of
// each, by one hub and, in PostgreSQL, by two at once; and what an event takes on the disk.
func BenchmarkKiosks(b *testing.B) {
	for _, c := range []struct {
		where string
		hubs  int
	}{{"sqlite", 1}, {"postgres", 1}, {"postgres", 2}} {
		b.Run(fmt.Sprint(c.where, "/", c.hubs), func(b *testing.B) {
			p := place{sqlite: filepath.Join(b.TempDir(), "hub.db")}
			if c.where == "postgres" {
				p.postgres = pgtest.Database(b)
			}
			stores := make([]*Store, c.hubs)
			for i := range stores {
				stores[i] = p.open(b)
			}
			batches := manyKiosks(b, b.N)
			b.ResetTimer()
			var wg sync.WaitGroup
			for i, s := range stores {
				wg.Go(func() {
					for j := i; j < len(batches); j += len(stores) {
						store(b, s, batches[j]...)
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(size(b, p, stores[0]))/float64(b.N), "bytes/event")
		})
	}
}

// manyKiosks are n events of up to 1,000 kiosks by transaction.
func manyKiosks(b *testing.B, n int) (batches [][]Arrival) {
	prev := map[int]string{}
	var batch []Arrival
	for i := range n {
		kiosk, seq := i%1000, i/1000+1
		e := wire.Event{
			Schema: wire.Schema, KioskID: fmt.Sprintf("kiosk-%d", kiosk), StreamID: fmt.Sprintf("0192f0c1-2345-7abc-8def-%012x", kiosk), Seq: uint64(seq),
			EventID: fmt.Sprintf("0192f0c1-%04x-7000-8000-%012x", kiosk, seq), TSWall: now, BootID: bootID, Type: "exhibit.seen", PrevHash: prev[kiosk],
			Data: json.RawMessage(`{"visit":"0123456789abcdef0123456789abcdef","exhibit":"penrose","decision":"match","confidence":0.97,"by":"photo"}`),
		}
		raw, err := e.Encode()
		if err != nil {
			b.Fatal(err)
		}
		prev[kiosk] = wire.Hash(raw)
		batch = append(batch, Arrival{From: wire.Address{Site: addr.Site, Kiosk: e.KioskID}, At: now, Event: e, Raw: raw})
		if len(batch) == 1000 || i == n-1 {
			batches, batch = append(batches, batch), nil
		}
	}
	return batches
}

// size is what the database takes on the disk.
func size(b *testing.B, p place, s *Store) (n int64) {
	if p.postgres != "" {
		if err := s.read.QueryRow(`SELECT pg_database_size(current_database()) - (SELECT pg_database_size('template1'))`).Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	if _, err := s.write.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(p.sqlite)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}
