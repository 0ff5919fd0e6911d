package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/wire"
)

// open opens an outbox in dir that is closed with the test.
func open(t testing.TB, dir string, change ...func(*Options)) *Outbox {
	t.Helper()
	opt := Options{Kiosk: "kiosk-1", MinFree: 1}
	for _, c := range change {
		c(&opt)
	}
	o, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return o
}

func closeNow(t testing.TB, o *Outbox) {
	t.Helper()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
}

// fill appends n events, many at a time.
func fill(t testing.TB, o *Outbox, n int) {
	t.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, 128) {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if _, err := o.Append(context.Background(), "exhibit.seen", map[string]int64{"n": i}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// pending reads all pending events, page by page.
func pending(t testing.TB, o *Outbox) []Pending {
	t.Helper()
	var all []Pending
	var at Position
	for {
		page, err := o.Pending(at, 100, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		at = page[len(page)-1].Position
	}
}

// checkChain fails unless events of each stream follow each other without a gap, starting after acked.
func checkChain(t testing.TB, events []Pending) {
	t.Helper()
	hash := map[string]string{}
	last := map[string]uint64{}
	for _, p := range events {
		e, err := wire.DecodeEvent(p.Event)
		if err != nil {
			t.Fatalf("event %d: %v", p.Seq, err)
		}
		if e.Seq != p.Seq || e.StreamID != p.StreamID {
			t.Fatalf("event %d of %s is stored as %d of %s", e.Seq, e.StreamID, p.Seq, p.StreamID)
		}
		if n, ok := last[e.StreamID]; ok && (e.Seq != n+1 || e.PrevHash != hash[e.StreamID]) {
			t.Fatalf("event %d does not follow %d", e.Seq, n)
		}
		last[e.StreamID], hash[e.StreamID] = e.Seq, wire.Hash(p.Event)
	}
}

func ack(o *Outbox, seq uint64) wire.Ack {
	return wire.Ack{StreamID: o.State().StreamID, AckedSeq: seq}
}

func TestEventsAreNumberedAndChainedAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	stream := o.State().StreamID
	for i := range 5 {
		seq, err := o.Append(context.Background(), "exhibit.seen", map[string]int{"n": i})
		if err != nil || seq != uint64(i+1) {
			t.Fatalf("append %d: number %d, %v", i, seq, err)
		}
	}
	closeNow(t, o)
	o = open(t, dir)
	if seq, err := o.Append(context.Background(), "visit.ended", nil); err != nil || seq != 6 {
		t.Fatalf("after a restart: number %d, %v", seq, err)
	}
	events := pending(t, o)
	checkChain(t, events)
	if len(events) != 6 || o.Depth() != 6 {
		t.Fatalf("%d events, depth %d", len(events), o.Depth())
	}
	s := o.State()
	if s.StreamID != stream || s.Degraded != "" || len(s.Losses) > 0 {
		t.Errorf("state after a clean restart: %+v", s)
	}
	var last wire.Event
	if err := json.Unmarshal(events[5].Event, &last); err != nil {
		t.Fatal(err)
	}
	if last.KioskID != "kiosk-1" || last.Type != "visit.ended" || string(last.Data) != "{}" || last.BootID != o.BootID() || last.TSMonoMS <= 0 {
		t.Errorf("envelope is %+v", last)
	}
}

func TestManyAppendsShareTheDisk(t *testing.T) {
	o := open(t, t.TempDir(), func(opt *Options) { opt.Queue = 8 })
	const n = 500
	seen := make([]atomic.Bool, n+1)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			seq, err := o.Append(context.Background(), "exhibit.seen", nil)
			if err != nil {
				t.Error(err)
				return
			}
			if seen[seq].Swap(true) {
				t.Errorf("number %d was given out twice", seq)
			}
		})
	}
	wg.Wait()
	events := pending(t, o)
	checkChain(t, events)
	if len(events) != n || o.State().LastSeq != n {
		t.Errorf("%d events, last number %d, want %d", len(events), o.State().LastSeq, n)
	}
}

