package outbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

func TestSpaceIsReclaimed(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	o.reclaimAt = 1 << 20
	data := map[string]string{"a": strings.Repeat("x", 50_000)}
	for range 3 {
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := o.Append(context.Background(), "exhibit.seen", data); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, err := o.NextSession(); err != nil {
			t.Fatal(err)
		}
		before := o.State()
		if _, err := o.Ack(ack(o, before.LastSeq-10)); err != nil {
			t.Fatal(err)
		}
		// The store is replaced after the acknowledgement was answered; the next operation waits for it.
		if _, err := o.NextSession(); err != nil {
			t.Fatal(err)
		}
		size, err := onDisk(filepath.Join(dir, "store"))
		if err != nil || size > 2<<20 {
			t.Errorf("%d KiB on the disk for 10 events, %v", size>>10, err)
		}
		events := pending(t, o)
		checkChain(t, events)
		after := o.State()
		if len(events) != 10 || after.Depth != 10 || after.StreamID != before.StreamID || after.LastSeq != before.LastSeq || after.AckedSeq != before.LastSeq-10 {
			t.Errorf("%d events, state %+v, before %+v", len(events), after, before)
		}
	}
	closeNow(t, o)
	o = open(t, dir)
	if n, err := o.NextSession(); err != nil || n != 7 {
		t.Errorf("session %d, %v", n, err)
	}
	if s := o.State(); s.Degraded != "" || s.Depth != 10 || s.LastSeq != 300 {
		t.Errorf("after a restart: %+v", s)
	}
}

// TestSweep: what a visitor asked is in the store no more soon after the hub has it; what the hub lacks stays.
func TestSweep(t *testing.T) {
	const asked, waiting = "Zq8vKx3mWp", "Jd5tRy7bLn"
	for name, sweep := range map[string]time.Duration{"never": time.Hour, "soon": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := open(t, dir, func(opt *Options) { opt.Sweep = sweep })
			for _, q := range []string{asked, waiting} {
				if _, err := o.Append(t.Context(), "question.answered", map[string]string{"question": q}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := o.Ack(ack(o, 1)); err != nil {
				t.Fatal(err)
			}
			swept := func() bool {
				o.mu.Lock()
				defer o.mu.Unlock()
				return o.dead == 0
			}
			for begun := time.Now(); name == "soon" && !swept(); time.Sleep(10 * time.Millisecond) {
				if time.Since(begun) > time.Minute {
					t.Fatal("the store was not written anew")
				}
			}
			closeNow(t, o)
			if got := stored(t, o, asked); got != (name == "never") {
				t.Errorf("the event that the hub has is in the store: %t", got)
			}
			if !stored(t, o, waiting) {
				t.Error("the event that the hub lacks is gone")
			}
			o = open(t, dir)
			if s := o.State(); s.Depth != 1 || s.LastSeq != 2 || s.Degraded != "" {
				t.Errorf("state %+v", s)
			}
			if events := pending(t, o); len(events) != 1 || !strings.Contains(string(events[0].Event), waiting) {
				t.Errorf("events %v", events)
			}
		})
	}
}

// stored tells whether a text is in the store of a closed outbox, in what was deleted too.
func stored(t *testing.T, o *Outbox, text string) (found bool) {
	t.Helper()
	db, err := openDB(filepath.Join(o.dir, "store"), o.opt)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = db.View(func(txn *badger.Txn) error {
		opt := badger.DefaultIteratorOptions
		opt.AllVersions = true
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			found = found || bytes.Contains(value, []byte(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestReclaimWhileReading(t *testing.T) {
	o := open(t, t.TempDir())
	o.reclaimAt = 1
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := o.Pending(Position{}, 10, 1<<20); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 5 {
		fill(t, o, 20)
		if _, err := o.Ack(ack(o, o.State().LastSeq)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if s := o.State(); s.Depth != 0 || s.LastSeq != 100 {
		t.Errorf("state %+v", s)
	}
}

func TestReclaimNeedsRoom(t *testing.T) {
	now := time.Hour
	o := open(t, t.TempDir(), func(opt *Options) {
		opt.Uptime = func() time.Duration { return now }
		opt.Free = func(string) (uint64, error) { return reclaimRoom / 2, nil }
	})
	o.reclaimAt = 1
	fill(t, o, 20)
	if _, err := o.Ack(ack(o, 20)); err != nil {
		t.Fatal(err)
	}
	fill(t, o, 1)
	if o.wasteful() {
		t.Error("it is tried again at once")
	}
	now += reclaimRetry
	if !o.wasteful() {
		t.Error("it is not tried again")
	}
	if s := o.State(); s.Depth != 1 || s.LastSeq != 21 || s.Degraded != "" {
		t.Errorf("state %+v", s)
	}
}

func TestSwapThatDidNotFinish(t *testing.T) {
	prepare := func(t *testing.T) (dir, store string) {
		dir = t.TempDir()
		o := open(t, dir)
		fill(t, o, 5)
		closeNow(t, o)
		return dir, filepath.Join(dir, "store")
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, leave := range map[string]func(t *testing.T, store string){
		"while copying":      func(t *testing.T, store string) { must(t, os.MkdirAll(store+".new", 0o700)) },
		"before the renames": func(t *testing.T, store string) { must(t, os.CopyFS(store+".new", os.DirFS(store))) },
		"between the renames": func(t *testing.T, store string) {
			must(t, os.CopyFS(store+".new", os.DirFS(store)))
			must(t, os.Rename(store, store+".old"))
		},
		"after the renames": func(t *testing.T, store string) { must(t, os.CopyFS(store+".old", os.DirFS(store))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := prepare(t)
			leave(t, store)
			o := open(t, dir)
			if s := o.State(); s.Degraded != "" || s.Depth != 5 || s.LastSeq != 5 {
				t.Errorf("state %+v", s)
			}
			if exists(store+".new") || exists(store+".old") {
				t.Error("something is left beside the store")
			}
		})
	}
}
