package ingest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

// kept takes what would be stored.
type kept struct{ batch []store.Arrival }

func (k *kept) Put(_ context.Context, batch []store.Arrival) (store.Receipt, error) {
	k.batch = batch
	return store.Receipt{}, nil
}

// FuzzPayload hands whatever a kiosk may send to the ingest: it is answered, and each part of it is an event of this
// kiosk, by its canonical bytes, or refused with a reason and as it came.
func FuzzPayload(f *testing.F) {
	e := wire.Event{
		Schema: 1, KioskID: "kiosk-1", StreamID: "0192f0c1-2345-7abc-8def-0123456789ab", Seq: 1, EventID: "0192f0c1-2346-7abc-8def-0123456789ab",
		TSWall: time.Unix(1_800_000_000, 0), BootID: "b1b2b3b4-1111-4222-8333-444455556666", Type: "visit.started", Data: []byte(`{"language":"zh"}`),
	}
	good, err := e.Encode()
	if err != nil {
		f.Fatal(err)
	}
	e.KioskID = "kiosk-2"
	foreign, err := e.Encode()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{nil, good, foreign, wire.JoinBatch([][]byte{good, []byte("garbage"), foreign, good}), bytes.Repeat([]byte("\n"), 600),
		[]byte("{}"), []byte(strings.Repeat("[", 70_000)), bytes.Replace(good, []byte("{"), []byte(" {\t"), 1), {0xff, 0xfe}} {
		f.Add(seed)
	}
	k := &kept{}
	in := New(Options{Store: k, Send: func(store.Ack) {}})
	f.Cleanup(in.Close)
	from := wire.Address{Site: "museum", Kiosk: "kiosk-1"}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if err := in.Payload(t.Context(), from, bytes.Clone(payload)); err != nil {
			t.Fatal(err)
		}
		if len(k.batch) == 0 || len(k.batch) > wire.MaxBatch {
			t.Fatalf("%d parts", len(k.batch))
		}
		for _, a := range k.batch {
			if a.From != from {
				t.Errorf("from %v", a.From)
			}
			if a.Refused != "" {
				if !bytes.Contains(payload, a.Raw) {
					t.Errorf("refused %q, which did not come", a.Raw)
				}
				continue
			}
			if err := a.Event.Validate(); err != nil || a.Event.KioskID != from.Kiosk {
				t.Errorf("took %+v: %v", a.Event, err)
			}
			raw, err := a.Event.Encode()
			if err != nil || !bytes.Equal(raw, a.Raw) {
				t.Errorf("bytes %q are not canonical, %q are; %v", a.Raw, raw, err)
			}
		}
	})
}
