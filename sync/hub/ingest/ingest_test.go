package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

var from = wire.Address{Site: "museum", Kiosk: "kiosk-1"}

const stream = "0192f0c1-2345-7abc-8def-0123456789ab"

// event is an encoded event of kiosk-1.
func event(t testing.TB, seq uint64, kiosk string) []byte {
	t.Helper()
	e := wire.Event{
		Schema: 1, KioskID: kiosk, StreamID: stream, Seq: seq, EventID: fmt.Sprintf("0192f0c1-2346-7abc-8def-%012x", seq),
		TSWall: time.Unix(1_700_000_000, 0), BootID: "b1b2b3b4-1111-4222-8333-444455556666", Type: "exhibit.seen", Data: []byte(`{}`),
	}
	if seq > 1 {
		e.PrevHash = wire.Hash(nil)
	}
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// memory is a store that waits for a sign before each batch and notes how large it was.
type memory struct {
	gate chan error // one value for each Put: nil, or the error it returns
	puts chan []store.Arrival
}

func newMemory() *memory {
	return &memory{gate: make(chan error, 100), puts: make(chan []store.Arrival, 100)}
}

func (m *memory) Put(_ context.Context, batch []store.Arrival) (store.Receipt, error) {
	m.puts <- batch
	if err := <-m.gate; err != nil {
		return store.Receipt{}, err
	}
	r := store.Receipt{}
	var last uint64
	for _, a := range batch {
		if a.Refused != "" {
			r.Quarantined++
			continue
		}
		r.Stored++
		last = max(last, a.Event.Seq)
	}
	if last > 0 {
		r.Acks = []store.Ack{{To: from, Ack: wire.Ack{StreamID: stream, AckedSeq: last}}}
	}
	return r, nil
}

// sent collects acknowledgements.
type sent struct {
	mu   sync.Mutex
	acks []store.Ack
	more chan struct{}
}

func (s *sent) send(a store.Ack) {
	s.mu.Lock()
	s.acks = append(s.acks, a)
	s.mu.Unlock()
	s.more <- struct{}{}
}

func start(t *testing.T, m *memory) (*Ingest, *sent) {
	t.Helper()
	s := &sent{more: make(chan struct{}, 1000)}
	in := New(Options{Store: m, Send: s.send})
	t.Cleanup(func() {
		close(m.gate) // whatever still waits may go on
		in.Close()
	})
	return in, s
}

func TestPayloadsShareATransaction(t *testing.T) {
	m := newMemory()
	in, s := start(t, m)
	var wg sync.WaitGroup
	put := func(seq uint64) {
		if err := in.Payload(context.Background(), from, event(t, seq, "kiosk-1")); err != nil {
			t.Error(err)
		}
	}
	wg.Go(func() { put(1) })
	if first := <-m.puts; len(first) != 1 {
		t.Fatalf("first transaction of %d events", len(first))
	}
	const n = 50
	for i := range n {
		wg.Go(func() { put(uint64(i + 2)) })
	}
	for len(in.queue) < n { // all wait while the first is under way
		time.Sleep(time.Millisecond)
	}
	m.gate <- nil
	if second := <-m.puts; len(second) != n {
		t.Errorf("second transaction of %d events, want %d", len(second), n)
	}
	m.gate <- nil
	wg.Wait()
	<-s.more
	for s.last() != n+1 {
		<-s.more
	}
	if len(s.acks) > 2 {
		t.Errorf("%d acknowledgements for two transactions", len(s.acks))
	}
}

func (s *sent) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acks[len(s.acks)-1].Ack.AckedSeq
}

func TestNothingIsAnsweredThatIsNotStored(t *testing.T) {
	m := newMemory()
	in, s := start(t, m)
	full := errors.New("disk full")
	m.gate <- full
	if err := in.Payload(context.Background(), from, event(t, 1, "kiosk-1")); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	m.gate <- nil
	if err := in.Payload(context.Background(), from, event(t, 1, "kiosk-1")); err != nil {
		t.Errorf("when it is sent again: %v", err)
	}
	<-s.more
	if len(s.acks) != 1 {
		t.Errorf("%d acknowledgements", len(s.acks))
	}
}

func TestWhatIsNoEventOfTheKioskIsRefused(t *testing.T) {
	m := newMemory()
	in, _ := start(t, m)
	for name, tt := range map[string]struct {
		payload []byte
		refused []bool
	}{
		"garbage":                     {[]byte("garbage"), []bool{true}},
		"nothing":                     {nil, []bool{true}},
		"of another kiosk":            {event(t, 1, "kiosk-2"), []bool{true}},
		"too large":                   {make([]byte, wire.MaxPayload+1), []bool{true}},
		"good":                        {event(t, 1, "kiosk-1"), []bool{false}},
		"good, bad, foreign and good": {wire.JoinBatch([][]byte{event(t, 1, "kiosk-1"), []byte("{}"), event(t, 2, "kiosk-2"), event(t, 3, "kiosk-1")}), []bool{false, true, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			m.gate <- nil
			if err := in.Payload(context.Background(), from, tt.payload); err != nil {
				t.Fatal(err)
			}
			batch := <-m.puts
			if len(batch) != len(tt.refused) {
				t.Fatalf("%d arrivals", len(batch))
			}
			for i, a := range batch {
				if (a.Refused != "") != tt.refused[i] || a.From != from || a.At.IsZero() {
					t.Errorf("arrival %d: %+v", i, a)
				}
			}
		})
	}
}

func TestPayloadEndsWithItsContext(t *testing.T) {
	m := newMemory()
	in, _ := start(t, m)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- in.Payload(ctx, from, event(t, 1, "kiosk-1")) }()
	<-m.puts
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	m.gate <- nil
}

func TestCloseAnswersEveryPayload(t *testing.T) {
	m := newMemory()
	s := &sent{more: make(chan struct{}, 1000)}
	in := New(Options{Store: m, Send: s.send})
	results := make(chan error, 20)
	for i := range 20 {
		go func() { results <- in.Payload(context.Background(), from, event(t, uint64(i+1), "kiosk-1")) }()
	}
	first := <-m.puts
	for len(in.queue) < 20-len(first) {
		time.Sleep(time.Millisecond)
	}
	closed := make(chan struct{})
	go func() { in.Close(); close(closed) }()
	close(m.gate)
	<-closed
	stored := 0
	for range 20 {
		if err := <-results; err == nil {
			stored++
		} else if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if stored < len(first) {
		t.Errorf("%d payloads answered, %d were being stored", stored, len(first))
	}
	if err := in.Payload(context.Background(), from, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	in.Close() // again does nothing
}

func TestNewestAcknowledgementWins(t *testing.T) {
	in := &Ingest{dirty: map[streamKey]store.Ack{}, wake: make(chan struct{}, 1)}
	for seq := range uint64(10) {
		in.mark([]store.Ack{{To: from, Ack: wire.Ack{StreamID: stream, AckedSeq: seq}}})
	}
	if len(in.dirty) != 1 || in.dirty[streamKey{from, stream}].Ack.AckedSeq != 9 {
		t.Errorf("waiting: %+v", in.dirty)
	}
}