func TestRefusedEventsTakeNoNumber(t *testing.T) {
	o := open(t, t.TempDir())
	ctx := context.Background()
	tests := []struct {
		name, typ string
		data      any
		want      error
	}{
		{"bad type", "Exhibit Seen", nil, wire.ErrInvalid},
		{"data is a list", "exhibit.seen", []int{1}, wire.ErrInvalid},
		{"data is too large", "exhibit.seen", map[string]string{"a": strings.Repeat("x", wire.MaxData)}, wire.ErrTooLarge},
		{"data does not marshal", "exhibit.seen", make(chan int), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := o.Append(ctx, tt.typ, tt.data)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	largest := map[string]string{"a": strings.Repeat("x", wire.MaxData-len(`{"a":""}`))}
	if seq, err := o.Append(ctx, "exhibit.seen", largest); err != nil || seq != 1 {
		t.Errorf("the largest event: number %d, %v", seq, err)
	}
}

func TestPendingPages(t *testing.T) {
	o := open(t, t.TempDir())
	fill(t, o, 10)
	first, err := o.Pending(Position{}, 3, 1<<20)
	if err != nil || len(first) != 3 || first[0].Seq != 1 {
		t.Fatalf("first page: %d events, %v", len(first), err)
	}
	size := len(first[0].Event)
	bySize, err := o.Pending(first[2].Position, 100, 2*size+size/2)
	if err != nil || len(bySize) != 2 || bySize[0].Seq != 4 {
		t.Fatalf("page of two events' bytes: %d events, %v", len(bySize), err)
	}
	one, err := o.Pending(bySize[1].Position, 100, 1)
	if err != nil || len(one) != 1 || one[0].Seq != 6 {
		t.Fatalf("page smaller than an event: %d events, %v", len(one), err)
	}
	if !first[0].Position.Before(one[0].Position) || one[0].Position.Before(first[0].Position) {
		t.Error("positions are not in the order of events")
	}
}

func TestAckForgetsWhatItCoversOnly(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 10)
	other := wire.Ack{StreamID: "0192f0c1-2345-7abc-8def-0123456789ab", AckedSeq: 10}
	if _, err := o.Ack(other); !errors.Is(err, ErrUnknownStream) {
		t.Errorf("acknowledgement of another stream: %v", err)
	}
	if _, err := o.Ack(wire.Ack{StreamID: "x"}); !errors.Is(err, wire.ErrInvalid) {
		t.Errorf("invalid acknowledgement: %v", err)
	}
	for _, step := range []struct{ ack, freed, depth uint64 }{{0, 0, 10}, {4, 4, 6}, {4, 0, 6}, {2, 0, 6}, {7, 3, 3}} {
		freed, err := o.Ack(ack(o, step.ack))
		if err != nil || freed != step.freed || o.Depth() != step.depth {
			t.Errorf("ack %d: freed %d, depth %d, %v; want %d, %d", step.ack, freed, o.Depth(), err, step.freed, step.depth)
		}
	}
	missing := ack(o, 7)
	missing.Missing = []wire.Range{{9, 9}}
	if freed, err := o.Ack(missing); err != nil || freed != 0 {
		t.Errorf("what lies after a gap was freed: %d, %v", freed, err)
	}
	closeNow(t, o)
	o = open(t, dir)
	if events := pending(t, o); len(events) != 3 || events[0].Seq != 8 || o.Depth() != 3 {
		t.Fatalf("after a restart %d events from %d, depth %d", len(events), events[0].Seq, o.Depth())
	}
	if _, err := o.Ack(ack(o, 10)); err != nil {
		t.Fatal(err)
	}
	closeNow(t, o)
	o = open(t, dir)
	if seq, err := o.Append(context.Background(), "exhibit.seen", nil); err != nil || seq != 11 {
		t.Errorf("an empty outbox goes on with number %d, %v", seq, err)
	}
	if s := o.State(); s.Degraded != "" {
		t.Errorf("degraded: %s", s.Degraded)
	}
}

func TestAckOfManyEventsAtOnce(t *testing.T) {
	o := open(t, t.TempDir())
	const n = maxDelete + maxDelete/2
	fill(t, o, n)
	freed, err := o.Ack(ack(o, n-1))
	if err != nil || freed != n-1 || o.Depth() != 1 {
		t.Errorf("freed %d, depth %d, %v", freed, o.Depth(), err)
	}
}

func TestFullDiskIsAnErrorAndNoSignal(t *testing.T) {
	var free atomic.Uint64
	free.Store(100 << 20)
	o := open(t, t.TempDir(), func(opt *Options) {
		opt.MinFree = 20 << 20 // too little to hold any of it
		opt.Free = func(string) (uint64, error) { return free.Load(), nil }
	})
	fill(t, o, 3)
	free.Store(19 << 20)
	if _, err := o.Append(context.Background(), "exhibit.seen", nil); !errors.Is(err, ErrDiskFull) {
		t.Errorf("append on a full disk: %v", err)
	}
	if freed, err := o.Ack(ack(o, 2)); err != nil || freed != 2 {
		t.Errorf("acknowledging must go on: freed %d, %v", freed, err)
	}
	free.Store(20 << 20)
	if seq, err := o.Append(context.Background(), "exhibit.seen", nil); err != nil || seq != 4 {
		t.Errorf("with space again: number %d, %v", seq, err)
	}
	checkChain(t, pending(t, o))
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(t.TempDir(), Options{Kiosk: "Not A Name"}); !errors.Is(err, wire.ErrInvalid) {
		t.Errorf("bad kiosk name: %v", err)
	}
	dir := t.TempDir()
	open(t, dir)
	if _, err := Open(dir, Options{Kiosk: "kiosk-1", MinFree: 1}); !errors.Is(err, ErrLocked) {
		t.Errorf("second opening: %v", err)
	}
	_, err := Open(t.TempDir(), Options{Kiosk: "kiosk-1", MinFree: 100, Free: func(string) (uint64, error) { return 49, nil }})
	if !errors.Is(err, ErrDiskFull) {
		t.Errorf("full disk: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Options{Kiosk: "kiosk-1", MinFree: 1}); err == nil {
		t.Error("a file was opened as a folder")
	}
}

func TestCloseWhileAppending(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	var stored atomic.Uint64
	var wg sync.WaitGroup
	started := make(chan struct{})
	var once sync.Once
	for range 16 {
		wg.Go(func() {
			for {
				_, err := o.Append(context.Background(), "exhibit.seen", nil)
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				stored.Add(1)
				once.Do(func() { close(started) })
			}
		})
	}
	<-started
	closeNow(t, o)
	wg.Wait()
	if err := o.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second close: %v", err)
	}
	if _, err := o.Pending(Position{}, 1, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("reading after close: %v", err)
	}
	o = open(t, dir)
	events := pending(t, o)
	checkChain(t, events)
	if uint64(len(events)) != stored.Load() {
		t.Errorf("%d appends succeeded, %d events are there", stored.Load(), len(events))
	}
}

func TestAppendEndsWithItsContext(t *testing.T) {
	o := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := o.Append(ctx, "exhibit.seen", nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestClockMayJump(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	o := open(t, t.TempDir(), func(opt *Options) {
		opt.Clock = func() time.Time { return now }
		opt.ClockSynced = func() bool { return now.Year() == 2026 }
		opt.Uptime = func() time.Duration { return 90 * time.Second }
	})
	for _, at := range []time.Time{now, now.AddDate(10, 0, 0), now.AddDate(-10, 0, 0), now.Add(-time.Hour)} {
		now = at
		if _, err := o.Append(context.Background(), "exhibit.seen", nil); err != nil {
			t.Fatal(err)
		}
	}
	events := pending(t, o)
	checkChain(t, events)
	var got []string
	for _, p := range events {
		e, err := wire.DecodeEvent(p.Event)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %d %v %d", e.Seq, e.TSWall.Year(), e.ClockSynced, e.TSMonoMS))
	}
	want := []string{"1 2026 true 90000", "2 2036 false 90000", "3 2016 false 90000", "4 2026 true 90000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSessionsAreNumberedForGood(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	for want := range uint64(3) {
		if n, err := o.NextSession(); err != nil || n != want+1 {
			t.Fatalf("session %d, %v", n, err)
		}
	}
	closeNow(t, o)
	if n, err := open(t, dir).NextSession(); err != nil || n != 4 {
		t.Errorf("after a restart: session %d, %v", n, err)
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	o, err := Open(t.TempDir(), Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, o, 50)
	closeNow(t, o)
	waitGoroutines(t, before)
}

// waitGoroutines waits until no more goroutines run than before.
func waitGoroutines(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// snapshot copies a live outbox's folder as it would be found after a kill -9.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return writeSparse(filepath.Join(to, rel), b)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// writeSparse writes a file without its trailing zeros, which the store maps ahead.
func writeSparse(path string, b []byte) error {
	if err := os.WriteFile(path, b[:used(b)], 0o600); err != nil {
		return err
	}
	return os.Truncate(path, int64(len(b)))
}

// used is the length of b without the zeros at its end.
func used(b []byte) int {
	zeros := make([]byte, 1<<16)
	for len(b) >= len(zeros) && bytes.Equal(b[len(b)-len(zeros):], zeros) {
		b = b[:len(b)-len(zeros)]
	}
	return len(bytes.TrimRight(b, "\x00"))
}
