package outbox

import (
	"context"
	"testing"

	"docent/sync/wire"
)

// BenchmarkRound is what an event costs a kiosk's store when it is recorded, read and acknowledged by itself.
func BenchmarkRound(b *testing.B) {
	o, err := Open(b.TempDir(), Options{Kiosk: "kiosk-1", Brief: true})
	if err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	b.ReportAllocs()
	var at Position
	data := map[string]string{"visit": "0192f0c1", "exhibit": "penrose", "by": "photo"}
	for b.Loop() {
		seq, err := o.Append(context.Background(), "exhibit.seen", data)
		if err != nil {
			b.Fatal(err)
		}
		p, err := o.Pending(at, 64, wire.MaxPayload)
		if err != nil || len(p) != 1 {
			b.Fatal(len(p), err)
		}
		at = p[0].Position
		if _, err := o.Ack(wire.Ack{StreamID: p[0].StreamID, AckedSeq: seq, AckedHash: wire.Hash(p[0].Event)}); err != nil {
			b.Fatal(err)
		}
	}
}
